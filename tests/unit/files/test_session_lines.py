"""The lines of a transcript that somebody has written or read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.domain.feedback.lines import HUMAN, MODEL, OUTSIDE
from recollect.errors import StorageError
from recollect.files.session.lines import read_lines

DATA = Path(__file__).parents[2] / "data" / "transcripts"
AT = "2026-11-17T10:00:00.000Z"


def line(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": AT, "message": {"role": kind, "content": content}, **fields}


def use(name: str, id: str = "t1", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(text: str, id: str = "t1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": text}


def read(folder: Path, *lines: Any, end: str = "\n") -> list[tuple[int, str, str]]:
    path = folder / "session.jsonl"
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines) + end, "utf-8")
    return [(each.number, each.source, each.text) for each in read_lines(str(path))[0]]


def test_lines_have_their_number_and_their_source(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"type": "progress", "data": {"type": "hook_progress"}},
        line("user", "Where is the queue?"),
        line("assistant", [{"type": "text", "text": "I look."}, use("Read", file_path="a.py")]),
        line("user", [result("print('queue')")]),
    )
    assert found == [(2, HUMAN, "Where is the queue?"), (3, MODEL, "I look."), (4, OUTSIDE, "print('queue')")]


def test_what_recollect_says_itself_is_left_out(tmp_path: Path) -> None:
    block = '<memory-context source="recollect">\nsecret words\n</memory-context>'
    found = read(
        tmp_path,
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [block]}, "timestamp": AT},
        line("user", f"Where is it? {block}"),
        line("assistant", [use("mcp__plugin_memory_recollect__search_memory", query="x")]),
        line("user", [result("secret words")]),
        line("user", f"Stop hook feedback:\n{block}", isMeta=True),
    )
    assert [text for _, _, text in found] == ["Where is it?", "", "Stop hook feedback:"]


def test_lines_of_subagents_and_summaries_are_left_out(tmp_path: Path) -> None:
    spoken = line("assistant", [{"type": "text", "text": "words"}])
    found = read(tmp_path, {**spoken, "isSidechain": True}, line("user", "A summary", isCompactSummary=True))
    assert found == []


def test_a_half_written_line_and_garbage_are_skipped(tmp_path: Path) -> None:
    half = json.dumps(line("user", "half"))[:-4]
    assert read(tmp_path, "garbage", "[1]", "null", line("user", "whole one"), half, end="") == [
        (4, HUMAN, "whole one")
    ]


def test_a_missing_transcript_has_no_lines(tmp_path: Path) -> None:
    assert read_lines(str(tmp_path / "none.jsonl")) == ([], 0)


def test_a_folder_is_no_transcript(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        read_lines(str(tmp_path))


def test_the_first_lines_of_a_very_long_transcript_are_counted_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.files.session.lines.MOST_BYTES", 1_000)
    found = read(tmp_path, *[line("user", f"prompt number {number}") for number in range(1, 101)])
    assert found[-1] == (100, HUMAN, "prompt number 100")
    assert 1 < len(found) < 20
    assert all(text == f"prompt number {number}" for number, _, text in found)


@pytest.mark.parametrize("name", ["short", "tool_heavy", "subagent", "scripted-2.1.325"])
def test_a_real_transcript_has_lines_of_each_source(name: str) -> None:
    lines, size = read_lines(str(DATA / f"{name}.jsonl"))
    assert size == (DATA / f"{name}.jsonl").stat().st_size
    assert {each.source for each in lines} == {HUMAN, MODEL, OUTSIDE}


def test_long_transcript_begins_with_a_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.files.session.lines.MOST_BYTES", 400)
    said = [line("user", "First?"), *[line("assistant", [{"type": "text", "text": f"Answer {n}."}]) for n in range(4)]]
    assert read(tmp_path, *said) == [], "nobody knows what was asked"
    found = read(tmp_path, *said, line("user", "Second?"), line("assistant", [{"type": "text", "text": "Yes."}]))
    assert found == [(6, HUMAN, "Second?"), (7, MODEL, "Yes.")]
