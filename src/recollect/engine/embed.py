"""Embed entries without a vector (and label those without keywords), in batches. Used after every write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import StoredEntry
from recollect.embedding.base import Embedder
from recollect.engine.engine import Engine
from recollect.engine.label import label_the_rest
from recollect.errors import EmbeddingError, ModelLoading
from recollect.store.values import KeptModel, Model, Scope

BATCH = 50
_SMALL_BATCH = 8  # used with a time limit
_PAGE = 1_000


class Embedded:
    """The result of embedding: entries done, entries still without a vector, and the reason for stopping."""

    def __init__(self, reason: str = "") -> None:
        self.done = 0
        self.pending = 0
        self.reason = reason

    @property
    def warnings(self) -> list[str]:
        """Return a warning if entries are without a vector for a reason."""
        told = f"{self.pending} of the entries are without a vector and found by their words: {self.reason}"
        return [told] if self.reason and self.pending else []


def embed_pending(
    engine: Engine,
    *,
    most: int = BATCH,
    seconds: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> Embedded:
    """Embed at most `most` entries (-1 for all), the newest first, for at most `seconds`.

    Each batch is committed at once, so an interruption loses nothing done. An embedding error ends up in the result's
    `reason` and is not raised.
    """
    result = Embedded()
    end = None if seconds is None else time.monotonic() + seconds
    if not engine.settings.flag("memory_embedding_enabled"):
        result.reason = "memory_embedding_enabled is false"
    else:
        try:
            _embed(engine, result, most, end, progress)
        except ModelLoading:
            pass  # no failure: the rest is embedded once the model is loaded
        except EmbeddingError as error:  # also a rate limit; the rest is embedded later
            result.reason = str(error)
    label_the_rest(engine, end)
    if engine.settings.flag("memory_embedding_enabled"):
        engine.model()
        result.pending = engine.store.coverage_of(_scope(engine)).pending
    return result


def _scope(engine: Engine) -> Scope:
    """Return the scope to embed: all projects for the local provider, else only this project and shared entries."""
    local = engine.settings.text("memory_embedding_provider") == "local"
    return engine.scope(None if local else engine.project)


def start_over(engine: Engine) -> str:
    """Drop all vectors of the configured model, to make them again; return the reason if it does not work.

    Raises:
        StoreError: the store cannot be written.
    """
    try:
        engine.embedder().embed(["a first text"], "document")
    except EmbeddingError as error:
        return str(error)
    engine.model()
    engine.store.drop_vectors()
    return ""


def is_behind(engine: Engine) -> bool:
    """Return True if entries lack a vector of the configured model, and that model is local."""
    settings = engine.settings
    if not settings.flag("memory_embedding_enabled") or settings.text("memory_embedding_provider") != "local":
        return False
    engine.model()
    return bool(engine.store.coverage().pending)


def keep_model(engine: Engine) -> None:
    """Note the use of the configured model, so that its vectors are kept, and drop those unused for long.

    Raises:
        StoreError: the store cannot be written.
    """
    if engine.settings.flag("memory_embedding_enabled") and not engine.store.read_only:
        model = engine.model()
        if model:
            engine.store.use_model(model)


def forget_other_models(engine: Engine) -> list[KeptModel]:
    """Drop the vectors of all models but the configured one, and return these models.

    Raises:
        StoreError: the store cannot be written.
    """
    model = engine.model()
    others = [each for each in engine.store.models() if model is None or each.identity != model.identity]
    engine.store.forget_models([each.identity for each in others])
    return others


def _embed(
    engine: Engine, result: Embedded, most: int, end: float | None, progress: Callable[[int], object] | None
) -> None:
    embedder = engine.embedder()
    if embedder.dimensions:
        engine.store.use_model(_model(embedder))
    else:
        engine.model()
    size = BATCH if end is None else _SMALL_BATCH
    while most < 0 or result.done < most:
        # Each query for entries without a vector scans the entries with one, so fetch many at a time.
        waiting = engine.store.pending(_PAGE if most < 0 else min(_PAGE, most - result.done), _scope(engine))
        before = result.done
        # An entry with triggers has two texts, and a batch is lost as a whole.
        step = size // 2 if any(entry.triggers for entry in waiting) else size
        for start in range(0, len(waiting), step):
            if end is not None and time.monotonic() >= end:
                return
            kept = _embed_batch(engine, waiting[start : start + step], result)
            result.done += kept
            if progress:
                progress(kept)
        if result.done == before:
            return


def _embed_batch(engine: Engine, entries: Sequence[StoredEntry], result: Embedded) -> int:
    """Embed a batch of entries and return how many vectors were stored. Skip entries rewritten meanwhile."""
    store, embedder = engine.store, engine.embedder()
    texts = [_sent(entry.embedded_text, entry.name, embedder) for entry in entries]
    triggers = {entry.id: _sent(entry.trigger_text, "", embedder) for entry in entries if entry.triggers}
    vectors = embedder.embed([*texts, *triggers.values()], "document")
    triggered = dict(zip(triggers, vectors[len(texts) :], strict=True))

    def keep() -> int:
        if not result.done:  # the first batch tells how many dimensions the vectors have
            store.use_model(_model(embedder))
        now = {entry.id: _embedded(entry) for entry in store.entries(entry.id for entry in entries)}
        kept = [
            (entry.id, vector)
            for entry, vector in zip(entries, vectors[: len(entries)], strict=True)
            if now.get(entry.id) == _embedded(entry)
        ]
        store.put_vectors(kept, [(id, triggered[id]) for id, _ in kept if id in triggered])
        return len(kept)

    return store.write(keep)


def _embedded(entry: StoredEntry) -> tuple[str, str]:
    return entry.embedded_text, entry.trigger_text


def _sent(text: str, instead: str, embedder: Embedder) -> str:
    """Return a text for the embedder. If it may hold a credential, a remote one gets the text `instead`, or nothing."""
    if embedder.provider == "local" or not find_secret(text):
        return text
    return "" if find_secret(instead) else instead


def _model(embedder: Embedder) -> Model:
    return Model(embedder.identity, embedder.provider, embedder.model, embedder.dimensions)
