"""Candidates from the journal: lessons captured in a project's sessions and not in a bank yet."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from recollect.config.workspace import Workspace
from recollect.domain.entry import Entry
from recollect.domain.hashing import content_hash
from recollect.domain.ranking.triggers import MOST_TRIGGERS
from recollect.domain.stored import SESSION_CAPTURE
from recollect.domain.text import one_line
from recollect.errors import InvalidEntry, StorageError
from recollect.files.bank.bank import read_bank
from recollect.files.journal.kinds import CAPTURE, MOVED, kind_of
from recollect.files.journal.log import read_lines
from recollect.promote.candidates import Candidate, from_given
from recollect.sync.entry_input import MOST_REFERENCES, EntryInput, parse_entry_input
from recollect.sync.journal import superseded, without_moved


def captured_lessons(workspace: Workspace, banked: Iterable[Entry], warnings: list[str]) -> list[Candidate]:
    """Return lessons captured in sessions of this project, and neither in its bank nor in the global one.

    `banked` are the entries of its bank. Lessons judged before or retired are included; the caller filters them.
    """
    path = workspace.journal
    if not os.path.exists(path):
        return []  # if the store cannot be accessed, the promotion itself reports it
    try:
        lines = read_lines(path, 0).lines
    except StorageError as error:
        warnings.append(f"{error}; what sessions have stored was not looked at")
        return []
    texts = _by_text(lines)
    found = {id: of_it for id, of_it in texts.items() if any(_is_own(line, workspace) for line in of_it)}
    if not found:
        return []
    known = {entry.content_hash for entry in banked}
    for entry in read_bank(workspace.global_store, "global")[0]:
        known |= {entry.content_hash, entry.stored_hash}
    return [lesson for id, of_it in found.items() if id not in known for lesson in _lesson(of_it, workspace)]


def _by_text(lines: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the observations not yet moved into a bank, by the hash of their description."""
    moved = Counter[str]()
    observed: list[tuple[str, dict[str, Any]]] = []
    for line in lines:
        kind, description = kind_of(line), line.get("description")
        if kind is MOVED:
            with suppress(InvalidEntry):  # the sync of the store reports it
                gone = kind.parse(line)
                moved[gone.id] += gone.observations
        elif kind is CAPTURE and isinstance(description, str):
            observed.append((content_hash(description), line))
    found: dict[str, list[dict[str, Any]]] = {}
    for id, line in without_moved(observed, lambda item: item[0], moved):
        found.setdefault(id, []).append(line)
    return found


def _is_own(line: Mapping[str, Any], workspace: Workspace) -> bool:
    """Return True if a line is from a session of the project: another project may have the same name.

    The name decides if the line has no identity, or one of a folder no longer there: the project may have moved.
    """
    if line.get("source") != SESSION_CAPTURE:
        return False
    identity = line.get("project")
    is_told = isinstance(identity, str) and identity != "" and os.path.isdir(identity)
    return identity == workspace.identity if is_told else line.get("source_project") == one_line(workspace.name)


def _lesson(lines: Iterable[dict[str, Any]], workspace: Workspace) -> list[Candidate]:
    """Return a candidate from lines with the same text, or none if no line of this project is valid.

    The first valid line of this project describes it.
    """
    given: list[tuple[EntryInput, bool]] = []
    old: dict[str, None] = {}
    for line in lines:
        try:
            given.append((parse_entry_input(CAPTURE.parse(line)), _is_own(line, workspace)))
        except InvalidEntry:
            continue  # the store does not have it either
        old[superseded(line)] = None
    own = [entry for entry, is_own in given if is_own]
    if not own:
        return []
    first = replace(
        own[0],
        keywords=next(filter(None, (entry.keywords for entry, _ in given)), ()),
        triggers=tuple(dict.fromkeys(text for entry, _ in reversed(given) for text in entry.triggers))[:MOST_TRIGGERS],
        references=tuple(dict.fromkeys(file for entry in own for file in entry.references))[:MOST_REFERENCES],
    )
    lesson = from_given(first)
    more = (*lesson.more, *(f"- Supersedes: {each}" for each in old if each))
    return [replace(lesson, more=more, captured=True, observations=len(given), shared=len(own) < len(given))]
