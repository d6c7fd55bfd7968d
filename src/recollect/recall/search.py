# hot
"""Search entries by meaning and by words."""

from __future__ import annotations

import os
import time

from recollect.domain.categories import PROJECT
from recollect.domain.feedback.weight import factors
from recollect.domain.memory_text import is_expired
from recollect.domain.ranking.fusion import TermStatistics, fuse, share
from recollect.domain.ranking.order import prominence
from recollect.domain.ranking.terms import query_terms
from recollect.domain.ranking.trust import AS_GOOD, REPOSITORY, trusted_first
from recollect.domain.stored import ACTIVE, MUTED
from recollect.domain.text import utc_text
from recollect.engine.withhold import harmless_entries
from recollect.errors import EmbeddingError, ModelLoading, StoreError
from recollect.recall import degradation as code
from recollect.recall.degradation import Degradation
from recollect.store.values import Scope
from recollect.sync.relations import former, former_lines, successors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.stored import StoredEntry
    from recollect.embedding.base import Embedder
    from recollect.engine.engine import Engine

# How many entries each way of searching may propose.
CANDIDATES = 100

# More terms would make a search slower but not better; the rarest ones are used.
MOST_TERMS = 16
_MOST_LOOKED_UP = 400
LONGEST_QUERY = 20_000

# Fewer entries are not enough to estimate the usual distance between entries and a query.
_FEW = 30


class RetrievalResult:
    """The candidates for a query, by meaning and by words, and the reasons if either search failed."""

    def __init__(self, query: str | None, candidates: int) -> None:
        self.query = query
        self.candidates = candidates
        self.query_vector = b""
        self.searched = False  # whether there was any way of searching
        self.terms: list[str] = []
        self.statistics = TermStatistics({}, 0)
        self.vector: dict[str, float] = {}
        self.fts5: dict[str, float] = {}
        self.degraded: list[Degradation] = []  # the reasons if either search failed
        self.model = ""
        self.total = 0
        self.pending = 0
        self.skipped = 0
        self.is_off = False  # the settings switch off both ways of searching

    @property
    def incomplete(self) -> list[Degradation]:
        """Return the shortcomings of the stored vectors."""
        found: list[Degradation] = []
        if self.pending and (self.query_vector or not self.degraded):
            reason = code.UNFOUND if self.degraded else code.PENDING
            found.append(Degradation(reason, pending=self.pending, total=self.total))
        if self.skipped:
            found.append(Degradation(code.SKIPPED, skipped=self.skipped))
        return found


def retrieve(
    engine: Engine, query: str | None, scope: Scope, *, candidates: int = CANDIDATES, kept: bool = False
) -> RetrievalResult:
    """Return the candidates for a query among the entries in scope; none without a query.

    If `kept`, the query's vector is cached in the store, so the same query needs no model the next time.

    Raises:
        StoreError: the store cannot be read.
    """
    result = RetrievalResult(query, candidates)
    store = engine.store
    is_enabled = engine.settings.flag("memory_embedding_enabled")
    has_words = engine.settings.text("memory_embedding_fallback") == "fts5"
    result.is_off = not is_enabled and not has_words
    if is_enabled:
        engine.model()
    everything = store.coverage()
    result.total = everything.entries
    if is_enabled and (everything.pending or everything.skipped):
        here = store.coverage_of(_awaiting(scope))
        result.pending, result.skipped = here.pending, here.skipped
    if not query or not query.strip():
        return result
    query = query[:LONGEST_QUERY]
    terms = query_terms(query)[:_MOST_LOOKED_UP]
    result.terms = terms
    if not terms:
        return result
    result.statistics = TermStatistics(*store.document_frequencies(terms))
    _by_meaning(engine, query, scope, result, kept=kept)
    if not store.full_text:
        result.degraded.append(Degradation(code.NO_FULL_TEXT))
    elif result.vector or has_words:
        _by_words(engine, scope, result)
    return result


