"""Promote universal lessons from a project to the global store."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import Entry
from recollect.domain.hashing import normalize
from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import Retirement
from recollect.domain.text import utc_text
from recollect.errors import LockTimeout, Overtaken, StorageError, UnsafeEdit
from recollect.files.bank.bank import BankFile, read_bank, read_bank_file
from recollect.files.bank.entry import with_count
from recollect.files.bank.write import global_entry, local_entry, new_global_file, new_local_file
from recollect.files.journal.kinds import MOVED, RETIREMENT, Moved
from recollect.files.journal.log import append_lines
from recollect.files.journal.tail import ALL, retired_ids
from recollect.files.locks import locked, locked_folder
from recollect.files.textfile import read_text, refuse_link_out, sweep, write_texts
from recollect.promote.candidates import Candidate, from_bank, pick
from recollect.promote.classify import PROJECT_SPECIFIC, UNIVERSAL, Verdict, classify, identifiers_in
from recollect.promote.evidence import gather
from recollect.promote.from_journal import captured_lessons

# In seconds: the waits between attempts while somebody edits a bank.
_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2)

ADDED = "added"
REINFORCED = "reinforced"
COUNTED = "counted before"
KEPT = "kept local"
SAVED = "saved to the project's bank"
SEEN_AGAIN = "seen again in the project's bank"
LEFT = "left in the journal"
NOT_WRITTEN = "not written"
JUDGED = "judged only"


@dataclass
class Outcome:
    """The result for one candidate, with its verdict."""

    candidate: Candidate
    verdict: Verdict
    action: str = JUDGED
    stored_as: str = ""
    observation_count: int = 0


@dataclass
class Promotion:
    """The result of a promotion."""

    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    warnings: list[str] = field(default_factory=list[str])

    @property
    def promoted(self) -> int:
        return sum(outcome.action in (ADDED, REINFORCED) for outcome in self.outcomes)

    @property
    def kept(self) -> int:
        return sum(outcome.action in (KEPT, SAVED, SEEN_AGAIN, LEFT) for outcome in self.outcomes)

    @property
    def summary(self) -> str:
        if any(outcome.action == JUDGED for outcome in self.outcomes):
            universal = sum(outcome.verdict.universal for outcome in self.outcomes)
            return f"Dry run: {universal} universal and {len(self.outcomes) - universal} project-specific entries."
        return (
            f"Memory promotion: {self.promoted} universal entries promoted to global store, "
            f"{self.kept} project-specific entries kept local."
        )


def candidates_of(workspace: Workspace, names: Sequence[str] = ()) -> tuple[list[Candidate], list[str]]:
    """Return candidates for promotion, and warnings: the named entries, or all entries not judged before.

    Entries are from the project's bank and from its sessions. Retired ones are candidates only if named.

    Raises:
        InvalidEntry: a name fits no entry, or several.
    """
    entries, warnings = read_bank(workspace.bank, "local")
    known = [*entries, *captured_lessons(workspace, entries, warnings)]
    if names:
        chosen = pick(known, names)
    else:
        left_out = set[str]().union(*retired_ids(workspace.journal, workspace.identity, ALL))
        with suppress(StorageError):  # an unreadable ledger cannot be written either; the promotion itself reports it
            left_out.update(_read_ledger(workspace.global_store, warnings).get(workspace.identity, ()))
        chosen = [entry for entry in known if entry.content_hash not in left_out]
    for entry in chosen:
        if not entry.description:
            warnings.append(f"{entry.title!r} has no description to tell it by; it was left where it is")
    described = [entry for entry in chosen if entry.description]
    return [entry if isinstance(entry, Candidate) else from_bank(entry) for entry in described], warnings


def nothing_new(folder: str) -> str:
    """Return the reason why the bank in a folder has no candidates."""
    if read_bank(folder, "local")[0]:
        return f"nothing is new in {folder} since the last promotion"
    return f"there are no entries in {folder}"


def judge(project_root: str, candidates: Sequence[Candidate], judgement: str = "") -> list[Verdict]:
    """Return a verdict on each candidate: the caller's, or one from evidence. A credential is never universal."""
    if judgement:
        caller = Verdict(judgement == UNIVERSAL, "the caller judged so")
        return [_credential(candidate) or caller for candidate in candidates]
    wanted = {name for candidate in candidates for name in identifiers_in(candidate.judged_text)}
    facts = gather(project_root, wanted)
    return [_credential(c) or classify(c.judged_text, facts, c.aside) for c in candidates]


