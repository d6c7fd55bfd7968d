from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.learn.by_hand import Note, add
from recollect.truth.files import FileState, file_states


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Begin")
    return folder


def states(project: Path, change: str) -> list[FileState]:
    """The states of the files of a decision about a.py, after a change of it."""
    settings = load_settings(str(project), {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
    with Engine(Workspace(str(project), str(project.parent / "store"), settings)) as engine:
        note = Note("The second line is two.", "decision", "Two", "because", files=["a.py"])
        id = add(engine, note)[0].id
        path = project / "a.py"
        if change == "commit":
            path.write_text("one\n2\nthree\n", encoding="utf-8")
            git(project, "commit", "-qam", "Write two as a digit")
        elif change == "edit":
            path.write_text(
                "one\ntwo\n\x1b[31mthree\nkey = 'ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8'\n", encoding="utf-8"
            )
        elif change == "remove":
            path.unlink()
        elif change == "large":
            path.write_text("line\n" * 6_000, encoding="utf-8")
        elif change == "link":
            path.unlink()
            path.symlink_to("/etc/passwd")
        return file_states(engine, id, ["a.py", "b.py"])


def test_unchanged_file_is_as_it_was_and_an_unknown_one_is_gone(project: Path) -> None:
    same, other = states(project, "")
    assert (same.state, same.lines, same.commits) == ("same", [], ())
    assert (other.file, other.state) == ("b.py", "gone")


def test_change_is_shown_beside_its_commit(project: Path) -> None:
    changed, _ = states(project, "commit")
    assert changed.state == "changed"
    assert [commit.subject.strip() for commit in changed.commits] == ["Write two as a digit"]
    assert changed.lines[1:] == [" one", "-two", "+2", " three", " "]


def test_change_that_is_not_committed_is_shown_without_control_characters_and_credentials(project: Path) -> None:
    changed, _ = states(project, "edit")
    text = "\n".join(changed.lines)
    assert "\x1b" not in text
    assert "ghp_" not in text
    assert "+key = " in text


def test_file_that_is_gone_is_shown_as_removed_lines(project: Path) -> None:
    gone, _ = states(project, "remove")
    assert gone.state == "gone"
    assert "-two" in gone.lines


def test_large_change_is_not_compared(project: Path) -> None:
    large, _ = states(project, "large")
    assert (large.state, large.lines, large.is_cut) == ("changed", [], True)


def test_link_out_of_the_project_is_not_read(project: Path) -> None:
    linked, _ = states(project, "link")
    assert linked.state == "gone"
    assert not any("root:" in line for line in linked.lines)
