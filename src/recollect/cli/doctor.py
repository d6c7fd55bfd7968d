from __future__ import annotations

import os
import sys

import click

from recollect.cli.screen import ours
from recollect.cli.shared import is_terminal, json_option, print_json, styled, workspace_options
from recollect.config.workspace import Workspace
from recollect.doctor.run import CHECKS, ERROR, OK, WARNING, Finding, examine, repair
from recollect.doctor.secret_scan import DATABASE, EARLIER, FILE, HISTORY, Scan, scan_secrets
from recollect.domain.text import counted, one_line

_COLOURS = {OK: "green", WARNING: "yellow", ERROR: "red"}
_MARKS = {OK: "✓", WARNING: "!", ERROR: "✗"}
_PLAIN_MARKS = {OK: "ok", WARNING: "!", ERROR: "X"}  # for a terminal without these characters
_SECRET_FIXES = {
    FILE: "Files: rotate the secret, then take it out of the file, a memory's with `recollect edit SLUG`.",
    DATABASE: "Database: take it out of the file that the entry comes from, then run `recollect rebuild`.",
    EARLIER: "Earlier database: rotate the secret. Its entry is not taken over; once the others are, remove the copy.",
    HISTORY: "History: whoever has the repository has it. Rotate it; rewriting history (git filter-repo) comes second.",
}
_CLEAR = ours("\r\x1b[K")


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything, and say what was done.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(CHECKS)),
    metavar="NAME",
    help="One check; can be given several times.",
)
@click.option("--secrets", is_flag=True, help="Look for secrets in what is kept, and in its git history, instead.")
@workspace_options
@json_option
def command(fix: bool, only: tuple[str, ...], secrets: bool, workspace: Workspace, as_json: bool) -> None:
    """Prove that recollect works here, or say what does not and what to do.

    Looks at Python, packages, SQLite, settings, the store, the plugin, its hooks and the MCP server; then stores and
    finds a memory in a temporary store, serves a prompt and greets an MCP client. Nothing of yours is changed without
    --fix. Exits with 1 if something does not work. For what a project remembers, see `recollect status`. With --only
    it runs one check, called by its name in the report: --only database, --only mcp-server.

    With --secrets it looks for passwords, tokens and keys in banks, memory files, the journal, the database, the log,
    files that agents hand over, and the git history of banks and memory files (60 seconds or 256 MiB of it). It names
    where each is and never what it is, and exits with 1 if there is any.
    """
    if fix and secrets:
        raise click.UsageError(
            "--fix does not go with --secrets: a secret must be taken out by somebody who can rotate it"
        )
    workspace = workspace.reloaded()  # what is wrong with its settings is a finding, and no warning
    if secrets:
        _secrets(scan_secrets(workspace, _progress), as_json)
        return
    findings = examine(workspace, os.environ, _progress, only)
    repaired: list[Finding] = []
    if fix:
        repaired = repair(findings)
        if repaired:
            findings = examine(workspace, os.environ, _progress, only)
    _clear()
    healthy = not any(finding.level == ERROR for finding in findings)
    if as_json:
        print_json(
            {
                "healthy": healthy,
                "findings": [_document(finding) for finding in findings],
                "repaired": [_document(finding) for finding in repaired],
            }
        )
    else:
        _print(findings, repaired)
    if not healthy:
        sys.exit(1)


def _secrets(scan: Scan, as_json: bool) -> None:
    _clear()
    if as_json:
        print_json(
            {
                "secrets": [{"kind": leak.kind, "place": leak.place, "where": leak.where} for leak in scan.leaks],
                "looked_at": {"files": scan.files, "entries": scan.entries, "commits": scan.commits},
                "not_looked_at": scan.unread,
            }
        )
    else:
        for leak in scan.leaks:
            click.echo(f"{styled(_mark(ERROR), 'red')} {leak.place}  {leak.kind}")
        for where in dict.fromkeys(leak.where for leak in scan.leaks):
            click.echo(f"{styled('→', 'cyan')} {_SECRET_FIXES[where]}")
        for sentence in scan.unread:
            click.echo(f"{styled(_mark(WARNING), 'yellow')} not looked at: {one_line(sentence)}")
        entries = counted(scan.entries, "entry", "entries")
        commits = counted(scan.commits, "commit", "commits")
        looked = f"{counted(scan.files, 'file', 'files')}, {entries} of the database, {commits}"
        found = counted(len(scan.leaks), "secret was found", "secrets were found") if scan.leaks else "No secrets"
        click.echo(styled(f"{found} in {looked}.", "red" if scan.leaks else "green"))
    if scan.leaks:
        sys.exit(1)


def _print(findings: list[Finding], repaired: list[Finding]) -> None:
    width = max(len(finding.subject) for finding in findings)
    for finding in repaired:
        done = styled("Repaired" if finding.level == OK else "Not repaired", "cyan")
        click.echo(f"{done}: {finding.subject}: {one_line(finding.sentence)}")
    if repaired:
        click.echo()
    for finding in findings:
        mark = styled(_mark(finding.level), _COLOURS[finding.level])
        click.echo(f"{mark} {finding.subject:<{width}}  {one_line(finding.sentence)}")
        if finding.fix:
            click.echo(f"{'':<{len(_mark(finding.level)) + width + 3}}{styled('→', 'cyan')} {one_line(finding.fix)}")
    click.echo(f"\n{_summary(findings)}")


def _summary(findings: list[Finding]) -> str:
    errors = sum(finding.level == ERROR for finding in findings)
    warnings = sum(finding.level == WARNING for finding in findings)
    doubts = counted(warnings, "warning", "warnings")
    if errors:
        text = counted(errors, "thing does not work", "things do not work") + (f", {doubts}" if warnings else "")
        return styled(f"{text}.", "red")
    return styled(f"It works{f', with {doubts}' if warnings else ''}.", "yellow" if warnings else "green")


def _mark(level: str) -> str:
    try:
        _MARKS[level].encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return _PLAIN_MARKS[level]
    return _MARKS[level]


def _document(finding: Finding) -> dict[str, str]:
    return {
        "level": finding.level,
        "subject": finding.subject,
        "sentence": one_line(finding.sentence),
        "fix": one_line(finding.fix),
    }


def _progress(sentence: str) -> None:
    if is_terminal(sys.stderr):
        click.echo(f"{_CLEAR}Examining: {one_line(sentence)}...", err=True, nl=False)


def _clear() -> None:
    if is_terminal(sys.stderr):
        click.echo(_CLEAR, err=True, nl=False)
