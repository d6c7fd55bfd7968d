"""Open stores and loaded models, kept by a long-running process for its Engines."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from recollect.errors import EmbeddingError, ModelLoading, StoreError
from recollect.store.open import open_store, store_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.shared.acting import Acting
    from recollect.embedding.base import Embedder, Kind, Telling
    from recollect.engine.numpy_ranking import NumpyRanking
    from recollect.store.base import Store
    from recollect.store.values import Scope

    # Asks another process for vectors of the local model with this identity; returns None if there is none to ask.
    Lender = Callable[[str, Sequence[str], Kind, Telling | None], list[bytes] | None]

# In seconds: how long to wait for other writers before giving up on the store.
_TIMEOUT = 0.5

# In seconds: how often to look whether a model is loaded.
_LOOKING = 0.05

# The most scopes with cached columns; each takes some megabytes for a hundred thousand entries.
_MOST_SCOPES = 8


class Warm:
    """A store kept open, once for each thread, and the embedders shared by all threads."""

    def __init__(self, global_store: str, embedders: Embedders) -> None:
        self.global_store = global_store
        self.embedders = embedders
        self._own = threading.local()

    def store(self, patience: float = _TIMEOUT, place: str = "", acting: Acting | None = None) -> Store:
        """Return this thread's open store at a place, by default the global store; on a server for a user.

        Open it again if its file was replaced, or if it is read-only. Wait up to `patience` seconds for other writers.

        Raises:
            StoreError: the store cannot be used.
        """
        place = place or self.global_store
        known: tuple[object, Store, Acting | None] | None = getattr(self._own, "store", None)
        if known and known[0] == (place, store_mark(place)) and (acting or not known[1].read_only):
            store = known[1]
            store.findings.clear()  # they were reported when they were found
            store.wait(patience)
            if acting != known[2]:
                self._own.store = (*known[:2], acting)
                store.act_as(acting)
            return store
        self.let_go()
        store = open_store(place, patience=patience, acting=acting)
        self._own.store = ((place, store_mark(place)), store, acting)
        return store

    def columns(self, scope: Scope, place: str = "", acting: Acting | None = None) -> NumpyRanking | None:
        """Return the ranking columns of a scope, on a server for a user.

        None until the model is loaded, because it brings numpy.

        Raises:
            StoreError: the store cannot be read.
        """
        if not self.embedders.is_loaded:
            return None
        from recollect.engine.numpy_ranking import NumpyRanking

        place = place or self.global_store
        store = self.store(place=place, acting=acting)
        name = (place, acting, scope.key)
        kept: dict[object, tuple[object, NumpyRanking]] = self._own.__dict__.setdefault("columns", {})
        version = (store_mark(place), store.version())
        if name not in kept or kept[name][0] != version:
            if len(kept) >= _MOST_SCOPES:
                kept.clear()
            kept[name] = (version, NumpyRanking(store.standings(scope)))
        return kept[name][1]

    def let_go(self) -> None:
        """Close this thread's store; the next use opens it again."""
        known: tuple[object, Store, Acting | None] | None = getattr(self._own, "store", None)
        self._own.store = None
        if known:
            try:
                known[1].close()
            except (StoreError, ValueError):
                return  # damaged beyond closing


class Embedders:
    """The embedders of a long-running process, each created once."""

    def __init__(self, lender: Lender | None = None) -> None:
        """Take a `lender` to ask first for vectors of the local model, so that only one process loads it."""
        self._lender = lender
        self._lock = threading.Lock()
        self._made: dict[tuple[str, str, float], Embedder] = {}
        self._local: dict[str, LocalModel] = {}
        self._patient: dict[Embedder, PatientModel] = {}

    def get(self, provider: str, model: str, seconds: float) -> Embedder:
        """Return the embedder of a provider, with a timeout of `seconds`.

        Raises:
            EmbeddingError: the embedder is not available.
        """
        with self._lock:
            name = (provider, model, seconds)
            if name not in self._made:
                from recollect.embedding.registry import create_embedder

                made = create_embedder(provider, model, timeout=seconds)
                if provider == "local":  # its model has several names, but is loaded only once
                    made = self._local.setdefault(made.identity, LocalModel(made, self._lender))
                self._made[name] = made
            return self._made[name]

    def patient(self, embedder: Embedder, seconds: float) -> Embedder:
        """Return the same embedder, whose first uses wait for its model to be loaded.

        All uses together wait for at most `seconds`, counted from the first wait.
        """
        with self._lock:
            return self._patient.setdefault(embedder, PatientModel(embedder, seconds))

    def load(self, model: str) -> None:
        """Load a local model, and wait until it is loaded.

        Raises:
            EmbeddingError: the model is not available.
        """
        identity = self.get("local", model, 0.0).identity
        self._local[identity].load()

    @property
    def is_loaded(self) -> bool:
        """Return True if this process has the local model in memory."""
        return any(model.is_loaded for model in self._local.values())


class LocalModel:
    """The local model, loaded in the background. Until then, vectors come from the lender, or not at all."""

    def __init__(self, embedder: Embedder, lender: Lender | None) -> None:
        self._embedder = embedder
        self._lender = lender
        self._lock = threading.Lock()
        self._failure = ""
        self.is_loaded = False
        self.provider = embedder.provider
        self.model = embedder.model
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions

    def embed(self, texts: Sequence[str], kind: Kind, telling: Telling | None = None) -> list[bytes]:
        """Return one vector for each text.

        Raises:
            ModelLoading: the model is still being loaded.
            EmbeddingError: the model cannot be loaded.
        """
        if not self.is_loaded:
            is_begun = self._lock.locked()  # loading starts only after the lender had no vectors
            lent = self._lender(self.identity, texts, kind, telling) if self._lender and not is_begun else None
            if lent is not None:
                return lent
            self._begin()
            failure, self._failure = self._failure, ""  # the next call tries again
            raise EmbeddingError(failure) if failure else ModelLoading()
        return self._embedder.embed(texts, kind, telling)

    def load(self) -> None:
        """Load the model, and wait until it is loaded.

        Raises:
            EmbeddingError: the model cannot be loaded.
        """
        with self._lock:
            if not self.is_loaded:
                self._embedder.embed(["a first text, for which the model is loaded"], "query")
                self.is_loaded = True

    def _begin(self) -> None:
        """Start loading the model in a thread, unless one is loading it already."""
        if not self._lock.locked() and not self._failure:
            threading.Thread(target=self._try, name="model", daemon=True).start()

    def _try(self) -> None:
        try:
            self.load()
        except EmbeddingError as error:
            self._failure = str(error)


class PatientModel:
    """A model that may still be loading: its first uses wait for it, all together for a number of seconds."""

    def __init__(self, embedder: Embedder, seconds: float) -> None:
        self._embedder = embedder
        self._seconds = seconds
        self._end: float | None = None  # if one wait was in vain, the next would probably be as well
        self.provider = embedder.provider
        self.model = embedder.model
        self.identity = embedder.identity

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str], kind: Kind, telling: Telling | None = None) -> list[bytes]:
        """Return one vector for each text.

        Raises:
            ModelLoading: the model is still being loaded, and there is no time left to wait.
            EmbeddingError: there are no vectors for another reason.
        """
        while True:
            try:
                return self._embedder.embed(texts, kind, telling)
            except ModelLoading:
                now = time.monotonic()
                self._end = now + self._seconds if self._end is None else self._end
                if now >= self._end:
                    raise
                time.sleep(_LOOKING)
