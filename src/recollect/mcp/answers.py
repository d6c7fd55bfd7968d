"""Answers to tool calls: as data, and as text for clients without support for data. Both are bounded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.domain.categories import LABEL
from recollect.domain.data_text import as_data, data_line, quoted
from recollect.domain.stored import ACTIVE, SEVERAL, StoredEntry
from recollect.domain.text import change_texts, cut, few, one_line

if TYPE_CHECKING:  # a server starts without it
    from recollect.recall.browse import Looked

# In characters, for either form: clients show a model this much without cutting it.
MAX_CHARS = 18_000

# In characters: texts stored through a tool are shorter, but texts in files may be longer.
_LONGEST_TEXT = 15_000
_LONGEST_NAME = 200
_LONGEST_PATH = 400
_MOST_TEXTS = 10
_LONGEST_NOTE = 400
_MOST_NOTES = 6
_SNIPPET = 200
_SHORT_SNIPPET = 80
_LONG_LIST = 20


@dataclass(frozen=True)
class Answer:
    """The answer to a call."""

    data: dict[str, Any]
    text: str


def as_answered(value: Any) -> Any:
    """Return an answer, or a part of one, with every text as data: others may have written it."""
    return change_texts(value, as_data)


def size(value: object) -> int:
    """Return the length of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def notes(sentences: Iterable[str]) -> dict[str, list[str]]:
    """Return the field `notes` with the sentences, or no field if there are none."""
    said = [cut(data_line(sentence), _LONGEST_NOTE) for sentence in dict.fromkeys(sentences)]
    return {"notes": few(said, _MOST_NOTES)} if said else {}


def answered(data: dict[str, Any], lines: list[str], sentences: Iterable[str]) -> Answer:
    """Return an answer of data and lines, with the sentences as notes in both."""
    said = notes(sentences)
    return Answer({**data, **said}, "\n".join([*lines, *(f"Note: {note}" for note in said.get("notes", ()))]))


def remarked(answer: Answer, *sentences: str) -> Answer:
    """Return the answer with more notes, none of them left out."""
    said = notes(sentences)["notes"]
    data = {**answer.data, "notes": [*answer.data.get("notes", ()), *said]}
    return Answer(data, "\n".join([answer.text, *(f"Note: {note}" for note in said)]))


def brief(entry: StoredEntry, among: int, origin: str) -> dict[str, Any]:
    """Return an entry for a list: its main fields and the beginning of its text, shorter in a long list."""
    text = one_line(entry.description).removeprefix(one_line(entry.name)).lstrip(" .:")
    if len(text) < _SHORT_SNIPPET and entry.details:
        details = entry.details.removeprefix("- ").replace("\n- ", " ")
        text = one_line(f"{text} {details}")
    text = cut(as_data(text), _SNIPPET if among <= _LONG_LIST else _SHORT_SNIPPET)
    return filled(
        id=entry.id,
        category=entry.category,
        **_titled(entry.name),
        text=text,
        project=project_name(entry),
        updated=one_line(entry.updated_at)[:10],
        status="" if entry.status == ACTIVE else entry.status,
        origin=origin,
        said_by=data_line(entry.said_by),
    )


def line(place: int, item: dict[str, Any]) -> str:
    """Return an entry from `brief` as one numbered line."""
    about = [item.get("project", "everywhere"), item.get("updated", ""), item.get("status", "")]
    about += ["muted by the user"] if item.get("muted") else []
    about += ["expired"] if item.get("expired") else []
    about += [f"from {item['origin']}"] if item.get("origin") else []
    about += [f"said by {item['said_by']}"] if item.get("said_by") else []
    about += [f"check: {item['check']}"] if item.get("check") else []
    if "score" in item:
        about.append(f"score {item['score']:.2f}")
    text = f" - {item['text']}" if item.get("text") else ""
    about += [f"was: {item['was']}"] if item.get("was") else []
    return f"{place}. [{item['id']}] {_label(item)}: {item['name']}{text} ({', '.join(part for part in about if part)})"


