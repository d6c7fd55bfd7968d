"""Check the global store's folder and files: that we can use them, and nobody else can."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from shlex import quote

from recollect.config import locations
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding, may, size_text
from recollect.domain.text import counted
from recollect.errors import LockTimeout, StorageError, StoreError
from recollect.store.open import database_name, store_exists, store_files

_TIMEOUT = 1.0
_LITTLE = 200 * 1024 * 1024
_NONE = 10 * 1024 * 1024
_WITHHELD = 20
_NAMED = 3  # how many of the unusable lines are named

# By writing, others could put text into a session; by reading, they could learn what was captured.
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_OPEN = stat.S_IRWXG | stat.S_IRWXO


def folder(case: Case) -> Iterator[Finding]:
    """Check that the store's folder can be written, or could be created if it is missing."""
    store = case.workspace.global_store
    if os.path.isdir(store):
        if may(store, os.R_OK | os.W_OK | os.X_OK):
            yield Finding(OK, "Store", store)
        else:
            told = f"{store} cannot be written: what is stored may be found, but nothing new is kept"
            yield Finding(ERROR, "Store", told, "give yourself the right to write it, or set RECOLLECT_HOME")
        return
    if os.path.lexists(store):
        yield Finding(ERROR, "Store", f"{store} is no folder", "move it away, or set RECOLLECT_HOME to another place")
        return
    above = _existing(store)
    if os.path.isdir(above) and may(above, os.W_OK | os.X_OK):
        told = f"there is none yet; {store} is made when something is stored"
        yield Finding(OK, "Store", told, repair=lambda: _make(case))
    else:
        told = f"there is none, and {store} cannot be made, because {above} cannot be written"
        yield Finding(ERROR, "Store", told, "give yourself the right to write there, or set RECOLLECT_HOME")


def _existing(path: str) -> str:
    while not os.path.exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def _make(case: Case) -> str:
    os.makedirs(case.workspace.global_store, mode=0o700, exist_ok=True)
    from recollect.sync.rebuild import sync_and_embed

    problems = sync_and_embed(case.workspace)
    return f"made {case.workspace.global_store}" + (f"; {'; '.join(problems)}" if problems else "")


def permissions(case: Case) -> Iterator[Finding]:
    """Check that no other user may read the store's files, or write them and so put text into sessions."""
    store = case.workspace.global_store
    if os.name != "posix" or not os.path.isdir(store):
        return
    wrong: list[tuple[str, int]] = []
    private = [*store_files(store), locations.journal(store), locations.team_state(store)]
    private += [os.path.join(store, name) for name in _private_names()]
    for path in (store, *private):
        try:
            status = os.stat(path)
        except OSError:
            continue
        if status.st_mode & _OPEN:
            wrong.append((path, stat.S_IMODE(status.st_mode)))
        if status.st_uid != os.geteuid() and path == store:
            yield Finding(WARNING, "Permissions", f"{store} belongs to another user (uid {status.st_uid})")
    for path, mode in wrong:
        told = f"others may {'write' if mode & _WRITABLE else 'read'} {path} (mode {mode:o})"
        yield Finding(WARNING, "Permissions", told, f"chmod go-rwx {quote(path)}", lambda path=path: _close(path))
    if not wrong:
        yield Finding(OK, "Permissions", "what was captured can be read by nobody else")


def _private_names() -> tuple[str, ...]:
    from recollect.files.session.record import FOLDER
    from recollect.plugin.uninstall_plan import IN_STORE

    return *IN_STORE, FOLDER, locations.PROMOTION_LOCK


def _close(path: str) -> str:
    mode = stat.S_IMODE(os.stat(path).st_mode) & ~_OPEN
    os.chmod(path, mode)
    return f"{path} has mode {mode:o} now"


def disk(case: Case) -> Iterator[Finding]:
    """Check the free space on the disk."""
    from shutil import disk_usage

    place = _existing(case.workspace.global_store)
    free = disk_usage(place).free
    level = ERROR if free < _NONE else WARNING if free < _LITTLE else OK
    yield Finding(level, "Disk", f"{size_text(free)} free at {place}", "" if level == OK else "make room on the disk")


def locks(case: Case) -> Iterator[Finding]:
    """Check that the locks of the database and the journal can be taken within a second, if the files exist."""
    held: list[str] = []
    taken: list[str] = []
    name, journal_path = database_name(case.workspace.store_place), case.workspace.journal
    if store_exists(case.workspace.store_place):
        from recollect.store.repair import take_turn

        with suppress(StoreError):  # the check of the database reports errors
            if take_turn(name, _TIMEOUT):
                taken.append("the database")
            else:
                held.append(name)
    if os.path.isfile(journal_path) and may(journal_path, os.W_OK):
        from recollect.files.locks import locked

        try:
            with locked(journal_path, _TIMEOUT):
                taken.append("the journal")
        except LockTimeout:
            held.append(journal_path)
    for path in held:
        told = f"another process has been writing to {path} for all of {_TIMEOUT:g} s"
        fix = f"if that goes on, find it with `fuser {path}` and end it"
        yield Finding(WARNING, "Locks", told, fix)
    if taken and not held:
        yield Finding(OK, "Locks", f"{' and '.join(taken)} can be written at once")


