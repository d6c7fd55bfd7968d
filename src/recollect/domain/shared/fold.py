"""The lessons of a scope, computed from the set of its lines: the same on every machine, whatever their order.

Observations add up. A chain of edits is one lesson: its text is the last by clock, older ones are its history. Retired
beats edited, unless somebody confirms or observes the lesson later. In a curated scope, the text of a writer counts
only once a curator has approved its line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from recollect.domain.secrets.detect import find_secret
from recollect.domain.shared.line_ids import is_line_id, milliseconds_of
from recollect.domain.shared.lines import (
    APPROVED,
    CONFIRMED,
    CURATOR,
    JOURNAL,
    LINE_KINDS,
    OBSERVED,
    RETIRED,
    SHARED,
    TeamLine,
    can,
)
from recollect.domain.stored import LONGEST_REASON, is_id
from recollect.domain.text import cut, one_line
from recollect.errors import InvalidEntry

_LONGEST_AUTHOR = 63  # as long as a name can be on the server


class Checked(Protocol):
    """The fields of a lesson after all checks."""

    @property
    def content_hash(self) -> str: ...


Entry = TypeVar("Entry", bound=Checked)


@dataclass(frozen=True)
class SharedText(Generic[Entry]):
    """A text of a lesson: who said it, in which line."""

    id: str
    entry: Entry
    author: str
    line: str
    edits: str = ""


@dataclass(frozen=True)
class SharedLesson(Generic[Entry]):
    """A lesson of a scope, with the texts it had before, and everybody who has said or observed it."""

    text: SharedText[Entry]
    observations: int
    authors: tuple[str, ...]
    history: tuple[SharedText[Entry], ...] = ()
    created: int = 0  # in milliseconds
    updated: int = 0
    is_retired: bool = False
    reason: str = ""

    @property
    def id(self) -> str:
        return self.text.id


@dataclass(frozen=True)
class Folded(Generic[Entry]):
    """The lessons of a scope, the texts that await a curator, and the lines that say nothing, with the reason."""

    lessons: list[SharedLesson[Entry]]
    awaiting: list[SharedText[Entry]]
    problems: dict[str, str]


@dataclass(frozen=True)
class _Said(Generic[Entry]):
    """What a valid line says about a lesson."""

    line: str
    kind: str
    hash: str
    author: str
    text: SharedText[Entry] | None = None
    counts: bool = True  # False for a text that needs an approval
    reason: str = ""
    approves: str = ""


def fold(lines: Iterable[TeamLine], parse: Callable[[object], Entry], *, curated: bool = False) -> Folded[Entry]:
    """Return what lines say. `parse` checks the fields of a lesson, and raises InvalidEntry if one is wrong."""
    problems: dict[str, str] = {}
    said: list[_Said[Entry]] = []
    for line in _unique(lines):
        try:
            read = _read(line, parse, curated)
        except InvalidEntry as error:
            problems[line.id] = str(error)
            continue
        if read:
            said.append(read)
    texts = [each for each in said if each.text]
    approved = _approved(said, {each.line: each.hash for each in texts})
    counted = [each for each in texts if each.counts or each.line in approved]
    groups = _groups(each.text for each in counted if each.text)
    by_group: dict[str, list[_Said[Entry]]] = {}
    for each in said:
        by_group.setdefault(groups.get(each.hash, each.hash), []).append(each)
    valid = {each.line for each in counted}
    lessons = [_lesson(some, valid) for some in by_group.values() if any(each.line in valid for each in some)]
    known = {each.hash for each in counted}
    retired = {each.hash: each.line for each in said if each.kind == RETIRED}  # by the last of such lines
    awaiting = [each for each in texts if each.hash not in known and retired.get(each.hash, "") < each.line]
    waiting = {each.hash: each.text for each in reversed(awaiting) if each.text}
    return Folded(
        sorted(lessons, key=lambda lesson: lesson.id),
        sorted(waiting.values(), key=lambda text: text.line),
        problems,
    )


def related(lines: Iterable[TeamLine], hashes: Collection[str]) -> list[TeamLine]:
    """Return the lines of the lessons with these hashes, and of all that edits join with them.

    A fold of these gives the same lessons as a fold of all.
    """
    given = _unique(lines)
    groups = _joined((hash, edits) for hash, edits in map(hashes_of, given) if hash and edits)
    wanted = {groups.get(hash, hash) for hash in hashes}
    return [line for line in given if groups.get(hash := hashes_of(line)[0], hash) in wanted]


def hash_of(line: TeamLine) -> str:
    """Return the hash of the lesson that a line is about; empty if it is about none."""
    return hashes_of(line)[0]


def hashes_of(line: TeamLine) -> tuple[str, str]:
    """Return the hash of the lesson that a line is about, and of the one that it edits; empty if there is none."""
    body = cast("object", line.body)
    if not isinstance(body, Mapping):
        return "", ""
    fields = cast("Mapping[str, object]", body)
    hashes = [fields[kind] for kind in LINE_KINDS if kind in fields]
    edits = fields.get("edits")
    return (
        hashes[0] if len(hashes) == 1 and isinstance(hashes[0], str) else "",
        edits if isinstance(edits, str) else "",
    )


def _unique(lines: Iterable[TeamLine]) -> list[TeamLine]:
    """Return one line for each id, in the order of ids. A server has one; of several, all machines take the same."""
    found: dict[str, TeamLine] = {}
    for line in lines:
        known = found.get(line.id)
        if known is None or (known != line and _key(line) < _key(known)):
            found[line.id] = line
    return [found[id] for id in sorted(found)]


def _key(line: TeamLine) -> tuple[str, str, str]:
    return json.dumps(line.body, sort_keys=True, default=str), line.author, line.role


def _read(line: TeamLine, parse: Callable[[object], Entry], curated: bool) -> _Said[Entry] | None:
    """Return what a line says, None for a line about no lesson. Raise InvalidEntry if it is invalid."""
    body = cast("object", line.body)
    if not is_line_id(line.id):
        raise InvalidEntry("its id is none")
    if not isinstance(body, Mapping):
        raise InvalidEntry("its body is no JSON object")
    fields = cast("Mapping[str, Any]", body)
    kinds = [kind for kind in LINE_KINDS if kind in fields]
    if len(kinds) != 1:
        raise InvalidEntry(f"it says not exactly one of {', '.join(LINE_KINDS)}")
    (kind,) = kinds
    if kind == JOURNAL:
        return None
    hash: object = fields[kind]
    if not isinstance(hash, str) or not is_id(hash):
        raise InvalidEntry("it names no lesson by 16 hexadecimal digits")
    author = cut(one_line(line.author), _LONGEST_AUTHOR)
    if kind == SHARED:
        text = _text(line, fields, hash, author, parse)
        return _Said(line.id, kind, hash, author, text, counts=not curated or can(line.role, CURATOR))
    reason = fields.get("reason")
    approves = fields.get("line")
    if kind == APPROVED and not is_line_id(approves):
        raise InvalidEntry("it approves no line")
    return _Said(
        line.id,
        kind,
        hash,
        author,
        reason=_reason(reason) if kind == RETIRED and isinstance(reason, str) else "",
        approves=str(approves) if kind == APPROVED else "",
    )


def _text(
    line: TeamLine, fields: Mapping[str, Any], hash: str, author: str, parse: Callable[[object], Entry]
) -> SharedText[Entry]:
    edits = fields.get("edits", "")
    if edits and (not is_id(edits) or edits == hash):
        raise InvalidEntry("it edits no other lesson")
    entry = parse(fields.get("entry"))
    if entry.content_hash != hash:
        raise InvalidEntry("its text has another hash")
    return SharedText(hash, entry, author, line.id, edits or "")


def _reason(text: str) -> str:
    beginning = text[: 4 * LONGEST_REASON]
    return "" if find_secret(beginning) else cut(one_line(beginning), LONGEST_REASON)


def _approved(said: Iterable[_Said[Entry]], texts: Mapping[str, str]) -> set[str]:
    """Return the ids of the approved lines. An approval names both a text and a line with it."""
    return {each.approves for each in said if each.approves and texts.get(each.approves) == each.hash}


def _groups(texts: Iterable[SharedText[Entry]]) -> dict[str, str]:
    """Return for each hash that is edited, or edits, one hash that stands for all joined by edits."""
    return _joined((text.id, text.edits) for text in texts if text.edits)


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    parents: dict[str, str] = {}

    def root(hash: str) -> str:
        while parents.setdefault(hash, hash) != hash:
            parents[hash] = parents[parents[hash]]
            hash = parents[hash]
        return hash

    for one, other in pairs:
        first, second = sorted((root(one), root(other)))
        parents[second] = first
    return {hash: root(hash) for hash in list(parents)}


def _lesson(said: list[_Said[Entry]], valid: Collection[str]) -> SharedLesson[Entry]:
    """Return the lesson that lines speak about, given in the order of their ids."""
    texts = [each.text for each in said if each.text and each.line in valid]
    edits = [text for text in texts if text.edits]
    text = edits[-1] if edits else texts[0]
    is_retired, reason = False, ""
    for each in said:
        if each.kind == RETIRED:
            is_retired, reason = True, each.reason
        elif each.kind == CONFIRMED or _is_observation(each):
            is_retired, reason = False, ""
    former = {each.id: each for each in texts if each.id != text.id}
    counting = [each for each in said if each.text is None or each.line in valid]
    return SharedLesson(
        text,
        max(1, sum(map(_is_observation, said))),
        tuple(dict.fromkeys(each.author for each in said if _is_observation(each) or each.line in valid)),
        tuple(former.values()),
        milliseconds_of(texts[0].line),
        milliseconds_of(counting[-1].line),
        is_retired,
        reason,
    )


def _is_observation(said: _Said[Entry]) -> bool:
    return said.kind == OBSERVED or bool(said.text and not said.text.edits)
