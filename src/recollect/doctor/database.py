"""Check the database: its integrity, its vectors, and unread changes to files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding, size_text
from recollect.domain.text import counted
from recollect.embedding.registry import identity_of
from recollect.engine.embed import BATCH
from recollect.errors import StillReading, StoreDamaged, StoreError
from recollect.store.open import database_name, is_server, store_exists, store_files
from recollect.store.repair import Look, count_earlier, look_at
from recollect.store.repeat import repeated
from recollect.store.values import EARLIER, STATED, TAKEN_OVER, KeptModel, Scope

# Timeouts in seconds: to copy and check the database, to read changed files, and to make vectors.
_LOOKING = 8.0
_READING = 3.0
_REPAIRING = 60.0


def database(case: Case) -> Iterator[Finding]:
    """Check the database, using a copy of it."""
    if not store_exists(case.workspace.store_place):
        yield Finding(OK, "Database", "there is none yet; it is made from the files when it is needed")
        return
    entries = count_earlier(database_name(case.workspace.store_place))
    if entries is not None:
        yield from _earlier(case, entries)
        return
    found: list[Finding] = []
    failed: StoreError | None = None
    try:
        repeated(lambda: _look(case, found))
    except StoreError as error:
        failed = error
    yield from found
    if failed:
        raise failed


def _look(case: Case, found: list[Finding]) -> None:
    """Look at the database in a transaction, and replace all findings by those on it."""
    found.clear()
    try:
        copy = look_at(database_name(case.workspace.store_place), _LOOKING)
    except StoreError as error:
        sentence, _, fix = str(error).partition("; ")
        level = WARNING if isinstance(error, StillReading) else ERROR  # it does not prove any damage
        fix = fix or "`recollect rebuild` looks through all of it"
        is_damaged = isinstance(error, StoreDamaged)
        found.append(Finding(level, "Database", sentence, fix, (lambda: _rebuild(case)) if is_damaged else None))
        return
    with closing(copy):
        for check in (_taken_over, _wholeness, _vectors):
            found.extend(check(case, copy))
        found.extend(_followed(case) or _behind(case, copy))


def _earlier(case: Case, entries: int) -> Iterator[Finding]:
    """Report a database of the memory system before recollect, which any command or hook takes over."""
    has = counted(entries, "entry", "entries")
    told = f"{database_name(case.workspace.store_place)} is of the memory system before recollect, with {has}"
    if case.workspace.settings.flag("memory_semantic_enabled"):
        fix = "nothing: the next search, prompt or session takes it over, and keeps a copy beside it"
        yield Finding(WARNING, "Database", told, fix, lambda: _read(case))
    else:
        yield Finding(WARNING, "Database", told, "`recollect rebuild` takes it over, and keeps a copy beside it")


def _followed(case: Case) -> list[Finding]:
    """Say so if the store follows the files of another machine, as that of CI does."""
    if not is_server(case.workspace.store_place):
        return []
    from recollect.engine.engine import Engine
    from recollect.sync.rebuild import name_followed

    with Engine(case.workspace, patience=_LOOKING) as engine:
        told = f"{name_followed(engine)}; those of this machine are not read into it"
        return [] if engine.store.follows_files else [Finding(OK, "Database", told)]


def _taken_over(case: Case, copy: Look) -> Iterator[Finding]:
    said = copy.store.get_meta(TAKEN_OVER)
    if said:
        yield Finding(OK, "Database", said)
    if copy.store.get_meta(EARLIER):
        copy.store.set_meta(EARLIER, "")  # nothing is taken over by looking
        told = "not all entries of the memory system before recollect are taken over yet; the next search goes on"
        yield Finding(WARNING, "Database", told, "`recollect rebuild` takes over the rest", lambda: _read(case))


def _wholeness(case: Case, copy: Look) -> Iterator[Finding]:
    for fault in copy.faults:
        sentence, _, fix = fault.partition("; ")
        if fault == copy.store.damage:
            yield Finding(ERROR, "Database", sentence, fix, lambda: _rebuild(case))
        else:
            told = f"{sentence}, so words found nothing or not all"
            yield Finding(ERROR, "Database", told, "`recollect doctor --fix` makes it again", lambda: _mend(case))
    place = case.workspace.store_place
    size = sum(os.path.getsize(path) for path in store_files(place) if os.path.exists(path))
    where = f"on {database_name(place)}" if is_server(place) else size_text(size)
    entries = counted(copy.store.coverage().entries, "active entry", "active entries")
    version = f"version {copy.version}"
    if copy.version != copy.newest:
        version += f", which becomes {copy.newest} when it is next used"
    if not copy.faults:
        whole = "whole, its full-text index complete" if copy.store.full_text else "whole, without a full-text index"
        yield Finding(OK, "Database", f"{entries}, {where}, {version}; {whole}")
    if not copy.is_thorough:
        told = f"it is too large to be compared with its full-text index, entry by entry, in {_LOOKING:g} s"
        yield Finding(WARNING, "Database", told, "`recollect rebuild` looks through all of it")


def _mend(case: Case) -> str:
    """Open and check the store; both repair the full-text index."""
    from recollect.engine.engine import Engine

    with Engine(case.workspace) as engine:
        engine.store.check()
        found = list(engine.store.findings)
    return "; ".join(found) or "somebody else had repaired it by now"


def _rebuild(case: Case) -> str:
    from recollect.sync.rebuild import rebuild

    case.progress("Database: made again from the files")
    made = rebuild(case.workspace)
    told = f"it was made again from {counted(made.sources, 'file', 'files')}"
    if made.set_aside:
        told += f"; the damaged one is {made.set_aside}, and {made.rescued:,} rows of usage were rescued from it"
    return told


def _vectors(case: Case, copy: Look) -> Iterator[Finding]:
    settings = case.workspace.settings
    if not settings.flag("memory_embedding_enabled"):
        return
    provider = settings.text("memory_embedding_provider")
    here = None if provider == "local" else case.workspace.identity  # other projects' are not sent out
    wanted = identity_of(provider, settings.text("memory_embedding_model"))
    model = copy.store.choose_model(wanted)
    unproven = settings.flag("retrieval.unproven_elsewhere")
    scope = Scope(here, unproven=unproven, memories=case.workspace.memories if here else "")
    coverage = copy.store.coverage_of(scope)
    others = [each for each in copy.store.models() if each.identity != wanted]
    yield from _others(others)
    if model is None and others and coverage.entries:
        told = f"there are none by {wanted}, which is set: until they are made, words alone count"
        yield Finding(WARNING, "Vectors", told, "`recollect reembed`")
        return
    told = f"{coverage.pending:,} of {counted(coverage.entries, 'entry awaits one', 'entries await one')}"
    if coverage.skipped:
        told += f", {coverage.skipped:,} of them because theirs has the wrong size"
    if coverage.pending > BATCH:  # else the next search makes them
        fix = "`recollect reembed` makes them all"
        yield Finding(WARNING, "Vectors", f"{told} and are found by their words alone", fix, lambda: _embed(case))
    elif coverage.pending:
        told += "; the next search makes it" if coverage.pending == 1 else "; the next search makes them"
        yield Finding(OK, "Vectors", told, repair=lambda: _embed(case))
    elif coverage.entries:
        size = sum(each.bytes for each in copy.store.models() if each.identity == wanted)
        yield Finding(OK, "Vectors", f"every entry has one by {wanted} ({size_text(size)})")


def _others(models: Sequence[KeptModel]) -> Iterator[Finding]:
    """Yield a finding on the vectors of other models, if there are any."""
    if not models:
        return
    told = ", ".join(f"{each.identity} ({size_text(each.bytes)}, last used {each.used[:10]})" for each in models)
    end = "unused ones go after 90 days, all of them with `recollect reembed --prune`"
    yield Finding(OK, "Vectors", f"kept for other projects or settings: {told}; {end}")


def _embed(case: Case) -> str:
    from recollect.engine.embed import embed_pending
    from recollect.engine.engine import Engine

    made = 0

    def shown(count: int) -> None:
        nonlocal made
        made += count
        case.progress(f"Vectors: {made:,} made")

    with Engine(case.workspace) as engine:
        done = embed_pending(engine, most=-1, seconds=_REPAIRING, progress=shown)
    told = counted(done.done, "entry was given a vector", "entries were given a vector")
    left = f"; {done.pending:,} still await one, for `recollect reembed`" if done.pending else ""
    return told + left + (f" ({done.reason})" if done.reason else "")


def _behind(case: Case, copy: Look) -> Iterator[Finding]:
    """Count the files changed since the last sync, by syncing the copy."""
    if not case.workspace.settings.flag("memory_semantic_enabled"):
        return
    from recollect.sync.memories import sync_memories
    from recollect.sync.sync import sync

    before = _marks(copy)
    end = time.monotonic() + _READING
    copy.allow(_READING)
    try:
        problems = sync(copy.store, case.workspace, end=end)
        problems += sync_memories(copy.store, case.workspace, end=end)
    except StoreError as error:
        if not copy.is_late and not isinstance(error, StillReading):
            raise
        yield Finding(
            OK, "Files", f"more has changed in them than can be read in {_READING:g} s; the next search reads on"
        )
        return
    for problem in problems:
        yield Finding(WARNING, "Files", problem, "correct the file, or move it away")
    after = _marks(copy)
    changed = sum(before.get(path) != mark for path, mark in after.items())
    if changed:
        told = f"{counted(changed, 'file has', 'files have')} changed since the store read them"
        yield Finding(OK, "Files", f"{told}; the next search, prompt or session reads them", repair=lambda: _read(case))
    elif not problems:
        yield Finding(OK, "Files", f"the store has read {counted(len(after), 'file', 'files')} as they are")


def _marks(copy: Look) -> dict[str, tuple[str, int]]:
    known = copy.store.sources().items()
    return {path: (source.hash, source.offset) for path, source in known if source.hash != STATED}


def _read(case: Case) -> str:
    from recollect.sync.rebuild import sync_and_embed

    problems = sync_and_embed(case.workspace)
    return "; ".join(problems) or "the store has read the files as they are"
