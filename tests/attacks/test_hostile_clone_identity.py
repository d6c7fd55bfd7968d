"""A folder cannot take the place of another project: neither its identity, nor what is remembered of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.attacks.hostile import Hostile, ask, clone_into, hostile_of, remember, start_session
from tests.conftest import World

from recollect.config.project import identity

SECRET = "The billing importer keeps its ledger in the basement"


@pytest.fixture
def victim(world: World) -> Path:
    """A project of the user's with a memory of its own, and a worktree."""
    hostile = hostile_of(world)
    hostile.write("README.md", "x\n")
    clone_into(world, hostile)
    assert remember(world, _decision()).returncode == 0
    hostile.git("worktree", "add", "-q", world.home / "tree", cwd=world.project)
    return world.project


def _decision() -> dict[str, Any]:
    content = {"status": "accepted", "context": SECRET, "decision": SECRET, "rationale": ["r"]}
    return {"title": SECRET, "tags": ["ledger"], "confidence": 0.9, "content": content}


def archive(world: World, pointer: str) -> World:
    """A folder as it comes out of an archive, with a `.git` file that names somebody else's repository."""
    folder = world.home / "unpacked"
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {pointer}\n", encoding="utf-8")
    return World(world.home, folder, world.store, world.semantic)


@pytest.mark.parametrize("below", [".git/worktrees/tree", ".git"])
def test_an_archive_that_names_the_repository_of_another_project_is_a_project_of_its_own(
    world: World, victim: Path, below: str
) -> None:
    fake = archive(world, f"{victim}/{below}")
    assert identity(str(fake.project)) == str(fake.project)
    said = start_session(fake).stdout + ask(fake, "where does the billing importer keep its ledger").stdout
    said += fake.run("list").stdout + fake.run("search", "billing ledger").stdout
    assert SECRET not in said


def test_a_link_to_the_git_file_of_a_worktree_is_not_believed(world: World, victim: Path) -> None:
    folder = world.home / "unpacked"
    folder.mkdir()
    (folder / ".git").symlink_to(world.home / "tree" / ".git")
    assert identity(str(world.home / "tree")) == str(victim)
    assert identity(str(folder)) == str(folder)


def test_a_made_up_repository_that_points_back_cannot_borrow_another_one(world: World, victim: Path) -> None:
    fake = archive(world, "made-up").project
    made_up = fake / "made-up"
    made_up.mkdir()
    (made_up / "gitdir").write_text("../.git\n", encoding="utf-8")
    (made_up / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (made_up / "commondir").write_text(f"{victim}/.git\n", encoding="utf-8")
    assert identity(str(fake)) == str(fake)


def test_a_made_up_repository_cannot_name_the_checkout_of_another_one(world: World, victim: Path) -> None:
    fake = archive(world, "store/worktrees/x").project
    place = fake / "store" / "worktrees" / "x"
    place.mkdir(parents=True)
    (place / "gitdir").write_text(f"{fake}/.git\n", encoding="utf-8")
    (place / "commondir").write_text("../..\n", encoding="utf-8")
    (fake / "store" / "config").write_text(f"[core]\n\tworktree = {victim}\n", encoding="utf-8")
    assert identity(str(fake)) != str(victim)


def test_nothing_is_committed_to_a_repository_that_does_not_know_the_folder(world: World, victim: Path) -> None:
    fake = archive(world, f"{victim}/.git")
    done = remember(fake, RECOLLECT_AUTO_COMMIT="true")
    assert done.returncode == 0
    assert "no git repository" in done.stderr
    log = Hostile.git(hostile_of(world, "other"), "log", "--format=%s", cwd=victim)
    assert log == "A harmless project\n"
