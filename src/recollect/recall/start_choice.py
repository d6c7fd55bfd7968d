# hot
"""Choose entries for the start of a session by its topic."""

from __future__ import annotations

import time

from recollect.domain.categories import KNOWLEDGE, SESSION_SUMMARY
from recollect.domain.data_text import data_line
from recollect.domain.entry import Entry, Part
from recollect.domain.feedback.weight import factors
from recollect.domain.memory_text import is_expired
from recollect.domain.ranking.order import Weights, rank
from recollect.domain.ranking.selection import select_ranked, select_varied
from recollect.domain.ranking.trust import MOST_CLAIMED, never_outranked
from recollect.domain.start_block import MOST_PINNED
from recollect.domain.stored import MUTED, PINNED, said_by_note
from recollect.domain.text import cut, utc_text
from recollect.embedding.identity import lacks_package
from recollect.engine.engine import Engine
from recollect.engine.label import BriefLabels, leave_for_later
from recollect.engine.own_versions import own_versions
from recollect.engine.withhold import harmless_block
from recollect.errors import EmbeddingError, StillReading, StoreError, WriteRefused
from recollect.files.bank.bank import set_headings
from recollect.files.bank.entry import counted_in
from recollect.recall.context import Collector
from recollect.recall.degradation import NO_VECTOR, READING, STALE, SWITCHED_OFF, Degradation
from recollect.recall.search import RetrievalResult, retrieve
from recollect.recall.start_titles import list_titles, title_key
from recollect.store.values import BANK, PINNED_TEXT, TAKEN_OVER, TEXT, TITLE, Receipt, ReceiptLine, Scope
from recollect.sync.bounds import VERY_MANY, left_in_store
from recollect.sync.if_changed import sync_if_changed
from recollect.sync.relations import former, former_lines, successors
from recollect.sync.sync import sync

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recollect.config.settings import Settings
    from recollect.domain.ranking.order import Ranked
    from recollect.domain.start_block import Block, TitleList
    from recollect.domain.stored import StoredEntry
    from recollect.recall.start_request import Injection, StartRequest
    from recollect.store.values import Feedback
    from recollect.truth.check import Changed

# Timeouts in seconds, because a person waits for a session's start: for other writers, for a provider, for labelling a
# large bank, for the sync of banks, for that of memory files, for git, and for all together.
_TIMEOUT = 1.0
_ANSWER = 1.5
_LABELLING = 0.3
_SYNCING = 0.8
_READING = 0.3
_COLLECTING = 1.0
_ALL_IN_ALL = 1.8

# How many entries each way of searching may propose; more than most projects have.
_CANDIDATES = 200

# So many entries beyond the limit may take the place of one that ranks lower.
_MOST_LOWERED = 10
_SHOWN_CONTEXT = 30
_SHOWN_REASON = 200
_LONGEST_SESSION = 100

# In characters, so that several pinned memories leave room: the description and the reasoning of each.
_LONGEST_PINNED = (1_000, 400)


def session_block(asked: StartRequest, injection: Injection) -> Block:
    """Build the block of the entries most relevant to the current work, and record them as recalled.

    How they were found is added to `injection`.

    Raises:
        StoreError: the store cannot be used; the caller falls back to markdown.
    """
    engine = Engine(asked.workspace, patience=_TIMEOUT, answer_within=_ANSWER, warm=asked.warm)
    try:
        return _chosen(engine, asked, injection)
    except StoreError:
        engine.close()
        raise


