"""Merge a note into an existing memory about the same thing, and keep replaced text in the history.

A note with another main text is a new account of the whole. It replaces the old account, and the old one goes to the
history in full. A note with the same main text only adds to the rest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.categories import CATEGORIES, SESSION_SUMMARY
from recollect.domain.lifecycle import PASSING, change
from recollect.domain.memory import texts
from recollect.domain.secrets.detect import find_secret
from recollect.learn.content import CHOICES, REFERENCES
from recollect.memories.likeness import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.domain.memory import Record
    from recollect.learn.content import Draft

# In characters: the part of a text in the line of history written by an update itself, and in each further line.
_KEPT = 999
_PIECE = 900

# A long session is summarized many times; of the things done, the newest are kept.
_MOST_DONE = 30

_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|\n+")


def said_anew(category: str, old: Record, said: Record) -> list[str]:
    """Return the content fields with something new in the note."""
    return [name for name, value in said.items() if _is_new(category, name, old.get(name), value)]


def merged_content(category: str, old: Record, draft: Draft) -> Record:
    """Return the content of a memory merged with the draft of a note."""
    said = draft.said
    new = said_anew(category, old, said)
    main, reason = CATEGORIES[category].note_fields
    more_steps = main == "steps" and _come_after(old.get(main) or [], said.get(main) or [])
    retold = main in new and main != "completed" and not more_steps
    content = {**draft.assumed, **old}
    for name in new:
        had, has = old.get(name), said[name]
        if (category, name) in CHOICES or not had or had in draft.fillers:
            content[name] = has
        elif retold and name == reason:
            content[name] = _with_references(has, had)
        elif name == "steps":
            content[name] = [*had, *has] if more_steps else has
        elif name in ("goal", *PASSING):
            content[name] = has
        elif isinstance(has, list):
            items = _union(had, cast("list[Any]", has))
            content[name] = items[-_MOST_DONE:] if category == SESSION_SUMMARY else items
        elif isinstance(has, dict):
            lists = cast("dict[str, list[str]]", has)
            content[name] = {**had, **{key: _union(had.get(key) or [], items) for key, items in lists.items()}}
        elif retold or name == main or _sentences(had) <= _sentences(has):
            content[name] = has
        else:
            content[name] = f"{had}\n\n{has}"
    if category == SESSION_SUMMARY:
        _as_it_stands(content, draft)
    return content


def _as_it_stands(content: Record, draft: Draft) -> None:
    """Take the passing fields of a summary from its newest draft: what that does not name is over."""
    for name in ("outcome", "goal", *PASSING):
        if name in draft.content:
            content[name] = draft.content[name]
        elif name != "goal":
            content.pop(name, None)


def history(old: Record, content: Record, now: str) -> Iterator[Record]:
    """Yield lines of history for replaced values an update does not keep itself: lists, and the rest of long texts."""
    for name, had in old.items():
        has = content.get(name)
        if had == has:
            continue
        if isinstance(had, list):
            kept = {_key(item) for item in cast("list[Any]", has or [])}
            gone = [": ".join(texts(item)) for item in cast("list[Any]", had) if _key(item) not in kept]
            text = "\n".join(gone)
        else:
            text = had[_KEPT:] if isinstance(had, str) and len(had) > _KEPT + 1 else ""
        if not text or find_secret("\n".join(texts(had))):
            continue
        for start in range(0, len(text), _PIECE):
            more = "" if isinstance(had, list) and not start else ", continued"
            yield change(f"content.{name} until now{more}", now, f"content.{name}", text[start : start + _PIECE])


def _is_new(category: str, name: str, had: Any, has: Any) -> bool:
    if (category, name) in CHOICES or not had:
        return had != has
    if name == "steps":
        return list(map(plain, texts(had))) != list(map(plain, texts(has)))
    return not _sentences(has) <= _sentences(had)


def _sentences(value: Any) -> set[str]:
    """Return the set of sentences in a value. A part of a sentence may say the opposite of the whole."""
    found = {plain(sentence) for text in texts(value) for sentence in _SENTENCES.split(text)}
    return found - {""}


def _with_references(has: Any, had: Any) -> Any:
    """Return the new reasoning with the references of the old one."""
    kept = [line for text in texts(had) for line in text.split("\n") if line.startswith(REFERENCES)]
    more = [line for line in kept if not _sentences(line) <= _sentences(has)]
    return [*has, *more] if isinstance(has, list) else "\n".join([has, *more])


def _come_after(had: list[str], has: list[str]) -> bool:
    """Return True if the steps continue the old ones instead of replacing them: they are fewer, and all are new."""
    return len(has) < len(had) and not {plain(step) for step in had} & {plain(step) for step in has}


def _union(had: list[Any], has: list[Any]) -> list[Any]:
    known = _sentences(had)
    return [*had, *(item for item in has if not _sentences(item) <= known)]


def _key(item: Any) -> str:
    return plain(" ".join(texts(item)))
