"""The real clients of the providers, against servers that speak their protocols, well and badly."""

from __future__ import annotations

import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.embedding.base import LONGEST_TEXT_BYTES, Embedder, UnitEmbedder
from recollect.embedding.gemini import GeminiSource
from recollect.embedding.ollama import OllamaSource
from recollect.embedding.openai import OpenAISource
from recollect.embedding.registry import create_embedder
from recollect.embedding.voyage import VoyageSource
from recollect.errors import EmbeddingError, RateLimited

# Tests are imported one by one, so the servers they share have to be put where they are found.
sys.path.append(str(Path(__file__).parent))

from provider_servers import KEY, REMOTE, ProviderServer
from tests.conftest import PATIENCE


@pytest.fixture(params=REMOTE)
def server(request: pytest.FixtureRequest) -> Iterator[ProviderServer]:
    with ProviderServer(request.param) as running:
        yield running


def embedder_for(server: ProviderServer, model: str = "auto") -> Embedder:
    return create_embedder(server.provider, model, server.environment)


def impatient_embedder(provider: str, url: str) -> Embedder:
    """An embedder that waits for a tenth of a second."""
    sources = {
        "gemini": lambda: GeminiSource(KEY, base_url=url, timeout=0.1),
        "openai": lambda: OpenAISource(KEY, base_url=url, timeout=0.1),
        "voyage": lambda: VoyageSource(KEY, base_url=url, timeout=0.1),
        "ollama": lambda: OllamaSource(host=url, timeout=0.1),
    }
    return UnitEmbedder(sources[provider]())


def failure(embedder: Embedder) -> EmbeddingError:
    """The error of a call that fails, after making sure that no trace of it holds the key."""
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["Use parametrised SQL.", "Never log a key."], "document")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


# What reaches the wire


def test_gemini_is_asked_for_768_dimensions_and_a_task_type() -> None:
    with ProviderServer("gemini") as server:
        embedder_for(server).embed(["a", "b"], "query")
        embedder_for(server).embed(["c"], "document")
    query, document = server.received
    assert query.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert query.texts == ["a", "b"]
    assert [part["taskType"] for part in query.body["requests"]] == ["RETRIEVAL_QUERY"] * 2
    assert [part["outputDimensionality"] for part in query.body["requests"]] == [768] * 2
    assert document.body["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    assert query.headers["x-goog-api-key"] == KEY


def test_gemini_gets_one_vector_per_text_from_models_that_join_parts() -> None:
    with ProviderServer("gemini") as server:
        assert len(embedder_for(server, "gemini-embedding-2-preview").embed(["a", "b"], "document")) == 2


def test_openai_is_asked_for_floats() -> None:
    with ProviderServer("openai") as server:
        embedder_for(server).embed(["a", "b"], "query")
    (query,) = server.received
    assert query.path == "/v1/embeddings"
    assert query.body == {"input": ["a", "b"], "model": "text-embedding-3-small", "encoding_format": "float"}
    assert query.headers["authorization"] == f"Bearer {KEY}"


def test_voyage_is_told_the_kind_of_text() -> None:
    with ProviderServer("voyage") as server:
        embedder_for(server).embed(["a"], "query")
        embedder_for(server).embed(["b"], "document")
    query, document = server.received
    assert query.path == "/v1/embeddings"
    assert (query.body["input_type"], document.body["input_type"]) == ("query", "document")
    assert query.body["model"] == "voyage-code-3"
    assert query.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("auto", "search_query: a", "search_document: a"),
        ("nomic-embed-text:v1.5", "search_query: a", "search_document: a"),
        ("someone/nomic-embed-code", "search_query: a", "search_document: a"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: a", "a"),
        ("all-minilm", "a", "a"),
    ],
)
def test_ollama_gets_the_prefixes_that_its_model_wants(model: str, query: str, document: str) -> None:
    with ProviderServer("ollama") as server:
        embedder = embedder_for(server, model)
        server.dimensions = embedder.dimensions or 768
        embedder.embed(["a"], "query")
        embedder.embed(["a"], "document")
    assert [received.texts for received in server.received] == [[query], [document]]
    assert server.received[0].path == "/api/embed"


@pytest.mark.parametrize(
    ("provider", "sign"),
    [("gemini", "google-genai-sdk/"), ("openai", "OpenAI/Python"), ("ollama", "python-httpx/")],
)
def test_provider_is_asked_by_its_own_client(provider: str, sign: str) -> None:
    with ProviderServer(provider) as server:
        embedder_for(server).embed(["a"], "query")
    assert sign in server.received[0].headers["user-agent"]


def test_voyage_is_asked_by_its_own_client() -> None:
    # It takes its name out of the headers; that it asks for base64, which we do not, gives it away.
    with ProviderServer("voyage") as server:
        embedder_for(server).embed(["a"], "query")
    assert server.received[0].body["encoding_format"] == "base64"
    assert "python-requests/" in server.received[0].headers["user-agent"]


