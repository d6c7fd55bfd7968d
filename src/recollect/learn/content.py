"""Turn a note into the content of a memory file, each part in its field of the category's schema.

Texts may have labelled parts ("Context: ...", "## Steps"). A part with a label of the category goes to the
label's field. Nothing in a note is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recollect.domain.categories import CATEGORIES, SESSION_SUMMARY
from recollect.domain.text import fenced_lines
from recollect.errors import InvalidEntry

if TYPE_CHECKING:
    from recollect.domain.memory import Record
    from recollect.learn.input import MemoryInput

CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("decision", "status"): ("accepted", "proposed", "deprecated", "superseded"),
    ("constraint", "kind"): ("technical", "limitation", "gap", "policy"),
    ("constraint", "severity"): ("medium", "high", "low"),
    ("tech_debt", "status"): ("open", "in_progress", "resolved", "wont_fix"),
    ("tech_debt", "priority"): ("medium", "critical", "high", "low"),
    ("preference", "strength"): ("default", "strong", "soft"),
    ("session_summary", "outcome"): ("success", "partial", "blocked", "abandoned"),
}
_LISTS = frozenset(
    "rationale consequences steps symptoms impact workarounds suggested_fix acceptance_criteria completed in_progress"
    " blockers next_actions key_changes".split()
)

# Items that say that there is none.
_NOTHING = ("", "none", "nothing", "n/a", "na")

_LABELS: Mapping[str, Mapping[str, str]] = {
    "decision": {
        "context": "context|background|situation",
        "decision": "decision|we decided|decided",
        "alternatives": "alternatives|alternatives considered|rejected|rejected alternatives",
        "rationale": "rationale|why|reason|reasons|reasoning",
        "consequences": "consequences|consequence|trade-offs|tradeoffs|effects",
        "status": "status",
    },
    "runbook": {
        "trigger": "trigger|when|problem",
        "symptoms": "symptoms|symptom",
        "steps": "steps|procedure|fix|solution|resolution",
        "verification": "verification|verify|how to verify|check",
        "root_cause": "root cause|cause|why",
        "environment": "environment",
    },
    "constraint": {
        "rule": "rule|constraint",
        "impact": "impact|impacts|consequences|effect|effects|why",
        "workarounds": "workarounds|workaround",
        "severity": "severity",
        "kind": "kind|type",
        "expires": "expires|valid until",
    },
    "tech_debt": {
        "description": "description|debt|problem",
        "reason_deferred": "reason deferred|why deferred|deferred because|why|reason",
        "impact": "impact|impacts|cost|consequences",
        "suggested_fix": "suggested fix|fix|solution|proposed fix",
        "acceptance_criteria": "acceptance criteria|done when",
        "status": "status",
        "priority": "priority",
    },
    "preference": {
        "topic": "topic",
        "value": "value|preference",
        "reason": "reason|why",
        "strength": "strength",
        "prefer": "prefer|do",
        "avoid": "avoid|don't|do not",
    },
    "session_summary": {
        "goal": "goal",
        "outcome": "outcome|status",
        "completed": "completed|done|what was done",
        "in_progress": "in progress",
        "blockers": "blockers|blocked by",
        "next_actions": "next actions|next steps|next|to do|todo",
        "key_changes": "key changes|changes",
    },
}
_FIELD_OF = {
    category: {label: name for name, labels in fields.items() for label in labels.split("|")}
    for category, fields in _LABELS.items()
}

# A label is at the beginning of a line, with a colon or as a heading; in a list it must be in bold.
_LABEL = re.compile(
    r"\s{0,3}(?:#{1,6}\s+(?:\*\*)?(?P<heading>[A-Za-z][A-Za-z' -]{1,30})(?:\*\*)?:?\s*$"
    r"|(?:[-*+]\s+)?\*\*(?P<bold>[A-Za-z][A-Za-z' -]{1,30})(?::\*\*|\*\*:)(?:\s+|$)"
    r"|(?P<plain>[A-Za-z][A-Za-z' -]{1,30}):(?:\s+|$))(?P<rest>.*)"
)
# A label in the middle of a line must follow a sentence.
_INLINE = re.compile(r"(?<=[.!?;]) +(?P<label>[A-Z][A-Za-z' -]{1,30}): (?=\S)")
_MARK = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\(?\d{1,3}[.)]|[Ss]tep\s\d{1,3}[:.)])\s+(?P<text>\S.*)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'])")
_WHY_REJECTED = re.compile(r"\s[-–—]+\s|[:;]\s|\sbecause\s")
_CHECKS = re.compile(r"(?i)\W*(?:finally,?\s+|then\s+)?(?:verify|check that|confirm|make sure|ensure)\b")
_KINDS = (
    ("policy", re.compile(r"(?i)\b(?:policy|compliance|legal|licen[cs]e|gdpr|not allowed|forbidden|must not)\b")),
    ("gap", re.compile(r"(?i)\b(?:missing|lacks?|unsupported|not supported|no support|does not support)\b")),
    ("limitation", re.compile(r"(?i)\b(?:limit(?:ed|s)?|quota|at most|maximum|cannot|can't|no more than)\b")),
)
_LONGEST_EXPIRY = 40

_MAIN = {
    "decision": "what was decided",
    "constraint": "what the rule is",
    "tech_debt": "what was put off",
    "preference": "what is preferred",
}

REFERENCES = "References: "

# Version 0.6 wrote this, or the name, where a note said nothing.
_NO_CHECK = "No check was noted; make sure that what called for it is gone."


@dataclass
class Draft:
    """The content made from a note: values `said` in it, and values `assumed`: usual choices, never sentences.

    Fillers are texts without information in older files; real ones replace them.
    """

    said: Record = field(default_factory=dict[str, Any])
    assumed: Record = field(default_factory=dict[str, Any])
    fillers: Sequence[str] = ()

    @property
    def content(self) -> Record:
        return {**self.assumed, **self.said}


class _Parts:
    """The texts of a note, grouped by field."""

    def __init__(self, category: str) -> None:
        self.category = category
        self.found: dict[str, list[str]] = {}

    def read(self, text: str, into: str, *, needed: bool) -> None:
        """Add a text: labelled parts go to their fields, the rest goes `into` one field.

        If this field is `needed` and no part goes there, the whole text does. A part unfit for its field goes there
        too, with its label.
        """
        parts = list(_labelled(text, _FIELD_OF.get(self.category, {})))
        parts = [(name or into, label, part) for name, label, part in parts if part]
        if needed and not any(name == into for name, _, _ in parts):
            parts = [(into, "", text)]
        for name, label, part in parts:
            if self._fits(name, part):
                self.found.setdefault(name, []).append(part)
            else:
                self.found.setdefault(into, []).append(f"{label}: {part}")

    def _fits(self, name: str, part: str) -> bool:
        if name == "expires":
            return len(part) <= _LONGEST_EXPIRY and "\n" not in part
        choices = CHOICES.get((self.category, name))
        return choices is None or (_choice(part) in choices and name not in self.found)


def drafted(note: MemoryInput, others: Sequence[str] = ()) -> Draft:
    """Return a draft of the content of a memory; `others` are references to anything but files."""
    parts = _Parts(note.category)
    main, reason = CATEGORIES[note.category].note_fields
    parts.read(note.description, main, needed=note.category == "runbook")
    if note.reasoning:
        parts.read(note.reasoning, reason, needed=note.category != SESSION_SUMMARY)
    draft = Draft(fillers=(note.name, _NO_CHECK))
    if note.category == "runbook":
        _runbook(parts.found)
    for name, texts in parts.found.items():
        _fill(draft.said, note.category, name, texts)
    _assume(draft, note)
    if others:
        _refer(draft.said, note.category, others)
    return draft


def check_main(draft: Draft, category: str) -> None:
    """Refuse a draft for a new memory if the description has labelled parts only, none of them the main one.

    Raises:
        InvalidEntry: the message asks for the main part.
    """
    main = CATEGORIES[category].note_fields[0]
    if category in _MAIN and main not in draft.said:
        raise InvalidEntry(
            f"description does not say {_MAIN[category]}: it has nothing but labelled parts; add a sentence without a"
            f' label, or after "{main.capitalize()}:"'
        )


def points(text: str, *, sentences: bool = False) -> list[str]:
    """Return the list items or paragraphs of a text.

    With `sentences`, a single paragraph is split into its lines or sentences.
    """
    intro, items = _split(text)
    if items:
        return [*([intro.removesuffix(":")] if intro else []), *items]
    paragraphs = _paragraphs(text)
    if sentences and len(paragraphs) == 1 and "```" not in text:
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        return lines if len(lines) > 1 else _SENTENCE.split(text)
    return paragraphs


def _labelled(text: str, labels: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of a text as field, label and text. Text on the line of its label ends at a blank line."""
    lines = _broken(text, labels)
    fenced = fenced_lines(lines)
    name = label = ""
    whole = False
    taken: list[str] = []
    for at, line in enumerate(lines):
        match = None if at in fenced else _LABEL.fullmatch(line)
        called = (match["heading"] or match["bold"] or match["plain"]).strip() if match else ""
        if match and called.lower() in labels:
            yield name, label, "\n".join(taken).strip("\n")
            name, label, taken = labels[called.lower()], called, [match["rest"]]
            whole = bool(match["rest"].strip())
        elif whole and taken and not taken[-1].strip() and line.strip():
            yield name, label, "\n".join(taken).strip("\n")
            name, label, taken, whole = "", "", [line], False
        else:
            taken.append(line)
    yield name, label, "\n".join(taken).strip("\n")


