"""The user's word for a repository: counted only for that repository, at its own root, and kept outside it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest
from tests.attacks.hostile import Hostile
from tests.conftest import World, link_worktree

from recollect.config.trust import CLIENT, NOBODY, OFF, REPLACED, YOU, is_vouched, trust, trust_of


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path / "hostile", tmp_path)


def answer(world: World, root: Path | None = None, **variables: str) -> str:
    return trust_of(str(root or world.project), str(world.store), {"HOME": str(world.home), **variables})


@pytest.fixture(autouse=True)
def home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def test_repository_that_nobody_spoke_about_is_not_vouched_for(world: World) -> None:
    world.make_repository()
    assert answer(world) == NOBODY
    world.trust_in_client(trusted=False)
    assert answer(world) == NOBODY
    assert not world.store.exists(), "a question writes nothing"


def test_trust_in_the_client_is_taken_over_and_followed(world: World) -> None:
    world.make_repository()
    world.trust_in_client()
    assert answer(world) == CLIENT
    assert stat.S_IMODE((world.store / ".trusted").stat().st_mode) == 0o600
    before = (world.store / ".trusted").read_bytes()
    assert answer(world) == CLIENT
    assert (world.store / ".trusted").read_bytes() == before, "it is remembered once"
    world.trust_in_client(trusted=False)
    assert answer(world) == NOBODY
    world.trust_in_client()
    assert answer(world) == CLIENT


def test_trust_of_a_folder_around_counts_for_nothing(world: World) -> None:
    world.make_repository()
    world.trust_in_client(world.project.parent)
    inner = world.project / "vendor" / "lib"
    (inner / ".git").mkdir(parents=True)
    assert answer(world) == NOBODY
    world.trust_in_client()
    assert answer(world) == CLIENT
    assert answer(world, inner) == NOBODY, "a repository in a trusted one is another"


def test_all_worktrees_are_the_repository_that_is_trusted(world: World) -> None:
    world.make_repository()
    tree = link_worktree(world.project, world.home / "tree")
    world.trust_in_client()
    assert answer(world, tree) == CLIENT
    forged = world.home / "forged"
    forged.mkdir()
    shutil.copy(tree / ".git", forged / ".git")
    assert answer(world, forged) == NOBODY, "a worktree that the repository does not list is none of its"


def test_another_repository_at_the_same_path_is_not_vouched_for(world: World, hostile: Hostile) -> None:
    """File systems give the number of a deleted folder to the next one, so the number alone would not tell."""
    hostile.write("README.md", "x\n")
    hostile.git("add", ".")
    hostile.git("commit", "-q", "-m", "x")
    for who in (CLIENT, YOU):
        place = world.home / who
        hostile.git("clone", "-q", hostile.path, place)
        world.trust_in_client(place)
        if who == YOU:
            trust(str(place), str(world.store))
        assert answer(world, place) == who
        hostile.git("pull", "-q", cwd=place)
        hostile.git("gc", "-q", cwd=place)
        assert answer(world, place) == who, "what is pulled later belongs to it"
        shutil.rmtree(place)
        hostile.git("clone", "-q", hostile.path, place)
        assert answer(world, place) == REPLACED
        assert not is_vouched(str(place), str(world.store))
        trust(str(place), str(world.store))
        assert answer(world, place) == YOU


def test_repository_with_the_number_of_the_one_before_is_told_by_when_git_made_it(world: World) -> None:
    """What a deleted and cloned repository looks like on ext4: the same number, and another time."""
    world.make_repository()
    description = world.project / ".git" / "description"
    description.write_text("Unnamed repository\n", encoding="utf-8")
    trust(str(world.project), str(world.store))
    assert answer(world) == YOU
    os.utime(description, ns=(1, description.stat().st_mtime_ns + 1_000_000))
    assert answer(world) == REPLACED


def test_folder_that_becomes_a_repository_is_asked_about_anew(world: World) -> None:
    world.trust_in_client()
    assert answer(world) == CLIENT
    world.make_repository()
    assert answer(world) == REPLACED


def test_taken_back_stays_taken_back_whatever_the_client_says(world: World) -> None:
    world.make_repository()
    trust(str(world.project), str(world.store))
    assert answer(world) == YOU
    world.trust_in_client()
    trust(str(world.project), str(world.store), off=True)
    assert answer(world) == OFF
    trust(str(world.project), str(world.store))
    assert answer(world) == YOU


def test_repository_cannot_bring_the_answer_itself(world: World) -> None:
    """A client may take variables from a repository's settings, headless without asking anybody."""
    world.make_repository()
    inside = world.project / ".fake"
    inside.mkdir()
    state = {"projects": {str(world.project): {"hasTrustDialogAccepted": True}}}
    (inside / ".claude.json").write_text(json.dumps(state), encoding="utf-8")
    assert answer(world, CLAUDE_CONFIG_DIR=str(inside)) == NOBODY
    link = world.home / "link"
    link.symlink_to(inside)
    assert answer(world, CLAUDE_CONFIG_DIR=str(link)) == NOBODY
    trust(str(world.project), str(world.store))
    shutil.copy(world.store / ".trusted", inside / ".trusted")
    assert trust_of(str(world.project), str(inside)) == NOBODY


