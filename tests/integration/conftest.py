"""Local servers that stand in for providers of embeddings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.provider_servers import ProviderServer, speaking


@pytest.fixture
def gemini() -> Iterator[ProviderServer]:
    with speaking("gemini") as server:
        yield server


@pytest.fixture
def ollama() -> Iterator[ProviderServer]:
    with speaking("ollama") as server:
        yield server
