"""Make entries of a bank from a text of lessons that is none yet. The text itself stays as it is."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.category_names import known_category
from recollect.errors import InvalidEntry
from recollect.files.bank.bank import BankFile, read_bank, read_bank_file
from recollect.files.bank.loose import loose_lessons
from recollect.files.bank.write import global_entry, local_entry, new_global_file, new_local_file
from recollect.files.locks import locked, locked_folder
from recollect.files.textfile import read_text, refuse_link_out, sweep, write_texts
from recollect.sync.entry_input import EntryInput, parse_entry_input
from recollect.sync.rebuild import sync_and_embed

MAX_BYTES = 4 * 1024 * 1024


@dataclass
class Import:
    """The entries to be made of a file, for a file of a bank.

    `known` are in the bank already. `left_out` has passages that are no lessons, `problems` the lessons that cannot be
    stored.
    """

    path: str
    category: str
    into: str
    origin: str
    entries: list[EntryInput] = field(default_factory=list[EntryInput])
    known: list[EntryInput] = field(default_factory=list[EntryInput])
    left_out: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])


def plan_import(workspace: Workspace, path: str, category: str = "", *, everywhere: bool = False) -> Import:
    """Return the entries that a file would make, without writing anything.

    Raises:
        InvalidEntry: the file is missing, holds entries already, or does not tell the category.
        StorageError: the file cannot be read.
    """
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(path):
        raise InvalidEntry(f"there is no file {path}")
    if os.path.isdir(path):
        raise InvalidEntry(f"{path} is a folder; give one file of it")
    category = known_category(category or os.path.basename(path).removesuffix(".md"))
    if category not in KNOWLEDGE:
        raise InvalidEntry(f"{path} does not tell the category; give --category with one of {', '.join(KNOWLEDGE)}")
    of_store = os.path.dirname(os.path.realpath(path)) == os.path.realpath(workspace.global_store)
    origin = "global" if everywhere or of_store else "local"
    folder = workspace.global_store if origin == "global" else workspace.bank
    text = read_text(path, MAX_BYTES)
    if BankFile(text, category).entries:
        raise InvalidEntry(f"{path} holds entries already (lines that begin with `### `); there is nothing to import")
    plan = Import(path, category, os.path.join(folder, f"{category}.md"), origin)
    known = {entry.content_hash for entry in read_bank(folder, origin)[0]}
    lessons, plan.left_out = loose_lessons(text)
    for number, lesson in enumerate(lessons, 1):
        try:
            given = parse_entry_input(
                {"name": lesson.name, "description": lesson.description, "category": category}, f"lesson {number}: "
            )
        except InvalidEntry as error:
            plan.problems.append(str(error))
            continue
        (plan.known if given.content_hash in known else plan.entries).append(given)
        known.add(given.content_hash)
    return plan


def write_import(workspace: Workspace, plan: Import) -> list[str]:
    """Append the entries to the bank's file and sync the store; return warnings.

    Raises:
        LockTimeout: others held the bank for too long; nothing was written.
        StorageError: the bank cannot be written; nothing was changed.
        UnsafeEdit: the bank's file has a code fence that is never closed.
    """
    is_global = plan.origin == "global"
    folder = os.path.dirname(plan.into)
    lock = os.path.join(workspace.global_store, locations.PROMOTION_LOCK)
    if not is_global:
        refuse_link_out(plan.into, workspace.project_root)  # before the lock, which makes the folder
    with locked(lock) if is_global else locked_folder(folder):
        if not is_global:
            refuse_link_out(plan.into, workspace.project_root)
        sweep([plan.into])
        file = read_bank_file(plan.into, plan.origin)
        before = file.text
        if file.is_blank:
            text = new_global_file(plan.category) if is_global else new_local_file(plan.category)
            file = BankFile(text, plan.category, plan.origin)
        there = {entry.content_hash for entry in file.entries}
        for given in plan.entries:
            if given.content_hash not in there:
                file.append(_lines(given, plan))
        write_texts({plan.into: file.text}, private=[plan.into] if is_global else (), read_as={plan.into: before})
    return sync_and_embed(workspace)


def _lines(given: EntryInput, plan: Import) -> list[str]:
    source = f"imported from {os.path.basename(plan.path)}"
    if plan.origin == "local":
        return local_entry(plan.category, given.name, given.description, provenance=source, confidence="medium")
    return global_entry(
        plan.category,
        given.name,
        given.description,
        source=source,
        observed_on=time.strftime("%Y-%m-%d", time.gmtime()),
        confidence="medium",
        content_hash=given.content_hash,
    )
