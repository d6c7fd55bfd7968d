"""Restore from a backup: write missing and older files; keep newer ones, unless told to overwrite."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.clock import parse_time
from recollect.engine.engine import Engine
from recollect.errors import LockTimeout, StorageError, StoreError, WriteRefused
from recollect.files.archive import (
    BANK,
    GLOBAL,
    JOURNAL,
    LOCAL_SETTINGS,
    MEMORY,
    SETTINGS,
    Archive,
    Member,
    memory_name,
    read_member,
)
from recollect.files.locks import locked, locked_folder
from recollect.files.memory.index_md import rebuild_index, trusted_index
from recollect.files.memory.lock import memories_locked
from recollect.files.memory.memories import ENDING, MemoryFile, MemoryRoot, parse_record, scan
from recollect.files.textfile import sweep, write_texts
from recollect.memories.checks import check_secrets
from recollect.memories.finish import finish
from recollect.store.values import Usage
from recollect.sync.memories import entry_id
from recollect.sync.rebuild import sync_and_embed
from recollect.transfer.backup import inside, places, usages_of, verify

WRITTEN = "written"
REPLACED = "replaced"
SAME = "same"
KEPT = "kept"
REFUSED = "refused"
ACTIONS = (WRITTEN, REPLACED, SAME, KEPT, REFUSED)

# Files written under one lock: few enough to finish before other writers time out.
_PORTION = 200


@dataclass(frozen=True)
class FileOutcome:
    """The outcome for one file: written, replaced, already the same, kept or refused.

    A file here is kept if it is as new or newer, or was renamed since. A member is refused if it has no safe place here
    or holds a secret, or if the file here cannot be read.
    """

    member: Member
    path: str
    action: str
    reason: str = ""


@dataclass
class Restored:
    """The result of a restore or a dry run; `usages` counts the entries with merged usage."""

    archive: Archive
    outcomes: list[FileOutcome] = field(default_factory=list[FileOutcome])
    usages: int = 0
    usage_problem: str = ""
    warnings: list[str] = field(default_factory=list[str])

    def of(self, *actions: str) -> list[FileOutcome]:
        return [outcome for outcome in self.outcomes if outcome.action in actions]

    @property
    def complete(self) -> bool:
        return not self.of(KEPT, REFUSED) and not self.usage_problem


def restore(path: str, workspace: Workspace, *, overwrite: bool = False, dry_run: bool = False) -> Restored:
    """Restore the files and the usage of a backup, after verifying all of it.

    Raises:
        StorageError: the backup is not sound, and nothing was changed; or a file could not be written, and only the
            files before it were. Running the restore again completes it.
        LockTimeout: other writers held a lock for too long. Running the restore again completes it.
    """
    checked = verify(path)
    usages = usages_of(checked.archive, path)
    result = Restored(checked.archive, usages=len(usages), warnings=checked.warnings)
    try:
        workspace = _Restoring(result, overwrite, dry_run).files(workspace)
    except (LockTimeout, StorageError) as error:
        raise type(error)(f"{error}. The restore is not complete; run it again when that is settled") from error
    if not dry_run:
        paths = [outcome.path for outcome in result.of(WRITTEN, REPLACED) if outcome.member.kind == MEMORY]
        message = f"restored {len(paths)} from a backup"
        warnings = finish(workspace.memory_root(), workspace, paths, message=message)
        result.warnings += dict.fromkeys(warnings + sync_and_embed(workspace))
    _merge_usages([] if dry_run else usages, workspace, result)
    return result


@dataclass
class _Restoring:
    """A restore in progress. Each kind of file is compared and written under the lock of its other writers."""

    _result: Restored
    _overwrite: bool
    _dry_run: bool
    _renamed: dict[str, str] = field(default_factory=dict[str, str])

    def files(self, workspace: Workspace) -> Workspace:
        """Restore every file; return the workspace with the resulting settings.

        Settings come first: they name the memory root.
        """
        fixed = places(workspace)
        own = (os.path.realpath(workspace.project_root), workspace.identity)

        def place(member: Member) -> str:
            path = fixed[member.name]
            return inside(path, own) if member.kind in (SETTINGS, BANK) else path

        claude = os.path.dirname(fixed[LOCAL_SETTINGS])
        self._group(SETTINGS, place, lambda: locked_folder(claude))
        if self._dry_run and self._result.of(WRITTEN, REPLACED):
            self._result.warnings.append(
                "the paths of memories are shown by the present settings; restored settings may move them"
            )
        restored = workspace.reloaded()
        self._memories(restored.memory_root())
        self._group(BANK, place, lambda: locked_folder(restored.bank))
        self._group(GLOBAL, place, lambda: locked(os.path.join(restored.global_store, locations.PROMOTION_LOCK)))
        self._group(JOURNAL, place, lambda: locked(restored.journal))
        return restored

    def _memories(self, root: MemoryRoot) -> None:
        members = self._result.archive.of_kind(MEMORY)
        if not self._overwrite:
            self._renamed = _renamed(root, members)
        self._group(MEMORY, lambda member: _memory_place(root, member), lambda: memories_locked(root.path))
        if self._dry_run or not members:
            return
        if self._result.of(WRITTEN, REPLACED) or trusted_index(root) is None:  # after a killed restore
            with memories_locked(root.path) as warnings:
                self._result.warnings += warnings
                rebuild_index(root, self._result.warnings)

    def _group(
        self, kind: str, place: Callable[[Member], str], lock: Callable[[], AbstractContextManager[list[str] | None]]
    ) -> None:
        """Restore the files of a kind in portions, so that other writers need not wait for all of them."""
        members = self._result.archive.of_kind(kind)
        for start in range(0, len(members), _PORTION):
            portion = members[start : start + _PORTION]
            outcomes = [self._decided(member, place) for member in portion]
            if not self._dry_run and any(outcome.action in (WRITTEN, REPLACED) for outcome in outcomes):
                with lock() as warnings:
                    self._result.warnings += warnings or []
                    outcomes = [self._decided(member, place) for member in portion]
                    _write([outcome for outcome in outcomes if outcome.action in (WRITTEN, REPLACED)])
            self._result.outcomes += outcomes

    def _decided(self, member: Member, place: Callable[[Member], str]) -> FileOutcome:
        path = ""
        try:
            path = place(member)
            here = read_member(path, member.name)
        except StorageError as error:
            return FileOutcome(member, path, REFUSED, str(error))
        secret = _secret(member)
        if secret:
            return FileOutcome(member, path, REFUSED, secret)
        if here is None and member.name in self._renamed:
            return FileOutcome(member, path, KEPT, f"it is called {self._renamed[member.name]} here now")
        if here is None or (member.kind == JOURNAL and not here.data):  # taking its lock creates an empty journal
            return FileOutcome(member, path, WRITTEN)
        return FileOutcome(member, path, *_compared(here, member, self._overwrite))


def _secret(member: Member) -> str:
    """Describe the secret in a memory file of the backup, to refuse the file; empty without one.

    Banks and the journal are not refused, because they hold much else, and losing that would be worse: `recollect
    doctor --secrets` names the lines.
    """
    if member.kind != MEMORY:
        return ""
    try:
        check_secrets(parse_record(member.data, member.name))
    except StorageError:
        return ""  # not a valid memory, so it is never shown
    except WriteRefused as refusal:
        return ", ".join(f"{name} {value}" for name, value in refusal.facts if name != "fix")
    return ""


def _renamed(root: MemoryRoot, members: list[Member]) -> dict[str, str]:
    """Return the present slugs of memories renamed since the backup, by member name.

    Only an update renames a memory. It keeps category and `created_at`, and increments `times_updated`.
    """
    there = {member.name for member in members}
    here: dict[tuple[str, str], list[MemoryFile]] = {}
    for memory in scan(root, []):
        if memory.created_at and memory_name(memory.category, memory.slug + ENDING) not in there:
            here.setdefault((memory.category, memory.created_at), []).append(memory)
    slugs: dict[str, str] = {}
    for member in members:
        created, updates = _told(member, "created_at"), _updates(_told(member, "times_updated"))
        found = here.get((member.name.split("/")[1], created), []) if isinstance(created, str) else []
        if len(found) == 1 and _updates(found[0].record.get("times_updated")) > updates:
            slugs[member.name] = found[0].slug
    return slugs


def _updates(value: object) -> int:
    return value if isinstance(value, int) else 0


def _compared(here: Member, there: Member, overwrite: bool) -> tuple[str, str]:
    """Return the action for an existing file, and the reason."""
    if here.data == there.data:
        return SAME, ""
    if there.kind == JOURNAL and here.data.startswith(there.data):
        return SAME, "it has all lines of the backup, and more"
    if there.kind == JOURNAL and there.data.startswith(here.data):
        return REPLACED, "the backup has all its lines, and more"
    when_here, when_there = _times(here, there)
    if overwrite or when_here < when_there:
        return REPLACED, ""
    if when_here == when_there:
        return KEPT, "it differs, and is as new as the one in the backup"
    return KEPT, f"it is of {_shown(when_here)}, the one in the backup of {_shown(when_there)}"


def _times(here: Member, there: Member) -> tuple[int, int]:
    """Return the times of the last change, here and in the backup: `updated_at` of memories, else the file times."""
    if there.kind == MEMORY:
        told_here, told_there = _updated_at(here), _updated_at(there)
        if told_here and told_there and told_here != told_there:
            return told_here, told_there
    return here.modified, there.modified


def _updated_at(member: Member) -> int:
    """Return a memory file's `updated_at` in nanoseconds since 1970; 0 without one."""
    moment = parse_time(_told(member, "updated_at"))
    return int(moment.timestamp()) * 1_000_000_000 if moment else 0


