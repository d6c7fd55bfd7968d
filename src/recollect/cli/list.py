from __future__ import annotations

from datetime import UTC, datetime

import click

from recollect.cli.shared import (
    fields_of,
    json_option,
    print_json,
    project_root_option,
    settings_of,
    styled,
    warn,
)
from recollect.config.workspace import Workspace
from recollect.domain.categories import PROJECT
from recollect.domain.clock import parse_time
from recollect.domain.ranking.trust import REPOSITORY
from recollect.domain.secrets.detect import redact, redacted
from recollect.domain.stored import ACTIVE, STATUSES
from recollect.domain.text import counted, cut, one_line
from recollect.files.memory.memories import MemoryFile, MemoryRoot, scan
from recollect.sync.memories import entry_id

_ALL = "all"
_NEVER = datetime.min.replace(tzinfo=UTC)
_LONGEST_TITLE = 80
_LONGEST_TAGS = 60


@click.command("list")
@click.option("--category", type=click.Choice(PROJECT), help="Only memories of this category.")
@click.option(
    "--state",
    type=click.Choice([*STATUSES, _ALL]),
    default=ACTIVE,
    show_default=True,
    help="Only memories in this state.",
)
@json_option
@project_root_option
def command(category: str | None, state: str, as_json: bool, project_root: str) -> None:
    """List the project's memories, the last changed first."""
    workspace = Workspace(project_root, "", load=settings_of)
    root = workspace.memory_root()
    problems: list[str] = []
    memories = scan(root, problems)
    chosen = [memory for memory in memories if category in (None, memory.category) and state in (_ALL, memory.status)]
    chosen.sort(key=lambda memory: (memory.category, one_line(memory.title).lower(), memory.slug))
    chosen.sort(key=lambda memory: parse_time(memory.updated_at) or _NEVER, reverse=True)
    warn(problems)
    if as_json:
        objects = [_as_object(root, memory, workspace.identity) for memory in chosen]
        print_json(redacted({"memories": objects, "warnings": problems}))
    elif chosen:
        click.echo("\n".join(_lines(chosen)))
    else:
        click.echo(_nothing(root, memories, category, state))


def _lines(memories: list[MemoryFile]) -> list[str]:
    rows = [_row(memory) for memory in memories]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        state, category, slug, title, updated, tags = map(str.ljust, row, [*widths[:-1], 0])
        cells = [styled(state, "yellow"), category, styled(slug, "green"), title, updated, styled(tags, "bright_black")]
        lines.append("  ".join(cells[0 if widths[0] else 1 :]).rstrip())
    return lines


def _row(memory: MemoryFile) -> tuple[str, ...]:
    state = "" if memory.status == ACTIVE else cut(one_line(memory.status), 10)
    title = cut(redact(one_line(memory.title)), _LONGEST_TITLE)
    tags = cut(redact(one_line(", ".join(memory.tags))), _LONGEST_TAGS)
    return state, memory.category, redact(memory.slug), title, one_line(memory.updated_at[:10]), tags


def _as_object(root: MemoryRoot, memory: MemoryFile, identity: str) -> dict[str, object]:
    return {
        "id": entry_id(identity, memory.category, memory.slug),
        **fields_of(memory, "slug", "category", "status", "title", "updated_at", "tags"),
        "path": root.shown(memory.path),
        "origin": REPOSITORY,
    }


def _nothing(root: MemoryRoot, memories: list[MemoryFile], category: str | None, state: str) -> str:
    """Explain why there is nothing to list, and how to get something."""
    if not memories:
        return (
            f"There are no memories in {one_line(root.shown(root.path))} yet. Agents write them with `recollect write`;"
            " `recollect write --help` and `recollect schema CATEGORY` show how."
        )
    wanted = " ".join(word for word in ("" if state == _ALL else state, category) if word)
    others = counted(len(memories), "other", "others")
    return f"There are no {wanted} memories, but {others}: `recollect list --state all` shows all."
