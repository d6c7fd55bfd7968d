"""A second reading of the requirements 000 and 001: what a markdown start has to give.

Written from the two documents alone and sharing nothing with the product, so that both agree only where both read the
documents in the same way. Where the documents leave something open, the choice is said beside it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

# 001, "Injection source priority" and "Ordering": this is the order of filling and of the output.
SECTIONS = {
    "anti-patterns": "### Anti-Patterns to Avoid",
    "heuristics": "### Heuristics",
    "patterns": "### Patterns to Follow",
}
TYPES = ("Anti-Pattern: ", "Heuristic: ", "Pattern: ")
TITLE = "## Engineering Memory (from knowledge bank)"
LEAST = 3
CONFIDENCES = {"high": 2, "medium": 1, "low": 0}


@dataclass(frozen=True)
class Read:
    """An entry of a bank file, with all that 000 C1 takes out of it."""

    category: str
    name: str
    lines: tuple[str, ...]
    description: str
    count: int
    confidence: str
    observed: str
    position: int
    is_global: bool


def hash_of(description: str) -> str:
    """Follow 000 C1, "Content hash function", with the description as its input."""
    normalized = " ".join(description.lower().strip().split())
    return hashlib.sha256(normalized.encode()).hexdigest()[:16]


def given(project: Path, store: Path, limit: int) -> list[Read]:
    """Return the entries that a start has to give, in the order of the output."""
    entries = _without_doubles(_bank(project / "docs" / "knowledge-bank", False) + _bank(store, True))
    buckets = {name: sorted((e for e in entries if e.category == name), key=_rank) for name in SECTIONS}
    places = _places({name: len(bucket) for name, bucket in buckets.items()}, limit)
    return [entry for name, bucket in buckets.items() for entry in bucket[: places[name]]]


def block(entries: list[Read]) -> list[str]:
    """Return the lines of 000 I1's output without empty ones; none where there is nothing to give."""
    if not entries:
        return []
    lines = [TITLE]
    for name, heading in SECTIONS.items():
        chosen = [entry for entry in entries if entry.category == name]
        lines += [heading] * bool(chosen)
        lines += [line for entry in chosen for line in entry.lines]
    return [*lines, "---"]


def usage(entries: list[Read]) -> dict[str, object]:
    """Return what 000 I7 has beside the time and the project."""
    world = sum(entry.is_global for entry in entries)
    kinds = {"anti-patterns": "Anti-Pattern", "heuristics": "Heuristic", "patterns": "Pattern"}
    return {
        "entries_injected": len(entries),
        "sources": {"local": len(entries) - world, "global": world},
        "entry_names": [f"{kinds[entry.category]}: {entry.name}" for entry in entries],
    }


def read_usage(store: Path) -> dict[str, object]:
    """Return the same of the file that an injection has left."""
    written = json.loads((store / ".last-injection.json").read_text(encoding="utf-8"))
    return {key: written[key] for key in ("entries_injected", "sources", "entry_names")}


def _bank(folder: Path, is_global: bool) -> list[Read]:
    entries: list[Read] = []
    for category in SECTIONS:
        file = folder / f"{category}.md"
        if file.is_file():  # 001, "Error Handling": a missing file is no error
            entries += _file(category, file.read_text(encoding="utf-8"), is_global)
    return entries


def _file(category: str, text: str, is_global: bool) -> list[Read]:
    """Split at lines that begin with `### `, as 000 C1's split and partition does."""
    chunks: list[list[str]] = []
    for line in text.split("\n"):
        if line.startswith("### "):
            chunks.append([line])
        elif chunks and not line.startswith(("# ", "## ", "---")):
            chunks[-1].append(line)
    return [_entry(category, chunk, position, is_global) for position, chunk in enumerate(chunks)]


def _entry(category: str, chunk: list[str], position: int, is_global: bool) -> Read:
    header, body = chunk[0], chunk[1:]
    first = next((i for i, line in enumerate(body) if line.startswith("- ")), len(body))
    fields = dict(line[2:].split(": ", 1) for line in reversed(body[first:]) if line.startswith("- ") and ": " in line)
    name = header.removeprefix("### ").strip()
    for prefix in TYPES:
        name = name.removeprefix(prefix)
    count = fields.get("Observation count", "").strip()
    confidence = fields.get("Confidence", "").strip()
    return Read(
        category=category,
        name=name,
        lines=tuple(line.rstrip() for line in chunk if line.strip()),
        description="\n".join(body[:first]),
        count=int(count) if count.isdecimal() else 1,
        confidence=confidence if confidence in CONFIDENCES else "medium",
        observed=fields.get("Last observed", "").strip() if is_global else "",
        position=position,
        is_global=is_global,
    )


def _without_doubles(entries: list[Read]) -> list[Read]:
    """Keep of one text the version with the higher count; of equal ones the one whose source comes first in 001's list.

    An entry without a description matches nothing (001, "Content hash").
    """
    kept: dict[object, Read] = {}
    for entry in entries:
        key = hash_of(entry.description) if entry.description.strip() else id(entry)
        if key not in kept or entry.count > kept[key].count:
            kept[key] = entry
    return list(kept.values())


def _rank(entry: Read) -> tuple[object, ...]:
    """Order by count, confidence and recency: 000 C1.8.

    A date and a position in a file cannot be compared. Between a local and a global entry that are equal but for
    these, 001's priority of sources decides: the project's own comes first.
    """
    recency = "".join(chr(0x10FFFF - ord(letter)) for letter in entry.observed.ljust(10, "\0"))
    return -entry.count, -CONFIDENCES[entry.confidence], entry.is_global, recency, -entry.position


def _places(sizes: dict[str, int], limit: int) -> dict[str, int]:
    """Give three places to each category that has entries, and the rest by priority: 001, "Token budget"."""
    left = sum(sizes.values()) if limit == -1 else limit
    filled = [name for name, size in sizes.items() if size]
    least = LEAST if left >= LEAST * len(filled) else 0
    places = {name: min(least, size) for name, size in sizes.items()}
    left -= sum(places.values())
    for name, size in sizes.items():
        more = min(left, size - places[name])
        places[name] += more
        left -= more
    return places
