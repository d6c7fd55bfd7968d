"""Embedding by Voyage AI's API. Its default model was made for code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from recollect.embedding.base import Kind
from recollect.embedding.remote import KeyedSource, is_kind_of


class VoyageSource(KeyedSource):
    """Vectors of the model's own default length."""

    provider = "voyage"
    title = "Voyage AI"
    package = "voyageai"
    default_model = "voyage-code-3"
    key_variable = "VOYAGE_API_KEY"
    base_url_variable = "VOYAGE_BASE_URL"  # our own: the client does not read it
    lengths: ClassVar = {
        "voyage-code-3": 1024,
        "voyage-code-2": 1536,
        "voyage-3.5": 1024,
        "voyage-3.5-lite": 1024,
        "voyage-3-large": 1024,
        "voyage-3": 1024,
        "voyage-3-lite": 512,
    }

    # A request to voyage-code-3 may hold 120,000 tokens, and so this many of the longest texts.
    batch_size = 20

    @property
    def identity(self) -> str:
        return f"{self.provider}/{self.model}"

    def connect(self) -> Any:
        import voyageai

        package: Any = voyageai  # not all of it is typed
        return package.Client(api_key=self.key, base_url=self.base_url, timeout=self.timeout, max_retries=0)

    def ask(self, client: Any, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        return client.embed(list(texts), model=self.model, input_type=kind).embeddings

    def in_words(self, error: Exception) -> Exception:
        if is_kind_of(error, "Timeout"):
            return self.service.silent()
        if is_kind_of(error, "APIConnectionError"):
            return self.service.unreachable(str(error))
        status = getattr(error, "http_status", None)
        # The client also raises an API error for a successful answer that it cannot read.
        if status is None or status < 300:
            return self.service.unreadable(error)
        return self.service.refused(status, str(getattr(error, "user_message", "")))
