from __future__ import annotations

import os
from typing import cast

import click

from recollect.cli.shared import CategoryChoice, memory_place, print_json, root_options, warn
from recollect.config.memory_root import target_file
from recollect.config.settings import Settings
from recollect.domain.categories import PROJECT
from recollect.domain.memory import clean_title, slugify
from recollect.errors import LockTimeout, StorageError, WriteRefused
from recollect.files.memory.memories import MemoryRoot
from recollect.files.session.handover import read_handover, remove_handover
from recollect.memories import write
from recollect.memories.finish import finish

_ACTIONS = ("create", "update", "delete", "archive", "unarchive", "restore")

# The actions allowed with each option.
_TAKES = {
    "--input": ("create", "update"),
    "--hash": ("update",),
    "--reason": ("delete", "archive"),
    "--auto": ("create",),
    "--check": ("create", "update"),
}


@click.command("write")
@click.option("--action", type=click.Choice(_ACTIONS), required=True, help="What to do; delete retires a memory.")
@click.option("--category", type=CategoryChoice(PROJECT), help="The category; required for create.")
@click.option("--target", metavar="PATH", help="The memory file; for create, the default is made from the title.")
@click.option("--input", "given", metavar="FILE", help="The record as JSON, in a temporary file; - for standard input.")
@click.option("--hash", "expected", metavar="MD5", default="", help="update: the file's hash when it was read.")
@click.option("--reason", metavar="TEXT", default="", help="delete, archive: why.")
@click.option("--auto", is_flag=True, help="create: nobody asked for it; categories.*.auto_capture decides.")
@click.option("--check", is_flag=True, help="create, update: only say whether it could be done; nothing is written.")
@root_options
def command(
    action: str,
    category: str | None,
    target: str | None,
    given: str | None,
    expected: str,
    reason: str,
    auto: bool,
    check: bool,
    root: str | None,
    project_root: str | None,
    global_store: str,
) -> None:
    """Create or change a memory file, through checks.

    Prints what was done as JSON. A change that is refused says why in one block on standard error: its kind, then
    the facts and how to fix it; nothing is written then. An input file is removed when it has served its purpose, which
    a check is not. An update also takes what `recollect show --json` has printed, with the path and the hash in it.
    """
    _check_options(
        action,
        category,
        target,
        {"--input": given is not None, "--hash": expected, "--reason": reason, "--auto": auto, "--check": check},
    )
    workspace, place = memory_place(root, project_root, global_store, target or "")
    settings = workspace.settings
    checkout = workspace.project_root if place.project == workspace.identity else ""  # a worktree has files of its own
    try:
        record = read_handover(given, place) if given is not None else {}
        shown = action == "update" and _is_shown(record)
        if shown:
            target, expected = target or str(record.get("path", "")), expected or str(record["hash"])
            record = cast("dict[str, object]", record["record"])
        if action == "update" and not target:
            raise click.UsageError("--action update needs --target, or what `recollect show --json` has printed")
        path, of_path = _target(place, workspace.project_root, target, category, record)
        if action == "create":
            result = write.create(place, settings, path, of_path, record, auto=auto, check=check, checkout=checkout)
        elif action == "update":
            result = write.update(
                place,
                settings,
                path,
                of_path,
                record,
                expected=expected,
                check=check,
                shown=shown,
                checkout=checkout,
            )
        else:
            result = _moved(action, place, settings, path, of_path, reason)
    except LockTimeout as error:
        raise WriteRefused("LOCK_ERROR", ("error", error), ("fix", "try again when the other is done")) from error
    except StorageError as error:
        raise WriteRefused("WRITE_ERROR", ("error", error), ("fix", "make the place writable and try again")) from error
    if given is not None and not check:
        remove_handover(given, place)
    warnings = finish(place, workspace, result.paths, message=result.message)
    print_json(result.document(workspace.memories, of_path))
    warn([*result.warnings, *warnings])


def _is_shown(document: dict[str, object]) -> bool:
    """Return True for a memory as `recollect show --json` prints it, with its record and its hash."""
    return isinstance(document.get("record"), dict) and isinstance(document.get("hash"), str)


def _check_options(action: str, category: str | None, target: str | None, given: dict[str, object]) -> None:
    """Refuse missing options, and options without effect: they would seem to have been obeyed."""
    if action in _TAKES["--input"] and not given["--input"]:
        raise click.UsageError(f"--action {action} needs --input")
    if action == "create" and category is None:
        raise click.UsageError("--action create needs --category")
    for option, value in given.items():
        if value and action not in _TAKES[option]:
            raise click.UsageError(f"--action {action} takes no {option}")
    if action not in _TAKES["--input"] and target is None:
        raise click.UsageError(f"--action {action} needs --target")


def _target(
    place: MemoryRoot, folder: str, target: str | None, category: str | None, record: dict[str, object]
) -> tuple[str, str]:
    if target is None:
        title = record.get("title")
        slug = slugify(clean_title(title)) if isinstance(title, str) else ""
        if not slug or category is None:
            raise WriteRefused(
                "PATH_ERROR",
                ("target", "none"),
                ("expected", "a title with letters a to z or digits to name the file by, or --target"),
                ("fix", f"give --target {place.folders[category or 'decision']}/SLUG.json"),
            )
        target = f"{place.folders[category]}/{slug}.json"
    path, found = target_file(place, target, folder)
    if category and category != found:
        raise WriteRefused(
            "PATH_ERROR",
            ("target", place.shown(path)),
            ("expected", f"a file in {place.shown(place.folder(category))}, the folder of {category} memories"),
            ("fix", f"use {place.shown(place.folder(category))}/{os.path.basename(path)}, or --category {found}"),
        )
    return path, found


def _moved(action: str, place: MemoryRoot, settings: Settings, path: str, category: str, reason: str) -> write.Written:
    if action == "delete":
        return write.retire(place, path, category, reason)
    if action == "archive":
        return write.archive(place, path, category, reason)
    return (write.unarchive if action == "unarchive" else write.restore)(place, settings, path, category)
