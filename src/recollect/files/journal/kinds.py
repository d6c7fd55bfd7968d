# hot
"""The kinds of journal lines, one row each: the keys of such a line, its parser and its writer.

Hooks load it only for lines they need, so it does without dataclasses and json.
"""

from __future__ import annotations

import os

from recollect.domain.quick_json import dump, parse
from recollect.domain.stored import (
    LONGEST_REASON,
    MUTED,
    PINNED,
    RELATIONS,
    SUPERSEDES,
    Anchored,
    Mark,
    Raised,
    Relation,
    Retirement,
    anchors_in,
    is_id,
)
from recollect.domain.text import cut, one_line
from recollect.errors import InvalidEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SAVED = "saved"
DISMISSED = "dismissed"

# The field of a line that came from another machine of the same user: its id there.
LINE = "line"

_LONGEST_PROJECT = 4096
_LONGEST_TIME = 20
_LONGEST_TEXT = 64 * 1024

# The key of a mark's line, and that of the line with its end.
_MARKS = {MUTED: "unmuted", PINNED: "unpinned"}
_LEVELS = ("medium", "high")
_STAGED_FIELDS = ("at", "project", "session", "category", "score", "snippets", "context")
_CARRIED_FIELDS = ("observations", "created_at", "updated_at")


class Kind:
    """A kind of line: its name in messages, the keys that mark it, its parser and its writer.

    The parser returns a value, or raises InvalidEntry. The writer returns the text of a line.
    """

    def __init__(
        self, name: str, keys: tuple[str, ...], parse: Callable[[dict[str, Any]], Any], write: Callable[[Any], str]
    ) -> None:
        self.name = name
        self.keys = keys
        self.parse = parse
        self.write = write


class Staged:
    """A capture awaiting review: its session, the snippets found and the text around them."""

    __slots__ = ("id", *_STAGED_FIELDS)

    def __init__(  # noqa: PLR0917 (the fields of a line, in their order)
        self,
        id: str,
        at: str,
        project: str,
        session: str,
        category: str,
        score: float,
        snippets: list[str],
        context: str,
    ) -> None:
        self.id = id
        self.at = at
        self.project = project
        self.session = session
        self.category = category
        self.score = score
        self.snippets = snippets
        self.context = context


class Reviewed:
    """The outcome of a review of a staged capture."""

    __slots__ = ("at", "id", "outcome")

    def __init__(self, id: str, at: str, outcome: str) -> None:
        self.id = id
        self.at = at
        self.outcome = outcome


class Outgoing:
    """A line on its way to a shared scope: its id, the scope and the body."""

    __slots__ = ("at", "body", "id", "to")

    def __init__(self, id: str, to: str, body: Mapping[str, Any], *, at: str = "") -> None:
        self.id = id
        self.to = to
        self.body = body
        self.at = at


class Moved:
    """The number of an entry's first captures now counted in a bank: the journal itself is append-only."""

    __slots__ = ("at", "id", "observations")

    def __init__(self, id: str, at: str, observations: int) -> None:
        self.id = id
        self.at = at
        self.observations = observations


def kind_of(line: Mapping[str, Any]) -> Kind:
    """Return the kind of a line. A line without a known key is a capture, if a broken one."""
    for kind in KINDS:
        for key in kind.keys:
            if key in line:
                return kind
    return CAPTURE


def parse_line(text: bytes) -> tuple[Kind | None, Any]:
    """Return the kind and the value of a line, or None twice if it is invalid. Quick, and lenient about JSON."""
    try:
        line: Any = parse(text.decode("utf-8", "replace"))
        if isinstance(line, dict):
            kind = kind_of(line)  # pyright: ignore[reportUnknownArgumentType]
            return kind, kind.parse(line)  # pyright: ignore[reportUnknownArgumentType]
    except (ValueError, InvalidEntry):
        pass
    return None, None


def parsed(text: bytes) -> tuple[Kind | None, dict[str, Any]]:
    """Return the kind of a line and its fields, unchecked; None and nothing if it is no JSON object."""
    try:
        line: Any = parse(text.decode("utf-8", "replace"))
    except ValueError:
        return None, {}
    return (kind_of(line), line) if isinstance(line, dict) else (None, {})  # pyright: ignore


