# hot
"""Find memories for a prompt in the store, by enough rare words in common and by meaning."""

from __future__ import annotations

import time

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.feedback.weight import factors
from recollect.domain.prompt_block import MAX_CHARS, MOST_MAYBES, PromptHit
from recollect.domain.ranking.aboutness import (
    Bar,
    Question,
    Rarity,
    best,
    by_words,
    is_asked_for,
    without_triggers,
)
from recollect.domain.ranking.at_hand import bonus, is_at_hand
from recollect.domain.ranking.fusion import TermStatistics, share, surprise
from recollect.domain.ranking.trust import trusted_first
from recollect.domain.stored import MUTED
from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.errors import EmbeddingError
from recollect.recall.prompt_request import MAYBE, Hit, retell
from recollect.store.values import PROMPT, TEXT, TITLE, Feedback, Receipt, ReceiptLine, Scope
from recollect.sync.if_changed import sync_if_changed
from recollect.sync.relations import former, former_lines, successors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from recollect.config.settings import Settings
    from recollect.domain.stored import StoredEntry
    from recollect.recall.prompt_request import PromptRequest
    from recollect.store.base import Store
    from recollect.truth.check import Truth

    # Returns the vector of a text, its words weighted by the statistics; empty if it cannot be made.
    Embed = Callable[[str, TermStatistics], bytes]

# Limits of full-text search: entries returned, and rarest terms of the prompt searched for.
_CANDIDATES = 20
_MOST_TERMS = 16

# Limits of the comparison by vector: passages of a prompt, and nearest entries each adds. A passage takes the
# model some milliseconds, and an entry farther away would need words in common to count as a match.
_MOST_COMPARED = 4
_NEAREST = 8

# In seconds: how long to wait for another writer of the store.
_TIMEOUT = 0.5

# In characters: the model reads no more of a prompt.
_READ = 2_000

# So many entries beyond those about to be given may take the place of one that ranks lower.
_MOST_LOWERED = 1

_LONGEST_QUERY = 300
_LONGEST_SESSION = 100

# A hit needs at least a hundred characters of the block, so no more hits than these fit.
_MOST_SHOWN = MAX_CHARS // 100


class Answer:
    """The hits for a prompt, the entries just below the bar and all others, the best first.

    `known` are the prompt's words known to the store. Muted entries and those at rest are among the others.
    """

    def __init__(self, hits: list[Hit], maybes: list[Hit], others: list[Hit], known: list[str]) -> None:
        self.hits = hits
        self.maybes = maybes
        self.others = others
        self.known = known


def from_store(asked: PromptRequest) -> None:
    """Find the memories for a prompt, take the best, and keep a receipt of them.

    Raises:
        StoreError: the store cannot be read.
    """
    with Engine(asked.workspace, patience=_TIMEOUT, warm=asked.warm) as engine:
        store = engine.store
        asked.warnings += sync_if_changed(engine, leave=asked.leave)
        embed = _by_meaning(engine, asked)
        asked.by_meaning = embed is not None
        known = choose(asked, engine, embed)
        given = receipt_lines(asked)
        if given:
            asked.notes.do(lambda: keep_receipt(engine, asked.session, known, given))
        asked.warnings += store.findings


def choose(asked: PromptRequest, engine: Engine, embed: Embed | None) -> list[str]:
    """Take the best memories for a prompt. Return the words of the prompt known to the store: no others are kept."""
    store = engine.store
    workspace = asked.workspace
    scope = engine.scope(engine.project, _used(workspace.settings))
    answer = ask(store, asked.prompt, scope, embed, package=workspace.package, feedback=engine.feedback)
    most = workspace.settings.whole("retrieval.max_inject")
    told = _new(asked, answer.hits[:_MOST_SHOWN], engine, most)
    if told:
        was = _was(engine, [hit.entry for hit in answer.hits], scope)
        for each in told:
            each.note = each.note or was.get(each.id, "")
    left = min(MOST_MAYBES, most - len(told))
    asked.take(told, _new(asked, answer.maybes, engine, left, mark=MAYBE))
    asked.found = [*answer.hits, *answer.maybes, *answer.others]
    return answer.known