def _chosen(engine: Engine, asked: StartRequest, injection: Injection) -> Block:
    workspace, store = asked.workspace, engine.store
    now = utc_text(time.gmtime())
    warnings: list[str] = []
    began, started = time.time_ns(), time.monotonic()
    behind = _sync(engine, warnings, started + _SYNCING)
    is_stale = bool(behind and behind.code == STALE)
    feedback = engine.feedback()
    asked.muted = _silent(engine, feedback)
    with Collector(workspace.project_root, _left(started), workspace.settings.text("memory_root")) as collector:
        is_current = not is_stale and _memories_are_current(engine, injection, began, behind)  # while git runs
        pinned = _pinned(engine, asked)
        given_whole = {entry.stored_hash for entry in pinned}
        titles = list_titles(asked, injection, engine if is_current else None, without=given_whole)
        last_session = next((title.name for title in titles.listed if title.category == SESSION_SUMMARY), "")
        context = collector.context(_left(started), last_session)
    scope = engine.scope(engine.project, KNOWLEDGE)
    retrieval = _retrieved(engine, context.query, scope, behind, kept=not is_stale)
    chooser = _Ranking(engine, retrieval, scope, now, factors(feedback))
    candidates = _candidates(asked, chooser, more=len(asked.muted) + len(pinned))
    held = asked.muted | given_whole | successors(store, [item.id for item in candidates], scope).keys()
    ranked = [item for item in candidates if item.id not in held] if held else candidates
    changed = _changed(engine, [*given_whole, *(item.id for item in ranked[: asked.limit + _MOST_LOWERED])])
    ranked = _lowered(ranked, changed) if changed else ranked

    def chosen_without(ids: Collection[str]) -> list[Entry]:
        first = [entry for entry in pinned if entry.stored_hash not in ids]
        left = [item for item in ranked if item.id not in ids] if ids else ranked
        limit = asked.limit if asked.limit < 0 else asked.limit - len(first)
        chosen = _selected(engine, asked, retrieval, left, limit)
        found = first + _entries(engine, [item.id for item in chosen], scope)
        return _with_notes(found, changed) if changed else found

    entries = asked.context.choose(chosen_without, lambda entry: entry.stored_hash)
    left = left_in_store(store, workspace)
    for folder, origin in ((workspace.bank, "local"), (workspace.global_store, "global")):
        set_headings(folder, origin, entries)
    rendered, withheld = harmless_block(
        workspace.global_store,
        entries,
        lambda shown: _status(shown, retrieval) + asked.context.status + (left and f" | {left}"),
        lambda entry: entry.stored_hash not in asked.without,
        titles,
    )
    injection.withheld += withheld
    injection.titles = [*titles.fresh]
    injection.keys = [*(entry.stored_hash for entry in rendered.entries), *map(title_key, titles.fresh)]
    shown = set(injection.keys)
    injection.next = [item for item in ranked if item.id not in shown]
    given = _receipt_lines([entry for entry in entries if entry.stored_hash in shown], titles, candidates)
    injection.keys += _prompt_keys(engine, rendered.entries)
    if given and not is_stale:  # after one failed write, do not wait for a second
        _keep_receipt(engine, asked, retrieval.query or "", given, now)
    injection.taken_over = store.get_meta(TAKEN_OVER)
    injection.warnings += warnings + context.warnings + store.findings
    injection.degraded += retrieval.degraded
    if not behind:
        injection.pending, injection.banks_read = retrieval.pending, began
    injection.engine = None if asked.warm else engine
    return rendered


def _retrieved(
    engine: Engine, query: str | None, scope: Scope, behind: Degradation | None, *, kept: bool
) -> RetrievalResult:
    """Return the candidates for a query, with all that makes the choice poorer, also where nothing is asked."""
    retrieval = retrieve(engine, query, scope, candidates=_CANDIDATES, kept=kept)
    retrieval.degraded += [behind] if behind else []
    settings = engine.settings
    is_local = settings.flag("memory_embedding_enabled") and settings.text("memory_embedding_provider") == "local"
    if is_local and not query and lacks_package():
        try:
            engine.embedder()
        except EmbeddingError as error:
            retrieval.degraded.append(Degradation(NO_VECTOR, error=str(error)))
    return retrieval


def _sync(engine: Engine, warnings: list[str], end: float) -> Degradation | None:
    """Sync the store with banks and the journal. Return a degradation if that is not finished."""
    labels = engine.labels()
    brief = BriefLabels(labels, _LABELLING) if labels else None
    try:
        warnings += sync(engine.store, engine.workspace, brief, end=end)
        if brief and brief.cut_short:
            leave_for_later(engine)
    except StillReading as error:
        if not error.of_repository:
            raise  # the user's own bank, read only in part, is no basis for a choice
        return Degradation(READING, error=error)
    except StoreError as error:
        if not engine.store.coverage().entries:
            raise
        behind = Degradation(STALE)
        warnings.append(f"{error}; {behind}")
        return behind
    return None


def _silent(engine: Engine, feedback: Mapping[str, Feedback]) -> frozenset[str]:
    """Return the ids of the entries that are muted or at rest."""
    resting = (id for id, known in feedback.items() if known.resting)
    return frozenset((*engine.store.marked(MUTED, engine.scope(engine.project)), *resting))


def _changed(engine: Engine, ids: list[str]) -> Mapping[str, Sequence[Changed]]:
    """Return the changed files of these entries, the first of the ids first."""
    anchors = engine.store.anchors({engine.project, engine.memories}, ids) if ids else {}
    if not anchors:
        return {}
    from recollect.truth.check import Truth  # imported late: most entries have no anchors

    return Truth(engine.workspace, engine.store, whole=False).compare(anchors, ids)


