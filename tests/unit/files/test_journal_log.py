"""The journal: lines are added whole, read once, and noticed when somebody else has changed them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples

import recollect
from recollect.errors import LockTimeout, StorageError
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import LONGEST_LINE, append_lines, fingerprint, read_lines
from recollect.files.locks import locked
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import Scope
from recollect.sync.sync import sync_journal

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))

APPEND = """
import sys
sys.path.insert(0, sys.argv[1])
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines
sys.stdin.readline()
for number in range(int(sys.argv[4])):
    append_lines(sys.argv[2], CAPTURE, [{"by": sys.argv[3], "number": number, "text": "x" * 3000}])
"""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "session-captures.jsonl"


def lesson(number: int, **known: str) -> dict[str, str]:
    return {"name": f"Lesson {number}", "description": f"What {number} taught.", "category": "patterns", **known}


def line(capture: object) -> bytes:
    return json.dumps(capture).encode() + b"\n"


def counts(store: SqliteStore) -> dict[str, int]:
    """How often each active entry was observed, by name."""
    standings = {each.id: each.observation_count for each in store.standings(Scope(None))}
    return {entry.name: standings[entry.id] for entry in store.entries(standings)}


def touched(path: Path, data: bytes) -> None:
    """Write a file so that its time is sure to differ."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(data)
    os.utime(path, ns=(before + 10**9, before + 10**9))


# Lines


def test_captures_come_back_in_their_order(journal: Path) -> None:
    for number in range(3):
        append_lines(str(journal), CAPTURE, [lesson(number)])
    found = read_lines(str(journal), 0)
    assert (found.lines, found.problems) == ([lesson(number) for number in range(3)], [])
    assert found.end == journal.stat().st_size
    assert journal.read_bytes().count(b"\n") == 3


def test_reading_goes_on_where_it_ended(journal: Path) -> None:
    append_lines(str(journal), CAPTURE, [lesson(0)])
    end = read_lines(str(journal), 0).end
    append_lines(str(journal), CAPTURE, [lesson(1)])
    assert read_lines(str(journal), end).lines == [lesson(1)]


def test_journal_that_does_not_exist_holds_nothing(journal: Path) -> None:
    found = read_lines(str(journal), 0)
    assert (found.lines, found.end, found.problems) == ([], 0, [])
    assert fingerprint(str(journal), 0) == ""


def test_torn_last_line_is_left_until_it_is_whole(journal: Path) -> None:
    whole = line(lesson(0))
    journal.write_bytes(whole + line(lesson(1))[:-1])
    found = read_lines(str(journal), 0)
    assert (found.lines, found.end, found.problems) == ([lesson(0)], len(whole), [])
    with journal.open("ab") as file:
        file.write(b"\n")
    assert read_lines(str(journal), found.end).lines == [lesson(1)]


def test_line_after_a_torn_one_is_a_line_of_its_own(journal: Path) -> None:
    journal.write_bytes(line(lesson(0)) + line(lesson(1))[:20])
    append_lines(str(journal), CAPTURE, [lesson(2)])
    found = read_lines(str(journal), 0)
    assert found.lines == [lesson(0), lesson(2)]
    assert len(found.problems) == 1
    assert "line 2" in found.problems[0]


@pytest.mark.parametrize(
    "bad",
    [
        b"nonsense",
        b"[]",
        b"null",
        b'"text"',
        b"{",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1" * 10_000,
        b'{"a": \x00}',
    ],
    ids=range(10),
)
def test_line_that_is_no_capture_is_passed_over_and_reported(journal: Path, bad: bytes) -> None:
    journal.write_bytes(line(lesson(0)) + bad + b"\n" + line(lesson(1)))
    found = read_lines(str(journal), 0)
    assert found.lines == [lesson(0), lesson(1)]
    [problem] = found.problems
    assert str(journal) in problem
    assert found.end == journal.stat().st_size


def test_many_lines_that_are_no_captures_are_one_sentence(journal: Path) -> None:
    journal.write_bytes(line(lesson(0)) + b"nonsense\n{also\n" * 500 + line(lesson(1)))
    found = read_lines(str(journal), 0)
    assert (found.lines, found.skipped) == ([lesson(0), lesson(1)], 1000)
    [problem] = found.problems
    assert "1,000 lines (the first: line 2 after the last one read) are no captures" in problem


def test_huge_line_is_passed_over_without_being_held(journal: Path) -> None:
    journal.write_bytes(line(lesson(0)) + b"x" * (3 * LONGEST_LINE) + b"\n" + line(lesson(1)))
    found = read_lines(str(journal), 0)
    assert found.lines == [lesson(0), lesson(1)]
    assert len(found.problems) == 1
    assert found.end == journal.stat().st_size


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_line_is_too_long_by_its_bytes(journal: Path, extra: int) -> None:
    empty = len(line({"a": ""}))
    journal.write_bytes(line({"a": "x" * (LONGEST_LINE + 1 - empty + extra)}) + line(lesson(1)))
    found = read_lines(str(journal), 0)
    assert len(found.lines) == (1 if extra > 0 else 2)
    assert len(found.problems) == (1 if extra > 0 else 0)


