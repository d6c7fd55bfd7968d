"""Entries whose files have changed: on a real git history, through the command line, the hooks and the tools."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World
from tests.e2e.test_stop import Session, remove_contexts

TITLE = "Payments are captured by the worker queue"
TEXT = f"{TITLE}, never in the request itself."
PROMPT = "where are payments captured, in the request or by the worker queue?"
FIRST = "def capture():\n    return queue.put()\n"


def git(world: World, *arguments: str, cwd: Path | None = None, **variables: str) -> str:
    identity = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "Ann"}
    settings = {**identity, "GIT_COMMITTER_EMAIL": "a@b.c", "HOME": str(world.home), "PATH": os.environ["PATH"]}
    options = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false")
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=cwd or world.project,
        env={**settings, **variables},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.strip()


def write(world: World, text: str, name: str = "src/pay.py") -> Path:
    path = world.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def commit(world: World, text: str, subject: str, name: str = "src/pay.py") -> None:
    write(world, text, name)
    git(world, "add", "-A", "src")
    git(world, "commit", "-qm", subject)


def remember(world: World, *arguments: str) -> str:
    """Store a decision about src/pay.py, and return its id."""
    done = world.run("add", "decision", TEXT, "--file", "src/pay.py", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["id"]


def stale(world: World, *arguments: str, **variables: str) -> list[dict[str, Any]]:
    done = world.run("stale", "--json", *arguments, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["stale"]


def prompted(world: World, session: str = "s-1", **variables: str) -> str:
    """Return the block for a prompt of a session."""
    event = {"prompt": PROMPT, "session_id": session, "cwd": str(world.project), "hook_event_name": "UserPromptSubmit"}
    done = world.run_hook("prompt", event, **variables)
    assert done.returncode == 0
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def started(world: World, session: str = "s-0") -> str:
    event = {"source": "startup", "session_id": session, "cwd": str(world.project), "hook_event_name": "SessionStart"}
    done = world.run_hook("session-start", event)
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def checks(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("check: ")]


@pytest.fixture
def repository(world: World) -> World:
    """A project with a history of one commit, and a decision about its file, taken the day before."""
    world = replace(world, semantic=True)
    shutil.rmtree(world.project / ".git", ignore_errors=True)
    git(world, "init", "-q")
    commit(world, FIRST, "Capture payments")
    return world


@pytest.fixture
def day(repository: World) -> str:
    """The day that the anchor of the decision has."""
    remember(repository)
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    [anchor] = record["anchors"]
    blob = git(repository, "rev-parse", "HEAD:src/pay.py")
    assert (anchor["file"], anchor["hash"]) == ("src/pay.py", blob[:16])
    assert anchor["commit"] == git(repository, "rev-parse", "HEAD")[:12]
    return anchor["at"]


@pytest.mark.usefixtures("day")
def test_same_content_says_nothing_and_nothing_is_stale(repository: World) -> None:
    assert stale(repository) == []
    text = prompted(repository)
    assert (TITLE in text, checks(text)) == (True, [])
    assert "check:" not in started(repository)
    assert "check:" not in repository.run("search", "payments captured").stdout
    assert repository.run("stale").stdout == ""


def test_edit_is_said_with_its_day_first_and_with_its_commits_once_git_was_asked(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it once")
    commit(repository, "x = 3\n", "Change it twice")
    assert checks(prompted(repository, "s-1")) == [f"check: src/pay.py changed since {day}"]
    assert checks(prompted(repository, "s-2")) == [f"check: src/pay.py changed since {day} (2 commits)"]


def test_commits_are_known_to_the_first_prompt_after_a_sessions_start(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it once")
    assert f"(check: src/pay.py changed since {day})" in started(repository)
    assert checks(prompted(repository)) == [f"check: src/pay.py changed since {day} (1 commit)"]


def test_stale_lists_the_commits_that_did_it(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it once")
    commit(repository, "x = 3\n", "Change \x1b[31mit twice")
    [entry] = stale(repository)
    [file] = entry["files"]
    assert (entry["title"], entry["category"]) == (TEXT.rstrip("."), "decision")
    assert (file["file"], file["state"], file["since"], file["commits"]) == ("src/pay.py", "changed", day, 2)
    assert [(by["author"], by["subject"]) for by in file["by"]][1] == ("Ann", "Change it once")
    shown = repository.run("stale").stdout
    assert f"src/pay.py changed since {day} (2 commits)" in shown
    assert "Change it once (Ann)" in shown
    assert "\x1b" not in shown


def test_search_show_and_json_carry_the_check(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it once")
    [entry] = stale(repository)
    said = f"src/pay.py changed since {day} (1 commit)"
    assert f"check: {said}" in repository.run("search", "payments captured").stdout
    found = json.loads(repository.run("search", "payments captured", "--json").stdout)
    assert found["hits"][0]["check"] == f"check: {said}"
    assert said in repository.run("show", entry["id"]).stdout
    assert json.loads(repository.run("show", entry["id"], "--json").stdout)["check"] == [said]


@pytest.mark.usefixtures("day")
def test_revert_to_the_same_content_says_nothing_any_more(repository: World) -> None:
    commit(repository, "x = 2\n", "Change it")
    assert len(stale(repository)) == 1
    git(repository, "revert", "--no-edit", "HEAD")
    assert stale(repository) == []
    assert checks(prompted(repository)) == []


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize("how", ["mode", "line ends"])
def test_change_of_no_content_says_nothing(repository: World, how: str) -> None:
    path = repository.project / "src/pay.py"
    if how == "mode":
        path.chmod(0o755)
    else:
        path.write_bytes(FIRST.replace("\n", "\r\n").encode())
    git(repository, "commit", "-qam", "No other content")
    assert stale(repository) == []
    assert checks(prompted(repository)) == []
    commit(repository, "x = 2\n", "Other content")
    [entry] = stale(repository)
    assert entry["files"][0]["by"][0]["subject"] == "Other content"
    assert how != "mode" or entry["files"][0]["commits"] == 1


@pytest.mark.parametrize("data", [b"\0\1\2\xff" * 300, b"a\r\n\0\r\n", b""])
def test_file_that_is_no_text_is_compared_as_any_other(repository: World, data: bytes) -> None:
    path = repository.project / "src/pay.py"
    path.write_bytes(data)
    git(repository, "commit", "-qam", "A picture of it")
    remember(repository)
    assert stale(repository) == []
    path.write_bytes(data + b"\0")
    assert [entry["files"][0]["state"] for entry in stale(repository)] == ["changed"]


def test_locked_index_costs_nothing(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Capture at once")
    (repository.project / ".git/index.lock").touch()
    assert [by["subject"] for by in stale(repository)[0]["files"][0]["by"]] == ["Capture at once"]
    assert checks(prompted(repository)) == [f"check: src/pay.py changed since {day} (1 commit)"]
    assert repository.run("confirm", "payments-are-captured-by-the-worker-queue").returncode == 0
    assert stale(repository) == []


def test_uncommitted_change_is_said_without_a_number(repository: World, day: str) -> None:
    write(repository, "x = 2\n")
    [entry] = stale(repository)
    assert entry["files"][0]["commits"] == 0
    assert "in no commit of this repository" in repository.run("stale").stdout
    assert checks(prompted(repository)) == [f"check: src/pay.py changed since {day}"]


def test_commit_of_the_very_content_that_was_anchored_is_not_counted(repository: World) -> None:
    write(repository, "x = 2\n")
    remember(repository)
    commit(repository, "x = 2\n", "Commit what the memory was about")
    assert stale(repository) == []
    commit(repository, "x = 3\n", "Change it")
    [entry] = stale(repository)
    assert [by["subject"] for by in entry["files"][0]["by"]] == ["Change it"]


def test_renamed_file_is_followed_and_said_by_its_new_name_once_it_changes(repository: World, day: str) -> None:
    git(repository, "mv", "src/pay.py", "src/charge.py")
    git(repository, "commit", "-qm", "Rename it")
    assert checks(prompted(repository, "s-1")) == [f"check: src/pay.py is gone (it was there on {day})"]
    assert checks(prompted(repository, "s-2")) == [], "git was asked after the first prompt"
    assert stale(repository) == []
    commit(repository, FIRST + "# more\n", "Change it", "src/charge.py")
    [entry] = stale(repository)
    assert (entry["files"][0]["file"], entry["files"][0]["was"]) == ("src/charge.py", "src/pay.py")
    expected = f"check: src/charge.py (was src/pay.py) changed since {day} (1 commit)"
    assert checks(prompted(repository, "s-3")) == [expected]


@pytest.mark.usefixtures("day")
def test_file_renamed_twice_and_one_staged_are_followed(repository: World) -> None:
    for old, new in (("src/pay.py", "src/a.py"), ("src/a.py", "src/b.py")):
        git(repository, "mv", old, new)
        git(repository, "commit", "-qm", f"Rename it to {new}")
    assert stale(repository) == []
    git(repository, "mv", "src/b.py", "src/c.py")
    assert stale(repository) == []


def test_deleted_file_is_said_and_lowered_but_never_withheld(repository: World, day: str) -> None:
    git(repository, "rm", "-q", "src/pay.py")
    git(repository, "commit", "-qm", "Delete it")
    [entry] = stale(repository)
    assert (entry["files"][0]["state"], entry["files"][0]["by"][0]["subject"]) == ("gone", "Delete it")
    text = prompted(repository)
    assert TITLE in text
    assert checks(text) == [f"check: src/pay.py is gone (it was there on {day})"]


def test_rebase_loses_the_commit_and_the_hash_is_still_right(repository: World) -> None:
    git(repository, "checkout", "-qb", "feature")
    commit(repository, "x = 2\n", "On the feature")
    remember(repository)
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    day = json.loads(path.read_text(encoding="utf-8"))["anchors"][0]["at"]
    git(repository, "checkout", "-q", "main")
    commit(repository, "y = 1\n", "On main", "src/other.py")
    git(repository, "checkout", "-q", "feature")
    git(repository, "rebase", "-q", "main")
    git(repository, "reflog", "expire", "--expire=now", "--all")
    git(repository, "gc", "-q", "--prune=now")
    assert stale(repository) == [], "the content is the same"
    commit(repository, "x = 3\n", "Change it")
    [entry] = stale(repository)
    assert entry["files"][0]["commits"] is None
    assert checks(prompted(repository)) == [f"check: src/pay.py changed since {day}"]
    assert "is not in this history" in repository.run("stale").stdout


def test_shallow_clone_knows_the_day_alone(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it once")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Keep the memory")
    commit(repository, "x = 3\n", "Change it twice")
    clone = repository.home / "clone"
    git(repository, "clone", "-q", "--depth=1", f"file://{repository.project}", str(clone))
    there = replace(repository, project=clone)
    [entry] = stale(there)
    assert (entry["files"][0]["state"], entry["files"][0]["commits"]) == ("changed", None)
    assert checks(prompted(there)) == [f"check: src/pay.py changed since {day}"]


def test_project_without_a_repository_compares_hashes_alone(world: World) -> None:
    world = replace(world, semantic=True)
    shutil.rmtree(world.project / ".git", ignore_errors=True)
    write(world, FIRST)
    remember(world)
    [path] = (world.project / ".claude/memory/decisions").glob("*.json")
    [anchor] = json.loads(path.read_text(encoding="utf-8"))["anchors"]
    assert "commit" not in anchor
    assert stale(world) == []
    write(world, "x = 2\n")
    assert checks(prompted(world)) == [f"check: src/pay.py changed since {anchor['at']}"]
    assert stale(world)[0]["files"][0]["state"] == "changed"


def test_worktree_is_compared_with_its_own_files(repository: World, day: str) -> None:
    tree = repository.home / "tree"
    git(repository, "worktree", "add", "-q", str(tree), "-b", "other")
    there = replace(repository, project=tree)
    assert stale(there) == []
    (tree / "src/pay.py").write_text("x = 2\n", encoding="utf-8")
    assert len(stale(there)) == 1
    assert stale(repository) == []
    assert checks(prompted(there)) == [f"check: src/pay.py changed since {day}"]


def test_memory_stored_in_a_worktree_is_anchored_to_its_files(repository: World) -> None:
    tree = repository.home / "tree"
    git(repository, "worktree", "add", "-q", str(tree), "-b", "other")
    there = replace(repository, project=tree)
    (tree / "src/pay.py").write_text("x = 2\n", encoding="utf-8")
    remember(there)
    assert stale(there) == []
    assert len(stale(repository)) == 1


def test_file_of_a_submodule_is_compared_and_its_commits_are_not_invented(repository: World) -> None:
    library = repository.home / "library"
    library.mkdir()
    git(repository, "init", "-q", cwd=library)
    (library / "lib.py").write_text("x = 1\n", encoding="utf-8")
    git(repository, "add", ".", cwd=library)
    git(repository, "commit", "-qm", "Begin", cwd=library)
    git(repository, "submodule", "add", "-q", str(library), "vendor")
    git(repository, "commit", "-qm", "Add the library")
    done = repository.run("add", "decision", TEXT, "--file", "vendor/lib.py")
    assert done.returncode == 0, done.stderr
    assert stale(repository) == []
    (repository.project / "vendor/lib.py").write_text("x = 2\n", encoding="utf-8")
    git(repository, "commit", "-qam", "Inside", cwd=repository.project / "vendor")
    [entry] = stale(repository)
    assert (entry["files"][0]["state"], entry["files"][0]["by"]) == ("changed", [])
    assert "commit" not in checks(prompted(repository))[0]


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize("kind", ["link out", "link inside", "folder", "pipe", "large"])
def test_file_replaced_by_something_else_is_never_read_outside(repository: World, kind: str) -> None:
    path = repository.project / "src/pay.py"
    path.unlink()
    secret = repository.home / "outside.py"
    secret.write_text(FIRST, encoding="utf-8")
    if kind == "link out":
        path.symlink_to(secret)
    elif kind == "link inside":
        write(repository, FIRST, "src/real.py")
        path.symlink_to("real.py")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"x" * (2 << 20))
    states = [entry["files"][0]["state"] for entry in stale(repository)]
    assert states == {"link inside": [], "large": ["changed"]}.get(kind, ["gone"])
    assert TITLE in prompted(repository)


@pytest.mark.parametrize(
    "file", ["../outside.py", "/etc/hostname", ".git/config", "https://a.b/c.py", "src", "big.bin"]
)
def test_reference_to_no_file_of_the_project_gets_no_anchor(repository: World, file: str) -> None:
    (repository.home / "outside.py").write_text("x", encoding="utf-8")
    (repository.project / "big.bin").write_bytes(b"\0" * (2 << 20))
    lesson = {"name": "Queue first", "description": TEXT, "category": "patterns", "references": [file]}
    assert repository.run("upsert", "--entry-json", json.dumps(lesson)).returncode == 0
    journal = (repository.store / "session-captures.jsonl").read_text(encoding="utf-8")
    assert '"anchored"' not in journal


def test_lesson_is_anchored_by_a_line_of_the_journal_in_its_project_alone(repository: World) -> None:
    lesson = {"name": "Queue first", "description": TEXT, "category": "patterns", "references": ["src/pay.py:1"]}
    assert repository.run("upsert", "--entry-json", json.dumps(lesson)).returncode == 0
    last = (repository.store / "session-captures.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    line = json.loads(last)
    assert (line["project"], line["anchors"][0]["file"]) == (str(repository.project), "src/pay.py")
    commit(repository, "x = 2\n", "Change it")
    [entry] = stale(repository)
    assert entry["category"] == "patterns"
    assert f"- check: src/pay.py changed since {line['at'][:10]}" in started(repository)
    other = repository.home / "other"
    other.mkdir()
    assert "check:" not in started(replace(repository, project=other))
    assert repository.run("rebuild").returncode == 0
    assert [each["id"] for each in stale(repository)] == [entry["id"]]
    assert stale(replace(repository, project=other)) == []
    repository.write_decision("known", title="The project has memories")
    repository.run("rebuild")
    assert [each["id"] for each in stale(replace(repository, project=other), "--all-projects")] == [entry["id"]]


@pytest.mark.usefixtures("day")
def test_confirm_renews_a_memory_with_a_line_of_history(repository: World) -> None:
    commit(repository, "x = 2\n", "Change it")
    [entry] = stale(repository)
    done = repository.run("confirm", entry["id"])
    assert (done.returncode, "Confirmed" in done.stdout) == (0, True)
    assert stale(repository) == []
    assert checks(prompted(repository)) == []
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["changes"][-1]["summary"] == "Confirmed with src/pay.py"
    assert (record["times_updated"], record["anchors"][0]["hash"]) == (
        0,
        git(repository, "rev-parse", "HEAD:src/pay.py")[:16],
    )


def test_confirm_renews_a_lesson_in_the_journal_and_survives_a_rebuild(repository: World) -> None:
    lesson = {"name": "Queue first", "description": TEXT, "category": "patterns", "references": ["src/pay.py"]}
    assert repository.run("upsert", "--entry-json", json.dumps(lesson)).returncode == 0
    commit(repository, "x = 2\n", "Change it")
    [entry] = stale(repository)
    done = json.loads(repository.run("confirm", entry["id"], "--json").stdout)
    assert [(each["outcome"], each["files"]) for each in done["confirmed"]] == [("confirmed", ["src/pay.py"])]
    assert stale(repository) == []
    assert repository.run("rebuild").returncode == 0
    assert stale(repository) == []


@pytest.mark.usefixtures("day")
def test_confirm_follows_a_renamed_file_and_lets_a_deleted_one_go(repository: World) -> None:
    git(repository, "mv", "src/pay.py", "src/charge.py")
    git(repository, "commit", "-qm", "Rename it")
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    assert repository.run("confirm", f"decision/{path.stem}").returncode == 0
    record = json.loads(path.read_text(encoding="utf-8"))
    assert (record["related_files"], record["anchors"][0]["file"]) == (["src/charge.py"], "src/charge.py")
    git(repository, "rm", "-q", "src/charge.py")
    git(repository, "commit", "-qm", "Delete it")
    assert len(stale(repository)) == 1
    assert repository.run("confirm", path.stem).returncode == 0
    assert stale(repository) == []
    assert "anchors" not in json.loads(path.read_text(encoding="utf-8"))


def test_confirm_of_an_entry_without_files_changes_nothing(repository: World) -> None:
    done = repository.run("add", "decision", TEXT, "--json")
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    before = path.read_bytes()
    said = repository.run("confirm", json.loads(done.stdout)["id"])
    assert (said.returncode, path.read_bytes()) == (0, before)
    assert "names no file of this project" in said.stdout
    assert repository.run("confirm", "no-such-thing").returncode == 1
    assert repository.run("confirm").returncode == 2


@pytest.mark.usefixtures("day")
def test_reading_renews_nothing_and_storing_again_does(repository: World) -> None:
    commit(repository, "x = 2\n", "Change it")
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    before = path.read_bytes()
    for arguments in (("search", "payments"), ("show", path.stem), ("stale",), ("why", path.stem), ("list",)):
        assert repository.run(*arguments).returncode == 0
    prompted(repository)
    started(repository)
    assert path.read_bytes() == before
    assert len(stale(repository)) == 1
    remember(repository)
    assert stale(repository) == []


@pytest.mark.usefixtures("day")
def test_update_of_other_fields_keeps_the_anchors_and_a_new_content_renews_them(repository: World) -> None:
    commit(repository, "x = 2\n", "Change it")
    [path] = (repository.project / ".claude/memory/decisions").glob("*.json")
    shown = f".claude/memory/decisions/{path.name}"

    def update(**fields: Any) -> None:
        record = json.loads(path.read_text(encoding="utf-8")) | fields
        line = {"date": "2026-11-02T00:00:00Z", "summary": "Something changed"}
        record["changes"] = [*record.get("changes", []), line]
        given = ("--action", "update", "--target", shown, "--input", "-")
        done = repository.run("write", *given, stdin=json.dumps(record))
        assert done.returncode == 0, done.stderr

    update(confidence=0.9, anchors=[])
    assert len(stale(repository)) == 1, "nobody has looked whether it still holds"
    content = json.loads(path.read_text(encoding="utf-8"))["content"]
    update(content={**content, "decision": "Payments are captured by two queues."})
    assert stale(repository) == []


@pytest.mark.usefixtures("day")
def test_setting_says_and_lowers_nothing(repository: World) -> None:
    commit(repository, "x = 2\n", "Change it")
    off = {"RECOLLECT_MEMORY_ANCHORS_ENABLED": "false"}
    assert checks(prompted(repository, **off)) == []
    assert stale(repository, **off) == []
    assert "memory_anchors_enabled is false" in repository.run("stale", **off).stderr
    assert len(stale(repository)) == 1


@pytest.mark.usefixtures("day")
def test_memory_with_changed_files_comes_after_one_that_is_as_good(repository: World) -> None:
    write(repository, FIRST, "src/other.py")
    twin = "Payments are captured by the worker queue, ever in the request itself."
    assert repository.run("add", "decision", twin, "--file", "src/other.py").returncode == 0

    def order(session: str) -> list[bool]:
        lines = [line for line in prompted(repository, session).splitlines() if line.startswith("- [DECISION]")]
        return [", never in" in line for line in lines]

    commit(repository, "x = 2\n", "Change it", "src/other.py")
    assert order("s-1") == [True, False]
    repository.run("confirm", "payments-are-captured-by-the-worker-queue-ever-in-the-request-itself")
    commit(repository, "x = 2\n", "Change the other")
    assert order("s-2") == [False, True]
    found = json.loads(repository.run("search", "payments captured worker queue", "--json").stdout)["hits"]
    assert [bool(hit["check"]) for hit in found] == [False, True]
    assert found[0]["score"] > found[1]["score"]


def test_prompt_never_starts_git_and_a_missing_or_hanging_git_costs_only_numbers(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it")
    tools = repository.home / "tools"
    tools.mkdir()
    called = repository.home / "called"
    hanging = tools / "git"
    hanging.write_text(f"#!/bin/sh\nif [ -e {called} ]; then exec sleep 60; fi\ntouch {called}\n", encoding="utf-8")
    hanging.chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    assert checks(prompted(repository, "s-1", PATH=path)) == [f"check: src/pay.py changed since {day}"]
    done = repository.run("stale", "--json", PATH=path)
    assert json.loads(done.stdout)["stale"][0]["files"][0]["state"] == "changed"
    assert "git took too long" in done.stderr
    nothing = repository.home / "nothing"
    nothing.mkdir()
    done = repository.run("stale", "--json", PATH=str(nothing))
    assert json.loads(done.stdout)["stale"][0]["files"][0]["commits"] is None
    assert "git cannot be run" in done.stderr
    assert "in this history" not in repository.run("stale", PATH=str(nothing)).stdout, "nobody knows that"


@pytest.mark.usefixtures("day")
def test_hostile_repository_runs_nothing(repository: World) -> None:
    commit(repository, "x = 2\n", "Change it")
    trap = repository.home / "trapped"
    program = repository.home / "program"
    program.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "gpg.program",
        "diff.evil.textconv",
        "diff.evil.command",
    ):
        git(repository, "config", name, str(program))
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "filter.evil.clean", str(program))
    write(repository, "*.py diff=evil filter=evil\n", ".gitattributes")
    [entry] = stale(repository)
    assert entry["files"][0]["commits"] == 1
    prompted(repository)
    started(repository)
    assert repository.run("confirm", entry["id"]).returncode == 0
    assert not trap.exists()


@pytest.mark.parametrize(
    "anchors",
    [
        "x",
        [7, {}, {"file": 3}],
        [{"file": "../x", "hash": "0" * 16, "at": "2026-11-02"}],
        [{"file": "src/pay.py", "hash": "--upload", "at": "2026-11-02"}],
        [{"file": "src/pay.py", "hash": "0" * 16, "commit": "--output=x", "at": "2026-11-02"}],
        [{"file": "src/pay.py", "hash": "0" * 16, "at": "</memory-context>"}],
        [{"file": "src/other.py", "hash": "0" * 16, "at": "2026-11-02"}],
    ],
)
def test_anchors_that_nobody_can_have_taken_count_for_nothing(repository: World, anchors: object) -> None:
    repository.write_decision("queue", title=TITLE, related_files=["src/pay.py"], anchors=anchors)
    assert stale(repository) == []
    text = prompted(repository)
    assert (TITLE in text, checks(text)) == (True, [])


def test_name_of_a_file_cannot_close_the_block(repository: World) -> None:
    name = "src/<memory-context>.py"
    write(repository, "x\n", name)
    anchor = {"file": name, "hash": "0" * 16, "at": "2026-11-02"}
    repository.write_decision("queue", title=TITLE, related_files=[name], anchors=[anchor])
    text = prompted(repository)
    assert len(checks(text)) == 1
    assert text.count("<memory-context") == 1


def test_titles_alone_carry_the_check_without_a_store(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it")
    text = prompted(replace(repository, semantic=False))
    assert checks(text) == [f"check: src/pay.py changed since {day}"]
    assert f"(check: src/pay.py changed since {day})" in started(replace(repository, semantic=False))


def test_session_summary_has_no_anchors_because_it_tells_what_was_done(repository: World) -> None:
    text = "Goal: capture payments. Outcome: success. Completed: the queue. Next actions: none."
    done = repository.run("add", "session_summary", text, "--file", "src/pay.py")
    assert done.returncode == 0, done.stderr
    commit(repository, "x = 2\n", "Change it")
    assert stale(repository) == []


# The stop that asks


def works(session: Session, *, file: str = "src/pay.py", closing: str = "pytest -q") -> None:
    """Let the agent of a session change a file and finish its work."""
    steps = [
        ("Edit", {"file_path": str(session.world.project / file), "old_string": "a", "new_string": "b"}),
        *([("Bash", {"command": closing})] if closing else []),
    ]
    session.says("Make the capture retry.")
    for number, (tool, given) in enumerate(steps):
        used = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        message = {"id": f"m{number}", "role": "assistant", "content": [used]}
        session.write(json.dumps({"isSidechain": False, "type": "assistant", "message": message}) + "\n")


@pytest.fixture
def session(repository: World) -> Iterator[Session]:
    """A session that was given the decision about src/pay.py."""
    remember(repository)
    session = Session(repository)
    assert TITLE in prompted(repository, session.id)
    yield session
    remove_contexts(session.id)


SELDOM = {"RECOLLECT_TRIAGE_AFTER_PROMPTS": "50"}


def held(session: Session, **fields: Any) -> str:
    """Return the request of a stop, empty if it passes."""
    done = session.stops(SELDOM, **fields)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def test_stop_asks_once_about_a_memory_whose_file_the_session_has_changed(session: Session) -> None:
    write(session.world, "x = 2\n")
    works(session)
    text = held(session)
    [path] = (session.world.project / ".claude/memory/decisions").glob("*.json")
    [entry] = stale(session.world)
    assert f"`recollect confirm {entry['id']}`" in text
    named = f'"{TEXT.rstrip(".")}" (id {entry["id"]}, file src/pay.py)'
    assert f"this session changed files that it was given memories about: {named}. Does each still hold?" in text
    assert text.count("\n") == 0, "it is one sentence or two"
    assert held(session, stop_hook_active=True) == ""
    write(session.world, "x = 3\n")
    works(session)
    assert held(session) == "", "once a session"
    assert path.exists()


def test_stop_says_it_in_the_hold_that_there_is_anyway(session: Session) -> None:
    write(session.world, "x = 2\n")
    works(session, closing="")
    session.says("We decided to retry in the queue because the gateway drops every tenth request. We chose that.")
    done = session.stops()
    text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "was something learned here" in text
    assert "Also: this session changed files that it was given memories about: " in text


@pytest.mark.parametrize(
    "why", ["not finished", "another file", "same content", "not given", "plan", "headless", "off"]
)
def test_stop_does_not_ask_without_a_reason(session: Session, why: str) -> None:
    write(session.world, FIRST if why == "same content" else "x = 2\n")
    if why == "not given":
        session = Session(session.world)
    works(
        session,
        file="src/other.py" if why == "another file" else "src/pay.py",
        closing="" if why == "not finished" else "pytest -q",
    )
    fields = {"permission_mode": "plan"} if why == "plan" else {}
    variables = {"CLAUDE_CODE_SESSION_ATTENDED": "0"} if why == "headless" else {}
    variables |= {"RECOLLECT_MEMORY_ANCHORS_ENABLED": "false"} if why == "off" else {}
    done = session.stops({**SELDOM, **variables}, **fields)
    assert (done.returncode, done.stdout) == (0, "")


# Where it is counted


def test_status_doctor_and_check_count_in_one_line_and_check_does_not_fail(repository: World, day: str) -> None:
    assert day
    before = repository.run("check")
    commit(repository, "x = 2\n", "Change it")
    assert "Stale" in repository.run("status").stdout
    assert json.loads(repository.run("status", "--json").stdout)["knowledge"]["stale"] == 1
    assert "1 entry with files that changed since" in repository.run("doctor", "--only", "stale").stdout
    checked = repository.run("check")
    assert (checked.returncode, before.returncode) == (0, 0)
    assert "1 memory has files that changed since" in checked.stderr
    assert "changed since" not in before.stderr


def test_slash_command_prints_what_is_stale_without_a_model(repository: World, day: str) -> None:
    commit(repository, "x = 2\n", "Change it")
    event = {"hook_event_name": "UserPromptExpansion", "command_name": "memory:stale", "command_args": ""}
    done = repository.run_hook("prompt", {**event, "session_id": "s-1", "cwd": str(repository.project)})
    said = json.loads(done.stdout)
    assert said["decision"] == "block"
    assert f"src/pay.py changed since {day} (1 commit)" in said["reason"]