def _lowered(ranked: list[Ranked], changed: Mapping[str, Sequence[Changed]]) -> list[Ranked]:
    """Move entries down whose files have changed; the others keep their order."""
    from recollect.truth.check import factor, lowered

    near = min(len(ranked), _CANDIDATES)
    lost = {item.id: item.score * (1 - factor(changed[item.id])) for item in ranked if item.id in changed}
    first = lowered(ranked[:near], lambda item: item.score, lambda item: lost.get(item.id, 0.0))
    return [*first, *ranked[near:]]


def _with_notes(entries: list[Entry], changed: Mapping[str, Sequence[Changed]]) -> list[Entry]:
    """Note on each entry which of its files have changed."""
    from recollect.truth.check import check_note

    for entry in entries:
        entry.note = "; ".join(filter(None, (entry.note, check_note(changed.get(entry.stored_hash, ())))))
    return entries


def _keep_receipt(engine: Engine, asked: StartRequest, query: str, given: Sequence[ReceiptLine], now: str) -> None:
    """Note what the session is given, once the block is used."""
    receipt = Receipt(
        at=now,
        event=asked.event or "inject",
        project=engine.project,
        session=asked.session[:_LONGEST_SESSION],
        query=query,
        lines=given,
    )
    counted = engine.settings.flag("memory_recall_tracking")

    def record() -> None:
        from recollect.domain.secrets.detect import find_secret  # its patterns cost time; nobody waits for this

        receipt.query = "" if find_secret(receipt.query) else receipt.query
        engine.store.recalled(receipt, counted=counted)

    asked.notes.do(record, slow=True)


def _left(started: float) -> float:
    """Return how many seconds git may take."""
    return max(0.2, min(_COLLECTING, _ALL_IN_ALL - (time.monotonic() - started)))


def _memories_are_current(engine: Engine, injection: Injection, banks_read: int, behind: Degradation | None) -> bool:
    """Sync the store with the memory files, if titles are listed. Return False if it is behind.

    Very many files are read after the answer; meanwhile the store has the newest of them.
    """
    if not engine.settings.flag("retrieval.enabled"):
        return True
    of_how_many: list[int] = []
    injection.warnings += sync_if_changed(
        engine, seconds=_READING, banks_read=banks_read, behind=behind is not None, unfinished=of_how_many.append
    )
    return not of_how_many or of_how_many[0] > VERY_MANY


def _pinned(engine: Engine, asked: StartRequest) -> list[Entry]:
    """Return the entries pinned in the project, oldest pin first, as many as a block may have."""
    settings = engine.settings
    ids = engine.store.marked(PINNED, engine.scope(engine.project))
    if not ids:
        return []
    found = [
        entry
        for entry in engine.store.entries(id for id in ids if id not in asked.muted)
        if entry.category in KNOWLEDGE or _is_current(entry, settings)
    ]
    most = MOST_PINNED if asked.limit < 0 else min(asked.limit, MOST_PINNED)
    pinned = own_versions(engine, _as_entries(engine, [_short(entry) for entry in found[:most]], {}))
    for entry in pinned:
        entry.is_pinned = True
    return pinned


def _is_current(entry: StoredEntry, settings: Settings) -> bool:
    """Return True if a memory's category is in use and its time is not over."""
    since, today = settings.kept_since(entry.category, time.time()), time.strftime("%Y-%m-%d", time.gmtime())
    is_over = is_expired(entry.category, entry.details, entry.updated_at, since=since, today=today)
    return settings.flag(f"categories.{entry.category}.enabled") and not is_over


def _short(stored: StoredEntry) -> StoredEntry:
    """Cut a memory to its description and its reasoning; a lesson stays as it is."""
    if stored.category not in KNOWLEDGE:
        description, reasoning = map(cut, (stored.description, stored.reasoning), _LONGEST_PINNED)
        stored.description = description
        stored.details = "\n".join(filter(None, (f"- Why: {reasoning}" * bool(reasoning), f"- Id: {stored.id}")))
    return stored


def _prompt_keys(engine: Engine, entries: Sequence[Entry]) -> list[str]:
    """Return the keys by which prompts know the memories among the entries, so that none is given again."""
    memories = [entry.stored_hash for entry in entries if entry.category not in KNOWLEDGE]
    if not memories:
        return []
    try:
        root = engine.workspace.memory_root()
    except WriteRefused:
        return []  # prompts get no memories either
    return [root.shown(path) for path in engine.store.memory_paths(memories).values()]


