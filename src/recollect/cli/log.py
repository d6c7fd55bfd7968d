from __future__ import annotations

import click

from recollect.cli.given import given_document, score_text
from recollect.cli.shared import fields_of, json_option, print_json, styled, untrusted, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.memories.marks import named_entry
from recollect.sessions.given import Given, given_lately

_LONGEST_QUERY = 120
_LONGEST_TITLE = 80


@click.command("log")
@click.option("--session", default="", metavar="ID", help="Only this session: its id, or the beginning of it.")
@click.option("--entry", metavar="ID", help="Only this entry: its id or the beginning, a slug, or a path.")
@click.option("--all-projects", is_flag=True, help="Sessions of all projects, not only of this one.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most N times.")
@workspace_options
@json_option
def command(
    session: str, entry: str | None, all_projects: bool, limit: int, workspace: Workspace, as_json: bool
) -> None:
    """Show what was given lately: when, to which session, for which words, and why.

    The newest comes first: starts of sessions, prompts and searches of agents, each with its entries and the parts of
    their scores. Of prompts, only words are kept that the store has as well. The last 5,000 times are kept; what was
    chosen without the store is not among them.
    """
    with Engine(workspace) as engine:
        id, warnings = "", list[str]()
        if entry:
            found, warnings = named_entry(engine, entry)
            id = found.id
        given = given_lately(
            engine, project=None if all_projects else engine.project, session=session, entry=id, limit=limit
        )
    warn(warnings)
    if as_json:
        print_json({"given": [_document(each) for each in given], "warnings": warnings})
    elif given:
        click.echo("\n\n".join(_text(each) for each in given))
    else:
        click.echo(_nothing(session, entry, all_projects))


def _document(given: Given) -> dict[str, object]:
    receipt = given.receipt
    return {
        **fields_of(receipt, "at", "event", "session", "project"),
        "query": redact(receipt.query),
        "entries": [given_document(each, receipt.event) for each in given.entries],
    }


def _text(given: Given) -> str:
    receipt = given.receipt
    session = f"  session {one_line(receipt.session)}" if receipt.session else ""
    lines = [f"{styled(receipt.at, 'cyan')}  {styled(receipt.event, 'green')}{session}"]
    lines += [f"  words: {cut(redact(one_line(receipt.query)), _LONGEST_QUERY)}"] if receipt.query else []
    for each in given.entries:
        title = cut(untrusted(each.title), _LONGEST_TITLE) or "(gone)"
        lines.append(f"  {each.line.form:<6}  {each.line.id}  {title}")
        score = score_text(each, receipt.event)
        lines += [f"          {styled(score, 'bright_black')}"] if score else []
    return "\n".join(lines)


def _nothing(session: str, entry: str | None, all_projects: bool) -> str:
    if session or entry:
        return "Nothing was given that fits; `recollect log` shows everything given here lately."
    if all_projects:
        return "Nothing was given yet. Start a session, or see `recollect try PROMPT`."
    return (
        "Nothing was given in this project yet; --all-projects shows the others, `recollect try PROMPT` what would be."
    )
