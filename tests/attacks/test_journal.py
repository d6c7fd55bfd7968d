"""The journal: what is given is in it before the store is looked at, whatever the store, or the journal itself, is."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.conftest import World

from recollect.cli import upsert as upsert_command
from recollect.cli.main import cli
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines
from recollect.hooks.answer import bounded
from recollect.sync.if_changed import LARGE

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LESSON = {"name": "Pelican", "description": "A pelican stores fish for later.", "category": "patterns"}
OTHER = {"name": "Heron", "description": "A heron stands still for hours.", "category": "patterns"}


def upsert(world: World, entry: object, *arguments: str) -> subprocess.CompletedProcess[str]:
    return world.run("upsert", "--entry-json", json.dumps(entry), *arguments, **BY_WORDS)


def names_in_journal(world: World) -> list[str]:
    text = (world.store / "session-captures.jsonl").read_text(encoding="utf-8")
    return [json.loads(line)["name"] for line in text.splitlines()]


def found(world: World, query: str) -> list[dict[str, object]]:
    done = world.run("search", query, "--json", **BY_WORDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hits"]


def broken_by_bytes(database: Path) -> None:
    database.write_bytes(b"no database at all " * 500)


def broken_by_a_folder(database: Path) -> None:
    database.mkdir()


def broken_by_a_pipe(database: Path) -> None:
    os.mkfifo(database)


BROKEN = [broken_by_bytes, broken_by_a_folder, broken_by_a_pipe]


@pytest.mark.parametrize("damage", BROKEN)
def test_entry_is_kept_whatever_the_database_is(semantic_world: World, damage: object) -> None:
    semantic_world.store.mkdir()
    assert callable(damage)
    damage(semantic_world.store / "memory.db")
    done = upsert(semantic_world, [LESSON, OTHER])
    assert done.returncode == 0
    assert [line.split(" (")[0] for line in done.stdout.splitlines()] == ["Journalled: Pelican", "Journalled: Heron"]
    assert "Warning: cannot use " in done.stderr
    assert "is safe in " in done.stderr
    assert "do not repeat it" in done.stderr
    assert names_in_journal(semantic_world) == ["Pelican", "Heron"]


def test_outcome_tells_what_is_stored_from_what_is_only_kept(semantic_world: World) -> None:
    assert json.loads(upsert(semantic_world, LESSON, "--json").stdout)["outcome"] == "stored"
    assert json.loads(upsert(semantic_world, LESSON, "--json").stdout)["outcome"] == "reinforced"
    broken_by_bytes(semantic_world.store / "memory.db")
    done = upsert(semantic_world, OTHER, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert (document["outcome"], document["added"], document["name"]) == ("journalled", None, "Heron")
    assert "is safe in" in document["warnings"][0]
    assert semantic_world.run("rebuild", **BY_WORDS).returncode == 0
    assert {hit["name"]: hit["observation_count"] for hit in found(semantic_world, "pelican heron")} == {
        "Pelican": 2,
        "Heron": 1,
    }


def test_what_is_not_written_is_exit_2_and_says_so(semantic_world: World) -> None:
    (semantic_world.store / "session-captures.jsonl").mkdir(parents=True)
    done = upsert(semantic_world, LESSON)
    assert (done.returncode, done.stdout) == (2, "")
    assert "session-captures.jsonl" in done.stderr
    assert "safe" not in done.stderr
    assert not (semantic_world.store / "memory.db").exists()


def test_entry_is_in_the_journal_before_the_store_is_opened(
    semantic_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def opened(*_: object, **__: object) -> None:
        raise Crash  # as a process that SQLite takes with it

    for name, value in semantic_world.environment(BY_WORDS).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(semantic_world.project)
    monkeypatch.setattr(upsert_command, "Engine", opened)
    with pytest.raises(Crash):
        CliRunner().invoke(cli, ["upsert", "--entry-json", json.dumps(LESSON)])
    assert names_in_journal(semantic_world) == ["Pelican"]


def test_two_of_the_same_in_one_call_are_counted_and_the_first_is_the_new_one(semantic_world: World) -> None:
    documents = json.loads(upsert(semantic_world, [LESSON, LESSON], "--json").stdout)
    assert [each["outcome"] for each in documents] == ["stored", "reinforced"]
    assert found(semantic_world, "pelican")[0]["observation_count"] == 2


def test_first_line_of_a_journal_survives_a_power_cut_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    journal = tmp_path / "store" / "session-captures.jsonl"
    append_lines(str(journal), CAPTURE, [LESSON])
    assert {path.stat().st_ino for path in (journal, journal.parent, tmp_path)} <= set(synced)
    synced.clear()
    append_lines(str(journal), CAPTURE, [LESSON])
    assert synced == [journal.stat().st_ino]


# A journal full of what is no capture


PROMPT = {"session_id": "s1", "prompt": "What does a pelican store for later?"}


def spoil(world: World, line: str, lines: int) -> None:
    assert upsert(world, LESSON).returncode == 0
    with (world.store / "session-captures.jsonl").open("a", encoding="utf-8") as file:
        file.write(line * lines)


@pytest.mark.parametrize("bad", ["no capture at all\n", '{"name": "No category", "description": "x"}\n'])
@pytest.mark.parametrize("command", ["rebuild", "search pelican", "export", "doctor --only journal"])
def test_lines_that_cannot_be_used_are_counted_not_listed(semantic_world: World, bad: str, command: str) -> None:
    spoil(semantic_world, bad, 3_000)
    done = semantic_world.run(*command.split(), **BY_WORDS)
    assert "Traceback" not in done.stderr
    told = done.stderr + (done.stdout if "doctor" in command else "")
    assert "3,000" in told or "2,997 more" in told
    assert len(done.stderr) < 2_000


@pytest.mark.parametrize("bad", ["no capture at all\n", '{"name": "No category", "description": "x"}\n'])
def test_prompt_is_answered_beside_a_spoilt_journal_and_leaves_it_to_a_process_of_its_own(
    semantic_world: World, bad: str
) -> None:
    spoil(semantic_world, bad, 40_000)
    assert (semantic_world.store / "session-captures.jsonl").stat().st_size > LARGE
    done = semantic_world.run_hook("prompt", {**PROMPT, "cwd": str(semantic_world.project)}, **BY_WORDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "A pelican stores fish" in done.stdout


def test_hook_tells_a_few_warnings_and_counts_the_rest() -> None:
    assert bounded(["a"] * 5) == ["a"] * 5
    assert bounded(["a"] * 1_005) == [*["a"] * 5, "and 1,000 more warnings"]
    assert len(bounded(["x" * 1_000_000])[0]) == 10_000


# What is no regular file


FILES = (
    "session-captures.jsonl",
    "memory.db",
    "patterns.md",
    "recollect.log",
    ".told",
    ".last-injection.json",
    ".lock",
    ".promoted.json",
    ".sessions/s1",
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", *(pytest.param(k, marks=pytest.mark.attack) for k in ("folder", "device"))])
def test_nothing_waits_for_what_is_no_file(semantic_world: World, name: str, kind: str) -> None:
    path = semantic_world.store / name
    path.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    semantic_world.write_bank("heuristics", "### Heuristic: Local\nOf this project, about zebras.\n")
    start = {"session_id": "s1", "source": "startup", "cwd": str(semantic_world.project)}
    prompt = {"session_id": "s1", "prompt": "What do zebras know?", "cwd": str(semantic_world.project)}
    for hook, event in (("session-start", start), ("prompt", prompt)):
        done = semantic_world.run_hook(hook, event, **BY_WORDS)
        assert done.returncode == 0
        assert "Traceback" not in done.stderr
    for command in (
        ["upsert", "--entry-json", json.dumps(LESSON)],
        ["promote", "--as", "universal"],
        ["search", "pelican"],
        ["status"],
        ["rebuild"],
    ):
        done = semantic_world.run(*command, **BY_WORDS)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        assert done.returncode in (0, 1, 2)
    if name in ("session-captures.jsonl", "memory.db"):
        told = upsert(semantic_world, LESSON).stderr
        assert "regular file" in told or "Is a directory" in told
    assert stat.S_IFMT(path.stat().st_mode) != stat.S_IFREG or name.startswith((".last", ".told"))
