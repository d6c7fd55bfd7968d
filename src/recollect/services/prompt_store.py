"""The memories that a prompt is about, out of the store: what shares telling words with it, and enough of them."""

from __future__ import annotations

import time

from recollect.domain.aboutness import Question, Rarity, aboutness
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.fusion import TermStatistics, surprise
from recollect.domain.prompt_block import LONGEST, Told
from recollect.errors import StoreError
from recollect.services.app import Engine
from recollect.services.catch_up import catch_up
from recollect.services.prompt_asked import retell
from recollect.store.values import Receipt, ReceiptLine, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.stored import StoredEntry
    from recollect.services.prompt_asked import Asked
    from recollect.services.settings import Settings
    from recollect.store.base import Store

# How many entries are looked at more closely, and by how many of the prompt's rarest terms they are found.
_CANDIDATES = 20
_MOST_TERMS = 16

# Another writer may take so long before the prompt goes without.
_PATIENCE = 0.5

_LONGEST_QUERY = 300
_LONGEST_SESSION = 100

# A hit needs some hundred characters of the block, so that more than these are never shown.
_MOST_SHOWN = LONGEST // 100


class Hit:
    """An entry that a prompt is about, and how surely."""

    __slots__ = ("entry", "nats")

    def __init__(self, entry: StoredEntry, nats: float) -> None:
        self.entry = entry
        self.nats = nats


class Answer:
    """What the store answers a prompt: the hits, the best first, and the words that it knew."""

    __slots__ = ("hits", "known")

    def __init__(self, hits: list[Hit], known: list[str]) -> None:
        self.hits = hits
        self.known = known


def from_store(asked: Asked) -> list[Told]:
    """What the prompt is told, the best first; a receipt of it is kept.

    Raises:
        StoreError: the store cannot be read.
    """
    settings, root = asked.settings, asked.project_root
    with Engine(asked.global_store, settings, project_root=root, patience=_PATIENCE) as engine:
        store = engine.store
        asked.warnings += catch_up(engine, root, asked.root, engine.project, leave=asked.leave)
        answer = ask(store, asked.prompt, Scope(engine.project, _used(settings)))
        shown = asked.take(_new(asked, answer.hits[:_MOST_SHOWN], store))
        if shown:
            # Of the prompt only words that the store has as well: whatever else is in it is not ours to keep.
            given = [(each.id, each.nats) for each in shown]
            keep_receipt(engine, asked.session, answer.known, given, asked.warnings)
        asked.warnings += store.findings
    return shown


def _new(asked: Asked, hits: Sequence[Hit], store: Store) -> list[Told]:
    """What the session has not had, as far as it may be told, by its file if it has one."""
    paths = store.memory_paths(hit.entry.id for hit in hits) if hits else {}
    most = asked.settings.whole("retrieval.max_inject")
    new: list[Told] = []
    for hit in hits:
        told = _told(hit, asked, paths.get(hit.entry.id, ""))
        if told and told.key not in asked.given and len(new) < most:
            new.append(told)
    return new


def keep_receipt(
    engine: Engine, session: str, words: Sequence[str], given: Sequence[tuple[str, float]], warnings: list[str]
) -> None:
    """Keep what a prompt was given, by ids and scores, and the words that it was found by; else a warning."""
    receipt = Receipt(
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        event="prompt",
        project=engine.project,
        session=session[:_LONGEST_SESSION],
        query=" ".join(words)[:_LONGEST_QUERY],
        lines=[ReceiptLine(id, score, vector=0.0, keyword=score, prominence=0.0) for id, score in given],
    )
    try:
        engine.store.recalled(receipt, counted=engine.settings.flag("memory_recall_tracking"))
    except StoreError as error:
        warnings.append(f"the recall was not counted: {error}")


def ask(store: Store, prompt: str, scope: Scope, embed: Callable[[TermStatistics], bytes] | None = None) -> Answer:
    """The entries in scope that a prompt is about, the best first.

    By words alone, unless there is somebody to `embed` it.

    Raises:
        StoreError: the store cannot be read.
    """
    question = Question(prompt)
    if not question.terms:
        return Answer([], [])
    frequencies, entries = store.document_frequencies(question.terms)
    rarity = Rarity(frequencies, entries)
    terms = rarity.known(question.terms, _MOST_TERMS)
    ids = [match.id for match in store.text_matches(rarity.to_find_by(terms), scope, _CANDIDATES)]
    meanings = _meanings(store, embed(TermStatistics(frequencies, entries)), scope, ids) if embed else {}
    ids += [id for id in meanings if id not in ids]
    places = store.term_places(terms, ids) if ids else {}
    hits: list[Hit] = []
    for entry in store.entries(ids):
        meaning = meanings.get(entry.id, 0.0) if embed else None
        nats = aboutness(question, rarity, places.get(entry.id, {}), entry.name, meaning)
        if nats >= 0:
            hits.append(Hit(entry, nats))
    hits.sort(key=lambda hit: (-hit.nats, hit.entry.id))
    return Answer(hits, terms)


def _meanings(store: Store, vector: bytes, scope: Scope, ids: list[str]) -> dict[str, float]:
    """How surprisingly close entries are: those found by their words, and the nearest."""
    cosines = {match.id: match.score for match in store.vector_matches(vector, scope, _CANDIDATES)}
    cosines |= store.similarities(vector, [id for id in ids if id not in cosines])
    usual = store.background(vector, Scope(None))
    return {id: surprise(cosine, usual.mean, usual.deviation, usual.count) for id, cosine in cosines.items()}


def _used(settings: Settings) -> list[str]:
    """The categories that may be given, if any may not."""
    used = [name for name in PROJECT if settings.flag(f"categories.{name}.enabled")]
    return [] if len(used) == len(PROJECT) else [*KNOWLEDGE, *used]


def _told(hit: Hit, asked: Asked, path: str) -> Told | None:
    """An entry as the prompt is told of it; None if its file says otherwise: the store may be behind."""
    entry = hit.entry
    told = Told(
        category=entry.category,
        title=entry.name,
        description=entry.description,
        reasoning=entry.reasoning,
        details=entry.details,
        tags=entry.keywords,
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
