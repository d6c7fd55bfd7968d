"""Whether git tracks a file, told from indexes that git itself has written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.files.git_index import is_tracked

WANTED = ".claude/memory/memory-config.json"
OTHER = ".claude/iflow-dev.local.md"
Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    def run(*arguments: str, stdin: str | None = None) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
        options = ("-c", "user.name=t", "-c", "user.email=t@example.com")
        command = ["git", *options, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, input=stdin, check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout

    return run


@pytest.fixture
def tracked(tmp_path: Path) -> Callable[..., bool]:
    return lambda name=WANTED: is_tracked(str(tmp_path / ".git"), name)


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")


MANY = [f"src/module{number}/part{number % 7}.py" for number in range(300)]


@pytest.mark.parametrize("format", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_index_of_each_version_tells_what_it_holds(
    git: Git, tracked: Callable[..., bool], tmp_path: Path, version: str, format: str
) -> None:
    git("init", "-q", f"--object-format={format}")
    git("config", "index.version", version)
    write(tmp_path, *MANY, "a/" + WANTED, WANTED + ".old", "x" * 200)
    git("add", "-A")
    if version == "3":
        write(tmp_path, "new.py")
        git("add", "-N", "new.py")  # what an index of version 3 is for
    assert (tmp_path / ".git" / "index").read_bytes()[7] == int(version)
    assert not tracked()
    write(tmp_path, WANTED)
    assert not tracked(), "the file alone is not in the index"
    git("add", "-f", WANTED)
    assert tracked()
    assert not tracked(OTHER)
    assert tracked(MANY[-1])


@pytest.mark.parametrize("version", ["2", "4"])
def test_split_index_is_read_with_the_one_that_it_adds_to(
    git: Git, tracked: Callable[..., bool], tmp_path: Path, version: str
) -> None:
    git("init", "-q")
    git("config", "index.version", version)
    write(tmp_path, *MANY, WANTED)
    git("add", "-A")
    git("update-index", "--split-index")
    write(tmp_path, "new.py")
    git("add", "new.py")
    assert list((tmp_path / ".git").glob("sharedindex.*"))
    assert tracked()
    assert not tracked(OTHER)
    for shared in (tmp_path / ".git").glob("sharedindex.*"):
        shared.unlink()
    assert tracked(OTHER), "what cannot be read counts as tracked"


def test_sparse_index_holds_all_that_is_below_a_folder(git: Git, tracked: Callable[..., bool], tmp_path: Path) -> None:
    git("init", "-q")
    write(tmp_path, *MANY, WANTED, "docs/a.md")
    git("add", "-A")
    git("commit", "-q", "-m", "x")
    git("sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    assert b".claude/\0" in (tmp_path / ".git" / "index").read_bytes()
    assert tracked()
    assert not tracked("other/file")


@pytest.mark.parametrize("name", [".claude", ".claude/memory"])
@pytest.mark.parametrize("mode", ["160000", "120000"])
def test_submodule_or_link_on_the_way_counts(git: Git, tracked: Callable[..., bool], name: str, mode: str) -> None:
    git("init", "-q")
    blob = git("hash-object", "-w", "--stdin", stdin="elsewhere").strip()
    git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}")
    assert tracked()
    assert tracked(OTHER) == (name == ".claude")


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("name", [".CLAUDE/Memory/memory-config.json", ".Claude/memory/MEMORY-CONFIG.JSON"])
def test_another_spelling_counts(
    git: Git, tracked: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, name: str, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    git("init", "-q")
    blob = git("hash-object", "-w", "--stdin", stdin="x").strip()
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    assert tracked()
    assert not tracked(OTHER)


def test_unseen_characters_do_not_hide_a_file_where_the_file_system_passes_over_them(
    git: Git, tracked: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    git("init", "-q")
    blob = git("hash-object", "-w", "--stdin", stdin="x").strip()
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},.cla\u200cude/memory/memory-config.json")
    assert tracked()


def test_repository_without_an_index_tracks_nothing(git: Git, tracked: Callable[..., bool]) -> None:
    git("init", "-q")
    assert not tracked()


def test_empty_index_tracks_nothing(git: Git, tracked: Callable[..., bool], tmp_path: Path) -> None:
    git("init", "-q")
    write(tmp_path, "a")
    git("add", "a")
    git("rm", "-q", "--cached", "a")
    assert not tracked()


def test_index_that_cannot_be_understood_counts_as_tracking_everything(
    git: Git, tracked: Callable[..., bool], tmp_path: Path
) -> None:
    git("init", "-q")
    write(tmp_path, *MANY)
    git("add", "-A")
    index = tmp_path / ".git" / "index"
    whole = index.read_bytes()
    version_4 = whole[:4] + (4).to_bytes(4, "big") + whole[8:]
    version_9 = whole[:4] + (9).to_bytes(4, "big") + whole[8:]
    for data in (b"", b"DIRC", b"nonsense", whole[:1000], version_4, version_9, version_4[:100]):
        index.write_bytes(data)
        assert tracked(), data[:20]
    index.unlink()
    index.symlink_to("index")
    assert tracked()
    index.unlink()
    os.mkfifo(index)
    assert tracked()
