"""The client's own instructions and memory: read with bounds, and only what the client shows to the model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.files.client.instructions import MAX_BYTES, client_memory, project_instructions, user_instructions

RULE = "Keep amounts of money in integer cents."
WORDS = " keep amounts of money in integer cents "


def words_of(root: Path) -> list[str]:
    return [known.text for known in project_instructions(str(root))]


@pytest.mark.parametrize(
    "name", ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/AGENTS.md"]
)
def test_a_project_s_instructions_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / name).write_text(RULE, encoding="utf-8")
    assert words_of(tmp_path) == [WORDS]


@pytest.mark.parametrize(("text", "counts"), [("Use tabs.", False), ("@AGENTS.md\n", True), ("", True)])
def test_instructions_for_all_agents_count_where_the_client_reads_them(tmp_path: Path, text: str, counts: bool) -> None:
    (tmp_path / "CLAUDE.md").write_text(text, encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text(RULE, encoding="utf-8")
    assert (WORDS in words_of(tmp_path)) is counts


def test_a_link_is_followed_inside_the_project_and_not_out_of_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "rules.md").write_text(RULE, encoding="utf-8")
    (root / "CLAUDE.md").symlink_to("docs/rules.md")
    assert words_of(root) == [WORDS]
    (tmp_path / "outside.md").write_text(RULE, encoding="utf-8")
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").symlink_to(tmp_path / "outside.md")
    assert words_of(root) == []
    (root / "CLAUDE.md").unlink()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "CLAUDE.md").write_text(RULE, encoding="utf-8")
    (root / ".claude").symlink_to(tmp_path / "folder")
    assert words_of(root) == []


def test_the_user_s_own_instructions_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.md").write_text(RULE, encoding="utf-8")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").symlink_to(tmp_path / "dotfiles.md")
    assert [known.text for known in user_instructions(str(tmp_path / ".claude"))] == [WORDS]


def test_no_more_is_read_than_the_first_part_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("x " * MAX_BYTES + RULE, encoding="utf-8")
    (words,) = words_of(tmp_path)
    assert WORDS not in words
    assert len(words) <= MAX_BYTES + 2


def test_of_its_memory_the_client_shows_the_first_lines(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop-front" / "memory"
    folder.mkdir(parents=True)
    for lines, counts in ((150, True), (250, False)):
        (folder / "MEMORY.md").write_text("a line\n" * lines + RULE, encoding="utf-8")
        (known,) = client_memory(str(tmp_path), ("/home/dev/shop_front", "/home/dev/shop.front2"))
        assert (WORDS.strip() in known.text) is counts


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_text(RULE, encoding="utf-8")
    assert words_of(tmp_path) == [WORDS]
    path.write_text("Something else, and longer than the rule before it.", encoding="utf-8")
    assert words_of(tmp_path) == [" something else and longer than the rule before it "]
    path.unlink()
    assert words_of(tmp_path) == []


def test_a_comment_is_not_shown_to_the_model_and_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(f"Use tabs.\n<!-- {RULE} -->\nNo spaces.\n<!-- open", encoding="utf-8")
    assert words_of(tmp_path) == [" use tabs no spaces "]


def test_what_is_no_file_or_no_text_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "CLAUDE.md")
    (tmp_path / ".claude" / "CLAUDE.md").mkdir(parents=True)
    (tmp_path / "CLAUDE.local.md").write_bytes(b"\xff\xfe\x00 keep \xc3\x28 tabs")
    assert words_of(tmp_path) == [" keep tabs "]