def _broken(text: str, labels: Mapping[str, str]) -> list[str]:
    """Return the lines of a text. A label after a sentence begins a new line, except in lists and code."""

    def apart(match: re.Match[str]) -> str:
        return f"\n{match['label']}: " if match["label"].lower() in labels else match[0]

    lines = text.split("\n")
    fenced = fenced_lines(lines)
    kept = {at for at, line in enumerate(lines) if at in fenced or _MARK.fullmatch(line)}
    return "\n".join(line if at in kept else _INLINE.sub(apart, line) for at, line in enumerate(lines)).split("\n")


def _split(text: str) -> tuple[str, list[str]]:
    """Return the text before a list, and the items of the list. Nested items stay part of the outer ones."""
    lines = text.split("\n")
    fenced = fenced_lines(lines)
    intro: list[str] = []
    items: list[str] = []
    outer = -1
    blank = False
    for at, line in enumerate(lines):
        mark = None if at in fenced else _MARK.fullmatch(line)
        if mark and (outer < 0 or len(mark["indent"]) <= outer):
            outer = len(mark["indent"])
            items.append(mark["text"].rstrip())
        elif not items:
            intro.append(line)
        elif not line.strip() and at not in fenced:
            blank = True
            continue
        elif blank and not line[:1].isspace() and at not in fenced:
            items.append(line.rstrip())
        elif mark or blank or at in fenced or at - 1 in fenced:
            items[-1] += f"\n{line.rstrip()}"
        else:
            items[-1] += f" {line.strip()}"
        blank = False
    return "\n".join(intro).strip(), items


