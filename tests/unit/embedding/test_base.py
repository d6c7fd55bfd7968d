import math
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.embedding.base import LONGEST_TEXT_BYTES, Kind, UnitEmbedder
from recollect.errors import EmbeddingError


class Answers:
    """A source that gives the answers it was made with, and remembers what it was asked."""

    provider = "fixed"
    model = "answers"
    identity = "fixed/answers"
    batch_size = 3

    def __init__(self, vectors: Sequence[Sequence[float]], dimensions: int = 0) -> None:
        self.dimensions = dimensions
        self.asked: list[list[str]] = []
        self._vectors = list(vectors)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Sequence[Sequence[float]]:
        assert kind == "document"
        self.asked.append(list(texts))
        answers, self._vectors = self._vectors[: len(texts)], self._vectors[len(texts) :]
        return answers


def embed(vectors: Sequence[Sequence[float]], dimensions: int = 0) -> list[tuple[float, ...]]:
    embedder = UnitEmbedder(Answers(vectors, dimensions))
    embedded = embedder.embed(["text"] * len(vectors), "document")
    return [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in embedded]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=50).filter(
        lambda vector: math.hypot(*vector) >= 1e-9
    )
)
def test_embed_keeps_the_direction_and_makes_the_length_one(vector: list[float]) -> None:
    (unit,) = embed([vector])
    norm = math.hypot(*vector)
    assert math.isclose(math.hypot(*unit), 1, abs_tol=1e-6)
    assert unit == pytest.approx([number / norm for number in vector], abs=1e-6)


def test_embed_is_little_endian_whatever_the_machine() -> None:
    assert UnitEmbedder(Answers([[0, 5]])).embed(["x"], "document") == [bytes([0, 0, 0, 0, 0, 0, 0x80, 0x3F])]


def test_embed_sends_texts_in_order_in_batches_of_the_source() -> None:
    source = Answers([[1.0]] * 7)
    UnitEmbedder(source).embed(list("abcdefg"), "document")
    assert source.asked == [["a", "b", "c"], ["d", "e", "f"], ["g"]]


def test_embed_asks_nothing_for_no_texts() -> None:
    source = Answers([])
    assert UnitEmbedder(source).embed([], "document") == []
    assert source.asked == []


@given(st.text(st.characters(), max_size=20))
def test_embed_sends_valid_text_that_is_not_blank(text: str) -> None:
    source = Answers([[1.0]])
    UnitEmbedder(source).embed([text], "document")
    ((sent,),) = source.asked
    assert sent.encode("utf-8").strip()
    if text.strip() and not any(0xD800 <= ord(character) < 0xE000 for character in text):
        assert sent == text


@pytest.mark.parametrize("character", ["a", "é", "漢", "🙂"])
def test_embed_cuts_long_text_between_characters(character: str) -> None:
    source = Answers([[1.0]])
    UnitEmbedder(source).embed(["-" + character * LONGEST_TEXT_BYTES], "document")
    ((sent,),) = source.asked
    assert LONGEST_TEXT_BYTES - 4 < len(sent.encode()) <= LONGEST_TEXT_BYTES
    assert set(sent) == {"-", character}


@pytest.mark.parametrize(
    ("vectors", "dimensions", "words"),
    [
        ([[0.0, 0.0]], 2, "zeros"),
        ([[1e-12, -1e-12]], 2, "zeros"),
        ([[1.0, math.nan]], 2, "not finite"),
        ([[1.0, math.inf]], 2, "not finite"),
        ([[1.0, None]], 2, "something else than numbers"),
        ([[1.0, 10**400]], 2, "something else than numbers"),
        ([["1", "2"]], 2, "something else than numbers"),
        ([[1.0]], 2, "1 numbers where 2 were expected"),
        ([[1.0, 2.0, 3.0]], 2, "3 numbers where 2 were expected"),
        ([[]], 0, "0 numbers where some were expected"),
        ([[1.0, 2.0], [1.0]], 0, "1 numbers where 2 were expected"),
        ([None], 0, "something else than vectors"),
        ([7.0], 0, "something else than vectors"),
        (["text"], 0, "something else than numbers"),
    ],
)
def test_embed_refuses_vectors_of_no_use(vectors: list[list[float]], dimensions: int, words: str) -> None:
    with pytest.raises(EmbeddingError, match=f"fixed/answers.*{words}"):
        embed(vectors, dimensions)


def test_embed_refuses_too_few_answers() -> None:
    with pytest.raises(EmbeddingError, match="sent 1 vectors for 2 texts"):
        UnitEmbedder(Answers([[1.0]])).embed(["a", "b"], "document")


def test_dimensions_are_learned_from_the_first_vector_of_use() -> None:
    embedder = UnitEmbedder(Answers([[0.0] * 5, [1.0] * 4]))
    with pytest.raises(EmbeddingError):
        embedder.embed(["a"], "document")
    assert embedder.dimensions == 0
    embedder.embed(["a"], "document")
    assert embedder.dimensions == 4
