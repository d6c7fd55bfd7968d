"""`recollect import`: a text of lessons becomes entries; and where a bank's file without entries is named."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World, read_terminal

from recollect.files.bank.bank import read_bank

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LOOSE = (
    "# Patterns\n\nWhat we do again and again.\n\n"
    "- **Ask first**: a question costs less than a wrong parser.\n- Close every handle that you open.\n\n"
    "## One writer\n\nTwo writers of one file lose lines.\n"
)


def started(world: World, session: str = "s1") -> str:
    """The line for the user at the start of a session."""
    event = {"session_id": session, "cwd": str(world.project), "source": "startup"}
    done = world.run_hook("session-start", event)
    assert done.returncode == 0
    return json.loads(done.stdout).get("systemMessage", "") if done.stdout else ""


def names(folder: Path, origin: str = "local") -> list[str]:
    return [entry.name for entry in read_bank(str(folder), origin)[0]]


def imported(world: World, *arguments: str) -> dict[str, Any]:
    done = world.run("import", *arguments, "--json", **BY_WORDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_bank_file_with_text_but_no_entry_is_named_by_doctor_status_and_once_at_the_start(world: World) -> None:
    path = world.write_bank("patterns", LOOSE)
    findings = json.loads(world.run("doctor", "--only", "banks", "--json").stdout)["findings"]
    [finding] = [finding for finding in findings if finding["level"] == "warning"]
    assert f"{path} has text but no entry" in str(finding)
    assert f"recollect import {path}" in str(finding)
    attention = json.loads(world.run("status", "--json").stdout)["attention"]
    assert [issue["fix"] for issue in attention if issue["kind"] == "bank"] == [f"`recollect import {path}`"]
    assert f"{path} has text but no entry; `recollect import FILE` makes entries of it" in started(world)
    assert "no entry" not in started(world, "s2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Patterns\n\nThings that work.\n\n---\n\n## Known\n",
        "### Pattern: One\nThe one lesson.\n",
        "x\n" * 40_000 + "### One\nx\n",
    ],
    ids=["empty", "template", "bank", "late entry"],
)
def test_a_bank_file_that_holds_entries_or_nothing_is_not_named(world: World, text: str) -> None:
    world.write_bank("patterns", text)
    assert "no entry" not in started(world)
    assert "no entry" not in world.run("doctor", "--only", "banks").stdout
    assert "no entry" not in world.run("status").stdout


def test_a_bank_file_of_loose_text_becomes_entries_and_keeps_its_text(semantic_world: World) -> None:
    path = semantic_world.write_bank("patterns", LOOSE)
    done = semantic_world.run("import", str(path), "--yes", **BY_WORDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"3 entries appended to {path}. The text above them stays as it was.\n")
    assert "left out: What we do again and again." in done.stdout
    assert path.read_text(encoding="utf-8").startswith(LOOSE)
    assert names(path.parent) == ["Ask first", "Close every handle that you open", "One writer"]
    assert "Two writers of one file lose lines." in semantic_world.run("inject", **BY_WORDS).stdout
    assert "no entry" not in semantic_world.run("status").stdout
    again = semantic_world.run("import", str(path), "--yes", **BY_WORDS)
    assert (again.returncode, again.stdout) == (1, "")
    assert "holds entries already" in again.stderr


@pytest.mark.parametrize("shared", [False, True])
def test_any_file_is_imported_once_and_stays_as_it_was(semantic_world: World, shared: bool) -> None:
    file = semantic_world.home / "notes.txt"
    file.write_bytes(b"\xef\xbb\xbf- Close every handle.\r\n- Name every test well.\r\n")
    options = ["--category", "heuristics", *["--global"] * shared]
    folder = semantic_world.store if shared else semantic_world.project / "docs" / "knowledge-bank"
    planned = imported(semantic_world, str(file), *options, "--dry-run")
    assert [entry["name"] for entry in planned["entries"]] == ["Close every handle", "Name every test well"]
    assert not (folder / "heuristics.md").exists()
    assert imported(semantic_world, str(file), *options, "--yes")["path"] == str(folder / "heuristics.md")
    assert names(folder, "global" if shared else "local") == ["Close every handle", "Name every test well"]
    again = imported(semantic_world, str(file), *options, "--yes")
    assert (again["entries"], len(again["known"])) == ([], 2)
    assert len(names(folder, "global" if shared else "local")) == 2
    assert file.read_bytes().count(b"\r\n") == 2


def test_what_cannot_be_stored_is_named_and_the_rest_is_taken(semantic_world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    file = semantic_world.home / "patterns.md"
    file.write_text(f"- Use the token {secret} for it.\n- Close every handle.\n- {'long ' * 2_000}\n", encoding="utf-8")
    done = semantic_world.run("import", str(file), "--yes", **BY_WORDS)
    assert done.returncode == 0
    assert secret not in done.stdout + done.stderr
    assert "lesson 1: " in done.stderr
    assert "lesson 3: description has" in done.stderr
    assert names(semantic_world.project / "docs" / "knowledge-bank") == ["Close every handle"]


def test_a_folder_is_called_that(world: World) -> None:
    done = world.run("import", str(world.project), "--dry-run")
    assert (done.returncode, done.stderr) == (1, f"Error: {world.project} is a folder; give one file of it\n")


def test_without_a_terminal_nothing_is_written_unasked(world: World) -> None:
    path = world.write_bank("patterns", LOOSE)
    done = world.run("import", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--yes" in done.stderr
    for arguments, said in ((("nowhere.md", "--yes"), "there is no file"), (("a.txt", "--yes"), "--category")):
        (world.project / "a.txt").write_text("- Close every handle.\n", encoding="utf-8")
        done = world.run("import", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr
    assert path.read_text(encoding="utf-8") == LOOSE


@pytest.mark.parametrize(("answer", "count"), [(b"y\n", 3), (b"n\n", 0)])
def test_at_a_terminal_the_user_is_asked(world: World, answer: bytes, count: int) -> None:
    path = world.write_bank("patterns", LOOSE)
    ours, theirs = pty.openpty()
    environment = world.environment({**BY_WORDS, "NO_COLOR": "1"})
    process = subprocess.Popen(
        [RECOLLECT, "import", str(path)], cwd=world.project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, answer)
    shown = read_terminal(ours).decode()
    process.wait()
    assert "Append 3 entries to" in shown
    assert len(names(path.parent)) == count


def test_a_bank_behind_a_link_out_of_the_project_is_refused_and_nothing_is_made_there(
    world: World, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (world.project / "docs").symlink_to(elsewhere)
    file = tmp_path / "patterns.md"
    file.write_text(LOOSE, encoding="utf-8")
    done = world.run("import", str(file), "--yes", **BY_WORDS)
    assert done.returncode == 1
    assert "leads out of the project" in done.stderr
    assert list(elsewhere.iterdir()) == []


def test_missing_file_is_named_also_where_nobody_can_be_asked(world: World) -> None:
    done = world.run("import", "/nope.md")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Error: there is no file /nope.md\n")


def test_file_tells_its_category_by_any_of_its_names(world: World) -> None:
    path = world.home / "anti-pattern.md"
    path.write_text("- Never retry without jitter.\n", encoding="utf-8")
    assert imported(world, str(path), "--dry-run")["path"].endswith("anti-patterns.md")