def test_windows_line_ends_empty_lines_and_a_byte_order_mark_are_no_problem(journal: Path) -> None:
    journal.write_bytes(b"\xef\xbb\xbf" + line(lesson(0)).replace(b"\n", b"\r\n") + b"\r\n  \n" + line(lesson(1)))
    found = read_lines(str(journal), 0)
    assert (found.lines, found.problems) == ([lesson(0), lesson(1)], [])


@settings(max_examples=examples(50), deadline=None)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_any_text_makes_one_line_and_comes_back(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("journal") / "j.jsonl"
    for text in texts:
        append_lines(str(path), CAPTURE, [{"text": text}])
    found = read_lines(str(path), 0)
    assert [capture["text"] for capture in found.lines] == texts
    assert found.problems == []


def test_lone_surrogates_are_replaced_and_do_not_stop_a_line(journal: Path) -> None:
    append_lines(str(journal), CAPTURE, [{"text": "a\ud800b"}])
    assert read_lines(str(journal), 0).lines == [{"text": "a?b"}]


def test_journal_that_is_a_folder_is_an_error_of_storage(tmp_path: Path) -> None:
    (tmp_path / "j").mkdir()
    for action in (lambda p: append_lines(p, CAPTURE, [{}]), lambda p: read_lines(p, 0), lambda p: fingerprint(p, 0)):
        with pytest.raises(StorageError):
            action(str(tmp_path / "j"))


def test_journal_in_a_folder_that_cannot_be_is_an_error_of_storage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError):
        append_lines(str(tmp_path / "file" / "j"), CAPTURE, [{}])


def test_several_processes_add_whole_lines(journal: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-I", "-c", APPEND, SOURCE, str(journal), str(name), "50"], stdin=subprocess.PIPE
        )
        for name in range(4)
    ]
    for process in processes:
        process.communicate(b"go\n")
    assert [process.returncode for process in processes] == [0] * 4
    found = read_lines(str(journal), 0)
    assert found.problems == []
    assert len(found.lines) == 200
    for name in range(4):
        assert [each["number"] for each in found.lines if each["by"] == str(name)] == list(range(50))


def test_journal_whose_lock_is_held_is_not_written(journal: Path) -> None:
    with locked(str(journal)), pytest.raises(LockTimeout), locked(str(journal), 0.0):
        pass
    assert journal.read_bytes() == b""


# What a store makes of a journal that others have changed


@pytest.fixture
def store(tmp_path: Path):
    with SqliteStore(str(tmp_path / "memory.db")) as opened:
        yield opened


def follow(store: SqliteStore, journal: Path) -> list[str]:
    return sync_journal(store, str(journal.parent))


def test_each_line_is_counted_once_however_often_the_journal_is_read(store: SqliteStore, journal: Path) -> None:
    for number in (0, 1, 0):
        append_lines(str(journal), CAPTURE, [lesson(number)])
        follow(store, journal)
        follow(store, journal)
    assert counts(store) == {"Lesson 0": 2, "Lesson 1": 1}


def test_touched_journal_is_counted_no_more(store: SqliteStore, journal: Path) -> None:
    append_lines(str(journal), CAPTURE, [lesson(0)])
    follow(store, journal)
    touched(journal, journal.read_bytes())
    follow(store, journal)
    assert counts(store) == {"Lesson 0": 1}


@pytest.mark.parametrize("deleted", [0, 25, 49])
def test_line_deleted_by_hand_is_counted_no_more(store: SqliteStore, journal: Path, deleted: int) -> None:
    lines = [line(lesson(number % 25)) for number in range(50)]
    touched(journal, b"".join(lines))
    follow(store, journal)
    assert counts(store) == {f"Lesson {number}": 2 for number in range(25)}
    touched(journal, b"".join(lines[:deleted] + lines[deleted + 1 :]))
    follow(store, journal)
    assert counts(store) == {f"Lesson {number}": 1 if number == deleted % 25 else 2 for number in range(25)}


def test_line_deleted_by_hand_is_noticed_after_another_was_added(store: SqliteStore, journal: Path) -> None:
    lines = [line(lesson(number)) for number in range(50)]
    touched(journal, b"".join(lines))
    follow(store, journal)
    touched(journal, b"".join(lines[1:]))
    append_lines(str(journal), CAPTURE, [lesson(7)])
    follow(store, journal)
    expected = {f"Lesson {number}": 1 for number in range(1, 50)}
    assert counts(store) == {**expected, "Lesson 7": 2}


