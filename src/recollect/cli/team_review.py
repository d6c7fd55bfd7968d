"""Review what members of a team have shared: by keys on a terminal, or by options."""

from __future__ import annotations

import sys
from typing import Any

import click

from recollect.cli.shared import is_terminal, pressed, print_json, styled, untrusted
from recollect.config.workspace import Workspace
from recollect.domain.categories import LABEL
from recollect.domain.memory import seen
from recollect.domain.secrets.detect import redact
from recollect.domain.text import counted, visible
from recollect.errors import RecollectError
from recollect.sync.entry_input import EntryInput
from recollect.team import say
from recollect.team.review import Awaiting, awaiting_named, awaiting_review

_KEYS = "a approve, d dismiss, s skip, m more, q quit: "
_APPROVE, _DISMISS, _SKIP, _MORE, _QUIT = "adsmq"


def review_team(
    workspace: Workspace,
    id: str | None,
    accept: tuple[str, ...],
    dismiss: tuple[str, ...],
    dismiss_all: bool,
    as_json: bool,
) -> None:
    """Show what awaits a curator, and approve or retire it."""
    if (bool(id) + bool(accept or dismiss or dismiss_all)) > 1:
        raise click.UsageError("give an ID to see it, or --accept and --dismiss to settle what was shared")
    found = awaiting_review(workspace)
    if id:
        _show(awaiting_named(found, id), as_json)
    elif accept or dismiss or dismiss_all:
        _settle(workspace, found, accept, dismiss, dismiss_all, as_json)
    elif as_json:
        print_json(seen({"awaiting": list(map(_document, found))}))
    elif not found:
        click.echo("Nothing awaits you; `recollect team sync` pulls what is new.")
    elif is_terminal(sys.stdin) and is_terminal(sys.stdout):
        _by_keys(workspace, found)
    else:
        for each in found:
            click.echo(f"{styled(each.id, 'green')}  {_facts(each)}  {untrusted(each.text.entry.name)}")
        click.echo("\n`recollect review --team ID` shows one in full; --accept ID and --dismiss ID settle it.")


def _settle(
    workspace: Workspace,
    found: list[Awaiting],
    accept: tuple[str, ...],
    dismiss: tuple[str, ...],
    dismiss_all: bool,
    as_json: bool,
) -> None:
    kept = [awaiting_named(found, id) for id in accept]
    gone = found if dismiss_all else [awaiting_named(found, id) for id in dismiss]
    gone = [each for each in gone if each not in kept]
    for each in kept:
        _approve(workspace, each)
    for each in gone:
        say.refuse(workspace, each.scope, each.id)
    left = len(found) - len(kept) - len(gone)
    if as_json:
        print_json({"approved": [each.id for each in kept], "retired": [each.id for each in gone], "awaiting": left})
    else:
        click.echo(_summary(len(kept), len(gone), left))


def _by_keys(workspace: Workspace, found: list[Awaiting]) -> None:
    """Show texts one by one, and do with each what a key says."""
    counts = {_APPROVE: 0, _DISMISS: 0}
    for number, each in enumerate(found, 1):
        click.echo(f"{styled(f'{number} of {len(found)}', 'cyan')}  {_facts(each)}")
        click.echo(f"{styled(untrusted(each.text.entry.name), 'green')}\n{visible(each.text.entry.description)}")
        key = _key(workspace, each)
        if key == _QUIT:
            break
        if key in counts:
            counts[key] += 1
        click.echo()
    click.echo(_summary(counts[_APPROVE], counts[_DISMISS], len(found) - sum(counts.values())))


def _key(workspace: Workspace, each: Awaiting) -> str:
    """Ask for keys until one settles the text or leaves it."""
    while True:
        key = pressed(_KEYS, "adsmq")
        if key in (_SKIP, _QUIT):
            return key
        if key == _MORE:
            _show(each, as_json=False)
            continue
        try:
            if key == _APPROVE:
                _approve(workspace, each)
            else:
                say.refuse(workspace, each.scope, each.id)
        except RecollectError as error:
            click.echo(visible(redact(str(error))), err=True)
            continue
        return key


def _approve(workspace: Workspace, each: Awaiting) -> None:
    say.approve(workspace, each.scope, each.id, each.text.line)


def _summary(approved: int, retired: int, left: int) -> str:
    told = f"{approved:,} approved, {retired:,} retired; {counted(left, 'text awaits', 'texts await')} you."
    return f"{told} The members get it with the next exchange." if approved or retired else told


def _facts(each: Awaiting) -> str:
    label = LABEL.get(each.text.entry.category, each.text.entry.category)
    edits = "  edits another" if each.text.edits else ""
    return f"{each.scope}  {label}  said by {untrusted(each.text.author)}  {each.at[:10]}{edits}"


def _show(each: Awaiting, as_json: bool) -> None:
    if as_json:
        print_json(seen(_document(each)))
        return
    given = each.text.entry
    click.echo(f"{styled(untrusted(given.name), 'green')}\n{_facts(each)}\n\n{visible(given.description)}")
    parts = (
        ("Why", given.reasoning),
        ("Keywords", ", ".join(given.keywords)),
        ("When", "; ".join(given.triggers)),
        ("Files", ", ".join(given.references)),
        ("Before", each.former.description if each.former else ""),
    )
    for name, value in parts:
        if value:
            click.echo(f"{styled(name, 'cyan')}: {untrusted(value)}")


def _document(each: Awaiting) -> dict[str, Any]:
    return {
        "id": each.id,
        "scope": each.scope,
        "said_by": each.text.author,
        "at": each.at,
        "line": each.text.line,
        **_fields(each.text.entry),
        "edits": each.text.edits,
        "before": each.former.description if each.former else "",
    }


def _fields(given: EntryInput) -> dict[str, Any]:
    names = ("category", "name", "description", "reasoning", "confidence")
    lists = ("keywords", "triggers", "references")
    return {name: getattr(given, name) for name in names} | {name: list(getattr(given, name)) for name in lists}