def _by_meaning(engine: Engine, asked: PromptRequest) -> Embed | None:
    """Return a function for the vectors of a prompt, or None if only words can be compared.

    Vectors are used only if the model is local and kept loaded by the resident, and has made vectors of the store.
    A preview loads it.
    """
    settings = engine.settings
    if not (asked.warm or asked.is_preview) or not settings.flag("memory_embedding_enabled"):
        return None
    if settings.text("memory_embedding_provider") != "local":
        return None  # prompts are not sent to other providers
    try:
        embedder, model = engine.embedder(), engine.model()
    except EmbeddingError:
        return None
    if model is None:
        return None

    def embed(text: str, statistics: TermStatistics) -> bytes:
        try:
            return embedder.embed([text[:_READ]], "query", statistics.telling())[0]
        except EmbeddingError:
            return b""  # the model is still being loaded

    return embed


def _new(asked: PromptRequest, hits: Sequence[Hit], engine: Engine, most: int, mark: str = "") -> list[PromptHit]:
    """Return at most `most` memories new to the session, with the current text of their memory files.

    With a `mark`, those are not new either whose key the session's record has with it. Those whose files have changed
    since they were stored are marked, and come after others that are about as good.
    """
    paths = engine.store.memory_paths(hit.entry.id for hit in hits) if hits else {}
    checks = _Checks(asked, engine.store, hits)
    more = 0 if mark else _MOST_LOWERED  # a title costs too little to look for another
    new: list[tuple[Hit, PromptHit]] = []
    for hit in hits:
        if len(new) == most + (more if checks.lost else 0):
            break
        path = paths.get(hit.entry.id, "")
        key = asked.root.shown(path) if path and asked.root else hit.entry.id
        if not asked.given.isdisjoint((key, mark + key)):
            continue  # before its file is read again
        told = _told(hit, asked, path)
        if told and not mark:
            told.is_vouched = engine.vouches_for(hit.entry, hit.origin)
        if told and asked.is_new(told):
            checks.check(told)
            new.append((hit, told))
    return [told for _, told in checks.lowered(new)[:most]]


class _Checks:
    """The comparison of hits with their files. An entry is lowered, never withheld: nothing falls below the bar."""

    def __init__(self, asked: PromptRequest, store: Store, hits: Sequence[Hit]) -> None:
        self._asked = asked
        self._store = store
        places = {asked.workspace.identity, asked.workspace.memories}
        self._anchors = store.anchors(places, [hit.entry.id for hit in hits]) if hits else {}
        self._truth: Truth | None = None
        self.lost: dict[str, float] = {}  # the nats that entries lose, by id

    def check(self, told: PromptHit) -> None:
        """Mark a memory if a file of it has changed."""
        if told.id not in self._anchors:
            return
        from recollect.truth.check import Truth, check_note, nats_lost  # imported late: most entries have no anchors

        self._truth = self._truth or Truth(self._asked.workspace, self._store, whole=False)
        changed = self._truth.compare(self._anchors, [told.id]).get(told.id)
        if changed:
            told.note = check_note(changed)
            self.lost[told.id] = nats_lost(changed)

    def lowered(self, new: list[tuple[Hit, PromptHit]]) -> list[tuple[Hit, PromptHit]]:
        """Return the memories in their new order, and note what git is still to tell."""
        if self._truth is None or not self.lost:
            return new
        from recollect.truth.check import lowered

        self._asked.untold += self._truth.untold
        return lowered(new, lambda pair: pair[0].rank, lambda pair: self.lost.get(pair[1].id, 0.0))


def receipt_lines(asked: PromptRequest) -> list[ReceiptLine]:
    """Return the lines of a receipt for the memories that a prompt gets, texts before titles."""
    parts = {hit.entry.id: hit for hit in asked.found}
    return [
        ReceiptLine(
            each.id, each.nats, vector=parts[each.id].meaning, keyword=parts[each.id].words, prominence=0.0, form=form
        )
        for form, those in ((TEXT, asked.told), (TITLE, asked.maybes))
        for each in those
    ]


