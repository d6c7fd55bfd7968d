"""Embedders by the names used in the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping

from recollect.embedding.base import Embedder, Identified, UnitEmbedder, VectorSource
from recollect.embedding.gemini import GeminiSource
from recollect.embedding.identity import AUTO, LOCAL_MODEL, PACKAGES, local_identity
from recollect.embedding.openai import OpenAISource
from recollect.embedding.remote import TIMEOUT_SECONDS, is_installed, require_package, required_key
from recollect.embedding.voyage import VoyageSource
from recollect.errors import EmbeddingError

_KEYED = {source.provider: source for source in (GeminiSource, OpenAISource, VoyageSource)}
PROVIDERS = ("local", *_KEYED, "ollama")


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
    variables = os.environ if environment is None else environment
    return UnitEmbedder(_source(provider, "" if model == AUTO else model, variables, timeout))


def identity_of(provider: str, model: str = AUTO) -> str:
    """Return the identity of a model's vectors. The model need not be available, with a package or a key."""
    if provider == "local":
        return local_identity(model)
    found = model_of(provider, model)
    return found.identity if found else ""


def model_of(provider: str, model: str = AUTO) -> Identified | None:
    """Return the model of a provider, whether or not it can be used here; None if there is none of the name."""
    name = "" if model == AUTO else model
    if provider in _KEYED:
        return _KEYED[provider]("", name)
    if provider == "ollama":
        from recollect.embedding import ollama

        return ollama.OllamaSource(name or ollama.DEFAULT_MODEL)
    from recollect.embedding import local

    return local.LocalSource() if provider == "local" and name in ("", LOCAL_MODEL) else None


def _source(provider: str, model: str, environment: Mapping[str, str], timeout: float) -> VectorSource:
    if provider == "local":
        return _local(model)
    if provider == "ollama":
        from recollect.embedding import ollama  # loads urllib

        require_package("httpx", "ollama")
        host = environment.get(ollama.HOST_VARIABLE) or ollama.DEFAULT_HOST
        return ollama.OllamaSource(model or ollama.DEFAULT_MODEL, host=host, timeout=timeout)
    if provider not in _KEYED:
        raise EmbeddingError(
            f"there is no embedding provider {provider!r}: set memory_embedding_provider to one of "
            + ", ".join(PROVIDERS)
        )
    source = _KEYED[provider]
    require_package(source.package, provider)
    key = required_key(environment, source.key_variable, provider)
    return source(key, model, base_url=environment.get(source.base_url_variable) or None, timeout=timeout)


def _local(model: str) -> VectorSource:
    from recollect.embedding import local

    if model not in ("", LOCAL_MODEL):
        raise EmbeddingError(
            f"the provider local has no model {model!r}: set memory_embedding_model to auto, or choose another provider"
        )
    for package in PACKAGES:
        if not is_installed(package):
            raise local.missing(package)
    return local.LocalSource()
