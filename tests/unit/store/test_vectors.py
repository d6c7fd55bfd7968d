"""Codes and bits of vectors: how much they lose, and that numpy changes nothing but the time."""

import json
import math
import os
import random
import struct
import subprocess
import sys
from array import array

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.store.vectors import Bits, bits_length, code_length, decoded, encode, floats, similarities, similarity

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
PER_CHUNK = 16

# Computes on the standard library alone what the test has computed with numpy.
BARE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from recollect.store import vectors
given = json.load(sys.stdin)
question = bytes.fromhex(given["question"])
bits = vectors.Bits(
    [(number, bytes.fromhex(chunk)) for number, chunk in given["chunks"]], given["per_chunk"], given["dimensions"]
)
print(json.dumps({
    "nearest": bits.nearest(question, given["limit"]),
    "count": len(bits),
    "similarities": vectors.similarities(question, [bytes.fromhex(code) for code in given["codes"]]),
    "decoded": [vector.hex() for vector in vectors.decoded([bytes.fromhex(code) for code in given["codes"]])],
    "encoded": [part.hex() for part in vectors.encode(question)],
    "numpy": "numpy" in sys.modules,
}))
"""

components = st.floats(-1, 1, width=32)
vectors = st.sampled_from([1, 7, 8, 63, 64, 65, 100]).flatmap(
    lambda dimensions: st.lists(components, min_size=dimensions, max_size=dimensions)
)


def packed(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def unit(chance: random.Random, dimensions: int) -> bytes:
    values = [chance.gauss(0, 1) for _ in range(dimensions)]
    length = math.sqrt(sum(value * value for value in values))
    return packed([value / length for value in values])


def chunks_of(vectors: dict[int, bytes], dimensions: int) -> list[tuple[int, bytes]]:
    """The bits of vectors by number, in chunks as a store keeps them."""
    width = bits_length(dimensions)
    chunks: dict[int, bytearray] = {}
    for number, vector in vectors.items():
        chunk, place = divmod(number, PER_CHUNK)
        blob = chunks.setdefault(chunk, bytearray(PER_CHUNK * width))
        blob[place * width : (place + 1) * width] = encode(vector)[1]
    return [(chunk, bytes(blob)) for chunk, blob in sorted(chunks.items())]


@given(vectors)
def test_code_is_within_half_a_step_of_the_vector(values: list[float]) -> None:
    code, bits = encode(packed(values))
    assert (len(code), len(bits)) == (code_length(len(values)), bits_length(len(values)))
    (scale,) = struct.unpack_from("<f", code)
    step = max(map(abs, values)) / 127
    for value, small in zip(values, array("b", code[4:]), strict=True):
        assert abs(value - scale * small) <= step * 0.5001 + 1e-38


@given(vectors)
def test_bits_are_the_signs_of_the_components(values: list[float]) -> None:
    _, bits = encode(packed(values))
    positive = [place for place, value in enumerate(values) if value > 0]
    # No bit at all would mean that there is no vector, so one that has nothing positive in it has its last bit set.
    expected = positive or [(len(values) + 7) // 8 * 8 - 1 if len(values) % 8 == 0 else len(values) - 1]
    assert [place for place in range(8 * len(bits)) if bits[place // 8] & 0x80 >> place % 8] == expected


@given(vectors)
def test_similarity_to_a_code_is_near_to_that_of_the_vector(values: list[float]) -> None:
    code, _ = encode(packed(values))
    exact = sum(value * value for value in values)
    bound = sum(map(abs, values)) * max(map(abs, values)) / 127 + 1e-6
    assert abs(similarity(floats(packed(values)), code) - exact) <= bound
    assert abs(similarities(packed(values), [code])[0] - exact) <= bound + 1e-4 * exact


def test_vector_of_nothing_has_a_code() -> None:
    code, bits = encode(packed([0.0] * 8))
    assert (array("b", code[4:]).tolist(), bits) == ([0] * 8, b"\x01" + bytes(7))


def test_no_codes_have_no_similarities() -> None:
    assert similarities(packed([1.0]), []) == []


def test_numbers_without_a_vector_are_not_there() -> None:
    bits = Bits(chunks_of({3: packed([1.0] * 8), 40: packed([1.0] * 8)}, 8), PER_CHUNK, 8)
    assert len(bits) == 2
    assert sorted(bits.nearest(packed([1.0] * 8), 10)) == [3, 40]
    assert len(Bits([], PER_CHUNK, 8)) == 0
    assert Bits([], PER_CHUNK, 8).nearest(packed([1.0] * 8), 5) == []


@pytest.mark.parametrize("dimensions", [64, 100, 384, 768])
def test_nearest_differ_in_the_fewest_bits(dimensions: int) -> None:
    chance = random.Random(dimensions)
    all_vectors = {number: unit(chance, dimensions) for number in range(0, 300, 2)}
    question = unit(chance, dimensions)
    sought = int.from_bytes(encode(question)[1], "big")
    apart = {n: (int.from_bytes(encode(v)[1], "big") ^ sought).bit_count() for n, v in all_vectors.items()}
    bits = Bits(chunks_of(all_vectors, dimensions), PER_CHUNK, dimensions)
    for limit in (1, 10, 149, 150, 500):
        nearest = bits.nearest(question, limit)
        assert len(set(nearest)) == min(limit, 150)
        assert [apart[number] for number in nearest] == sorted(apart.values())[:limit]


@pytest.mark.parametrize("dimensions", [64, 100, 384])
def test_standard_library_alone_gives_the_same(dimensions: int) -> None:
    assert hasattr(numpy, "bitwise_count")
    chance = random.Random(dimensions)
    all_vectors = {number: unit(chance, dimensions) for number in range(150)}
    chunks = chunks_of(all_vectors, dimensions)
    codes = [encode(vector)[0] for vector in all_vectors.values()]
    question = unit(chance, dimensions)
    given = {
        "question": question.hex(),
        "chunks": [(number, chunk.hex()) for number, chunk in chunks],
        "per_chunk": PER_CHUNK,
        "dimensions": dimensions,
        "limit": 1_000,
        "codes": [code.hex() for code in codes],
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BARE, SOURCE],
        input=json.dumps(given).encode(),
        capture_output=True,
        check=True,
    )
    bare = json.loads(done.stdout)
    assert bare["numpy"] is False
    bits = Bits(chunks, PER_CHUNK, dimensions)
    assert (bare["count"], bare["encoded"]) == (len(bits), [part.hex() for part in encode(question)])
    assert bare["nearest"] == bits.nearest(question, 1_000)
    again = [floats(bytes.fromhex(vector)).tolist() for vector in bare["decoded"]]
    assert again == [pytest.approx(floats(vector).tolist(), abs=1e-6) for vector in decoded(codes)]
    scores = similarities(question, codes)
    assert bare["similarities"] == pytest.approx(scores, abs=1e-5)


def test_ties_at_the_limit_are_decided_by_number() -> None:
    """A search must not answer differently because the process has loaded numpy."""
    chance = random.Random(1)
    all_vectors = {number: unit(chance, 8) for number in range(400)}
    all_vectors = {n: v for n, v in all_vectors.items() if any(value > 0 for value in floats(v))}
    bits = Bits(chunks_of(all_vectors, 8), PER_CHUNK, 8)
    question = unit(chance, 8)
    sought = int.from_bytes(encode(question)[1], "big")
    order = sorted(
        all_vectors, key=lambda n: ((int.from_bytes(encode(all_vectors[n])[1], "big") ^ sought).bit_count(), n)
    )
    assert bits.nearest(question, 50) == order[:50]
