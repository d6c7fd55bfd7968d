"""Captures that await review: staged, listed by project, reviewed, and never taken for memories."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recollect.errors import StorageError
from recollect.files.journal.kinds import CAPTURE, DISMISSED, REVIEWED, SAVED, STAGED, Reviewed, Staged, new_id
from recollect.files.journal.log import append_lines, read_lines
from recollect.files.journal.tail import awaiting
from recollect.sync.journal import captured

HERE = "/home/dev/shop"


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return str(tmp_path / "session-captures.jsonl")


def candidate(id: str, project: str = HERE, category: str = "decision") -> Staged:
    return Staged(id, "2026-01-02T03:04:05Z", project, "s-1", category, 0.52, ['we chose "it"'], "line\n\ttwo <b>")


def stage(journal: str, candidates: list[Staged]) -> None:
    append_lines(journal, STAGED, candidates)


def mark_reviewed(journal: str, id: str, outcome: str) -> None:
    append_lines(journal, REVIEWED, [Reviewed(id, "2026-01-03T00:00:00Z", outcome)])


def ids(journal: str, project: str = HERE) -> list[str]:
    return [each.id for each in awaiting(journal, project)]


def test_what_was_staged_awaits_review_as_it_was(journal: str) -> None:
    stage(journal, [candidate("aa")])
    [found] = awaiting(journal, HERE)
    assert [getattr(found, name) for name in Staged.__slots__] == [
        getattr(candidate("aa"), name) for name in Staged.__slots__
    ]
    assert os.stat(journal).st_mode & 0o777 == 0o600


def test_only_captures_of_the_project_await_in_it(journal: str) -> None:
    stage(journal, [candidate("aa"), candidate("bb", "/home/dev/other"), candidate("cc")])
    assert (ids(journal), ids(journal, "/home/dev/other"), ids(journal, "/home/dev")) == (["aa", "cc"], ["bb"], [])


def test_what_was_reviewed_no_longer_awaits(journal: str) -> None:
    stage(journal, [candidate("aa"), candidate("bb"), candidate("cc")])
    mark_reviewed(journal, "aa", SAVED)
    mark_reviewed(journal, "cc", DISMISSED)
    assert ids(journal) == ["bb"]
    lines = [json.loads(line) for line in Path(journal).read_text(encoding="utf-8").splitlines()]
    assert [(line["reviewed"], line["outcome"]) for line in lines[3:]] == [("aa", "saved"), ("cc", "dismissed")]


def test_nothing_awaits_in_a_journal_that_is_missing_or_has_only_memories(journal: str) -> None:
    assert ids(journal) == []
    stage(journal, [])
    assert not os.path.exists(journal)
    append_lines(
        journal, CAPTURE, [{"name": "staged", "description": 'He said "staged": yes.', "category": "patterns"}]
    )
    assert ids(journal) == []


def test_lines_that_cannot_be_read_are_passed_over(journal: str) -> None:
    broken = [
        '{"staged":',
        '{"staged":3,"project":"/home/dev/shop"}',
        '{"staged":"x","project":"/home/dev/shop"}',
        '["staged"]',
    ]
    broken.append('{"staged":"ok","project":"/home/dev/shop","category":"decision","score":"?","snippets":[1,"a"]}')
    Path(journal).write_text("\n".join(broken) + "\n\xff\n", encoding="latin-1")
    [found] = awaiting(journal, HERE)
    assert (found.id, found.score, found.snippets, found.context) == ("ok", 0.0, ["a"], "")


@pytest.mark.parametrize("score", ["9" * 400, "-1", "2", "1e999", "NaN", "true", '"0.5"', "null"])
def test_a_capture_with_a_score_that_is_none_awaits_review_all_the_same(journal: str, score: str) -> None:
    line = f'{{"staged":"ok","project":"{HERE}","category":"decision","score":{score}}}\n'
    Path(journal).write_text(line, encoding="utf-8")
    assert [each.score for each in awaiting(journal, HERE)] in ([0.0], [1.0], [])


def test_a_journal_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        awaiting(str(tmp_path), HERE)


def test_staged_lines_are_no_memories(journal: str) -> None:
    append_lines(journal, CAPTURE, [{"name": "Lesson", "description": "What it taught.", "category": "patterns"}])
    stage(journal, [candidate("aa")])
    mark_reviewed(journal, "aa", SAVED)
    found = read_lines(journal, 0)
    entries, retirements, problems = captured(found.lines)
    assert [entry.name for entry in entries] == ["Lesson"]
    assert (retirements, problems, found.problems, len(found.lines)) == ([], [], [], 3)


def test_a_line_that_a_killed_writer_left_does_not_swallow_the_next(journal: str) -> None:
    Path(journal).write_text('{"staged":"half', encoding="utf-8")
    stage(journal, [candidate("aa")])
    assert ids(journal) == ["aa"]


def test_ids_are_short_and_differ() -> None:
    assert len({new_id() for _ in range(100)}) == 100
    assert all(len(each) == 8 and each.isalnum() for each in (new_id(), new_id()))
