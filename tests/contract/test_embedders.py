"""What every embedder promises, whoever computes its vectors."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.embedding.base import Embedder, Kind
from recollect.embedding.registry import PROVIDERS, create_embedder

# Tests are imported one by one, so the servers they share have to be put where they are found.
sys.path.append(str(Path(__file__).parents[1] / "integration"))

from provider_servers import DIMENSIONS, KEY, ProviderServer

KINDS: tuple[Kind, ...] = ("query", "document")


@pytest.fixture(scope="module", params=PROVIDERS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "local":
        yield create_embedder("local", environment={})
        return
    with ProviderServer(request.param) as server:
        yield create_embedder(request.param, environment=server.environment)


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_bytes_of_unit_length_and_of_the_said_dimensions(embedder: Embedder, kind: Kind) -> None:
    for vector in embedder.embed(["Use parametrised SQL.", "Never log a key."], kind):
        assert type(vector) is bytes
        assert len(numbers(vector)) == embedder.dimensions == DIMENSIONS[embedder.provider]
        assert math.isclose(math.hypot(*numbers(vector)), 1, abs_tol=1e-6)


def test_same_text_gets_the_same_vector_each_time(embedder: Embedder) -> None:
    first = embedder.embed(["Use parametrised SQL."], "document")
    assert embedder.embed(["Use parametrised SQL.", "Use parametrised SQL."], "document") == first * 2


def test_order_and_neighbours_do_not_change_a_vector(embedder: Embedder) -> None:
    texts = [f"lesson {number} " * (1 + number % 7) for number in range(123)]
    together = embedder.embed(texts, "document")
    assert len(set(together)) == len(texts)
    assert embedder.embed(texts[::-1], "document") == together[::-1]
    assert [embedder.embed([text], "document")[0] for text in texts[::10]] == together[::10]


def test_no_texts_get_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([], "query") == []


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u2003"])
def test_blank_text_gets_a_vector(embedder: Embedder, text: str) -> None:
    (vector,) = embedder.embed([text], "document")
    assert math.isclose(math.hypot(*numbers(vector)), 1, abs_tol=1e-6)


def test_text_of_any_characters_gets_a_vector(embedder: Embedder) -> None:
    texts = ["naïve café", "数据库迁移", "🙂👩‍👩‍👧", "nul \0 byte", 'quotes " and \\ and \r\n', "e\u0301" * 50]
    assert len(set(embedder.embed(texts, "document"))) == len(texts)


def test_lone_surrogates_are_replaced(embedder: Embedder) -> None:
    broken, whole = embedder.embed(["caf\udce9 \ud83d", "caf? ?"], "document")
    assert broken == whole


@pytest.mark.parametrize("word", ["word ", "é", "🙂"])
def test_very_long_text_gets_a_vector(embedder: Embedder, word: str) -> None:
    (vector,) = embedder.embed([word * 200_000], "document")
    assert len(numbers(vector)) == embedder.dimensions


def test_identity_names_provider_and_model(embedder: Embedder) -> None:
    assert embedder.identity.startswith(f"{embedder.provider}/{embedder.model}")


def test_key_is_not_shown(embedder: Embedder) -> None:
    assert KEY not in repr(embedder) + str(embedder)