def journal(case: Case) -> Iterator[Finding]:
    """Check that every line of the journal can be used."""
    from recollect.files.journal.log import read_lines
    from recollect.sync.journal import captured, carried

    path = case.workspace.journal
    if not os.path.lexists(path):
        yield Finding(OK, "Journal", "nothing was captured yet")
        return
    try:
        found = read_lines(path, 0)
    except StorageError as error:
        yield Finding(ERROR, "Journal", str(error), f"check what {path} is, and its permissions")
        return
    count = len(found.lines)
    unusable = captured(found.lines)[-1] + carried(found.lines)[-1]
    problems = found.problems + unusable
    whole_size = os.path.getsize(path)
    size = size_text(whole_size)
    if whole_size > found.end:
        told = f"its last {whole_size - found.end:,} bytes are no whole line: a writer was killed, or the power was cut"
        yield Finding(WARNING, "Journal", told, "nothing: whoever wrote it was not told that it is stored")
    if not problems:
        yield Finding(OK, "Journal", f"{counted(count, 'line', 'lines')}, {size}")
        return
    whole = counted(count + found.skipped, "line", "lines")
    told = f"{found.skipped + len(unusable):,} of {whole} cannot be used: {'; '.join(problems[:_NAMED])}"
    yield Finding(WARNING, "Journal", told, f"correct these lines in {path}, or take them out")


def banks(case: Case) -> Iterator[Finding]:
    """Check that the markdown files of the project's bank and of the global bank can be read."""
    from recollect.files.bank.bank import files_without_entries, read_bank
    from recollect.files.memory.memories import survey
    from recollect.sync.bounds import left_in_files, read_own_bank

    own, warnings, _ = read_own_bank(case.workspace)
    left = left_in_files(case.workspace, survey(case.workspace.memory_root(), []))
    if left:
        yield Finding(WARNING, "Repository", left, "recollect trust")
    shared, complaints = read_bank(case.workspace.global_store, "global")
    for sentence in (*warnings, *complaints):
        yield Finding(WARNING, "Banks", sentence, "correct the file, or move it away")
    unread = files_without_entries(case.workspace.bank, "local")
    for path in (*unread, *files_without_entries(case.workspace.global_store, "global")):
        told = f"{path} has text but no entry, so nobody is given it: a line `### Name` begins an entry"
        yield Finding(WARNING, "Banks", told, f"recollect import {quote(path)}")
    told = f"{counted(len(own), 'entry', 'entries')} in the project's, {len(shared):,} in the global one"
    yield Finding(OK, "Banks", told)


def withheld(case: Case) -> Iterator[Finding]:
    """List the withheld memory files and bank entries, hidden until corrected."""
    from recollect.domain.secrets.detect import find_secret, redact
    from recollect.domain.start_block import entry_text
    from recollect.domain.withheld import fault
    from recollect.engine.withhold import withheld_text
    from recollect.files.bank.bank import read_bank
    from recollect.files.memory.memories import scan
    from recollect.sync.bounds import read_own_bank

    root = case.workspace.memory_root()
    found: list[str] = []
    for memory in scan(root, found):
        reason = fault(memory.record, memory.category)
        found += [f"{redact(root.shown(memory.path))}: {reason}"] if reason else []
    for entry in (*read_own_bank(case.workspace)[0], *read_bank(case.workspace.global_store, "global")[0]):
        kind = find_secret(entry_text(entry))
        found += [withheld_text(entry.title, kind)] if kind else []
    for sentence in found[:_WITHHELD]:
        yield Finding(WARNING, "Withheld", sentence, "correct the file; say where a credential is kept, not what it is")
    if len(found) > _WITHHELD:
        yield Finding(WARNING, "Withheld", f"and {len(found) - _WITHHELD:,} more", "correct these first")
    if not found:
        yield Finding(OK, "Withheld", "nothing that would be given is withheld")


def stale(case: Case) -> Iterator[Finding]:
    """Count the entries whose files have changed since they were stored or confirmed."""
    from recollect.engine.engine import Engine
    from recollect.truth.stale import stale_ids

    if not store_exists(case.workspace.store_place):
        return
    try:
        with Engine(case.workspace, patience=_TIMEOUT) as engine:
            count = len(stale_ids(engine))
    except StoreError:
        return  # the database has its own check
    told = f"{counted(count, 'entry', 'entries')} with files that changed since; `recollect stale` lists them"
    yield Finding(OK, "Stale", told if count else "no file of an entry has changed since it was stored")


def sessions(case: Case) -> Iterator[Finding]:
    """Check that the records of sessions can be read and written, and count them."""
    from recollect.files.session.record import FOLDER

    place = os.path.join(case.workspace.global_store, FOLDER)
    try:
        with os.scandir(place) as entries:
            sizes = [entry.stat(follow_symlinks=False).st_size for entry in entries]
    except FileNotFoundError:
        yield Finding(OK, "Sessions", "no session was given anything yet")
        return
    except OSError as error:
        told = f"cannot read {place}: {error.strerror or error}; sessions may be given things twice"
        yield Finding(WARNING, "Sessions", told, "check what it is, and its permissions")
        return
    if not may(place, os.W_OK | os.X_OK):
        told = f"{place} cannot be written, so sessions may be given things twice"
        yield Finding(WARNING, "Sessions", told, "give yourself the right to write it")
        return
    yield Finding(OK, "Sessions", f"{counted(len(sizes), 'record', 'records')} of sessions, {size_text(sum(sizes))}")
