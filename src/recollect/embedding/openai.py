"""Embedding by the OpenAI API, from OpenAI or any compatible server."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from recollect.embedding.base import Kind
from recollect.embedding.remote import BATCH_SIZE, TIMEOUT_SECONDS, Service, is_kind_of

DEFAULT_MODEL = "text-embedding-3-small"
KEY_VARIABLE = "OPENAI_API_KEY"
BASE_URL_VARIABLE = "OPENAI_BASE_URL"

_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAISource:
    """Vectors of the model's own length. OpenAI's models do not distinguish queries from documents."""

    provider = "openai"
    batch_size = BATCH_SIZE

    def __init__(
        self, key: str, model: str = DEFAULT_MODEL, *, base_url: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.model = model
        self.dimensions = _DIMENSIONS.get(model, 0)
        self.identity = f"{self.provider}/{model}" + (f"-{self.dimensions}" if self.dimensions else "")
        self._service = Service("OpenAI", model, key_variable=KEY_VARIABLE, key=key)
        self._key = key
        self._base_url = base_url
        self._timeout = timeout
        self._connecting = threading.Lock()
        self._client: Any = None

    def vectors(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:  # noqa: ARG002 (see the class)
        """Return one vector for each text.

        Raises:
            RateLimited: OpenAI asked to slow down.
            EmbeddingError: OpenAI sent no vectors.
        """
        try:
            answer = self._connected().embeddings.create(input=list(texts), model=self.model, encoding_format="float")
            return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        except Exception as error:
            raise self._in_words(error) from None

    def _connected(self) -> Any:
        with self._connecting:
            if self._client is None:
                import openai

                self._client = openai.OpenAI(
                    api_key=self._key, base_url=self._base_url, timeout=self._timeout, max_retries=0
                )
            return self._client

    def _in_words(self, error: Exception) -> Exception:
        failure: Any = error
        if is_kind_of(error, "APIStatusError"):
            return self._service.refused(failure.status_code, failure.message)
        if is_kind_of(error, "APITimeoutError"):
            return self._service.silent(self._timeout)
        if is_kind_of(error, "APIConnectionError"):
            return self._service.unreachable(str(error.__cause__ or ""))
        return self._service.unreadable(error)