def _credential(candidate: Candidate) -> Verdict | None:
    provenance = f"{candidate.project} {candidate.feature}"
    kind = find_secret("\n".join([candidate.name, candidate.description, provenance, *candidate.more]))
    return Verdict(False, f"it seems to hold {kind}, which must not travel") if kind else None


def promote(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    *,
    judgement: str = "",
    only_new: bool = False,
    dry_run: bool = False,
) -> Promotion:
    """Promote universal candidates to the global store: add new ones, count an observation of known ones.

    With `only_new`, an entry that already counts an observation from this project and feature is not counted again.
    Several processes may promote at once. If one file cannot be written, none is, and a warning says so.

    Raises:
        LockTimeout: another promotion did not finish in time.
        UnsafeEdit: a file of the store cannot be added to as it is.
    """
    result = Promotion()
    verdicts = judge(workspace.project_root, candidates, judgement)
    result.outcomes = [Outcome(c, verdict) for c, verdict in zip(candidates, verdicts, strict=True)]
    if dry_run or not candidates:
        return result
    try:
        with locked(os.path.join(workspace.global_store, locations.PROMOTION_LOCK)):
            _carry_out_in_turn(workspace, result, only_new)
    except StorageError as error:
        for outcome in result.outcomes:
            outcome.action = NOT_WRITTEN
        result.warnings.append(f"{error}; nothing was promoted and the store is as it was")
    else:
        _tell_journal(workspace, result)
    return result


def _tell_journal(workspace: Workspace, result: Promotion) -> None:
    """Restore retired entries now written again, and mark captures now counted in a bank as moved."""
    written = [o.candidate for o in result.outcomes if o.action in (ADDED, REINFORCED, SAVED, SEEN_AGAIN)]
    now = utc_text(time.gmtime())
    try:
        everywhere, here = retired_ids(workspace.journal, workspace.identity, ALL)
        ids = [each.content_hash for each in written]
        back = [Retirement(id, at=now, ended=True) for id in ids if id in everywhere]
        back += [Retirement(id, workspace.identity, at=now, ended=True) for id in ids if id in here]
        append_lines(workspace.journal, RETIREMENT, back)
    except (LockTimeout, StorageError) as error:
        result.warnings.append(f"{error}; promoted lessons that were retired stay retired")
    observed = {each.content_hash: each.observations for each in written if each.captured}
    try:
        append_lines(workspace.journal, MOVED, [Moved(id, now, count) for id, count in observed.items()])
    except (LockTimeout, StorageError) as error:
        result.warnings.append(f"{error}; observations by sessions are counted twice, in the journal and in the bank")


def _carry_out_in_turn(workspace: Workspace, result: Promotion, only_new: bool) -> None:
    """Carry out a promotion; if somebody edits a bank at the same moment, start again from the new text."""
    for wait in _WAITS:
        try:
            return _carry_out(workspace, result, only_new)
        except Overtaken:
            time.sleep(wait)  # an editor may be in the middle of writing
    return _carry_out(workspace, result, only_new)


