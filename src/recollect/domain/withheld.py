# hot
"""Withheld memory files: not shown until mended, because they are invalid or hold a credential."""

from __future__ import annotations

from recollect.domain.memory import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The prefix of a source's state when its file is withheld; the reason follows.
WITHHELD = "withheld: "

REQUIRED = ("schema_version", "category", "id", "title", "created_at", "updated_at", "tags", "content")
_TEXTS = ("id", "title")
_LONGEST_REASON = 200


def basic_problems(record: dict[str, Any], category: str) -> list[str]:
    """Return the basic problems of a record, found without the packages needed for the schemas."""
    problems = [f"field {field} is missing" for field in REQUIRED if field not in record]
    if record.get("category", category) != category:
        problems.append(f"field category must be {category}, as the folder says")
    problems += [f"field {field} must be a text" for field in _TEXTS if not isinstance(record.get(field, ""), str)]
    if not isinstance(record.get("tags", [""]), list) or not record.get("tags", [""]):
        problems.append("field tags must be a list with at least one tag")
    if not isinstance(record.get("content", {}), dict):
        problems.append("field content must be an object")
    return problems


def fault(record: dict[str, Any], category: str) -> str:
    """Return the reason to withhold a record: its first problem, or a suspected credential. Empty if there is none."""
    problems = basic_problems(record, category)
    if problems:
        return problems[0]
    from recollect.domain.secrets.detect import find_secret, redact  # too slow for hooks reading no new file

    for field, value in record.items():
        kind = next((kind for kind in map(find_secret, texts({field: value}, names=True)) if kind), "")
        if kind:
            return f"field {redact(field)} seems to hold {kind}"[:_LONGEST_REASON]
    return ""
