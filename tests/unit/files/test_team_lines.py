"""The files of pulled lines: appended to, resumable, and not trusted when they are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from recollect.domain.shared.line_ids import line_id
from recollect.domain.shared.lines import TeamLine
from recollect.errors import InvalidEntry
from recollect.files.team.lines import append_pulled, bounded_body, last_pulled, pulled_lines, refuse_unordered


def line(seq: int, body: object = None) -> TeamLine:
    given = body if isinstance(body, dict) else {"observed": "a" * 16}
    return TeamLine(line_id(seq, 0, "abcdef01"), given, seq=seq, author="änn", role="writer", received="2026")


def place(path: str) -> int:
    last = last_pulled(path)
    return last.seq if last else 0


def test_lines_are_read_as_they_were_pulled_and_from_an_offset(tmp_path: Path) -> None:
    path = str(tmp_path / "team.backend.jsonl")
    append_pulled(path, [line(1), line(2)])
    first, end, _ = pulled_lines(path)
    append_pulled(path, [line(3)])

    assert first == [line(1), line(2)]
    assert pulled_lines(path, end)[0] == [line(3)]
    assert place(path) == 3
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_line_that_was_cut_off_is_pulled_again(tmp_path: Path) -> None:
    path = tmp_path / "team.backend.jsonl"
    append_pulled(str(path), [line(1), line(2)])
    path.write_bytes(path.read_bytes()[:-20])
    assert place(str(path)) == 1

    append_pulled(str(path), [line(2)])
    assert pulled_lines(str(path))[0] == [line(1), line(2)]


def test_the_last_line_is_found_behind_large_ones(tmp_path: Path) -> None:
    path = str(tmp_path / "team.backend.jsonl")
    append_pulled(path, [line(seq, {"observed": "x" * 60_000}) for seq in range(1, 40)])

    assert place(path) == 39


def test_hostile_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "team.backend.jsonl"
    append_pulled(str(path), [line(1)])
    with path.open("ab") as file:
        file.write(b'{"seq": true, "line": "x", "body": {}}\n[1]\n{"seq": 5, "line": "1", "body": 7}\n\xff\xfe\n')

    assert pulled_lines(str(path))[0] == [line(1)]
    assert place(str(path)) == 1


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    assert last_pulled(str(tmp_path / "none")) is None
    assert pulled_lines(str(tmp_path / "none"))[0] == []


@pytest.mark.parametrize(
    "lines",
    [
        [line(5)],
        [line(6), line(6)],
        [TeamLine("none", {}, seq=6)],
        [line(6, {"observed": "x" * 1024 * 1024})],
    ],
    ids=["again", "twice", "without an id", "too large"],
)
def test_lines_of_a_server_that_would_be_pulled_for_ever_are_refused(lines: list[TeamLine]) -> None:
    refuse_unordered([line(6), line(8)], 5)
    with pytest.raises(InvalidEntry):
        refuse_unordered(lines, 5)


def test_a_body_that_is_nested_too_deeply_is_left_out() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    assert bounded_body({"shared": "a", "entry": deep}) == bounded_body([]) == {}
    assert bounded_body({"shared": "a", "entry": {"references": ["b"]}}) != {}
