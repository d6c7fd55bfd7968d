# hot
"""Notices for the user at the start of a session, in one line."""

from __future__ import annotations

import os

from recollect.domain.text import counted, cut, few, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.workspace import Workspace
    from recollect.engine.warm import Warm
    from recollect.recall.deferred import DeferredWrites
    from recollect.recall.degradation import Degradation

# Limits, so that all notices fit in the user's one line.
_MOST_WITHHELD = 2
_LONGEST_WITHHELD = 150
_LONGEST_NOTE = 120
_LARGEST_BANK = 2_000_000  # in bytes: a larger bank is not counted, because a person waits

# In seconds: how long to wait for other writers.
_TIMEOUT = 0.3
_NOTED = "a hook left a note"
_UNREAD = "no entry: "
_INVITED = "invited: "


def captures(workspace: Workspace) -> str:
    """Return a notice about captures awaiting review, or an empty string."""
    from recollect.files.journal.tail import awaiting  # not through learn.review, which also writes

    count = len(awaiting(workspace.journal, workspace.identity))
    return f"{counted(count, 'capture awaits', 'captures await')} your review: /memory:review" if count else ""


def invitations(workspace: Workspace, notes: DeferredWrites) -> str:
    """Return a notice about a scope that waits for its user's yes, once for each."""
    from recollect.config.locations import team_state

    global_store = workspace.global_store
    if not os.path.exists(team_state(global_store)):
        return ""
    from recollect.files.met import has_met, meet
    from recollect.files.team.invitations import invitations_in

    invited = invitations_in(team_state(global_store))
    names = {f"{_INVITED}{name} {by} {at}": name for name, (by, at) in invited.items()}
    news = [mark for mark in names if not has_met(global_store, mark)]
    for mark in news:
        notes.do(lambda mark=mark: meet(global_store, mark))
    if not news:
        return ""
    name, more = names[news[0]], f", and {len(news) - 1} more" if news[1:] else ""
    by = invited[name][0] or "somebody"
    return f"{by} invites you to {name}{more}; nothing of it is given before you say `recollect team accept {name}`"


def newcomer(workspace: Workspace, notes: DeferredWrites, warm: Warm | None = None) -> str:
    """Return a notice about the memories in a repository, for its first session only."""
    from recollect.files.met import has_met, meet

    global_store, identity = workspace.global_store, workspace.identity
    if has_met(global_store, identity):
        return ""
    known = _was_given(workspace, warm)  # in use since before first sessions were recorded
    found = [] if known else [_counted(_memories(workspace), "memory", "memories")]
    found += [] if known else [_counted(_entries(workspace.bank), "bank entry", "bank entries")]
    brought = " and ".join(filter(None, found))
    notes.do(lambda: meet(global_store, identity))  # last, so that a failed count is tried again next time
    return f"this repository brings {brought}, given as its notes and never obeyed (`recollect list`)" * bool(brought)


def replaced(workspace: Workspace, notes: DeferredWrites) -> str:
    """Return a notice about a repository in the place of the one that the user trusted, once a day."""
    from recollect.config.trust import REPLACED

    if workspace.trust != REPLACED:
        return ""
    told = "this is another repository than the one that you trusted here, so its memories are quoted"
    return f"{told} (`recollect trust`)" * _is_news(workspace.global_store, f"{told}: {workspace.identity}", notes)


def _counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun; an empty string for 0, and "many" for a negative number (not counted)."""
    if count < 0:
        return f"many {many}"
    return counted(count, one, many) if count else ""


def _was_given(workspace: Workspace, warm: Warm | None) -> bool:
    """Return True if the store has receipts of a project's sessions."""
    from recollect.engine.engine import Engine
    from recollect.errors import StoreError
    from recollect.store.open import store_exists

    if not store_exists(workspace.store_place):
        return False
    try:
        with Engine(workspace, patience=_TIMEOUT, warm=warm) as engine:
            return engine.store.has_receipts(workspace.identity)
    except (StoreError, ImportError):
        return False


def _memories(workspace: Workspace) -> int:
    """Return the number of a project's memory files."""
    from recollect.errors import WriteRefused
    from recollect.files.memory.memories import count_memories

    try:
        return count_memories(workspace.memory_root())
    except WriteRefused:
        return 0


def _entries(folder: str) -> int:
    """Return the number of entries in the bank in a folder; -1 if it is too large to count in time."""
    from recollect.files.bank.bank import bank_paths, count_entries

    if sum(os.path.getsize(path) for path in bank_paths(folder, "local")[0]) > _LARGEST_BANK:
        return -1
    return sum(count_entries(folder).values())