def _by_meaning(engine: Engine, query: str, scope: Scope, result: RetrievalResult, *, kept: bool) -> None:
    settings = engine.settings
    if not settings.flag("memory_embedding_enabled"):
        return
    try:
        embedder = engine.embedder()
        result.model = embedder.model
        if engine.store.model() is None:
            return  # there are no vectors to compare
        vector = engine.store.query_vector(query) if kept else None
        if vector is None:
            vector = _embedded(embedder, query, result.statistics)
            if kept:
                _keep(engine, query, vector)
    except EmbeddingError as error:
        reason = code.LOADING if isinstance(error, ModelLoading) else code.NO_VECTOR
        result.degraded.append(Degradation(reason, error=str(error)))
        result.model = ""
        return
    result.query_vector = vector
    result.searched = True
    result.vector = {match.id: match.score for match in engine.store.vector_matches(vector, scope, result.candidates)}


def _awaiting(scope: Scope) -> Scope:
    """Return the scope limited to active entries, because only these are given a vector."""
    return Scope(scope.project, scope.categories, unproven=scope.unproven, memories=scope.memories or "")


def _embedded(embedder: Embedder, query: str, statistics: TermStatistics) -> bytes:
    """Return the vector of a query. A query with a possible credential is not sent to a remote provider."""
    if embedder.provider != "local":
        from recollect.domain.secrets.detect import find_secret  # its patterns cost time; local models need none

        if find_secret(query):
            raise EmbeddingError("the question seems to hold a credential, so it was not sent to anybody")
    return embedder.embed([query], "query", statistics.telling())[0]


def _by_words(engine: Engine, scope: Scope, result: RetrievalResult) -> None:
    terms = _rarest(result.terms, result.statistics)
    result.searched = True
    result.fts5 = {match.id: match.score for match in engine.store.text_matches(terms, scope, result.candidates)}
    if result.query_vector:
        unseen = [id for id in result.fts5 if id not in result.vector]
        result.vector |= engine.store.similarities(result.query_vector, unseen)


def _rarest(terms: list[str], statistics: TermStatistics) -> list[str]:
    """Return the rarest terms known to the store, in the order of the query; all terms if there are few."""
    if len(terms) <= MOST_TERMS:
        return terms
    found = [term for term in terms if statistics.frequencies.get(term)]
    rarest = set(sorted(found, key=lambda term: statistics.frequencies[term])[:MOST_TERMS])
    return [term for term in found if term in rarest]


def _keep(engine: Engine, query: str, vector: bytes) -> None:
    """Cache a query's vector for the next time, ignoring a failure to write.

    The text is stored with its vector, so a query with a secret is not cached.
    """
    from recollect.domain.secrets.detect import find_secret

    if find_secret(query):
        return
    try:
        engine.store.keep_query_vector(query, vector)
    except StoreError:
        return


class Hit:
    """A found entry and its scores."""

    def __init__(
        self,
        entry: StoredEntry,
        score: float,
        *,
        vector: float | None,
        keyword: float | None,
        prominence: float,
        use: float = 1.0,
        path: str = "",
        origin: str = REPOSITORY,
        is_muted: bool = False,
        is_resting: bool = False,
        is_expired: bool = False,
        was: str = "",
        supersedes: str = "",
        note: str = "",
    ) -> None:
        self.entry = entry
        self.note = note  # a line about it, for example that its files have changed
        self.is_expired = is_expired  # its time is over, so it is not given unasked
        self.was = was  # a line about the entry whose place it has taken
        self.supersedes = supersedes  # the id of that entry
        self.is_muted = is_muted  # never given unasked, in the engine's project or everywhere
        self.is_resting = is_resting  # not given unasked for now, because it was given in vain
        self.origin = origin  # who stands behind it, as in `domain.ranking.trust`
        self.score = score
        self.vector = vector  # the cosine; None when it was not found by meaning
        self.keyword = keyword  # the BM25 score; None when it was not found by its words
        self.prominence = prominence
        self.use = use  # the factor of its score by its use
        self.path = path  # of its memory file, if it has one, relative to the project's folder


