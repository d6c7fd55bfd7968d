# hot
"""What needs somebody's attention when a session starts, in one line for the user."""

from __future__ import annotations

import os

from recollect.domain.text import cut, few, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.settings import Settings
    from recollect.engine.deferred import Notes

# How a line of the log begins that only says that the engine was too slow.
WITHOUT_ENGINE = "without the engine:"

# Short enough for the line that a user is shown to have room for all of it.
_MOST_WITHHELD = 2
_LONGEST_WITHHELD = 150
_LONGEST_NOTE = 120
_LARGEST_BANK = 2_000_000  # in bytes, to count its entries at the start of a session

# In seconds: how long other writers are waited for.
_PATIENCE = 0.3
_NOTED = "a hook left a note"


def captures(project_root: str, global_store: str) -> str:
    """That captures await review, if any do."""
    from recollect.sessions.review import captures_to_review

    count = len(captures_to_review(project_root, global_store))
    who = "1 capture awaits" if count == 1 else f"{count} captures await"
    return f"{who} your review: /memory:review" if count else ""


def newcomer(project_root: str, global_store: str, settings: Settings, notes: Notes) -> str:
    """Return what a repository brings with it, the first time that a session is in it."""
    from recollect.config import project
    from recollect.files.session.met import has_met, meet

    identity = project.identity(project_root)
    if has_met(global_store, identity):
        return ""
    known = _was_given(global_store, identity)  # before this was noted
    found = [] if known else [_counted(_memories(project_root, settings), "memory", "memories")]
    found += [] if known else [_counted(_entries(project_root), "bank entry", "bank entries")]
    brought = " and ".join(filter(None, found))
    notes.do(lambda: meet(global_store, identity))  # last: what could not be counted is counted again next time
    return f"this repository brings {brought}, given as its notes and never obeyed (`recollect list`)" * bool(brought)


def _counted(count: int, one: str, many: str) -> str:
    """Return how many there are of something, in words; nothing if there are none, and "many" if nobody has counted."""
    if count < 0:
        return f"many {many}"
    return f"{count:,} {one if count == 1 else many}" if count else ""


def _was_given(global_store: str, identity: str) -> bool:
    """Return whether a session of a project was given something, as the store's receipts say."""
    from recollect.config import locations
    from recollect.errors import StoreError

    path = locations.database(global_store)
    if not os.path.exists(path):
        return False
    try:
        from recollect.store.sqlite.store import SqliteStore

        with SqliteStore(path, patience=_PATIENCE) as store:
            return store.has_receipts(identity)
    except (StoreError, ImportError):
        return False


def _memories(project_root: str, settings: Settings) -> int:
    """Return how many memory files a project has."""
    from recollect.config.memory_root import memory_root
    from recollect.errors import WriteRefused
    from recollect.files.memory.memories import find_memories

    try:
        return sum(1 for _ in find_memories(memory_root(project_root, settings), []))
    except WriteRefused:
        return 0


def _entries(project_root: str) -> int:
    """Return how many entries the bank of a project has; -1 if it is too large to count while somebody waits."""
    from recollect.config import locations
    from recollect.files.bank.bank import bank_paths, read_bank

    folder = locations.bank(project_root)
    if sum(os.path.getsize(path) for path in bank_paths(folder, "local")[0]) > _LARGEST_BANK:
        return -1
    return len(read_bank(folder, "local")[0])


def log_notes(global_store: str, notes: Notes) -> str:
    """That hooks have left something in the log of late, and the last of it: once a day at most.

    What a session's start itself could not do is told as a weakness; that an engine was too slow hurts nobody.
    """
    from recollect.files.log import lately

    lines = [line for line in lately(global_store) if not line.startswith(("session-start:", WITHOUT_ENGINE))]
    if not lines:
        return ""
    told = f"a hook left a note in the log ({cut(lines[-1], _LONGEST_NOTE)}); /memory:status has more"
    return told if _is_news(global_store, _NOTED, notes) else ""


def settings_problems(settings: Settings, global_store: str, notes: Notes) -> list[str]:
    """What is wrong with the settings, in sentences for the log: each once a day, because every hook meets it again."""
    problems = [str(problem) for problem in settings.problems if not problem.doubtful]
    return [problem for problem in problems if _is_news(global_store, problem, notes)]


def settings_not_used(problems: Sequence[str]) -> str:
    """Return the first of the problems of the settings, and how many more there are."""
    if not problems:
        return ""
    more = len(problems) - 1
    others = f"; `recollect config` shows it and {more} more of the kind" if more else ""
    return f"{one_line(problems[0])}{others}"


def weakness(global_store: str, reasons: Sequence[str], notes: Notes) -> str:
    """That memories are not chosen as well as they could be, and why: once a day for each reason."""
    news = [one_line(reason) for reason in reasons if _is_news(global_store, reason, notes)]
    return f"memories are not chosen as well as they could be: {'; '.join(news)}" if news else ""


def withheld(global_store: str, sentences: Sequence[str], notes: Notes) -> str:
    """Return what is withheld until it is mended: each once a day, a few at a time."""
    news = [sentence for sentence in sentences if _is_news(global_store, sentence, notes)]
    if not news:
        return ""
    from recollect.domain.secrets.detect import redact

    told = redact("; ".join(few([cut(one_line(each), _LONGEST_WITHHELD) for each in news], _MOST_WITHHELD)))
    return f"{told} (`recollect doctor` lists all)"


def _is_news(global_store: str, sentence: str, notes: Notes) -> bool:
    """Whether nobody was told a sentence today; that somebody is told now goes to the notes."""
    from recollect.files.session.notices_today import tell, was_told

    if was_told(global_store, sentence):
        return False
    notes.do(lambda: tell(global_store, sentence))
    return True
