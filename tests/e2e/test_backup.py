"""`recollect backup`: through the command line, between processes, and when one of them is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

from recollect.files.archive import Archive, Member, read_archive, write_archive
from recollect.store.sqlite.store import SqliteStore

LESSON = '{"name": "Captured", "description": "A thing learnt in passing.", "category": "heuristics"}'
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}


def write_memories(world: World, count: int, *, version: int = 1) -> Path:
    folder = world.project / ".claude" / "memory" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        record = {
            "schema_version": "1.0",
            "category": "decision",
            "id": f"d-{number}",
            "title": f"Decision {number}, version {version}",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": f"2026-01-0{version}T00:00:00Z",
            "tags": ["test"],
            "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
        }
        (folder / f"d-{number}.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def environment(world: World) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(world.home),
        "RECOLLECT_HOME": str(world.store),
        "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false",
    }


def result_of(world: World, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = world.run("backup", *arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "my backup é.tar.gz")


def test_backup_is_created_verified_and_restored(world: World, file: str) -> None:
    folder = write_memories(world, 3)
    world.write_bank("patterns", "### Pattern: Cache\nCache things.\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    made = result_of(world, "create", file)
    assert (made["counts"], made["complete"]) == ({"memory": 3, "bank": 1}, True)
    checked = result_of(world, "verify", file)
    assert (checked["sound"], checked["project"], len(checked["files"])) == (True, "shop-front", 4)
    shutil.rmtree(world.project / ".claude")
    foreseen = result_of(world, "restore", file, "--dry-run")
    assert foreseen["counts"] == {"written": 3, "replaced": 0, "same": 1, "kept": 0, "refused": 0}
    assert not folder.exists()
    done = result_of(world, "restore", file)
    assert (done["counts"], done["complete"]) == (foreseen["counts"], True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_dry_run_says_what_would_be_written_replaced_and_kept(world: World, file: str) -> None:
    folder = write_memories(world, 3)
    assert world.run("backup", "create", file).returncode == 0
    write_memories(world, 1, version=2)
    (folder / "d-1.json").unlink()
    kept = world.run("backup", "restore", file, "--dry-run")
    assert kept.returncode == 1
    lines = kept.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[:-1]] == ["would be kept", "would be written"]
    assert lines[-1] == "1 file would be restored; 1 are here already. Nothing was changed."
    assert "1 file would be kept as it is here; --overwrite takes the backup's instead" in kept.stderr
    replaced = world.run("backup", "restore", file, "--dry-run", "--overwrite")
    assert "would be replaced  " in replaced.stdout
    assert not (folder / "d-1.json").exists()
    done = world.run("backup", "restore", file, "--overwrite")
    assert "would be" not in done.stdout + done.stderr
    assert "written   " in done.stdout


def test_people_are_told_in_sentences(world: World, file: str) -> None:
    write_memories(world, 2)
    made = world.run("backup", "create", file)
    assert made.stdout.startswith("Backed up 2 memories to ")
    checked = world.run("backup", "verify", file)
    assert checked.stdout.startswith("Sound: 2 memories.\nMade 20")
    write_memories(world, 1, version=2)
    kept = world.run("backup", "restore", file)
    assert kept.returncode == 1
    assert "kept      " in kept.stdout
    assert "d-0.json: it is of 2026-01-02 00:00:00 UTC, the one in the backup of 2026-01-01" in kept.stdout
    assert "--overwrite" in kept.stderr
    done = world.run("backup", "restore", file, "--overwrite")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 file restored; 1 are here already." in done.stdout


def test_a_second_backup_needs_force(world: World, file: str) -> None:
    write_memories(world, 1)
    assert world.run("backup", "create", file).returncode == 0
    refused = world.run("backup", "create", file)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "--force" in refused.stderr
    assert world.run("backup", "create", file, "--force").returncode == 0


def test_an_unsound_backup_is_one_sentence_and_exit_code_1(world: World, file: str) -> None:
    write_memories(world, 1)
    world.run("backup", "create", file)
    Path(file).write_bytes(Path(file).read_bytes()[:-20])
    for command in ("verify", "restore"):
        done = world.run("backup", command, file)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: ")
        assert "no sound backup" in done.stderr
        assert "Traceback" not in done.stderr
    told = result_of(world, "verify", file, code=1)
    assert (told["sound"], "no sound backup" in told["problem"]) == (False, True)


def test_what_is_in_a_manifest_cannot_reach_the_terminal(world: World, tmp_path: Path) -> None:
    hostile = Archive(
        "\x1b[2Jshop", "/home/dev\n\x1b]0;x\x07", "\x1b[31m", "now\u202e", [Member("bank/patterns.md", b"")]
    )
    write_archive(str(tmp_path / "hostile"), hostile)
    done = world.run("backup", "verify", str(tmp_path / "hostile"))
    assert done.returncode == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout)


def test_usage_survives_the_loss_of_the_store(semantic_world: World, file: str) -> None:
    world = semantic_world
    world.write_bank("patterns", "### Pattern: Cache\nCache things that are dear to compute.\n")
    assert world.run("inject", **BY_WORDS).returncode == 0
    with SqliteStore(str(world.store / "memory.db")) as store:
        before = [(u.id, u.recall_count, u.last_recalled_at) for u in store.usages()]
    assert before
    assert world.run("backup", "create", file).returncode == 0
    shutil.rmtree(world.store)
    done = world.run("backup", "restore", file, **BY_WORDS)
    assert done.returncode == 0, done.stderr
    with SqliteStore(str(world.store / "memory.db")) as store:
        assert [(u.id, u.recall_count, u.last_recalled_at) for u in store.usages()] == before
    found = world.run("search", "dear", "--json", **BY_WORDS)
    assert [hit["recall_count"] for hit in json.loads(found.stdout)["hits"]] == [before[0][1]]


def test_a_restored_memory_reaches_the_store_at_once(semantic_world: World, file: str) -> None:
    world = semantic_world
    write_memories(world, 1)
    assert world.run("backup", "create", file).returncode == 0
    shutil.rmtree(world.project / ".claude")
    assert world.run("backup", "restore", file, **BY_WORDS).returncode == 0
    with SqliteStore(str(world.store / "memory.db")) as store:
        (source,) = [path for path in store.sources() if path.endswith("d-0.json")]
    assert os.path.exists(source)


def test_a_restore_is_committed_where_auto_commit_says_so(world: World, file: str) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=world.project, capture_output=True, encoding="utf-8", check=True
        ).stdout

    git("init", "--quiet")
    git("config", "user.name", "dev")
    git("config", "user.email", "dev@example.org")
    folder = write_memories(world, 2)
    world.write_bank("patterns", "### Pattern: Cache\nCache things.\n")
    assert world.run("backup", "create", file).returncode == 0
    shutil.rmtree(folder)
    shutil.rmtree(world.project / "docs")
    done = world.run("backup", "restore", file, RECOLLECT_AUTO_COMMIT="true")
    assert (done.returncode, done.stderr) == (0, "")
    assert git("log", "--format=%s") == "memory: restored 2 from a backup\n"
    assert git("show", "--name-only", "--format=").split() == [
        ".claude/memory/decisions/d-0.json",
        ".claude/memory/decisions/d-1.json",
        ".claude/memory/index.md",
    ]


def test_a_backup_made_while_others_write_holds_only_whole_lines(world: World, file: str) -> None:
    world.store.mkdir()
    writers = [
        subprocess.Popen(
            ["bash", "-c", f"for i in 1 2 3 4 5 6; do {RECOLLECT} upsert --entry-json '{LESSON}' >/dev/null; done"],
            cwd=world.project,
            env=environment(world),
        )
        for _ in range(2)
    ]
    write_memories(world, 1)
    while any(writer.poll() is None for writer in writers):
        assert world.run("backup", "create", file, "--force").returncode == 0
        checked = world.run("backup", "verify", file)
        assert (checked.returncode, checked.stderr) == (0, "")
    assert world.run("backup", "create", file, "--force").returncode == 0
    (journal,) = read_archive(file).of_kind("journal")
    assert journal.data.count(b"\n") == 12


@pytest.mark.parametrize("moment", [0, 1, 40])
def test_a_killed_restore_leaves_old_or_new_files_and_the_next_completes_it(
    world: World, file: str, moment: int
) -> None:
    """Killed as soon as so many files are new; where that never shows, the process has ended and all are."""
    count = 200
    folder = write_memories(world, count, version=2)
    new = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert world.run("backup", "create", file).returncode == 0
    write_memories(world, count, version=1)
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    process = subprocess.Popen(
        [RECOLLECT, "backup", "restore", file],
        cwd=world.project,
        env=environment(world),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        begun = sum(name.endswith(".tmp") for name in os.listdir(folder))
        changed = sum((folder / name).read_bytes() != data for name, data in old.items()) if moment else begun
        if changed > moment:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    for name, data in new.items():
        assert (folder / name).read_bytes() in (old[name], data)
    done = world.run("backup", "restore", file)
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == new
    index = (folder.parent / "index.md").read_text(encoding="utf-8")
    assert index.count("version 2") == count