def test_many_texts_are_sent_in_batches(server: ProviderServer) -> None:
    embedder_for(server).embed([f"text {number}" for number in range(120)], "document")
    sizes = [len(received.texts) for received in server.received]
    assert sum(sizes) == 120
    assert max(sizes) <= 50


def test_long_text_is_cut_before_it_is_sent(server: ProviderServer) -> None:
    embedder_for(server).embed(["é" * 1_000_000], "document")
    (text,) = server.received[0].texts
    assert len(text.removeprefix("search_document: ").encode()) == LONGEST_TEXT_BYTES


def test_no_request_is_made_before_the_first_text(server: ProviderServer) -> None:
    embedder = embedder_for(server)
    assert embedder.embed([], "query") == []
    assert embedder.identity
    assert server.received == []


@pytest.mark.parametrize("provider", ["openai", "voyage", "ollama"])
def test_dimensions_of_an_unknown_model_are_those_of_its_first_answer(provider: str) -> None:
    with ProviderServer(provider) as server:
        server.dimensions = 12
        embedder = embedder_for(server, "brand-new")
        identity = embedder.identity
        assert embedder.dimensions == 0
        embedder.embed(["a"], "query")
        assert embedder.dimensions == 12
        assert embedder.identity == identity == f"{provider}/brand-new"
        server.dimensions = 13
        assert "13 numbers where 12" in str(failure(embedder))


# What goes wrong


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_names_the_variable(server: ProviderServer, status: int) -> None:
    server.status = status
    message = str(failure(embedder_for(server)))
    assert f"HTTP {status}" in message
    if server.provider != "ollama":
        assert f"set {server.provider.upper()}_API_KEY to a valid key" in message


def test_unknown_model_is_named(server: ProviderServer) -> None:
    server.status = 404
    message = str(failure(embedder_for(server, "no-such-model")))
    assert "no-such-model" in message
    assert ("ollama pull no-such-model" if server.provider == "ollama" else "memory_embedding_model") in message


def test_rate_limit_is_told_apart_and_not_retried(server: ProviderServer) -> None:
    server.status = 429
    assert isinstance(failure(embedder_for(server)), RateLimited)
    assert len(server.received) == 1


@pytest.mark.parametrize("raw", [b"", b"slow down", b"<html></html>", b"{}", b"[]"])
def test_rate_limit_is_told_apart_whatever_comes_with_it(server: ProviderServer, raw: bytes) -> None:
    server.status = 429
    server.raw = raw
    assert isinstance(failure(embedder_for(server)), RateLimited)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_failing_server_is_an_error_and_not_retried(server: ProviderServer, status: int) -> None:
    server.status = status
    error = failure(embedder_for(server))
    assert f"HTTP {status}" in str(error)
    assert not isinstance(error, RateLimited)
    assert len(server.received) == 1


def test_refused_request_tells_what_the_provider_said_without_the_key(server: ProviderServer) -> None:
    server.status = 400
    message = str(failure(embedder_for(server)))
    assert "HTTP 400" in message
    assert "no luck with key" in message


def test_no_answer_in_time_is_an_error(server: ProviderServer) -> None:
    server.silent = True
    assert "did not answer within 0.1 seconds" in str(failure(impatient_embedder(server.provider, server.url)))


@pytest.mark.parametrize("provider", REMOTE)
def test_nobody_listening_is_an_error(provider: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        message = str(failure(impatient_embedder(provider, f"http://127.0.0.1:{unused.getsockname()[1]}")))
    assert "cannot be reached" in message
    if provider == "ollama":
        assert "ollama serve" in message


@pytest.mark.parametrize("provider", REMOTE)
def test_address_that_is_none_is_an_error(provider: str) -> None:
    failure(impatient_embedder(provider, "http://no where:99999999"))


@pytest.mark.parametrize("raw", [b"", b"<html>hello</html>", b'{"embeddings": [', b"{}", b"[]", b"null", b'"text"'])
def test_answer_that_is_none_is_an_error(server: ProviderServer, raw: bytes) -> None:
    server.raw = raw
    failure(embedder_for(server))


@pytest.mark.parametrize(
    "raw",
    [
        b'{"embeddings": [{"values": null}, {"values": ["x"]}]}',
        b'{"embeddings": ["x", null]}',
        b'{"embeddings": [[null], [null]]}',
        b'{"embeddings": 7}',
        b'{"data": [{"index": 0, "embedding": null}, {"index": 1, "embedding": "x"}], "usage": {"total_tokens": 1}}',
        b'{"data": [{}, {}], "usage": {"total_tokens": 1}}',
        b'{"data": null}',
        b'{"data": "xx"}',
    ],
)
def test_answer_of_the_wrong_shape_is_an_error(server: ProviderServer, raw: bytes) -> None:
    server.raw = raw
    failure(embedder_for(server))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda vectors: vectors[:-1], "sent 1 vectors for 2 texts"),
        (lambda vectors: [*vectors, vectors[0]], "sent 3 vectors for 2 texts"),
        (lambda vectors: [vector[:-1] for vector in vectors], "numbers where"),
        (lambda vectors: [[] for _ in vectors], "0 numbers"),
        (lambda vectors: [[float("nan"), *vector[1:]] for vector in vectors], "not finite"),
        (lambda vectors: [[float("inf"), *vector[1:]] for vector in vectors], "not finite"),
        (lambda vectors: [[0.0 for _ in vector] for vector in vectors], "zeros"),
    ],
)
def test_answer_of_no_use_is_an_error(
    server: ProviderServer, change: Callable[[list[list[float]]], list[list[float]]], words: str
) -> None:
    server.change = change
    assert words in str(failure(embedder_for(server)))


