"""Embedding by Google's Gemini API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.embedding.base import Kind
from recollect.embedding.remote import KeyedSource, is_kind_of

_TASK_TYPES: dict[Kind, str] = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


class GeminiSource(KeyedSource):
    """Vectors of 768 numbers. Every Gemini embedding model can send this length; they differ in their own."""

    provider = "gemini"
    title = "Gemini"
    package = "google.genai"
    default_model = "gemini-embedding-001"
    key_variable = "GEMINI_API_KEY"
    base_url_variable = "GOOGLE_GEMINI_BASE_URL"
    dimensions = 768

    def connect(self) -> Any:
        from google import genai
        from google.genai import types

        # Without retry options the client does not retry.
        options = types.HttpOptions(base_url=self.base_url, timeout=max(1, round(self.timeout * 1000)))
        return genai.Client(api_key=self.key, vertexai=False, http_options=options)

    def ask(self, client: Any, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        answer = client.models.embed_content(
            model=self.model,
            # A list of strings would be one content of several parts to some models, and get one vector.
            contents=[{"parts": [{"text": text}]} for text in texts],
            config={"task_type": _TASK_TYPES[kind], "output_dimensionality": self.dimensions},
        )
        return [embedding.values for embedding in answer.embeddings]

    def in_words(self, error: Exception) -> Exception:
        if is_kind_of(error, "APIError"):
            failure: Any = error
            return self.service.refused(failure.code, failure.message or "")
        if is_kind_of(error, "TimeoutException"):
            return self.service.silent()
        if is_kind_of(error, "TransportError"):
            return self.service.unreachable(str(error))
        return self.service.unreadable(error)
