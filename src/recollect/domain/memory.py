# hot
"""Records of memory files: slugs, cleaned titles and tags, and automatic fixes before validation."""

from __future__ import annotations

from recollect.domain.hashing import sha256
from recollect.domain.text import change_texts, named_text, one_line, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    Record = dict[str, Any]

SCHEMA_VERSION = "1.0"
LONGEST_TITLE = 120
LONGEST_SLUG = 80
LONGEST_SUMMARY = 300
LONGEST_REASON = 300
MOST_TAGS = 12
MOST_CHANGES = 50
MOST_SUPERSEDED = 20
LONGEST_POINTER = 100
UNTAGGED = "untagged"
SESSION_PREFIX = "session-"  # of the slug of a session's summary
_SESSION_LENGTH = 18  # of a UUID: enough that no two sessions of a project share it
_UUID_LENGTH = 36

# The pattern of a slug, for schemas. `is_slug` checks the same without a regular expression: hooks cannot afford one.
SLUG = r"^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$"
_SLUG_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")

# Fields of a retired or archived record; dropped when its state changes.
_STATE_FIELDS = ("retired_at", "retired_reason", "superseded_by", "archived_at", "archived_reason")

# Markers in a line of index.md.
_ARROW = "->"
_TAGS_MARK = "#tags:"
_LOWER = str.maketrans("TAGS", "tags")  # unlike str.lower, it leaves every character at its place

# Only so much of a title or a tag is cleaned: beyond this it is too long in any case.
_LONGEST_CLEANED = 1_000


def slugify(text: str) -> str:
    """Return a slug for a text: ASCII, lower case, words joined by hyphens, at most 80 characters; may be empty."""
    from unicodedata import normalize

    plain = normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    words = "".join(char if char.isalnum() else " " for char in plain).split()
    return "-".join(words)[:LONGEST_SLUG].strip("-")


def session_slug(session: str) -> str:
    """Return the slug of a session's summary, for the session's id. Ids that are no UUID get a hash."""
    plain = session.lower().replace("_", "-")
    mark = "" if len(plain) == _UUID_LENGTH else f"-{sha256(session.encode()).hexdigest()[:8]}"
    return f"{SESSION_PREFIX}{plain[:_SESSION_LENGTH].rstrip('-')}{mark}"


def is_slug(text: str) -> bool:
    return 0 < len(text) <= LONGEST_SLUG and _SLUG_CHARACTERS.issuperset(text) and text == text.strip("-")


def clean_title(text: str) -> str:
    """Return a title on one line, without invisible characters and without the index's markers."""
    return _unmarked(text, "-")


def clean_tags(tags: Iterable[object], first: Collection[str] = ()) -> list[str]:
    """Return tags in lower case, deduplicated, sorted, and without the index's markers and separators.

    Of too many tags, those in `first` are kept first. Without any tag, return the placeholder "untagged".
    """
    found = {_unmarked(tag.lower().replace(",", " "), "") for tag in tags if isinstance(tag, str)} - {""}
    return sorted(sorted(found, key=lambda tag: (tag not in first, tag))[:MOST_TAGS]) or [UNTAGGED]


def auto_fix(record: Record, *, now: str, new: bool, had: Collection[str] = ()) -> list[str]:
    """Fix small faults of a record in place, and return notes about the fixes. `had` holds the tags so far."""
    usual = {"schema_version": SCHEMA_VERSION, "updated_at": now} | ({"created_at": now} if new else {})
    for field, value in usual.items():
        if record.get(field) in (None, ""):
            record[field] = value
    fixed = {
        "id": (_fixed_text(record.get("id"), slugify), "made a slug"),
        "confidence": (_clamped(record.get("confidence")), "moved into 0.0 to 1.0"),
        "title": (
            _fixed_text(record.get("title"), clean_title),
            "cleaned of spaces, unseen characters and markers of the index",
        ),
        "tags": (_fixed_tags(record.get("tags"), had), f"a list, cleaned, each once, at most {MOST_TAGS}"),
    }
    changed = {field: value for field, (value, _) in fixed.items() if field in record and value != record[field]}
    notes = [f"{field}: {fixed[field][1]}" for field in changed if not _is_only_sorted(changed[field], record[field])]
    record |= changed
    return notes


def _is_only_sorted(value: Any, before: Any) -> bool:
    """Return True if only the order of a list changed."""
    return isinstance(before, list) and sorted(map(str, before)) == value  # pyright: ignore[reportUnknownArgumentType]


def _fixed_text(value: Any, fix: Callable[[str], str]) -> Any:
    return fix(value) if isinstance(value, str) else value


def _clamped(value: Any) -> Any:
    return min(1.0, max(0.0, value)) if isinstance(value, int | float) and not 0 <= value <= 1 else value


def _fixed_tags(value: Any, had: Collection[str]) -> Any:
    tags: Any = [value] if isinstance(value, str) else value
    return clean_tags(tags, had) if isinstance(tags, list) else value  # pyright: ignore[reportUnknownArgumentType]


def without_state(record: Record) -> Record:
    """Return a record without the times, reasons and successors of retiring and archiving."""
    return {field: value for field, value in record.items() if field not in _STATE_FIELDS}


def seen(value: Any) -> Any:
    """Return a JSON value without invisible characters in its texts."""
    return change_texts(value, visible)


def texts(value: Any, *, names: bool = False) -> list[str]:
    """Return every text in a JSON value, in order. With `names`, also each name, beside the beginning of its text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts(item, names=names)]  # pyright: ignore
    if isinstance(value, dict):
        pairs = [named_text(name, item if isinstance(item, str) else "") for name, item in value.items() if names]  # pyright: ignore
        return [*pairs, *(text for item in value.values() for text in texts(item, names=names))]  # pyright: ignore
    return []


def difference(old_title: str, new_title: str) -> float:
    """Return the share of two titles' words found in only one of them: 0 to 1."""
    old, new = set(old_title.lower().split()), set(new_title.lower().split())
    return len(old ^ new) / len(old | new) if old | new else 0.0


def _unmarked(text: str, arrow: str) -> str:
    """Return the text on one line, with each arrow replaced and without the marker of tags."""
    text = one_line(text)[:_LONGEST_CLEANED]
    before = "" if "#" in text or ">" in text else text
    while text != before:  # removing one marker may form another
        before = text
        place = text.translate(_LOWER).find(_TAGS_MARK)
        if place >= 0:
            text = text[:place] + text[place + len(_TAGS_MARK) :]
        text = one_line(" ".join(arrow if word == _ARROW else word for word in text.split()))
    return text
