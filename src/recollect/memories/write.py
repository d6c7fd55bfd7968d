"""Change memory files, with checks to protect the existing ones.

Every change reads, checks and writes under the lock of the memory root, so no other change comes in between.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.lifecycle import activated, archived, change, merged, retired, with_change
from recollect.domain.memory import (
    MOST_CHANGES,
    MOST_TAGS,
    SESSION_PREFIX,
    UNTAGGED,
    auto_fix,
    clean_tags,
    difference,
    is_slug,
    seen,
    slugify,
    without_state,
)
from recollect.domain.secrets.detect import redacted
from recollect.domain.stored import ACTIVE, ARCHIVED, MOST_ANCHORS, RETIRED, Anchor, file_named
from recollect.domain.text import few, utc_text
from recollect.errors import StorageError, WriteRefused
from recollect.files.memory.index_md import current_index, forget_in_index, gathered, read_entries
from recollect.files.memory.lock import memories_locked
from recollect.files.memory.memories import MemoryFile, MemoryRoot, read_memory, slug_of
from recollect.files.memory.schemas import is_captured, validated
from recollect.files.memory.write import save_memory, write_memory
from recollect.memories.checks import check_enabled, check_grace, check_room, check_secrets, makes_room, not_again
from recollect.memories.retention import (
    beyond_window,
    expired,
    may_expire,
    retention_reason,
    told_nowhere_else,
    window_reason,
    words_of,
)
from recollect.sync.memories import entry_id
from recollect.truth.take import take_anchors

if TYPE_CHECKING:
    from recollect.config.settings import Settings
    from recollect.domain.memory import Record

VALID = "valid"

_MOST_NAMED = 3
_MOST_WARNINGS = 10
_KEPT = ("created_at", "schema_version", "category", "id", "record_status", "times_updated")


class Written:
    """The result of a change; `paths` are the written, renamed or removed memory files."""

    def __init__(self, status: str, target: str, **facts: object) -> None:
        self.status = status
        self.target = target
        self.facts = facts
        self.warnings: list[str] = []
        self.paths: list[str] = []

    @property
    def message(self) -> str:
        return f"{self.status} {self.target}"

    def document(self, identity: str, category: str) -> dict[str, object]:
        """Return it as JSON, for the project with this identity."""
        slug = slug_of(self.target)
        return {
            "status": self.status,
            "outcome": self.status,
            "target": self.target,
            **self.facts,
            "id": entry_id(identity, category, slug),
            "slug": slug,
            "category": category,
            "path": self.target,
        }


def create(
    root: MemoryRoot,
    settings: Settings,
    path: str,
    category: str,
    record: Record,
    *,
    auto: bool = False,
    check: bool = False,
    captured: bool = False,
    instead_of: str = "",
    checkout: str = "",
) -> Written:
    """Write a new memory, or only `check` if it could be written. `auto` is True if nobody asked for it.

    A `captured` one may lack texts that nobody has said. The memory at the path `instead_of` is about to be retired,
    so it takes up no room. Its files are those of the `checkout`, a worktree perhaps, or else of the root's project.

    Raises:
        WriteRefused: the checks do not allow it; nothing was written.
        LockTimeout: other writers held the root for too long; nothing was written.
        StorageError: it cannot be written.
    """
    check_enabled(settings, category, auto=auto)
    now = _now()
    record = {**without_state(seen(record)), "anchors": None}  # ours to take, whatever is given
    notes = auto_fix(record, now=now, new=True)
    record |= {"record_status": ACTIVE, "category": category, "id": slug_of(path), "times_updated": 0}
    record["changes"] = _last_changes(record)
    check_secrets(record)  # before the schema, because its errors repeat the given values
    record = validated(record, category, authored=not captured)
    record["anchors"] = None if check else _anchor_records(checkout or root.project, category, record)
    result = Written(VALID if check else "created", root.shown(path), id=record["id"], title=record["title"])
    result.warnings += notes
    # A check does without the lock, because the lock would create the memory root.
    with nullcontext(list[str]()) if check else memories_locked(root.path) as warnings:
        before = _existing(root, path, category)
        index = gathered(root, []) if check else current_index(root, warnings)
        record = not_again(root, before, record, _now())
        if not makes_room(settings, category):
            replaced = root.shown(instead_of) if instead_of else ""
            check_room(root, settings, category, [entry for entry in index if entry.path != replaced])
        if not check:
            memory = save_memory(root, path, category, record)
            result.paths.append(path)
            result.warnings += warnings
            _retire_old(root, settings, category, memory, result)
    return result


def update(
    root: MemoryRoot,
    settings: Settings,
    path: str,
    category: str,
    record: Record,
    *,
    expected: str = "",
    check: bool = False,
    captured: bool = False,
    confirmed: bool = False,
    shown: bool = False,
    checkout: str = "",
) -> Written:
    """Change a memory, or only `check` if it could be changed. `expected` is the MD5 of the file it is based on.

    A record that was `shown` and comes back as it was changes nothing; any other update has to say something new.
    A memory that lacked a text which an author must write may still lack it, and any `captured` one may. A new content
    renews the anchors of all files, as does a `confirmed` memory; otherwise only new files get one. `checkout` is as in
    `create`. Raises as `create` does.
    """
    check_enabled(settings, category)
    now = _now()
    given = {**seen(record), "anchors": None}
    # Before the lock, because git may take its time.
    taken = None if check else _anchor_records(checkout or root.project, category, given)
    with _changing(root, path, category, "UPDATE_ERROR", "; use --action create instead") as (old, warnings):
        notes = auto_fix(given, now=now, new=False, had=old.tags)
        if expected and expected.lower() != old.hash:
            raise WriteRefused(
                "OCC_CONFLICT",
                ("target", root.shown(path)),
                ("expected_hash", expected),
                ("current_hash", old.hash),
                ("fix", "somebody has changed the file; read it again and send the change based on what it says now"),
            )
        if shown and record == redacted(old.record):
            return Written("unchanged", root.shown(path), title=old.title)
        if not check:
            current_index(root, warnings)
        authored = not captured and not is_captured(old.record, category)
        record, more = _merged(root, old, given, now, authored=authored)
        target = _renamed(path, old, record, more)
        record["id"] = slug_of(target)
        is_anew = confirmed or record["content"] != old.content
        record["anchors"] = taken if is_anew else _kept_anchors(old, taken)
        if check:
            valid = Written(VALID, root.shown(target), id=record["id"], title=validated(record, category)["title"])
            valid.warnings += [*notes, *more]
            return valid
        memory = save_memory(root, target, category, record, before=path)
    result = Written(
        "updated", root.shown(target), id=memory.slug, title=memory.title, times_updated=record["times_updated"]
    )
    if target != path:
        result.facts["renamed_from"] = root.shown(path)
    result.paths += dict.fromkeys([path, target])
    result.warnings += [*notes, *warnings, *more]
    if not expected:
        result.warnings.append("no --hash was given, so a change that somebody made in between would not be noticed")
    return result


def confirm(root: MemoryRoot, path: str, category: str, anchors: Sequence[Anchor], moved: Mapping[str, str]) -> Written:
    """Renew the anchors of an active memory: it is still true. `moved` has new names of its related files by old ones.

    Raises as `create` does.
    """
    with _changing(root, path, category, "CONFIRM_ERROR") as (old, warnings):
        if old.status != ACTIVE:
            raise _wrong_state("CONFIRM_ERROR", root, old, "only an active memory can be confirmed; restore it first")
        current_index(root, warnings)
        now = _now()
        files = list(dict.fromkeys(moved.get(file_named(file), file) for file in old.related_files))
        record = {**old.record, "anchors": [anchor.record for anchor in anchors] or None, "updated_at": now}
        record |= {"related_files": files} if files else {}
        named = f" with {', '.join(anchor.file for anchor in anchors)}" if anchors else ""
        saved = save_memory(root, path, category, with_change(record, change(f"Confirmed{named}", now)))
        return _result("confirmed", root, saved, warnings)


def tag(root: MemoryRoot, path: str, category: str, tags: Sequence[str], *, taken_back: Sequence[str] = ()) -> Written:
    """Add tags to a memory, or take back those just added by mistake. Raises as `create` does.

    An update cannot take tags away; only who has added some can take them back.
    """
    check_secrets({"tags": list(tags)})
    with _changing(root, path, category, "TAG_ERROR") as (old, warnings):
        kept = [each for each in old.tags if each not in taken_back]
        new = clean_tags([*kept, *tags], kept)
        if len({*kept, *clean_tags(tags)} - {UNTAGGED}) > MOST_TAGS:
            fix = f"a memory has at most {MOST_TAGS} tags; edit it to choose them"
            raise WriteRefused("TAG_ERROR", ("target", root.shown(path)), ("field", "tags"), ("fix", fix))
        if new == old.tags:
            return Written("unchanged", root.shown(path), title=old.title)
        current_index(root, warnings)
        now = _now()
        said = f"Took back tags: {', '.join(taken_back)}" if taken_back else f"Tagged: {', '.join(clean_tags(tags))}"
        record = with_change({**old.record, "tags": new, "updated_at": now}, change(said, now, "tags", old.tags, new))
        return _result("tagged", root, save_memory(root, path, category, record), warnings)


def retire(root: MemoryRoot, path: str, category: str, reason: str = "", *, by: str = "") -> Written:
    """Retire a memory: hide it. It can be restored within the grace period. Raises as `create` does.

    `by` points to the entry that supersedes it.
    """
    check_secrets({"reason": reason})
    with _changing(root, path, category, "DELETE_ERROR") as (old, warnings):
        if old.status == RETIRED:
            return Written("already_retired", root.shown(path), title=old.title)
        if old.status == ARCHIVED:
            raise _wrong_state("DELETE_ERROR", root, old, "an archived memory must be unarchived before it is retired")
        current_index(root, warnings)
        saved = save_memory(root, path, category, retired(old.record, reason, _now(), by=by))
        return _result("retired", root, saved, warnings, reason=saved.record["retired_reason"])


def archive(root: MemoryRoot, path: str, category: str, reason: str = "") -> Written:
    """Archive a memory: hide it, and keep it. Raises as `create` does."""
    check_secrets({"reason": reason})
    with _changing(root, path, category, "ARCHIVE_ERROR") as (old, warnings):
        if old.status == ARCHIVED:
            return Written("already_archived", root.shown(path), title=old.title)
        if old.status != ACTIVE:
            raise _wrong_state("ARCHIVE_ERROR", root, old, "only an active memory can be archived; restore it first")
        current_index(root, warnings)
        saved = save_memory(root, path, category, archived(old.record, reason, _now()))
        return _result("archived", root, saved, warnings, reason=saved.record["archived_reason"])


def unarchive(root: MemoryRoot, settings: Settings, path: str, category: str) -> Written:
    """Make an archived memory active again. Raises as `create` does."""
    check_enabled(settings, category)
    with _changing(root, path, category, "UNARCHIVE_ERROR") as (old, warnings):
        if old.status != ARCHIVED:
            raise _wrong_state("UNARCHIVE_ERROR", root, old, "only an archived memory can be unarchived")
        check_room(root, settings, category, current_index(root, warnings))
        return _activated(root, old, "Unarchived", warnings)


def restore(root: MemoryRoot, settings: Settings, path: str, category: str) -> Written:
    """Make a retired memory active again, within the grace period. Raises as `create` does."""
    check_enabled(settings, category)
    with _changing(root, path, category, "RESTORE_ERROR") as (old, warnings):
        if old.status != RETIRED:
            raise _wrong_state(
                "RESTORE_ERROR", root, old, "only a retired memory can be restored; use unarchive for an archived one"
            )
        check_grace(root, settings, old, warnings)
        check_room(root, settings, category, current_index(root, warnings))
        return _activated(root, old, "Restored", warnings)


def _activated(root: MemoryRoot, old: MemoryFile, said: str, warnings: list[str]) -> Written:
    """Make a memory active again. A memory that supersedes it no longer does; that is written first."""
    newer = _not_superseding(root, old)
    saved = save_memory(root, old.path, old.category, activated(old.record, said, _now()))
    result = _result(said.lower(), root, saved, warnings)
    result.paths += newer
    return result


def _not_superseding(root: MemoryRoot, old: MemoryFile) -> list[str]:
    """Take a memory out of what its successor supersedes; return the paths of changed files."""
    category, _, slug = str(old.record.get("superseded_by") or "").partition("/")
    if category not in root.folders or not is_slug(slug):
        return []
    path = root.file(category, slug)
    memory = _existing(root, path, category)
    own = f"{old.category}/{old.slug}"
    if memory is None or own not in memory.supersedes:
        return []
    left = [pointer for pointer in memory.supersedes if pointer != own]
    record = {field: value for field, value in memory.record.items() if field != "supersedes"}
    record |= {"supersedes": left} if left else {}
    line = change(f"No longer supersedes {own}, which was restored", _now())
    save_memory(root, path, category, {**with_change(record, line), "updated_at": line["date"]})
    return [path]


def _merged(root: MemoryRoot, old: MemoryFile, given: Record, now: str, *, authored: bool) -> tuple[Record, list[str]]:
    """Return the record of an update, with the fixed fields and history of the old one, and warnings."""
    kept = {field: old.record[field] for field in _KEPT if old.record.get(field) is not None}
    kept |= {field: old.record[field] for field in old.record.keys() - without_state(old.record).keys()}
    kept["record_status"] = old.status
    fixed = {"created_at": old.record.get("created_at"), "category": old.category, "record_status": old.status}
    notes = [
        f"{field}: an update leaves it as it was"
        for field, value in fixed.items()
        if given.get(field) not in (None, "", value)
    ]
    new = {**without_state(given), **kept, "category": old.category}
    said = new.get("changes")
    shape = validated({**new, "changes": _last_changes(new)}, old.category, authored=authored)
    if isinstance(said, list):
        shape["changes"] = [_without_nulls(line) for line in said]  # pyright: ignore[reportUnknownVariableType]
    before = {
        **old.record,
        "tags": clean_tags(old.tags),
        "related_files": old.related_files,
        "content": old.content,
        "changes": seen([_without_nulls(line) for line in old.changes]),
        "times_updated": shape["times_updated"],
    }
    check_secrets({**shape, "changes": (shape.get("changes") or [])[len(old.changes) :]})
    record, warnings = merged(
        before, shape, now=now, exists=lambda file: os.path.exists(os.path.join(root.project, file))
    )
    return record, [*notes, *warnings]


def _anchor_records(checkout: str, category: str, record: Record) -> list[Record] | None:
    """Return the anchors of a record's related files, as they are now; None without any.

    A session summary has none: it tells what was done, and that stays true.
    """
    files: Any = record.get("related_files") if category != SESSION_SUMMARY else None
    named = [file for file in files if isinstance(file, str)] if isinstance(files, list) else []  # pyright: ignore
    return [anchor.record for anchor in take_anchors(checkout, named)] or None


def _kept_anchors(old: MemoryFile, taken: list[Record] | None) -> list[Record] | None:
    """Return the anchors that a memory had, and those of files that it did not name before."""
    before = set(map(file_named, old.related_files))
    new = [record for record in taken or () if record["file"] not in before]
    return [*(anchor.record for anchor in old.anchors), *new][:MOST_ANCHORS] or None


def _renamed(path: str, old: MemoryFile, record: Record, warnings: list[str]) -> str:
    """Return the path of a memory after an update. It is renamed if more than half its title's words differ.

    A session's summary is found by the session's id, and keeps its name.
    """
    if old.category == SESSION_SUMMARY and old.slug.startswith(SESSION_PREFIX):
        return path
    slug = slugify(record["title"])
    if difference(old.title, record["title"]) <= 0.5 or slug in ("", old.slug):
        return path
    target = os.path.join(os.path.dirname(path), f"{slug}.json")
    if os.path.lexists(target):
        warnings.append(f"the new title would rename it to {slug}, which is taken; it stays {old.slug}")
        return path
    return target


def _retire_old(root: MemoryRoot, settings: Settings, category: str, new: MemoryFile, result: Written) -> None:
    """Retire memories beyond the rolling window or past their retention, and update the index once."""
    if category != SESSION_SUMMARY and not may_expire(category, settings):
        return
    index = current_index(root, result.warnings)
    active = read_entries(root, [entry for entry in index if entry.category == category])
    old = {memory.path: retention_reason(memory, settings) for memory in expired(active, settings, datetime.now(UTC))}
    if category == SESSION_SUMMARY:
        old |= {memory.path: window_reason(settings) for memory in beyond_window(active, settings, new.path)}
    old.pop(new.path, None)
    warnings: list[str] = []
    done: list[MemoryFile] = []
    for memory in (memory for memory in active if memory.path in old):
        try:
            write_memory(memory.path, category, retired(memory.record, old[memory.path], _now()))
        except (WriteRefused, StorageError) as error:
            warnings.append(f"{root.shown(memory.path)} could not be retired: {error}")
            continue
        done.append(memory)
        warnings.append(f"{root.shown(memory.path)} is retired: {old[memory.path]}")
    if done:
        gone = [memory.path for memory in done]
        result.paths += gone
        try:
            forget_in_index(root, gone)
        except StorageError as error:  # only a warning, because the new memory is written already
            warnings.append(f"{error}; `recollect index --rebuild` makes the index again")
    if done and category == SESSION_SUMMARY:
        others = read_entries(root, [entry for entry in index if entry.category != SESSION_SUMMARY])
        warnings += _unique(root, done, others)
    result.warnings += few(warnings, _MOST_WARNINGS)


def _unique(root: MemoryRoot, gone: list[MemoryFile], others: list[MemoryFile]) -> list[str]:
    """Return warnings about points of session summaries told in no memory of another category."""
    known = words_of(others)
    found: list[str] = []
    for memory in gone:
        points = told_nowhere_else(memory, known)
        if points:
            named = "; ".join(points[:_MOST_NAMED]) + ("; …" if len(points) > _MOST_NAMED else "")
            found.append(f"told in {root.shown(memory.path)} and in no other memory: {named}")
    return found


def _result(status: str, root: MemoryRoot, saved: MemoryFile, warnings: list[str], **facts: object) -> Written:
    result = Written(status, root.shown(saved.path), title=saved.title, **facts)
    result.warnings += warnings
    result.paths.append(saved.path)
    return result


def _existing(root: MemoryRoot, path: str, category: str) -> MemoryFile | None:
    try:
        return read_memory(path, category)
    except FileNotFoundError:
        return None
    except StorageError as error:
        raise WriteRefused(
            "READ_ERROR", ("target", root.shown(path)), ("error", error), ("fix", "repair the file or move it away")
        ) from error


@contextmanager
def _changing(
    root: MemoryRoot, path: str, category: str, kind: str, instead: str = ""
) -> Generator[tuple[MemoryFile, list[str]]]:
    """Lock the memory root and yield an existing memory with warnings; refuse if it is missing."""
    missing = WriteRefused(kind, ("target", root.shown(path)), ("fix", f"there is no such file{instead}"))
    if not os.path.lexists(path):
        raise missing  # before the lock, because the lock would create the memory root
    with memories_locked(root.path) as warnings:
        memory = _existing(root, path, category)
        if memory is None:
            raise missing
        yield memory, warnings


def _wrong_state(kind: str, root: MemoryRoot, memory: MemoryFile, fix: str) -> WriteRefused:
    return WriteRefused(kind, ("target", root.shown(memory.path)), ("record_status", memory.status), ("fix", fix))


def _last_changes(record: Record) -> Any:
    changes: Any = record.get("changes")
    return changes[-MOST_CHANGES:] if isinstance(changes, list) else changes  # pyright: ignore


def _without_nulls(line: Any) -> Any:
    if not isinstance(line, dict):
        return line
    return {key: value for key, value in line.items() if value is not None}  # pyright: ignore


def _now() -> str:
    return utc_text(time.gmtime())
