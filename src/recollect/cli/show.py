from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, cast

import click

from recollect.cli.memory import name_argument
from recollect.cli.screen import whole
from recollect.cli.shared import (
    fields_of,
    is_terminal,
    json_option,
    print_json,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.data_text import plain_text
from recollect.domain.memory import is_slug
from recollect.domain.ranking.trust import REPOSITORY, origin_of
from recollect.domain.secrets.detect import redact, redacted
from recollect.domain.stored import ACTIVE
from recollect.domain.text import cut, one_line, visible
from recollect.engine.engine import Engine
from recollect.engine.withhold import redacted_entry
from recollect.errors import StorageError, UnknownMemory, WriteRefused
from recollect.files.memory.memories import MAX_BYTES, MemoryFile, MemoryRoot, read_memory
from recollect.files.textfile import read_text
from recollect.memories.lookup import Known, find_memory, look_up
from recollect.sessions.given import note_shown
from recollect.sync.memories import entry_id, pointed_id
from recollect.sync.sync import CARRIED_LINES
from recollect.truth.stale import changed_files

_NEWEST = 10
_WIDTH = 14
_LONGEST_VALUE = 120
_LONGEST_SUMMARY = 300

# Fields shown elsewhere, not in the order of the file.
_ELSEWHERE = (
    *("id", "title", "category", "record_status", "tags", "related_files", "content", "changes"),
    *("supersedes", "superseded_by", "anchors"),
)


@click.command("show")
@name_argument
@click.option("--history", is_flag=True, help=f"Show all of its history, not only the last {_NEWEST} changes.")
@click.option("--raw", is_flag=True, help="Print the file as it is.")
@json_option
@workspace_options
def command(name: str, history: bool, raw: bool, as_json: bool, workspace: Workspace) -> None:
    """Show one memory, or one lesson, with all that is known of it.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them.
    """
    if raw and (as_json or history):
        raise click.UsageError("--raw goes with neither --json nor --history")
    if raw:
        _print_raw(_file_of(workspace, name))
        return
    warnings: list[str] = []
    found = look_up(workspace, name, warnings)
    warn(warnings)
    if found.memory is None:
        with Engine(workspace) as engine:
            known = Known(engine, found.entry)
        _show_knowledge(known, workspace.global_store, changed_files(workspace, found.entry.id), as_json)
        warn(note_shown(workspace, found.entry.id))
        return
    root, memory = workspace.memory_root(), found.memory
    check = changed_files(workspace, found.entry.id, memory.anchors)
    memory.record = redacted(memory.record)
    if as_json:
        facts = {
            "id": entry_id(workspace.memories, memory.category, memory.slug),
            **fields_of(memory, "slug", "title", "category", "status"),
            "path": root.shown(memory.path),
        }
        print_json({**facts, "hash": memory.hash, "origin": REPOSITORY, "check": check, "record": memory.record})
    else:
        click.echo("\n".join(_lines(root, memory, history, workspace.memories, check)))
    warn(note_shown(workspace, found.entry.id))


def _file_of(workspace: Workspace, name: str) -> str:
    """Return the path of a memory's file, which may be broken."""
    try:
        return find_memory(workspace.memory_root(), name, workspace.project_root).path
    except (UnknownMemory, WriteRefused):
        found = look_up(workspace, name, [])
    if found.memory is None:
        raise click.UsageError("--raw is for memory files, and this is a lesson")
    return found.memory.path


def _show_knowledge(known: Known, global_store: str, check: list[str], as_json: bool) -> None:
    entry = redacted_entry(known.entry)
    facts: dict[str, object] = {
        **fields_of(entry, "id", "category", "status"),
        "retired": [fields_of(each, "at", "reason") for each in known.retirements],
        "supersedes": redacted(known.supersedes),
        "superseded_by": redacted(known.superseded_by),
        **fields_of(entry, "description", "reasoning", "details", "keywords", "triggers", "references"),
        "check": check,
        "observed": entry.observation_count,
        "confidence": entry.confidence,
        "raised": [fields_of(each, "level", "at", "reason") for each in known.raised],
        "recalled": entry.recall_count,
        "used": entry.influence_count,
        "last_recalled": entry.last_recalled_at,
        **fields_of(entry, "created_at", "updated_at", "project"),
        "origin": origin_of([source.origin for source in known.sources], entry.source),
        "comes_from": list(
            dict.fromkeys(
                locations.source_path(source.path.removesuffix(CARRIED_LINES), global_store)
                for source in known.sources
                if source.project in ("", known.here)
            )
        ),
    }
    if as_json:
        print_json({"title": entry.name, "path": "", "name": entry.name, **facts})
        return
    state = [entry.status if not each.at else f"{entry.status} since {each.at}" for each in known.retirements[:1]]
    why = [each.reason for each in known.retirements if each.reason][:1]
    facts |= {"status": ": ".join([*(state or [entry.status]), *why])}
    facts |= {"keywords": ", ".join(entry.keywords), "project": entry.project or "every project"}
    reasons = [f"{each.level} since {each.at[:10]}: {redact(each.reason)}" for each in known.raised]
    facts |= {"confidence": reasons[-1] if reasons else entry.confidence}
    del facts["retired"], facts["raised"]
    lines = [line for name, value in facts.items() if value not in ("", []) for line in _field(name, value)]
    click.echo("\n".join([styled(untrusted(entry.name), "green"), *lines]))


def _print_raw(path: str) -> None:
    text = read_text(path, MAX_BYTES)
    if is_terminal(sys.stdout):
        click.echo(whole(visible(redact(text))), nl=False)
    else:
        click.echo(text.encode("utf-8", "surrogateescape"), nl=False)


def _lines(root: MemoryRoot, memory: MemoryFile, history: bool, identity: str, check: list[str]) -> Iterator[str]:
    yield styled(untrusted(memory.title), "green")
    yield from _field("id", entry_id(identity, memory.category, memory.slug))
    yield from _field("slug", memory.slug)
    yield from _field("path", root.shown(memory.path))
    yield from _field("hash", memory.hash)
    yield from _field("origin", REPOSITORY)
    yield from _field("category", memory.category)
    yield from _field("state", _state(memory))
    yield from _field("tags", ", ".join(memory.tags))
    yield from _field("related_files", [_related(root, path) for path in memory.related_files] or None)
    yield from _field("check", check or None)
    by = memory.record.get("superseded_by")
    yield from _field("superseded_by", _pointed(root, identity, by) if isinstance(by, str) else None)
    yield from _field("supersedes", [_pointed(root, identity, old) for old in memory.supersedes] or None)
    for field, value in memory.record.items():
        if field not in _ELSEWHERE and field not in _state_fields(memory):
            yield from _field(field, value)
    yield ""
    for field, value in memory.content.items():
        yield from _field(field, value)
    yield from _history(memory, history)


def _state(memory: MemoryFile) -> str:
    since, reason = (memory.record.get(field) for field in _state_fields(memory))
    told = memory.status if memory.status == ACTIVE else f"{memory.status} since {since or 'an unknown time'}"
    return f"{told}: {reason}" if reason else told


def _state_fields(memory: MemoryFile) -> tuple[str, str]:
    """Return the names of the fields for the time and the reason of a memory's state."""
    return f"{memory.status}_at", f"{memory.status}_reason"


def _pointed(root: MemoryRoot, identity: str, pointer: str) -> str:
    """Return the id of the entry that a memory points to, and its title if it is a memory that can be read."""
    category, _, slug = pointer.partition("/")
    id = pointed_id(identity, pointer)
    if category not in root.folders or not is_slug(slug):
        return id
    try:
        return f"{id} {redact(one_line(read_memory(root.file(category, slug), category).title))}"
    except (OSError, StorageError):
        return f"{id} ({pointer} is gone)"


def _related(root: MemoryRoot, path: str) -> str:
    return path if os.path.exists(os.path.join(root.project, path)) else f"{path} (gone)"


def _field(name: str, value: object) -> Iterator[str]:
    """Yield the lines of a value with its label. Further lines are indented, so they cannot pass for labels."""
    if value is None:
        return
    first, *rest = _text(value)
    yield f"{styled(_label(name).ljust(_WIDTH), 'cyan')}  {first}".rstrip()
    for line in rest:
        yield f"{'':{_WIDTH}}  {line}".rstrip()


def _label(name: str) -> str:
    return one_line(name.replace("_", " ")).capitalize()


def _text(value: object) -> list[str]:
    """Return a value as lines: a text unchanged, a list with a dash before each item, an object as pairs."""
    if isinstance(value, str):
        return (visible(value) if is_terminal(sys.stdout) else plain_text(value)).split("\n")
    if isinstance(value, list):
        items = [_text(item) for item in cast("list[object]", value)]
        return [f"{'-' if not place else ' '} {line}" for item in items for place, line in enumerate(item)] or ["none"]
    if isinstance(value, dict):
        pairs = [(_label(str(key)), _text(item)) for key, item in cast("dict[str, object]", value).items()]
        return [line for name, lines in pairs for line in _labelled(name, lines)] or ["none"]
    return [json.dumps(value)]


def _labelled(name: str, lines: list[str]) -> list[str]:
    if len(lines) == 1 and not lines[0].startswith("- "):
        return [f"{name}: {lines[0]}"]
    return [f"{name}:", *(f"  {line}" for line in lines)]


def _history(memory: MemoryFile, everything: bool) -> Iterator[str]:
    changes = memory.changes
    shown = changes[::-1] if everything else changes[: -_NEWEST - 1 : -1]
    if not changes:
        return
    more = f", the last {len(shown)} of {len(changes)}; --history shows all" if len(shown) < len(changes) else ""
    yield from ("", f"{styled('History', 'cyan')} (newest first{more})")
    for change in shown:
        date, summary = (_short(change.get(field) or "", _LONGEST_SUMMARY) for field in ("date", "summary"))
        yield f"  {date or 'undated'}  {summary}".rstrip()
        if everything and change.get("field"):
            field, old, new = (_short(change.get(key), _LONGEST_VALUE) for key in ("field", "old_value", "new_value"))
            yield f"    {field}: {old} -> {new}"


def _short(value: Any, most: int) -> str:
    return cut(one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), most)