def _paragraphs(text: str) -> list[str]:
    lines = text.split("\n")
    fenced = fenced_lines(lines)
    found: list[list[str]] = [[]]
    for at, line in enumerate(lines):
        if line.strip() or at in fenced:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return ["\n".join(part).strip() for part in found if part]


def _runbook(found: dict[str, list[str]]) -> None:
    """Split up the steps of a runbook: text before them becomes the trigger, a final check the verification."""
    steps: list[str] = []
    before: list[str] = []
    for text in found.get("steps", []):
        intro, items = _split(text)
        if items:
            before += [intro.removesuffix(":")] if intro else []
            steps += items
        else:
            steps += points(text, sentences=True)
    found["steps"] = steps
    if before:
        found.setdefault("trigger", []).extend(before)
    if "verification" not in found and len(steps) > 1 and _CHECKS.match(steps[-1]):
        found["verification"] = [steps.pop()]


def _fill(said: Record, category: str, name: str, texts: list[str]) -> None:
    """Put the texts of a field into the content, in the shape required by the schema."""
    if (category, name) in CHOICES:
        said[name] = _choice(texts[0])
    elif name == "alternatives":
        said[name] = [_alternative(item) for text in texts for item in points(text)]
    elif name in ("prefer", "avoid"):
        said.setdefault("examples", {})[name] = [item for text in texts for item in points(text)]
    elif category == "runbook" and name == "steps":
        said[name] = texts
    elif name in _LISTS:
        items = [item for text in texts for item in points(text, sentences=name == "completed")]
        said[name] = [item for item in items if item.strip(" .-").lower() not in _NOTHING]
    else:
        said[name] = "\n\n".join(texts)


def _assume(draft: Draft, note: MemoryInput) -> None:
    """Fill in choices and lists missing from the note, with their usual values. Sentences are not made up."""
    said = draft.said
    usual: Record = {name: values[0] for (category, name), values in CHOICES.items() if category == note.category}
    if note.category == "constraint":
        usual |= {"kind": _kind(note), "active": True}
    elif note.category == SESSION_SUMMARY:
        unfinished = said.get("in_progress") or said.get("next_actions")
        usual |= {"completed": [], "next_actions": []}
        usual["outcome"] = "blocked" if said.get("blockers") else "partial" if unfinished else "success"
    draft.assumed = {name: value for name, value in usual.items() if name not in said}


def _refer(said: Record, category: str, others: Sequence[str]) -> None:
    """Append references to anything but files to the reasoning."""
    line = f"{REFERENCES}{'; '.join(others)}"
    name = CATEGORIES[category].note_fields[1]
    if name in _LISTS:
        said[name] = [*said.get(name, []), line]
    else:
        said[name] = "\n".join([*([said[name]] if name in said else []), line])


def _kind(note: MemoryInput) -> str:
    text = f"{note.name}\n{note.description}"
    return next((kind for kind, words in _KINDS if words.search(text)), "technical")


def _alternative(text: str) -> Record:
    option, *reason = _WHY_REJECTED.split(text, maxsplit=1)
    return {"option": option.strip()} | ({"rejected_reason": reason[0].strip()} if reason else {})


def _choice(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().rstrip(".").lower().replace("'", ""))