def test_embedder_works_again_after_a_failure(server: ProviderServer) -> None:
    embedder = embedder_for(server)
    server.status = 429
    failure(embedder)
    server.status = 200
    assert len(embedder.embed(["a"], "query")) == 1


# What is missing


@pytest.mark.parametrize("provider", ["gemini", "openai", "voyage"])
@pytest.mark.parametrize("environment", [{}, {"GEMINI_API_KEY": " ", "OPENAI_API_KEY": "", "VOYAGE_API_KEY": "\n"}])
def test_missing_key_is_told_at_once(provider: str, environment: dict[str, str]) -> None:
    with pytest.raises(EmbeddingError, match=f"set the environment variable {provider.upper()}_API_KEY"):
        create_embedder(provider, environment=environment)


WITHOUT = """
import sys
sys.modules[{module!r}] = None
from recollect.embedding.registry import create_embedder
from recollect.errors import EmbeddingError
try:
    create_embedder({provider!r}, environment={{}})
except EmbeddingError as error:
    print(error)
"""


def output_of(code: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False, timeout=PATIENCE
    )
    assert finished.stderr == ""
    return finished.stdout


@pytest.mark.parametrize(
    ("provider", "module", "command"),
    [
        ("gemini", "google.genai", "-m pip install 'google-genai>=1.0,<3'"),
        ("gemini", "google", "-m pip install 'google-genai>=1.0,<3'"),
        ("openai", "openai", "-m pip install 'openai>=1.40,<4'"),
        ("voyage", "voyageai", "-m pip install 'voyageai>=0.3,<1'"),
        ("ollama", "httpx", "-m pip install 'httpx>=0.27,<1'"),
        ("local", "onnxruntime", "the package onnxruntime, which is missing; install recollect again"),
        ("local", "tokenizers", "the package tokenizers, which is missing; install recollect again"),
        ("local", "numpy", "the package numpy, which is missing; install recollect again"),
    ],
)
def test_missing_package_is_told_at_once_with_its_command(provider: str, module: str, command: str) -> None:
    assert command in output_of(WITHOUT.format(module=module, provider=provider))


@pytest.mark.parametrize("provider", ["local", *REMOTE])
def test_creating_an_embedder_imports_no_client(provider: str) -> None:
    code = f"""
import sys
from recollect.embedding.registry import create_embedder
keys = dict.fromkeys(["GEMINI_API_KEY", "OPENAI_API_KEY", "VOYAGE_API_KEY"], "x")
create_embedder({provider!r}, environment=keys)
print([name for name in ("google.genai", "openai", "voyageai", "httpx", "onnxruntime", "tokenizers", "numpy")
       if name in sys.modules])
"""
    assert output_of(code) == "[]\n"


# The local model


def test_local_model_opens_no_connection() -> None:
    code = """
import socket, sys
def refuse(*arguments, **named):
    raise AssertionError("the network was used")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from recollect.embedding.registry import create_embedder
(vector,) = create_embedder("local").embed(["Use parametrised SQL."], "query")
print(len(vector), "huggingface_hub" in sys.modules)
"""
    assert output_of(code) == "1536 False\n"


def test_local_model_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    # onnxruntime's telemetry opens connections below Python's sockets. It does not start without its files here, and
    # it holds back where CI is set, so the process must not see that.
    code = """
from recollect.embedding.registry import create_embedder
create_embedder("local").embed(["Use parametrised SQL."], "query")
"""
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env={"PATH": "", "TMPDIR": str(tmp_path), **home}, check=True)
    assert list(tmp_path.iterdir()) == []


def test_local_model_uses_one_thread() -> None:
    code = """
import os
from recollect.embedding.registry import create_embedder
create_embedder("local").embed(["Use parametrised SQL."], "query")
print(os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"], len(os.listdir("/proc/self/task")))
"""
    # One of its own would be telemetry.
    if not Path("/proc/self/task").exists():
        pytest.skip("the threads of a process are counted by Linux only")
    assert output_of(code) == "1 1 1\n"
