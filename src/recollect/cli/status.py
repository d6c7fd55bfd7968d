from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from recollect.cli.index import issue_text
from recollect.cli.shared import fields_of, json_option, print_json, styled, warn, workspace_options
from recollect.config.settings import Settings
from recollect.config.trust import CLIENT, NOBODY, OFF, REPLACED, YOU
from recollect.config.workspace import Workspace
from recollect.doctor.status import Status, status_of_project
from recollect.domain.memory import seen
from recollect.domain.stored import STATUSES
from recollect.domain.text import counted, one_line
from recollect.memories.health import GOOD, NEEDS_ATTENTION
from recollect.memories.upkeep import BROKEN, IN_SYNC, MISSING, OUT_OF_SYNC
from recollect.team.join import TeamStatus

_INDEX = {IN_SYNC: "in sync", OUT_OF_SYNC: "out of sync", MISSING: "missing", BROKEN: "broken"}

_TRUST = {
    CLIENT: "you trust this repository in Claude Code, so its memories are given as its files have them",
    YOU: "you vouched for this repository, so its memories are given as its files have them (`recollect trust --off`)",
    OFF: "taken back, so this repository's memories are quoted (`recollect trust`)",
    REPLACED: "another repository than the one that you trusted, so its memories are quoted (`recollect trust`)",
    NOBODY: "nobody has vouched for this repository, so its memories are quoted (`recollect trust`)",
}

# How many files are named for each thing that needs attention; `recollect index --health` names more.
_PLACES = 3

_BEGIN = """\
This project has no memories yet. To begin:

  recollect add decision "Orders live in PostgreSQL" --why "One server less."
      keeps a memory in this project
  recollect add anti-pattern "Retries without jitter overload the gateway."
      keeps a lesson for every project
  recollect inject --print-hook
      prints settings that give it to sessions, if you do not use the plugin
"""


@click.command("status")
@workspace_options
@json_option
def command(workspace: Workspace, as_json: bool) -> None:
    """Show what this project remembers and what needs attention.

    Counts memories by category and state, looks for what is wrong with them and says what puts it right. Nothing is
    changed.
    """
    status, settings = status_of_project(workspace, datetime.now(UTC)), workspace.settings
    warn(status.warnings)
    if as_json:
        print_json(seen(_document(status, settings)))
        return
    if status.is_empty:
        click.echo(_BEGIN)
    else:
        click.echo(f"{styled('Memory root', 'cyan')}   {one_line(status.root.path)}")
        click.echo("\n".join(["", *_table(status, settings), ""]))
    for name, value in _facts(status):
        click.echo(f"{styled(f'{name:<13}', 'cyan')} {one_line(value)}")
    if status.issues:
        click.echo(f"\n{styled('What needs attention', 'yellow')}")
        for issue in status.issues:
            click.echo(issue_text(issue, _PLACES))


def _table(status: Status, settings: Settings) -> list[str]:
    width = max(len(category) for category in status.health.counts)
    lines = [f"{'':<{width}}" + "".join(f"{state:>10}" for state in STATUSES)]
    for category, by_status in status.health.counts.items():
        off = "" if settings.flag(f"categories.{category}.enabled") else "  (disabled)"
        lines.append(f"{category:<{width}}" + "".join(f"{by_status[state]:>10,}" for state in STATUSES) + off)
    return [*lines, f"{'total':<{width}}" + "".join(f"{status.health.total(state):>10,}" for state in STATUSES)]


def _facts(status: Status) -> list[tuple[str, str]]:
    knowledge = status.knowledge
    banks = f"{counted(knowledge.project_bank, 'entry', 'entries')} in the project's bank"
    from_here = f" ({knowledge.journal_here:,} of them from here)" if knowledge.journal_here else ""
    journal = f"{knowledge.journal:,} in the journal{from_here}"
    store = "no answer" if status.server else "not made yet"
    if knowledge.store_entries is not None:
        stored = counted(knowledge.store_entries, "entry", "entries")
        store = f"{stored}, {knowledge.awaiting_vector:,} awaiting a vector"
    store += f", on {status.server}" if status.server else ""
    facts = [
        ("Health", NEEDS_ATTENTION if status.issues else GOOD),
        ("Index", _INDEX[status.health.index.state]),
        ("Storage", f"{counted(status.files, 'file', 'files')}, {_bytes(status.bytes)}"),
        ("Last capture", status.last_capture or "none"),
        ("To review", _to_review(status.awaiting_review)),
        *([("Stale", _stale(knowledge.stale))] if knowledge.stale else []),
        ("Knowledge", f"{banks}, {knowledge.global_bank:,} in the global one, {journal}"),
        ("Store", store + (f", {_bytes(status.database_bytes)}" if status.database_bytes else "")),
        *([("Follows", _followed(knowledge.followed))] if knowledge.followed else []),
        *([("Team", _team(status.team))] if status.team else []),
        ("Trust", _TRUST[status.trust]),
        *([("Taken over", status.taken_over)] if status.taken_over else []),
        ("Switched off", ", ".join(status.settings_off) or "nothing"),
    ]
    return facts[3:] if status.is_empty else facts


def _team(team: TeamStatus) -> str:
    told = f"{team.user} on {team.address}, {team.unsent:,} to send, {team.behind:,} to pull"
    told += f", last contact {team.contacted_at or 'never'}"
    refused = f", {counted(len(team.refused), 'line', 'lines')} refused; `recollect team status` says why"
    return told + (refused if team.refused else "")


def _to_review(count: int) -> str:
    return f"{counted(count, 'capture', 'captures')}; `recollect review` shows them" if count else "nothing"


def _followed(files: str) -> str:
    return f"the files of {files}; those of this machine are not read into the store, and searches do not find them"


def _stale(count: int) -> str:
    return f"{counted(count, 'entry', 'entries')} with changed files; `recollect stale` lists them"


def _bytes(size: int) -> str:
    if size < 1024:
        return counted(size, "byte", "bytes")
    return f"{size / 1024:,.1f} KiB" if size < 1024 * 1024 else f"{size / (1024 * 1024):,.1f} MiB"


def _document(status: Status, settings: Settings) -> dict[str, Any]:
    return {
        "project": status.root.project,
        "memory_root": status.root.path,
        "empty": status.is_empty,
        "categories": {
            category: {
                "enabled": settings.flag(f"categories.{category}.enabled"),
                "auto_capture": settings.flag(f"categories.{category}.auto_capture"),
                **by_status,
            }
            for category, by_status in status.health.counts.items()
        },
        "totals": {state: status.health.total(state) for state in STATUSES},
        "settings_off": status.settings_off,
        "health": NEEDS_ATTENTION if status.issues else GOOD,
        "index": status.health.index.state,
        "storage": {
            **fields_of(status, "files", "bytes", "database_bytes"),
            **({"server": status.server} if status.server else {}),
        },
        "last_capture": status.last_capture or None,
        "awaiting_review": status.awaiting_review,
        "knowledge": asdict(status.knowledge),
        "team": asdict(status.team) if status.team else None,
        "trust": status.trust or None,
        "taken_over": status.taken_over or None,
        "attention": list(map(asdict, status.issues)),
        "warnings": status.warnings,
    }