def new_id() -> str:
    """Return an id for a staged capture."""
    return os.urandom(4).hex()


def _parse_staged(line: dict[str, Any]) -> Staged:
    id, category = _text(line, "staged"), _text(line, "category")
    if not id or not category:
        raise InvalidEntry("a staged capture has an id and a category")
    score, snippets = line.get("score"), line.get("snippets")
    return Staged(
        id,
        _text(line, "at"),
        _text(line, "project"),
        _text(line, "session"),
        category,
        float(score) if isinstance(score, (int, float)) and 0 <= score <= 1 else 0.0,
        [each for each in snippets if isinstance(each, str)] if isinstance(snippets, list) else [],  # pyright: ignore
        _text(line, "context"),
    )


def _parse_reviewed(line: dict[str, Any]) -> Reviewed:
    id = _text(line, "reviewed")
    if not id:
        raise InvalidEntry("a review names a staged capture")
    return Reviewed(id, _text(line, "at"), _text(line, "outcome"))


def _parse_retirement(line: dict[str, Any]) -> Retirement:
    ended = "restored" in line
    if ended and "retired" in line:
        raise InvalidEntry("a line says either retired or restored, not both")
    id = line["restored" if ended else "retired"]
    if not is_id(id):
        raise InvalidEntry("an entry that is retired or restored is named by 16 hexadecimal digits")
    return Retirement(
        id,
        _project(line, "retired or restored"),
        at=_time(line),
        reason=_reason(line),
        ended=ended,
    )


def _write_retirement(said: Retirement) -> str:
    line = {"restored" if said.ended else "retired": said.id, "at": said.at, "project": said.project}
    return dump(line | ({"reason": said.reason} if said.reason else {}))


def _parse_relation(line: dict[str, Any]) -> Relation:
    new, old, kind = line["related"], line.get("to"), line.get("as")
    if not is_id(new) or not is_id(old) or new == old:
        raise InvalidEntry("two entries that are related are named by 16 hexadecimal digits each")
    if kind not in RELATIONS:
        raise InvalidEntry(f"entries are related as one of {', '.join(RELATIONS)}")
    return Relation(new, str(old), str(kind), at=_time(line))


def _write_relation(said: Relation) -> str:
    return dump({"related": said.new, "to": said.old, "as": said.kind, "at": said.at})


def _parse_mark(line: dict[str, Any]) -> Mark:
    said = [(kind, key) for kind, end in _MARKS.items() for key in (kind, end) if key in line]
    if len(said) != 1:
        raise InvalidEntry(f"a line says one of {', '.join((*_MARKS, *_MARKS.values()))}")
    ((kind, key),) = said
    if not is_id(line[key]):
        raise InvalidEntry("an entry that is muted or pinned is named by 16 hexadecimal digits")
    return Mark(line[key], kind, _project(line, "muted or pinned"), at=_time(line), ended=key != kind)


def _write_mark(said: Mark) -> str:
    return dump({_MARKS[said.kind] if said.ended else said.kind: said.id, "at": said.at, "project": said.project})


def _parse_raised(line: dict[str, Any]) -> Raised:
    id, level = line["raised"], line.get("to")
    if not is_id(id) or level not in _LEVELS:
        raise InvalidEntry("confidence in an entry, named by 16 hexadecimal digits, is raised to medium or high")
    return Raised(id, level, at=_time(line), reason=_reason(line))


def _write_raised(said: Raised) -> str:
    return dump({"raised": said.id, "to": said.level, "at": said.at, "reason": said.reason})


def _parse_anchored(line: dict[str, Any]) -> Anchored:
    if not is_id(line["anchored"]):
        raise InvalidEntry("an entry with anchors is named by 16 hexadecimal digits")
    anchors = anchors_in(line.get("anchors"))
    return Anchored(line["anchored"], _project(line, "anchored"), anchors, at=_time(line))


def _write_anchored(said: Anchored) -> str:
    anchors = [anchor.record for anchor in said.anchors]
    return dump({"anchored": said.id, "at": said.at, "project": said.project, "anchors": anchors})