def keep_receipt(engine: Engine, session: str, words: Sequence[str], given: Sequence[ReceiptLine]) -> None:
    """Keep a receipt of the entries given to a prompt, with their scores and the matching words.

    Raises:
        StoreError: the receipt cannot be written.
    """
    receipt = Receipt(
        at=utc_text(time.gmtime()),
        event=PROMPT,
        project=engine.project,
        session=session[:_LONGEST_SESSION],
        query=" ".join(words)[:_LONGEST_QUERY],
        lines=given,
    )
    engine.store.recalled(receipt, counted=engine.settings.flag("memory_recall_tracking"))


def ask(
    store: Store,
    prompt: str,
    scope: Scope,
    embed: Embed | None = None,
    *,
    package: str = "",
    feedback: Callable[[Sequence[str]], Mapping[str, Feedback]] | None = None,
) -> Answer:
    """Return the entries in scope relevant to a prompt, the best first.

    Without `embed`, or if it returns no vector, only words are compared. The same goes for entries without a vector.
    Of about equally good entries, those about the `package` come first; it makes no entry relevant. Nor does `feedback`
    on the use of entries, which weighs their rank and tells those at rest.

    Raises:
        StoreError: the store cannot be read.
    """
    question = Question(prompt)
    if not question.terms:
        return Answer([], [], [], [])
    frequencies, entries = store.document_frequencies(question.terms)
    rarity = Rarity(frequencies, entries)
    terms = rarity.known(question.terms, _MOST_TERMS)
    findable = scope.with_statuses(scope.statuses, replaced=True)
    ids = [match.id for match in store.text_matches(rarity.to_find_by(terms), findable, _CANDIDATES)]
    statistics = TermStatistics(frequencies, entries)
    meant = _Meant(store, question, statistics, embed) if embed else None
    if meant:
        ids += [id for id in meant.nearest(findable) if id not in ids]
    places = store.term_places(terms, ids) if ids else {}
    read = store.entries(ids)
    themselves = {each.id: without_triggers(places.get(each.id, {})) for each in read if each.triggers}
    meanings = meant.surprises(ids, places) if meant else {}
    own_meanings = meant.surprises(list(themselves), themselves, triggers=False) if meant else {}
    muted = frozenset(store.marked(MUTED, scope)) if ids else frozenset[str]()
    newer = successors(store, ids, scope) if ids else {}
    stand_ins = {entry.id: entry for entry in store.entries(newer.values())} if newer else {}
    known = feedback([*ids, *stand_ins]) if feedback and ids else dict[str, Feedback]()
    uses = factors(known)
    scored: list[Hit] = []
    others: list[Hit] = []
    bar = Bar(store.count(scope), len(question.passages))
    for entry in read:
        if entry.id not in newer and entry.status not in scope.statuses:
            continue  # whatever took its place is not given here
        found = places.get(entry.id, {})
        words = by_words(question, rarity, found, entry.name)
        judgement = bar.judged(words, meanings.get(entry.id), len(entry.triggers))
        if entry.triggers:
            own_words = by_words(question, rarity, themselves[entry.id], entry.name)
            judgement = best(judgement, bar.judged(own_words, own_meanings.get(entry.id)))
        shown = stand_ins.get(newer.get(entry.id, ""), entry)  # old words find the entry in its place
        nearer = bonus(judgement.meaning) if is_at_hand(entry.references, package) else 0.0
        hit = Hit(shown, judgement, bonus=nearer, use=uses.get(shown.id, 1.0))
        is_named = entry.category in PROJECT and is_asked_for(question, rarity, found)
        hit.is_muted = shown.id in muted
        hit.is_resting = shown.id in known and bool(known[shown.id].resting)
        is_silent = hit.is_muted or hit.is_resting
        is_given = (is_named or hit.nats >= 0 or hit.missing <= 0) and not is_silent
        (scored if is_given else others).append(hit)
    for those in (scored, others):
        those.sort(key=lambda hit: (-hit.rank, hit.entry.id))
    if newer:
        scored = _each_once(scored)
        others = [hit for hit in _each_once(others) if all(hit.entry.id != given.entry.id for given in scored)]
    hits = [hit for hit in scored if hit.nats >= 0]
    maybes = sorted((hit for hit in scored if hit.nats < 0), key=lambda hit: hit.missing - hit.bonus)
    _set_origins(store, hits)
    told = trusted_first(hits, lambda hit: share(hit.rank), lambda hit: hit.origin)
    return Answer(told, maybes, others, terms)