class SearchResult:
    """The hits of a search, the best first; if there are none, the reason. `warnings` are about the files."""

    def __init__(self, retrieval: RetrievalResult) -> None:
        self.retrieval = retrieval
        self.hits: list[Hit] = []
        self.reason: Degradation | None = None
        self.warnings: list[str] = []
        self.withheld: list[str] = []  # a sentence on each entry left out because it seems to hold a credential


def search(
    engine: Engine,
    query: str,
    *,
    project: str | None = "",
    categories: Sequence[str] = (),
    statuses: Sequence[str] = (ACTIVE,),
    limit: int = 10,
) -> SearchResult:
    """Search the entries relevant to a query, the most relevant first.

    `project` is the identity of a project: its entries and the global ones are searched. None searches the entries of
    all projects.

    Raises:
        StoreError: the store cannot be read.
    """
    scope = engine.scope(project, categories, statuses)
    findable = scope.with_statuses(statuses, replaced=True) if tuple(statuses) == (ACTIVE,) else scope
    retrieval = retrieve(engine, query, findable, candidates=max(CANDIDATES, limit))
    if retrieval.terms and not retrieval.fts5 and retrieval.total and _index_was_wrong(engine):
        retrieval = retrieve(engine, query, findable, candidates=max(CANDIDATES, limit))
    result = SearchResult(retrieval)
    scores = relevance(engine, retrieval, scope)
    if findable is not scope:
        scores = _in_place(engine, scores, scope)
    known = engine.feedback(scores)
    uses = factors(known)
    scores |= {id: scores[id] * use for id, use in uses.items()}
    best = sorted(scores, key=lambda id: (-scores[id], id))
    best = [id for id in best if scores[id] >= scores[best[min(limit, len(best)) - 1]] - AS_GOOD]
    origins = engine.store.origins(best)
    best = trusted_first(best, lambda id: scores[id], lambda id: origins[id])[:limit]
    best, notes = _checked(engine, best, scores)
    now = utc_text(time.gmtime())
    paths = engine.store.memory_paths(best)
    marks = [mark for id in best for mark in engine.store.marks(id)]
    muted = {mark.id for mark in marks if mark.kind == MUTED and mark.project in ("", engine.project)}
    found, result.withheld = harmless_entries(engine.workspace.global_store, engine.store.entries(best))
    most = max((entry.observation_count for entry in found), default=1)
    was = former(engine.store, [entry.id for entry in found], scope)
    lines = former_lines(engine.workspace.global_store, found, was)
    for entry in found:
        result.hits.append(
            Hit(
                entry,
                min(scores[entry.id], 1.0),
                vector=retrieval.vector.get(entry.id),
                keyword=retrieval.fts5.get(entry.id),
                prominence=prominence(entry, most, now),
                use=uses.get(entry.id, 1.0),
                path=from_project(paths.get(entry.id, ""), entry.project),
                origin=origins[entry.id],
                is_muted=entry.id in muted,
                is_resting=entry.id in known and bool(known[entry.id].resting),
                is_expired=_is_expired(engine, entry),
                was=lines.get(entry.id, ""),
                supersedes=was[entry.id].entry.id if entry.id in was else "",
                note=notes.get(entry.id, ""),
            )
        )
    if result.withheld and not result.hits:
        result.reason = Degradation(code.WITHHELD, count=len(result.withheld))
    elif not result.hits:
        result.reason = _why_nothing(engine, query, scope, retrieval)
    return result


def _is_expired(engine: Engine, entry: StoredEntry) -> bool:
    if entry.category not in PROJECT:
        return False
    since, today = engine.settings.kept_since(entry.category, time.time()), utc_text(time.gmtime())
    return is_expired(entry.category, entry.details, entry.updated_at, since=since, today=today)


