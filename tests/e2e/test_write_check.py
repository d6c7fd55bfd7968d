from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SOURCE, World, link_worktree

# As the client sends it, but for the paths.
EVENT: dict[str, Any] = {
    "session_id": "b0596af1-a467-4d9d-a783-8c599a6ba37b",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-project/b0596af1-a467-4d9d-a783-8c599a6ba37b.jsonl",
    "cwd": "/home/dev/project",
    "prompt_id": "8792c5a7-9ae4-4543-9f32-4b7d77b6943b",
    "permission_mode": "bypassPermissions",
    "effort": {"level": "medium"},
    "hook_event_name": "PostToolUse",
    "tool_name": "Write",
    "tool_use_id": "toolu_ed950dba58dc4605b1de4ff5",
    "duration_ms": 29,
}


def event(world: World, path: Path | str, tool: str = "Write") -> dict[str, Any]:
    response = {"type": "create", "filePath": str(path), "content": "x", "structuredPatch": [], "originalFile": None}
    asked = {"file_path": str(path), "content": "x"}
    return {**EVENT, "cwd": str(world.project), "tool_name": tool, "tool_input": asked, "tool_response": response}


def check(world: World, path: Path | str, tool: str = "Write") -> tuple[str, str]:
    """What the model is told of a file that was written, and what the user is warned of."""
    return heard(world.run_hook("write-check", event(world, path, tool)))


def heard(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    assert done.returncode == 0
    if not done.stdout:
        return "", done.stderr
    answer = json.loads(done.stdout)
    assert answer["decision"] == "block"
    assert answer["hookSpecificOutput"] == {
        "hookEventName": "PostToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": answer["reason"],
    }
    assert len(answer["reason"]) < 9500
    return answer["reason"], done.stderr


def log_of(world: World) -> str:
    path = world.store / "recollect.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.invalid.*"))


def write(world: World, name: str, text: str) -> Path:
    path = world.project / ".claude" / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["src/main.py", ".claude/settings.json", "decisions/x.json"])
def test_file_elsewhere_is_passed_over_in_silence(world: World, name: str) -> None:
    path = world.project / name
    path.parent.mkdir(parents=True)
    path.write_text("{", encoding="utf-8")
    assert check(world, path) == ("", "")
    assert path.exists()
    assert not world.store.exists()


def test_valid_memory_is_warned_of_and_found_by_index_and_search(semantic_world: World) -> None:
    world = semantic_world
    path = world.write_decision("use-sqlite", title="Use SQLite for the order book")
    told, warned = check(world, path)
    assert told == ""
    assert warned == f"WARNING: {path} was written past the memory guard; it is a valid memory\n"
    assert "write-check: " in log_of(world)
    assert "Use SQLite for the order book" in (path.parents[1] / "index.md").read_text(encoding="utf-8")
    assert (world.store / "memory.db").exists()
    assert "use-sqlite" in world.run("search", "SQLite order book").stdout


def test_memory_that_an_edit_has_broken_is_put_aside_and_no_longer_found(semantic_world: World) -> None:
    world = semantic_world
    path = world.write_decision("use-sqlite", title="Use SQLite for the order book")
    assert check(world, path)[0] == ""
    path.write_text(path.read_text(encoding="utf-8").replace('"accepted"', '"perhaps"'), encoding="utf-8")
    told, warned = check(world, path, "Edit")
    (kept,) = aside(path)
    assert not path.exists()
    assert "perhaps" in kept.read_text(encoding="utf-8")
    assert kept.name.removeprefix("use-sqlite.json.invalid.").isdecimal()
    assert "content.status" in told
    assert str(kept) in told
    assert "`recollect write --action create --category decision --input FILE`" in told
    assert warned.startswith(f"WARNING: {path} was written past the memory guard")
    assert "SQLite" not in (path.parents[1] / "index.md").read_text(encoding="utf-8")
    assert "use-sqlite" not in world.run("search", "SQLite order book").stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
        ("[]", "holds no JSON object"),
        ('{"title": "T"}', "field schema_version"),
        ('{"category": "runbook"}', "field category"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 50 + "1" + "}" * 50, "nested more than"),
        ('{"a": NaN}', "not valid JSON"),
    ],
)
def test_file_that_is_no_memory_is_put_aside_with_its_reason(world: World, text: str, reason: str) -> None:
    path = write(world, "decisions/use-sqlite.json", text)
    told, _ = check(world, path)
    assert reason in told
    assert not path.exists()
    assert [kept.read_text(encoding="utf-8") for kept in aside(path)] == [text]


