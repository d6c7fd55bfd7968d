"""Entries that may be promoted: taken from a project's bank, or given as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, cast

from recollect.domain.categories import KNOWLEDGE, LABEL
from recollect.domain.entry import CONFIDENCE, Entry
from recollect.domain.hashing import content_hash
from recollect.domain.secrets import find_secret
from recollect.domain.text import one_line, unclosed_fence, visible
from recollect.errors import InvalidEntry
from recollect.files.bank_entry import bare_name

LONGEST_NAME = 200
LONGEST_DESCRIPTION = 8_000  # with room to spare for what is injected around it
LONGEST_NOTE = 5_000
MOST_KEYWORDS = 10
MOST_REFERENCES = 50

_FIELDS = frozenset(
    "name description reasoning category keywords references confidence source source_project feature".split()
)
_KEYWORD = re.compile(r"[a-z0-9][a-z0-9-]*")
_FEATURE = re.compile(r"(?i)\bfeature\s*#?\s*([0-9]+[a-z0-9-]*)")
_FEATURE_ID = re.compile(r"(?i:feature\s+)?#?\s*([A-Za-z0-9][A-Za-z0-9._/-]{0,59})")
_PROVENANCE = ("last observed", "observed in", "used in", "source")

# Written anew in the global store, or about the project rather than about the lesson.
_NOT_CARRIED = frozenset((*_PROVENANCE, "observation count", "confidence", "content hash", "tags"))
_NOT_JUDGED = _NOT_CARRIED | {"keywords", "references", "reasoning"}


@dataclass(frozen=True)
class Candidate:
    """An entry on its way to the global store. `more` are lines that travel with it.

    Its hash is that of the description as it was given, which may hold what is not written.
    """

    category: str
    name: str
    description: str
    content_hash: str
    confidence: str = "medium"
    feature: str = ""
    project: str = ""
    more: tuple[str, ...] = ()
    in_bank: bool = False
    judged_text: str = ""

    @property
    def title(self) -> str:
        return f"{LABEL[self.category]}: {self.name}"

    def from_feature(self, feature: str | None) -> Candidate:
        """The candidate with its feature, unless it names one itself."""
        number = feature_id(feature or "")
        return self if self.feature or not number else replace(self, feature=number)


def from_bank(entry: Entry) -> Candidate:
    """A candidate from an entry of the project's own bank."""
    carried = [part for part in entry.parts[1:] if part.key not in _NOT_CARRIED]
    # A blank line before free text, or it would read as more of the item above it.
    more = clean("\n".join(("" if part.key else "\n") + "\n".join(part.lines).rstrip() for part in carried))
    return Candidate(
        category=entry.category,
        name=one_line(entry.name),
        description=clean(entry.description),
        content_hash=entry.content_hash,
        confidence=entry.confidence,
        feature=next(filter(None, (_feature(entry.metadata(key)) for key in _PROVENANCE)), ""),
        more=tuple(more.split("\n")) if more else (),
        in_bank=True,
        judged_text=_judged_text(entry),
    )


def pick(entries: Sequence[Entry], wanted: Sequence[str]) -> list[Entry]:
    """The entries that are asked for by name or by title ("Pattern: Name"), whatever the case.

    Raises:
        InvalidEntry: a name fits none, or several that only their titles tell apart.
    """
    picked: list[Entry] = []
    for text in wanted:
        key = text.strip().casefold()
        found = [e for e in entries if key in (e.title.casefold(), e.name.casefold(), e.heading[4:].casefold())]
        if not found:
            near = get_close_matches(text, [entry.name for entry in entries], 3, 0.4)
            hint = f"; there is {', '.join(map(repr, near))}" if near else ""
            raise InvalidEntry(f"no entry is named {text!r} in the project's knowledge bank{hint}")
        if len({entry.title for entry in found}) > 1:
            titles = ", ".join(repr(entry.title) for entry in found)
            raise InvalidEntry(f"{text!r} names several entries; give one of {titles}")
        picked += found[:1]
    return picked


def from_json(text: str) -> list[Candidate]:
    """Candidates from a JSON object, or from an array of such objects.

    Raises:
        InvalidEntry: not JSON, or an entry that cannot be stored; says which field and what it must be.
    """
    try:
        document: Any = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidEntry(f"the entry is not valid JSON: {error}") from error
    items = cast(list[Any], document) if isinstance(document, list) else [document]
    if not items:
        raise InvalidEntry("the JSON array holds no entry")
    return [_candidate(item, f"entry {n}: " if len(items) > 1 else "") for n, item in enumerate(items, 1)]


