"""Where the resident engine listens, and to whom: in the user's own runtime folder, and to nobody else."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import NOBODY, PATIENCE, World, until
from tests.integration.test_resident import (
    MEANT,
    WORDED,
    Serve,
    log,
    prompt,
    ready,
    remember,
    serving,
    start,
    status,
)

from recollect.resident import client as resident
from recollect.version import VERSION

# Asks as the user whose number it is given, and says what it was answered.
ASK = """
import os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(60)
if int(sys.argv[1]) != os.getuid():
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
connection.connect(sys.argv[2])
print("connected", flush=True)
try:
    connection.sendall(sys.argv[3].encode() + b"\\n")
    print(connection.makefile(encoding="utf-8").readline(), end="")
except (BrokenPipeError, ConnectionResetError):
    pass
"""


@pytest.fixture
def serve(semantic_world: World) -> Iterator[Serve]:
    yield from serving(semantic_world)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folder for runtime files, with a path that is short enough for a socket anywhere."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))  # for whoever asks from here
    yield folder
    shutil.rmtree(folder)


def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be another user for a moment")


def place(world: World) -> Path:
    """Where an engine listens that has the runtime folder."""
    return Path(next(resident.folders(str(world.store))))


def mode(path: Path) -> str:
    return oct(path.stat().st_mode)[-3:]


def test_an_engine_listens_in_the_runtime_folder_and_leaves_nothing_there(
    semantic_world: World, serve: Serve, runtime: Path
) -> None:
    remember(semantic_world)
    there = {"XDG_RUNTIME_DIR": str(runtime)}
    server = serve(**there)
    ready(semantic_world, server)
    folder = place(semantic_world)
    assert folder.parent == runtime / "recollect"
    assert [mode(path) for path in (folder.parent, folder, folder / "engine")] == ["700", "700", "600"]
    assert not os.path.exists(list(resident.folders(str(semantic_world.store)))[-1])
    assert prompt(semantic_world, MEANT, "elsewhere", XDG_RUNTIME_DIR="") == "", "there is no engine anywhere else"
    assert "Bill a card once" in prompt(semantic_world, MEANT, **there)
    assert "Heuristic: Lesson" in start(semantic_world, "s2", **there)
    assert status(semantic_world)["answered"] >= 2
    server.leave()
    assert list(runtime.iterdir()) == []
    assert log(semantic_world) == ""


def test_a_user_who_gets_as_far_as_the_socket_is_not_answered(
    semantic_world: World, serve: Serve, runtime: Path
) -> None:
    needs_root()
    serve(XDG_RUNTIME_DIR=str(runtime))
    until(lambda: status(semantic_world))
    folder = place(semantic_world)
    for path in (runtime, folder.parent, folder):
        path.chmod(0o711)
    (folder / "engine").chmod(0o666)
    question = {"version": VERSION, "kind": "status", "until": time.monotonic() + 60}

    def answer(user: int) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", ASK, str(user), str(folder / "engine"), json.dumps(question)],
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout.splitlines()

    assert answer(NOBODY) == ["connected"]
    mine = answer(os.getuid())
    assert mine[0] == "connected"
    assert json.loads(mine[1])["entries"] == 0


def test_an_engine_in_a_folder_of_another_user_is_neither_asked_nor_made(
    semantic_world: World, serve: Serve, runtime: Path
) -> None:
    needs_root()
    remember(semantic_world)
    there = {"XDG_RUNTIME_DIR": str(runtime)}
    folder = place(semantic_world)
    folder.parent.mkdir(mode=0o700)
    folder.mkdir(mode=0o700)
    os.chown(folder, NOBODY, NOBODY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "engine"))
        (folder / "engine").chmod(0o600)
        listener.listen(8)
        listener.setblocking(False)
        assert "Bill a card once" in prompt(semantic_world, WORDED, **there)
        assert f"{folder}/engine can be used by others, so it is not asked" in log(semantic_world)
        with pytest.raises(BlockingIOError):
            listener.accept()
        serve(**there)
        until(lambda: os.path.exists(resident.socket_in(list(resident.folders(str(semantic_world.store)))[-1])))
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_what_belongs_to_another_user_is_not_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    assert resident.is_private(str(tmp_path))
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert not resident.is_private(str(tmp_path))