def _in_place(engine: Engine, scores: dict[str, float], scope: Scope) -> dict[str, float]:
    """Return the scores of entries in scope: words of an entry that was superseded find the one in its place."""
    if not engine.store.relations(scores):
        return scores
    newer = successors(engine.store, scores, scope)
    others = engine.store.entries(id for id in scores if id not in newer)
    gone = {entry.id for entry in others if entry.status not in scope.statuses}
    found: dict[str, float] = {}
    for id, score in scores.items():
        own = newer.get(id, id)
        if own not in gone:
            found[own] = max(score, found.get(own, score))
    return found


def _checked(engine: Engine, best: list[str], scores: dict[str, float]) -> tuple[list[str], dict[str, str]]:
    """Lower the scores of entries whose files have changed; return all in their new order, and notes on those."""
    anchors = engine.store.anchors({engine.project, engine.memories}, best) if best else {}
    if not anchors:
        return best, {}
    from recollect.truth.check import Truth, check_note, factor, lowered  # imported late: most entries have no anchors

    changed = Truth(engine.workspace, engine.store).compare(anchors, best)
    lost = {id: scores[id] * (1 - factor(those)) for id, those in changed.items()}
    best = lowered(best, lambda id: scores[id], lambda id: lost.get(id, 0.0))
    for id, less in lost.items():
        scores[id] -= less
    return best, {id: check_note(those) for id, those in changed.items()}


def from_project(path: str, identity: str) -> str:
    """Return a path relative to its project's folder, with slashes."""
    return path.removeprefix(identity.rstrip(os.sep) + os.sep).replace(os.sep, "/") if path else ""


def _index_was_wrong(engine: Engine) -> bool:
    """Check the full-text index, once a day at most, and return True if it was wrong and is repaired.

    Called if words find nothing, because a damaged index may be the reason.
    """
    today = time.strftime("%Y-%m-%d", time.gmtime())
    try:
        if engine.store.get_meta("checked") == today:
            return False
        engine.store.set_meta("checked", today)
        return bool(engine.store.check())
    except StoreError:
        return False


def relevance(engine: Engine, retrieval: RetrievalResult, scope: Scope) -> dict[str, float]:
    """Return the relevance of each candidate, between 0 and 1."""
    background = engine.store.background(retrieval.query_vector, scope)
    if background.count < _FEW:
        # Too few entries for a statistic: use those of all projects, if there are more.
        wider = engine.store.background(retrieval.query_vector, Scope(None))
        background = wider if wider.count > background.count else background
    full = len(retrieval.fts5) >= retrieval.candidates
    raised = retrieval.statistics.unclipped
    scores = fuse(
        {id: raised * score for id, score in retrieval.fts5.items()},
        retrieval.vector,
        mean=background.mean,
        deviation=background.deviation,
        count=background.count,
        floor=raised * min(retrieval.fts5.values()) if full else 0.0,
        known=retrieval.statistics.known,
    )
    return {id: share(score) for id, score in scores.items()}


def _why_nothing(engine: Engine, query: str, scope: Scope, retrieval: RetrievalResult) -> Degradation:
    if not query.strip():
        return Degradation(code.EMPTY_QUERY)
    if not retrieval.total:
        return Degradation(code.NOTHING_STORED)
    if not retrieval.terms:
        return Degradation(code.NO_WORDS)
    if not retrieval.searched:
        causes = retrieval.degraded or [Degradation(code.SWITCHED_OFF)]
        return Degradation(code.NOT_SEARCHED, causes="; ".join(map(str, causes)))
    if scope.project is not None or scope.categories:
        everything = Scope(None, statuses=scope.statuses)
        outside = len(relevance(engine, retrieve(engine, query, everything), everything))
        if outside:
            return Degradation(code.ELSEWHERE, outside=outside, total=retrieval.total)
    return Degradation(code.NO_MATCH, total=retrieval.total)
