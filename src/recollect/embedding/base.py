"""The protocols for embedders, and the one place for scaling vectors to unit length.

A provider's module only requests vectors (`VectorSource`). `UnitEmbedder` prepares the texts, sends them in batches,
checks the answers and scales the vectors to make them comparable. Short-lived processes import this module, so it does
not use numpy.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol, runtime_checkable

from recollect.errors import EmbeddingError

Kind = Literal["query", "document"]

# Returns the weight of a word, given in lower case, for the subject of a text: between 0 and 1.
Telling = Callable[[str], float]

# With 50 texts in a batch this stays within the smallest limit of a request, even at one token for each byte.
LONGEST_TEXT_BYTES = 6_000

# Providers refuse blank text, and one blank entry must not fail the batch it is in.
_BLANK = "."

_SMALLEST_NORM = 1e-9


class Identified(Protocol):
    """A model of a provider, with the identity of its vectors."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def identity(self) -> str:
        """Return the identity comparable vectors share. It never changes during the life of an embedder."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of a vector, or 0 if it is unknown before the first answer."""
        ...


class Embedder(Identified, Protocol):
    """A converter of texts into vectors. The vectors are compared by their dot product."""

    def embed(self, texts: Sequence[str], kind: Kind, telling: Telling | None = None) -> list[bytes]:
        """Return one vector for each text, in order: little-endian float32 of unit length.

        `telling` returns the weight of a word. Models without support for weights ignore it.

        Raises:
            RateLimited: the provider asked to slow down; nothing from this call is kept.
            EmbeddingError: there is no answer, or an unusable one.
        """
        ...


class VectorSource(Identified, Protocol):
    """A client for one provider's raw vectors. `UnitEmbedder` does the work common to all providers."""

    @property
    def batch_size(self) -> int:
        """Return how many texts one request may hold."""
        ...

    def vectors(self, texts: Sequence[str], kind: Kind) -> Sequence[Sequence[float]]:
        """Return one vector of any length and norm for each text: at most `batch_size` texts, none of them blank.

        Raises:
            RateLimited: the provider asked to slow down.
            EmbeddingError: there is no answer.
        """
        ...


@runtime_checkable
class WordWeigher(Protocol):
    """A source able to give some words of a text more weight than others."""

    def weighed(self, texts: Sequence[str], telling: Telling) -> Sequence[Sequence[float]]:
        """Return vectors like `VectorSource.vectors`, with each word weighted by `telling`."""
        ...


class UnitEmbedder:
    """An embedder over any source. Texts are cut at `LONGEST_TEXT_BYTES`; blank ones are embedded as a full stop."""

    def __init__(self, source: VectorSource) -> None:
        self._source = source
        self.provider = source.provider
        self.model = source.model
        self.identity = source.identity
        self.dimensions = source.dimensions

    def __repr__(self) -> str:
        return f"<embedder {self.identity}>"

    def embed(self, texts: Sequence[str], kind: Kind, telling: Telling | None = None) -> list[bytes]:
        """Return one vector for each text. Raises as `Embedder.embed` does."""
        return [
            self._unit(vector)
            for batch in _batches(texts, self._source.batch_size)
            for vector in self._answers(batch, kind, telling)
        ]

    def _answers(self, batch: list[str], kind: Kind, telling: Telling | None) -> Sequence[Sequence[float]]:
        if telling is not None and isinstance(self._source, WordWeigher):
            answers = self._source.weighed(batch, telling)
        else:
            answers = self._source.vectors(batch, kind)
        try:
            # The answer comes from a server, so it may be of any type.
            answers = [tuple(vector) for vector in answers]
        except TypeError:
            raise self._useless("sent something else than vectors") from None
        if len(answers) != len(batch):
            raise self._useless(f"sent {len(answers)} vectors for {len(batch)} texts")
        return answers

    def _unit(self, vector: Sequence[float]) -> bytes:
        expected = self.dimensions or len(vector)
        if len(vector) != expected or not vector:
            raise self._useless(f"sent a vector of {len(vector)} numbers where {expected or 'some'} were expected")
        try:
            norm = math.hypot(*vector)
        except (TypeError, OverflowError):
            raise self._useless("sent a vector of something else than numbers") from None
        if not math.isfinite(norm):
            raise self._useless("sent a vector that holds a number that is not finite")
        if norm < _SMALLEST_NORM:
            raise self._useless("sent a vector of zeros, which points nowhere")
        self.dimensions = expected
        return struct.pack(f"<{expected}f", *[number / norm for number in vector])

    def _useless(self, what: str) -> EmbeddingError:
        return EmbeddingError(
            f"the embedding model {self.identity} {what}; try again, or choose another model or provider"
        )


def _batches(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(texts), size):
        yield [_sendable(text) for text in texts[start : start + size]]


def _sendable(text: str) -> str:
    """Return the text as valid Unicode, not blank and not longer than a request allows."""
    if text.isascii():
        cut = text[:LONGEST_TEXT_BYTES]
    else:
        cut = text.encode("utf-8", "replace")[:LONGEST_TEXT_BYTES].decode("utf-8", "ignore")
    return cut if cut.strip() else _BLANK
