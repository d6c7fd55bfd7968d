"""Format an export as Markdown. Texts from files are quoted, so they cannot pose as part of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from recollect.domain.categories import CATEGORIES, KNOWLEDGE, PROJECT
from recollect.domain.stored import ACTIVE
from recollect.domain.text import escaped, fenced_lines, one_line, visible
from recollect.files.memory.memories import MemoryFile
from recollect.transfer.export import Export, ExportedEntry

_SHOWN_ELSEWHERE = ("title", "category", "schema_version", "content", "changes")

# Matches headings and their underlines, also in lists and quotations, where `escaped` does not look.
_HEADING = re.compile(r"\s*(?:(?:[-+*]|\d{1,9}[.)])\s+|>\s*)*(?:#{1,6}(?:\s|$)|[=-]+\s*$)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_DEEPEST = 20


def markdown(export: Export) -> str:
    """Return the document: a section for each category with entries, and a heading and fields for each entry."""
    blocks = [f"# Memories of {_inline(export.project)}"]
    for category in (*PROJECT, *KNOWLEDGE):
        memories = [memory for memory in export.memories if memory.category == category]
        knowledge = [item for item in export.knowledge if item.entry.category == category]
        if memories or knowledge:
            blocks.append(f"## {CATEGORIES[category].plural.capitalize()}")
        for memory in memories:
            blocks += _memory(memory, export.root.shown(memory.path))
        for item in knowledge:
            blocks += _entry(item)
    if not export.count:
        blocks.append(f"Nothing to show: {_inline(export.reason)}.")
    return "\n\n".join(blocks) + "\n"


def _memory(memory: MemoryFile, path: str) -> Iterator[str]:
    yield f"### {_inline(memory.title)}"
    fields = {"path": path, "record_status": memory.status}
    fields |= {name: value for name, value in memory.record.items() if name not in (*fields, *_SHOWN_ELSEWHERE)}
    yield "\n".join(f"- **{_label(name)}:** {_value(value)}" for name, value in fields.items() if _value(value))
    for name, value in memory.content.items():
        yield from _field(name, value)
    if memory.changes:
        yield "**History:**"
        yield "\n".join(_point(f"{_value(line.get('date'))}: {_value(line.get('summary'))}") for line in memory.changes)


def _entry(item: ExportedEntry) -> Iterator[str]:
    entry = item.entry
    yield f"### {_inline(entry.name)}"
    facts = {
        "id": entry.id,
        "confidence": entry.confidence,
        "observed": f"{entry.observation_count} times" if entry.observation_count != 1 else "once",
        "last_observed": entry.updated_at[:10],
        "found_in": item.found_in,
        "status": entry.status if entry.status != ACTIVE else "",
        "keywords": entry.keywords,
        "triggers": entry.triggers,
        "references": entry.references,
    }
    yield "\n".join(f"- **{_label(name)}:** {_value(value)}" for name, value in facts.items() if _value(value))
    for name in ("description", "reasoning", "details"):
        yield from _field(name, getattr(entry, name))


def _field(name: str, value: Any) -> Iterator[str]:
    """Yield the blocks of a field: texts quoted line by line, lists with a bullet for each item."""
    if isinstance(value, list) and value:
        yield f"**{_label(name)}:**"
        yield "\n".join(_point(_value(item)) for item in cast(list[Any], value))
    elif isinstance(value, str) and ("\n" in value.strip() or value.startswith("- ")):
        yield f"**{_label(name)}:**"
        yield _quoted(value.strip())
    elif _value(value):
        yield f"**{_label(name)}:** {_value(value)}"


def _value(value: Any, depth: int = 0) -> str:
    """Format any JSON value on one line."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, list):
        return ", ".join(_value(item, depth + 1) for item in cast(list[Any], value))
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).items()
        return "; ".join(f"{_label(name)}: {_value(item, depth + 1)}" for name, item in items)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else _inline(str(value))


def _label(name: str) -> str:
    return _inline(name).replace("_", " ").replace("*", " ").strip().capitalize()


def _inline(text: str) -> str:
    return _TAG.sub(r"\\<", one_line(text))


def _point(text: str) -> str:
    return f"- {_no_heading(text)}"


def _quoted(text: str) -> str:
    lines = escaped(visible(text)).split("\n")
    fenced = fenced_lines(lines)
    shown = [line if at in fenced else _no_heading(_TAG.sub(r"\\<", line)) for at, line in enumerate(lines)]
    return "\n".join(f"> {line}".rstrip() for line in shown)


def _no_heading(line: str) -> str:
    return f"\\{line}" if _HEADING.match(line) else line
