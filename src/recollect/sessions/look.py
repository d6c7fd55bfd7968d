"""Look at what a session did with the memories it was given, and keep the signs of their use."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.feedback.confidence import may_rise, raised
from recollect.domain.feedback.lines import MODEL, Line, Shown, Sign
from recollect.domain.feedback.signs import find_signs
from recollect.domain.feedback.weight import REST_DAYS, REST_TIMES
from recollect.domain.feedback.words import weight, words_of
from recollect.domain.prompt_block import PromptHit, shown_text
from recollect.domain.stored import Raised, StoredEntry
from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.errors import LockTimeout, StorageError, StoreError, WriteRefused
from recollect.files.journal.kinds import RAISED
from recollect.files.memory.memories import slug_of
from recollect.files.session.lines import read_lines
from recollect.files.session.record import read_record, set_looked
from recollect.sessions.stop import checked_transcript
from recollect.store.open import store_exists
from recollect.store.values import PROMPT, TEXT, TITLE, Evidence, Receipt
from recollect.sync.write import write_lines

# In seconds: how long to wait for another writer of the store.
_TIMEOUT = 5.0

_MOST_RECEIPTS = 300
_MOST_GIVEN = 300
_MOST_WORDS = 5_000
_MOST_RAISED = 100
_LONGEST_SESSION = 100

# A word in more entries than these, or in more than this share of all, says nothing about one of them.
_FREQUENT = 5
_SHARE = 20


def is_wanted(workspace: Workspace) -> bool:
    """Return True if the settings let sessions be looked at."""
    settings = workspace.settings
    return all(
        settings.flag(name) for name in ("memory_feedback_enabled", "memory_recall_tracking", "memory_semantic_enabled")
    )


def look(workspace: Workspace, session: str, transcript: str, answer: str = "") -> list[str]:
    """Keep the signs of use in a session's transcript, and put entries to rest that were given in vain.

    `answer` is the last one of the model, which the client may not have written yet. The same transcript is not looked
    at twice. Return warnings.
    """
    if not session or not is_wanted(workspace) or not store_exists(workspace.store_place):
        return []
    try:
        lines, size = read_lines(checked_transcript(transcript))
    except StorageError:
        return []  # the stop has said so
    try:
        seen = size + bool(answer)
        if not lines or read_record(workspace.global_store, session).looked == seen:
            return []
        with Engine(workspace, patience=_TIMEOUT) as engine:
            _look(engine, session[:_LONGEST_SESSION], _with_answer(lines, answer))
            raise_confidence(engine)
        set_looked(workspace.global_store, session, seen)
    except (StorageError, StoreError, LockTimeout) as error:
        return [f"the use of memories in this session was not recorded: {error}"]
    return []


def _look(engine: Engine, session: str, lines: Sequence[Line]) -> None:
    store = engine.store
    receipts = [
        receipt
        for receipt in store.receipts(_MOST_RECEIPTS, project=engine.project, session=session)
        if receipt.session == session
    ]
    shown = _shown(engine, receipts)
    if not shown:
        return
    signs = find_signs(shown, lines, frequent=_frequent(engine, shown), root=engine.workspace.project_root)
    store.note_evidence([_evidence(sign, engine.project, session) for sign in signs])
    asked = {line.id for receipt in receipts if receipt.event == PROMPT for line in receipt.lines if line.form == TEXT}
    put_to_rest(engine, sorted(asked))


def put_to_rest(engine: Engine, ids: Sequence[str]) -> list[str]:
    """Put to rest those of some entries that were given in vain; return their ids.

    Only texts for prompts count. A start gives the same lessons again and again, as a reminder of what holds for all
    work. They rarely leave a sign, and a user who misses one after five sessions would be annoyed.
    """
    now = time.time()
    since = utc_text(time.gmtime(now - REST_DAYS * 86_400))
    return engine.store.rest(ids, at=utc_text(time.gmtime(now)), since=since, times=REST_TIMES)


def raise_confidence(engine: Engine) -> list[Raised]:
    """Raise the confidence in lessons that were observed and used often enough, by lines in the journal.

    Raises:
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was changed.
        StoreError: the store cannot be used.
    """
    store = engine.store
    standings = store.standings(engine.scope(engine.project, KNOWLEDGE))
    ids = [each.id for each in standings if may_rise(each.confidence, each.observation_count)]
    if not ids:
        return []
    known = store.feedback(ids)
    now = utc_text(time.gmtime())
    found: list[Raised] = []
    for entry in store.entries(ids):
        risen = raised(entry, known[entry.id].used if entry.id in known else 0)
        if risen and len(found) < _MOST_RAISED:
            found.append(Raised(entry.id, risen[0], at=now, reason=risen[1]))
    if found and store.follows_files:
        write_lines(engine, RAISED, found)
    return found


def _with_answer(lines: list[Line], answer: str) -> list[Line]:
    """Return the lines with the last answer, unless it is among them."""
    told = " ".join(answer.split())
    if not told or any(told in " ".join(line.text.split()) for line in lines[-20:] if line.source == MODEL):
        return lines
    return [*lines, Line(lines[-1].number + 1, lines[-1].at, MODEL, answer)]


def _evidence(sign: Sign, project: str, session: str) -> Evidence:
    return Evidence(
        at=sign.at[:19] + "Z" if sign.at else utc_text(time.gmtime()),
        kind=sign.kind,
        id=sign.id,
        project=project,
        session=session,
        turn=sign.turn,
        place=", ".join(map(str, sign.lines)),
    )


def _shown(engine: Engine, receipts: Iterable[Receipt]) -> list[Shown]:
    """Return the memories of some receipts as their session has seen them."""
    given = [(receipt, line) for receipt in receipts for line in receipt.lines][:_MOST_GIVEN]
    known = {entry.id: entry for entry in engine.store.entries({line.id for _, line in given})}
    names = _names(engine, known)
    found: list[Shown] = []
    for receipt, line in given:
        entry = known.get(line.id)
        if entry is None:
            continue
        is_title = line.form == TITLE
        found.append(
            Shown(
                id=entry.id,
                at=receipt.at,
                title=entry.name,
                text="" if is_title else text_given(entry, receipt.event),
                names=names[entry.id],
                files=() if is_title else entry.references,
                query=receipt.query if receipt.event == PROMPT else "",
            )
        )
    return found


def text_given(entry: StoredEntry, event: str) -> str:
    """Return the text that a session has seen of an entry: for a prompt, only a line or two."""
    if event != PROMPT:
        return "\n".join((entry.description, entry.reasoning, entry.telling_details))
    told = PromptHit(
        category=entry.category,
        title=entry.name,
        description=entry.description,
        reasoning=entry.reasoning,
        details=entry.details,
    )
    return shown_text(told)


def _names(engine: Engine, entries: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of entries by id: the id, and of a memory its path and its slug."""
    ids = list(entries)
    names = {id: [id] for id in ids}
    try:
        root = engine.workspace.memory_root()
    except WriteRefused:
        return names
    for id, path in engine.store.memory_paths(ids).items():
        slug = slug_of(path)
        names[id] += [root.shown(path), *([slug] if "-" in slug else [])]
    return names


def _frequent(engine: Engine, shown: Iterable[Shown]) -> set[str]:
    """Return the words of some memories that many other entries have, too."""
    words = dict.fromkeys(word for each in shown for word in words_of(f"{each.title}\n{each.text}") if weight(word))
    counts, entries = engine.store.document_frequencies(list(words)[:_MOST_WORDS])
    return {word for word, count in counts.items() if count > max(_FREQUENT, entries // _SHARE)}
