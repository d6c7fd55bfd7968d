from __future__ import annotations

import click

from recollect.cli.given import given_document, project_name, score_text
from recollect.cli.shared import fields_of, json_option, print_json, styled, untrusted, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import counted, cut, one_line
from recollect.engine.engine import Engine
from recollect.memories.marks import named_entry
from recollect.sessions.given import EVENTS, START, TITLE, Given, Receipt, given_lately, kind_of

_LONGEST_QUERY = 120
_LONGEST_TITLE = 80
_MORE = "`recollect log --event start` shows what sessions started with."


@click.command("log")
@click.option("--session", default="", metavar="ID", help="Only this session: its id, or the beginning of it.")
@click.option("--entry", metavar="ID", help="Only this entry: its id or the beginning, a slug, or a path.")
@click.option("--event", "kind", type=click.Choice(EVENTS), help="Only these; starts are shown in full then.")
@click.option("--all-projects", is_flag=True, help="Sessions of all projects, not only of this one.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="At most N times; starts in a row count once.",
)
@workspace_options
@json_option
def command(
    session: str,
    entry: str | None,
    kind: str | None,
    all_projects: bool,
    limit: int,
    workspace: Workspace,
    as_json: bool,
) -> None:
    """Show what was given lately: when, to which session, for which words, and why.

    The newest comes first: prompts and searches of agents, each with its entries and the parts of their scores, and one
    line for starts of sessions in a row. With --event, --session, --entry or --json, starts are shown with their
    entries, each by itself. Of prompts, only words are kept that the store has as well. The last 5,000 times are kept;
    what was chosen without the store is not among them.
    """
    in_rows = not (session or entry or kind or as_json)
    with Engine(workspace) as engine:
        id, warnings = "", list[str]()
        if entry:
            found, warnings = named_entry(engine, entry)
            id = found.id
        rows = given_lately(
            engine,
            project=None if all_projects else engine.project,
            session=session,
            entry=id,
            kind=kind or "",
            in_rows=in_rows,
            limit=limit,
        )
    warn(warnings)
    if as_json:
        print_json({"given": [_document(each) for row in rows for each in row], "warnings": warnings})
    elif rows:
        starts = [in_rows and kind_of(row[0].receipt) == START for row in rows]
        shown = [
            _starts(row, all_projects) if is_start else _text(row[0], all_projects)
            for row, is_start in zip(rows, starts, strict=True)
        ]
        click.echo("\n\n".join([*shown, *([_MORE] if any(starts) else [])]))
    else:
        click.echo(_nothing(bool(session or entry or kind), all_projects))


def _document(given: Given) -> dict[str, object]:
    receipt = given.receipt
    return {
        **fields_of(receipt, "at", "event", "session", "project"),
        "query": redact(receipt.query),
        "entries": [given_document(each, receipt.event) for each in given.entries],
    }


def _starts(row: list[Given], of_all: bool) -> str:
    """Return one line on starts that follow on each other."""
    newest, oldest = row[0].receipt, row[-1].receipt
    titles = max(sum(each.line.form == TITLE for each in given.entries) for given in row)
    texts = max(sum(each.line.form != TITLE for each in given.entries) for given in row)
    parts = [counted(texts, "text", "texts")] * bool(texts) + [counted(titles, "title", "titles")] * bool(titles)
    told = ", ".join(parts) or "nothing"
    if len(row) == 1:
        return f"{_head(newest, of_all)}  {told}"
    starts = styled(f"{len(row):,} starts", "green")
    names = dict.fromkeys(project_name(given.receipt.project) for given in row if of_all)
    where = f"  in {', '.join(names)}" if names else ""
    return f"{styled(newest.at, 'cyan')}  {starts} since {oldest.at}{where}  {told} at most"


def _head(receipt: Receipt, of_all: bool) -> str:
    where = f"  in {project_name(receipt.project)}" if of_all else ""
    session = f"  session {one_line(receipt.session)}" if receipt.session else ""
    return f"{styled(receipt.at, 'cyan')}  {styled(receipt.event or START, 'green')}{where}{session}"


def _text(given: Given, of_all: bool) -> str:
    receipt = given.receipt
    lines = [_head(receipt, of_all)]
    lines += [f"  words: {cut(redact(one_line(receipt.query)), _LONGEST_QUERY)}"] if receipt.query else []
    for each in given.entries:
        title = cut(untrusted(each.title), _LONGEST_TITLE) or "(gone)"
        lines.append(f"  {each.line.form:<6}  {each.line.id}  {title}")
        score = score_text(each, receipt.event)
        lines += [f"          {styled(score, 'bright_black')}"] if score else []
    return "\n".join(lines)


def _nothing(is_filtered: bool, all_projects: bool) -> str:
    if is_filtered:
        return "Nothing was given that fits; `recollect log` shows everything given here lately."
    if all_projects:
        return "Nothing was given yet. Start a session, or see `recollect try PROMPT`."
    return (
        "Nothing was given in this project yet; --all-projects shows the others, `recollect try PROMPT` what would be."
    )
