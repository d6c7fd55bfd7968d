"""Keep a note that a person has written: one sentence is enough."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from textwrap import wrap
from typing import TYPE_CHECKING, cast

from recollect.domain.categories import CATEGORIES, KNOWLEDGE, PROJECT
from recollect.domain.category_names import category_named
from recollect.domain.text import one_line
from recollect.domain.triage.guess import guess_category
from recollect.errors import InvalidEntry, RecollectError
from recollect.learn.input import parse_input, title_of
from recollect.learn.memorize import has_project, keep
from recollect.memories.edit_form import pair, read_toml
from recollect.memories.marks import hand_on_marks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.domain.stored import StoredEntry
    from recollect.engine.engine import Engine
    from recollect.learn.project_memory import Memorized

_SOURCE = "manual"
_MOST_AROUND = 200
_ELSEWHERE = "heuristics"  # where there is no project, only a lesson can be kept
_HEAD = (
    "Write the text, save, and close the editor to keep it. Without a text, nothing is kept.",
    'All other fields may stay empty. The form is TOML: a text of several lines stands between """ and """.',
    "",
    f"Lessons, for every project: {', '.join(KNOWLEDGE)}.",
    f"For this project: {', '.join(PROJECT)}.",
)
_WIDTH = 78  # a form is read in a terminal of 80 columns
_HINTS = {
    "category": "guessed from the text if empty",
    "title": "the first sentence of the text if empty",
    "why": "why it holds, or how it was learned",
    "tags": "words to find it by",
    "when": "when it will matter: what somebody will ask or do then, in other words",
    "files": "files, links or issues that it is about",
}


# The fields of an entry, and how a form calls them.
_IN_FORM = {
    "name": "title",
    "description": "text",
    "reasoning": "why",
    "references": "files",
    "triggers": "when",
}


@dataclass
class Note:
    """A note in the words of a person. Only the text is needed."""

    text: str = ""
    category: str = ""
    title: str = ""
    why: str = ""
    tags: list[str] = field(default_factory=list[str])
    when: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])


def note_of_lesson(entry: StoredEntry) -> Note:
    """Return a lesson as a note, to edit it."""
    words = (entry.keywords, entry.triggers, entry.references)
    return Note(entry.description, entry.category, entry.name, entry.reasoning, *map(list, words))


def add(
    engine: Engine, note: Note, *, supersedes: str = "", called: Mapping[str, str] | None = None
) -> tuple[Memorized, bool]:
    """Keep a note, and return the result and whether its category was guessed.

    It takes the place of the entry that it `supersedes`, and is pinned or muted as that was. Messages name the fields
    as a form does, or as they are `called`. Raises as `memorize` does.
    """
    guessed = not note.category.strip()
    category = _guessed(engine, note.text) if guessed else category_named(note.category)
    names = {**_IN_FORM, **(called or {})}
    if not note.title.strip():
        names["name"] = names["description"]  # the title is made of the text
    checked = parse_input(
        note.title.strip() or title_of(note.text),
        note.text,
        note.why,
        category,
        note.files,
        note.when,
        note.tags,
        by_hand=names,
    )
    done = keep(engine, checked, source=_SOURCE, supersedes=supersedes)
    if done.superseded:
        try:
            hand_on_marks(engine, done.superseded.id, done.id)
        except RecollectError as error:
            done.warnings.append(f"if the old one was pinned or muted, pin or mute {done.id}: {error}")
    return done, guessed


def replace_lesson(engine: Engine, entry: StoredEntry, note: Note) -> Memorized:
    """Keep the edited text of a lesson as a new one, which takes the place of the old one.

    Raises:
        InvalidEntry: the text is the same, or a field is invalid.
        RecollectError: as for `add`.
    """
    check_retold(entry, note)
    return add(engine, note, supersedes=entry.id)[0]


def check_retold(entry: StoredEntry, note: Note) -> None:
    """Refuse an edited lesson with the same text.

    Raises:
        InvalidEntry: the text is the same.
    """
    if note.text.strip() == entry.description.strip():
        raise InvalidEntry(
            f"a lesson is known by its text, and the text is the same; change it, or set its triggers with"
            f" `recollect triggers {entry.id} PHRASE...`"
        )


def note_form(note: Note, about: str = "") -> str:
    """Return a note as a form to edit; `read_note_form` reads it back. Texts `about` it become comments."""
    head = (line for text in _HEAD for line in wrap(text, _WIDTH, break_on_hyphens=False) or [""])
    lines = [*(f"# {line}".rstrip() for line in head), ""]
    for each in fields(Note):
        value = getattr(note, each.name)
        hint = _HINTS.get(each.name)
        value = f"{value}\n" if each.name == "text" and "\n" not in value else value
        lines += [*([f"# {hint}"] if hint else []), pair(each.name, value), ""]
    around = [f"# {one_line(line)}".rstrip() for line in about.splitlines()[:_MOST_AROUND]]
    return "\n".join([*lines, *(["# Around it:", *around, ""] if around else [])])


def read_note_form(text: str) -> Note:
    """Return the note in an edited form.

    Raises:
        WriteRefused: the text is not TOML.
        InvalidEntry: a field is unknown or has a wrong type.
    """
    given = read_toml(text)
    known = {each.name: getattr(Note(), each.name) for each in fields(Note)}
    for name, value in given.items():
        if name not in known:
            raise InvalidEntry(f"the form has no field {name[:40]!r}; its fields are {', '.join(known)}")
        is_list = isinstance(known[name], list)
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        if isinstance(value, list) != is_list or not all(isinstance(item, str) for item in items):
            raise InvalidEntry(f"{name} must be {'a list of texts in brackets' if is_list else 'a text in quotes'}")
    note = Note(**given)
    note.text = note.text.strip()
    return note


def _guessed(engine: Engine, text: str) -> str:
    category = guess_category(text)
    here = has_project(engine.workspace.project_root)
    return category if CATEGORIES[category].label or here else _ELSEWHERE
