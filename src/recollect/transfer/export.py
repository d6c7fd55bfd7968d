"""Export a project's visible entries from files, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.memory import seen
from recollect.domain.ranking.selection import deduplicate
from recollect.domain.secrets.detect import redacted
from recollect.domain.stored import ACTIVE, RETIRED, StoredEntry
from recollect.domain.text import few
from recollect.engine.withhold import redacted_entry
from recollect.files.bank.bank import read_bank
from recollect.files.journal.log import read_lines
from recollect.files.memory.memories import MemoryFile, MemoryRoot, scan
from recollect.sync.journal import NAMED, captured, carried
from recollect.sync.memories import entry_id
from recollect.sync.rebuild import finish_takeover
from recollect.sync.sync import from_bank


@dataclass
class ExportedEntry:
    """A deduplicated entry of banks and journal; `found_in` lists its places: project, global, journal."""

    entry: StoredEntry
    found_in: list[str]

    def document(self) -> dict[str, Any]:
        """Return the entry as a JSON object, without invisible characters in its texts."""
        entry = self.entry
        texts = {
            "title": entry.name,
            "name": entry.name,
            "description": entry.description,
            "reasoning": entry.reasoning,
            "keywords": entry.keywords,
            "triggers": entry.triggers,
            "references": entry.references,
            "details": entry.details,
        }
        return {
            "kind": "knowledge",
            "id": entry.id,
            "category": entry.category,
            "path": "",
            **seen(texts),
            "confidence": entry.confidence,
            "observation_count": entry.observation_count,
            "last_observed": entry.updated_at[:10],
            "found_in": self.found_in,
            "status": entry.status,
        }


@dataclass
class Export:
    """The entries to export, the reason if there are none, and warnings about unreadable files."""

    project: str
    root: MemoryRoot
    memories: list[MemoryFile] = field(default_factory=list[MemoryFile])
    knowledge: list[ExportedEntry] = field(default_factory=list[ExportedEntry])
    reason: str = ""
    warnings: list[str] = field(default_factory=list[str])
    identity: str = ""

    @property
    def count(self) -> int:
        return len(self.memories) + len(self.knowledge)


def gather(workspace: Workspace, *, categories: tuple[str, ...] = (), include_retired: bool = False) -> Export:
    """Collect the project's memories and the entries of its bank, the global bank and the journal.

    Without `categories`, collect all of them. Each credential is replaced by its kind.

    Raises:
        WriteRefused: the memory root is outside the project.
        StorageError: the journal cannot be read.
    """
    export = Export(workspace.name, workspace.memory_root(), identity=workspace.memories)
    wanted = categories or (*PROJECT, *KNOWLEDGE)
    hidden = 0
    if set(wanted) & set(PROJECT):
        found = [memory for memory in scan(export.root, export.warnings) if memory.category in wanted]
        export.memories = [memory for memory in found if include_retired or memory.status == ACTIVE]
        hidden = len(found) - len(export.memories)
    if set(wanted) & set(KNOWLEDGE):
        export.warnings += finish_takeover(workspace)
        known = [item for item in _knowledge(workspace, export.warnings) if item.entry.category in wanted]
        found = sorted(known, key=lambda item: KNOWLEDGE.index(item.entry.category))
        export.knowledge = [item for item in found if include_retired or item.entry.status == ACTIVE]
        hidden += len(found) - len(export.knowledge)
    for memory in export.memories:
        memory.record = redacted(memory.record)
    for item in export.knowledge:
        redacted_entry(item.entry)
    if not export.count:
        only = f" of {', '.join(categories)}" if categories else ""
        places = f"{export.root.path}, {workspace.bank} and {workspace.global_store}"
        more = f"; {hidden:,} retired or archived, which --include-retired exports too" if hidden else ""
        export.reason = f"there are no active entries{only} in {places}{more}"
    return export


def json_lines(export: Export) -> Iterator[str]:
    """Yield each entry as a line of ASCII JSON, so that no reader sees a line break inside it.

    A memory has its record, with the id that searches show instead of the record's own. One nested too deeply is left
    out, with a warning.
    """
    for memory in export.memories:
        path = export.root.shown(memory.path)
        facts = {
            "id": entry_id(export.identity, memory.category, memory.slug),
            "slug": memory.slug,
            "category": memory.category,
            "status": memory.status,
        }
        record = {name: value for name, value in memory.record.items() if name not in ("kind", "path")}
        try:
            yield _json_line({"kind": "memory", "path": path, **record, **facts})
        except RecursionError:
            export.warnings.append(f"{path} is nested too deeply and was left out")
    for item in export.knowledge:
        yield _json_line(item.document())


def _json_line(document: dict[str, Any]) -> str:
    # JSON can contain half a surrogate pair, but not every parser accepts it.
    text = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    return json.dumps(json.loads(text)) + "\n"


def _knowledge(workspace: Workspace, warnings: list[str]) -> list[ExportedEntry]:
    """Return the entries of banks and journal, deduplicated, in the order of reading."""
    local, complaints = read_bank(workspace.bank, "local")
    shared, more = read_bank(workspace.global_store, "global")
    warnings += complaints + more
    homes = {
        "project": {entry.content_hash for entry in local},
        "global": {hash for entry in shared for hash in (entry.content_hash, entry.stored_hash)},
    }
    found: dict[str, ExportedEntry] = {}
    for entry in deduplicate([*local, *shared]):
        stored = from_bank(entry, "", "")
        homes_of_it = [home for home, hashes in homes.items() if entry.content_hash in hashes]
        found.setdefault(stored.id, ExportedEntry(stored, homes_of_it))
    journal = read_lines(workspace.journal, 0)
    entries, retirements, problems = captured(journal.lines)
    taken, doubtful = carried(journal.lines)
    warnings += journal.problems + few(problems + doubtful, NAMED)
    for each in taken:
        each.confidence = each.confidence or "medium"
        known = found.setdefault(each.id, ExportedEntry(each, []))
        known.entry.observation_count = max(known.entry.observation_count, each.observation_count)
        known.found_in += [] if "journal" in known.found_in else ["journal"]
    for capture in entries:
        capture.confidence = capture.confidence or "medium"
        known = found.setdefault(capture.id, ExportedEntry(capture, []))
        if known.entry is not capture:
            known.entry.observation_count += 1  # each line of the journal is one observation
            known.entry.unproven = False
        if "journal" not in known.found_in:
            known.found_in.append("journal")
    here = workspace.identity
    for each in retirements:
        known = found.get(each.id)
        # A global retirement counts for any entry, a project's only for entries of its own bank.
        if known and not each.ended and (not each.project or (each.project == here and known.found_in == ["project"])):
            known.entry.status = RETIRED
    if workspace.settings.flag("retrieval.unproven_elsewhere"):
        return list(found.values())
    return [known for known in found.values() if not known.entry.unproven or known.entry.project == here]
