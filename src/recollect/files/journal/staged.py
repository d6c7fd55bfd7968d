# hot
"""Captures awaiting review: journal lines about staged captures and the outcomes of their reviews."""

from __future__ import annotations

import os
import time

from recollect.domain.quick_json import dump, parse
from recollect.errors import StorageError
from recollect.files.textfile import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SAVED = "saved"
DISMISSED = "dismissed"

# Only the end of a very long journal is read: nobody will review a capture older than that.
_LARGEST = 16 * 1024 * 1024
_STAGED = "staged"
_REVIEWED = "reviewed"
_LONGEST_TEXT = 64 * 1024


class Staged:
    """A capture awaiting review: its session, the snippets found and the text around them."""

    __slots__ = ("at", "category", "context", "id", "project", "score", "session", "snippets")

    def __init__(  # noqa: PLR0917 (the fields of a line, in their order)
        self,
        id: str,
        at: str,
        project: str,
        session: str,
        category: str,
        score: float,
        snippets: list[str],
        context: str,
    ) -> None:
        self.id = id
        self.at = at
        self.project = project
        self.session = session
        self.category = category
        self.score = score
        self.snippets = snippets
        self.context = context


def awaiting(path: str, project: str) -> list[Staged]:
    """Return the captures of a project awaiting review, oldest first. Unreadable lines are skipped.

    Raises:
        StorageError: the journal cannot be read.
    """
    found: dict[str, Staged] = {}
    for line in _lines(path):
        staged = _staged(line) if line.get("project") == project else None
        if staged:
            found[staged.id] = staged
        found.pop(_text(line, _REVIEWED), None)
    return list(found.values())


def stage(path: str, candidates: Iterable[Staged]) -> None:
    """Append captures to the journal for review.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: the journal cannot be written.
    """
    _append(path, [{_STAGED: each.id, **{name: getattr(each, name) for name in _FIELDS}} for each in candidates])


def settle(path: str, ids: Iterable[str], outcome: str) -> None:
    """Note the outcome of a review of captures. Raises as `stage` does."""
    _append(path, [{_REVIEWED: each, "at": now(), "outcome": outcome} for each in ids])


def is_about_staging(line: dict[str, Any]) -> bool:
    """Return True if a journal line is not a memory but about a staged or reviewed capture."""
    return _STAGED in line or _REVIEWED in line


def new_id() -> str:
    return os.urandom(4).hex()


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_FIELDS = ("at", "project", "session", "category", "score", "snippets", "context")


def _append(path: str, lines: list[dict[str, Any]]) -> None:
    if lines:
        from recollect.files.journal.log import append_lines  # it loads threads for its lock; readers need none

        append_lines(path, [dump(line) for line in lines])


def _lines(path: str) -> list[dict[str, Any]]:
    """Return the lines about staging. Most journals have none, and then no line is parsed."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LARGEST))
            data = file.read(_LARGEST)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    if b'"staged"' not in data:
        return []
    return [
        line for text in data.split(b"\n") if b'"staged"' in text or b'"reviewed"' in text for line in _parsed(text)
    ]


def _parsed(data: bytes) -> list[dict[str, Any]]:
    try:
        line = parse(data.decode("utf-8", "replace"))
    except ValueError:
        return []
    return [line] if isinstance(line, dict) else []


def _staged(line: dict[str, Any]) -> Staged | None:
    known, category = _text(line, _STAGED), _text(line, "category")
    if not known or not category:
        return None
    score, snippets = line.get("score"), line.get("snippets")
    return Staged(
        known,
        _text(line, "at"),
        _text(line, "project"),
        _text(line, "session"),
        category,
        float(score) if isinstance(score, (int, float)) and 0 <= score <= 1 else 0.0,
        [each for each in snippets if isinstance(each, str)] if isinstance(snippets, list) else [],  # pyright: ignore
        _text(line, "context"),
    )


def _text(line: dict[str, Any], name: str) -> str:
    value = line.get(name)
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""
