"""Candidates for promotion: from a project's bank, from JSON, or captured in a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from recollect.domain.categories import LABEL
from recollect.domain.entry import Entry
from recollect.domain.ranking.triggers import trigger_line
from recollect.domain.stored import RECORDED_BY
from recollect.domain.text import one_line
from recollect.errors import InvalidEntry
from recollect.sync.entry_input import EntryInput, clean, entries_from_json, feature_id

_FEATURE = re.compile(r"(?i)\bfeature\s*#?\s*([0-9]+[a-z0-9-]*)")
_PROVENANCE = ("last observed", "observed in", "used in", "source")

# Metadata written anew in the global store, or about the project rather than the lesson.
_NOT_CARRIED = frozenset((*_PROVENANCE, "observation count", "confidence", "content hash", "tags"))
_ASIDE = frozenset(("cost", "benefit"))
_NOT_JUDGED = _NOT_CARRIED | _ASIDE | {"keywords", "references", "reasoning", "when", "recorded by", "supersedes"}


@dataclass(frozen=True)
class Candidate:
    """An entry on its way to the global store. `more` are further lines to copy with it.

    `judged_text` is the lesson itself. `aside` is what it has cost or brought in its project.
    `content_hash` is that of the description as given, perhaps with text not written to the store. A `captured`
    candidate is in the journal with `observations` captures. It is `shared` if some of these are not from sessions of
    this project.
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
    aside: str = ""
    captured: bool = False
    observations: int = 1
    shared: bool = False

    @property
    def title(self) -> str:
        return f"{LABEL[self.category]}: {self.name}"

    @property
    def heading(self) -> str:
        """Return the heading of the entry in a bank."""
        return f"### {self.title}"

    def from_feature(self, feature: str | None) -> Candidate:
        """Return the candidate with this feature, unless it has one already."""
        number = feature_id(feature or "")
        return self if self.feature or not number else replace(self, feature=number)


def from_bank(entry: Entry) -> Candidate:
    """Return a candidate from an entry of the project's own bank."""
    carried = [part for part in entry.parts[1:] if part.key not in _NOT_CARRIED]
    # A blank line before free text, else it would become part of the item above.
    more = clean("\n".join(("" if part.key else "\n") + "\n".join(part.lines).rstrip() for part in carried))
    judged = ["\n".join(part.lines) for part in entry.parts if part.key not in _NOT_JUDGED]
    return Candidate(
        category=entry.category,
        name=one_line(entry.name),
        description=clean(entry.description),
        content_hash=entry.content_hash,
        confidence=entry.confidence,
        feature=next(filter(None, (_feature(entry.metadata(key)) for key in _PROVENANCE)), ""),
        more=tuple(more.split("\n")) if more else (),
        in_bank=True,
        judged_text="\n".join([entry.name, *judged]),
        aside="\n".join("\n".join(part.lines) for part in entry.parts if part.key in _ASIDE),
    )


def pick(entries: Sequence[Entry | Candidate], wanted: Sequence[str]) -> list[Entry | Candidate]:
    """Return the entries with the wanted names, titles ("Pattern: Name") or ids, ignoring case.

    Raises:
        InvalidEntry: a text fits no entry, or several with different titles or ids.
    """
    picked: list[Entry | Candidate] = []
    for text in wanted:
        key = text.strip().casefold()
        found = [entry for entry in entries if key in _names(entry)]
        if not found:
            near = get_close_matches(text, [entry.name for entry in entries], 3, 0.4)
            there = (
                f"there is {', '.join(map(repr, near))}" if near else "`recollect promote --dry-run` shows what is new"
            )
            place = "in the project's knowledge bank, nor in what its sessions have stored"
            raise InvalidEntry(f"no entry is named {text!r} {place}; {there}")
        if len({entry.title for entry in found}) > 1:
            titles = ", ".join(repr(entry.title) for entry in found)
            raise InvalidEntry(f"{text!r} names several entries; give one of {titles}")
        ids = list(dict.fromkeys(entry.content_hash for entry in found))
        if len(ids) > 1:
            raise InvalidEntry(f"{text!r} names several entries; give the id of one: {', '.join(ids)}")
        picked += found[:1]
    return picked


def _names(entry: Entry | Candidate) -> tuple[str, ...]:
    return (*(text.casefold() for text in (entry.title, entry.name, entry.heading[4:])), entry.content_hash)


def from_json(text: str) -> list[Candidate]:
    """Return candidates from a JSON object, or from an array of objects.

    Raises:
        InvalidEntry: the text is not JSON, or an entry cannot be stored; the message names the field and the rule.
    """
    return [from_given(entry) for entry in entries_from_json(text)]


def from_given(entry: EntryInput) -> Candidate:
    """Return a candidate from an entry given as JSON or captured in a session."""
    more = {
        "When": trigger_line(entry.triggers),
        "Keywords": ", ".join(entry.keywords),
        "References": ", ".join(entry.references),
        "Reasoning": entry.reasoning,
        "Recorded by": entry.source if entry.source in RECORDED_BY else "",
    }
    return Candidate(
        category=entry.category,
        name=entry.name,
        description=entry.description,
        content_hash=entry.content_hash,
        confidence=entry.confidence or "medium",
        feature=feature_id(entry.feature) or _feature(" ".join(entry.references)),
        project=entry.project,
        more=tuple(f"- {label}: {value}" for label, value in more.items() if value),
        judged_text=f"{entry.name}\n{entry.description}",
    )


def _feature(text: str) -> str:
    """Return the number of the last feature named in a text, as written there."""
    found = _FEATURE.findall(text)
    return found[-1] if found else ""
