from __future__ import annotations

import os
import sys

import click

from recollect.cli.shared import json_option, memory_place, print_json, root_options, styled
from recollect.config.memory_root import target_file
from recollect.domain.memory import seen
from recollect.domain.secrets.detect import redacted
from recollect.domain.text import one_line
from recollect.share.driver import CONFLICTS, MARKER_SIZE, Outcome, conflict_text, merge_files, repair_file


@click.command("merge-driver")
@click.argument("files", nargs=-1, metavar="[BASE OURS THEIRS]")
@click.option("--marker-size", type=click.IntRange(1, 1000), default=MARKER_SIZE, help="Git's %L.", show_default=True)
@click.option("--path", "shown", metavar="PATH", default="", help="The file's name in the repository, git's %P.")
@click.option("--repair", metavar="FILE", help="Merge the versions between the conflict markers of a memory file.")
@root_options
@json_option
def command(
    files: tuple[str, ...],
    marker_size: int,
    shown: str,
    repair: str | None,
    root: str | None,
    project_root: str | None,
    global_store: str,
    as_json: bool,
) -> None:
    """Merge versions of a memory file, field by field; git calls it after `recollect init --git`.

    Each field has the value of the side that changed it; lists and histories are joined. If both sides changed a field
    in different ways, our value is kept, the field is named, and the exit code is 10. The result is a valid file in any
    case. Versions that are no valid memories are merged as text, as git does by itself.

    --repair does the same to a file in which git has left conflict markers, on a machine without this driver. Its exit
    code is 1 if a field is in conflict.
    """
    if repair is not None:
        if files:
            raise click.UsageError("give either --repair or three files")
        path = os.path.abspath(repair)
        workspace, place = memory_place(root, project_root, global_store, path)
        target, category = target_file(place, path, workspace.project_root)
        _report(repair_file(place, target, category), place.shown(target), as_json, 1)
    elif len(files) == 3:
        base, ours, theirs = files
        _report(merge_files(base, ours, theirs, marker_size=marker_size), shown or ours, as_json, CONFLICTS)
    else:
        raise click.UsageError("give the files BASE, OURS and THEIRS, or --repair FILE")


def _report(outcome: Outcome, shown: str, as_json: bool, code: int) -> None:
    if as_json:
        conflicts = [{"field": each.field, "ours": each.ours, "theirs": each.theirs} for each in outcome.conflicts]
        found = {"path": shown, "clean": outcome.is_clean, "as_text": outcome.as_text, "conflicts": conflicts}
        print_json(redacted(seen(found)))
        sys.exit(0 if outcome.is_clean else code)
    name = one_line(shown)
    for conflict in outcome.conflicts:
        click.echo(f"{styled('recollect:', 'yellow', sys.stderr)} {name}: {conflict_text(conflict)}", err=True)
    if outcome.as_text:
        click.echo(f"recollect: {name}: merged as text, because {one_line(outcome.as_text)}", err=True)
    if outcome.conflicts:
        click.echo(f"recollect: {name} is valid; edit these fields if ours are wrong, then `git add` it", err=True)
    sys.exit(0 if outcome.is_clean else code)
