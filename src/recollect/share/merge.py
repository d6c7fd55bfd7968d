"""Merge two versions of a memory, field by field, with their common ancestor. All functions are pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from json import dumps
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.clock import parse_time
from recollect.domain.memory import MOST_CHANGES, MOST_SUPERSEDED, UNTAGGED, clean_tags, without_state
from recollect.domain.ranking.triggers import MOST_TRIGGERS
from recollect.domain.stored import ACTIVE

if TYPE_CHECKING:
    from recollect.domain.memory import Record

# Lists whose order says nothing, with the most items they may have.
_SETS = {"related_files": None, "triggers": MOST_TRIGGERS, "supersedes": MOST_SUPERSEDED}
_STATE = "record_status"
_SUCCESSOR = "superseded_by"
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
        had, (mine, yours) = _keys(base), (_keys(ours), _keys(theirs))
        rewritten = (had - mine) & (had - yours) and mine - had - yours and yours - had - mine
        first, second = (ours, theirs) if self._first is self._ours else (theirs, ours)
        kept = [item for item in _woven(first, second) if _key(item) not in (had - mine) | (had - yours)]
        return None if rewritten or not kept else kept

    def _set(self, field: str) -> list[str]:
        lists = [cast("list[str]", record.get(field) or []) for record in (self._base, self._first, self._second)]
        had, first, second = lists
        kept = [item for item in dict.fromkeys(had) if item in first and item in second]
        added = sorted({*first, *second} - {*had})
        return [*kept, *added][: _SETS[field]]

    def tags(self) -> list[str]:
        had, first, second = ({*(r.get("tags") or ())} - {UNTAGGED} for r in (self._base, self._first, self._second))
        return clean_tags((had & first & second) | (first - had) | (second - had), had)

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


def _woven(first: list[Any], second: list[Any]) -> list[Any]:
    """Return the items of both lists, each once; those only in the second follow the item they follow there."""
    woven = {_key(item): item for item in first}
    order = list(woven)
    place = 0
    for item in second:
        key = _key(item)
        if key in woven:
            place = order.index(key) + 1
        else:
            woven[key] = item
            order.insert(place, key)
            place += 1
    return [woven[key] for key in order]
