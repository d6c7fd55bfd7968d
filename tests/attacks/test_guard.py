"""What file tools may not write, by whatever name; and that a check never moves what it could not judge."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World, run_without_rights

from recollect.errors import StorageError
from recollect.files import aside


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
