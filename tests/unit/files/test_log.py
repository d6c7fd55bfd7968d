import os
import re
import stat
from pathlib import Path

import pytest

from recollect.files.log import MAX_BYTES, NAME, WITHOUT_RESIDENT, lately, log


def lines(folder: Path) -> list[str]:
    return (folder / NAME).read_text(encoding="utf-8").split("\n")


def test_log_adds_one_line_with_the_time(tmp_path: Path) -> None:
    log(str(tmp_path / "made" / "for it"), "stop", "cannot read x", place="")
    log(str(tmp_path / "made" / "for it"), "stop", "cannot read y", place="")
    first, second, end = lines(tmp_path / "made" / "for it")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ stop: cannot read x", first)
    assert second.endswith("Z stop: cannot read y")
    assert end == ""


def test_log_writes_a_sentence_of_several_lines_as_one(tmp_path: Path) -> None:
    log(str(tmp_path), "stop", "Traceback:\n  File\r\n\tx", place="")
    assert lines(tmp_path)[0].endswith("Z stop: Traceback: File x")
    assert len(lines(tmp_path)) == 2


def test_log_shortens_a_very_long_sentence(tmp_path: Path) -> None:
    log(str(tmp_path), "stop", "x" * 1_000_000, place="")
    assert lines(tmp_path)[0].endswith("Z stop: " + "x" * (1000 - len("stop: ")))


def test_log_takes_text_that_is_no_valid_unicode(tmp_path: Path) -> None:
    log(str(tmp_path), "stop", "cannot read caf\udce9", place="")
    assert lines(tmp_path)[0].endswith("Z stop: cannot read caf?")


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_log_is_for_its_owner_only(tmp_path: Path) -> None:
    log(str(tmp_path), "stop", "x")
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_log_moves_a_full_log_aside(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"old\n" * (MAX_BYTES // 4))
    (tmp_path / (NAME + ".1")).write_bytes(b"older")
    log(str(tmp_path), "stop", "new", place="")
    assert lines(tmp_path)[0].endswith("Z stop: new")
    assert (tmp_path / (NAME + ".1")).read_bytes() == b"old\n" * (MAX_BYTES // 4)


def test_log_never_grows_beyond_its_two_files(tmp_path: Path) -> None:
    for n in range(400):
        log(str(tmp_path), "stop", f"{n} " + "x" * 1000)
    assert sorted(os.listdir(tmp_path)) == [NAME, NAME + ".1"]
    assert all(os.path.getsize(tmp_path / name) <= MAX_BYTES for name in os.listdir(tmp_path))
    assert " 399 " in lines(tmp_path)[-2]


def test_log_that_cannot_be_written_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    log(str(tmp_path / "file"), "stop", "x")
    log(str(tmp_path / "file" / "below"), "stop", "x")
    (tmp_path / NAME).mkdir()
    log(str(tmp_path), "stop", "x")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "kept"
    assert sorted(os.listdir(tmp_path)) == ["file", NAME]


def test_what_was_logged_lately_is_told_without_its_time(tmp_path: Path) -> None:
    assert lately(str(tmp_path)) == []
    (tmp_path / NAME).write_text("2020-01-01T00:00:00Z stop: long ago\ngarbage\n\n", encoding="utf-8")
    log(str(tmp_path), "stop", "cannot read x")
    log(str(tmp_path), "prompt", "the store is locked")
    assert lately(str(tmp_path)) == [("stop", "cannot read x"), ("prompt", "the store is locked")]


def test_several_sentences_are_several_lines_and_none_is_no_line(tmp_path: Path) -> None:
    log(str(tmp_path), "stop")
    assert os.listdir(tmp_path) == []
    log(str(tmp_path), WITHOUT_RESIDENT, "prompt: it is slow", "stop: it: too")
    assert lately(str(tmp_path)) == [(WITHOUT_RESIDENT, "prompt: it is slow"), (WITHOUT_RESIDENT, "stop: it: too")]


def test_lines_of_folders_outside_a_project_are_left_out(tmp_path: Path) -> None:
    shop = str(tmp_path / "shop")
    log(str(tmp_path), "stop", "about all [in part]", place="")
    log(str(tmp_path), "stop", "in the shop [in /other]", place=shop)
    log(str(tmp_path), "prompt", "below: it", place=f"{shop}/src")
    log(str(tmp_path), "stop", "in another", place=f"{shop}-2")
    ours = [("stop", "about all [in part]"), ("stop", "in the shop [in /other]"), ("prompt", "below: it")]
    assert lately(str(tmp_path), shop) == ours
    assert len(lately(str(tmp_path))) == 4
