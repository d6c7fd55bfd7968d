"""Merge memory files for git, and repair files in which git has left conflict markers."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.config import git
from recollect.domain.categories import PROJECT
from recollect.domain.secrets.detect import redact
from recollect.domain.text import cut, one_line
from recollect.errors import StorageError, WriteRefused
from recollect.files.memory.lock import memories_locked
from recollect.files.memory.memories import MAX_BYTES, has_conflict_markers, parse_record, record_text
from recollect.files.memory.schemas import validated
from recollect.files.memory.write import save_memory
from recollect.files.textfile import read_regular, write_text
from recollect.share.merge import Conflict, merge_records

if TYPE_CHECKING:
    from recollect.domain.memory import Record
    from recollect.files.memory.memories import MemoryRoot

MARKER_SIZE = 7
CONFLICTS = 10  # the exit code of a merge with conflicts; failures of all kinds end with others
_SECONDS = 30.0
_LONGEST_SHOWN = 120
_BASE, _OURS, _THEIRS = "the common ancestor", "our version", "their version"


@dataclass(frozen=True)
class Outcome:
    """The result of a merge. If a version is no valid memory, `as_text` says why git's own merge was used instead."""

    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    as_text: str = ""
    is_clean: bool = True  # False if something is left for people to decide


def conflict_text(conflict: Conflict) -> str:
    """Return a sentence that names the field in conflict, with both values."""
    ours, theirs = map(_shown, (conflict.ours, conflict.theirs))
    return f"{one_line(conflict.field)}: both sides changed it; kept ours, {ours}; theirs is {theirs}"


def merge_files(base: str, ours: str, theirs: str, *, marker_size: int = MARKER_SIZE) -> Outcome:
    """Merge three versions of a memory file, given by path, into the file `ours`.

    Raises:
        StorageError: a file cannot be read or written; `ours` is unchanged.
    """
    old, own, other = (_read(path) for path in (base, ours, theirs))
    try:
        record, category = _memory(own, _OURS)
        their_record, _ = _memory(other, _THEIRS, category)
    except StorageError as error:
        return _merge_as_text(base, ours, theirs, marker_size, str(error))
    merged = merge_records(_ancestor(old, category), record, their_record)
    write_text(ours, record_text(validated(merged.record, category)))
    return Outcome(merged.conflicts, is_clean=not merged.conflicts)


def repair_file(root: MemoryRoot, path: str, category: str) -> Outcome:
    """Merge the two versions between the conflict markers of a memory file, and write the result to it.

    Raises:
        StorageError: the file has no conflict markers, a version is no valid memory, or the file cannot be written.
        WriteRefused: the merged memory cannot be written.
        LockTimeout: other writers held the memory root for too long.
    """
    shown = root.shown(path)
    with memories_locked(root.path):
        data = _read(path)
        if not has_conflict_markers(data):
            raise StorageError(f"{shown} has no conflict markers; there is nothing to repair")
        try:
            own, old, other = _sides(data)
            record, _ = _memory(own, _OURS, category)
            their_record, _ = _memory(other, _THEIRS, category)
        except StorageError as error:
            raise StorageError(f"{shown} was left as it is: {error}; mend it in an editor") from error
        ancestor = _ancestor(_staged(path) or old, category)
        merged = merge_records(ancestor, record, their_record)
        save_memory(root, path, category, merged.record)
    return Outcome(merged.conflicts, is_clean=not merged.conflicts)


def _shown(value: object) -> str:
    return "nothing" if value is None else cut(redact(one_line(json.dumps(value, ensure_ascii=False))), _LONGEST_SHOWN)


def _read(path: str) -> bytes:
    try:
        return read_regular(path, MAX_BYTES + 1)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def _memory(data: bytes, whose: str, expected: str = "") -> tuple[Record, str]:
    """Return the valid record in some bytes, and its category, which must be the expected one if there is one."""
    record = parse_record(data, whose)
    category = str(record.get("category"))
    if category not in ([expected] if expected else PROJECT):
        raise StorageError(f"{whose} has the wrong category, or none")
    try:
        return validated(record, category), category
    except WriteRefused as error:
        facts = dict(error.facts)
        raise StorageError(f"{whose} is no valid memory: {facts['field']}: {facts['expected']}") from error


def _ancestor(data: bytes, category: str) -> Record | None:
    """Return the record of the common ancestor; None without a valid one, as for a memory that both sides added."""
    try:
        return _memory(data, _BASE, category)[0]
    except StorageError:
        return None


def _merge_as_text(base: str, ours: str, theirs: str, marker_size: int, reason: str) -> Outcome:
    """Merge as git does without a driver: conflict markers stay in the file."""
    labels = [word for label in ("ours", "base", "theirs") for word in ("-L", label)]
    files = [os.path.abspath(path) for path in (ours, base, theirs)]
    try:
        code, _, errors = git.run(
            os.getcwd(), _SECONDS, "merge-file", f"--marker-size={marker_size}", *labels, "--", *files
        )
    except git.CannotRun as error:
        raise StorageError(f"{reason}, and it cannot be merged as text either: {error}") from error
    if errors:
        raise StorageError(f"{reason}, and it cannot be merged as text either: {one_line(errors)}")
    return Outcome(as_text=reason, is_clean=code == 0)


def _sides(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the versions in a text with conflict markers: ours, the common ancestor as far as it is told, theirs."""
    ours: list[bytes] = []
    base: list[bytes] = []
    theirs: list[bytes] = []
    everybody = [ours, base, theirs]
    goes_to = everybody
    for line in data.splitlines(keepends=True):
        if line.startswith(b"<<<<<<< "):
            goes_to = [ours]
        elif line.startswith(b"|||||||") and goes_to == [ours]:
            goes_to = [base]
        elif line.startswith(b"=======") and goes_to is not everybody:
            goes_to = [theirs]
        elif line.startswith(b">>>>>>> "):
            goes_to = everybody
        else:
            for side in goes_to:
                side.append(line)
    return b"".join(ours), b"".join(base), b"".join(theirs)


def _staged(path: str) -> bytes:
    """Return the common ancestor in git's index, where it is during a merge; empty without one."""
    root = git.repository(os.path.dirname(path))
    if not root:
        return b""
    try:
        name = os.path.relpath(path, root).replace(os.sep, "/")
        code, output, _ = git.run(root, _SECONDS, "cat-file", "blob", f":1:{name}")
    except git.CannotRun:
        return b""
    return os.fsencode(output) if code == 0 else b""
