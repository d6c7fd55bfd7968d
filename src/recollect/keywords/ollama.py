"""Labels from a model under Ollama, on this machine or another chosen by the user."""

from __future__ import annotations

import json
import time
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from recollect.errors import KeywordError
from recollect.extras import way_to_add
from recollect.keywords.deadline import within
from recollect.keywords.prompt import INSTRUCTIONS, describe, parse_answer

HOST_VARIABLE = "OLLAMA_HOST"
MODEL = "llama3.2"

_PORT = 11434
_LARGEST_ANSWER = 256 * 1024
_LABELS = {"type": "array", "items": {"type": "string"}}


def is_installed() -> bool:
    """Return True if the HTTP client can be imported, without importing it."""
    return find_spec("httpx") is not None


class OllamaKeywords:
    """Labels from a local model. A request may take `seconds` in all, and is not retried."""

    name = "ollama"

    def __init__(self, host: str = "", *, seconds: float = 5.0) -> None:
        self._host = host
        self._seconds = seconds

    def generate(self, name: str, description: str, reasoning: str, category: str) -> list[str]:
        """Return labels for an entry. Raises as `KeywordGenerator.generate` does."""
        if not is_installed():
            raise KeywordError(f"httpx is not installed: {way_to_add('ollama')}")
        entry = describe(name, description, reasoning, category)
        labels = parse_answer(self._answer(base_url(self._host), entry))
        if not labels:
            raise KeywordError(f"Ollama's model {MODEL} answered without a usable label; try another model")
        return labels

    def _answer(self, url: str, entry: str) -> str:
        import httpx

        shown = url.rpartition("@")[2]
        try:
            status, body = within(self._seconds, lambda: self._ask(url, entry))
        except (TimeoutError, httpx.TimeoutException):
            problem = f"did not answer within {self._seconds:g} seconds; try a smaller model"
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):
            problem = f"could not be reached; start it, or set {HOST_VARIABLE}"
        else:
            if status == 200:
                return _response(body)
            problem = f"could not answer (HTTP {status}); see its log"
            if status == 404:
                problem = f"has no model {MODEL} (HTTP 404); run: ollama pull {MODEL}"
        raise KeywordError(f"Ollama at {shown} {problem}")

    def _ask(self, url: str, entry: str) -> tuple[int, bytes]:
        import httpx

        request = {
            "model": MODEL,
            "system": INSTRUCTIONS,
            "prompt": entry,
            "stream": False,
            "format": _LABELS,
            "options": {"temperature": 0, "num_predict": 200},
        }
        end = time.monotonic() + self._seconds
        body = b""
        # Use a proxy from the environment only for other machines, not for a server on this one.
        outside = urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1")
        with (
            httpx.Client(timeout=self._seconds, trust_env=outside) as client,
            client.stream("POST", f"{url}/api/generate", json=request) as answer,
        ):
            for piece in answer.iter_bytes(8192):
                body += piece
                if len(body) > _LARGEST_ANSWER or time.monotonic() > end:
                    break
            return answer.status_code, body


def base_url(host: str) -> str:
    """Return the URL for a value of OLLAMA_HOST. It may lack a scheme or a port, or be a server's listen address.

    Raises:
        KeywordError: the value is no address.
    """
    text = host.strip().rstrip("/") or "localhost"
    given = "://" in text
    try:
        parts = urlsplit(text if given else f"http://{text}")
        # Ollama's own rule: with a scheme, the default port is the scheme's.
        port = parts.port or ({"http": 80, "https": 443}.get(parts.scheme, 0) if given else _PORT)
    except ValueError:
        port = 0
        parts = urlsplit("")
    if not port or parts.scheme not in ("http", "https"):
        raise KeywordError(f"{HOST_VARIABLE} is no address; set it to one such as http://localhost:{_PORT}")
    name = {"": "localhost", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(parts.hostname or "", parts.hostname or "")  # noqa: S104 - translated, not bound
    user = parts.netloc.rpartition("@")[0]
    bracketed = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{user}{'@' if user else ''}{bracketed}:{port}{parts.path}"


def _response(body: bytes) -> str:
    """Return the model's text in Ollama's answer, or an empty string if there is none."""
    try:
        answer: Any = json.loads(body)
        text: Any = answer["response"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return ""
    return text if isinstance(text, str) else ""