def _receipt_lines(entries: Sequence[Entry], titles: TitleList, ranked: Sequence[Ranked]) -> list[ReceiptLine]:
    """Return the lines of a receipt: the entries with the parts of their scores, and the titles."""
    found = {item.id: item for item in ranked}
    lines: list[ReceiptLine] = []
    for entry in entries:
        item, form = found.get(entry.stored_hash), PINNED_TEXT if entry.is_pinned else TEXT
        score, vector, keyword, prominence = (
            (item.score, item.vector, item.keyword, item.prominence) if item else (0.0, 0.0, 0.0, 0.0)
        )
        lines.append(
            ReceiptLine(entry.stored_hash, score, vector=vector, keyword=keyword, prominence=prominence, form=form)
        )
    return lines + [
        ReceiptLine(title.id, 0.0, vector=0.0, keyword=0.0, prominence=0.0, form=TITLE) for title in titles.fresh
    ]


def _candidates(asked: StartRequest, ranking: _Ranking, *, more: int) -> list[Ranked]:
    """Return the entries to select from, the best first. Without a topic, any entry may have its turn.

    There are enough of them to fill the block without `more` of them.
    """
    most = asked.limit if asked.limit < 0 else asked.limit + more
    ranked = _trusted(ranking.engine, ranking.best(most))
    if _varies(ranking.engine, ranking.retrieval) and 0 < asked.limit < ranking.retrieval.total:
        known = {item.id for item in ranked}
        ranked += [item for item in ranking.best(-1) if item.id not in known]
    return ranked


def _varies(engine: Engine, retrieval: RetrievalResult) -> bool:
    """Return True if sessions differ: nothing is known of their topic, but what was given lately."""
    return not retrieval.query and engine.settings.flag("memory_recall_tracking")


def _selected(
    engine: Engine, asked: StartRequest, retrieval: RetrievalResult, ranked: list[Ranked], limit: int
) -> list[Ranked]:
    """Select entries by the session's topic; without one, half of them are entries that were not given lately."""
    if not _varies(engine, retrieval):
        return select_ranked(ranked, limit)
    if asked.without:  # a resumed session keeps the entries it has: other turns would give it more each time
        return select_ranked(sorted(ranked, key=lambda item: item.id not in asked.without), limit)
    last = {usage.id: (usage.last_recalled_at, usage.recall_count) for usage in engine.store.usages()}

    def unseen_first(items: list[Ranked]) -> list[Ranked]:
        return sorted(items, key=lambda item: last.get(item.id, ("", 0)))

    return select_varied(ranked, limit, unseen_first)


class _Ranking:
    """The ranking of the entries in scope for a session, by its topic, their standing and their `uses`."""

    def __init__(
        self, engine: Engine, retrieval: RetrievalResult, scope: Scope, now: str, uses: Mapping[str, float]
    ) -> None:
        self.engine = engine
        self.retrieval = retrieval
        self._scope = scope
        self._now = now
        self._uses = uses

    def best(self, limit: int) -> list[Ranked]:
        """Return the best entries of each category, at most `limit`; all if it is negative."""
        engine, retrieval = self.engine, self.retrieval
        weights, decay = weights_of(engine.settings), engine.settings.flag("memory_decay_enabled")
        is_partial = retrieval.vector and retrieval.pending  # without any vectors, all entries are judged alike
        unembedded = frozenset(engine.store.pending_ids(self._scope) if is_partial else ())
        columns = engine.columns(self._scope)
        if columns is None:
            standings = engine.store.standings(self._scope)
            retrieval.total = len(standings)
            return rank(
                standings,
                retrieval.vector,
                retrieval.fts5,
                weights,
                now=self._now,
                decay=decay,
                most=limit,
                unembedded=unembedded,
                uses=self._uses,
            )
        retrieval.total = columns.count
        return columns.rank(
            engine.store.usages(),
            retrieval.vector,
            retrieval.fts5,
            weights,
            now=self._now,
            decay=decay,
            most=limit,
            unembedded=unembedded,
            uses=self._uses,
        )


def _trusted(engine: Engine, ranked: list[Ranked]) -> list[Ranked]:
    """Reorder ranked entries, so that a more trusted one comes before others of the same relevance."""
    origins = engine.store.origins(item.id for item in ranked)
    return never_outranked(
        ranked,
        lambda item: item.score,
        lambda item: item.relevance,
        lambda item: origins[item.id],
    )