def clean(description: str) -> str:
    """The description with nothing unseen in it, and with its code fences closed."""
    text = "\n".join(line.rstrip() for line in visible(description).split("\n")).strip()
    fence = unclosed_fence(text.split("\n"))
    return f"{text}\n{fence}" if fence else text


def _candidate(item: Any, where: str) -> Candidate:
    if not isinstance(item, dict):
        raise InvalidEntry(f"{where}an entry must be a JSON object with name, description and category")
    fields = cast(dict[str, Any], item)
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        near = get_close_matches(unknown[0], _FIELDS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the fields are {', '.join(sorted(_FIELDS))}"
        raise InvalidEntry(f"{where}unknown field {unknown[0]!r}; {hint}")
    category = _text(fields, "category", 40, where, "")
    if category not in KNOWLEDGE:
        known = ", ".join(KNOWLEDGE)
        wrong = f"must be one of {known}, not {category!r}" if category else f"is missing; it is one of {known}"
        raise InvalidEntry(f"{where}category {wrong}")
    confidence = _text(fields, "confidence", 10, where, "medium")
    if confidence not in CONFIDENCE:
        raise InvalidEntry(f"{where}confidence must be one of {', '.join(CONFIDENCE)}, not {confidence!r}")
    name = bare_name(one_line(_text(fields, "name", LONGEST_NAME, where)))
    given = _text(fields, "description", LONGEST_DESCRIPTION, where)
    description = clean(given)
    if not name or not description:
        raise InvalidEntry(f"{where}{'description' if name else 'name'} must not be empty")
    references = _texts(fields, "references", MOST_REFERENCES, where)
    labels = _texts(fields, "keywords", 1000, where)
    keywords = [word for label in labels if _KEYWORD.fullmatch(word := "-".join(label.lower().split()))]
    more = {
        "Keywords": ", ".join(list(dict.fromkeys(keywords))[:MOST_KEYWORDS]),
        "References": ", ".join(references),
        "Reasoning": one_line(_text(fields, "reasoning", LONGEST_NOTE, where, "")),
    }
    feature = _text(fields, "feature", 60, where, "")
    project = one_line(_text(fields, "source_project", LONGEST_NAME, where, ""))
    source = _text(fields, "source", 60, where, "")
    kind = find_secret("\n".join([name, given, feature, project, source, *more.values(), *labels]))
    if kind:
        raise InvalidEntry(f"{where}it seems to hold {kind}; take that out and try again")
    return Candidate(
        category=category,
        name=name,
        description=description,
        content_hash=content_hash(given),
        confidence=confidence,
        feature=feature_id(feature) or _feature(" ".join(references)),
        project=project,
        more=tuple(f"- {label}: {value}" for label, value in more.items() if value),
        judged_text=f"{name}\n{description}",
    )


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
    return value


def _texts(fields: Mapping[str, Any], name: str, most: int, where: str) -> list[str]:
    given: Any = fields.get(name) or []
    values = cast(list[Any], given if isinstance(given, list) else [None])
    if not all(isinstance(value, str) and len(value) <= 300 for value in values):
        raise InvalidEntry(f"{where}{name} must be a list of texts of at most 300 characters")
    texts = [one_line(value).replace(",", " ") for value in values]
    return [text for text in texts if text][:most]


def feature_id(text: str) -> str:
    """What identifies a feature, from "Feature #012", "#012", "012" or a name; empty for an empty text.

    Raises:
        InvalidEntry: it is no such thing.
    """
    if not text.strip():
        return ""
    found = _FEATURE_ID.fullmatch(text.strip())
    if not found:
        raise InvalidEntry(f"a feature is a number or a short name such as 012 or event-store, not {text[:60]!r}")
    return found[1]


def _feature(text: str) -> str:
    """The number of the last feature that the text names, as it is written there."""
    found = _FEATURE.findall(text)
    return found[-1] if found else ""


def _judged_text(entry: Entry) -> str:
    """What the lesson says, without where it was learned."""
    shown = ["\n".join(part.lines) for part in entry.parts if part.key not in _NOT_JUDGED]
    return "\n".join([entry.name, *shown])
