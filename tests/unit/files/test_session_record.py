"""What a session has had, in a small file for each."""

from __future__ import annotations

import os
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import StorageError
from recollect.files.session.record import (
    FOLDER,
    add_given,
    add_words,
    read_record,
    reset_given,
    set_triaged,
    sweep_records,
)

LONG_AGO = (1_700_000_000, 1_700_000_000)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_a_session_that_nobody_knows_has_had_nothing(store: str) -> None:
    record = read_record(store, "s1")
    assert (record.known, record.given, record.triaged) == (False, set(), 0)
    assert not os.path.exists(store), "reading makes nothing"


def test_what_was_given_adds_up(store: str) -> None:
    add_given(store, "s1", ["a", ".claude/memory/decisions/use-x.json"])
    add_given(store, "s1", ["b", "a"])
    record = read_record(store, "s1")
    assert record.known
    assert record.given == {"a", "b", ".claude/memory/decisions/use-x.json"}


def test_sessions_do_not_share_what_they_had(store: str) -> None:
    add_given(store, "s1", ["a"])
    add_given(store, "s2", ["b"])
    assert read_record(store, "s1").given == {"a"}


def test_nothing_given_makes_no_record(store: str) -> None:
    add_given(store, "s1", [])
    assert not read_record(store, "s1").known


def test_a_record_is_for_its_owner_only(store: str) -> None:
    add_given(store, "s1", ["a"])
    folder = Path(store) / FOLDER
    assert (folder.stat().st_mode & 0o777, (folder / "s1").stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_reset_forgets_what_was_given_and_keeps_how_far_the_triage_went(store: str) -> None:
    add_given(store, "s1", ["a"])
    set_triaged(store, "s1", 12_345)
    reset_given(store, "s1")
    record = read_record(store, "s1")
    assert (record.known, record.given, record.triaged) == (True, set(), 12_345)
    add_given(store, "s1", ["b"])
    assert read_record(store, "s1").given == {"b"}


def test_a_reset_of_a_session_that_nobody_knows_makes_no_record(store: str) -> None:
    reset_given(store, "s1")
    assert not os.path.exists(store)


def test_the_last_triage_counts(store: str) -> None:
    set_triaged(store, "s1", 10)
    set_triaged(store, "s1", 7)
    assert read_record(store, "s1").triaged == 7


@pytest.mark.parametrize(
    "session", ["", "..", "../s1", "/etc/passwd", "a/b", "a\0b", "a b", "é", "x" * 101, "---", "\ud800", "a\nb", "s1."]
)
def test_an_id_that_is_no_name_for_a_file_has_no_record(store: str, session: str) -> None:
    add_given(store, session, ["a"])
    set_triaged(store, session, 1)
    reset_given(store, session)
    assert not read_record(store, session).known
    assert not os.path.exists(store)


def test_a_key_cannot_pretend_to_be_another_line(store: str) -> None:
    add_given(store, "s1", ["a\n=99\n+b"])
    record = read_record(store, "s1")
    assert record.triaged == 0
    assert record.given == {"a =99 +b"}


def test_a_link_in_place_of_a_record_is_not_written_through(store: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("", encoding="utf-8")
    (Path(store) / FOLDER).mkdir(parents=True)
    (Path(store) / FOLDER / "s1").symlink_to(elsewhere)
    with pytest.raises(StorageError, match="cannot write"):
        add_given(store, "s1", ["a"])
    assert elsewhere.read_text(encoding="utf-8") == ""


def test_a_store_that_cannot_be_made_says_so(store: str) -> None:
    Path(store).write_text("a file", encoding="utf-8")
    with pytest.raises(StorageError, match=r"cannot write .*s1"):
        add_given(store, "s1", ["a"])


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"+", b"=x\n", b"=-1\n", b"no mark\n", b"+half a li", b"=" + b"9" * 5000 + b"\n"]
)
def test_a_record_that_makes_no_sense_is_read_without_complaint(store: str, content: bytes) -> None:
    add_given(store, "s1", ["a"])
    path = Path(store) / FOLDER / "s1"
    path.write_bytes(path.read_bytes() + content)
    assert "a" in read_record(store, "s1").given


def test_old_records_are_swept_and_what_is_none_is_left_alone(store: str) -> None:
    for session in ("new", "old1", "old2"):
        add_given(store, session, ["a"])
    folder = Path(store) / FOLDER
    (folder / "folder").mkdir()
    for name in ("old1", "old2", "folder"):
        os.utime(folder / name, LONG_AGO)
    sweep_records(store)
    assert sorted(path.name for path in folder.iterdir()) == ["folder", "new"]


def test_a_sweep_without_any_records_is_no_failure(store: str) -> None:
    sweep_records(store)
    assert not os.path.exists(store)


PLAIN = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=100)


@given(PLAIN.filter(lambda name: name.strip("-_") != ""), st.sets(st.text(min_size=1)))
def test_whatever_is_given_is_found_again_by_its_words(session: str, keys: set[str]) -> None:
    with tempfile.TemporaryDirectory() as store:
        add_given(store, session, keys)
        found = read_record(store, session).given
    assert found == {" ".join(key.encode("utf-8", "replace").decode().split()) for key in keys}


def test_of_what_is_given_what_the_session_had_before_is_told(store: str) -> None:
    assert add_given(store, "s1", ["a", "b"]) == set()
    assert add_given(store, "s1", ["b", "c  d"]) == {"b"}
    assert add_given(store, "s1", ["c d"]) == {"c d"}
    assert add_given(store, "s2", ["a"]) == set()
    assert add_given(store, "../odd", ["a"]) == set()


def test_marks_of_words_stay_after_a_reset_and_have_a_bound(store: str) -> None:
    add_words(store, "s1", ["aa", "bb"])
    add_given(store, "s1", ["x"])
    reset_given(store, "s1")
    add_given(store, "s1", ["y"])
    record = read_record(store, "s1")
    assert (record.words, record.given) == ({"aa", "bb"}, {"y"})
    for number in range(400):
        add_words(store, "s1", [f"{number:04}{place:04}" for place in range(400)])
    set_triaged(store, "s1", 999, held=True)
    assert (read_record(store, "s1").triaged, read_record(store, "s1").held) == (999, True)
    assert add_given(store, "s1", ["y"]) == {"y"}


def test_what_could_not_be_read_again_is_not_written(store: str) -> None:
    add_given(store, "s1", ["k" * 100_000 + str(number) for number in range(5)])
    with pytest.raises(StorageError, match="is full"):
        add_given(store, "s1", ["k" * 100_000])
    assert len(read_record(store, "s1").given) == 5