def _set_origins(store: Store, hits: Sequence[Hit]) -> None:
    origins = store.origins(hit.entry.id for hit in hits)
    for hit in hits:
        hit.origin = origins[hit.entry.id]


def _was(engine: Engine, entries: Sequence[StoredEntry], scope: Scope) -> dict[str, str]:
    """Return the line about the entry that each of these has taken the place of, by id."""
    found = former(engine.store, [entry.id for entry in entries], scope)
    return former_lines(engine.workspace.global_store, entries, found)


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of each entry: it may be found by its own words and by those of entries before it."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.entry.id, hit)
    return list(best.values())


class _Meant:
    """The passages of a prompt, compared with entries by vector.

    Only the first and the last few passages are used, because pasted text is usually in the middle.
    """

    def __init__(self, store: Store, question: Question, statistics: TermStatistics, embed: Embed) -> None:
        passages = list(zip(question.passages, question.texts, strict=True))
        ends = _MOST_COMPARED // 2
        self._passages = passages if len(passages) <= _MOST_COMPARED else passages[:ends] + passages[-ends:]
        self._store = store
        self._statistics = statistics
        self._embed = embed

    def nearest(self, scope: Scope) -> list[str]:
        """Return the ids of the entries in scope nearest to any passage."""
        found: dict[str, None] = {}
        for _, text in self._passages:
            vector = self._embed(text, self._statistics)
            if not vector:
                self._passages = []  # do not try again: each failure may take long
                return []
            found |= {match.id: None for match in self._store.vector_matches(vector, scope, _NEAREST)}
        return list(found)

    def surprises(
        self, ids: Sequence[str], places: Mapping[str, Collection[str]], *, triggers: bool = True
    ) -> dict[str, float]:
        """Return for each entry its surprising closeness to a passage, apart from the words in common.

        Without `triggers`, it is that of the text alone.
        """
        most: dict[str, float] = {}
        for terms, text in self._passages:
            alike: dict[frozenset[str], list[str]] = {}
            for id in ids:
                alike.setdefault(frozenset(terms).intersection(places.get(id, ())), []).append(id)
            for shared, those in alike.items():
                vector = self._embed(text, self._statistics.without(shared))
                for id, cosine in self._store.similarities(vector, those, triggers=triggers).items():
                    most[id] = max(most.get(id, 0.0), surprise(cosine))
        return most


def _used(settings: Settings) -> list[str]:
    """Return the enabled categories, or an empty list if all are enabled."""
    used = [name for name in PROJECT if settings.flag(f"categories.{name}.enabled")]
    return [] if len(used) == len(PROJECT) else [*KNOWLEDGE, *used]


def _told(hit: Hit, asked: PromptRequest, path: str) -> PromptHit | None:
    """Return an entry as shown to a prompt, or None if its memory file must not be shown.

    The file is read again, because the store may be out of date.
    """
    entry = hit.entry
    told = PromptHit(
        category=entry.category,
        title=entry.name,
        description=entry.description,
        reasoning=entry.reasoning,
        details=entry.details,
        tags=entry.keywords,
        triggers=entry.triggers,
        repository=bool(entry.project) and not entry.unproven and not entry.said_by,
        said_by=entry.said_by,
        key=entry.id,
        id=entry.id,
        nats=hit.nats,
    )
    if not path:
        return told
    memory = asked.as_it_is(path, entry.category)
    if memory is None or asked.root is None:
        return None
    told.path = told.key = asked.root.shown(path)
    return retell(told, memory)
