"""Embedding by Voyage AI's API. Its default model was made for code."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from recollect.embedding.base import Kind
from recollect.embedding.remote import TIMEOUT_SECONDS, Service, is_kind_of

DEFAULT_MODEL = "voyage-code-3"
KEY_VARIABLE = "VOYAGE_API_KEY"

# Our own variable: the client does not read it.
BASE_URL_VARIABLE = "VOYAGE_BASE_URL"

_DIMENSIONS = {
    "voyage-code-3": 1024,
    "voyage-code-2": 1536,
    "voyage-3.5": 1024,
    "voyage-3.5-lite": 1024,
    "voyage-3-large": 1024,
    "voyage-3": 1024,
    "voyage-3-lite": 512,
}


class VoyageSource:
    """Vectors of the model's own default length."""

    provider = "voyage"

    # A request to voyage-code-3 may hold 120,000 tokens, and so this many of the longest texts.
    batch_size = 20

    def __init__(
        self, key: str, model: str = DEFAULT_MODEL, *, base_url: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.model = model
        self.identity = f"{self.provider}/{model}"
        self.dimensions = _DIMENSIONS.get(model, 0)
        self._service = Service("Voyage AI", model, key_variable=KEY_VARIABLE, key=key)
        self._key = key
        self._base_url = base_url
        self._timeout = timeout
        self._connecting = threading.Lock()
        self._client: Any = None

    def vectors(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        """Return one vector for each text.

        Raises:
            RateLimited: Voyage AI asked to slow down.
            EmbeddingError: Voyage AI sent no vectors.
        """
        try:
            return self._connected().embed(list(texts), model=self.model, input_type=kind).embeddings
        except Exception as error:
            raise self._in_words(error) from None

    def _connected(self) -> Any:
        with self._connecting:
            if self._client is None:
                import voyageai

                package: Any = voyageai  # not all of it is typed
                self._client = package.Client(
                    api_key=self._key, base_url=self._base_url, timeout=self._timeout, max_retries=0
                )
            return self._client

    def _in_words(self, error: Exception) -> Exception:
        if is_kind_of(error, "Timeout"):
            return self._service.silent(self._timeout)
        if is_kind_of(error, "APIConnectionError"):
            return self._service.unreachable(str(error))
        status = getattr(error, "http_status", None)
        # The client also raises an API error for a successful answer that it cannot read.
        if status is None or status < 300:
            return self._service.unreadable(error)
        return self._service.refused(status, str(getattr(error, "user_message", "")))