def test_file_that_is_larger_than_any_memory_is_told_of_and_left(world: World) -> None:
    path = write(world, "decisions/use-sqlite.json", " " * (5 * 1024 * 1024))
    assert "is larger than 4,096 KiB" in check(world, path)[0]
    assert (path.exists(), aside(path)) == (True, [])


def test_what_is_put_aside_never_replaces_what_was_put_aside_before(world: World) -> None:
    path = write(world, "decisions/use-sqlite.json", "new")
    now = int(time.time())
    for second in range(now, now + 100):
        path.with_name(f"{path.name}.invalid.{second}").write_text("old", encoding="utf-8")
    told, _ = check(world, path)
    (new,) = [kept for kept in aside(path) if kept.read_text(encoding="utf-8") == "new"]
    assert str(new) in told
    assert len(aside(path)) == 101


def test_memory_with_a_credential_is_put_aside_and_the_log_does_not_repeat_it(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    path = world.write_decision("use-token", token=secret)
    told, warned = check(world, path)
    assert "no credentials in memories" in told
    assert len(aside(path)) == 1
    assert secret not in warned + log_of(world)


def test_memory_in_the_folder_of_no_category_is_judged_by_its_field(world: World) -> None:
    record = world.write_decision("use-sqlite").read_text(encoding="utf-8")
    path = write(world, "misc/use-sqlite.json", record)
    told, _ = check(world, path)
    assert "is a valid memory, but is not found there" in told
    assert path.exists()
    nameless = write(world, "misc/other.json", record.replace('"decision"', '"idea"'))
    assert "in the folder of no category" in check(world, nameless)[0]
    assert not nameless.exists()


def test_memory_with_a_name_that_none_has_is_told_of(world: World) -> None:
    record = world.write_decision("use-sqlite").read_text(encoding="utf-8")
    path = write(world, "decisions/Use SQLite.json", record)
    assert "is not found there" in check(world, path)[0]
    assert path.exists()


def test_file_that_is_not_json_is_told_of_and_left(world: World) -> None:
    path = write(world, "decisions/notes.txt", "x")
    assert "is no memory" in check(world, path)[0]
    assert path.exists()


def test_index_that_was_written_is_made_again(world: World) -> None:
    world.write_decision("use-sqlite", title="Use SQLite")
    path = write(
        world, "index.md", "# Memory Index\n\n- [DECISION] Forged -> .claude/memory/decisions/use-sqlite.json\n"
    )
    assert "is made again" in check(world, path)[0]
    text = path.read_text(encoding="utf-8")
    assert "Use SQLite" in text
    assert "Forged" not in text


def test_settings_are_told_of_only_when_something_is_wrong_and_never_moved(world: World) -> None:
    path = write(world, "memory-config.json", '{"retrieval": {"max_inject": 3}}')
    told, warned = check(world, path)
    assert (told, warned) == ("", f"WARNING: {path} was written past the memory guard\n")
    write(world, "memory-config.json", '{"retrieval": {"max_inject": "many"}}')
    assert "retrieval.max_inject must be" in check(world, path)[0]
    write(world, "memory-config.json", "{")
    assert "is not valid JSON" in check(world, path)[0]
    assert path.read_text(encoding="utf-8") == "{"


def test_own_file_of_the_store_is_told_of_and_left(world: World) -> None:
    world.store.mkdir()
    path = world.store / "memory.db"
    path.write_text("x", encoding="utf-8")
    assert "`recollect rebuild`" in check(world, path)[0]
    assert path.read_text(encoding="utf-8") == "x"


def test_link_out_of_the_memory_folder_is_not_followed(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.json").write_text("no JSON", encoding="utf-8")
    folder = world.project / ".claude" / "memory"
    folder.mkdir(parents=True)
    (folder / "decisions").symlink_to(outside)
    (folder / "x.json").symlink_to(outside / "x.json")
    for path in (folder / "decisions" / "x.json", folder / "x.json"):
        assert "leads out of the memory folder" in check(world, path)[0]
    assert os.listdir(outside) == ["x.json"]
    assert sorted(os.listdir(folder)) == ["decisions", "x.json"]


def test_link_into_the_memory_folder_puts_the_memory_aside_and_not_the_link(world: World) -> None:
    path = write(world, "decisions/x.json", "no JSON")
    (world.project / "link.json").symlink_to(path)
    check(world, world.project / "link.json")
    assert len(aside(path)) == 1
    assert (world.project / "link.json").is_symlink()


def test_file_that_is_gone_again_is_only_warned_of(world: World) -> None:
    told, warned = check(world, world.project / ".claude" / "memory" / "decisions" / "x.json")
    assert told == ""
    assert "and is gone" in warned


def test_pipe_in_place_of_a_memory_is_not_waited_for(world: World) -> None:
    folder = world.project / ".claude" / "memory" / "decisions"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "x.json")
    assert "is not a regular file" in check(world, folder / "x.json")[0]


def test_folder_in_place_of_a_memory_is_told_of_and_left(world: World) -> None:
    folder = world.project / ".claude" / "memory" / "decisions"
    (folder / "x.json").mkdir(parents=True)
    told, warned = check(world, folder / "x.json")
    assert "is not a regular file" in told
    assert "could not be checked" in warned
    assert (os.listdir(folder), aside(folder / "x.json")) == (["x.json"], [])


def test_path_that_only_the_response_names_is_checked(world: World) -> None:
    path = write(world, "decisions/x.json", "no JSON")
    told = event(world, path)
    told["tool_input"]["file_path"] = "elsewhere.json"
    assert "is no valid memory" in heard(world.run_hook("write-check", told))[0]


def test_copy_of_the_memory_folder_in_a_worktree_that_shares_memories_is_told_not_to_be_read(world: World) -> None:
    tree = link_worktree(world.project, world.home / "side")
    copy = tree / ".claude" / "memory" / "decisions" / "use-sqlite.json"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(world.write_decision("use-sqlite").read_bytes())
    told = {**event(world, ".claude/memory/decisions/use-sqlite.json"), "cwd": str(tree)}
    shared = heard(world.run_hook("write-check", told, RECOLLECT_WORKTREE_MEMORIES="shared"))[0]
    assert str(world.project / ".claude" / "memory" / "decisions") in shared
    assert heard(world.run_hook("write-check", told))[0] == ""
    assert copy.exists()


def test_memory_below_a_chosen_root_is_checked_by_its_folder(world: World) -> None:
    (world.project / ".git").mkdir()
    world.write_local_settings("memory_root: docs/notes\n")
    path = world.project / "docs" / "notes" / "decisions" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"category": "decision"}', encoding="utf-8")
    assert "field title" in check(world, path)[0]
    assert len(aside(path)) == 1


