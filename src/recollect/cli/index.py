from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from recollect.cli.shared import (
    fields_of,
    json_option,
    memory_place,
    print_json,
    root_options,
    styled,
    warn,
)
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.memory import seen
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, STATUSES
from recollect.domain.text import counted, one_line
from recollect.errors import StorageError
from recollect.files.memory.memories import MemoryRoot, scan
from recollect.learn.duplicates import collect_same
from recollect.memories.finish import finish
from recollect.memories.health import GOOD, Health, Issue, examine
from recollect.memories.upkeep import (
    DONE,
    ERROR,
    IN_SYNC,
    OUT_OF_SYNC,
    SKIP,
    Collected,
    IndexCheck,
    Outcome,
    check_index,
    collect,
    query,
    rebuild,
)

# How many files a report names for each finding; --json names all.
_SHOWN = 10
_COLOURS = {ERROR: "red", SKIP: "yellow"}
_MERGE, _MERGED = "MERGE", "MERGED"


@click.command("index")
@click.option("--rebuild", "rebuilds", is_flag=True, help="Make index.md again from the memory files.")
@click.option(
    "--validate", "validates", is_flag=True, help="Compare index.md with the files; exit code 1 if it differs."
)
@click.option(
    "--query", "keyword", metavar="KEYWORD", help="Show the lines of the index that hold a text, in any case."
)
@click.option("--health", "examines", is_flag=True, help="Report what there is and what needs attention.")
@click.option("--gc", "collects", is_flag=True, help="Archive, retire and merge memories that are due.")
@click.option("--dry-run", is_flag=True, help="gc: show what would be done, but change nothing.")
@root_options
@json_option
def command(
    rebuilds: bool,
    validates: bool,
    keyword: str | None,
    examines: bool,
    collects: bool,
    dry_run: bool,
    root: str | None,
    project_root: str | None,
    global_store: str,
    as_json: bool,
) -> None:
    """Check, search and make again the index of a project's memories, and look after them.

    --gc archives retired memories whose grace period is over (delete.grace_period_days), or removes them if
    delete.archive_retired is false, and retires memories that were not changed for longer than their category is kept
    (categories.NAME.retention_days). It also merges what says the same word for word, as `recollect dedupe` does.
    """
    if rebuilds + validates + (keyword is not None) + examines + collects != 1:
        raise click.UsageError("give exactly one of --rebuild, --validate, --query, --health and --gc")
    if dry_run and not collects:
        raise click.UsageError("--dry-run goes with --gc")
    workspace, place = memory_place(root, project_root, global_store)
    if not os.path.isdir(place.path):
        hint = "name another with --root" if root else "the first memory makes it; `recollect status` says how to begin"
        raise StorageError(f"there is no folder {place.path}; {hint}")
    if rebuilds:
        _rebuild(place, as_json)
    elif validates:
        _validate(place, as_json)
    elif keyword is not None:
        _query(place, keyword, as_json)
    elif examines:
        _health(place, workspace.settings, as_json)
    else:
        _collect(place, workspace, dry_run, as_json)


def _rebuild(place: MemoryRoot, as_json: bool) -> None:
    count, warnings = rebuild(place)
    warn(warnings)
    if as_json:
        print_json(seen({"entries": count, "warnings": warnings}))
    else:
        click.echo(f"Rebuilt index.md with {count} entries")


def _validate(place: MemoryRoot, as_json: bool) -> None:
    warnings: list[str] = []
    check = check_index(place, scan(place, warnings))
    warn(warnings)
    if as_json:
        print_json(seen({"valid": check.state == IN_SYNC, **_index_document(check), "warnings": warnings}))
    else:
        for line in _index_lines(check, None):
            click.echo(line)
    sys.exit(int(check.state != IN_SYNC))


def _query(place: MemoryRoot, keyword: str, as_json: bool) -> None:
    entries, warnings = query(place, keyword)
    warn(warnings)
    if as_json:
        found = [fields_of(entry, "category", "title", "path", "tags") for entry in entries]
        print_json(seen({"query": keyword, "count": len(entries), "entries": found, "warnings": warnings}))
        return
    click.echo(f"{counted(len(entries), 'match', 'matches')} for {one_line(keyword)!r}")
    for entry in entries:
        click.echo(one_line(entry.line))


