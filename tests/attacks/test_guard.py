"""What file tools may not write, by whatever name; and that a check never moves what it could not judge."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World, run_without_rights

from recollect.errors import StorageError
from recollect.files import aside
from recollect.hooks.write_guard import TOOLS

PLUGIN = Path(__file__).parents[2] / "plugin"


def told_after(world: World, path: Path | str) -> str:
    """Tell the check that a tool has written a file; what the model is told."""
    done = world.run_hook("write-check", event(world, path))
    assert done.returncode == 0
    return json.loads(done.stdout)["reason"] if done.stdout else ""


def event(world: World, path: Path | str, tool: str = "Write") -> dict[str, Any]:
    return {"cwd": str(world.project), "tool_name": tool, "tool_input": {"file_path": str(path)}}


def put_aside(path: Path) -> list[Path]:
    return list(path.parent.glob("*.invalid.*"))


def broken(world: World) -> Path:
    path = world.write_decision("broken")
    path.write_text("{", encoding="utf-8")
    return path


def test_a_memory_that_is_being_written_is_not_put_aside(world: World) -> None:
    path = broken(world)
    with path.open("a", encoding="utf-8"):
        assert "is being written at this moment" in told_after(world, path)
        assert path.read_text(encoding="utf-8") == "{"
    assert put_aside(path) == []
    assert "is no valid memory" in told_after(world, path)
    assert len(put_aside(path)) == 1, "once it is written, it is judged"


def test_a_memory_that_nobody_may_read_is_not_put_aside() -> None:
    base = Path(tempfile.mkdtemp(prefix="recollect-"))  # which others may enter, unlike those of the tests
    base.chmod(0o755)
    world = World(base, base / "shop-front", base / "store")
    path = broken(world)
    path.chmod(0)
    done = run_without_rights(
        ("hook", "write-check"),
        [base],
        cwd=world.project,
        environment=world.environment({}),
        stdin=json.dumps(event(world, path)),
    )
    assert "Permission denied" in json.loads(done.stdout)["reason"]
    assert (path.exists(), put_aside(path)) == (True, [])
    shutil.rmtree(base)


def test_a_memory_that_changes_while_it_is_checked_is_not_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{", encoding="utf-8")
    read = aside.read_whole(str(path), 100)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(StorageError, match="has changed"):
        read.put_aside()
    assert [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()] == ["{}"]


def refused(world: World, path: Path | str, **variables: str) -> str:
    """Ask the guard whether a tool may write a file; why not, or nothing if it may."""
    done = world.run_hook("write-guard", event(world, path), **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"] if done.stdout else ""


def test_file_tools_write_no_settings_in_either_file(world: World) -> None:
    for path in (
        ".claude/iflow-dev.local.md",
        ".claude/memory/memory-config.json",
        "~/other/.claude/iflow-dev.local.md",
    ):
        assert "`recollect config set KEY VALUE`" in refused(world, path)


def test_settings_that_were_written_past_the_guard_are_checked(world: World) -> None:
    path = world.write_local_settings("memory_injection_limit: many\n")
    assert "`recollect config set KEY VALUE`" in told_after(world, path)


def test_file_tools_write_no_flag_of_a_held_stop(world: World) -> None:
    assert "flag of a held stop" in refused(world, ".claude/.stop_hook_active")
    (world.project / ".claude").mkdir()
    (world.project / ".claude" / ".stop_hook_active").touch()
    assert "It may be removed" in told_after(world, ".claude/.stop_hook_active")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "recollect.log",
            "recollect.log.1",
            ".told",
            ".last-injection.json",
            ".lock",
            ".sessions/s1",
            "memory.db-wal",
        ),
        *("session-captures.jsonl", "promotions.json", "trusted-repositories", "anything/at/all.txt"),
    ],
)
def test_file_tools_write_nothing_in_the_global_store_but_banks(world: World, name: str) -> None:
    assert "only recollect writes" in refused(world, world.store / name)
    assert refused(world, world.store / "patterns.md") == ""


def test_file_tools_do_not_choose_the_code_that_hooks_run(world: World) -> None:
    usual = world.home / ".claude" / "plugins" / "data"
    for data in (usual / "memory-recollect", usual / "memory-inline", world.home / "told"):
        for name in ("interpreter", "environments/1/lib/python3.11/site-packages/click/__init__.py", "build.lock"):
            assert "what code its hooks run" in refused(world, data / name, CLAUDE_PLUGIN_DATA=str(world.home / "told"))
    assert "undo the change" in told_after(world, usual / "memory-inline" / "interpreter")


def test_file_tools_reach_nothing_by_a_hard_link(world: World) -> None:
    (world.project / ".git").mkdir()
    world.store.mkdir()
    kept = [
        world.write_decision("use-sqlite"),
        world.write_local_settings("yolo_mode: true\n"),
        world.project / ".claude" / "memory" / "index.md",
        world.project / ".claude" / "memory" / "memory-config.json",
        world.project / ".claude" / ".stop_hook_active",
        world.store / "memory.db",
        world.store / "recollect.log",
        world.home / ".claude" / "plugins" / "data" / "memory-recollect" / "interpreter",
    ]
    for number, path in enumerate(kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.link(path, world.project / f"{number}.txt")
        assert refused(world, f"{number}.txt"), path
    os.link(world.project / "0.txt", world.home / "far-away.txt")
    assert refused(world, world.home / "far-away.txt")
    (world.project / "free.txt").touch()
    os.link(world.project / "free.txt", world.project / "free too.txt")
    assert refused(world, "free.txt") == ""


def test_every_file_tool_of_the_client_is_asked_about() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    for event_name in ("PreToolUse", "PostToolUse"):
        [group] = [group for group in hooks[event_name] if group["hooks"][0]["args"][1].startswith("write-")]
        assert tuple(group["matcher"].split("|")) == TOOLS