def named(id: str, category: str, name: str, text: str = "", path: str = "") -> dict[str, Any]:
    """Return an entry for the answer about another one."""
    shown = cut(data_line(path), _LONGEST_PATH)
    return filled(id=id, category=category, **_titled(name), text=data_line(text), path=shown)


def named_line(item: dict[str, Any]) -> str:
    """Return an entry from `named` as one line."""
    text = f" - {item['text']}" if item.get("text") else ""
    path = f" ({item['path']})" if item.get("path") else ""
    return f"[{item['id']}] {_label(item)}: {item['name']}{text}{path}"


def full(looked: Looked) -> dict[str, Any]:
    """Return all fields of an entry, long texts shortened. Its text is quoted unless the user has vouched for it."""
    entry = looked.entry
    return filled(
        id=entry.id,
        category=entry.category,
        **_titled(entry.name),
        text=_shown(looked),
        references=_few_texts(entry.references),
        keywords=_few_texts(entry.keywords),
        triggers=_few_texts(entry.triggers),
        status=entry.status,
        reason=cut(data_line(looked.reason), _LONGEST_NOTE),
        origin=looked.origin,
        project=project_name(entry),
        path=cut(data_line(looked.path), _LONGEST_PATH),
        confidence=entry.confidence,
        observed=entry.observation_count,
        recalled=entry.recall_count,
        created=one_line(entry.created_at)[:10],
        updated=one_line(entry.updated_at)[:10],
    )


def checked(note: str) -> dict[str, str]:
    """Return the field `check` with a note on changed files, or no field without one."""
    said = cut(data_line(note.removeprefix("check: ")), _LONGEST_NOTE)
    return {"check": said} if said else {}


def is_cut(looked: Looked) -> bool:
    """Return True if `full` shows only a part of the text."""
    return _shown(looked) != _whole(looked)


def _whole(looked: Looked) -> str:
    text = as_data(looked.text).strip() or data_line(looked.entry.name)
    return text if looked.is_vouched else quoted(text)


def _shown(looked: Looked) -> str:
    """Return as much of a text as there is room for. A character escaped in JSON counts twice."""
    whole = _whole(looked)
    return cut(whole, min(_LONGEST_TEXT, _LONGEST_TEXT * len(whole) // max(1, size(whole))))


def paragraphs(item: dict[str, Any]) -> str:
    """Return an entry from `full` as text."""
    facts = [item["status"], item.get("project", "everywhere"), item.get("path", ""), item.get("confidence", "")]
    facts += [f"updated {item['updated']}"] if item.get("updated") else []
    facts += [f"from {item['origin']}"] if item.get("origin") else []
    lines = [f"[{item['id']}] {_label(item)}: {item['name']}", f"({', '.join(fact for fact in facts if fact)})"]
    lines += [f"{item['status'].capitalize()}: {item['reason']}"] if item.get("reason") else []
    lines += [f"Check: {item['check']}"] if item.get("check") else []
    # Indented deeper than any line of ours, so that no memory can pass for the server.
    lines += [f"    {said}".rstrip() for said in str(item["text"]).split("\n")]
    label = "Files" if item.get("path") else "References"
    lines += [f"{label}: {', '.join(item['references'])}"] if item.get("references") else []
    return "\n".join(lines)


def project_name(entry: StoredEntry) -> str:
    """Return the name of an entry's project; empty if the entry holds everywhere."""
    if entry.project == SEVERAL:
        return "several projects"
    return cut(one_line(os.path.basename(entry.project.rstrip(os.sep))), 60)


def filled(**fields: Any) -> dict[str, Any]:
    """Return the fields without empty ones."""
    return {name: value for name, value in fields.items() if value not in ("", [], None)}


def _titled(name: str) -> dict[str, str]:
    """Return a title, also by its old key."""
    shown = cut(data_line(name), _LONGEST_NAME)
    return {"title": shown, "name": shown}


def _label(item: dict[str, Any]) -> str:
    category = str(item["category"])
    return LABEL.get(category, category.replace("_", " ").capitalize())


def _few_texts(texts: list[str]) -> list[str]:
    return [cut(data_line(text), 150) for text in texts[:_MOST_TEXTS]]