def _told(member: Member, field: str) -> object:
    """Return a field of a memory file; None if it is missing or the file is invalid."""
    try:
        return parse_record(member.data, member.name).get(field)
    except StorageError:
        return None


def _shown(nanoseconds: int) -> str:
    try:
        return datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "an unknown time"


def _write(outcomes: list[FileOutcome]) -> None:
    sweep(outcome.path for outcome in outcomes if outcome.member.kind != MEMORY)  # memories: with the index
    ours = [outcome.path for outcome in outcomes if outcome.member.kind in (GLOBAL, JOURNAL)]
    write_texts({outcome.path: outcome.member.text for outcome in outcomes}, private=ours)
    for outcome in outcomes:
        with suppress(OSError):  # harmless: the next restore then reports the file as newer
            os.utime(outcome.path, ns=(outcome.member.modified, outcome.member.modified))


def _memory_place(root: MemoryRoot, member: Member) -> str:
    _, category, name = member.name.split("/")
    folder = root.folder(category)
    if os.path.realpath(folder) != folder:
        raise StorageError(f"{folder} is a link; replace it by a folder")
    return root.file(category, name.removesuffix(ENDING))


def _merge_usages(usages: list[Usage], workspace: Workspace, result: Restored) -> None:
    """Merge the backup's usage into the store. Translate the ids of memories, because they depend on their owner."""
    here, there = workspace.memories, result.archive.identity
    moved: dict[str, str] = {}
    if here != there:
        for outcome in result.of(WRITTEN, REPLACED, SAME):
            if outcome.member.kind == MEMORY:
                _, category, name = outcome.member.name.split("/")
                slug = name.removesuffix(ENDING)
                moved[entry_id(there, category, slug)] = entry_id(here, category, slug)
        count = sum(usage.id in moved for usage in usages)
        took = f"; the usage of {count} of its memories counts for those of the same name here" if count else ""
        result.warnings.append(f"the backup is of {there}, not of {here}{took}")
    if not usages:
        return
    try:
        with Engine(workspace) as engine:
            engine.store.put_usages(
                Usage(moved.get(u.id, u.id), u.recall_count, u.influence_count, u.last_recalled_at) for u in usages
            )
    except StoreError as error:
        result.usages = 0
        result.usage_problem = f"how entries were used was not restored: {error}"
