# hot
"""Vectors as a store keeps them: a code of small integers to compare by, and one bit a dimension to scan by.

Scanning bits finds the few hundred that are worth comparing exactly. It works on the standard library alone; where
numpy is there it is used, because a hundred thousand entries then take milliseconds.
"""

from __future__ import annotations

import sys
from _operator import mul
from array import array
from struct import pack, unpack_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_SCALE = 4  # bytes


def code_length(dimensions: int) -> int:
    return _SCALE + dimensions


def bits_length(dimensions: int) -> int:
    """Bytes of a vector's bits, in whole machine words."""
    return (dimensions + 63) // 64 * 8


def floats(vector: bytes) -> array[float]:
    """The components of a vector that is given as float32 in little-endian order."""
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def encode(vector: bytes) -> tuple[bytes, bytes]:
    """A vector's code and its bits."""
    values = floats(vector)
    largest = max(map(abs, values)) or 1.0
    scale = largest / 127
    code = pack("<f", scale) + array("b", [round(value / scale) for value in values]).tobytes()
    return code, _bits(values)


def _bits(values: Sequence[float]) -> bytes:
    packed = int("".join(["1" if value > 0 else "0" for value in values]) or "0", 2)
    packed = packed or 1  # no bit at all means that there is no vector
    length = (len(values) + 7) // 8
    return (packed << (length * 8 - len(values))).to_bytes(length, "big").ljust(bits_length(len(values)), b"\0")


def similarity(values: Sequence[float], code: bytes) -> float:
    """The cosine of a vector's components and a code, on the standard library alone."""
    (scale,) = unpack_from("<f", code)
    return scale * sum(map(mul, values, array("b", code[_SCALE:])))


def similarities(vector: bytes, codes: Sequence[bytes]) -> list[float]:
    """The cosine of a vector and each code."""
    numpy = _numpy()
    if numpy is None:
        values = floats(vector)
        return [similarity(values, code) for code in codes]
    if not codes:
        return []
    table = numpy.frombuffer(b"".join(codes), dtype=numpy.uint8).reshape(len(codes), -1)
    scales = numpy.ascontiguousarray(table[:, :_SCALE]).view("<f4")[:, 0]
    scores = table[:, _SCALE:].view(numpy.int8).astype(numpy.float32) @ numpy.frombuffer(vector, dtype="<f4")
    return (scores * scales).tolist()


class Bits:
    """The bits of all vectors by number, for scanning. A number without a vector has none set."""

    def __init__(self, chunks: Iterable[tuple[int, bytes]], per_chunk: int, dimensions: int) -> None:
        self._width = bits_length(dimensions)
        numpy = self._numpy = _numpy()
        if numpy is None:
            self._numbers, self._rows = self._as_integers(chunks, per_chunk)
        else:
            self._numbers, self._rows = self._as_table(numpy, chunks, per_chunk)

    def __len__(self) -> int:
        return len(self._numbers)

    def sample(self, most: int) -> list[int]:
        """At most that many numbers, evenly spread."""
        step = -(-len(self._numbers) // most) or 1
        return [int(number) for number in self._numbers[::step]]

    def nearest(self, vector: bytes, limit: int) -> list[int]:
        """The numbers of the vectors that differ least from this one in their bits, the nearest first."""
        bits = _bits(floats(vector))
        numpy = self._numpy
        if numpy is None:
            sought = int.from_bytes(bits, "big")
            order = sorted(
                zip([(row ^ sought).bit_count() for row in self._rows], self._numbers, strict=True),
            )
            return [number for _, number in order[:limit]]
        sought = numpy.frombuffer(bits, dtype=numpy.uint64)
        apart: Any = numpy.bitwise_count(self._rows[0] ^ sought[0]).astype(numpy.uint16)
        for column in range(1, len(self._rows)):
            apart += numpy.bitwise_count(self._rows[column] ^ sought[column])
        if limit < len(apart):
            # Those as near as the last one that may be in are all taken, so that chance does not choose among them.
            chosen = numpy.flatnonzero(apart <= numpy.partition(apart, limit - 1)[limit - 1])
        else:
            chosen = numpy.arange(len(apart))
        chosen = chosen[numpy.argsort(apart[chosen], kind="stable")][:limit]
        return self._numbers[chosen].tolist()

    def _as_integers(self, chunks: Iterable[tuple[int, bytes]], per_chunk: int) -> tuple[Any, Any]:
        numbers: list[int] = []
        rows: list[int] = []
        for chunk, blob in chunks:
            for place in range(len(blob) // self._width):
                row = int.from_bytes(blob[place * self._width : (place + 1) * self._width], "big")
                if row:
                    numbers.append(chunk * per_chunk + place)
                    rows.append(row)
        return numbers, rows

    def _as_table(self, numpy: Any, chunks: Iterable[tuple[int, bytes]], per_chunk: int) -> tuple[Any, Any]:
        numbers: list[Any] = [numpy.empty(0, numpy.int64)]
        tables: list[Any] = [numpy.empty((0, self._width // 8), numpy.uint64)]
        for chunk, blob in chunks:
            table = numpy.frombuffer(blob[: len(blob) // self._width * self._width], dtype=numpy.uint64)
            table = table.reshape(-1, self._width // 8)
            present = numpy.flatnonzero(table.any(axis=1))
            numbers.append(present + chunk * per_chunk)
            tables.append(table[present])
        # By columns: counting bits of one word of every vector after another is several times faster than by rows.
        return numpy.concatenate(numbers), numpy.ascontiguousarray(numpy.concatenate(tables).T)


_NUMPY: list[Any] = []


def _numpy() -> Any:
    """numpy, if a process that is up to more than one search has loaded it; None otherwise: its import costs more."""
    if not _NUMPY:
        module = sys.modules.get("numpy")
        if module is None or not hasattr(module, "bitwise_count"):
            return None
        _NUMPY.append(module)
    return _NUMPY[0]
