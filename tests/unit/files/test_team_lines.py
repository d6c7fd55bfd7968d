"""The files of pulled lines: appended to, resumable, and not trusted when they are read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.domain.shared.fold import related
from recollect.domain.shared.line_ids import line_id
from recollect.domain.shared.lines import TeamLine
from recollect.errors import InvalidEntry
from recollect.files.team.lines import (
    append_pulled,
    bounded_body,
    last_pulled,
    lines_about,
    pulled_lines,
    refuse_unordered,
)


def line(seq: int, body: object = None) -> TeamLine:
    given = body if isinstance(body, dict) else {"observed": "a" * 16}
    return TeamLine(line_id(seq, 0, "abcdef01"), given, seq=seq, author="änn", role="writer", received="2026")


A, B, C, D = (letter * 16 for letter in "abcd")
HASHES = st.sampled_from([A, B, C, D])


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


@given(
    st.lists(
        st.one_of(
            st.builds(lambda kind, hash: {kind: hash}, st.sampled_from(["observed", "retired"]), HASHES),
            st.builds(lambda hash, edits: {"shared": hash, "edits": edits}, HASHES, HASHES),
            st.builds(lambda hash: {"shared": A + "x", "entry": {"description": f"It names {hash}."}}, HASHES),
        ),
        max_size=12,
    ),
    st.sets(HASHES, min_size=1, max_size=2),
    st.integers(60, 400),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_about_few_lessons_are_those_that_a_look_at_all_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bodies: list[dict[str, Any]], hashes: set[str], chunk: int
) -> None:
    path = tmp_path / "team.backend.jsonl"
    path.unlink(missing_ok=True)
    append_pulled(str(path), [line(seq, body) for seq, body in enumerate(bodies, 1)])
    monkeypatch.setattr("recollect.files.team.lines._CHUNK", chunk)

    few = lines_about(str(path), hashes)
    assert few == related(pulled_lines(str(path))[0], hashes)
    monkeypatch.setattr("recollect.files.team.lines._FEW", 0)
    assert lines_about(str(path), hashes) == few


def test_only_lines_that_name_a_lesson_are_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "team.backend.jsonl")
    append_pulled(path, [line(seq, {"observed": f"{seq:016x}"}) for seq in range(1, 200)])
    parsed: list[object] = []
    loads = json.loads
    monkeypatch.setattr("json.loads", lambda text: parsed.append(text) or loads(text))

    assert [each.seq for each in lines_about(path, [f"{7:016x}"])] == [7]
    assert len(parsed) == 1