def _parse_moved(line: dict[str, Any]) -> Moved:
    id, count = line["moved"], line.get("observations")
    if not is_id(id):
        raise InvalidEntry("an entry that was moved is named by 16 hexadecimal digits")
    if type(count) is not int or count < 1:  # not isinstance: bool is a subclass of int
        raise InvalidEntry("how many observations of an entry were moved is a number above zero")
    return Moved(id, _text(line, "at"), count)


def _parse_outgoing(line: dict[str, Any]) -> Outgoing:
    from recollect.domain.shared.line_ids import is_line_id
    from recollect.domain.shared.lines import is_scope

    id, to, body = line["outgoing"], line.get("to"), line.get("body")
    if not is_line_id(id) or not is_scope(to) or not isinstance(body, dict):
        raise InvalidEntry("a line for a shared scope has an id, a scope and a body")
    return Outgoing(id, str(to), body, at=_time(line))  # pyright: ignore[reportUnknownArgumentType]


def _write_outgoing(said: Outgoing) -> str:
    return _write_capture({"outgoing": said.id, "at": said.at, "to": said.to, "body": said.body})


def _parse_carried(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the lesson, as for a capture."""
    if not is_id(line["carried"]):
        raise InvalidEntry("an entry that was taken over is named by 16 hexadecimal digits")
    return {key: value for key, value in line.items() if key not in ("carried", "at", *_CARRIED_FIELDS)}


def _parse_capture(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the lesson, for `sync.entry_input` to check; the others are about the line."""
    return {key: value for key, value in line.items() if key not in ("id", "at", "project", SUPERSEDES, LINE)}


def _write_capture(line: Mapping[str, object]) -> str:
    from json import dumps

    return dumps(line, ensure_ascii=False, separators=(",", ":"))


def _writer(key: str, *fields: str) -> Callable[[Any], str]:
    """Return a writer of values with these fields, and with their id under a key."""
    return lambda value: dump({key: value.id, **{name: getattr(value, name) for name in fields}})


def _text(line: dict[str, Any], name: str) -> str:
    value = line.get(name)
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _time(line: dict[str, Any]) -> str:
    at = line.get("at")
    return one_line(at[: 2 * _LONGEST_TIME])[:_LONGEST_TIME] if isinstance(at, str) else ""


def _reason(line: dict[str, Any]) -> str:
    reason = line.get("reason")
    return cut(one_line(reason[: 4 * LONGEST_REASON]), LONGEST_REASON) if isinstance(reason, str) else ""


def _project(line: dict[str, Any], what: str) -> str:
    """Return the project of a line, empty for all. Raise InvalidEntry if it is none."""
    project = line.get("project", "")
    if not isinstance(project, str) or len(project) > _LONGEST_PROJECT or not can_be_written(project):
        raise InvalidEntry(f"the project of an entry that is {what} is the path of a folder")
    return project


def can_be_written(text: str) -> bool:
    """Return True if a text has no lone surrogates. JSON may have them, but no store can keep them."""
    return text.encode("utf-8", "replace").decode() == text


STAGED = Kind("staged capture", ("staged",), _parse_staged, _writer("staged", *_STAGED_FIELDS))
REVIEWED = Kind("review", ("reviewed",), _parse_reviewed, _writer("reviewed", "at", "outcome"))
RETIREMENT = Kind("retirement", ("retired", "restored"), _parse_retirement, _write_retirement)
RELATION = Kind("relation", ("related",), _parse_relation, _write_relation)
MARK = Kind("mark", (*_MARKS, *_MARKS.values()), _parse_mark, _write_mark)
RAISED = Kind("raise", ("raised",), _parse_raised, _write_raised)
ANCHORED = Kind("line of anchors", ("anchored",), _parse_anchored, _write_anchored)
MOVED = Kind("move", ("moved",), _parse_moved, _writer("moved", "at", "observations"))
OUTGOING = Kind("line for a shared scope", ("outgoing",), _parse_outgoing, _write_outgoing)
CARRIED = Kind("taken-over entry", ("carried",), _parse_carried, _write_capture)
CAPTURE = Kind("capture", (), _parse_capture, _write_capture)  # no key: lines of other tools may have any fields

# A line with the keys of several kinds is of the first one.
KINDS = (STAGED, REVIEWED, RETIREMENT, RELATION, MARK, RAISED, ANCHORED, MOVED, OUTGOING, CARRIED, CAPTURE)
