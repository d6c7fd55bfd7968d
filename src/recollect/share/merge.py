"""Merge two versions of a memory, field by field, with their common ancestor. All functions are pure."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from datetime import UTC, datetime
from json import dumps
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.clock import parse_time
from recollect.domain.memory import MOST_CHANGES, MOST_SUPERSEDED, MOST_TAGS, UNTAGGED, clean_tags, without_state
from recollect.domain.ranking.triggers import MOST_TRIGGERS
from recollect.domain.stored import ACTIVE, MOST_ANCHORS

if TYPE_CHECKING:
    from recollect.domain.memory import Record

# Lists whose order says nothing, with the most items they may have.
_SETS = {"related_files": None, "triggers": MOST_TRIGGERS, "supersedes": MOST_SUPERSEDED}
_STATE = "record_status"
_SUCCESSOR = "superseded_by"
_Name = tuple[str, int]  # of an item in a list
_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Conflict:
    """A field that both versions changed in different ways, with both values; None if a version has no such field."""

    field: str
    ours: Any
    theirs: Any


@dataclass(frozen=True)
class Merged:
    """A merged record, and its conflicts. A field in conflict has our value."""

    record: Record
    conflicts: list[Conflict]


def merge_records(base: Record | None, ours: Record, theirs: Record) -> Merged:
    """Merge two valid versions of a memory; `base` is their common ancestor, if they have one.

    The result fits the schema, too. But for the side kept in a conflict, it does not matter which version is ours.
    """
    return _Merge(base or {}, ours, theirs).result()


class _Merge:
    """One merge. `first` and `second` are the versions by age, so that the order of items is that of time."""

    def __init__(self, base: Record, ours: Record, theirs: Record) -> None:
        self._base, self._ours, self._theirs = base, ours, theirs
        self._first, self._second = sorted((ours, theirs), key=lambda record: (_time(record), _key(record)))
        self._conflicts: list[Conflict] = []

    def result(self) -> Merged:
        base, ours, theirs = map(_plain, (self._base, self._ours, self._theirs))
        record = self._object("", base, ours, theirs)
        return Merged({**record, **self._state()}, self._conflicts)

    def _value(self, field: str, base: Any, ours: Any, theirs: Any) -> Any:
        """Return the merged value of a field, or ours with a conflict noted. None means no such field."""
        is_counted = field == "times_updated" and self._ours != self._theirs  # then equal numbers are two updates
        if theirs == base or (ours == theirs and not is_counted):
            return ours
        if ours == base:
            return theirs
        merged: Any = None
        if field in _RULES:
            merged = _RULES[field](self)
        elif field in _SETS:
            merged = self._set(field)
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            merged = self._object(f"{field}.", base or {}, cast("Record", ours), cast("Record", theirs))
        elif isinstance(ours, list) and isinstance(theirs, list):
            merged = self._list(base or [], cast("list[Any]", ours), cast("list[Any]", theirs))
        if merged is None:
            self._conflicts.append(Conflict(field, ours, theirs))
        return cast("Any", ours) if merged is None else merged

    def _object(self, prefix: str, base: Record, ours: Record, theirs: Record) -> Record:
        merged = {
            key: self._value(f"{prefix}{key}", base.get(key), ours.get(key), theirs.get(key))
            for key in dict.fromkeys([*ours, *theirs])
        }
        return {key: value for key, value in merged.items() if value is not None}

    def _list(self, base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any] | None:
        """Return the items of both lists without those that either removed; None if both rewrote the same item."""
        old = _numbered(base)
        mine, yours = _named(old, ours), _named(old, theirs)
        lost, missed = old.keys() - mine.keys(), old.keys() - yours.keys()
        new, added = mine.keys() - old.keys(), yours.keys() - old.keys()
        rewritten = lost & missed and new - added and added - new
        first, second = (mine, yours) if self._first is self._ours else (yours, mine)
        kept = [item for name, item in _woven(first, second).items() if name not in lost | missed]
        return None if rewritten or not kept else kept

    def _set(self, field: str) -> list[str] | None:
        """Return the items that neither version removed; None if they are too many."""
        had, first, second = (
            dict.fromkeys(cast("list[str]", record.get(field) or []))
            for record in (self._base, self._first, self._second)
        )
        kept = [item for item in had if item in first and item in second]
        kept += sorted({*first, *second} - {*had})
        most = _SETS[field]
        return None if most is not None and len(kept) > most else kept

    def tags(self) -> list[str] | None:
        had, first, second = ({*(r.get("tags") or ())} - {UNTAGGED} for r in (self._base, self._first, self._second))
        kept = (had & first & second) | (first - had) | (second - had)
        return None if len(kept) > MOST_TAGS else clean_tags(kept)

    def changes(self) -> list[Record]:
        """Return both histories as one, in the order of time, without lines that either removed."""
        had, first, second = ([*(r.get("changes") or ())] for r in (self._base, self._first, self._second))
        gone = _keys(had) - (_keys(first) & _keys(second))
        lines: dict[str, tuple[datetime, Record]] = {}
        for history in (first, second):
            at = _BEGINNING
            for line in history:
                at = parse_time(line.get("date")) or at  # a line without a time follows the one before it
                lines.setdefault(_key(line), (at, line))
        kept = [pair for key, pair in lines.items() if key not in gone]
        return [line for _, line in sorted(kept, key=lambda pair: pair[0])][-MOST_CHANGES:]

    def times_updated(self) -> int:
        had, ours, theirs = (r.get("times_updated") or 0 for r in (self._base, self._ours, self._theirs))
        return max(ours, theirs, ours + theirs - had)

    def anchors(self) -> list[Record]:
        """Return for each file the anchor taken last. A file without an anchor in either version has none."""
        found: dict[str, Record] = {}
        for anchor in [*(self._first.get("anchors") or ()), *(self._second.get("anchors") or ())]:
            known = found.setdefault(anchor["file"], anchor)
            found[anchor["file"]] = max(known, anchor, key=lambda each: (each["at"], _key(each)))
        return list(found.values())[:MOST_ANCHORS]

    def updated_at(self) -> str:
        return self._second["updated_at"]

    def created_at(self) -> str:
        both = (self._first["created_at"], self._second["created_at"])
        return min(both, key=lambda text: (parse_time(text) or _BEGINNING, text))

    def _state(self) -> Record:
        """Return the status with its times and reasons, which belong together."""
        base, ours, theirs = map(_state_of, (self._base, self._ours, self._theirs))
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        for field in (_STATE, _SUCCESSOR):
            mine, yours = ours.get(field), theirs.get(field)
            if mine != yours and (field == _STATE or (mine and yours)):
                self._conflicts.append(Conflict(field, mine, yours))
                return ours
        first, second = map(_state_of, (self._first, self._second))
        return {**first, **second}  # both made it so; the later time and reason count


# Fields that both versions may change, with their own ways to merge.
_RULES = {
    "tags": _Merge.tags,
    "changes": _Merge.changes,
    "times_updated": _Merge.times_updated,
    "anchors": _Merge.anchors,
    "updated_at": _Merge.updated_at,
    "created_at": _Merge.created_at,
}


def _plain(record: Record) -> Record:
    """Return a record without its status and what belongs to it."""
    return {field: value for field, value in without_state(record).items() if field != _STATE}


def _state_of(record: Record) -> Record:
    plain = _plain(record)
    return {_STATE: ACTIVE, **{field: value for field, value in record.items() if field not in plain}}


def _time(record: Record) -> datetime:
    return parse_time(record.get("updated_at")) or _BEGINNING


def _key(item: Any) -> str:
    """Return a text to compare JSON values by."""
    return dumps(item, sort_keys=True)


def _keys(items: list[Any]) -> set[str]:
    return set(map(_key, items))


def _numbered(items: list[Any]) -> dict[_Name, Any]:
    """Return the items by name: their text, and how many of the same come before, because lists may repeat an item."""
    seen: Counter[str] = Counter()
    names: dict[_Name, Any] = {}
    for item in items:
        key = _key(item)
        names[key, seen[key]] = item
        seen[key] += 1
    return names


def _named(base: dict[_Name, Any], items: list[Any]) -> dict[_Name, Any]:
    """Return the items by the names that they have in the base; new items have names that the base does not have.

    Of a repeated item, those in the common beginning and end of both lists are the same; others are by their order.
    """
    old = list(base)
    keys = list(map(_key, items))
    start = _common(old, keys)
    end = len(keys) - _common(old[start:][::-1], keys[start:][::-1])
    names = [*old[:start], *(("", 0) for _ in keys[start:end]), *old[len(old) - len(keys) + end :]]
    free: defaultdict[str, deque[_Name]] = defaultdict(deque)
    for name in old[start : len(old) - len(keys) + end]:
        free[name[0]].append(name)
    count = Counter(key for key, _ in old)
    for place, key in enumerate(keys[start:end], start):
        if free[key]:
            names[place] = free[key].popleft()
        else:
            names[place] = key, count[key]
            count[key] += 1
    return dict(zip(names, items, strict=True))


def _common(names: list[_Name], keys: list[str]) -> int:
    """Return how many items two lists have in common at their beginning."""
    pairs = zip(names, keys, strict=False)
    return next((n for n, ((key, _), other) in enumerate(pairs) if key != other), min(len(names), len(keys)))


def _woven(first: dict[_Name, Any], second: dict[_Name, Any]) -> dict[_Name, Any]:
    """Return the items of both lists; those only in the second follow the item they follow there."""
    following: defaultdict[_Name | None, list[_Name]] = defaultdict(list)
    place: _Name | None = None
    for name in second:
        if name in first:
            place = name
        else:
            following[place].append(name)
    order = [*following[None], *(each for name in first for each in (name, *following.get(name, ())))]
    return {name: first[name] if name in first else second[name] for name in order}
