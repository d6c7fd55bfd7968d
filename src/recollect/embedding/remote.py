"""Common parts of all network providers: timeouts, packages, keys, and error messages."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from recollect.domain.text import one_line
from recollect.embedding.base import Kind
from recollect.errors import EmbeddingError, RateLimited
from recollect.extras import way_to_add

# For one batch. A person may be waiting for the answer.
TIMEOUT_SECONDS = 20.0

# Callers store the vectors of each call, so a rate limit costs them one batch of this size at most.
BATCH_SIZE = 50

_LONGEST_DETAIL = 200


class KeyedSource:
    """A source behind a provider's own client, which is made on first use. Subclasses name the provider and ask it."""

    provider: str
    title: str
    package: str
    default_model: str
    key_variable: str
    base_url_variable: str
    lengths: ClassVar[Mapping[str, int]] = {}
    dimensions = 0
    batch_size = BATCH_SIZE

    def __init__(
        self, key: str, model: str = "", *, base_url: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.model = model or self.default_model
        self.dimensions = self.lengths.get(self.model, self.dimensions)
        access = f"set {self.key_variable} to a valid key"
        self.service = Service(self.title, self.model, timeout, key=key, access=access)
        self.key = key
        self.base_url = base_url
        self.timeout = timeout
        self._connecting = threading.Lock()
        self._client: Any = None

    @property
    def identity(self) -> str:
        return f"{self.provider}/{self.model}" + (f"-{self.dimensions}" if self.dimensions else "")

    def vectors(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        """Return one vector for each text. Raises as `VectorSource.vectors` does."""
        try:
            with self._connecting:
                self._client = self._client or self.connect()
            return self.ask(self._client, texts, kind)
        except Exception as error:
            raise self.in_words(error) from None

    def connect(self) -> Any:
        """Import the provider's package and return its client."""
        raise NotImplementedError

    def ask(self, client: Any, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        """Return the client's vectors for some texts. Its exceptions are for `in_words`."""
        raise NotImplementedError

    def in_words(self, error: Exception) -> Exception:
        """Return our error for an exception of the client."""
        raise NotImplementedError


class Service:
    """A provider under its public name, with errors for its failures. Their messages never hold the key.

    `access` is the advice for a refused access, `start` for an unreachable provider, `get` for an unknown model.
    """

    def __init__(
        self,
        title: str,
        model: str,
        timeout: float,
        *,
        key: str = "",
        access: str = "check who may use it",
        start: str = "check the network connection, then try again",
        get: str = "set memory_embedding_model to one that it has, or to auto",
    ) -> None:
        self.title = title
        self.model = model
        self.timeout = timeout
        self.key = key
        self.access = access
        self.start = start
        self.get = get

    def refused(self, status: int | None, detail: str = "") -> EmbeddingError:
        """Return the error for an answer with any status but success."""
        if status == 429:
            return RateLimited(f"{self.title} asked to slow down (HTTP 429); what is left is embedded later")
        if status in (401, 403):
            return EmbeddingError(f"{self.title} refused access (HTTP {status}); {self.access}")
        if status == 404:
            return EmbeddingError(f"{self.title} does not know the embedding model {self.model} (HTTP 404); {self.get}")
        said = self._told(detail)
        if status is not None and status >= 500:
            return EmbeddingError(f"{self.title} failed to embed (HTTP {status}{said}); try again later")
        return EmbeddingError(
            f"{self.title} refused to embed with {self.model} (HTTP {status}{said}); check the model and the key"
        )

    def silent(self) -> EmbeddingError:
        """Return the error for a timeout."""
        return EmbeddingError(f"{self.title} did not answer within {self.timeout:g} seconds; try again later")

    def unreachable(self, detail: str = "") -> EmbeddingError:
        """Return the error for a failed connection."""
        return EmbeddingError(f"{self.title} cannot be reached{self._told(detail)}; {self.start}")

    def unreadable(self, error: BaseException) -> EmbeddingError:
        """Return the error for an answer the client could not read."""
        said = self._told(f"{type(error).__name__}: {error}")
        return EmbeddingError(f"{self.title} sent an answer that holds no vectors{said}; try again later")

    def _told(self, detail: str) -> str:
        # Hide the key before cutting the text: the cut could leave a part of the key.
        hidden = detail.replace(self.key, "***") if self.key else detail
        line = one_line(hidden)[:_LONGEST_DETAIL].strip()
        return f": {line}" if line else ""


def is_installed(module: str) -> bool:
    """Return True if a module could be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def require_package(module: str, extra: str) -> None:
    """Raise EmbeddingError with the way to add an optional package if it is missing. Do not import it."""
    if not is_installed(module):
        name = module.replace(".", "-")
        raise EmbeddingError(f"embedding with {extra} needs the package {name}: {way_to_add(extra)}")


def required_key(environment: Mapping[str, str], variable: str, provider: str) -> str:
    """Return the key in an environment variable.

    Raises:
        EmbeddingError: the variable is not set, or is blank.
    """
    key = environment.get(variable, "").strip()
    if not key:
        raise EmbeddingError(
            f"embedding with {provider} needs a key: set the environment variable {variable}, "
            "or set memory_embedding_provider to local, which needs none"
        )
    return key


def is_kind_of(error: BaseException, *names: str) -> bool:
    """Return True if an exception's class, or one of its bases, has one of these names.

    Clients come with one of several HTTP libraries inside. Their exceptions share names but no class.
    """
    return any(kind.__name__ in names for kind in type(error).__mro__)
