"""Locks that a repository brings, or that somebody has left: none blocks for ever, and nothing in them is lost."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from tests.conftest import World

LOCK = ".claude/memory/.index.lockdir"


def saved(world: World) -> subprocess.CompletedProcess[str]:
    """Save a memory as an agent does."""
    record = world.write_decision("draft")
    draft = json.loads(record.read_text(encoding="utf-8"))
    record.unlink()
    return world.run(
        *("write", "--action", "create", "--category", "decision", "--input", "-"), stdin=json.dumps(draft)
    )


def clone(world: World, lock: str) -> Path:
    """Commit a lock of this kind, and check it out again as a clone does."""

    def git(*arguments: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", *names, *arguments], cwd=world.project, check=True, capture_output=True)

    path = world.project / LOCK
    path.parent.mkdir(parents=True)
    if lock == "folder":
        path.mkdir()
        (path / "x").write_text("theirs", encoding="utf-8")
    elif lock == "file":
        path.write_text("theirs", encoding="utf-8")
    else:
        path.symlink_to("/" if lock == "link out" else "nowhere")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "a lock")
    return path


@pytest.mark.parametrize("lock", ["folder", "file", "link", "link out"])
def test_a_lock_that_a_repository_has_committed_blocks_no_write(world: World, lock: str) -> None:
    path = clone(world, lock)
    done = saved(world)
    assert done.returncode == 0, done.stderr
    [kept] = path.parent.glob(".index.lockdir.stale.*")
    assert kept.name in done.stderr + done.stdout, "a user is told where it is"
    if lock in ("folder", "file"):
        assert (kept / "x" if lock == "folder" else kept).read_text(encoding="utf-8") == "theirs"
    assert not os.path.lexists(path)
    assert saved_again_at_once(world)


def saved_again_at_once(world: World) -> bool:
    done = world.run("index", "--rebuild")
    return done.returncode == 0 and "stale" not in done.stderr


def test_a_lock_dated_in_the_future_blocks_no_write(world: World) -> None:
    path = world.project / LOCK
    path.mkdir(parents=True)
    soon = time.time() + 10 * 365 * 86_400
    os.utime(path, (soon, soon))
    done = saved(world)
    assert done.returncode == 0, done.stderr
    assert "had a date in the future" in done.stderr + done.stdout


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_store_whose_lock_is_no_file_is_refused_with_a_sentence(world: World, kind: str) -> None:
    world.write_bank("patterns", "### Pattern: P\nRead a real file before you write its parser.\n")
    world.store.mkdir()
    lock = world.store / ".lock"
    if kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.mkdir()
    done = world.run("promote", "--as", "universal")
    assert str(lock) in done.stdout + done.stderr
    assert not list(world.store.glob("*.md"))
    assert "Traceback" not in done.stderr
