"""Lines put together out of pieces, and who waits for an answer to a line that is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.mcp.wire import LONGEST_LINE, TooLong, _Lines, id_of


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"") + b"x")), st.integers(1, 7))
def test_lines_are_the_same_however_they_were_cut(lines: list[bytes], size: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    reader = _Lines()
    found = [line for at in range(0, len(data), size) for line in reader.of(data[at : at + size])]
    assert found == lines


def test_line_that_is_too_long_is_dropped_and_the_next_one_read() -> None:
    reader = _Lines()
    long = b'{"id":5,' + b"x" * (LONGEST_LINE + 1) + b"}"
    found = [line for at in range(0, len(long), 65536) for line in reader.of(long[at : at + 65536])]
    assert found == []
    dropped, after = reader.of(b"\nnext\n")
    assert isinstance(dropped, TooLong)
    assert dropped.id == "5"
    assert after == b"next"


def test_line_of_just_the_right_length_is_kept() -> None:
    line = b"x" * LONGEST_LINE
    assert _Lines().of(line + b"\n") == [line]


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"id":2}}', "1"),
        (b' { "id" : "a b" , "jsonrpc":"2.0"', '"a b"'),
        (b'{"method":"m","params":{"id":2},"jsonrpc":"2.0","id":3}', "3"),
        (b'{"method":"m","id":4,"jsonrpc":"2.0"} ', "4"),
        (b'{"method":"m","params":{"arguments":{"id":2}}}', ""),
        (b'{"jsonrpc":"2.0","method":"m","params":{"id":2}}', ""),
        (b'{"jsonrpc":"2.0","id":null}', ""),
        (b"", ""),
    ],
)
def test_id_is_told_by_the_ends_of_a_line(line: bytes, id: str) -> None:
    assert id_of(line, line) == id
