from __future__ import annotations

import sys

import click

from recollect.cli.screen import whole
from recollect.cli.shared import fields_of, json_option, memory_place, print_json, root_options, styled, warn
from recollect.domain.memory import seen
from recollect.domain.text import counted
from recollect.share.check import Checked, Finding, changed_since, check

_GITHUB = "github"


@click.command("check")
@click.option("--base", metavar="REV", help="Only look at files that have changed since this branch left REV.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", _GITHUB]),
    default="text",
    show_default=True,
    help="github: annotations for a pull request.",
)
@root_options
@json_option
def command(
    base: str | None, style: str, root: str | None, project_root: str | None, global_store: str, as_json: bool
) -> None:
    """Check what a repository shares: for CI, for pull requests, before a commit.

    Every memory file must be valid and have no credential in it, its related files and superseded memories must exist,
    and a tracked index.md must list them as they are. Lessons of the project's bank are searched for credentials and
    conflict markers. One line a finding; the exit code is 1 if there is any. Nothing is written, and no store, model,
    plugin or network is needed. Memories whose files have changed since they were stored are
    counted, which is no fault.
    """
    if as_json and style == _GITHUB:
        raise click.UsageError("give either --json or --format github")
    workspace, place = memory_place(root, project_root, global_store)
    changed = None
    if base is not None:
        changed = changed_since(place.project, base)
        if changed is None:
            hint = "fetch it first (with actions/checkout: `fetch-depth: 0`)"
            raise click.BadParameter(f"this clone has no common commit with {base}; {hint}", param_hint="--base")
    checked = check(workspace, place, changed)
    if as_json:
        findings = [fields_of(each, "kind", "path", "line", "message") for each in checked.findings]
        print_json(seen({"findings": findings, "files": checked.files, "stale": checked.stale}))
    else:
        _print(checked, style)
    if checked.stale:
        have = counted(checked.stale, "memory has", "memories have")
        warn([f"{have} files that changed since; `recollect stale` lists them"])
    sys.exit(int(bool(checked.findings)))


def _print(checked: Checked, style: str) -> None:
    for each in checked.findings:
        click.echo(whole(_annotation(each)) if style == _GITHUB else _line(each))
    count = len(checked.findings)
    found = counted(count, "finding", "findings") if count else styled("nothing found", "green", sys.stderr)
    click.echo(f"{counted(checked.files, 'file', 'files')} checked, {found}.", err=True)


def _line(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}: " if finding.path else ""
    return f"{place}{styled(finding.kind, 'red')}: {finding.message}"


def _annotation(finding: Finding) -> str:
    """Return a finding as a workflow command of GitHub."""
    where = {"file": finding.path, "line": str(finding.line)} if finding.path else {}
    named = {**where, "title": f"recollect: {finding.kind}"}
    properties = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in named.items())
    return f"::error {properties}::{_escaped(finding.message)}"


def _escaped(text: str, more: str = "") -> str:
    for char in f"%\r\n{more}":  # the percent sign first, because the others become one
        text = text.replace(char, f"%{ord(char):02X}")
    return text
