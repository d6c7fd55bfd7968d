"""Print the audit of a scope: a line for each thing that was done, in columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from recollect.cli.shared import is_terminal, styled, untrusted
from recollect.domain.clock import parse_time, relative
from recollect.team.join import AuditLine


def print_audit(lines: Sequence[AuditLine], names: Mapping[str, str]) -> None:
    """Print what was done, by whom and when: on a terminal how long ago, elsewhere the exact time."""
    times, people = [_when(each.at) for each in lines], [untrusted(each.who) for each in lines]
    wide, wider = (max(map(len, column), default=0) for column in (times, people))
    for each, at, who in zip(lines, times, people, strict=True):
        click.echo(f"{styled(at.ljust(wide), 'cyan')}  {who.ljust(wider)}  {_what(each, names)}")


def _when(at: str) -> str:
    moment = parse_time(at)
    return relative(moment, datetime.now(UTC)) if moment and is_terminal(sys.stdout) else untrusted(at)


def _what(each: AuditLine, names: Mapping[str, str]) -> str:
    """Return what was done in words, with roles where they were given or changed."""
    detail = {name: untrusted(str(value)) for name, value in each.detail.items()}
    role, was, subject = detail.get("role", ""), detail.get("was", ""), untrusted(each.subject)
    kind = each.action.rpartition(" ")[2]
    if kind == "member":
        told = f" from {was} to {role}" if was and was != role else f", {role}" if role else ""
        return f"{untrusted(each.action)} {subject}{told}"
    if kind == "invitation":
        return f"{untrusted(each.action)} as {subject}"
    if kind == "scope":
        return f"{untrusted(each.action)} {subject}, {'curated' if each.detail.get('curated') else 'open'}"
    if kind == "token":
        return f"{untrusted(each.action)} {detail.get('number', '')} of {subject}, {role}"
    named = names.get(each.subject, "")
    return f"{untrusted(each.action)} {subject}" + (f" {untrusted(named)}" if named else "") + f", as {role}"
