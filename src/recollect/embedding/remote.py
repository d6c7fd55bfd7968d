"""What all providers behind a network share: time-outs, packages and keys, and words for what goes wrong."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from recollect.domain.text import one_line
from recollect.errors import EmbeddingError, RateLimited

# For one batch. A person may be waiting for the answer.
TIMEOUT_SECONDS = 20.0

# Callers store what they have after each call, so that a rate limit costs them one batch of this size at most.
BATCH_SIZE = 50

_LONGEST_DETAIL = 200


class Service:
    """A provider as its users know it, and its failures in words that never hold the key.

    `start` says what to do when it cannot be reached, `get` what to do when it does not know the model.
    """

    def __init__(
        self, title: str, model: str, *, key_variable: str = "", key: str = "", start: str = "", get: str = ""
    ) -> None:
        self._title = title
        self._model = model
        self._key_variable = key_variable
        self._key = key
        self._start = start or "check the network connection, then try again"
        self._get = get or "set memory_embedding_model to one that it has, or to auto"

    def __repr__(self) -> str:
        return f"<service {self._title}>"

    def refused(self, status: int | None, detail: str = "") -> EmbeddingError:
        """The error for an answer with a status that is not success."""
        if status == 429:
            return RateLimited(f"{self._title} asked to slow down (HTTP 429); what is left is embedded later")
        if status in (401, 403):
            return EmbeddingError(f"{self._title} refused access (HTTP {status}); {self._about_the_key()}")
        if status == 404:
            return EmbeddingError(
                f"{self._title} does not know the embedding model {self._model} (HTTP 404); {self._get}"
            )
        said = self._told(detail)
        if status is not None and status >= 500:
            return EmbeddingError(f"{self._title} failed to embed (HTTP {status}{said}); try again later")
        return EmbeddingError(
            f"{self._title} refused to embed with {self._model} (HTTP {status}{said}); check the model and the key"
        )

    def silent(self, seconds: float) -> EmbeddingError:
        """The error for no answer in time."""
        return EmbeddingError(f"{self._title} did not answer within {seconds:g} seconds; try again later")

    def unreachable(self, detail: str = "") -> EmbeddingError:
        """The error for no connection."""
        return EmbeddingError(f"{self._title} cannot be reached{self._told(detail)}; {self._start}")

    def unreadable(self, error: BaseException) -> EmbeddingError:
        """The error for an answer that the client could not make sense of."""
        said = self._told(f"{type(error).__name__}: {error}")
        return EmbeddingError(f"{self._title} sent an answer that holds no vectors{said}; try again later")

    def _about_the_key(self) -> str:
        if self._key_variable:
            return f"set {self._key_variable} to a valid key"
        return "check who may use it"

    def _told(self, detail: str) -> str:
        # The key goes before the cut, which could leave the half of it that is worth the most.
        hidden = detail.replace(self._key, "***") if self._key else detail
        line = one_line(hidden)[:_LONGEST_DETAIL].strip()
        return f": {line}" if line else ""


def is_installed(module: str) -> bool:
    """Whether a module could be imported, found out without doing so."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def require_package(module: str, extra: str) -> None:
    """Make sure that an optional package is installed, without importing it.

    Raises:
        EmbeddingError: it is not; the message holds the command that installs it.
    """
    if not is_installed(module):
        raise EmbeddingError(
            f"embedding with {extra} needs the package {module.replace('.', '-')}: pip install 'recollect[{extra}]'"
        )


def required_key(environment: Mapping[str, str], variable: str, provider: str) -> str:
    """The key that a variable holds.

    Raises:
        EmbeddingError: the variable is not set, or holds nothing.
    """
    key = environment.get(variable, "").strip()
    if not key:
        raise EmbeddingError(
            f"embedding with {provider} needs a key: set the environment variable {variable}, "
            "or set memory_embedding_provider to local, which needs none"
        )
    return key


def is_kind_of(error: BaseException, *names: str) -> bool:
    """Whether an exception is of a class with one of these names.

    Clients come with one of several HTTP libraries inside, whose exceptions share names but no class.
    """
    return any(kind.__name__ in names for kind in type(error).__mro__)