def _health(place: MemoryRoot, settings: Settings, as_json: bool) -> None:
    problems: list[str] = []
    health = examine(place, scan(place, problems), problems, settings, datetime.now(UTC))
    if as_json:
        print_json(seen(_health_document(health)))
        return
    sections = {
        "Entries by Category": [
            f"{category}: {by_status[ACTIVE]} active, " + ", ".join(f"{by_status[s]} {s}" for s in STATUSES[1:])
            for category, by_status in health.counts.items()
        ],
        "Heavily Updated": _some([f"{path}: {times} times" for path, times in health.heavily_updated]) or ["None"],
        "Recent Retirements": _some([f"{path}: {at}" for path, at in health.recently_retired]) or ["None"],
        "Index Sync Status": _index_lines(health.index, _SHOWN),
        "Summary": [f"{status}: {health.total(status)}" for status in STATUSES],
    }
    for heading, lines in sections.items():
        click.echo(styled(heading, "cyan"))
        for line in lines:
            click.echo(f"  {line}")
        click.echo()
    click.echo(f"Overall: {styled(health.overall, 'green' if health.overall == GOOD else 'yellow')}")
    for issue in health.issues:
        click.echo(issue_text(issue))
    for note in health.notes:
        click.echo(issue_text(note, mark="·"))


def _collect(place: MemoryRoot, workspace: Workspace, dry_run: bool, as_json: bool) -> None:
    result = collect(place, workspace.settings, datetime.now(UTC), dry_run=dry_run)
    message = f"{counted(len(result.paths), 'memory', 'memories')} put away"
    result.warnings += finish(place, workspace, result.paths, message=message)
    _merge(place, workspace, result, dry_run)
    warn(result.warnings)
    if as_json:
        outcomes = [{"action": one.verb, "path": one.path, "reason": one.reason} for one in result.outcomes]
        print_json(seen({"dry_run": dry_run, "outcomes": outcomes, "warnings": result.warnings}))
    else:
        _report(place, result, dry_run)
    sys.exit(int(result.failed))


def _merge(place: MemoryRoot, workspace: Workspace, result: Collected, dry_run: bool) -> None:
    """Merge the entries of the project that say the same word for word, and add an outcome for each."""
    found = collect_same(workspace, place, dry_run=dry_run)
    result.warnings += found.warnings
    result.outcomes += [Outcome(ERROR, "merge", reason) for reason in found.failed]
    for kept, gone in found.merged:
        verb = _MERGE if dry_run else _MERGED
        undo = "" if dry_run else f"; `recollect dedupe --undo {gone.id}` undoes it"
        result.outcomes.append(Outcome(verb, gone.id, f"says the same as {kept.id} {redact(kept.name)}{undo}"))


def _report(place: MemoryRoot, result: Collected, dry_run: bool) -> None:
    for one in result.outcomes:
        click.echo(f"{styled(one.verb, _COLOURS.get(one.verb, 'green'))} {one_line(f'{one.path}: {one.reason}')}")
    acted = sum(one.verb in (*DONE, *DONE.values(), _MERGE, _MERGED) for one in result.outcomes)
    memories = counted(acted, "memory", "memories")
    if not result.outcomes:
        click.echo(f"Nothing to put away in {one_line(place.shown(place.path))}.")
    else:
        click.echo(f"{memories} would be put away; nothing was changed." if dry_run else f"{memories} put away.")


def issue_text(issue: Issue, most: int = _SHOWN, mark: str = "-") -> str:
    """Return an issue with its fix, and at most `most` of its places."""
    lines = [f"{mark} {one_line(issue.text)}: {one_line(issue.fix)}", *_some(issue.places, most, "    ")]
    return "\n".join(lines)


def _some(texts: list[str], most: int | None = _SHOWN, indent: str = "") -> list[str]:
    shown = [f"{indent}{one_line(text)}" for text in texts[:most]]
    left = len(texts) - len(shown)
    return [*shown, f"{indent}… and {left:,} more"] if left else shown


def _index_lines(check: IndexCheck, most: int | None) -> list[str]:
    if check.state == IN_SYNC:
        return ["Index is valid"]
    if check.state != OUT_OF_SYNC:
        return [f"{one_line(check.reason)}; `recollect index --rebuild` makes it"]
    lines: list[str] = []
    for heading, paths in (
        ("Files NOT in index.md", check.unlisted),
        ("Index entries with NO active file", check.gone),
        ("Index entries that differ from the file", check.stale),
    ):
        if paths:
            lines += [f"{heading} ({len(paths)}):", *_some(paths, most, "  ")]
    return [*lines, "`recollect index --rebuild` makes it again"]


def _index_document(check: IndexCheck) -> dict[str, Any]:
    return {
        "state": check.state,
        "reason": check.reason,
        "missing_from_index": check.unlisted,
        "stale_in_index": check.gone,
        "differing_in_index": check.stale,
    }


def _health_document(health: Health) -> dict[str, Any]:
    return {
        "overall": health.overall,
        "categories": health.counts,
        "totals": {status: health.total(status) for status in STATUSES},
        "heavily_updated": [{"path": path, "times_updated": times} for path, times in health.heavily_updated],
        "recent_retirements": [{"path": path, "retired_at": at} for path, at in health.recently_retired],
        "index": _index_document(health.index),
        "issues": list(map(asdict, health.issues)),
        "notes": list(map(asdict, health.notes)),
    }
