"""The resident engine: hooks are answered by the MCP server that is already there, and do without it when it is not."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.chance import again
from tests.conftest import BARE_ENTRY, PATIENCE, World, until

from recollect.api import Engine
from recollect.config.settings import load_settings
from recollect.resident import client as resident
from recollect.version import VERSION

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
# What the question is about shares no word with it: only its meaning can tell.
LESSON = """### Heuristic: Bill a card once however often the request is sent
A payment that is repeated after a timeout charges the customer twice.
"""
MEANT = "why did somebody pay two times for one order?"
WORDED = "do we bill a card again when the payment request is repeated after a timeout?"


# A busy machine must not decide who answers; what decides here is whether there is an engine that can.
PATIENT = {"RECOLLECT_ENGINE_WAIT": "20000"}


class Server:
    """An MCP server, with a client that has said hello."""

    def __init__(self, world: World, **variables: str) -> None:
        self.world = world
        self.process = world.start("mcp", stderr=subprocess.DEVNULL, **variables)
        self.says(INITIALIZE)
        self.hears()
        self.says({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def says(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hears(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        self.says({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        return self.hears()["result"]

    def kill(self) -> None:
        self.process.kill()
        with self.process:
            pass  # its pipes are closed, and it is waited for

    def leave(self) -> None:
        """Close the pipe, as a client does that ends."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(PATIENCE)


Serve = Callable[..., Server]


def serving(world: World) -> Iterator[Serve]:
    """What starts servers in a world; none outlives the test."""
    started: list[Server] = []

    def start(world: World = world, **variables: str) -> Server:
        started.append(Server(world, **variables))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def serve(semantic_world: World) -> Iterator[Serve]:
    yield from serving(semantic_world)


def status(world: World) -> dict[str, Any]:
    """What the engine says of itself; nothing if there is none."""
    home = os.environ["HOME"]
    os.environ["HOME"] = str(world.home)
    try:
        return resident.ask(str(world.store), "status", {}, 60.0)
    except resident.Unanswered:
        return {}
    finally:
        os.environ["HOME"] = home


def ready(world: World, server: Server) -> dict[str, Any]:
    """Wait until a server is the engine, and has its model."""

    def is_ready() -> dict[str, Any]:
        said = status(world)
        return said if said.get("pid") == server.process.pid and said.get("model") else {}

    return until(is_ready)


def prompt(world: World, text: str, session: str = "s1", **variables: str) -> str:
    """What a prompt is given."""
    event = {"prompt": text, "session_id": session, "cwd": str(world.project)}
    done = world.run_hook("prompt", event, **{**PATIENT, **variables})
    assert done.returncode == 0
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def start(world: World, session: str, **variables: str) -> str:
    event = {"source": "startup", "session_id": session, "cwd": str(world.project)}
    done = world.run_hook("session-start", event, **{**PATIENT, **variables})
    assert done.returncode == 0
    return done.stdout


def log(world: World) -> str:
    path = world.store / "recollect.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def folder_of(world: World) -> Path:
    return Path(list(resident.folders(str(world.store)))[-1])


def remember(world: World, text: str = LESSON) -> None:
    """Have something to be found, with its vector, and enough beside it to tell what is usual."""
    others = "".join(
        f"### Heuristic: Lesson {number} of the {word} team\nThe {word} was late once, so they plan {number} more.\n"
        for number, word in enumerate("bakery garden choir theatre library orchard harbour museum".split() * 5)
    )
    world.write_bank("heuristics", text + others, shared=True)
    assert world.run("reembed").returncode == 0


# Answers


