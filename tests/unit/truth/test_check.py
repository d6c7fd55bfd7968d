"""The rules of anchors: which file a reference names, what is said, and how far an entry is lowered."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.hashing import file_hash
from recollect.domain.stored import MOST_ANCHORS, Anchor, anchors_in, file_named
from recollect.truth.check import (
    GONE,
    LARGE,
    Changed,
    FileHashes,
    Truth,
    check_note,
    factor,
    lowered,
    nats_lost,
    title_note,
)
from recollect.truth.take import take_anchors

DAY = "2026-11-02"


def changed(file: str = "src/pay.py", now: str = "f" * 16, commits: int = -1, name: str = "") -> Changed:
    each = Changed(Anchor(file, "0" * 16, "1" * 12, DAY), now)
    each.commits = commits
    each.name = name or file
    return each


@pytest.mark.parametrize(
    ("reference", "file"),
    [
        ("src/pay.py", "src/pay.py"),
        ("./src/./pay.py", "src/pay.py"),
        ("src/pay.py:12", "src/pay.py"),
        ("src/pay.py:12:3", "src/pay.py"),
        ("src/pay.py:3-9", "src/pay.py"),
        ("src/pay.py#L3", "src/pay.py"),
        ("PR #12", "PR "),
        ("Makefile", "Makefile"),
        *((text, "") for text in ("", " ", "/etc/passwd", "~/x", "../x", "a/../x", "a//b", ".git/config", "a/.GIT/x")),
        *((text, "") for text in ("https://a.b/c", "a\\b", "a\nb", "x" * 501)),
    ],
)
def test_reference_names_a_file_of_the_project_or_none(reference: str, file: str) -> None:
    assert file_named(reference) == file.strip() or file_named(reference) == file


@given(st.text(max_size=40))
def test_named_file_never_leaves_the_project_and_names_itself(reference: str) -> None:
    file = file_named(reference)
    assert not file.startswith("/")
    assert ".." not in file.split("/")
    assert file_named(file) in (file, "")


@given(st.lists(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=5) | st.dictionaries(
    st.sampled_from(["file", "hash", "commit", "at"]), st.text(max_size=20) | st.integers()), max_size=30))  # fmt: skip
def test_anchors_of_any_json_are_valid_or_left_out(value: list[object]) -> None:
    found = anchors_in(value)
    assert len(found) <= MOST_ANCHORS
    assert all(file_named(anchor.file) == anchor.file and len(anchor.hash) == 16 for anchor in found)


def test_anchor_comes_back_as_it_was_written() -> None:
    anchors = [Anchor("a.py", "0" * 16, "1" * 12, DAY), Anchor("b.py", "0" * 16, "", DAY)]
    back = anchors_in([anchor.record for anchor in anchors])
    assert [anchor.record for anchor in back] == [anchor.record for anchor in anchors]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ([], ""),
        ([changed()], "check: src/pay.py changed since 2026-11-02"),
        ([changed(commits=0)], "check: src/pay.py changed since 2026-11-02"),
        ([changed(commits=1)], "check: src/pay.py changed since 2026-11-02 (1 commit)"),
        ([changed(commits=3)], "check: src/pay.py changed since 2026-11-02 (3 commits)"),
        ([changed(now=GONE)], "check: src/pay.py is gone (it was there on 2026-11-02)"),
        ([changed(name="b.py")], "check: b.py (was src/pay.py) changed since 2026-11-02"),
        ([changed(), changed("b.py")], "check: src/pay.py changed since 2026-11-02, and 1 other file"),
    ],
)
def test_note_says_the_file_the_day_and_the_commits(what: list[Changed], said: str) -> None:
    assert check_note(what) == said


def test_gone_is_lowered_more_than_changed_and_both_within_bounds() -> None:
    some, gone = [changed()], [changed(), changed(now=GONE)]
    assert (nats_lost([]), nats_lost(some), nats_lost(gone)) == (0.0, 1.0, 2.0)
    assert (factor([]), factor(some), factor(gone)) == (1.0, 0.9, 0.8)
    assert title_note(some) == "check: src/pay.py changed since 2026-11-02"


@given(st.lists(st.tuples(st.floats(0, 10), st.sampled_from([0.0, 1.0, 2.0])), max_size=8))
def test_lowering_keeps_everything_and_the_order_of_the_others(items: list[tuple[float, float]]) -> None:
    ranked = sorted(enumerate(items), key=lambda pair: -pair[1][0])
    after = lowered(ranked, lambda pair: pair[1][0], lambda pair: pair[1][1])
    assert sorted(after) == sorted(ranked)
    assert [pair for pair in after if not pair[1][1]] == [pair for pair in ranked if not pair[1][1]]
    scores = [pair[1][0] - pair[1][1] for pair in after]
    assert scores == sorted(scores, reverse=True)


@given(st.binary(max_size=200))
def test_hash_is_that_of_git(data: bytes) -> None:
    done = subprocess.run(["git", "hash-object", "--stdin"], input=data, capture_output=True, check=True)
    is_text = b"\0" not in data
    if not (is_text and b"\r\n" in data):
        assert file_hash(data) == done.stdout.decode().strip()


def test_line_ends_of_windows_make_no_other_content() -> None:
    assert file_hash(b"a\r\nb\r\n") == file_hash(b"a\nb\n")
    assert file_hash(b"\0a\r\n") != file_hash(b"\0a\n")


def test_files_are_read_within_bounds_of_number_bytes_and_time(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name * 10, encoding="utf-8")
    few = FileHashes(str(tmp_path), files=2, largest=1000, seconds=10)
    assert [few.of(name) is None for name in "abca"] == [False, False, True, False]
    small = FileHashes(str(tmp_path), files=9, largest=15, seconds=10)
    assert [small.of(name) is None for name in "abc"] == [False, False, True]
    late = FileHashes(str(tmp_path), files=9, largest=1000, seconds=-1)
    assert late.of("a") is None


def test_nothing_is_said_about_a_file_that_nobody_could_read_in_time(tmp_path: Path) -> None:
    workspace = Workspace(str(tmp_path), str(tmp_path / "store"), load_settings(str(tmp_path)))
    anchors = {id: [Anchor(id, "0" * 16, "", DAY)] for id in "abc"}
    for name in anchors:
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert list(Truth(workspace, None).compare(anchors)) == ["a", "b", "c"]
    assert list(Truth(workspace, None, files=2).compare(anchors)) == ["a", "b"]
    assert Truth(workspace, None, seconds=-1).compare(anchors) == {}


def test_link_is_followed_inside_the_project_alone(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "src").mkdir(parents=True)
    outside.mkdir()
    for folder in (project, outside):
        (folder / "real.py").write_text("x\n", encoding="utf-8")
    (project / "in.py").symlink_to("real.py")
    (project / "out.py").symlink_to(outside / "real.py")
    (project / "way").symlink_to(outside)
    (project / "big.bin").write_bytes(b"x" * (2 << 20))
    hashes = FileHashes(str(project), files=20, largest=1 << 24, seconds=10)
    assert hashes.of("in.py") == hashes.of("real.py") == file_hash(b"x\n")[:16]
    states = {name: hashes.of(name) for name in ("out.py", "way/real.py", "src", "none.py", "real.py/x", "big.bin")}
    assert states == {**dict.fromkeys(states, GONE), "big.bin": LARGE}


def test_anchors_are_taken_of_files_alone_and_twenty_at_most(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.py").write_text("x\n", encoding="utf-8")
    named = [f"{number}.py" for number in range(30)]
    assert len(take_anchors(str(tmp_path), named)) == MOST_ANCHORS
    [anchor] = take_anchors(
        str(tmp_path), [str(tmp_path / "1.py"), "1.py:3", "https://x.y", "none.py", "/etc/hostname"]
    )
    assert (anchor.file, anchor.commit) == ("1.py", "")
    assert take_anchors("", ["1.py"]) == []
