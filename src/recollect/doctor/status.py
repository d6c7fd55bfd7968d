"""Summarise the memories of a project."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from shlex import quote

from recollect.config import locations
from recollect.config.needed_extras import needed_extras
from recollect.config.settings import Settings
from recollect.config.settings_keys import KEYS
from recollect.config.workspace import Workspace
from recollect.domain.clock import parse_time, time_text
from recollect.engine.embed import BATCH
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, RecollectError, StorageError, StoreDamaged, StoreError
from recollect.files.bank.bank import files_without_entries, read_bank
from recollect.files.journal.kinds import CAPTURE, CARRIED, MOVED, kind_of
from recollect.files.journal.log import LONGEST_LINE, read_lines
from recollect.files.journal.tail import ALL, retired_ids
from recollect.files.log import NAME as LOG
from recollect.files.log import lately
from recollect.files.memory.memories import MemoryFile, MemoryRoot, Survey, scan, survey
from recollect.learn.review import captures_to_review
from recollect.memories.health import Health, Issue, examine
from recollect.plugin.environment_state import interpreter_of, is_being_built, missing_extras, read_outcome
from recollect.plugin.install import lost_plugin
from recollect.store.open import database_name, is_server, store_exists, store_files
from recollect.store.repair import count_earlier
from recollect.store.values import EARLIER, TAKEN_OVER
from recollect.sync.bounds import left_in_files, read_own_bank
from recollect.sync.journal import without_moved
from recollect.team.join import TeamStatus
from recollect.team.join import status as team_status
from recollect.truth.stale import stale_ids

# In seconds: how long to wait for other writers.
_TIMEOUT = 1.0


@dataclass
class Knowledge:
    """The numbers of entries in the banks, in the journal and in the store; None if there is no store.

    Those of the journal are its lessons that no bank has; `journal_here` counts those from this project.
    """

    project_bank: int
    global_bank: int
    journal: int = 0
    journal_here: int = 0
    store_entries: int | None = None
    awaiting_vector: int | None = None
    stale: int = 0  # whose files have changed since they were stored or confirmed
    followed: str = ""  # whose files the store follows, if not those of this machine


@dataclass
class Status:
    """The state of a project's memories, with issues; `last_capture` is empty if nothing was ever captured."""

    root: MemoryRoot
    health: Health
    settings_off: list[str]
    files: int
    bytes: int
    database_bytes: int
    last_capture: str
    knowledge: Knowledge
    awaiting_review: int = 0
    issues: list[Issue] = field(default_factory=list[Issue])
    warnings: list[str] = field(default_factory=list[str])
    server: str = ""  # the address of the store, if it is no file
    team: TeamStatus | None = None  # None if no team is joined
    trust: str = ""  # the user's answer about the repository
    taken_over: str = ""  # a sentence about the database of the memory system before recollect

    @property
    def is_empty(self) -> bool:
        """Return True if the project has neither memory files nor lessons of its own."""
        return not self.files and not self.knowledge.project_bank and not self.knowledge.journal_here


def status_of_project(workspace: Workspace, now: datetime) -> Status:
    """Return the status of a project, without writing anything or creating a missing store."""
    root = workspace.memory_root()
    problems: list[str] = []
    found = survey(root, problems)
    memories = scan(root, problems, found=found)
    health = examine(root, memories, problems, workspace.settings, now)
    sizes = [each.size for each in found.files]
    own, warnings, _ = read_own_bank(workspace)
    shared, complaints = read_bank(workspace.global_store, "global")
    in_banks = {entry.content_hash for entry in (*own, *shared)}
    knowledge = Knowledge(len(own), len(shared), *_journalled(workspace, in_banks, warnings))
    warnings += complaints
    issues = [issue for issue in health.issues if issue.kind != "index" or sizes]
    store_issues, taken_over = _store_issues(workspace, knowledge)
    issues += _bounds(workspace, found) + _bank_issues(workspace) + store_issues + _package_issues(workspace)
    issues += _hook_issues(workspace) + _plugin_issues()
    staged = _staged(workspace, warnings)
    team = _team(workspace, warnings)
    return Status(
        root,
        health,
        settings_off=switched_off(workspace.settings),
        files=len(sizes),
        bytes=sum(sizes),
        database_bytes=sum(map(_size, store_files(workspace.store_place))),
        last_capture=_last_capture(memories, workspace.journal),
        knowledge=knowledge,
        awaiting_review=staged,
        issues=issues,
        warnings=warnings,
        server=database_name(workspace.store_place) if is_server(workspace.store_place) else "",
        team=team,
        trust=workspace.trust,
        taken_over=taken_over,
    )


def _bounds(workspace: Workspace, found: Survey) -> list[Issue]:
    """Return an issue about what is not read of a repository that nobody has vouched for."""
    left = left_in_files(workspace, found)
    return [Issue("bounds", left, "review what it brings before you trust it: `recollect list`")] if left else []


def _team(workspace: Workspace, warnings: list[str]) -> TeamStatus | None:
    """Return how things stand with the team, from files alone."""
    if not os.path.exists(locations.team_state(workspace.global_store)):
        return None
    try:
        return team_status(workspace)
    except RecollectError as error:
        warnings.append(str(error))
        return None


def switched_off(settings: Settings) -> list[str]:
    """Return the settings on by default but switched off here."""
    return [key.name for key in KEYS if key.default is True and not settings.flag(key.name)]


