"""What needs somebody's attention when a session starts, in one line for the user."""

from __future__ import annotations

from recollect.domain.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.services.notes import Notes
    from recollect.services.settings import Settings

# How a line of the log begins that only says that the engine was too slow.
WITHOUT_ENGINE = "without the engine:"

_NOTED = "a hook left a note"


def captures(project_root: str, global_store: str) -> str:
    """That captures await review, if any do."""
    from recollect.services.review import captures_to_review

    count = len(captures_to_review(project_root, global_store))
    who = "1 capture awaits" if count == 1 else f"{count} captures await"
    return f"{who} your review: /memory:review" if count else ""


def log_notes(global_store: str, notes: Notes) -> str:
    """That hooks have left something in the log of late, and the last of it: once a day at most.

    What a session's start itself could not do is told as a weakness; that an engine was too slow hurts nobody.
    """
    from recollect.files.log import lately

    lines = [line for line in lately(global_store) if not line.startswith(("session-start:", WITHOUT_ENGINE))]
    if not lines:
        return ""
    told = f"a hook left a note in the log ({lines[-1]}); /memory:status has more"
    return told if _is_news(global_store, _NOTED, notes) else ""


def settings_problems(settings: Settings, global_store: str, notes: Notes) -> list[str]:
    """What is wrong with the settings, in sentences for the log: each once a day, because every hook meets it again."""
    problems = [str(problem) for problem in settings.problems if not problem.doubtful]
    return [problem for problem in problems if _is_news(global_store, problem, notes)]


def weakness(global_store: str, reasons: Sequence[str], notes: Notes) -> str:
    """That memories are not chosen as well as they could be, and why: once a day for each reason."""
    news = [one_line(reason) for reason in reasons if _is_news(global_store, reason, notes)]
    return f"memories are not chosen as well as they could be: {'; '.join(news)}" if news else ""


def _is_news(global_store: str, sentence: str, notes: Notes) -> bool:
    """Whether nobody was told a sentence today; that somebody is told now goes to the notes."""
    from recollect.files.told import tell, was_told

    if was_told(global_store, sentence):
        return False
    notes.do(lambda: tell(global_store, sentence))
    return True
