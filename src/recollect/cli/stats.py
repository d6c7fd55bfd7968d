from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from recollect.cli.shared import (
    fields_of,
    json_option,
    print_json,
    screen_width,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import counted, cut, one_line
from recollect.engine.engine import Engine
from recollect.sessions.stats import Counted, Row, Stats, stats_of

# In columns: without a terminal, the widest line; the widest name of a row, its numbers, and the share in percent.
_WIDEST = 80
_LONGEST_NAME = 16
_NUMBERS = 24
_PERCENT = 6
_LONGEST_BAR = 30
_MOST_NAMED = 10
_BAR, _REST = "█", "░"
_PLAIN_BAR, _PLAIN_REST = "#", "."


@click.command("stats")
@click.option("--all-projects", is_flag=True, help="All projects, each with a row, not only this one.")
@workspace_options
@json_option
def command(all_projects: bool, workspace: Workspace, as_json: bool) -> None:
    """Show how much was given and used, by category, age and project, and how the memories grow.

    Given counts an entry once for each session that had its text. Used are those of them with a sign of use in that
    session, as `recollect why` shows it; without a sign an entry may still have helped. Tokens are estimated, four
    characters each. The last 5,000 times of giving are counted.
    """
    with Engine(workspace) as engine:
        stats = stats_of(engine, all_projects=all_projects)
    warn(stats.warnings)
    if as_json:
        print_json(_document(stats))
    else:
        click.echo("\n".join(_lines(stats, all_projects)))


def _document(stats: Stats) -> dict[str, object]:
    return {
        **_row(stats.total),
        **fields_of(stats, "contradicted", "sessions", "since", "never_given", "never_used"),
        "tokens_a_session": stats.tokens,
        "by_category": [_row(row) for row in stats.by_category],
        "by_age": [_row(row) for row in stats.by_age],
        "by_project": [_row(row) for row in stats.by_project],
        "growth": [{"week": row.name, "entries": row.entries} for row in stats.growth],
        "unused": [_entry(each, "count") for each in stats.unused],
        "at_rest": [_entry(each, "since") for each in stats.resting],
        "warnings": stats.warnings,
    }


def _row(row: Row) -> dict[str, object]:
    return {**fields_of(row, "name", "entries", "given", "used", "titles"), "share": round(row.share, 3)}


def _entry(each: Counted, *names: str) -> dict[str, object]:
    return {"id": each.id, "title": redact(one_line(each.title)), **fields_of(each, *names)}


def _lines(stats: Stats, all_projects: bool) -> Iterator[str]:
    total = stats.total
    where = "all projects" if all_projects else "this project"
    yield f"{counted(total.entries, 'entry', 'entries')} for {where}"
    if not stats.sessions:
        yield "Nothing was given to a session yet; `recollect try PROMPT` shows what one would be given."
    else:
        yield (
            f"{counted(stats.sessions, 'session', 'sessions')} since {stats.since[:10]}, with about"
            f" {stats.tokens:,} tokens each"
        )
        yield f"{total.given:,} given as text, {total.used:,} used, {stats.contradicted:,} contradicted"
    yield from _table("By category", stats.by_category)
    yield from _table("By age", stats.by_age)
    if all_projects:
        yield from _table("By project", stats.by_project)
    yield from _growth(stats.growth)
    yield from _named(stats)


def _table(heading: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table, with a bar for the share that was used."""
    if not rows:
        return
    yield ""
    yield f"{styled(heading.ljust(_LONGEST_NAME), 'cyan')}{'entries':>8}{'given':>8}{'used':>8}"
    room = min(_LONGEST_BAR, _width() - _LONGEST_NAME - _NUMBERS - _PERCENT - 2)
    for row in rows:
        name = cut(untrusted(row.name), _LONGEST_NAME - 1).ljust(_LONGEST_NAME)
        numbers = f"{row.entries:>8,}{row.given:>8,}{row.used:>8,}"
        share = f"  {_bar(row.share, room)}{row.share:>6.0%}" if row.given else ""
        yield f"{name}{numbers}{share}"


def _growth(weeks: Sequence[Row]) -> Iterator[str]:
    """Yield a bar for the new entries of each week."""
    most = max((row.entries for row in weeks), default=0)
    if not most:
        return
    yield ""
    yield styled("New entries by week", "cyan")
    room = _width() - _LONGEST_NAME - 8
    for row in weeks:
        bar = _bar(row.entries / most, min(room, 2 * _LONGEST_BAR), rest=False)
        yield f"{row.name.ljust(_LONGEST_NAME)}{row.entries:>6,}  {bar}".rstrip()


def _named(stats: Stats) -> Iterator[str]:
    yield ""
    yield f"{styled('Never given', 'cyan')}  {counted(stats.never_given, 'entry', 'entries')}"
    never = f"{counted(stats.never_used, 'entry', 'entries')}, given as text without a sign of use"
    yield f"{styled('Never used', 'cyan')}   {never}"
    for each in stats.unused:
        yield _title(each, f"given {counted(each.count, 'time', 'times')}")
    if stats.resting:
        resting = counted(len(stats.resting), "entry", "entries")
        yield f"{styled('At rest', 'cyan')}      {resting}, given in vain, and not unasked any more"
        for each in stats.resting[:_MOST_NAMED]:
            yield _title(each, f"since {each.since[:10]}")
        if len(stats.resting) > _MOST_NAMED:
            yield f"  {len(stats.resting) - _MOST_NAMED:,} more: `recollect list --at-rest`"
        yield "  `recollect unmute ID` gives one again; so does a pin, or opening it in a session."


def _title(each: Counted, facts: str) -> str:
    start = f"  {each.id}  "
    return start + cut(redact(untrusted(each.title)), max(10, _width() - len(start) - len(facts) - 2)) + f"  {facts}"


def _bar(share: float, room: int, *, rest: bool = True) -> str:
    full, empty = (_BAR, _REST) if _can_print(_BAR + _REST) else (_PLAIN_BAR, _PLAIN_REST)
    length = round(min(share, 1.0) * room)
    length = max(length, 1) if share else 0
    return styled(full * length, "green") + (empty * (room - length) if rest else "")


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _width() -> int:
    return min(screen_width(), _WIDEST)
