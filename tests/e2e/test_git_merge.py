"""Memories of two branches, brought together by the real git, with the merge driver and without it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

MEMORY = ".claude/memory/decisions"


class Team:
    """A repository whose branches each change memories."""

    def __init__(self, world: World) -> None:
        self.world = replace(world, forked=False)
        self.folder = world.project
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "start")

    def git(self, *arguments: str, check: bool = True, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.folder,
            env={**self.world.environment({}), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **who},
            capture_output=True,
            encoding="utf-8",
            check=check,
        )

    def commit(self, message: str = "change") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def set_up(self) -> None:
        done = self.world.run("init", "--git")
        assert done.returncode == 0, done.stderr
        self.commit("set up")

    def path(self, slug: str) -> Path:
        return self.folder / MEMORY / f"{slug}.json"

    def read(self, slug: str) -> dict[str, Any]:
        return json.loads(self.path(slug).read_text(encoding="utf-8"))

    def change(self, slug: str, at: str, **fields: Any) -> None:
        """Change a memory as `recollect write` does, and commit it."""
        record = self.read(slug)
        line = {"date": at, "summary": f"Changed {', '.join(fields)}"}
        record |= {"updated_at": at, "times_updated": record.get("times_updated", 0) + 1}
        record |= {"changes": [*record.get("changes", []), line], **fields}
        self.path(slug).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        self.commit(at)

    def two_changes(self, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        """Have one memory changed on main, which is checked out, and on the branch side."""
        self.world.write_decision("queue", title="Queue", changes=[])
        self.path("queue").write_text(json.dumps(self.read("queue"), indent=2) + "\n", encoding="utf-8")
        self.commit("queue")
        self.git("checkout", "-q", "-b", "side")
        self.change("queue", "2026-03-01T00:00:00Z", **theirs)
        self.git("checkout", "-q", "main")
        self.change("queue", "2026-02-01T00:00:00Z", **ours)


@pytest.fixture
def team(world: World) -> Team:
    return Team(world)


def create(team: Team, title: str) -> None:
    record = {
        "title": title,
        "tags": ["storage"],
        "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
    }
    done = team.world.run(
        "write", "--action", "create", "--category", "decision", "--input", "-", stdin=json.dumps(record)
    )
    assert done.returncode == 0, done.stderr


def test_two_branches_that_each_add_a_memory_merge_without_a_conflict(team: Team) -> None:
    team.set_up()
    create(team, "Carts live in Redis")
    team.commit()
    team.git("checkout", "-q", "-b", "side")
    create(team, "Orders live in PostgreSQL")
    team.commit()
    team.git("checkout", "-q", "main")
    create(team, "Mails go through a queue")
    team.commit()
    assert team.git("merge", "-q", "--no-edit", "side").returncode == 0
    assert ".claude/memory/index.md" not in team.git("ls-files").stdout
    assert len(json.loads(team.world.run("list", "--json").stdout)["memories"]) == 3


def test_index_that_is_tracked_already_merges_and_is_made_again(team: Team) -> None:
    create(team, "Carts live in Redis")
    team.commit()
    said = team.world.run("init", "--git")
    assert "git tracks .claude/memory/index.md" in said.stderr
    team.commit()
    team.git("checkout", "-q", "-b", "side")
    create(team, "Orders live in PostgreSQL")
    team.commit()
    team.git("checkout", "-q", "main")
    create(team, "Mails go through a queue")
    team.commit()
    assert team.git("merge", "-q", "--no-edit", "side").returncode == 0
    create(team, "Caches expire after an hour")
    assert "Index is valid" in team.world.run("index", "--validate").stdout


def test_different_fields_of_one_memory_merge_field_by_field(team: Team) -> None:
    team.set_up()
    team.two_changes({"title": "Order queue"}, {"tags": ["jobs", "storage"], "related_files": ["src/queue.py"]})
    assert team.git("merge", "-q", "--no-edit", "side").returncode == 0
    record = team.read("queue")
    assert (record["title"], record["tags"]) == ("Order queue", ["jobs", "storage"])
    assert [line["summary"] for line in record["changes"]] == ["Changed title", "Changed tags, related_files"]
    assert (record["times_updated"], record["updated_at"]) == (2, "2026-03-01T00:00:00Z")


@pytest.mark.parametrize("way", [("rebase", "-q", "side"), ("cherry-pick", "side")])
def test_rebase_and_cherry_pick_merge_field_by_field(team: Team, way: tuple[str, ...]) -> None:
    team.set_up()
    team.two_changes({"title": "Order queue"}, {"tags": ["jobs", "storage"]})
    done = team.git(*way, check=False)
    assert done.returncode == 0, done.stderr
    record = team.read("queue")
    assert (record["title"], record["tags"]) == ("Order queue", ["jobs", "storage"])
    assert len(record["changes"]) == 2


def test_true_conflict_leaves_a_valid_file_and_names_the_field(team: Team) -> None:
    team.set_up()
    team.two_changes({"title": "Our queue"}, {"title": "Their queue", "tags": ["jobs"]})
    done = team.git("merge", "--no-edit", "side", check=False)
    assert done.returncode == 1
    assert f'{MEMORY}/queue.json: title: both sides changed it; kept ours, "Our queue"; theirs is "Their queue"' in (
        done.stdout + done.stderr
    )
    record = team.read("queue")
    assert (record["title"], record["tags"]) == ("Our queue", ["jobs"])
    assert team.world.run("check").returncode == 0
    assert "UU" in team.git("status", "--short").stdout


def test_memory_renamed_on_one_branch_and_changed_on_the_other_is_one(team: Team) -> None:
    team.set_up()
    team.two_changes({"tags": ["jobs", "storage"]}, {"confidence": 0.9})
    team.git("checkout", "-q", "side")
    team.git("mv", f"{MEMORY}/queue.json", f"{MEMORY}/order-queue.json")
    team.change("order-queue", "2026-03-02T00:00:00Z", id="order-queue")
    team.git("checkout", "-q", "main")
    assert team.git("merge", "-q", "--no-edit", "side").returncode == 0
    record = team.read("order-queue")
    assert (record["id"], record["tags"], record["confidence"]) == ("order-queue", ["jobs", "storage"], 0.9)
    assert not team.path("queue").exists()


def test_setup_is_told_changes_nothing_twice_and_can_be_tried(team: Team) -> None:
    tried = team.world.run("init", "--git", "--dry-run")
    assert "Nothing was changed" in tried.stdout
    assert not (team.folder / ".gitattributes").exists()
    (team.folder / ".gitattributes").write_text("*.png binary", encoding="utf-8")
    done = json.loads(team.world.run("init", "--git", "--json").stdout)
    assert [Path(change["path"]).name for change in done["changed"]] == [
        ".gitattributes",
        ".gitattributes",
        ".gitignore",
        "config",
    ]
    assert (team.folder / ".gitattributes").read_text(encoding="utf-8").splitlines() == [
        "*.png binary",
        "/.claude/memory/*/*.json merge=recollect",
        "/.claude/memory/index.md merge=union",
    ]
    assert "nothing was changed" in team.world.run("init", "--git").stdout


def test_setup_outside_a_repository_is_refused(world: World) -> None:
    done = world.run("init", "--git")
    assert done.returncode == 1
    assert "no git repository" in done.stderr


def test_setup_says_that_git_ignores_the_memories(team: Team) -> None:
    (team.folder / ".gitignore").write_text(".claude/\n", encoding="utf-8")
    assert "git ignores .claude/memory" in team.world.run("init", "--git").stderr


def test_setup_follows_no_link(team: Team, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("mine\n", encoding="utf-8")
    (team.folder / ".gitattributes").symlink_to(tmp_path / "elsewhere")
    assert "is a link" in team.world.run("init", "--git").stderr
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "mine\n"


def test_driver_whose_command_has_a_space_and_a_quote_in_its_path_runs(team: Team) -> None:
    team.set_up()
    odd = team.world.home / "it's here"
    odd.mkdir()
    (odd / "recollect").symlink_to(RECOLLECT)
    subprocess.run([odd / "recollect", "init", "--git"], cwd=team.folder, env=team.world.environment({}), check=True)
    assert "it'\"'\"'s here" in team.git("config", "merge.recollect.driver").stdout
    team.two_changes({"title": "Order queue"}, {"tags": ["jobs", "storage"]})
    done = team.git("merge", "--no-edit", "side", check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("is_broken", [False, True])
def test_driver_whose_command_has_moved_says_so_and_merges_as_text(team: Team, is_broken: bool) -> None:
    team.set_up()
    gone = team.world.home / "gone"
    if is_broken:
        gone.write_text("#!/nowhere/python\n", encoding="utf-8")
        gone.chmod(0o755)
    driver = team.git("config", "merge.recollect.driver").stdout.rstrip("\n")
    team.git("config", "merge.recollect.driver", driver.replace(RECOLLECT, str(gone)))
    team.two_changes({"title": "Our queue"}, {"title": "Their queue"})
    done = team.git("merge", "--no-edit", "side", check=False)
    assert done.returncode == 1
    assert "`recollect init --git` sets it up again" in done.stderr
    assert "<<<<<<< ours" in team.path("queue").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", [1, 2, 130])
def test_driver_that_fails_merges_as_text_with_conflict_markers(team: Team, code: int) -> None:
    team.set_up()
    failing = team.world.home / "failing"
    failing.write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
    failing.chmod(0o755)
    driver = team.git("config", "merge.recollect.driver").stdout.rstrip("\n")
    team.git("config", "merge.recollect.driver", driver.replace(RECOLLECT, str(failing)))
    team.two_changes({"title": "Our queue"}, {"title": "Their queue"})
    assert team.git("merge", "--no-edit", "side", check=False).returncode == 1
    assert "<<<<<<< ours" in team.path("queue").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", ["tools", "./tools", "{project}/tools"])
def test_driver_runs_no_program_of_the_work_tree(team: Team, entry: str, tmp_path: Path) -> None:
    team.set_up()
    tools = team.folder / "tools"
    tools.mkdir()
    (tools / "recollect").write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n", encoding="utf-8")
    (tools / "recollect").chmod(0o755)
    driver = team.git("config", "merge.recollect.driver").stdout.rstrip("\n")
    path = f"{entry.format(project=team.folder)}:/usr/bin:/bin"
    wrapped = f"PATH={path}; {driver.replace(RECOLLECT, '/nowhere/recollect')}"
    team.git("config", "merge.recollect.driver", wrapped)
    team.two_changes({"title": "Our queue"}, {"title": "Their queue"})
    assert team.git("merge", "--no-edit", "side", check=False).returncode == 1
    assert not (tmp_path / "ran").exists()
    assert "<<<<<<< ours" in team.path("queue").read_text(encoding="utf-8")


def test_gitattributes_of_a_clone_alone_runs_nothing(team: Team) -> None:
    team.set_up()
    team.git("config", "--remove-section", "merge.recollect")
    team.two_changes({"title": "Our queue"}, {"title": "Their queue"})
    assert team.git("merge", "--no-edit", "side", check=False).returncode == 1
    assert "<<<<<<<" in team.path("queue").read_text(encoding="utf-8")


def without_driver(team: Team, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    team.two_changes(ours, theirs)
    assert team.git("merge", "--no-edit", "side", check=False).returncode == 1


def test_file_with_conflict_markers_is_called_that_by_every_reader(team: Team) -> None:
    without_driver(team, {"title": "Order queue"}, {"title": "Job queue", "tags": ["jobs"]})
    for words in (["show", "queue"], ["list"], ["index", "--health"], ["status"], ["check"], ["doctor"]):
        said = team.world.run(*words)
        assert "conflict markers" in said.stdout + said.stderr, words


def test_repair_merges_what_git_left_between_conflict_markers(team: Team) -> None:
    without_driver(team, {"title": "Order queue"}, {"tags": ["jobs", "storage"]})
    assert "<<<<<<<" in team.path("queue").read_text(encoding="utf-8")
    done = team.world.run("merge-driver", "--repair", f"{MEMORY}/queue.json")
    assert (done.returncode, done.stderr) == (0, "")
    record = team.read("queue")
    assert (record["title"], record["tags"], len(record["changes"])) == ("Order queue", ["jobs", "storage"], 2)


def test_repair_names_the_field_of_a_true_conflict(team: Team) -> None:
    without_driver(team, {"title": "Our queue"}, {"title": "Their queue"})
    done = team.world.run("merge-driver", "--repair", f"{MEMORY}/queue.json", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["conflicts"] == [{"field": "title", "ours": "Our queue", "theirs": "Their queue"}]
    assert team.read("queue")["title"] == "Our queue"


def test_json_of_a_conflict_shows_no_credential(team: Team) -> None:
    key = "AKIA" + "Q7RSTUVWXYZ2B4CD"
    without_driver(team, {"title": f"Our key is {key}"}, {"title": "Their queue"})
    done = team.world.run("merge-driver", "--repair", f"{MEMORY}/queue.json", "--json")
    assert json.loads(done.stdout)["conflicts"][0]["field"] == "title"
    assert key not in done.stdout


def test_repair_of_a_file_that_needs_none_says_so(team: Team) -> None:
    team.world.write_decision("queue")
    done = team.world.run("merge-driver", "--repair", f"{MEMORY}/queue.json")
    assert done.returncode == 1
    assert "has no conflict markers" in done.stderr


def test_versions_that_are_no_memories_are_merged_as_text(team: Team) -> None:
    team.set_up()
    team.two_changes({"title": "Our queue"}, {"unknown": "field"})
    done = team.git("merge", "--no-edit", "side", check=False)
    assert "merged as text, because their version is no valid memory: unknown" in done.stderr
    assert "<<<<<<<" in team.path("queue").read_text(encoding="utf-8")


def test_driver_without_its_files_is_a_usage_error(world: World) -> None:
    done = world.run("merge-driver", "one", "two")
    assert done.returncode == 2
    assert "BASE, OURS and THEIRS" in done.stderr
