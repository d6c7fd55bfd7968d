"""Embedding by an Ollama server, on this machine or another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from recollect.embedding.base import Kind
from recollect.embedding.remote import BATCH_SIZE, TIMEOUT_SECONDS, Service, is_kind_of
from recollect.errors import EmbeddingError

DEFAULT_MODEL = "nomic-embed-text"
HOST_VARIABLE = "OLLAMA_HOST"
DEFAULT_HOST = "http://localhost:11434"

_DIMENSIONS = {
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "all-minilm": 384,
    "bge-m3": 1024,
    "snowflake-arctic-embed": 1024,
}

# The prefixes models expect before a query and a document. Ollama does not add them.
_PREFIXES: dict[str, dict[Kind, str]] = {
    "nomic-embed": {"query": "search_query: ", "document": "search_document: "},
    "mxbai-embed": {"query": "Represent this sentence for searching relevant passages: ", "document": ""},
    "snowflake-arctic-embed": {"query": "Represent this sentence for searching relevant passages: ", "document": ""},
}
_NO_PREFIXES: dict[Kind, str] = {"query": "", "document": ""}


class OllamaSource:
    """Vectors from any model of the server. An unknown length is taken from the first answer."""

    provider = "ollama"
    batch_size = BATCH_SIZE

    def __init__(
        self, model: str = DEFAULT_MODEL, *, host: str = DEFAULT_HOST, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.model = model
        self.identity = f"{self.provider}/{model}"
        self.dimensions = _DIMENSIONS.get(model.removesuffix(":latest"), 0)
        self._url = url_of(host) + "/api/embed"
        self._prefixes = _prefixes_of(model)
        self._timeout = timeout
        address = urlsplit(self._url)
        self._service = Service(
            f"Ollama at {address.netloc.rpartition('@')[2]}",
            model,
            timeout,
            key=address.password or "",
            start=f"start it with `ollama serve`, or set {HOST_VARIABLE} to where it runs",
            get=f"run `ollama pull {model}`",
        )

    def vectors(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        """Return one vector for each text. Raises as `VectorSource.vectors` does."""
        prefix = self._prefixes[kind]
        try:
            status, answer = self._ask([prefix + text for text in texts])
            if status == 200:
                return json.loads(answer)["embeddings"]
        except Exception as error:
            raise self._in_words(error) from None
        raise self._service.refused(status, answer)

    def _ask(self, texts: list[str]) -> tuple[int, str]:
        import httpx

        question = {"model": self.model, "input": texts, "truncate": True}
        response = httpx.post(self._url, json=question, timeout=self._timeout)
        return response.status_code, response.text

    def _in_words(self, error: Exception) -> Exception:
        if is_kind_of(error, "TimeoutException"):
            return self._service.silent()
        if is_kind_of(error, "TransportError", "InvalidURL"):
            return self._service.unreachable(str(error))
        return self._service.unreadable(error)


def url_of(host: str) -> str:
    """Return the URL for a value of OLLAMA_HOST. It may lack the scheme, the port, or both.

    Raises:
        EmbeddingError: the value is no address.
    """
    bare = host.strip().rstrip("/") or DEFAULT_HOST
    try:
        parts = urlsplit(bare if "://" in bare else f"http://{bare}")
    except ValueError as error:
        raise EmbeddingError(f"{HOST_VARIABLE} is no address ({error}); set it to one like {DEFAULT_HOST}") from error
    needs_port = "://" not in bare and not parts.netloc.rpartition("]")[2].count(":")
    address = f"{parts.scheme}://{parts.netloc}{':11434' if needs_port else ''}{parts.path}"
    # A server listens at 0.0.0.0, but not every system can call it there.
    return address.replace("//0.0.0.0", "//127.0.0.1")


def _prefixes_of(model: str) -> dict[Kind, str]:
    name = model.rpartition("/")[2]
    return next((prefixes for start, prefixes in _PREFIXES.items() if name.startswith(start)), _NO_PREFIXES)
