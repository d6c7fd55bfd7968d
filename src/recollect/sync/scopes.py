"""Lessons of shared scopes in the store: a scope is a bank that other people write, made from the lines of its log."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from recollect.config import locations
from recollect.domain.shared.fold import RULES, Folded, SharedLesson, fold, hash_of
from recollect.domain.shared.line_ids import line_id, time_of
from recollect.domain.shared.lines import PERSONAL, PROJECT, TeamLine, kind_of_scope
from recollect.domain.stored import SCOPE_SOURCE, StoredEntry, said_by_line
from recollect.domain.text import counted, cut, few, one_line
from recollect.errors import StorageError
from recollect.files.journal.log import fingerprint
from recollect.files.team.lines import lines_about, pulled_lines
from recollect.files.team.state import TeamState, read_state
from recollect.keywords.base import Labeller
from recollect.store.base import Store
from recollect.store.values import BANK, Source
from recollect.sync.entry_input import EntryInput, parse_entry_input

_LONGEST_FORMER = 200
_NAMED = 3


def fold_lessons(lines: Iterable[TeamLine], *, curated: bool) -> Folded[EntryInput]:
    """Return what lines say, with the checks that all lessons pass."""
    return fold(lines, parse_entry_input, curated=curated)


def sync_scopes(store: Store, global_store: str, labels: Labeller | None = None) -> list[str]:
    """Sync the store with the lines pulled for all joined scopes; return warnings.

    Raises:
        StoreError: the store cannot be written.
    """
    if not store.follows_files:
        return []
    try:
        state = read_state(locations.team_state(global_store))
    except StorageError as error:
        return [str(error)]
    pulled = locations.pulled_scopes(global_store)
    wanted = {SCOPE_SOURCE + scope: scope for scope in pulled if state and scope in state.scopes}
    known = {path: source for path, source in store.sources(BANK).items() if source.is_scope}
    warnings: list[str] = []
    for path, scope in wanted.items():
        if state:
            try:
                warnings += _sync_scope(store, global_store, scope, state, known.get(path), labels)
            except StorageError as error:
                warnings.append(str(error))
    gone = [path for path in known if path not in wanted]
    if gone:
        drop_scopes(store, gone)
    return warnings


def shown_scopes(state: TeamState) -> list[str]:
    """Return the scopes whose lessons are found here: not the user's own, and of projects only the linked ones."""
    return [scope for scope in state.scopes if kind_of_scope(scope) != PERSONAL and not _is_unlinked(state, scope)]


def _is_unlinked(state: TeamState, scope: str) -> bool:
    return kind_of_scope(scope) == PROJECT and scope not in state.links


def drop_scopes(store: Store, paths: Sequence[str]) -> int:
    """Remove the lessons of scopes, but for those that another source holds; return their number.

    Raises:
        StoreError: the store cannot be written.
    """
    for path in paths:
        store.put(Source(path, BANK), [])  # entries that other sources hold are theirs again
    store.forget_sources(paths)
    return store.remove_unheld(lambda entry: bool(entry.said_by))


def _sync_scope(  # noqa: PLR0917 (one step of the loop above)
    store: Store, global_store: str, scope: str, state: TeamState, known: Source | None, labels: Labeller | None
) -> list[str]:
    path = locations.team_lines(global_store, scope)
    curated, project = state.scopes[scope].curated, state.links.get(scope, "")
    try:
        status = os.stat(path)
    except OSError:
        return []  # nothing was pulled yet
    is_unlinked = _is_unlinked(state, scope)
    rule = f"{'unlinked' if is_unlinked else 'curated' if curated else 'open'} {RULES}:"
    is_same = known is not None and known.hash.startswith(rule) and known.project == project
    if known and is_same and (known.size, known.modified) == (status.st_size, status.st_mtime_ns):
        return []
    is_longer = bool(known and is_same and known.hash == rule + fingerprint(path, known.offset))
    start = known.offset if known and is_longer else 0
    new, end, warnings = pulled_lines(path, start) if not is_unlinked else ([], 0, [])
    source = Source(
        SCOPE_SOURCE + scope,
        BANK,
        project=project,
        size=status.st_size,
        modified=status.st_mtime_ns,
        hash=rule + fingerprint(path, end),
        offset=end,
    )
    if not is_longer:
        found = fold_lessons(new, curated=curated)
        store.put(source, entries_of(found, scope, labels))
        return warnings + _told(scope, found, found.problems)
    touched = lines_about(path, {hash_of(line) for line in new})
    found = fold_lessons([*touched, *new], curated=curated)
    active = {lesson.id for lesson in found.lessons if not lesson.is_retired}
    gone = {hash_of(line) for line in touched} - active
    store.put(source, entries_of(found, scope, labels), anew=False, without=gone)
    return warnings + _told(scope, found, {line.id for line in new})


def _told(scope: str, found: Folded[EntryInput], ids: Iterable[str]) -> list[str]:
    """Return a warning about the lines that could not be used, of those with these ids."""
    reasons = [found.problems[id] for id in ids if id in found.problems]
    if not reasons:
        return []
    those = counted(len(reasons), "line was", "lines were")
    said = "; ".join(few(list(dict.fromkeys(one_line(reason) for reason in reasons)), _NAMED))
    return [f"{those} left out of {scope}: {said}"]


def entries_of(found: Folded[EntryInput], scope: str, labels: Labeller | None) -> list[StoredEntry]:
    """Return the lessons of a scope as entries, without the retired ones."""
    return [_entry(lesson, scope, labels) for lesson in found.lessons if not lesson.is_retired]


def _entry(lesson: SharedLesson[EntryInput], scope: str, labels: Labeller | None) -> StoredEntry:
    given = lesson.text.entry
    keywords = given.keywords
    if not keywords and labels:
        keywords = tuple(labels(given.name, given.description, given.reasoning, given.category))
    details = [
        *([said_by_line(lesson.text.said_by, scope)] if kind_of_scope(scope) != PERSONAL else []),
        f"- Observation count: {lesson.observations}",
        f"- Confidence: {given.confidence or 'medium'}",
    ]
    if lesson.history:
        details.append(f"- Before: {cut(one_line(lesson.history[-1].entry.description), _LONGEST_FORMER)}")
    return StoredEntry(
        id=lesson.id,
        category=given.category,
        name=given.name,
        description=given.description,
        reasoning=given.reasoning,
        keywords=keywords,
        triggers=given.triggers,
        references=given.references,
        details="\n".join(details),
        observation_count=lesson.observations,
        confidence=given.confidence,
        created_at=time_of(line_id(lesson.created, 0, "")),
        updated_at=time_of(line_id(lesson.updated, 0, "")),
    )
