"""Change the state of a memory, and check the rules for updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from recollect.domain.memory import (
    LONGEST_REASON,
    LONGEST_SUMMARY,
    MOST_CHANGES,
    MOST_TAGS,
    UNTAGGED,
    without_state,
)
from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import ACTIVE, ARCHIVED, RETIRED
from recollect.domain.text import cut, one_line
from recollect.errors import WriteRefused

if TYPE_CHECKING:
    from recollect.domain.memory import Record

_LONGEST_VALUE = 1_000
NO_REASON = "No reason provided"


def status_of(record: Record) -> str:
    return record.get("record_status") or ACTIVE


def retired(record: Record, reason: str, now: str, *, by: str = "") -> Record:
    """Return the record as retired, with a pointer to the memory it is superseded `by`, if any."""
    why = _reason(reason)
    pointer = {"superseded_by": by} if by else {}
    return _moved(record, RETIRED, f"Retired: {why}", now, retired_at=now, retired_reason=why, **pointer)


def archived(record: Record, reason: str, now: str) -> Record:
    """Return the record as archived."""
    why = _reason(reason)
    by = record.get("superseded_by")
    pointer = {"superseded_by": by} if isinstance(by, str) else {}
    return _moved(record, ARCHIVED, f"Archived: {why}", now, archived_at=now, archived_reason=why, **pointer)


def activated(record: Record, summary: str, now: str) -> Record:
    """Return the record as active again."""
    return _moved(record, ACTIVE, summary, now)


def with_change(record: Record, change: Record) -> Record:
    """Return the record with one more line of history. Beyond 50 lines, drop the oldest."""
    return {**record, "changes": [*(record.get("changes") or []), change][-MOST_CHANGES:]}


def change(summary: str, now: str, field: str = "", old: Any = None, new: Any = None) -> Record:
    """Return a line of history."""
    line: Record = {"date": now, "summary": cut(one_line(summary), LONGEST_SUMMARY)}
    if field:
        line |= {"field": field, "old_value": _short(old), "new_value": _short(new)}
    return {key: value for key, value in line.items() if value is not None}


def merged(old: Record, new: Record, *, now: str, exists: Callable[[str], bool]) -> tuple[Record, list[str]]:
    """Return the updated record with its history, and warnings about shrunk lists.

    Both records must fit their schema. `exists` returns whether a related file exists.

    Raises:
        WriteRefused: the update breaks a rule: it changes the state, or loses tags, files or history.
    """
    if status_of(old) != status_of(new):
        fix = "use --action delete, archive, unarchive or restore instead"
        raise _refused("record_status", "immutable via UPDATE", fix)
    generated = [*_tag_changes(old, new, now), *_content_changes(old, new, now)]
    _check_files(old, new, exists)
    history = [*_history(old, new), *generated]
    had = len(old.get("changes") or [])
    if len(history) <= had:
        fix = "add a change with date and summary to changes; every update needs one"
        raise _refused("changes", "append-only (new entry required)", fix, old_count=had, total_count=len(history))
    result = {
        **new,
        "changes": history[-MOST_CHANGES:],
        "times_updated": (old.get("times_updated") or 0) + 1,
        "updated_at": now,
    }
    return result, _shrunk(old, new)


def _moved(record: Record, status: str, summary: str, now: str, **fields: str) -> Record:
    before = status_of(record)
    result = {**without_state(record), "record_status": status, "updated_at": now, **fields}
    return with_change(result, change(summary, now, "record_status", before, status))


def _tag_changes(old: Record, new: Record, now: str) -> list[Record]:
    had, has = set[str](old.get("tags") or []), set[str](new.get("tags") or [])
    had -= {UNTAGGED} if has - {UNTAGGED} else set()  # a placeholder for "no tags"
    removed, added = sorted(had - has), sorted(has - had)
    if len(has) > MOST_TAGS:
        raise _refused("tags", "cap exceeded", f"keep at most {MOST_TAGS} tags", count=len(has))
    if not removed:
        return []
    if len(had) < MOST_TAGS:
        fix = f"keep these tags; with {len(had)} of {MOST_TAGS} tags they can only be added"
        raise _refused("tags", f"grow-only (below cap of {MOST_TAGS})", fix, removed=removed)
    if not added:
        fix = "keep these tags, or add a new one for what is evicted"
        raise _refused("tags", "no net shrink without addition", fix, removed=removed)
    summary = f"Tags evicted at the cap: {', '.join(removed)}; added: {', '.join(added)}"
    return [change(summary, now, "tags", removed, added)]


def _content_changes(old: Record, new: Record, now: str) -> list[Record]:
    before: Record = old.get("content") or {}
    after: Record = new.get("content") or {}
    return [
        change(f"content.{key} changed", now, f"content.{key}", before.get(key), after.get(key))
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key) and not isinstance(before.get(key), list | dict)
    ]


def _check_files(old: Record, new: Record, exists: Callable[[str], bool]) -> None:
    had: list[str] = old.get("related_files") or []
    kept: list[str] = new.get("related_files") or []
    for path in had:
        if path not in kept and exists(path):
            fix = "keep it; only references to files that are gone can be removed"
            raise _refused("related_files", "grow-only (cannot remove existing file reference)", fix, removed=path)


def _history(old: Record, new: Record) -> list[Record]:
    """Return the new record's history. Raise `WriteRefused` unless it begins with all of the old one."""
    had: list[Record] = old.get("changes") or []
    says: list[Record] = new.get("changes") or []
    if says[: len(had)] != had:
        fix = "send all changes as they are in the file, in their order, and new ones after them"
        raise _refused("changes", "append-only", fix, old_count=len(had), new_count=len(says))
    return says


# Lists of a summary that say how things stand now.
PASSING = ("in_progress", "blockers", "next_actions")


def _shrunk(old: Record, new: Record) -> list[str]:
    before: Record = old.get("content") or {}
    after: Record = new.get("content") or {}
    found: list[str] = []
    for key, value in before.items():
        had, has = _length(value), _length(after.get(key))
        if has < had and key not in PASSING:
            found.append(f"content.{key} shrank from {had} to {has} items")
    return found


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0  # pyright: ignore[reportUnknownArgumentType]


def _refused(field: str, rule: str, fix: str, **facts: object) -> WriteRefused:
    return WriteRefused("MERGE_ERROR", ("field", field), ("rule", rule), *facts.items(), ("fix", fix))


def _reason(text: str) -> str:
    return cut(one_line(text), LONGEST_REASON) or NO_REASON


def _short(value: Any) -> Any:
    if not isinstance(value, str):
        return value if len(repr(value)) <= _LONGEST_VALUE else None
    secret = find_secret(value)  # otherwise removing a credential would copy it into the history
    return f"[{secret}]" if secret else cut(value, _LONGEST_VALUE)