def test_a_prompt_finds_by_its_meaning_what_shares_no_word_with_it(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    assert prompt(semantic_world, MEANT, "alone") == ""
    ready(semantic_world, serve())
    assert "Bill a card once" in prompt(semantic_world, MEANT)
    assert status(semantic_world)["answered"] >= 1
    assert log(semantic_world) == ""


def test_what_was_stored_a_moment_ago_is_found_by_the_next_prompt(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert prompt(semantic_world, "how do we rotate the signing certificates of the kiosk terminals?") == ""
    entry = {
        "category": "patterns",
        "name": "Kiosk terminals take signing certificates from the depot",
        "description": "Rotate the signing certificates of the kiosk terminals in the depot, never over the air.",
        "reasoning": "One was bricked.",
    }
    assert semantic_world.run("upsert", "--entry-json", json.dumps(entry)).returncode == 0
    found = prompt(semantic_world, "how do we rotate the signing certificates of the kiosk terminals?")
    assert "take signing certificates from the depot" in found
    path = semantic_world.write_decision(
        "kiosk-font",
        title="Kiosk terminals use the bitmap font",
        content={
            "status": "accepted",
            "context": "kiosk terminals are slow",
            "decision": "use the bitmap font on kiosk terminals",
            "rationale": ["speed"],
        },
    )
    found = prompt(semantic_world, "which bitmap font do kiosk terminals use, and why that one?")
    assert "use the bitmap font" in found
    path.unlink()
    assert "use the bitmap font" not in prompt(semantic_world, "which bitmap font do kiosk terminals use?", "s2")


def test_nothing_is_given_to_a_session_twice(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert "Bill a card once" in prompt(semantic_world, WORDED)
    assert prompt(semantic_world, WORDED) == ""
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s2")


def test_two_prompts_of_a_session_at_the_same_moment_are_not_given_the_same(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    with ThreadPoolExecutor(6) as hooks:
        for session in ("s1", "s2", "s3"):
            given = list(hooks.map(lambda _, session=session: prompt(semantic_world, WORDED, session), range(6)))
            assert sum("Bill a card once" in block for block in given) == 1, session


def test_a_session_starts_with_the_same_block_with_and_without_an_engine(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    feature = semantic_world.project / "docs" / "features" / "001-billing"
    feature.mkdir(parents=True)
    (feature / ".meta.json").write_text('{"status": "active", "slug": "payment-timeout"}', encoding="utf-8")
    semantic_world.write_decision("cards", title="Cards are billed once a day")
    start(semantic_world, "first")  # its question is kept from now on
    alone = start(semantic_world, "alone")
    assert "] Cards are billed once a day" in alone
    ready(semantic_world, serve())
    answered = until(lambda: status(semantic_world))["answered"]
    by_engine = start(semantic_world, "engine")
    assert json.loads(by_engine)["hookSpecificOutput"] == json.loads(alone)["hookSpecificOutput"]
    assert "payment-timeout" in by_engine
    assert status(semantic_world)["answered"] > answered
    record = until(lambda: _lines(semantic_world.store / ".sessions" / "engine"))
    assert sorted(record) == sorted(_lines(semantic_world.store / ".sessions" / "alone"))
    with Engine(str(semantic_world.store), load_settings(str(semantic_world.project), {})) as engine:
        assert [receipt.session for receipt in engine.store.receipts(2)] == ["engine", "alone"]


def test_engine_gives_nothing_that_is_muted_and_records_the_parts_of_scores(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert "Bill a card once" in prompt(semantic_world, MEANT, "s1")

    def given() -> list[dict[str, Any]]:
        return json.loads(semantic_world.run("log", "--json").stdout)["given"]

    [kept] = until(given)
    [entry] = kept["entries"]
    assert (kept["session"], entry["title"].startswith("Bill a card once")) == ("s1", True)
    assert entry["meaning"] > 0
    assert entry["score"] == pytest.approx(entry["words"] + entry["meaning"] - entry["bar"], abs=0.01)
    assert semantic_world.run("mute", entry["id"]).returncode == 0
    assert prompt(semantic_world, MEANT, "s2") == ""
    assert "Bill a card once" not in start(semantic_world, "s3")
    assert semantic_world.run("unmute", entry["id"]).returncode == 0
    assert semantic_world.run("pin", entry["id"]).returncode == 0
    assert "### Pinned in This Project\\n### " in start(semantic_world, "s4")


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    given = [line for line in lines if line.startswith("+")]
    words = [mark for line in lines if line.startswith("*") for mark in line[1:].split()]
    return given + sorted(words) if words else []


def test_the_settings_of_whoever_asks_count(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert prompt(semantic_world, WORDED, RECOLLECT_RETRIEVAL_ENABLED="false") == ""
    assert start(semantic_world, "s3", RECOLLECT_MEMORY_INJECTION_ENABLED="false") == ""
    semantic_world.write_local_settings("memory_injection_limit: 1\n")
    assert "Memory: 1 entries" in start(semantic_world, "s4")


def test_a_store_that_is_made_again_is_followed(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s1")
    assert semantic_world.run("rebuild").returncode == 0
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s2")
    for path in semantic_world.store.glob("memory.db*"):
        path.unlink()
    prompt(semantic_world, WORDED, "s3")
    assert until(lambda: "Bill a card once" in prompt(semantic_world, WORDED, f"again-{again()}"))


# Who is the engine


def test_the_socket_is_the_users_alone(semantic_world: World, serve: Serve) -> None:
    serve()
    until(lambda: status(semantic_world))
    folder = folder_of(semantic_world)
    assert oct(folder.parent.stat().st_mode)[-3:] == "700"
    assert oct(folder.stat().st_mode)[-3:] == "700"
    assert oct((folder / "engine").stat().st_mode)[-3:] == "600"
    assert [path.name for path in folder.iterdir()] == ["engine"]


def test_nothing_is_left_when_the_last_client_has_gone(semantic_world: World, serve: Serve) -> None:
    first, second = serve(), serve()
    until(lambda: status(semantic_world))
    first.leave()
    until(lambda: status(semantic_world).get("pid") == second.process.pid)
    second.leave()
    assert not folder_of(semantic_world).exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_that_is_told_to_end_leaves_nothing(semantic_world: World, serve: Serve, how: int) -> None:
    server = serve()
    until(lambda: status(semantic_world))
    server.process.send_signal(how)
    server.process.wait(PATIENCE)
    assert not folder_of(semantic_world).exists()


def test_a_stand_by_takes_over_from_an_engine_that_was_killed(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    first = serve()
    ready(semantic_world, first)
    second, third = serve(), serve()
    first.kill()
    assert "Bill a card once" in prompt(semantic_world, WORDED, "at once")
    pids = {second.process.pid, third.process.pid}
    until(lambda: status(semantic_world).get("pid") in pids)
    leader = second if status(semantic_world)["pid"] == second.process.pid else third
    ready(semantic_world, leader)
    assert "Bill a card once" in prompt(semantic_world, MEANT, "later")
    leader.kill()
    last = ({second, third} - {leader}).pop()
    ready(semantic_world, last)
    assert "Bill a card once" in prompt(semantic_world, MEANT, "last")
    assert semantic_world.run("search", "payment").returncode == 0


def test_what_a_killed_engine_has_left_goes_with_the_next_hook(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    server = serve()
    ready(semantic_world, server)
    server.kill()
    assert (folder_of(semantic_world) / "engine").exists()
    assert "Bill a card once" in prompt(semantic_world, WORDED)
    assert not folder_of(semantic_world).exists()
    assert log(semantic_world) == ""


def test_a_server_that_stands_by_has_no_model_of_its_own(semantic_world: World, serve: Serve) -> None:
    if not Path("/proc/self/maps").exists():
        pytest.skip("only Linux shows what a process has loaded")
    remember(semantic_world)
    ready(semantic_world, serve())
    second = serve(replace(semantic_world, forked=False))  # a fork has the model of its server
    found = second.call("search_memory", query=MEANT)
    assert "Bill a card once" in found["content"][0]["text"]
    assert "being loaded" not in found["content"][0]["text"]
    maps = Path(f"/proc/{second.process.pid}/maps").read_text(encoding="utf-8")
    assert "onnxruntime" not in maps


def test_two_stores_have_two_engines(semantic_world: World, serve: Serve, tmp_path: Path) -> None:
    other = World(semantic_world.home, semantic_world.project, tmp_path / "other", semantic=True)
    first, second = serve(), serve(other)
    until(lambda: status(semantic_world).get("pid") == first.process.pid)
    until(lambda: status(other).get("pid") == second.process.pid)


# When it does not answer


class Fake:
    """Something else that listens where the engine should."""

    def __init__(self, world: World, says: bytes | None) -> None:
        folder = folder_of(world)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # or the resident of a test beside this one removes it as abandoned
        self.heard: list[bytes] = []
        self.used: list[bytes] = []
        self._says = says
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(folder / "engine"))
        (folder / "engine").chmod(0o600)
        self._listener.listen(8)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                self.heard.append(connection.recv(1 << 20))
                if self._says is not None:
                    connection.sendall(self._says)
                self.used.append(connection.recv(100))

    def close(self) -> None:
        self._listener.close()
        os.close(self._lock)


@pytest.fixture
def fake(semantic_world: World) -> Iterator[Callable[[bytes | None], Fake]]:
    made: list[Fake] = []

    def make(says: bytes | None) -> Fake:
        made.append(Fake(semantic_world, says))
        return made[-1]

    yield make
    for one in made:
        one.close()
    shutil.rmtree(folder_of(semantic_world), ignore_errors=True)


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (b'{"version": "0.0.1", "text": "from another version"}\n', "of another version"),
        (b'{"text": "from none"}\n', "of another version"),
        (b"[1]\n", "of another version"),
        (b"no json at all\n", "no JSON"),
        (b"x" * (3 << 20), "said too much"),
        (json.dumps({"version": VERSION, "refused": "not today"}).encode() + b"\n", "not today"),
        (b"", "took too long"),
        (None, "took too long"),
    ],
)
def test_a_hook_does_without_an_engine_that_has_no_answer(
    semantic_world: World, fake: Callable[[bytes | None], Fake], says: bytes | None, reason: str
) -> None:
    remember(semantic_world)
    other = fake(says)
    wait = "20000" if says else "500"  # a busy machine must not decide why
    assert "Bill a card once" in prompt(semantic_world, WORDED, RECOLLECT_ENGINE_WAIT=wait)
    assert reason in log(semantic_world)
    assert "without-resident: prompt:" in log(semantic_world)
    assert other.used != [resident.USED]
    assert "Bill a card once" in start(semantic_world, "s9", RECOLLECT_ENGINE_WAIT="100")


def test_an_engine_that_others_could_reach_is_not_asked(
    semantic_world: World, fake: Callable[[bytes | None], Fake]
) -> None:
    remember(semantic_world)
    says = json.dumps({"version": VERSION, "text": "planted"}).encode() + b"\n"
    other = fake(says)
    folder_of(semantic_world).chmod(0o755)
    assert "planted" not in prompt(semantic_world, WORDED)
    assert "can be used by others" in log(semantic_world)
    folder_of(semantic_world).chmod(0o700)
    (folder_of(semantic_world) / "engine").chmod(0o666)
    assert "planted" not in prompt(semantic_world, WORDED, "s2")
    assert other.heard == []


def test_a_folder_of_somebody_else_is_not_listened_in(semantic_world: World, serve: Serve) -> None:
    folder = folder_of(semantic_world)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    try:
        server = serve()
        until(lambda: "it cannot listen" in log(semantic_world))
        assert not server.call("search_memory", query="anything").get("isError")
    finally:
        folder.rmdir()


def test_a_prompt_too_long_for_the_engine_is_answered_without_it(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert "Bill a card once" in prompt(semantic_world, WORDED + "\n" + "x y z " * 400_000)
    assert "too long for the resident" in log(semantic_world)


def test_an_engine_of_another_home_is_not_used(semantic_world: World, serve: Serve, tmp_path: Path) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    (tmp_path / "elsewhere").mkdir()
    assert "Bill a card once" in prompt(semantic_world, WORDED, HOME=str(tmp_path / "elsewhere"))
    assert "another home" in log(semantic_world)


def test_what_was_not_used_does_not_count_as_given(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    question = {
        "version": VERSION,
        "kind": "prompt",
        "until": time.monotonic() + 60,
        "store": str(semantic_world.store),
        "home": str(semantic_world.home),
        "prompt": WORDED,
        "folder": str(semantic_world.project),
        "session": "s1",
        "settings": {},
    }
    with connected(semantic_world) as connection:
        connection.sendall(json.dumps(question).encode() + b"\n")
        assert b"Bill a card once" in connection.recv(1 << 20)
    until(lambda: status(semantic_world))
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s1")


def connected(world: World) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE)
    connection.connect(str(folder_of(world) / "engine"))
    return connection


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"no json\n",
        b"[]\n",
        b'"text"\n',
        b"null\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b"x" * (2 << 20),
        json.dumps({"version": "0.0.1", "kind": "prompt"}).encode() + b"\n",
        json.dumps({"version": VERSION, "kind": "prompt", "until": "soon"}).encode() + b"\n",
        json.dumps({"version": VERSION, "kind": "prompt", "until": 1.0}).encode() + b"\n",
        json.dumps({"version": VERSION, "kind": ["x"]}).encode() + b"\n",
    ],
)
def test_an_engine_survives_whatever_it_hears(semantic_world: World, serve: Serve, line: bytes) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    for _ in range(3):
        with connected(semantic_world) as connection:
            try:
                connection.sendall(line)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(100)
            except OSError:
                pass  # it does not have to listen to the end
    assert "Bill a card once" in prompt(semantic_world, MEANT)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "prompt", "prompt": WORDED},
        {"kind": "prompt", "prompt": WORDED, "folder": "relative", "settings": {}},
        {"kind": "prompt", "prompt": WORDED, "folder": "/a\0b", "settings": {}},
        {"kind": "prompt", "prompt": WORDED, "folder": "/", "settings": []},
        {"kind": "prompt", "prompt": 7, "folder": "/", "settings": {"RECOLLECT_RETRIEVAL_ENABLED": 3}},
        {"kind": "session-start", "folder": "/", "settings": {}, "source": 1, "idle": "x", "session": {}},
        {"kind": "embed", "texts": [], "as": "query"},
        {"kind": "embed", "texts": [1], "as": "query"},
        {"kind": "embed", "texts": ["a"], "as": "poem"},
        {"kind": "embed", "texts": ["a"], "as": "query", "identity": "another"},
        {"kind": "embed", "texts": ["a"] * 51, "as": "query"},
        {"kind": "dance"},
        {},
    ],
)
def test_a_question_that_makes_no_sense_is_refused_or_answered_with_nothing(
    semantic_world: World, serve: Serve, fields: dict[str, Any]
) -> None:
    serve()
    until(lambda: status(semantic_world))
    common = {"version": VERSION, "until": time.monotonic() + 60, "store": str(semantic_world.store)}
    with connected(semantic_world) as connection:
        connection.sendall(json.dumps({**common, "home": str(semantic_world.home), **fields}).encode() + b"\n")
        said = json.loads(connection.recv(1 << 20))
    assert "refused" in said or said.get("text") == ""
    assert status(semantic_world)


# Many at once


@pytest.mark.slow
@pytest.mark.parametrize("each", [30, pytest.param(100, marks=pytest.mark.attack)])
def test_ten_clients_with_hundreds_of_questions_are_all_answered(
    semantic_world: World, serve: Serve, each: int
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    question: dict[str, object] = {"prompt": WORDED, "folder": str(semantic_world.project), "settings": {}}

    def ask(client: int) -> int:
        found = 0
        for turn in range(each):
            session = f"client-{client}-{turn}"
            said = resident.ask(str(semantic_world.store), "prompt", {**question, "session": session}, 60.0)
            found += "Bill a card once" in said["text"]
        return found

    os.environ["HOME"], home = str(semantic_world.home), os.environ["HOME"]
    try:
        with ThreadPoolExecutor(10) as clients:
            assert list(clients.map(ask, range(10))) == [each] * 10
    finally:
        os.environ["HOME"] = home
    assert status(semantic_world)["answered"] >= 10 * each
    assert log(semantic_world) == ""


def test_hooks_that_come_all_at_once_are_all_answered(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    server = serve()
    ready(semantic_world, server)

    def ask(number: int) -> bool:
        if number == 20:
            server.kill()
        return "Bill a card once" in prompt(semantic_world, WORDED, f"s{number}")

    with ThreadPoolExecutor(10) as clients:
        assert all(clients.map(ask, range(40)))


def test_who_does_not_want_to_wait_does_not_ask(semantic_world: World, fake: Callable[[bytes | None], Fake]) -> None:
    remember(semantic_world)
    other = fake(None)
    assert "Bill a card once" in prompt(semantic_world, WORDED, RECOLLECT_ENGINE_WAIT="0")
    assert other.heard == []


@pytest.mark.parametrize(
    ("said", "seconds"), [("", 0.15), ("0", 0.0), ("300", 0.3), ("soon", 0.15), ("-1", 0.15), ("9" * 40, 60.0)]
)
def test_how_long_a_hook_waits_can_be_said(said: str, seconds: float) -> None:
    assert resident.patience({"RECOLLECT_ENGINE_WAIT": said}) == seconds
    assert resident.patience({}) == 0.15


def test_no_hook_needs_an_engine_where_there_are_no_unix_sockets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(os, "getuid")
    with pytest.raises(resident.Unanswered) as reason:
        resident.ask(str(tmp_path), "status", {}, 1.0)
    assert reason.value.is_absent


def test_the_hook_of_a_prompt_that_the_engine_answers_loads_next_to_nothing(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    event = {"prompt": WORDED, "session_id": "s1", "cwd": str(semantic_world.project)}
    done = subprocess.run(
        [BARE_ENTRY[0], "-I", "-S", "-X", "importtime", BARE_ENTRY[-1], "hook", "prompt"],
        input=json.dumps(event),
        env=semantic_world.environment(PATIENT),
        cwd=semantic_world.project,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert "Bill a card once" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert {name for name in loaded if name.partition(".")[0] == "recollect"} == {
        "recollect",
        "recollect.domain",
        "recollect.domain.quick_json",
        "recollect.domain.triage.spoken",
        "recollect.domain.text",
        "recollect.hooks",
        "recollect.hooks.answer",
        "recollect.hooks.resident",
        "recollect.hooks.prompt",
        "recollect.hooks.run",
        "recollect.hooks.stdin",
        "recollect.config",
        "recollect.domain.triage",
        "recollect.resident",
        "recollect.config.locations",
        "recollect.files",
        "recollect.files.times",
        "recollect.resident.client",
        "recollect.version",
    }
