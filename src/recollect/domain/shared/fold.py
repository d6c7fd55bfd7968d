"""The lessons of a scope, computed from the set of its lines: the same on every machine.

The lines are read in the order in which the server has numbered them; the clock of a laptop decides nothing. Who shares
a text first is its author. Only its author or a curator changes, retires or revives a lesson: what others say of it
counts as an observation at most, one for each person and day. A chain of edits is one lesson: each takes the place of
the text that it names, if that still holds, and older texts are its history. Retired beats edited. In a curated scope,
the text of a writer counts only once a curator has approved its line, and only a curator revives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from recollect.domain.clock import parse_time
from recollect.domain.secrets.detect import find_secret
from recollect.domain.shared.line_ids import MOST_MILLISECONDS, is_line_id, machine_of, milliseconds_of
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

# Counted up when lines come to mean something else, so that the lessons made of them before are made anew.
RULES = 2

_LONGEST_AUTHOR = 63  # as long as a name can be on the server
_DAY = len("2026-01-31")


class Checked(Protocol):
    """The fields of a lesson after all checks."""

    @property
    def content_hash(self) -> str: ...


Entry = TypeVar("Entry", bound=Checked)


@dataclass(frozen=True)
class SharedText(Generic[Entry]):
    """A text of a lesson: who said it, in which line. `maker` has made the token by which it was said, if another."""

    id: str
    entry: Entry
    author: str
    line: str
    edits: str = ""
    maker: str = ""

    @property
    def said_by(self) -> str:
        """Return who said it, and by whose token."""
        author = self.author or "somebody"
        return f"{author} by a token of {self.maker}" if self.maker not in ("", self.author) else author


@dataclass(frozen=True)
class SharedLesson(Generic[Entry]):
    """A lesson of a scope, with the texts it had before, and everybody who has said or observed it."""

    text: SharedText[Entry]
    observations: int
    authors: tuple[str, ...]
    history: tuple[SharedText[Entry], ...] = ()
    created: int = 0  # in milliseconds, by the server's clock
    updated: int = 0
    is_retired: bool = False
    reason: str = ""

    @property
    def id(self) -> str:
        return self.text.id


@dataclass(frozen=True)
class RefusedText(Generic[Entry]):
    """A text that was never approved: who has refused it, in which line, and why."""

    text: SharedText[Entry]
    by: str
    line: str
    reason: str


@dataclass(frozen=True)
class Folded(Generic[Entry]):
    """The lessons of a scope, the texts that await a curator, those refused, and invalid lines with the reason."""

    lessons: list[SharedLesson[Entry]]
    awaiting: list[SharedText[Entry]]
    refused: list[RefusedText[Entry]]
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
    is_curator: bool = False
    day: str = ""  # on which the server took it
    at: int = 0  # in milliseconds: when the server took it


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
    approved = _approved(said)
    taken = _Lessons[Entry](curated=curated)
    for each in said:
        taken.take(each, counts=each.counts or each.line in approved)
    awaiting, refused = taken.unsettled()
    return Folded(taken.lessons(), awaiting, refused, problems)


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
    """Return one line for each id, in the order of the server. It has one; of several, all machines take the same."""
    found: dict[str, TeamLine] = {}
    for line in lines:
        known = found.get(line.id)
        if known is None or (known != line and _key(line) < _key(known)):
            found[line.id] = line
    return sorted(found.values(), key=lambda line: (line.seq, line.id))


def _key(line: TeamLine) -> tuple[int, str, str, str]:
    return line.seq, json.dumps(line.body, sort_keys=True, default=str), line.author, line.role


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
    is_curator, day, at = can(line.role, CURATOR), line.received[:_DAY], _taken_at(line)
    if kind == SHARED:
        text = _text(line, fields, hash, author, parse)
        counts = not curated or is_curator
        return _Said(line.id, kind, hash, author, text, counts=counts, is_curator=is_curator, day=day, at=at)
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
        is_curator=is_curator,
        day=day,
        at=at,
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
    return SharedText(hash, entry, author, line.id, edits or "", cut(one_line(line.maker), _LONGEST_AUTHOR))


def _taken_at(line: TeamLine) -> int:
    """Return when the server took a line, in milliseconds; the time in its id if that is not known."""
    moment = parse_time(line.received)
    milliseconds = int(moment.timestamp()) * 1000 if moment else milliseconds_of(line.id)
    return min(max(milliseconds, 0), MOST_MILLISECONDS)


def _reason(text: str) -> str:
    beginning = text[: 4 * LONGEST_REASON]
    return "" if find_secret(beginning) else cut(one_line(beginning), LONGEST_REASON)


def _approved(said: Sequence[_Said[Entry]]) -> set[str]:
    """Return the ids of the lines that curators have approved. An approval names both a text and a line with it."""
    texts = {each.line: each.hash for each in said if each.text}
    return {
        each.approves for each in said if each.approves and each.is_curator and texts.get(each.approves) == each.hash
    }


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


class _Lessons(Generic[Entry]):
    """The lessons of a scope while its lines are read, one by one, in the order of the server."""

    def __init__(self, *, curated: bool) -> None:
        self._curated = curated
        self._first: dict[str, str] = {}  # the author of each text: who shared it first
        self._known: dict[str, _Lesson[Entry]] = {}  # the lesson of each text that counts
        self._early: dict[str, list[_Said[Entry]]] = {}  # what was said of texts before they counted
        self._waiting: dict[str, SharedText[Entry]] = {}
        self._refused: dict[str, RefusedText[Entry]] = {}

    def take(self, said: _Said[Entry], *, counts: bool) -> None:
        """Do what a line says, as far as its author may. A text counts unless it needs an approval and has none."""
        if said.text:
            self._first.setdefault(said.hash, said.author)
            if counts:
                self._share(said, said.text)
                return
            self._waiting.setdefault(said.hash, said.text)
        if lesson := self._known.get(said.hash):
            lesson.hear(said, may_settle=self._may(said, said.hash), may_revive=self._may_revive(said))
        elif said.kind == RETIRED:
            self._refuse(said)
        elif said.kind in (OBSERVED, SHARED):
            self._early.setdefault(said.hash, []).append(said)

    def lessons(self) -> list[SharedLesson[Entry]]:
        found = {id(lesson): lesson for lesson in self._known.values()}
        return sorted((lesson.told() for lesson in found.values()), key=lambda lesson: lesson.id)

    def unsettled(self) -> tuple[list[SharedText[Entry]], list[RefusedText[Entry]]]:
        """Return the texts that await a curator, and those refused."""
        waiting = [text for hash, text in self._waiting.items() if hash not in self._known]
        refused = [each for hash, each in self._refused.items() if hash not in {*self._known, *self._waiting}]
        return sorted(waiting, key=lambda text: text.line), sorted(refused, key=lambda each: each.line)

    def _share(self, said: _Said[Entry], text: SharedText[Entry]) -> None:
        lesson, edited = self._known.get(said.hash), self._known.get(text.edits)
        if edited and self._may(said, text.edits) and self._may(said, said.hash):
            if lesson and lesson is not edited:
                edited.join(lesson)
                self._known.update(dict.fromkeys(lesson.texts, edited))
            edited.edit(said, text)
            lesson = edited
        elif lesson:
            lesson.hear(said, may_settle=False, may_revive=self._may_revive(said))
        else:
            lesson = _Lesson(said, text)
            for each in self._early.pop(said.hash, ()):
                lesson.hear(each, may_settle=False, may_revive=False)
        self._known[said.hash] = lesson

    def _refuse(self, said: _Said[Entry]) -> None:
        """Retire a text that does not count yet. Its author takes it back; of others, a curator refuses it."""
        text = self._waiting.get(said.hash)
        if text and self._may(said, said.hash):
            del self._waiting[said.hash]
            if said.author != text.author:
                self._refused[said.hash] = RefusedText(text, said.author, said.line, said.reason)

    def _may(self, said: _Said[Entry], hash: str) -> bool:
        """Return True for the author of a text and of the lesson that has it, and for curators."""
        lesson = self._known.get(hash)
        own = self._first.get(hash) == said.author and (not lesson or lesson.author == said.author)
        return said.is_curator or own

    def _may_revive(self, said: _Said[Entry]) -> bool:
        return said.is_curator if self._curated else self._may(said, said.hash)


class _Lesson(Generic[Entry]):
    """One lesson while lines are read: its text, those before, and what was said of it."""

    def __init__(self, said: _Said[Entry], text: SharedText[Entry]) -> None:
        self.texts = {text.id: text}
        self._text = text
        self.author = said.author
        self._authors = {said.author: None}
        self._days = {(said.author, said.day)}
        self._times = [said.at]
        self._is_retired, self._reason = False, ""

    def hear(self, said: _Said[Entry], *, may_settle: bool, may_revive: bool) -> None:
        """Count an observation, and retire or revive the lesson if whoever says so may."""
        if said.kind == RETIRED:
            if not may_settle:
                return
            self._is_retired, self._reason = True, said.reason
        elif said.kind in (OBSERVED, SHARED):
            self._days.add((said.author, said.day))
            self._authors.setdefault(said.author)
        if said.kind in (CONFIRMED, OBSERVED, SHARED) and may_revive:
            self._is_retired, self._reason = False, ""
        self._times.append(said.at)

    def edit(self, said: _Said[Entry], text: SharedText[Entry]) -> None:
        """Put a text in the place of the one that it names.

        If that was replaced already, the first edit stays; but several from one machine that had not heard of it are
        taken one after the other.
        """
        is_same = text.author == self._text.author and machine_of(text.line) == machine_of(self._text.line)
        self._authors.setdefault(said.author)
        self._times.append(said.at)
        if text.edits == self._text.id or is_same:
            self.texts[text.id] = self._text = text
        else:
            self.texts.setdefault(text.id, text)

    def join(self, other: _Lesson[Entry]) -> None:
        """Take over another lesson, whose text was put in the place of this one's. It stays that of its author."""
        self.author = other.author
        self.texts = other.texts | self.texts
        self._authors |= other._authors
        self._days |= other._days
        self._times += other._times

    def told(self) -> SharedLesson[Entry]:
        former = tuple(text for id, text in self.texts.items() if id != self._text.id)
        times = min(self._times), max(self._times)
        return SharedLesson(
            self._text, len(self._days), tuple(self._authors), former, *times, self._is_retired, self._reason
        )
