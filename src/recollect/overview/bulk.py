"""Change several entries at once: first a plan of what would happen to each, then the change, and its way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.stored import ACTIVE, ARCHIVED, MERGED, STATUSES, StoredEntry
from recollect.domain.text import counted, one_line
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.errors import InvalidEntry, RecollectError
from recollect.learn.duplicates import undo_merge
from recollect.learn.relate import relate
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.forget import bring_back, forget
from recollect.memories.lookup import find_named

RETIRE, ARCHIVE, RESTORE, TAG, MERGE = "retire", "archive", "restore", "tag", "merge"
ACTIONS = (RETIRE, ARCHIVE, RESTORE, TAG, MERGE)

MOST = 1_000
_DONE = {RETIRE: "Retired", ARCHIVE: "Archived", RESTORE: "Restored", TAG: "Tagged", MERGE: "Merged"}


@dataclass(frozen=True)
class Step:
    """What would happen to one entry; with a reason, nothing would."""

    entry: StoredEntry
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """The steps of an action; the first entry of a merge is the one that stays."""

    action: str
    steps: list[Step]
    tags: list[str] = field(default_factory=list[str])

    @property
    def chosen(self) -> list[StoredEntry]:
        return [step.entry for step in self.steps if not step.reason]


@dataclass
class Done:
    """The entries that were changed, a sentence for each that was not, warnings, and the way back."""

    sentence: str
    ids: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    undo: Callable[[Engine], str] | None = None


def plan(engine: Engine, action: str, ids: Sequence[str], tags: Sequence[str] = ()) -> Plan:
    """Return what an action would do to each of these entries; nothing is changed.

    Raises:
        InvalidEntry: the action is unknown, there are too many entries, or a tag is missing.
        StoreError: the store cannot be read.
    """
    if action not in ACTIONS:
        raise InvalidEntry(f"the action is one of {', '.join(ACTIONS)}, not {action[:40]!r}")
    unique = list(dict.fromkeys(ids))
    if not unique:
        raise InvalidEntry("no memory is selected; select some first")
    if len(unique) > MOST:
        raise InvalidEntry(f"{len(unique):,} memories are too many at once; select {MOST:,} at most")
    given = [tag.strip() for tag in tags if tag.strip()]
    if action == TAG and not given:
        raise InvalidEntry("a tag is missing; write one first")
    entries, _ = harmless_entries(engine.workspace.global_store, engine.store.entries(unique))
    steps = [Step(entry, _reason(engine, action, entry)) for entry in entries]
    if action == MERGE:
        _check_merge([step.entry for step in steps if not step.reason])
    return Plan(action, steps, given)


def apply(engine: Engine, made: Plan) -> Done:
    """Do what a plan says, and go on if an entry fails.

    Raises:
        StoreError: the store cannot be used.
    """
    done = Done("")
    kept = made.chosen[0] if made.chosen else None
    for entry in made.chosen[1:] if made.action == MERGE else made.chosen:
        try:
            done.warnings += _change(engine, made, entry.id, kept)
            done.ids.append(entry.id)
        except RecollectError as error:
            done.failed.append(f"{one_line(entry.name)}: {error}")
    done.warnings = list(dict.fromkeys(done.warnings))
    into = f" into {one_line(kept.name)!r}" if made.action == MERGE and kept else ""
    done.sentence = f"{_DONE[made.action]} {counted(len(done.ids), 'memory', 'memories')}{into}."
    if done.ids:
        done.undo = lambda engine: _undone(engine, made, done.ids)
    return done


def _reason(engine: Engine, action: str, entry: StoredEntry) -> str:
    """Return why nothing would happen to an entry; empty if something would."""
    is_lesson = entry.category in KNOWLEDGE
    if entry.project not in ("", "*", engine.project, engine.memories):
        return "it belongs to another project; choose that project first"
    if entry.status not in STATUSES:
        return f"it is {entry.status}"
    if action in (ARCHIVE, TAG) and is_lesson:
        return "a lesson has no file of its own; only memories of a project are archived or tagged"
    if action == RESTORE:
        return "it is active already" if entry.status == ACTIVE else ""
    if action == RETIRE and entry.status == ARCHIVED:
        return "it is archived; restore it first"
    return "" if entry.status == ACTIVE else f"it is {entry.status} already"


def _check_merge(entries: Sequence[StoredEntry]) -> None:
    if len(entries) < 2:
        raise InvalidEntry("a merge needs two active memories or more; select them first")
    categories = {entry.category for entry in entries}
    if len(categories) > 1 and not categories <= set(KNOWLEDGE):
        raise InvalidEntry(f"{' and '.join(sorted(categories))} cannot become one; select memories of one category")


def _change(engine: Engine, made: Plan, id: str, kept: StoredEntry | None) -> list[str]:
    if made.action == RETIRE:
        return forget(engine, id, "retired with others by hand").warnings
    if made.action == RESTORE:
        return bring_back(engine, id).warnings
    if made.action == MERGE:
        return relate(engine, kept.id, MERGED, id).warnings if kept else []
    return _in_file(engine, made, id)


def _in_file(engine: Engine, made: Plan, id: str, *, back: bool = False) -> list[str]:
    memory = find_named(engine, id, []).memory
    if memory is None:
        raise InvalidEntry("it has no file of its own")
    root = engine.workspace.memory_root()
    if made.action == ARCHIVE:
        written = write.archive(root, memory.path, memory.category, "archived with others by hand")
    else:
        given, taken = ([], made.tags) if back else (made.tags, [])
        written = write.tag(root, memory.path, memory.category, given, taken_back=[tag.lower() for tag in taken])
    return [*written.warnings, *finish(root, engine.workspace, written.paths, message=written.message, engine=engine)]


def _undone(engine: Engine, made: Plan, ids: Sequence[str]) -> str:
    """Undo an action for each entry that it has changed, and return a sentence."""
    failed: list[str] = []
    for id in ids:
        try:
            if made.action == TAG:
                _in_file(engine, made, id, back=True)
            elif made.action == MERGE:
                undo_merge(engine, id)
            elif made.action == RESTORE:
                forget(engine, id)
            else:
                bring_back(engine, id)
        except RecollectError as error:
            failed.append(str(error))
    rest = f"; not for {counted(len(failed), 'one', 'of them')}: {failed[0]}" if failed else ""
    return f"Undone for {counted(len(ids) - len(failed), 'memory', 'memories')}{rest}."
