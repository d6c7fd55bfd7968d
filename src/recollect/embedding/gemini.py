"""Embedding by Google's Gemini API."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from recollect.embedding.base import Kind
from recollect.embedding.remote import BATCH_SIZE, TIMEOUT_SECONDS, Service, is_kind_of

DEFAULT_MODEL = "gemini-embedding-001"
KEY_VARIABLE = "GEMINI_API_KEY"
BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL"

# Every Gemini embedding model can send vectors of this length; they differ in their own.
DIMENSIONS = 768

_TASK_TYPES: dict[Kind, str] = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


class GeminiSource:
    """Vectors of 768 numbers from any of Gemini's embedding models."""

    provider = "gemini"
    dimensions = DIMENSIONS
    batch_size = BATCH_SIZE

    def __init__(
        self, key: str, model: str = DEFAULT_MODEL, *, base_url: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.model = model
        self.identity = f"{self.provider}/{model}-{DIMENSIONS}"
        self._service = Service("Gemini", model, key_variable=KEY_VARIABLE, key=key)
        self._key = key
        self._base_url = base_url
        self._timeout = timeout
        self._connecting = threading.Lock()
        self._client: Any = None

    def vectors(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        """Return one vector for each text.

        Raises:
            RateLimited: Gemini asked to slow down.
            EmbeddingError: Gemini sent no vectors.
        """
        try:
            answer = self._connected().models.embed_content(
                model=self.model,
                # A list of strings would be one content of several parts to some models, and get one vector.
                contents=[{"parts": [{"text": text}]} for text in texts],
                config={"task_type": _TASK_TYPES[kind], "output_dimensionality": DIMENSIONS},
            )
            return [embedding.values for embedding in answer.embeddings]
        except Exception as error:
            raise self._in_words(error) from None

    def _connected(self) -> Any:
        with self._connecting:
            if self._client is None:
                from google import genai
                from google.genai import types

                # Without retry options the client does not retry.
                options = types.HttpOptions(base_url=self._base_url, timeout=max(1, round(self._timeout * 1000)))
                self._client = genai.Client(api_key=self._key, vertexai=False, http_options=options)
            return self._client

    def _in_words(self, error: Exception) -> Exception:
        if is_kind_of(error, "APIError"):
            failure: Any = error
            return self._service.refused(failure.code, failure.message or "")
        if is_kind_of(error, "TimeoutException"):
            return self._service.silent(self._timeout)
        if is_kind_of(error, "TransportError"):
            return self._service.unreachable(str(error))
        return self._service.unreadable(error)
