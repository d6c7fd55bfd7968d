from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Set
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import click

from recollect.cli.shared import (
    CategoryChoice,
    fields_of,
    is_terminal,
    json_option,
    print_json,
    screen_width,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.categories import CATEGORIES, KNOWLEDGE, PROJECT
from recollect.domain.clock import parse_time
from recollect.domain.memory import slugify
from recollect.domain.secrets.detect import redact, redacted
from recollect.domain.stored import ACTIVE, MUTED, STATUSES
from recollect.domain.text import counted, cut, one_line
from recollect.files.journal.tail import ALL, marked_ids
from recollect.recall.browse import Listed, listed, resting_since

_ALL = "all"
_LONGEST_TITLE = 80
_LONGEST_TAGS = 60
_MOST_SHOWN = 50
_MOST_NAMED = 2
_FIELDS = ("id", "slug", "category", "status", "title", "updated_at", "tags", "path", "origin", "supersedes")
_AGO = re.compile(r"(\d{1,4})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class _Row(NamedTuple):
    """What is shown of an entry."""

    state: str
    category: str
    id: str
    slug: str
    title: str
    date: str
    tags: str


def _moment(_context: click.Context, _parameter: click.Parameter, value: str | None) -> datetime | None:
    """Return the time that --since names."""
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip().lower())
    try:
        moment = datetime.now(UTC) - timedelta(days=int(ago[1]) * _DAYS[ago[2]]) if ago else parse_time(value)
    except OverflowError:  # before the year 1
        moment = None
    if moment is None:
        raise click.BadParameter("give a date, such as 2026-01-31, or how long ago: 7d, 2w, 3m or 1y")
    return moment


@click.command("list")
@click.option("--category", type=CategoryChoice(tuple(CATEGORIES)), help="Only entries of this category.")
@click.option(
    "--state",
    type=click.Choice([*STATUSES, _ALL]),
    default=ACTIVE,
    show_default=True,
    help="Only entries in this state.",
)
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only entries with this tag. Can be given repeatedly."
)
@click.option(
    "--since", metavar="TIME", callback=_moment, help="Only entries changed since: a date, or 7d, 2w, 3m, 1y."
)
@click.option("--muted", is_flag=True, help="Only muted entries, in any state.")
@click.option("--at-rest", is_flag=True, help="Only entries at rest: given in vain, and not unasked any more.")
@click.option("--all", "everything", is_flag=True, help="All entries in all states, however many there are.")
@click.option("--table", "as_table", is_flag=True, help="The table that a terminal has, also in a pipe.")
@json_option
@workspace_options
def command(
    category: str | None,
    state: str,
    tags: tuple[str, ...],
    since: datetime | None,
    muted: bool,
    at_rest: bool,
    everything: bool,
    as_table: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """List the project's memories and the lessons that it is given, the last changed first.

    The first column after the category is a name that other commands take. Without --all, the newest 50 are shown;
    with --json, there is no limit. In a pipe, a line is an id, a category, a date and a title, with tabs between them;
    what is not active has its state as a fifth field.
    """
    problems: list[str] = []
    entries = listed(workspace, problems, memories=category not in KNOWLEDGE, lessons=category not in PROJECT)
    state = _ALL if everything or muted else state
    in_pipe = not (as_table or is_terminal(sys.stdout))
    silent = frozenset(marked_ids(workspace.journal, MUTED, workspace.identity, ALL))
    resting = resting_since(workspace)
    chosen = [each for each in entries if category in (None, each.category) and state in (_ALL, each.status)]
    chosen = [each for each in chosen if _is_meant(each, tags, since) and (each.id in silent or not muted)]
    chosen = [each for each in chosen if each.id in resting or not at_rest]
    warn(problems)
    if as_json:
        found = [
            {**fields_of(each, *_FIELDS), "muted": each.id in silent, "at_rest": resting.get(each.id, "")}
            for each in chosen
        ]
        print_json(redacted({"memories": found, "warnings": problems}))
        return
    if not chosen:
        state = "resting" if at_rest else "muted" if muted else state
        nothing = _nothing(workspace, category, state, is_narrowed=bool(tags or since))
        click.echo(nothing, err=in_pipe)
        return
    shown = chosen if everything else chosen[:_MOST_SHOWN]
    states = {**dict.fromkeys(resting, "at rest"), **dict.fromkeys(silent, "muted")}
    rows = [_row(entry, states.get(entry.id, "")) for entry in shown]
    click.echo("\n".join(map(_tabbed, rows) if in_pipe else _lines(rows, _shared_slugs(entries))))
    if at_rest:
        click.echo("\n`recollect unmute NAME` gives one again; so does a pin, or opening it in a session.", err=in_pipe)
    if len(shown) < len(chosen):
        more = f"{len(chosen) - len(shown):,} more; --all shows all, --since, --tag and --category some of them."
        click.echo(f"\n{more}", err=in_pipe)


def _is_meant(entry: Listed, tags: tuple[str, ...], since: datetime | None) -> bool:
    have = {tag.lower() for tag in entry.tags}
    if not all(tag.strip().lower() in have for tag in tags):
        return False
    at = parse_time(entry.updated_at)
    return since is None or (at is not None and at >= since)


def _row(entry: Listed, state: str) -> _Row:
    title = cut(redact(untrusted(entry.title)), _LONGEST_TITLE)
    title += f" (supersedes {', '.join(entry.supersedes[:_MOST_NAMED])})" if entry.supersedes else ""
    return _Row(
        state=state if entry.status == ACTIVE else cut(one_line(entry.status), 10),
        category=entry.category,
        id=entry.id,
        slug=redact(entry.slug) if entry.path else "",
        title=title,
        date=one_line(entry.updated_at[:10]),
        tags=cut(redact(untrusted(", ".join(entry.tags))), _LONGEST_TAGS),
    )


def _tabbed(row: _Row) -> str:
    """Return the line of an entry for a program."""
    return "\t".join([row.id, row.category, row.date, row.title, *([row.state] if row.state else [])])


def _shared_slugs(entries: list[Listed]) -> Set[str]:
    """Return the slugs that memories of several categories have."""
    counts = Counter(each.slug for each in entries if each.path)
    return {slug for slug, count in counts.items() if count > 1}


def _lines(rows: list[_Row], shared: Set[str]) -> list[str]:
    """Return the lines for a person. An entry is named by its slug if that is its own and says more than the title."""
    cells: list[tuple[str, ...]] = []
    for row in rows:
        name = row.id if row.slug in shared or _repeats_title(row) else row.slug
        cells.append((row.state, row.category, name, row.title, row.date, row.tags))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + 2 * len(widths) > screen_width():
        return [line for each in cells for line in _narrow(*each)]
    lines: list[str] = []
    for each in cells:
        state, category, name, title, date, tags = map(str.ljust, each, [*widths[:-1], 0])
        shown = [styled(state, "yellow"), category, styled(name, "green"), title, date, styled(tags, "bright_black")]
        lines.append("  ".join(shown[0 if widths[0] else 1 :]).rstrip())
    return lines


def _repeats_title(row: _Row) -> bool:
    return not row.slug or slugify(row.title).startswith(row.slug)


def _narrow(state: str, category: str, name: str, title: str, date: str, _tags: str) -> Iterator[str]:
    """Yield the lines of an entry on a narrow terminal: what it is called, and below that its title."""
    width = screen_width()
    facts = "  ".join(part for part in (state, category, date) if part)
    if len(facts) + 2 + len(name) <= width:
        yield f"{facts}  {styled(name, 'green')}"
    else:
        yield from (facts, f"  {styled(name, 'green')}")
    yield f"  {cut(title, width - 2)}"


def _nothing(workspace: Workspace, category: str | None, state: str, *, is_narrowed: bool) -> str:
    """Explain why there is nothing to list, and how to get something."""
    count = len(listed(workspace, []))
    if not count:
        root = workspace.memory_root()
        return (
            f"There are no memories in {one_line(root.shown(root.path))} yet. `recollect add TEXT` keeps one; agents"
            " write them with `recollect write`, see `recollect write --help`."
        )
    wanted = [word for word in ("" if state == _ALL else state, category) if word]
    some = " ".join([*wanted, "memories", *(["like that"] if is_narrowed or not wanted else [])])
    return f"There are no {some}, but {counted(count, 'other', 'others')}: `recollect list --all` shows all."