def _carry_out(workspace: Workspace, result: Promotion, only_new: bool) -> None:
    global_store = workspace.global_store
    banks = [os.path.join(global_store, f"{category}.md") for category in KNOWLEDGE]
    ledger_path = os.path.join(global_store, locations.LEDGER)
    sweep([*banks, ledger_path])
    _wait_for_editors(banks)
    shelf = _Shelf(global_store, "global")
    homeless: list[Outcome] = []
    ledger = _read_ledger(global_store, result.warnings)
    seen = ledger.setdefault(workspace.identity, {})
    for outcome in result.outcomes:
        candidate = outcome.candidate
        seen[candidate.content_hash] = UNIVERSAL if outcome.verdict.universal else PROJECT_SPECIFIC
        if outcome.verdict.universal:
            source = _source(candidate.project or workspace.name, candidate.feature)
            outcome.action, entry = _put(shelf, candidate, source, only_new)
            outcome.stored_as, outcome.observation_count = entry.title, entry.observation_count
        elif candidate.shared:
            outcome.action = LEFT  # others have captured it too
        else:
            outcome.action = KEPT
            homeless += [] if candidate.in_bank else [outcome]
    texts = {**shelf.changed(), ledger_path: json.dumps(ledger, indent=1, sort_keys=True) + "\n"}
    if not homeless:
        write_texts(texts, private=texts, read_as=shelf.read_as)
        return
    bank = workspace.bank
    for path in (bank, *(os.path.join(bank, f"{category}.md") for category in KNOWLEDGE)):
        refuse_link_out(path, workspace.project_root)
    with locked_folder(bank):  # always after the store's lock, never before it
        own = _Shelf(bank, "local")
        changed = _keep_local(workspace.name, own, homeless)
        write_texts({**changed, **texts}, private=texts, read_as={**own.read_as, **shelf.read_as})


def _wait_for_editors(paths: Sequence[str]) -> None:
    """Wait briefly for banks emptied a moment ago: an editor is about to write them."""
    end = time.monotonic() + _WAITS[-1]
    while any(map(_was_just_emptied, paths)) and time.monotonic() < end:
        time.sleep(_WAITS[0])