def _store_issues(workspace: Workspace, knowledge: Knowledge) -> tuple[list[Issue], str]:
    """Fill in the store's numbers of entries, if there is a store; return its issues and what was taken over."""
    if not store_exists(workspace.store_place):
        return [], ""
    earlier = count_earlier(database_name(workspace.store_place))
    if earlier is not None:
        return [_not_taken_over(f"all {earlier:,} entries")], ""
    try:
        with Engine(workspace, patience=_TIMEOUT) as engine:
            engine.model()
            coverage = engine.store.coverage()
            taken_over = engine.store.get_meta(TAKEN_OVER)
            pending = engine.store.get_meta(EARLIER)
            knowledge.stale = len(stale_ids(engine))
            if not engine.store.follows_files:
                knowledge.followed = engine.store.followed or "no machine"
    except StoreError as error:
        fix = "`recollect rebuild`" if isinstance(error, StoreDamaged) else "`recollect doctor` says more"
        return [Issue("store", str(error), fix)], ""
    knowledge.store_entries, knowledge.awaiting_vector = coverage.entries, coverage.pending
    if pending:
        return [_not_taken_over("some entries")], taken_over
    if coverage.pending <= BATCH or not workspace.settings.flag("memory_embedding_enabled"):
        return [], taken_over
    text = f"{coverage.pending:,} of {coverage.entries:,} entries await a vector and are found by their words alone"
    return [Issue("vectors", text, "`recollect reembed`")], taken_over


def _not_taken_over(entries: str) -> Issue:
    text = f"{entries} of the memory system before recollect are still to be taken over"
    return Issue("store", text, "the next search, prompt or session does it; `recollect rebuild` does it at once")


def _package_issues(workspace: Workspace) -> list[Issue]:
    """Return an issue if the plugin's environment lacks the packages of a provider in the settings."""
    data = locations.plugin_data()
    python = interpreter_of(data)
    lacking = missing_extras(needed_extras(workspace.settings, workspace.global_store), python) if python else []
    if not lacking:
        return []
    text = f"the plugin lacks the packages for {' and '.join(lacking)}; memories are found by their words"
    if is_being_built(data):
        return [Issue("packages", text, "they are being installed at this moment, for the next session")]
    reason = read_outcome(data).reason
    text += f". Adding them has failed: {reason}" if reason else ""
    return [Issue("packages", text, "when you are online, `recollect doctor --fix` adds them")]


def _bank_issues(workspace: Workspace) -> list[Issue]:
    """Return an issue for each file of a bank with text but no entry."""
    unread = files_without_entries(workspace.bank, "local")
    unread += files_without_entries(workspace.global_store, "global")
    return [Issue("bank", f"{path} has text but no entry", f"`recollect import {quote(path)}`") for path in unread]


def _staged(workspace: Workspace, warnings: list[str]) -> int:
    try:
        return len(captures_to_review(workspace))
    except StorageError as error:
        warnings.append(str(error))
        return 0


def _journalled(workspace: Workspace, in_banks: set[str], warnings: list[str]) -> tuple[int, int]:
    """Return the number of lessons that the journal alone holds, and of those from this project."""
    try:
        lines = read_lines(workspace.journal, 0).lines
    except StorageError as error:
        warnings.append(str(error))
        return 0, 0
    captures = [line for line in lines if kind_of(line) is CAPTURE and isinstance(line.get("id"), str)]
    moved = Counter[str]()
    for line in lines:
        if kind_of(line) is MOVED:
            with suppress(InvalidEntry):
                gone = MOVED.parse(line)
                moved[gone.id] += gone.observations
    retired = set[str]().union(*retired_ids(workspace.journal, workspace.identity, ALL))
    left = [line for line in without_moved(captures, lambda line: line["id"], moved) if line["id"] not in retired]
    here = {line["id"] for line in left if line.get("project") == workspace.identity}
    carried = {line["carried"] for line in lines if kind_of(line) is CARRIED and isinstance(line["carried"], str)}
    return len({line["id"] for line in left} | (carried - in_banks - retired)), len(here)


def _hook_issues(workspace: Workspace) -> list[Issue]:
    """Return an issue for log lines of this project's hooks in the last day.

    Hooks never disturb a session, so it shows here. Those of other projects are shown there.
    """
    lines = lately(workspace.global_store, workspace.project_root)
    if not lines:
        return []
    path = os.path.join(workspace.global_store, LOG)
    last = ": ".join(lines[-1])
    text = f"hooks left {len(lines):,} notes in the last day, mostly of what they could not do; the last: {last}"
    return [Issue("hooks", text, f"see {path}")]


def _plugin_issues() -> list[Issue]:
    lost, fix = lost_plugin()
    return [Issue("plugin", lost, fix)] if lost else []


def _last_capture(memories: list[MemoryFile], journal: str) -> str:
    """Return the time of the last change to a memory file or of the last capture in the journal."""
    try:
        lines = read_lines(journal, max(0, _size(journal) - LONGEST_LINE)).lines  # the last lines are the newest
    except StorageError:
        lines = []
    times = [
        *(memory.updated_at for memory in memories),
        *(line.get("at") for line in lines if kind_of(line) is CAPTURE),
    ]
    return max((time_text(moment) for moment in map(parse_time, times) if moment), default="")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
