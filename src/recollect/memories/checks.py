"""Checks of a change to a memory, beside its schema and the rules of merging.

A check refuses a change with WriteRefused, and nothing is written.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.clock import parse_time
from recollect.domain.lifecycle import change, with_change
from recollect.domain.memory import texts
from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import ARCHIVED, RETIRED
from recollect.errors import WriteRefused
from recollect.files.memory.index_md import IndexEntry, read_entries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.config.settings import Settings
    from recollect.domain.memory import Record
    from recollect.files.memory.memories import MemoryFile, MemoryRoot

# For this long, a retired memory cannot be created again.
_RESURRECTION = timedelta(hours=24)

# After this time, a restored memory may be out of date.
_STALE = timedelta(days=7)
_MOST_NAMED = 3


def check_enabled(settings: Settings, category: str, *, auto: bool = False) -> None:
    """Refuse to write a category if it is switched off, or, with `auto`, if its automatic capture is."""
    setting = settings.off_switch(category, auto=auto)
    if setting:
        raise WriteRefused(
            "CATEGORY_ERROR",
            ("category", category),
            ("rule", f"{setting} is false"),
            ("fix", f"leave it, or switch it on with `recollect config set {setting} true`"),
        )


def check_secrets(record: Record) -> None:
    """Refuse a record with a likely secret in any field; the refusal does not repeat the secret."""
    for field, value in record.items():
        for text in texts({field: value}, names=True):
            kind = find_secret(text)
            if kind:
                raise WriteRefused(
                    "SECURITY_ERROR",
                    ("field", "(a name)" if find_secret(field) else field),
                    ("rule", f"no credentials in memories, but this seems to hold {kind}"),
                    ("fix", "say where the credential is kept instead of what it is"),
                )


def check_room(root: MemoryRoot, settings: Settings, category: str, index: Iterable[IndexEntry]) -> None:
    """Refuse another active memory in a full category; the refusal names the memories unchanged for longest.

    Memories that were not written here do not count, as far as that is known: a repository may bring any number.
    """
    most = settings.whole("max_memories_per_category")
    active = [entry for entry in index if entry.category == category]
    if len(active) >= most:
        own = set(root.own(category, [entry.path for entry in active]))
        active = [entry for entry in active if entry.path in own]
    if len(active) < most:
        return
    oldest = sorted(read_entries(root, active), key=lambda memory: (memory.updated_at, memory.slug))[:_MOST_NAMED]
    raise WriteRefused(
        "LIMIT_ERROR",
        ("category", category),
        ("rule", f"at most {most} active memories of a category (max_memories_per_category)"),
        ("got", f"{len(active)} active memories"),
        ("oldest", ", ".join(memory.slug for memory in oldest)),
        ("fix", "retire one that no longer holds (`recollect retire SLUG`), or update one instead of adding another"),
    )


def makes_room(settings: Settings, category: str) -> bool:
    """Return True if the rolling window retires an old memory for each new one."""
    window = settings.whole(f"categories.{SESSION_SUMMARY}.max_retained")
    return category == SESSION_SUMMARY and window <= settings.whole("max_memories_per_category")


def check_grace(root: MemoryRoot, settings: Settings, old: MemoryFile, warnings: list[str]) -> None:
    """Refuse to restore a memory past its grace period. Warn if it was retired long ago or at an unknown time."""
    since = parse_time(old.record.get("retired_at"))
    if since is None:
        warnings.append("the file does not say when it was retired; make sure that it still holds")
        return
    age = datetime.now(UTC) - since
    grace = settings.whole("delete.grace_period_days")
    if age >= timedelta(days=grace):
        raise WriteRefused(
            "RESTORE_ERROR",
            ("target", root.shown(old.path)),
            ("retired_at", old.record["retired_at"]),
            ("rule", f"a retired memory can be restored within {grace} days (delete.grace_period_days)"),
            ("fix", "write it anew with --action create, if it still holds"),
        )
    if age > _STALE:
        warnings.append(f"it was retired {age.total_seconds() / 86_400:.0f} days ago; make sure that it still holds")


def not_again(root: MemoryRoot, before: MemoryFile | None, record: Record, now: str) -> Record:
    """Return the new record, with the history of the retired memory at the same path, if there is one.

    Raises:
        WriteRefused: the path is taken, or its memory was retired less than 24 hours ago.
    """
    if before is None:
        return record
    if before.status != RETIRED:
        first = "take it back with --action unarchive, then " if before.status == ARCHIVED else ""
        raise WriteRefused(
            "CREATE_ERROR",
            ("target", root.shown(before.path)),
            ("rule", f"there is a memory of that name ({before.status}: {before.title})"),
            ("fix", f"{first}change it with --action update, or choose another name"),
        )
    since = parse_time(before.record.get("retired_at"))
    if since and datetime.now(UTC) - since < _RESURRECTION:
        raise WriteRefused(
            "ANTI_RESURRECTION_ERROR",
            ("target", root.shown(before.path)),
            ("retired_at", before.record["retired_at"]),
            ("fix", "it was retired less than 24 hours ago: restore it with --action restore, wait, or choose another"),
        )
    added: list[Record] = record.get("changes") or []
    again = {**record, "changes": [*before.changes, *added]}
    return with_change(again, change("Created again after it was retired", now))
