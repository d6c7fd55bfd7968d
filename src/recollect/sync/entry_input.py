"""Parse entries from JSON, checked field by field. An error names the field and its allowed values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.category_names import known_category
from recollect.domain.entry import CONFIDENCE
from recollect.domain.hashing import content_hash
from recollect.domain.ranking.labels import validated
from recollect.domain.ranking.triggers import LONGEST_TRIGGER, MOST_TRIGGERS, clean_triggers
from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import SOURCES
from recollect.domain.text import one_line, unclosed_fence, visible
from recollect.errors import InvalidEntry
from recollect.files.bank.entry import bare_name

LONGEST_NAME = 200
LONGEST_DESCRIPTION = 8_000  # leaves room for the text injected around it
LONGEST_NOTE = 5_000
MOST_REFERENCES = 50

# In characters: how much of a field is searched for secrets; a longer field is refused anyway.
_MOST_LOOKED_AT = 100_000

_FIELDS = frozenset(
    "name description reasoning category keywords triggers references confidence source source_project feature".split()
)
_FEATURE_ID = re.compile(r"(?i:feature\s+)?#?\s*([A-Za-z0-9][A-Za-z0-9._/-]{0,59})")


@dataclass(frozen=True)
class EntryInput:
    """An entry from JSON input. Fields not given are empty."""

    category: str
    name: str
    description: str
    content_hash: str
    written: str = ""  # the description as given; `content_hash` is computed from it
    confidence: str = ""
    keywords: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    reasoning: str = ""
    feature: str = ""
    project: str = ""
    source: str = ""


def entries_from_json(text: str) -> list[EntryInput]:
    """Parse entries from a JSON object, or from an array of objects.

    Raises:
        InvalidEntry: not JSON, or an entry that cannot be stored; the message names the field and its allowed values.
    """
    try:
        document: Any = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidEntry(f"the entry is not valid JSON: {error}") from error
    items = cast(list[Any], document) if isinstance(document, list) else [document]
    if not items:
        raise InvalidEntry("the JSON array holds no entry")
    places = [f"entry {n}: " if len(items) > 1 else "" for n in range(1, len(items) + 1)]
    entries = [parse_entry_input(item, where) for item, where in zip(items, places, strict=True)]
    for entry, where in zip(entries, places, strict=True):
        if entry.source and entry.source not in SOURCES:  # not of journal lines, which other tools write too
            raise InvalidEntry(f"{where}source must be one of {', '.join(SOURCES)}, not {entry.source!r}")
    return entries


def parse_entry_input(item: object, where: str = "") -> EntryInput:
    """Return an entry from a JSON value; `where` is a prefix for error messages.

    Raises:
        InvalidEntry: the entry cannot be stored.
    """
    if not isinstance(item, dict):
        raise InvalidEntry(f"{where}an entry must be a JSON object with name, description and category")
    fields = cast(dict[str, Any], item)
    refuse_secrets(fields, where)
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        near = get_close_matches(unknown[0], _FIELDS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the fields are {', '.join(sorted(_FIELDS))}"
        raise InvalidEntry(f"{where}unknown field {unknown[0]!r}; {hint}")
    category = known_category(_text(fields, "category", 40, where, ""))
    if category not in KNOWLEDGE:
        known = ", ".join(KNOWLEDGE)
        wrong = f"must be one of {known}, not {category!r}" if category else f"is missing; it is one of {known}"
        raise InvalidEntry(f"{where}category {wrong}")
    confidence = _text(fields, "confidence", 10, where, "")
    if confidence and confidence not in CONFIDENCE:
        raise InvalidEntry(f"{where}confidence must be one of {', '.join(CONFIDENCE)}, not {confidence!r}")
    name = one_line(_text(fields, "name", LONGEST_NAME, where))
    while name != bare_name(name):  # or the name would change when it is read again
        name = bare_name(name)
    description = _text(fields, "description", LONGEST_DESCRIPTION, where)
    entry = EntryInput(
        category=category,
        name=name,
        description=clean(description),
        content_hash=content_hash(description),
        written=description,
        confidence=confidence,
        keywords=tuple(validated(_texts(fields, "keywords", 1000, where))),
        triggers=tuple(checked_triggers(fields.get("triggers"), where)),
        references=tuple(text.replace(",", " ") for text in _texts(fields, "references", MOST_REFERENCES, where)),
        reasoning=one_line(_text(fields, "reasoning", LONGEST_NOTE, where, "")),
        feature=_text(fields, "feature", 60, where, ""),
        project=one_line(_text(fields, "source_project", LONGEST_NAME, where, "")),
        source=_text(fields, "source", 60, where, ""),
    )
    if not entry.name or not entry.description:
        raise InvalidEntry(f"{where}{'description' if entry.name else 'name'} must not be empty")
    return entry


def checked_triggers(given: object, where: str = "") -> list[str]:
    """Return the triggers of an entry, cleaned; a single text may hold several, as in a bank.

    Raises:
        InvalidEntry: there are too many, or one is too long or no text.
    """
    values = [] if given is None else given.split(";") if isinstance(given, str) else given
    if not isinstance(values, list | tuple) or any(not isinstance(each, str) for each in cast("list[object]", values)):
        raise InvalidEntry(f'{where}triggers must be a list of texts, such as ["adding a column to checkout data"]')
    found = clean_triggers(cast("list[object]", values))
    if len(found) > MOST_TRIGGERS:
        raise InvalidEntry(f"{where}there are {len(found)} triggers; at most {MOST_TRIGGERS} are allowed")
    if any(len(text) > LONGEST_TRIGGER for text in found):
        raise InvalidEntry(f"{where}a trigger has at most {LONGEST_TRIGGER} characters: a phrase, not a sentence")
    return found


def clean(description: str) -> str:
    """Return the description without invisible characters, and with code fences closed."""
    text = "\n".join(line.rstrip() for line in visible(description).split("\n")).strip()
    fence = unclosed_fence(text.split("\n"))
    return f"{text}\n{fence}" if fence else text


def feature_id(text: str) -> str:
    """Return the id of a feature from "Feature #012", "#012", "012" or a name; empty for an empty text.

    Raises:
        InvalidEntry: the text is not a feature's number or short name.
    """
    if not text.strip():
        return ""
    found = _FEATURE_ID.fullmatch(text.strip())
    if not found:
        raise InvalidEntry(f"a feature is a number or a short name such as 012 or event-store, not {text[:60]!r}")
    return found[1]


def refuse_secrets(fields: Mapping[str, Any], where: str = "") -> None:
    """Raise InvalidEntry for a secret in any field, before another error message can repeat it."""
    for name, value in fields.items():
        kind = find_secret("\n".join([name, *_strings(value)]))
        if kind:
            field = "the name of a field" if find_secret(name) else one_line(name)
            told = "which is never stored; say where it is kept instead of what it is"
            raise InvalidEntry(f"{where}{field} seems to hold {kind}, {told}")


def _strings(value: object) -> list[str]:
    """Return the texts of a field: a text or a list of texts. Ignore other values, because they are not stored."""
    values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
    return [text[:_MOST_LOOKED_AT] for text in values if isinstance(text, str)]


def _text(fields: Mapping[str, Any], name: str, longest: int, where: str, default: str | None = None) -> str:
    value = fields.get(name)
    if value is None:
        if default is None:
            raise InvalidEntry(f"{where}{name} is missing")
        return default
    if not isinstance(value, str):
        raise InvalidEntry(f"{where}{name} must be a text, not {type(value).__name__}")
    if len(value) > longest:
        raise InvalidEntry(f"{where}{name} has {len(value):,} characters; at most {longest:,} are allowed")
    return value.encode("utf-8", "replace").decode("utf-8")  # JSON can contain half a surrogate pair


def _texts(fields: Mapping[str, Any], name: str, most: int, where: str) -> list[str]:
    given: Any = fields.get(name) or []
    values = cast(list[Any], given if isinstance(given, list) else [None])
    if not all(isinstance(value, str) and len(value) <= 300 for value in values):
        raise InvalidEntry(f"{where}{name} must be a list of texts of at most 300 characters")
    texts = [one_line(value) for value in values]
    return [text for text in texts if text][:most]
