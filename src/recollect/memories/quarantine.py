"""Check files written past the guard: put invalid memories aside, update the index and sync the store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recollect.config.locations import LOCAL_SETTINGS, PROJECT_SETTINGS
from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import PROJECT
from recollect.domain.secrets.detect import redact
from recollect.domain.text import cut, few, one_line
from recollect.domain.withheld import basic_problems
from recollect.errors import LockTimeout, StorageError, WriteRefused
from recollect.files.aside import Judged, read_whole
from recollect.files.memory.memories import ENDING, MAX_BYTES, MemoryRoot, is_file_name, memory_of
from recollect.memories.protect import FLAG, INDEX, MEMORY, PLUGIN, SETTINGS, STORE, Kept

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.config.settings import Settings
    from recollect.domain.memory import Record

_MOST_PROBLEMS = 10
_LONGEST_PROBLEM = 400
_LONGEST_SHOWN = 300

_UNDO = {
    STORE: "`recollect rebuild` makes the database again from the files.",
    FLAG: "It may be removed; `recollect config set triage.mode off` ends the holding of stops.",
    PLUGIN: "`recollect doctor` says what is wrong with the plugin's folder.",
}

# In seconds, for the lock. A hook has ten in all, and the next change of a memory rebuilds the index anyway.
_TIMEOUT = 2.0


class Checked:
    """The result of a check: a message for the model (may be empty), and a warning for log and user."""

    def __init__(self, told: str, warning: str) -> None:
        self.told = told
        self.warning = warning


def check_written(kept: Kept) -> Checked:
    """Check a protected file after a file tool wrote it.

    A memory file is put aside if it was read whole and is no valid memory. Nothing else is moved, and nothing behind a
    link.
    """
    shown = _shown(kept.path)
    past = f"{shown} was written past the memory guard"
    if kept.leads_out:
        return Checked(f"{shown} leads out of the memory folder through a link; memories are not read there.", past)
    if kept.kind == SETTINGS:
        return Checked(_settings_told(kept, shown), past)
    if kept.kind == INDEX:
        return Checked(f"{shown} is made from the memory files, and is made again now: what was written is gone.", past)
    if kept.kind != MEMORY:
        return Checked(f"{shown} is written by recollect alone; undo the change. {_UNDO[kept.kind]}", past)
    if not kept.path.endswith(ENDING):
        return Checked(
            f"{shown} is no memory: only memory files (.json) are kept in the memory folder. Move it to another place.",
            past,
        )
    return _memory_checked(kept, shown, past)


def follow_written(kept: Kept, global_store: str) -> list[str]:
    """Update the index and the store after a protected file was written or put aside. Return warnings."""
    if kept.leads_out or kept.kind not in (MEMORY, INDEX):
        return []
    workspace = Workspace(kept.project, global_store)
    try:
        root = workspace.memory_root()
        if not kept.path.startswith(root.path + os.sep):
            return []  # the copy of a worktree that shares memories; nobody reads it
        warnings = _index_made(root, anew=kept.kind == INDEX)
    except (WriteRefused, StorageError, LockTimeout) as error:
        return [f"the index does not follow yet: {one_line(str(error))}"]
    try:
        from recollect.memories.finish import finish
    except ImportError:  # packages are missing; the next session syncs the store
        return warnings
    message = f"written past the guard {root.shown(kept.path)}"
    return warnings + finish(root, workspace, [kept.path], message=message)


def _memory_checked(kept: Kept, shown: str, past: str) -> Checked:
    settings = load_settings(kept.project)
    try:
        read = read_whole(kept.path, MAX_BYTES)
    except FileNotFoundError:
        return Checked("", f"{past}, and is gone")
    except (OSError, StorageError) as error:
        # It stays in its place, because no fault of it is known.
        reason = _reason(error, kept.path)
        return Checked(
            f"{shown} could not be checked: {reason}. It was left as it is, and is recalled only if it is a valid"
            " memory. Save memories with `recollect write`; file tools do not write them.",
            f"{past} and could not be checked: {reason}",
        )
    category, problems = _problems(read, settings)
    if not problems:
        return Checked(_place_told(kept, settings, category, shown), f"{past}; it is a valid memory")
    listed = "; ".join(cut(redact(problem), _LONGEST_PROBLEM) for problem in few(problems, _MOST_PROBLEMS))
    try:
        aside = _shown(read.put_aside())
        where = f"It is kept as {aside} and not recalled."
        warning = f"{past}, is no valid memory and is kept as {aside}"
    except (OSError, StorageError) as error:
        reason = _reason(error, kept.path)
        where = f"It could not be put aside ({reason}), so remove it."
        warning = f"{past}, is no valid memory and cannot be put aside: {reason}"
    told = (
        f"{shown} is no valid memory: {listed}. {where} Write the corrected record to /tmp/.memory-draft-NAME.json and"
        f" run `recollect write --action create --category {category or 'CATEGORY'} --input FILE`; `recollect schema"
        f" {category or 'CATEGORY'}` shows the fields. File tools do not write memories."
    )
    return Checked(told, warning)


def _reason(error: OSError | StorageError, path: str) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return said.replace(path, "it", 1)


def _problems(read: Judged, settings: Settings) -> tuple[str, list[str]]:
    """Return the category and the problems of a memory file."""
    folder = os.path.basename(os.path.dirname(read.path))
    category = next((name for name in PROJECT if settings.text(f"categories.{name}.folder") == folder), "")
    try:
        record = memory_of(read.data, read.path, category).record
    except StorageError as error:
        return category, [_reason(error, read.path)]
    named = record.get("category")
    category = category or (named if isinstance(named, str) and named in PROJECT else "")
    if not category:
        return "", [f"it is in the folder of no category, and its field category names none of {', '.join(PROJECT)}"]
    return category, _schema_problems(record, category)


def _schema_problems(record: Record, category: str) -> list[str]:
    try:
        from recollect.files.memory.schemas import problems_of
        from recollect.memories.checks import check_secrets
    except ImportError:
        return basic_problems(record, category)
    problems = [_sentence(facts) for facts in problems_of(record, category)]
    try:
        check_secrets(record)
    except WriteRefused as error:
        problems.append(_sentence(error.facts))
    return problems


def _sentence(facts: Iterable[tuple[str, object]]) -> str:
    """Return the facts of a problem as a sentence, without the fix: it follows from the expected value."""
    return ", ".join(f"{name} {value}" for name, value in facts if name != "fix")


def _place_told(kept: Kept, settings: Settings, category: str, shown: str) -> str:
    """Return a message about a valid memory in the wrong place; empty if it is in the right one."""
    try:
        folder = memory_root(kept.project, settings).folder(category)
    except WriteRefused as error:
        return f"{shown} is not found: {one_line(str(error))}"
    if os.path.dirname(kept.path) == folder and is_file_name(os.path.basename(kept.path)):
        return ""
    return (
        f"{shown} is a valid memory, but is not found there: {category} memories are files directly in {folder} whose"
        " name is of lower-case letters, digits and hyphens. Save it with `recollect write --action create --category"
        f" {category} --input FILE`, where FILE is a copy in /tmp, and remove this one."
    )


def _settings_told(kept: Kept, shown: str) -> str:
    files = (PROJECT_SETTINGS, LOCAL_SETTINGS)
    problems = [str(problem) for problem in load_settings(kept.project).problems if problem.where.startswith(files)]
    if not problems:
        return ""
    listed = "; ".join(cut(problem, _LONGEST_PROBLEM) for problem in few(problems, _MOST_PROBLEMS))
    return f"{shown}: {listed}. `recollect config set KEY VALUE` changes a setting and checks it."


def _index_made(root: MemoryRoot, *, anew: bool) -> list[str]:
    from recollect.files.memory.index_md import current_index, rebuild_index
    from recollect.files.memory.lock import memories_locked

    with memories_locked(root.path, _TIMEOUT) as warnings:
        problems = list(warnings)
        (rebuild_index if anew else current_index)(root, problems)
    return few(problems, _MOST_PROBLEMS)


def _shown(path: str) -> str:
    return cut(one_line(path), _LONGEST_SHOWN)
