"""Embedding by the OpenAI API, from OpenAI or any compatible server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from recollect.embedding.base import Kind
from recollect.embedding.remote import KeyedSource, is_kind_of


class OpenAISource(KeyedSource):
    """Vectors of the model's own length. OpenAI's models do not distinguish queries from documents."""

    provider = "openai"
    title = "OpenAI"
    package = "openai"
    default_model = "text-embedding-3-small"
    key_variable = "OPENAI_API_KEY"
    base_url_variable = "OPENAI_BASE_URL"
    lengths: ClassVar = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}

    def connect(self) -> Any:
        import openai

        return openai.OpenAI(api_key=self.key, base_url=self.base_url, timeout=self.timeout, max_retries=0)

    def ask(self, client: Any, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:  # noqa: ARG002 (see the class)
        answer = client.embeddings.create(input=list(texts), model=self.model, encoding_format="float")
        return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]

    def in_words(self, error: Exception) -> Exception:
        failure: Any = error
        if is_kind_of(error, "APIStatusError"):
            return self.service.refused(failure.status_code, failure.message)
        if is_kind_of(error, "APITimeoutError"):
            return self.service.silent()
        if is_kind_of(error, "APIConnectionError"):
            return self.service.unreachable(str(error.__cause__ or ""))
        return self.service.unreadable(error)
