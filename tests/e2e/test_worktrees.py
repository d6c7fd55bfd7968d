"""Memories in the worktrees of a repository: each has those of its branch, and git carries them over."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World

FOLDER = Path(".claude") / "memory" / "decisions"
CONTENT = {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}


class Trees:
    """A repository with a committed memory, and a worktree of it on the branch side."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.main = world.project
        self.tree = world.home / "side tree"
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        done = subprocess.run(
            ["git", *who, *arguments], cwd=cwd or self.main, capture_output=True, encoding="utf-8", check=True
        )
        return done.stdout

    def branch_off(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "start")
        self.git("worktree", "add", "-q", "-b", "side", str(self.tree))

    def create(self, title: str, cwd: Path, **variables: str) -> str:
        record = {"title": title, "tags": ["storage"], "content": {**CONTENT, "decision": title}}
        words = ("write", "--action", "create", "--category", "decision", "--input", "-")
        done = self.world.run(*words, cwd=cwd, stdin=json.dumps(record), **variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["target"]

    def listed(self, cwd: Path, **variables: str) -> list[str]:
        done = self.world.run("list", "--json", cwd=cwd, **variables)
        return sorted(each["title"] for each in json.loads(done.stdout)["memories"])

    def found(self, query: str, cwd: Path, *options: str) -> list[dict[str, Any]]:
        done = self.world.run("search", query, "--json", *options, cwd=cwd)
        return json.loads(done.stdout)["hits"]

    def titles(self, cwd: Path, session: str) -> str:
        event = {"source": "startup", "session_id": session, "cwd": str(cwd), "hook_event_name": "SessionStart"}
        done = self.world.run_hook("session-start", event)
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.fixture
def trees(semantic_world: World) -> Trees:
    made = Trees(semantic_world)
    made.world.write_decision("carts", title="Carts live in Redis")
    made.branch_off()
    return made


def test_memory_written_in_a_worktree_belongs_to_its_branch(trees: Trees) -> None:
    assert trees.create("Mails go through a queue", trees.tree) == str(FOLDER / "mails-go-through-a-queue.json")
    assert (trees.tree / FOLDER / "mails-go-through-a-queue.json").exists()
    assert not (trees.main / FOLDER / "mails-go-through-a-queue.json").exists()
    assert trees.listed(trees.tree) == ["Carts live in Redis", "Mails go through a queue"]
    assert trees.listed(trees.main) == ["Carts live in Redis"]
    trees.git("add", "-A", cwd=trees.tree)
    trees.git("commit", "-q", "-m", "queue", cwd=trees.tree)
    trees.git("merge", "-q", "side")
    assert trees.listed(trees.main) == ["Carts live in Redis", "Mails go through a queue"]


def test_setting_keeps_the_memories_of_the_main_checkout_for_all(trees: Trees) -> None:
    trees.create("Mails go through a queue", trees.tree, RECOLLECT_WORKTREE_MEMORIES="shared")
    assert (trees.main / FOLDER / "mails-go-through-a-queue.json").exists()
    assert not (trees.tree / FOLDER / "mails-go-through-a-queue.json").exists()
    assert trees.world.run("config", "set", "worktree_memories", "shared").returncode == 0
    assert trees.listed(trees.tree) == ["Carts live in Redis", "Mails go through a queue"]


def test_worktree_without_memories_of_its_own_shares_those_of_the_main_checkout(semantic_world: World) -> None:
    trees = Trees(semantic_world)
    (trees.main / ".gitignore").write_text(".claude/\n", encoding="utf-8")
    trees.world.write_decision("carts", title="Carts live in Redis")
    trees.branch_off()
    trees.create("Mails go through a queue", trees.tree)
    assert not (trees.tree / ".claude").exists()
    assert trees.listed(trees.tree) == trees.listed(trees.main) == ["Carts live in Redis", "Mails go through a queue"]


def test_each_worktree_finds_its_own_version_whoever_asked_last(trees: Trees) -> None:
    path = trees.tree / FOLDER / "carts.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "title": "Carts live in Valkey"}), encoding="utf-8")
    for _ in range(2):
        for cwd, title in ((trees.main, "Carts live in Redis"), (trees.tree, "Carts live in Valkey")):
            assert [each["name"] for each in trees.found("carts live", cwd)] == [title]
    for session, (cwd, title) in enumerate(((trees.main, "Redis"), (trees.tree, "Valkey"), (trees.main, "Redis"))):
        text = trees.titles(cwd, f"s{session}")
        assert f"Carts live in {title}\n" in text
        assert text.count("Carts live in") == 1


def test_prompt_in_a_worktree_is_given_the_text_of_its_branch(trees: Trees) -> None:
    path = trees.tree / FOLDER / "carts.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "title": "Carts live in Valkey"}), encoding="utf-8")
    texts: list[str] = []
    for session, cwd in (("warm", trees.main), ("warm", trees.tree), ("one", trees.main), ("two", trees.tree)):
        event = {"prompt": "where do the carts live?", "session_id": session, "cwd": str(cwd)}
        done = trees.world.run_hook("prompt", {**event, "hook_event_name": "UserPromptSubmit"})
        texts.append(done.stdout)
    assert "Redis" in texts[2]
    assert "Valkey" not in texts[2]
    assert "Valkey" in texts[3]
    assert "Redis" not in texts[3]


def test_memory_of_a_worktree_is_shown_and_retired_by_its_id(trees: Trees) -> None:
    trees.create("Mails go through a queue", trees.tree)
    [hit] = [each for each in trees.found("mails queue", trees.tree) if "Mails" in each["name"]]
    assert trees.world.run("show", hit["id"], cwd=trees.tree).returncode == 0
    elsewhere = trees.world.run("show", hit["id"], cwd=trees.main)
    assert "another project" in elsewhere.stderr
    done = trees.world.run("retire", hit["id"], cwd=trees.tree)
    assert done.returncode == 0, done.stderr
    assert trees.listed(trees.tree) == ["Carts live in Redis"]
    record = json.loads((trees.tree / FOLDER / "mails-go-through-a-queue.json").read_text(encoding="utf-8"))
    assert record["record_status"] == "retired"


def test_mark_on_a_memory_of_a_worktree_says_that_it_holds_there_alone(trees: Trees) -> None:
    run = trees.world.run
    trees.world.write_bank("patterns", "### Pattern: Read First\nRead the file before its parser.\n", shared=True)
    for command, said in (("pin", "Pinned"), ("unpin", "Not pinned any more"), ("mute", "Muted")):
        assert run(command, "carts", cwd=trees.tree).stdout.startswith(f"{said} in this worktree: ")
        assert run(command, "read-first", cwd=trees.tree).stdout.startswith(f"{said} in this project: ")
    assert "not pinned" in run("unpin", "carts", cwd=trees.main).stdout
    assert run("mute", "carts", cwd=trees.main).stdout.startswith("Muted in this project: ")


def test_change_in_a_worktree_is_committed_to_its_branch(trees: Trees) -> None:
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    trees.create("Mails go through a queue", trees.tree, RECOLLECT_AUTO_COMMIT="true", **who)
    assert "memory: " in trees.git("log", "-1", "--format=%s", "side")
    assert "memory: " not in trees.git("log", "-1", "--format=%s", "main")


def test_removed_worktree_leaves_nothing_to_find(trees: Trees) -> None:
    trees.create("Mails go through a queue", trees.tree)
    assert len(trees.found("carts live redis", trees.main, "--all-projects")) >= 1
    shutil.rmtree(trees.tree)
    names = [each["name"] for each in trees.found("carts mails queue redis", trees.main, "--all-projects")]
    assert names == ["Carts live in Redis"]


def test_worktree_without_its_memory_folder_leaves_nothing_to_find_until_it_is_back(trees: Trees) -> None:
    trees.create("Mails go through a queue", trees.tree)

    def names() -> list[str]:
        found = trees.found("carts mails queue redis", trees.main, "--all-projects")
        return sorted(each["name"] for each in found)

    assert names() == ["Carts live in Redis", "Carts live in Redis", "Mails go through a queue"]
    (trees.tree / ".claude").rename(trees.tree / "aside")
    assert names() == ["Carts live in Redis"]
    assert [each["name"] for each in trees.found("carts mails queue", trees.tree)] == ["Carts live in Redis"]
    (trees.tree / "aside").rename(trees.tree / ".claude")
    assert len(trees.found("carts mails queue", trees.tree)) == 2
    assert names() == ["Carts live in Redis", "Carts live in Redis", "Mails go through a queue"]


def test_rebuild_reads_the_memories_of_every_worktree(trees: Trees) -> None:
    trees.create("Mails go through a queue", trees.tree)
    assert trees.world.run("rebuild", cwd=trees.main).returncode == 0
    assert [each["name"] for each in trees.found("mails queue", trees.tree)][:1] == ["Mails go through a queue"]
    assert trees.found("mails queue", trees.main) == []
