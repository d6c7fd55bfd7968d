import pytest

from recollect.embedding.ollama import url_of
from recollect.embedding.registry import PROVIDERS, create_embedder
from recollect.errors import EmbeddingError

KEYS = {"GEMINI_API_KEY": "x", "OPENAI_API_KEY": "x", "VOYAGE_API_KEY": "x"}


@pytest.mark.parametrize(
    ("provider", "model", "identity", "dimensions"),
    [
        ("local", "auto", "local/all-MiniLM-L6-v2-int8-words", 384),
        ("local", "all-MiniLM-L6-v2", "local/all-MiniLM-L6-v2-int8-words", 384),
        ("gemini", "auto", "gemini/gemini-embedding-001-768", 768),
        ("gemini", "gemini-embedding-2", "gemini/gemini-embedding-2-768", 768),
        ("openai", "auto", "openai/text-embedding-3-small-1536", 1536),
        ("openai", "text-embedding-3-large", "openai/text-embedding-3-large-3072", 3072),
        ("openai", "brand-new", "openai/brand-new", 0),
        ("voyage", "auto", "voyage/voyage-code-3", 1024),
        ("voyage", "voyage-3.5", "voyage/voyage-3.5", 1024),
        ("voyage", "voyage-3-lite", "voyage/voyage-3-lite", 512),
        ("ollama", "auto", "ollama/nomic-embed-text", 768),
        ("ollama", "mxbai-embed-large:latest", "ollama/mxbai-embed-large:latest", 1024),
        ("ollama", "all-minilm", "ollama/all-minilm", 384),
        ("ollama", "snowflake-arctic-embed:33m", "ollama/snowflake-arctic-embed:33m", 0),
    ],
)
def test_create_embedder_knows_identity_and_dimensions(
    provider: str, model: str, identity: str, dimensions: int
) -> None:
    embedder = create_embedder(provider, model, KEYS)
    assert (embedder.provider, embedder.identity, embedder.dimensions) == (provider, identity, dimensions)


def test_create_embedder_offers_these_providers() -> None:
    assert PROVIDERS == ("local", "gemini", "openai", "voyage", "ollama")


def test_create_embedder_lists_the_providers_when_it_does_not_know_one() -> None:
    with pytest.raises(EmbeddingError, match=r"'cohere'.*local, gemini, openai, voyage, ollama"):
        create_embedder("cohere")


def test_create_embedder_refuses_another_local_model() -> None:
    with pytest.raises(EmbeddingError, match=r"no model 'bge-small'.*auto"):
        create_embedder("local", "bge-small")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://localhost:11434"),
        ("localhost", "http://localhost:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),  # noqa: S104
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://gpu.example", "http://gpu.example"),
        ("https://gpu.example/ollama/", "https://gpu.example/ollama"),
        (" http://localhost:11434/ ", "http://localhost:11434"),
    ],
)
def test_ollama_host_may_lack_scheme_and_port(host: str, url: str) -> None:
    assert url_of(host) == url


def test_ollama_password_is_not_shown() -> None:
    with pytest.raises(EmbeddingError) as caught:
        create_embedder("ollama", environment={"OLLAMA_HOST": "http://me:hidden@127.0.0.1:1"}).embed(["x"], "query")
    assert "hidden" not in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)


@pytest.mark.parametrize("host", ["http://[::1", "http://host:port", "://"])
def test_ollama_host_that_is_no_address_is_an_error(host: str) -> None:
    with pytest.raises(EmbeddingError, match="OLLAMA_HOST"):
        create_embedder("ollama", environment={"OLLAMA_HOST": host}).embed(["x"], "query")