def unread_banks(workspace: Workspace, notes: DeferredWrites) -> str:
    """Return a notice about files of a bank without an entry, once for each file."""
    from recollect.files.bank.bank import files_without_entries
    from recollect.files.met import has_met, meet

    global_store = workspace.global_store

    def is_told(path: str) -> bool:
        return has_met(global_store, _UNREAD + path)

    news = files_without_entries(workspace.bank, "local", is_told)
    news += files_without_entries(global_store, "global", is_told)
    for path in news:
        notes.do(lambda path=path: meet(global_store, _UNREAD + path))
    more = f", and {len(news) - 1} more" if news[1:] else ""
    return f"{news[0]} has text but no entry{more}; `recollect import FILE` makes entries of it" if news else ""


def log_notes(global_store: str, notes: DeferredWrites, project: str = "") -> str:
    """Return a notice about recent log lines of a project's hooks with the newest line, once a day at most.

    Left out are lines of the session start hook, which `weakness` reports, lines about settings, which the start
    itself reports, and lines about a slow resident, which do no harm.
    """
    from recollect.files.log import SETTINGS, WITHOUT_RESIDENT, lately

    told_elsewhere = ("session-start", SETTINGS, WITHOUT_RESIDENT)
    lines = [line for line in lately(global_store, project) if line[0] not in told_elsewhere]
    if not lines:
        return ""
    told = f"a hook left a note in the log ({cut(': '.join(lines[-1]), _LONGEST_NOTE)}); /memory:status has more"
    return told if _is_news(global_store, _NOTED, notes) else ""


def settings_problems(workspace: Workspace, notes: DeferredWrites) -> list[str]:
    """Return the problems of a project's settings for the user, each once a day."""
    return _new_problems(workspace, "said", notes)


def unusable_settings(workspace: Workspace) -> list[str]:
    """Return the problems of a project's settings, for whoever reads the standard error of a hook."""
    return [str(problem) for problem in workspace.settings.problems if not problem.doubtful]


def log_settings_problems(workspace: Workspace, notes: DeferredWrites) -> None:
    """Log the problems of a project's settings, each once a day. The next session's start tells the user."""
    for problem in _new_problems(workspace, "logged", notes):
        from recollect.files.log import SETTINGS, log

        notes.do(lambda problem=problem: log(workspace.global_store, SETTINGS, problem))


def _new_problems(workspace: Workspace, how: str, notes: DeferredWrites) -> list[str]:
    problems = unusable_settings(workspace)
    key = f"{how} {workspace.identity}: " if problems else ""
    return [problem for problem in problems if _is_news(workspace.global_store, key + problem, notes)]


def settings_not_used(problems: Sequence[str]) -> str:
    """Return a notice of the first problem with the settings and the number of others."""
    if not problems:
        return ""
    more = len(problems) - 1
    others = f"; `recollect config` shows it and {more} more of the kind" if more else ""
    return f"{one_line(problems[0])}{others}"


def weakness(global_store: str, reasons: Sequence[Degradation], notes: DeferredWrites) -> str:
    """Return a notice about degraded search with its reasons, once a day for each reason."""
    news = [one_line(reason) for reason in map(str, reasons) if _is_news(global_store, reason, notes)]
    return f"memories are not chosen as well as they could be: {'; '.join(news)}" if news else ""


def withheld(global_store: str, sentences: Sequence[str], notes: DeferredWrites) -> str:
    """Return a notice about withheld entries and files, each once a day, a few at a time."""
    news = [sentence for sentence in sentences if _is_news(global_store, sentence, notes)]
    if not news:
        return ""
    from recollect.domain.secrets.detect import redact

    told = redact("; ".join(few([cut(one_line(each), _LONGEST_WITHHELD) for each in news], _MOST_WITHHELD)))
    return f"{told} (`recollect doctor` lists all)"


def taken_over(global_store: str, sentence: str, notes: DeferredWrites) -> str:
    """Return a sentence about taken-over entries, once and never again."""
    if not sentence:
        return ""
    from recollect.files.met import has_met, meet

    if has_met(global_store, sentence):
        return ""
    notes.do(lambda: meet(global_store, sentence))
    return sentence


def _is_news(global_store: str, sentence: str, notes: DeferredWrites) -> bool:
    """Return True if a sentence was not shown today, and record it as shown."""
    from recollect.files.notices_today import tell, was_told

    if was_told(global_store, sentence):
        return False
    notes.do(lambda: tell(global_store, sentence))
    return True
