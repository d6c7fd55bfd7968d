"""What needs somebody's attention when a session starts, in one line for the user."""

from __future__ import annotations

from recollect.domain.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.services.settings import Settings

_NOTED = "a hook left a note"


def environment(environ: Mapping[str, str]) -> str:
    """What there is to say of the plugin's environment, which is built in the background if it is not there."""
    from recollect.services.environment import prepare

    return prepare(environ)


def captures(project_root: str, global_store: str) -> str:
    """That captures await review, if any do."""
    from recollect.services.review import captures_to_review

    count = len(captures_to_review(project_root, global_store))
    who = "1 capture awaits" if count == 1 else f"{count} captures await"
    return f"{who} your review: /memory:review" if count else ""


def notes(global_store: str) -> str:
    """That hooks have left something in the log of late, and the last of it: once a day at most.

    What a session's start itself could not do is told as a weakness.
    """
    from recollect.files.log import lately

    lines = [line for line in lately(global_store) if not line.startswith("session-start:")]
    if not lines:
        return ""
    from recollect.files.told import is_news

    told = f"a hook left a note in the log ({lines[-1]}); /memory:status has more"
    return told if is_news(global_store, _NOTED) else ""


def settings_problems(settings: Settings, global_store: str) -> list[str]:
    """What is wrong with the settings, in sentences for the log: each once a day, because every hook meets it again."""
    problems = [str(problem) for problem in settings.problems if not problem.doubtful]
    if not problems:
        return []
    from recollect.files.told import is_news

    return [problem for problem in problems if is_news(global_store, problem)]


def weakness(global_store: str, reasons: Sequence[str]) -> str:
    """That memories are not chosen as well as they could be, and why: once a day for each reason."""
    if not reasons:
        return ""
    from recollect.files.told import is_news

    news = [one_line(reason) for reason in reasons if is_news(global_store, reason)]
    return f"memories are not chosen as well as they could be: {'; '.join(news)}" if news else ""