def test_client_folder_of_the_session_is_the_one_that_counts(world: World) -> None:
    world.make_repository()
    other = world.home / "other"
    other.mkdir()
    world.trust_in_client().rename(other / ".claude.json")
    assert answer(world) == NOBODY
    assert answer(world, CLAUDE_CONFIG_DIR=str(other)) == CLIENT


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff\xfe", b"[" * 100_000, b'{"projects": []}', b"null", b'{"projects": {"PLACE": true}}'),
        *(b'{"projects": {"PLACE": {"hasTrustDialogAccepted": "true"}}}', b'{"projects": {"PLACE": {"hasTrust'),
        b'{"history": "\\"PLACE\\": {\\"hasTrustDialogAccepted\\": true}"}',
        b'{"x": {"projects": {"PLACE": {"hasTrustDialogAccepted": true}}}}',
        b" " * (17 << 20) + b'{"projects": {"PLACE": {"hasTrustDialogAccepted": true}}}',
    ],
    ids=lambda content: ascii(content[-60:]),
)
def test_damaged_or_odd_state_of_the_client_trusts_nothing(world: World, content: bytes) -> None:
    world.make_repository()
    (world.home / ".claude.json").write_bytes(content.replace(b"PLACE", str(world.project).encode()))
    assert answer(world) == NOBODY


def test_state_of_the_client_that_is_a_pipe_does_not_block(world: World) -> None:
    os.mkfifo(world.home / ".claude.json")
    assert answer(world) == NOBODY


@pytest.mark.parametrize("content", [b"\xff\x00\n", b"[[[[\n", b'["a"]\n[1, 2, 3]\n{"a": 1}\n', b'["a", "you'])
def test_damaged_answers_are_skipped(world: World, content: bytes) -> None:
    world.make_repository()
    world.store.mkdir()
    (world.store / ".trusted").write_bytes(content)
    assert answer(world) == NOBODY
    trust(str(world.project), str(world.store))
    assert answer(world) == YOU


def test_answers_that_cannot_be_read_vouch_for_nothing(world: World) -> None:
    world.make_repository()
    world.trust_in_client()
    (world.store / ".trusted").mkdir(parents=True)
    assert answer(world) == NOBODY


def test_worktree_that_was_trusted_itself_counts_for_what_is_seen_in_it(world: World) -> None:
    world.make_repository()
    tree = link_worktree(world.project, world.home / "tree")
    world.trust_in_client(tree)
    place = world.workspace(tree)
    assert (place.trust, place.is_vouched, place.vouches_for(place.identity)) == (CLIENT, True, True)
    assert not world.workspace().is_vouched


@pytest.mark.parametrize("owner", ["", "*", "shop-front", "/"])
def test_owner_that_is_no_folder_of_a_repository_is_not_vouched_for(world: World, owner: str) -> None:
    world.trust_in_client()
    assert world.workspace().is_vouched
    assert not world.workspace().vouches_for(owner)
