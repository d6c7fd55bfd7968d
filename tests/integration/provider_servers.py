"""Local HTTP servers that speak the embedding protocols of the providers, and remember what they were asked.

The real clients talk to them, so that what is tested is what the clients put on the wire and make of the answers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

KEY = "test-key-0123456789-do-not-show"

REMOTE = ("gemini", "openai", "voyage", "ollama")
DIMENSIONS = {"local": 384, "gemini": 768, "openai": 1536, "voyage": 1024, "ollama": 768}


@dataclass(frozen=True)
class Received:
    """One request, as the server got it."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def texts(self) -> list[str]:
        if "requests" in self.body:
            return [part["text"] for request in self.body["requests"] for part in request["content"]["parts"]]
        return self.body["input"]


def vector_of(text: str, dimensions: int) -> list[float]:
    """A vector that depends on the text alone, and is not of unit length."""
    chance = random.Random(hashlib.sha256(text.encode()).digest())
    return [chance.uniform(-3, 3) for _ in range(dimensions)]


class ProviderServer:
    """A server for one provider's protocol; change its attributes to make it misbehave."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.dimensions = DIMENSIONS[provider]
        self.received: list[Received] = []
        self.status = 200
        self.raw: bytes | None = None
        self.silent = False
        self.change: Callable[[list[list[float]]], list[list[float]]] = lambda vectors: vectors
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that send the provider's client to this server."""
        return {
            "gemini": {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": self.url},
            "openai": {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": self.url + "/v1"},
            "voyage": {"VOYAGE_API_KEY": KEY, "VOYAGE_BASE_URL": self.url + "/v1"},
            "ollama": {"OLLAMA_HOST": self.url},
        }[self.provider]

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, received: Received) -> tuple[int, bytes] | None:
        """The status and body for a request, or None for no answer at all."""
        self.received.append(received)
        if self.silent:
            self._closing.wait()
            return None
        if self.raw is not None:
            return self.status, self.raw
        if self.status != 200:
            return self.status, json.dumps(self._complaint(received)).encode()
        vectors = self.change([vector_of(text, self.dimensions) for text in received.texts])
        return 200, json.dumps(self._answer(vectors)).encode()

    def _answer(self, vectors: list[list[float]]) -> Any:
        if self.provider == "gemini":
            return {"embeddings": [{"values": vector} for vector in vectors]}
        if self.provider == "ollama":
            return {"model": "any", "embeddings": vectors}
        encode: Callable[[list[float]], Any] = _base64 if self.provider == "voyage" else list
        data = [{"object": "embedding", "index": n, "embedding": encode(vector)} for n, vector in enumerate(vectors)]
        # In what order they come is not promised by OpenAI: each says which text it belongs to.
        ordered = data[::-1] if self.provider == "openai" else data
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": ordered, "model": "any", "usage": usage}

    def _complaint(self, received: Received) -> Any:
        """An error in the provider's form, by a server careless enough to repeat the key."""
        sent = received.headers.get("x-goog-api-key") or received.headers.get("authorization", "none")
        message = f"no luck with key {sent} at {received.path}"
        return {
            "gemini": {"error": {"code": self.status, "message": message, "status": "UNLUCKY"}},
            "openai": {"error": {"message": message, "type": "unlucky", "param": None, "code": None}},
            "voyage": {"detail": message},
            "ollama": {"error": message},
        }[self.provider]


def speaking(provider: str) -> ProviderServer:
    """A server that gives similar vectors to texts that share words."""
    server = ProviderServer(provider)
    server.change = lambda _: [bag_of_words(text, server.dimensions) for text in server.received[-1].texts]
    return server


def bag_of_words(text: str, dimensions: int) -> list[float]:
    words = set(re.findall(r"[a-z]+", text.lower().partition(": ")[2] or text.lower()))
    parts = [vector_of(word, dimensions) for word in sorted(words)] or [vector_of(text, dimensions)]
    return [sum(values) for values in zip(*parts, strict=True)]


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: ProviderServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gives up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.owner.answer(Received(self.path, headers, body))
        if answer is None:
            self.close_connection = True
            return
        status, content = answer
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""