@pytest.mark.parametrize("stdin", ["", "{", "[]", '{"tool_input": 7}', '{"tool_input": {"file_path": 7}}', "\0"])
def test_what_is_no_event_is_passed_over(world: World, stdin: str) -> None:
    assert heard(world.run_hook("write-check", stdin))[0] == ""


# An interpreter in which the packages of the schemas are not installed, as on the first start after an installation.
WITHOUT_PACKAGES = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from recollect.hooks.run import run
code = run(sys.argv[1:])
assert "pydantic" not in sys.modules
sys.exit(code)
"""


def check_without_packages(world: World, told: Mapping[str, Any]) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WITHOUT_PACKAGES, SOURCE, "write-check"],
        input=json.dumps(told),
        env={"HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        cwd=world.project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return heard(done)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"tags": []}, "field tags must be a list with at least one tag"),
        ({"tags": "storage"}, "field tags must be a list"),
        ({"content": "text"}, "field content must be an object"),
        ({"category": "runbook"}, "field category must be decision"),
    ],
)
def test_memory_is_checked_without_any_package(world: World, fields: dict[str, Any], reason: str) -> None:
    path = world.write_decision("use-sqlite", **fields)
    assert reason in check_without_packages(world, event(world, path))[0]
    assert len(aside(path)) == 1


def test_missing_fields_are_named_without_any_package(world: World) -> None:
    path = write(world, "decisions/x.json", '{"title": "T"}')
    told, _ = check_without_packages(world, event(world, path))
    for field in ("schema_version", "category", "id", "created_at", "updated_at", "tags", "content"):
        assert f"field {field} is missing" in told
    assert "field title" not in told


def test_valid_memory_is_in_the_index_without_any_package(world: World) -> None:
    path = world.write_decision("use-sqlite", title="Use SQLite")
    assert check_without_packages(world, event(world, path))[0] == ""
    assert "Use SQLite" in (path.parents[1] / "index.md").read_text(encoding="utf-8")
