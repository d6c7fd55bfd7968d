"""`recollect doctor --secrets` finds what is there already, names where it is, and never what it is."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from tests.conftest import World

from recollect.doctor import secret_scan

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
TOKEN = "ghp_" + LETTERS


def git(world: World, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false")
    done = subprocess.run(
        ["git", "-C", str(world.project), *identity, *arguments],
        env=world.environment({}),
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return done.stdout.strip()


def found(world: World) -> list[dict[str, str]]:
    done = world.run("doctor", "--secrets", "--json", TMPDIR=str(world.home))
    assert TOKEN not in done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert done.returncode == (1 if document["secrets"] else 0), done.stderr
    return document["secrets"]


def own(world: World, where: str) -> list[dict[str, str]]:
    """What was found in this world; a temporary folder has files of others."""
    return [leak for leak in found(world) if leak["where"] == where and not leak["place"].startswith("/tmp/.")]


def test_a_world_without_secrets_is_told_to_be_so(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nThe token is kept in the vault.\n")
    assert own(world, "file") == []


def test_secrets_in_files_are_named_by_file_and_line(world: World) -> None:
    own_bank = world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    shared = world.write_bank("heuristics", f"### Heuristic: H\nA lesson.\n\nIt is {TOKEN}.\n", shared=True)
    memory = world.write_decision("queue", title=f"Use {TOKEN}")
    aside = memory.with_name("old.json.invalid.1")
    aside.write_text(json.dumps({"title": TOKEN}), encoding="utf-8")
    log = world.store / "recollect.log"
    log.write_text(f"2026-01-01T00:00:00Z stop: {TOKEN}\n", encoding="utf-8")
    journal = world.store / "session-captures.jsonl"
    journal.write_text(json.dumps({"description": f"x\n{TOKEN}"}) + "\n", encoding="utf-8")
    draft = world.home / ".memory-draft-x.json"
    draft.write_text(json.dumps({"title": TOKEN}), encoding="utf-8")
    places = {(leak["place"], leak["kind"]) for leak in own(world, "file")}
    lines = ((own_bank, 2), (shared, 4), (memory, 1), (aside, 1), (log, 1), (journal, 1), (draft, 1))
    assert places == {(f"{path}:{line}", "a GitHub token") for path, line in lines}


def test_secrets_in_the_database_are_named_by_entry(world: World) -> None:
    bank = world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n", shared=True)
    assert world.run("search", "push").returncode == 0
    bank.unlink()
    [leak] = own(world, "database")
    assert leak["place"].startswith(f"{world.store / 'memory.db'}: entry ")


def test_rebuild_takes_out_of_the_database_what_was_taken_out_of_the_file(world: World) -> None:
    bank = world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n- Keywords: {TOKEN}\n")
    other = world.write_bank("heuristics", f"### Heuristic: H {TOKEN}\nPull first.\n\nWith {TOKEN}.\n", shared=True)
    assert world.run("search", "push", TOKEN).returncode == 0
    bank.write_text("### Pattern: P\nPush with the token of the vault.\n", encoding="utf-8")
    other.write_text("### Heuristic: H\nPull first.\n", encoding="utf-8")
    assert {leak["where"] for leak in found(world)} >= {"database"}
    done = world.run("rebuild")
    assert (done.returncode, done.stderr) == (0, "")
    assert own(world, "database") == []
    for path in world.store.glob("memory.db*"):
        assert LETTERS.lower().encode() not in path.read_bytes().lower()
    assert "token of the vault" in world.run("search", "push").stdout


def test_rebuild_leaves_a_secret_that_a_file_still_holds_to_its_owner(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    assert world.run("rebuild").returncode == 0
    assert len(own(world, "database")) == 1


def test_secrets_that_were_ever_committed_are_named_by_commit(world: World) -> None:
    git(world, "init", "-q")
    bank = world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "one")
    commit = git(world, "rev-parse", "HEAD")
    bank.write_text("### Pattern: P\nPush with the token of the vault.\n", encoding="utf-8")
    git(world, "commit", "-q", "-am", "two")
    assert own(world, "file") == []
    [leak] = own(world, "history")
    assert leak == {
        "kind": "a GitHub token",
        "place": f"{commit[:12]}:docs/knowledge-bank/patterns.md:2",
        "where": "history",
    }


def test_committed_line_that_looks_like_a_header_of_the_diff_is_read_too(world: World) -> None:
    git(world, "init", "-q")
    bank = world.write_bank("patterns", f"### Pattern: P\n++ push with {TOKEN}\n")
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "one")
    bank.write_text("### Pattern: P\nPush with the token of the vault.\n", encoding="utf-8")
    git(world, "commit", "-q", "-am", "two")
    [leak] = own(world, "history")
    assert leak["place"].endswith(":docs/knowledge-bank/patterns.md:2")


def test_a_secret_in_the_subject_of_a_commit_does_not_reach_the_receipts(world: World) -> None:
    git(world, "init", "-q")
    world.write_bank("patterns", "### Pattern: P\nThe token is kept in the vault.\n")
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", f"rotate the token {TOKEN}")
    start = {"session_id": "s", "source": "startup", "cwd": str(world.project)}
    on = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true", "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    assert "kept in the vault" in world.run_hook("session-start", start, **on).stdout
    connection = sqlite3.connect(world.store / "memory.db")
    assert connection.execute("SELECT event, query FROM receipts").fetchall() == [("startup", "")]
    connection.close()


def test_the_configuration_of_a_hostile_repository_runs_nothing(world: World) -> None:
    git(world, "init", "-q")
    world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    (world.project / ".gitattributes").write_text("*.md diff=evil filter=evil\n", encoding="utf-8")
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "one")
    ran = world.home / "ran"
    evil = world.home / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n", encoding="utf-8")
    evil.chmod(0o700)
    for key in (
        *("core.pager", "core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "gpg.program"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.sshCommand", "pager.log"),
    ):
        git(world, "config", key, str(evil))
    git(world, "config", "log.showSignature", "true")
    ran.unlink(missing_ok=True)
    assert len(own(world, "history")) == 1
    assert not ran.exists()


def test_what_to_do_next_is_said_and_the_value_is_not(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    done = world.run("doctor", "--secrets", TMPDIR=str(world.home))
    assert done.returncode == 1
    assert "patterns.md:2  a GitHub token" in done.stdout
    assert "rotate the secret" in done.stdout
    assert TOKEN not in done.stdout + done.stderr


def test_fix_does_not_go_with_it(world: World) -> None:
    done = world.run("doctor", "--secrets", "--fix")
    assert done.returncode == 2


def test_shallow_clone_is_said_to_lack_its_history(world: World, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    git(world, "init", "-q", str(origin))
    for number in range(2):
        git(world, "-C", str(origin), "commit", "-q", "--allow-empty", "-m", str(number))
    git(world, "init", "-q")
    git(world, "fetch", "-q", "--depth=1", f"file://{origin}", "HEAD")
    git(world, "checkout", "-q", "FETCH_HEAD")
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    done = world.run("doctor", "--secrets", "--json", TMPDIR=str(world.home))
    assert [sentence for sentence in json.loads(done.stdout)["not_looked_at"] if "shallow" in sentence]


def test_files_are_read_for_a_bounded_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    monkeypatch.setattr(secret_scan, "_FILE_SECONDS", -1.0)
    scan = secret_scan.scan_secrets(world.workspace(), lambda _sentence: None)
    assert scan.files == 0
    assert any("files after it: the limit is" in sentence for sentence in scan.unread)


def test_one_file_is_read_for_a_bounded_time(world: World) -> None:
    bank = world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    scan = secret_scan.Scan()
    secret_scan._scan_file(str(bank), scan, end=0.0)
    assert (scan.files, scan.leaks) == (1, [])
    assert f"{bank}: what is after its line 0" in scan.unread[0]


def test_how_much_was_looked_at_is_said_in_words_that_fit(world: World) -> None:
    git(world, "init", "-q")
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "one")
    assert world.run("rebuild").returncode == 0
    done = world.run("doctor", "--secrets", TMPDIR=str(world.home))
    assert "1 entry of the database, 1 commit." in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [[TOKEN], ["search", "x", "--limit", TOKEN], ["search", "x", f"--{TOKEN}"], ["config", TOKEN], ["status", TOKEN]],
)
def test_usage_errors_do_not_repeat_a_secret(world: World, arguments: list[str]) -> None:
    done = world.run(*arguments)
    assert done.returncode == 2
    assert "redacted: a GitHub token" in done.stderr
    assert LETTERS not in done.stdout + done.stderr


def test_search_says_that_what_it_found_is_withheld(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: P\nPush with {TOKEN}.\n")
    done = world.run("search", "push")
    assert "Nothing found: what matches best is withheld (1); `recollect doctor` names it" in done.stdout + done.stderr
    assert "filtered out" not in done.stdout + done.stderr


def test_links_and_pipes_are_not_read(world: World, tmp_path: Path) -> None:
    folder = world.project / "docs" / "knowledge-bank"
    folder.mkdir(parents=True)
    outside = tmp_path / "outside.md"
    outside.write_text(TOKEN, encoding="utf-8")
    (folder / "patterns.md").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    assert own(world, "file") == []
