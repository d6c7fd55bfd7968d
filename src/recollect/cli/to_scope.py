"""What commands share that say something to the members of a scope."""

from __future__ import annotations

from collections.abc import Sequence

import click

from recollect.cli.shared import fields_of, print_json, styled, untrusted, warn
from recollect.config.workspace import Workspace
from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.memories.lookup import find_named
from recollect.team import say

to_option = click.option(
    "--to", "scope", metavar="SCOPE", help="Say it to the members of a scope of your team: team:backend."
)

_DONE = {
    "shared": "To be shared",
    "observed": "Known there, to be observed once more",
    "confirmed": "To be confirmed",
    "retired": "To be retired",
    say.KNOWN: "Nothing to do, you have shared it before",
}


def share_named(workspace: Workspace, scope: str, names: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Share lessons with a scope, or show what would be sent."""
    say.check_writer(workspace, scope)  # before any lesson is looked up: without a team, no name would help
    warnings: list[str] = []
    with Engine(workspace) as engine:
        entries = [find_named(engine, name, warnings).entry for name in names]
    warn(dict.fromkeys(warnings))
    if dry_run:
        _preview(workspace, scope, entries, as_json)
        return
    for entry in entries:
        say.to_share(workspace, scope, entry)  # if one cannot be shared, none is
    print_said([say.share(workspace, scope, entry) for entry in entries], scope, as_json)


def print_said(done: Sequence[say.Said], scope: str, as_json: bool) -> None:
    """Print what was said to the members of a scope, and when they will know."""
    warn(dict.fromkeys(sentence for each in done for sentence in each.warnings))
    if as_json:
        print_json(
            {"scope": scope, "said": [fields_of(each, "id", "name", "category", "outcome", "line") for each in done]}
        )
        return
    for each in done:
        click.echo(f"{styled(_DONE[each.outcome], 'green')}: {untrusted(each.name)}")
    if any(each.line for each in done):
        it = "it" if len(done) == 1 else "them"
        awaits = any(each.awaits for each in done)
        click.echo(
            "Kept here, and sent when the server can be reached; `recollect team sync` does it now."
            f" The members of {scope} "
            + (f"find {it} once a curator has approved {it}." if awaits else f"get {it} then.")
        )


def _preview(workspace: Workspace, scope: str, entries: Sequence[StoredEntry], as_json: bool) -> None:
    found = [say.to_share(workspace, scope, entry) for entry in entries]
    if as_json:
        lines = [{"id": given.content_hash, "name": given.name, "sends": body} for given, body in found]
        print_json({"scope": scope, "dry_run": True, "lines": lines})
        return
    for given, body in found:
        would = "this would be sent" if body else "nothing would be sent, you have shared it before"
        click.echo(f"{styled(untrusted(given.name), 'green')}: {would}")
        fields: dict[str, str | list[str]] = (body or {}).get("entry", {})
        for name, value in fields.items():
            click.echo(f"  {name}: {untrusted(value if isinstance(value, str) else ', '.join(value))}")
