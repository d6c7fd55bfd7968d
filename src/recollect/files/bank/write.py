"""Templates for new files and entries of knowledge banks, in the global format and the project format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.domain.categories import CATEGORIES, LABEL
from recollect.domain.text import fenced_lines

_PLURAL = {category: label + "s" for category, label in LABEL.items()}


def new_global_file(category: str) -> str:
    return (
        f"# Global {_PLURAL[category]}\n\n"
        "Cross-project learnings promoted from retrospectives. Automatically managed by recollect.\n"
        "Do not edit manually — entries are updated by `recollect promote`.\n"
    )


def new_local_file(category: str) -> str:
    return f"# {_PLURAL[category]}\n\n## {CATEGORIES[category].bank_heading}\n"


def global_entry(
    category: str,
    name: str,
    description: str,
    *,
    source: str,
    observed_on: str,
    confidence: str,
    content_hash: str,
    more: Sequence[str] = (),
) -> list[str]:
    """Return the lines of an entry for the global bank, followed by the lines in `more`."""
    metadata = {
        "Content-Hash": f"sha256:{content_hash}",
        "Source": source,
        "Observation count": "1",
        "Last observed": observed_on,
        "Tags": "universal",
        "Confidence": confidence,
    }
    return [f"### {LABEL[category]}: {name}", *_description(description), *_metadata(metadata), *more]


def local_entry(
    category: str, name: str, description: str, *, provenance: str, confidence: str, more: Sequence[str] = ()
) -> list[str]:
    """Return the lines of an entry for a project's bank. Headings of heuristics have no type there."""
    heading = name if category == "heuristics" else f"{LABEL[category]}: {name}"
    metadata = {CATEGORIES[category].provenance: provenance, "Confidence": confidence, "Observation count": "1"}
    return [f"### {heading}", *_description(description), *_metadata(metadata), *more]


def _metadata(values: Mapping[str, str]) -> list[str]:
    return [f"- {label}: {value}" for label, value in values.items() if value]


def _description(text: str) -> list[str]:
    """Return the lines of a description, with a leading space before lines like metadata or headings.

    The space keeps the parser from reading them as structure. It does not change the content hash, which covers words
    only.
    """
    lines = text.split("\n")
    fenced = fenced_lines(lines)
    return [f" {line}" if line[:1] in ("-", "#") and index not in fenced else line for index, line in enumerate(lines)]
