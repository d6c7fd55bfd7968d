from __future__ import annotations

import os
import sys

import click

from recollect.cli.failure import failure_document
from recollect.cli.help import Group
from recollect.cli.shared import fields_of, json_option, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.text import counted, one_line
from recollect.errors import StorageError
from recollect.files.archive import BANK, GLOBAL, JOURNAL, MEMORY, SETTINGS, USAGE
from recollect.transfer.backup import Verified, create, verify
from recollect.transfer.backup_restore import ACTIONS, KEPT, REFUSED, REPLACED, SAME, WRITTEN, Restored, restore

_CALLED = {
    MEMORY: ("memory", "memories"),
    SETTINGS: ("settings file", "settings files"),
    BANK: ("file of the project's bank", "files of the project's bank"),
    GLOBAL: ("file of the global bank", "files of the global bank"),
    JOURNAL: ("journal", "journals"),
    USAGE: ("record of usage", "records of usage"),
}
_COLOURS = {WRITTEN: "green", REPLACED: "green", KEPT: "yellow", REFUSED: "red"}


@click.group("backup", cls=Group)
def command() -> None:
    """Keep everything in one file, and bring it back.

    A backup holds this project's memories, settings and knowledge bank, the global bank, the journal, and how often
    entries were recalled. It holds what these files hold, so it is readable only by you.
    """


@command.command("create")
@click.argument("file", type=click.Path())
@click.option("--force", is_flag=True, help="Replace FILE if there is one.")
@workspace_options
@json_option
def create_(file: str, force: bool, workspace: Workspace, as_json: bool) -> None:
    """Write a backup to FILE, a .tar.gz.

    The exit code is 1 if something could not be read and is not in it.
    """
    path = os.path.abspath(file)
    result = create(workspace, path, replace=force)
    warn([*result.warnings, *(f"not in the backup: {reason}" for reason in result.left_out)])
    if as_json:
        print_json(
            {
                "file": path,
                **fields_of(result, "size", "counts"),
                "complete": not result.left_out,
                **fields_of(result, "left_out", "warnings"),
            }
        )
    else:
        click.echo(f"Backed up {_contents(result.counts)} to {one_line(file)} ({result.size:,} bytes).")
    sys.exit(1 if result.left_out else 0)


@command.command("verify")
@click.argument("file", type=click.Path())
@json_option
def verify_(file: str, as_json: bool) -> None:
    """Read FILE from end to end and say whether it can be restored.

    Every file in it must have the size and the hash that its manifest tells, and nothing else may be in it. The exit
    code is 1 if it is not sound.
    """
    try:
        result = verify(os.path.abspath(file))
    except StorageError as error:
        if not as_json:
            raise
        print_json({"file": os.path.abspath(file), "sound": False, "problem": str(error), **failure_document(error)})
        sys.exit(1)
    warn(result.warnings)
    if as_json:
        print_json(_verified(os.path.abspath(file), result))
        return
    archive = result.archive
    click.echo(f"{styled('Sound:', 'green')} {_contents(result.counts)}.")
    click.echo(
        f"Made {one_line(archive.created_at)} by recollect {one_line(archive.recollect_version)}"
        f" of {one_line(archive.project)} ({one_line(archive.identity)})."
    )


@command.command("restore")
@click.argument("file", type=click.Path())
@click.option("--overwrite", is_flag=True, help="Replace also what is newer here than in the backup.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, but write nothing.")
@workspace_options
@json_option
def restore_(file: str, overwrite: bool, dry_run: bool, workspace: Workspace, as_json: bool) -> None:
    """Bring back what is in FILE, after it has been verified.

    What is missing here is written, what is older here is replaced, and what is newer here is kept unless --overwrite
    is given. The exit code is 1 if anything was left out. Nothing is ever removed.
    """
    result = restore(os.path.abspath(file), workspace, overwrite=overwrite, dry_run=dry_run)
    warn(result.warnings)
    if as_json:
        print_json(_restored(result, dry_run))
    else:
        _show(result, dry_run)
    if not result.complete:
        warn(_how_to_go_on(result, dry_run))
        sys.exit(1)


def _show(result: Restored, dry_run: bool) -> None:
    would = "would be " * dry_run
    width = len(would) + max(map(len, ACTIONS))
    for outcome in result.outcomes:
        if outcome.action != SAME:
            reason = f": {outcome.reason}" if outcome.reason else ""
            action = styled(f"{would}{outcome.action}".ljust(width), _COLOURS[outcome.action])
            click.echo(f"{action}  {one_line((outcome.path or outcome.member.name) + reason)}")
    files = counted(len(result.of(WRITTEN, REPLACED)), "file", "files")
    same = f"; {len(result.of(SAME)):,} are here already" if result.of(SAME) else ""
    usage = f"; usage of {counted(result.usages, 'entry', 'entries')} merged" if result.usages else ""
    if dry_run:
        click.echo(f"{files} would be restored{same}. Nothing was changed.")
    else:
        click.echo(f"{files} restored{same}{usage}.")


def _how_to_go_on(result: Restored, dry_run: bool) -> list[str]:
    kept, refused = len(result.of(KEPT)), len(result.of(REFUSED))
    sentences: list[str] = []
    if kept:
        was, were = ("would be", "would be") if dry_run else ("was", "were")
        those = counted(kept, f"file {was} kept as it is here", f"files {were} kept as they are here")
        sentences.append(f"{those}; --overwrite takes the backup's instead")
    if refused:
        sentences.append(f"{counted(refused, 'file', 'files')} could not be restored; see why, and run it again")
    return [*sentences, *([result.usage_problem] if result.usage_problem else [])]


def _contents(counts: dict[str, int]) -> str:
    return ", ".join(counted(count, *_CALLED[kind]) for kind, count in counts.items()) or "nothing"


def _verified(path: str, result: Verified) -> dict[str, object]:
    archive = result.archive
    return {
        "file": path,
        "sound": True,
        **fields_of(archive, "created_at", "recollect_version", "project", "identity"),
        "counts": result.counts,
        "files": [{"name": member.name, "size": len(member.data)} for member in archive.members],
        "warnings": result.warnings,
    }


def _restored(result: Restored, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "complete": result.complete,
        "counts": {action: len(result.of(action)) for action in ACTIONS},
        "files": [
            {"name": outcome.member.name, **fields_of(outcome, "path", "action", "reason")}
            for outcome in result.outcomes
        ],
        "usage": 0 if dry_run else result.usages,
        **fields_of(result, "usage_problem", "warnings"),
    }
