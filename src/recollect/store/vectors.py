# hot
"""Vectors as stored: a code of small integers for comparison, and one bit per dimension for scanning.

Scanning the bits finds the few hundred vectors worth an exact comparison. The standard library is enough. If numpy is
loaded it is used, because it scans a hundred thousand entries in milliseconds.
"""

from __future__ import annotations

import sys
from _operator import mul
from struct import pack, unpack_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence
    from typing import Any

_SCALE = 4  # bytes


def code_length(dimensions: int) -> int:
    return _SCALE + dimensions


def bits_length(dimensions: int) -> int:
    """Return the length of a vector's bits in bytes, rounded up to whole 64-bit words."""
    return (dimensions + 63) // 64 * 8


def floats(vector: bytes) -> array[float]:
    """Return the components of a vector, given as little-endian float32."""
    from array import array  # imported late: it loads collections, and most prompts compare no vectors

    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def encode(vector: bytes) -> tuple[bytes, bytes]:
    """Return a vector's code and its bits."""
    values = floats(vector)
    return code_of(*quantise(values)), bits_of(values)


def code_of(scale: float, integers: Iterable[int]) -> bytes:
    from array import array

    return pack("<f", scale) + array("b", integers).tobytes()


def parts_of(code: bytes) -> tuple[float, array[int]]:
    """Return the scale and the integers of a code."""
    from array import array

    (scale,) = unpack_from("<f", code)
    return scale, array("b", code[_SCALE:])


def quantise(values: Sequence[float]) -> tuple[float, list[int]]:
    """Return the scale of a vector and its components as integers from -127 to 127.

    Raises:
        ValueError, OverflowError: a component is not finite.
    """
    scale = (max(map(abs, values)) or 1.0) / 127
    return scale, [round(value / scale) for value in values]


def decoded(codes: Sequence[bytes]) -> list[bytes]:
    """Return codes as vectors again, each as little-endian float32."""
    numpy = _numpy()
    if numpy is None or not codes:
        return [_decoded(code) for code in codes]
    table, scales = _table(numpy, codes)
    return [row.tobytes() for row in table.astype("<f4") * scales[:, None]]


def _decoded(code: bytes) -> bytes:
    from array import array

    (scale,) = unpack_from("<f", code)
    return pack(f"<{len(code) - _SCALE}f", *[scale * value for value in array("b", code[_SCALE:])])


def bits_of(values: Sequence[float]) -> bytes:
    """Return a bit for each component, from a vector or from the integers of its code."""
    packed = int("".join(["1" if value > 0 else "0" for value in values]) or "0", 2)
    packed = packed or 1  # without any bit set it would count as no vector
    length = (len(values) + 7) // 8
    return (packed << (length * 8 - len(values))).to_bytes(length, "big").ljust(bits_length(len(values)), b"\0")


def similarity(values: Sequence[float], code: bytes) -> float:
    """Return the cosine of a vector's components and a code, using only the standard library."""
    scale, integers = parts_of(code)
    return scale * sum(map(mul, values, integers))


def similarities(vector: bytes, codes: Sequence[bytes]) -> list[float]:
    """Return the cosine of a vector and each code."""
    numpy = _numpy()
    if numpy is None:
        values = floats(vector)
        return [similarity(values, code) for code in codes]
    if not codes:
        return []
    table, scales = _table(numpy, codes)
    scores = table.astype(numpy.float32) @ numpy.frombuffer(vector, dtype="<f4")
    return (scores * scales).tolist()


def _table(numpy: Any, codes: Sequence[bytes]) -> tuple[Any, Any]:
    """Return the integers of codes as rows, and the scale of each."""
    table = numpy.frombuffer(b"".join(codes), dtype=numpy.uint8).reshape(len(codes), -1)
    scales = numpy.ascontiguousarray(table[:, :_SCALE]).view("<f4")[:, 0]
    return table[:, _SCALE:].view(numpy.int8), scales


class Bits:
    """The bits of all vectors by number, for scanning. A number without a vector has no bit set."""

    def __init__(self, chunks: Iterable[tuple[int, bytes]], per_chunk: int, dimensions: int) -> None:
        self._width = bits_length(dimensions)
        numpy = self._numpy = _numpy()
        if numpy is None:
            self._numbers, self._rows = self._as_integers(chunks, per_chunk)
        else:
            self._numbers, self._rows = self._as_table(numpy, chunks, per_chunk)

    def __len__(self) -> int:
        return len(self._numbers)

    def nearest(self, vector: bytes, limit: int) -> list[int]:
        """Return the numbers of the vectors with the fewest differing bits, nearest first."""
        bits = bits_of(floats(vector))
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
            # Take all vectors as near as the last place, so that ties are broken by their order, not by chance.
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
        # By columns: counting the bits of one word of all vectors at a time is several times faster than by rows.
        return numpy.concatenate(numbers), numpy.ascontiguousarray(numpy.concatenate(tables).T)


_NUMPY: list[Any] = []


def _numpy() -> Any:
    """Return numpy if this process has loaded it, or None. Its import costs more than it saves in one search."""
    if not _NUMPY:
        module = sys.modules.get("numpy")
        if module is None or not hasattr(module, "bitwise_count"):
            return None
        _NUMPY.append(module)
    return _NUMPY[0]