def _was_just_emptied(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return not status.st_size and abs(time.time() - status.st_mtime) < 1


def _keep_local(name: str, shelf: _Shelf, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Add project-specific candidates to the project's bank, or count those it has. Return its changed files."""
    for outcome in outcomes:
        candidate = outcome.candidate
        feature = f"Feature #{candidate.feature}" if candidate.feature else ""
        known = shelf.find(candidate)
        if known and candidate.captured:
            continue  # another promotion has put it there meanwhile
        if known:
            outcome.action = SEEN_AGAIN
            entry = shelf.change(known, _seen_again(known, candidate, feature or _today()))
        else:
            outcome.action = SAVED
            lines = local_entry(
                candidate.category,
                candidate.name,
                candidate.description,
                provenance=feature or name,
                confidence=candidate.confidence,
                more=candidate.more,
            )
            entry = _counted(shelf, shelf.add(candidate, lines), candidate.observations)
        outcome.stored_as, outcome.observation_count = entry.title, entry.observation_count
    return shelf.changed()


def _seen_again(known: Entry, candidate: Candidate, when: str) -> dict[str, str]:
    """Return the changed lines of an entry after further observations, the last of them at `when`."""
    count = with_count(known.metadata("observation count"), known.observation_count + candidate.observations)
    return {"Observation count": count, "Last observed": when}


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def _put(shelf: _Shelf, candidate: Candidate, source: str, only_new: bool) -> tuple[str, Entry]:
    known = shelf.find(candidate)
    if known is None:
        lines = global_entry(
            candidate.category,
            candidate.name,
            candidate.description,
            source=source,
            observed_on=_today(),
            confidence=candidate.confidence,
            content_hash=candidate.content_hash,
            more=candidate.more,
        )
        return ADDED, _counted(shelf, shelf.add(candidate, lines), candidate.observations)
    sources = known.metadata("source")
    cited = set(_split_sources(source)) <= set(_split_sources(sources))
    if only_new and cited:
        return COUNTED, known
    changes = _seen_again(known, candidate, _today())
    if not cited:
        changes["Source"] = f"{sources}, {source}" if sources else source
    return REINFORCED, shelf.change(known, changes)


def _counted(shelf: _Shelf, added: Entry, observations: int) -> Entry:
    """Return a new entry, with earlier observations of the candidate counted."""
    return added if observations == 1 else shelf.change(added, {"Observation count": str(observations)})


def _source(project_name: str, feature: str) -> str:
    name = " ".join(project_name.replace(",", " ").split())
    return f"{name}, Feature #{feature}" if feature else name


def _split_sources(text: str) -> list[tuple[str, str]]:
    """Return the projects and features in a Source line: "a, Feature #1, b, c Feature #2" names three."""
    sources: list[tuple[str, str]] = []
    for item in map(str.strip, text.split(",")):
        name, found, feature = item.rpartition("Feature #")
        if not found:
            sources.append((item, ""))
        elif name or not sources:
            sources.append((name.strip(), feature))
        elif sources[-1][1]:
            sources.append((sources[-1][0], feature))
        else:
            sources[-1] = (sources[-1][0], feature)
    return sources


class _Shelf:
    """The three files of a bank while they are being changed."""

    def __init__(self, directory: str, origin: str) -> None:
        self._directory = directory
        self._new_file = new_global_file if origin == "global" else new_local_file
        self._files = {c: read_bank_file(self._path(c), origin) for c in KNOWLEDGE}
        self.read_as = {self._path(c): file.text for c, file in self._files.items()}
        self._changed: set[str] = set()
        self._by_text: dict[str, Entry] = {}
        self._by_stored_hash: dict[str, Entry] = {}
        for file in self._files.values():
            for entry in file.entries:
                self._index(entry)

    def find(self, candidate: Candidate) -> Entry | None:
        """Return the entry with the candidate's text, in any category, or with this text before somebody edited it."""
        known = self._by_text.get(normalize(candidate.description))
        if known is None:
            known = self._by_stored_hash.get(candidate.content_hash)
            if known and known.content_hash == candidate.content_hash:
                return None  # another text with the same hash: rather a duplicate than a wrong match
        return known

    def add(self, candidate: Candidate, lines: Sequence[str]) -> Entry:
        file = self._files[candidate.category]
        if file.is_blank:
            file = self._files[candidate.category] = BankFile(
                self._new_file(candidate.category), candidate.category, file.origin
            )
        try:
            entry = file.append(lines)
        except UnsafeEdit as error:
            raise UnsafeEdit(f"cannot add to {self._path(candidate.category)}: {error}") from error
        self._changed.add(candidate.category)
        self._index(entry)
        return entry

    def change(self, entry: Entry, values: dict[str, str]) -> Entry:
        changed = self._files[entry.category].set_metadata(entry.position, values)
        self._changed.add(entry.category)
        self._index(changed)
        return changed

    def changed(self) -> dict[str, str]:
        """Return the new text of each changed file by its path."""
        return {self._path(category): self._files[category].text for category in sorted(self._changed)}

    def _path(self, category: str) -> str:
        return os.path.join(self._directory, f"{category}.md")

    def _index(self, entry: Entry) -> None:
        if entry.description:
            self._by_text[normalize(entry.description)] = entry
            self._by_stored_hash[entry.stored_hash] = entry


def _read_ledger(global_store: str, warnings: list[str]) -> dict[str, dict[str, str]]:
    """Return earlier verdicts by project, then by content hash. A damaged ledger counts as empty."""
    path = os.path.join(global_store, locations.LEDGER)
    text = read_text(path)
    if not text:
        return {}
    try:
        document: Any = json.loads(text)
        return {str(key): dict(value) for key, value in document.items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        warnings.append(f"{path} is damaged; every entry counts as new")
        return {}