def test_line_edited_by_hand_is_noticed_though_its_length_is_the_same(store: SqliteStore, journal: Path) -> None:
    lines = [line(lesson(number)) for number in range(50)]
    touched(journal, b"".join(lines))
    follow(store, journal)
    lines[0] = line(lesson(99))[:-1].replace(b"99", b"X") + b"\n"
    touched(journal, b"".join(lines))
    follow(store, journal)
    assert "Lesson X" in counts(store)


def test_last_line_edited_by_hand_is_noticed(store: SqliteStore, journal: Path) -> None:
    touched(journal, line(lesson(1)) + line(lesson(2)))
    follow(store, journal)
    touched(journal, line(lesson(1)) + line(lesson(3)))
    follow(store, journal)
    assert counts(store) == {"Lesson 1": 1, "Lesson 3": 1}


def test_name_corrected_by_hand_is_taken_over(store: SqliteStore, journal: Path) -> None:
    touched(journal, line({**lesson(1), "name": "Wrogn"}))
    follow(store, journal)
    touched(journal, line({**lesson(1), "name": "Right"}))
    follow(store, journal)
    assert counts(store) == {"Right": 1}


def test_journal_cut_to_nothing_retires_its_entries(store: SqliteStore, journal: Path) -> None:
    append_lines(str(journal), CAPTURE, [lesson(0)])
    follow(store, journal)
    touched(journal, b"")
    follow(store, journal)
    assert counts(store) == {}
    append_lines(str(journal), CAPTURE, [lesson(0)])
    follow(store, journal)
    assert counts(store) == {"Lesson 0": 1}


def test_journal_that_was_removed_retires_its_entries_until_it_returns(store: SqliteStore, journal: Path) -> None:
    append_lines(str(journal), CAPTURE, [lesson(0)])
    follow(store, journal)
    data = journal.read_bytes()
    journal.unlink()
    follow(store, journal)
    follow(store, journal)
    assert counts(store) == {}
    journal.write_bytes(data)
    follow(store, journal)
    assert counts(store) == {"Lesson 0": 1}


@pytest.mark.parametrize("lines", [1, 5, 60])
def test_journal_replaced_by_another_is_read_from_its_beginning(store: SqliteStore, journal: Path, lines: int) -> None:
    touched(journal, b"".join(line(lesson(number)) for number in range(5)))
    follow(store, journal)
    touched(journal, b"".join(line(lesson(number)) for number in range(100, 100 + lines)))
    follow(store, journal)
    assert counts(store) == {f"Lesson {number}": 1 for number in range(100, 100 + lines)}


def test_torn_line_is_counted_when_it_is_whole_and_never_twice(store: SqliteStore, journal: Path) -> None:
    touched(journal, line(lesson(0)) + line(lesson(1))[:-1])
    follow(store, journal)
    assert counts(store) == {"Lesson 0": 1}
    append_lines(str(journal), CAPTURE, [lesson(2)])
    follow(store, journal)
    follow(store, journal)
    assert counts(store) == {"Lesson 0": 1, "Lesson 1": 1, "Lesson 2": 1}


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "No category", "description": "x"},
        {**lesson(5), "unknown field": 1},
        {**lesson(5), "description": 7},
        {**lesson(5), "keywords": "no list"},
        {},
    ],
)
def test_capture_that_cannot_be_used_is_reported_and_stops_no_other(
    store: SqliteStore, journal: Path, bad: dict[str, object]
) -> None:
    touched(journal, line(bad) + line(lesson(1)))
    [problem] = follow(store, journal)
    assert "cannot be used" in problem
    assert counts(store) == {"Lesson 1": 1}
    assert follow(store, journal) == []


@pytest.mark.parametrize("at", [12, None, "", "yesterday", ["x"], "2026-01-01T00:00:00Z and more"])
def test_time_of_a_capture_may_be_anything(store: SqliteStore, journal: Path, at: object) -> None:
    touched(journal, line({**lesson(1), "at": at}))
    assert follow(store, journal) == []
    assert counts(store) == {"Lesson 1": 1}


def test_lone_surrogate_in_the_time_of_a_capture_does_not_keep_the_journal_out(
    store: SqliteStore, journal: Path
) -> None:
    touched(journal, line({**lesson(1), "at": "\ud800"}))
    follow(store, journal)
    assert counts(store) == {"Lesson 1": 1}


def test_lone_surrogates_in_a_capture_are_shown_as_question_marks(store: SqliteStore, journal: Path) -> None:
    touched(journal, line({**lesson(1), "name": "A \ud800", "reasoning": "\udfff", "references": ["\ud800"]}))
    assert follow(store, journal) == []
    assert counts(store) == {"A ?": 1}
