from __future__ import annotations

import sys
from typing import Any

import click

from recollect.cli.shared import (
    fields_of,
    is_terminal,
    json_option,
    print_json,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.categories import LABEL
from recollect.domain.text import counted, cut
from recollect.engine.engine import Engine
from recollect.truth.check import SETTING
from recollect.truth.stale import StaleEntry, StaleFile, stale_here

_MOST_COMMITS = 5
_LONGEST_NAME = 100


@click.command("stale")
@click.option("--all-projects", is_flag=True, help="Look at the memories and files of all known projects.")
@workspace_options
@json_option
def command(all_projects: bool, workspace: Workspace, as_json: bool) -> None:
    """List memories and lessons whose files have changed since they were stored or confirmed.

    Each comes with the commits that changed the file. Look whether it still holds: `recollect confirm NAME` if it does,
    `recollect edit NAME` or `recollect retire NAME` if it does not. Nothing is changed by looking.
    """
    with Engine(workspace) as engine:
        found, warnings = stale_here(engine, all_projects=all_projects)
    if not workspace.settings.flag(SETTING):
        warnings.append(f"{SETTING} is false ({workspace.settings.source(SETTING)}), so files are not compared")
    warn(warnings)
    if as_json:
        print_json({"stale": [_document(each) for each in found], "warnings": warnings})
        return
    for each in found:
        click.echo("\n".join(_lines(each, all_projects)))
    if not found:
        click.echo("Nothing is stale: no file changed since its memories were stored.", err=not is_terminal(sys.stdout))
        return
    said = counted(len(found), "entry has", "entries have")
    click.echo(f"{said} changed files. `recollect confirm ID` says that one still holds.")


def _lines(each: StaleEntry, with_project: bool) -> list[str]:
    entry = each.entry
    label = LABEL.get(entry.category, entry.category)
    where = f"  {untrusted(each.project)}" if with_project else ""
    lines = [f"{entry.id}  {styled(f'{label}: {cut(untrusted(entry.name), _LONGEST_NAME)}', 'green')}{where}"]
    for file in each.files:
        lines.append(f"  {styled(untrusted(file.changed.text), 'yellow')}{_why(file)}")
        lines += [
            f"    {commit.hash} {commit.at} {untrusted(commit.subject)} ({untrusted(commit.author)})"
            for commit in file.commits[:_MOST_COMMITS]
        ]
        more = len(file.commits) - _MOST_COMMITS
        lines += [f"    and {counted(more, 'earlier commit', 'earlier commits')}"] if more > 0 else []
    return lines


def _why(file: StaleFile) -> str:
    """Return what git can tell besides the commits."""
    if not file.changed.anchor.commit or not file.is_known:
        return ""
    if not file.is_exact:
        return ": the commit it was true for is not in this history" + (", lately there were" * bool(file.commits))
    return "" if file.commits else ": in no commit of this repository"


def _document(each: StaleEntry) -> dict[str, Any]:
    return {
        **fields_of(each.entry, "id", "category"),
        "title": each.entry.name,
        "project": each.project,
        "files": [_file(file) for file in each.files],
    }


def _file(file: StaleFile) -> dict[str, Any]:
    changed = file.changed
    return {
        "file": changed.name,
        "was": changed.anchor.file,
        "state": "gone" if changed.is_gone else "changed",
        "since": changed.anchor.at,
        "commit": changed.anchor.commit,
        "commits": len(file.commits) if file.is_exact else None,
        "by": [fields_of(commit, "hash", "at", "author", "subject") for commit in file.commits],
    }