def weights_of(settings: Settings) -> Weights:
    """Return the three weights; if the relevance weight is set, prominence gets the rest."""
    weights = Weights(
        settings.real("memory_vector_weight"),
        settings.real("memory_keyword_weight"),
        settings.real("memory_prominence_weight"),
    )
    if settings.is_set("memory_relevance_weight"):
        return weights.with_relevance(settings.real("memory_relevance_weight"))
    return weights


def _entries(engine: Engine, ids: Sequence[str], scope: Scope) -> list[Entry]:
    """Return stored entries for display, each with a line about the one that it supersedes."""
    entries = engine.store.entries(ids)
    was = former_lines(engine.workspace.global_store, entries, former(engine.store, ids, scope))
    return own_versions(engine, _as_entries(engine, entries, was))


def _as_entries(engine: Engine, entries: Sequence[StoredEntry], was: Mapping[str, str]) -> list[Entry]:
    origins = engine.store.origins(entry.id for entry in entries)
    return [
        as_entry(
            entry,
            was.get(entry.id, ""),
            is_vouched=engine.vouches_for(entry, origins[entry.id]),
            is_bare=_is_bare(engine, entry),
        )
        for entry in entries
    ]


def _is_bare(engine: Engine, entry: StoredEntry) -> bool:
    """Return True if a bank has the entry without any metadata."""
    if entry.details or entry.source != "import":
        return False
    return any(source.kind == BANK and not source.is_scope for source in engine.store.sources_of(entry.id))


def as_entry(stored: StoredEntry, was: str = "", *, is_vouched: bool = False, is_bare: bool = False) -> Entry:
    """Convert a stored entry for display, with a line about what it `was`. One that `is_bare` is shown so.

    Only a team's server knows who said a shared lesson, so that is a note of ours, and no line of the text.
    """
    said_by = said_by_note(stored.said_by)
    counted = [] if is_bare else _counted(stored)
    details = [line for line in counted if not said_by or line != f"- {said_by}"]
    if was:
        details = [f"- {data_line(was)}", *(line for line in details if not line.startswith("- Supersedes:"))]
    entry = Entry(
        category=stored.category,
        name=stored.name,
        description=stored.description,
        parts=[Part("", "", stored.description.split("\n"), 1), Part("-", "", details, 1)],
        observation_count=stored.observation_count,
        confidence=stored.confidence,
        last_observed=stored.updated_at[:10],
        stored_hash=stored.id,
        origin="local" if stored.project and not stored.unproven and not stored.said_by else "global",
    )
    entry.is_vouched, entry.note = is_vouched, said_by
    return entry


def _counted(stored: StoredEntry) -> list[str]:
    """Return the lines after the description. The count of observations is as written, unless it has changed."""
    count = f"- Observation count: {stored.observation_count}"
    if not stored.details:
        return [count, f"- Confidence: {stored.confidence}"]
    lines = stored.details.split("\n")
    for place, line in enumerate(lines):
        label, _, value = line[2:].partition(":")
        if line.startswith("- ") and label.strip("*_` ").lower().replace("-", " ") == "observation count":
            written = counted_in(value)
            if stored.observation_count not in (1, written, min(written, MOST_CLAIMED)):
                lines[place] = count
            break
    return lines


def _status(shown: Sequence[Entry], retrieval: RetrievalResult) -> str:
    counts = f"vector={len(retrieval.vector)}, fts5={len(retrieval.fts5)}"
    if retrieval.pending:
        counts += f", pending_embedding={retrieval.pending}"
    if retrieval.skipped:
        counts += f", skipped_vectors={retrieval.skipped}"
    state = f"disabled ({Degradation(SWITCHED_OFF)}; {counts})" if retrieval.is_off else f"active ({counts})"
    if retrieval.degraded:
        state = f"degraded ({_plain('; '.join(map(str, retrieval.degraded)), _SHOWN_REASON)}; {counts})"
    asked = "none"
    if retrieval.query:
        asked = _plain(retrieval.query, 10_000)
        asked = asked[:_SHOWN_CONTEXT] + ("..." if len(asked) > _SHOWN_CONTEXT else "")
    model = retrieval.model or "none"
    total = retrieval.total + sum(entry.category not in KNOWLEDGE for entry in shown)  # memories are there by a pin
    return f'{len(shown)} entries from {total} | semantic: {state} | context: "{asked}" | model: {model}'


def _plain(text: str, most: int) -> str:
    """Return untrusted text on one line, without the status line's own marks (emphasis, separators, quotes)."""
    return data_line(text).replace("*", " ").replace("|", " ").replace('"', "'")[:most]
