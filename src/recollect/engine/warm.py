"""What a process that stays has ready for its engines: open stores, and models that are loaded."""

from __future__ import annotations

import os
import threading

from recollect.config import locations
from recollect.errors import EmbeddingError, StoreError
from recollect.store.sqlite.store import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.embedding.base import Embedder, Kind, Telling
    from recollect.engine.numpy_ranking import Columns
    from recollect.store.values import Scope

    # Vectors of the local model, of that identity, made by somebody else; None if nobody can.
    Lender = Callable[[str, Sequence[str], Kind, Telling | None], list[bytes] | None]

LOADING = "the embedding model is still being loaded, so that this was found by its words alone"

# In seconds: how long others may be writing before an answer goes without.
_PATIENCE = 0.5

# Of how many projects the ranking is kept; each is some megabytes for a hundred thousand entries.
_MOST_SCOPES = 8


class Warm:
    """A store that stays open, once for each thread, and the embedders of all of them."""

    def __init__(self, global_store: str, embedders: Embedders) -> None:
        self.global_store = global_store
        self.embedders = embedders
        self._own = threading.local()

    def store(self, patience: float = _PATIENCE) -> SqliteStore:
        """The open store of this thread: opened again if its file was replaced, or cannot be followed.

        Other writers may take `patience` seconds.

        Raises:
            StoreError: it cannot be used.
        """
        path = locations.database(self.global_store)
        known: tuple[object, SqliteStore] | None = getattr(self._own, "store", None)
        if known and known[0] == _file(path) and not known[1].read_only:
            known[1].findings.clear()  # they were told when they were found
            known[1].wait(patience)
            return known[1]
        self.let_go()
        store = SqliteStore(path, patience=patience)
        self._own.store = (_file(path), store)
        return store

    def columns(self, scope: Scope) -> Columns | None:
        """What the entries in scope stand for, for ranking; None until there is a model, which brings what it takes.

        Raises:
            StoreError: it cannot be read.
        """
        if not self.embedders.is_loaded:
            return None
        from recollect.engine.numpy_ranking import Columns

        store = self.store()
        name = (scope.project, scope.categories, scope.statuses)
        kept: dict[object, tuple[object, Columns]] = self._own.__dict__.setdefault("columns", {})
        version = (_file(store.path), store.version())
        if name not in kept or kept[name][0] != version:
            if len(kept) >= _MOST_SCOPES:
                kept.clear()
            kept[name] = (version, Columns(store.standings(scope)))
        return kept[name][1]

    def let_go(self) -> None:
        """Close the store of this thread; whoever comes next opens it again."""
        known: tuple[object, SqliteStore] | None = getattr(self._own, "store", None)
        self._own.store = None
        if known:
            try:
                known[1].close()
            except (StoreError, ValueError):
                return  # damaged beyond closing


def _file(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino


class Embedders:
    """The embedders of a process that stays, made once."""

    def __init__(self, lender: Lender | None = None) -> None:
        """A `lender` is asked first for vectors of the local model, so that it is in memory once."""
        self._lender = lender
        self._lock = threading.Lock()
        self._made: dict[tuple[str, str, float], Embedder] = {}
        self._local: dict[str, LocalModel] = {}

    def get(self, provider: str, model: str, seconds: float) -> Embedder:
        """The embedder of a provider, who may take so many seconds to answer.

        Raises:
            EmbeddingError: it cannot be had.
        """
        with self._lock:
            name = (provider, model, seconds)
            if name not in self._made:
                made = _made(*name)
                if provider == "local":  # which has several names, and is to be in memory once
                    made = self._local.setdefault(made.identity, LocalModel(made, self._lender))
                self._made[name] = made
            return self._made[name]

    def load(self, model: str) -> None:
        """Load a model that is on this machine, and wait for that.

        Raises:
            EmbeddingError: it cannot be had.
        """
        identity = self.get("local", model, 0.0).identity
        self._local[identity].load()

    @property
    def is_loaded(self) -> bool:
        """Whether the local model is in this process's memory."""
        return any(model.is_loaded for model in self._local.values())


class LocalModel:
    """The local model, for which nobody waits: until it is loaded, somebody else's is used, or none."""

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
        """One vector for each text.

        Raises:
            EmbeddingError: the model is still being loaded, or cannot be.
        """
        if not self.is_loaded:
            is_begun = self._lock.locked()  # who loads its own has asked in vain
            lent = self._lender(self.identity, texts, kind, telling) if self._lender and not is_begun else None
            if lent is not None:
                return lent
            self._begin()
            failure, self._failure = self._failure, ""  # whoever asks next tries again
            raise EmbeddingError(failure or LOADING)
        return self._embedder.embed(texts, kind, telling)

    def load(self) -> None:
        """Load it, and wait for that.

        Raises:
            EmbeddingError: it cannot be loaded.
        """
        with self._lock:
            if not self.is_loaded:
                self._embedder.embed(["a first text, for which the model is loaded"], "query")
                self.is_loaded = True

    def _begin(self) -> None:
        """Begin to load it, if nobody has."""
        if not self._lock.locked() and not self._failure:
            threading.Thread(target=self._try, name="model", daemon=True).start()

    def _try(self) -> None:
        try:
            self.load()
        except EmbeddingError as error:
            self._failure = str(error)


def _made(provider: str, model: str, seconds: float) -> Embedder:
    from recollect.embedding.registry import create_embedder

    return create_embedder(provider, model, timeout=seconds)
