"""Embedders by the names used in the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping

from recollect.embedding.base import Embedder, UnitEmbedder, VectorSource
from recollect.embedding.remote import TIMEOUT_SECONDS, is_installed, require_package, required_key
from recollect.errors import EmbeddingError

AUTO = "auto"


def create_embedder(
    provider: str,
    model: str = AUTO,
    environment: Mapping[str, str] | None = None,
    *,
    timeout: float = TIMEOUT_SECONDS,
) -> Embedder:
    """Return the embedder of a provider. Nothing is loaded and no network is used before the first text.

    `timeout` is the number of seconds a provider may take for an answer.

    Raises:
        EmbeddingError: the provider or model does not exist, or a package or a key is missing.
    """
    create = _SOURCES.get(provider)
    if create is None:
        raise EmbeddingError(
            f"there is no embedding provider {provider!r}: set memory_embedding_provider to one of "
            + ", ".join(PROVIDERS)
        )
    variables = os.environ if environment is None else environment
    return UnitEmbedder(create("" if model == AUTO else model, variables, timeout))


def _local(model: str, _environment: Mapping[str, str], _timeout: float) -> VectorSource:
    from recollect.embedding import local

    if model not in ("", local.MODEL):
        raise EmbeddingError(
            f"the provider local has no model {model!r}: set memory_embedding_model to auto, or choose another provider"
        )
    for package in local.PACKAGES:
        if not is_installed(package):
            raise local.missing(package)
    return local.LocalSource()


def _gemini(model: str, environment: Mapping[str, str], timeout: float) -> VectorSource:
    from recollect.embedding import gemini

    require_package("google.genai", "gemini")
    key = required_key(environment, gemini.KEY_VARIABLE, "gemini")
    base_url = environment.get(gemini.BASE_URL_VARIABLE) or None
    return gemini.GeminiSource(key, model or gemini.DEFAULT_MODEL, base_url=base_url, timeout=timeout)


def _openai(model: str, environment: Mapping[str, str], timeout: float) -> VectorSource:
    from recollect.embedding import openai

    require_package("openai", "openai")
    key = required_key(environment, openai.KEY_VARIABLE, "openai")
    base_url = environment.get(openai.BASE_URL_VARIABLE) or None
    return openai.OpenAISource(key, model or openai.DEFAULT_MODEL, base_url=base_url, timeout=timeout)


def _voyage(model: str, environment: Mapping[str, str], timeout: float) -> VectorSource:
    from recollect.embedding import voyage

    require_package("voyageai", "voyage")
    key = required_key(environment, voyage.KEY_VARIABLE, "voyage")
    base_url = environment.get(voyage.BASE_URL_VARIABLE) or None
    return voyage.VoyageSource(key, model or voyage.DEFAULT_MODEL, base_url=base_url, timeout=timeout)


def _ollama(model: str, environment: Mapping[str, str], timeout: float) -> VectorSource:
    from recollect.embedding import ollama

    require_package("httpx", "ollama")
    host = environment.get(ollama.HOST_VARIABLE) or ollama.DEFAULT_HOST
    return ollama.OllamaSource(model or ollama.DEFAULT_MODEL, host=host, timeout=timeout)


_SOURCES = {"local": _local, "gemini": _gemini, "openai": _openai, "voyage": _voyage, "ollama": _ollama}
PROVIDERS = tuple(_SOURCES)
