"""Standard input and output: whatever comes in, only the protocol goes out; and the end, however it comes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World, until
from tests.integration.mcp_server.talk import LESSON, Talk, environment, started, talking

CALL = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"search_memory","arguments":%s}}\n'


@contextmanager
def journal_held(world: World) -> Iterator[None]:
    """Nobody can store a lesson meanwhile: whoever tries waits."""
    world.store.mkdir(exist_ok=True)
    with (world.store / "session-captures.jsonl").open("a", encoding="utf-8") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        yield


def is_waiting(world: World, pid: int) -> None:
    """Return once a process waits for the journal: the kernel lists who waits for whom."""
    inode = (world.store / "session-captures.jsonl").stat().st_ino
    while True:
        for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[1] == "->" and words[5] == str(pid) and words[6].endswith(f":{inode}"):
                return
        os.kill(pid, 0)


# What comes in


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"not json\n", None, -32700),
        (b"\xff\xfe\x00\n", None, -32700),
        (b"[1, 2]\n", None, -32600),
        (b"null\n", None, -32600),
        (b'{"jsonrpc":"2.0","id":7}\n', 7, -32600),
        (b'{"jsonrpc":"2.0","id":"eight","method":7}\n', "eight", -32600),
        (b'{"jsonrpc":"2.0","id":8.5,"method":"ping"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":"a\tb","method":"ping"}\n', None, -32700),
        (b'{"jsonrpc":"2.0","id":-0007,"method":"ping"}\n', None, -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/burn"}\n', 9, -32601),
        (b'{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":7}}\n', 10, -32602),
        (
            b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"search_memory","arguments":[]}}\n',
            11,
            -32602,
        ),
        ((CALL % (12, '{"query":' + "[" * 50_000 + "]" * 50_000 + "}")).encode(), 12, -32700),
        ((CALL % (13, '{"query":"x","limit":' + "9" * 5_000 + "}")).encode(), 13, -32700),
        ((CALL % (14, '{"query":"' + "x" * 64_000_000 + '"}')).encode(), 14, -32600),
        (b'{"method":"ping","params":{"x":"' + b"y" * 5_000_000 + b'"},"jsonrpc":"2.0","id":15}\n', 15, -32600),
        (b'{"method":"ping","params":{"id":16,"x":"' + b"y" * 5_000_000 + b'"}}\n', None, -32600),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else None,
)
def test_lines_that_are_no_request_are_refused_and_the_server_lives(
    bad: Talk, line: bytes, id: int | str | None, code: int
) -> None:
    bad.send(line)
    answer = bad.heard()
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert bad.ask("ping")["result"] == {}


def test_memory_stays_bounded_whatever_is_sent(bad: Talk) -> None:
    def peak() -> int:
        status = Path(f"/proc/{bad.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0])

    bad.ask("ping")
    before = peak()
    for _ in range(3):
        bad.send((CALL % (77, '{"query":"' + "x" * 64_000_000 + '"}')).encode())
        assert bad.heard()["id"] == 77
    assert peak() - before < 40_000, "in KiB; each of the lines has 62,500"


@pytest.mark.parametrize("query", [b"\\ud83d", b"\xff\xfe", b"\\u0000\\u202e", "ü".encode("latin-1")])
def test_half_characters_and_bytes_that_are_no_text_are_answered(bad: Talk, query: bytes) -> None:
    bad.send(b'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"search_memory","arguments":')
    bad.send(b'{"query":"' + query + b' jitter"}}}\n')
    assert bad.heard()["result"]["isError"] is False


def test_blank_lines_and_unknown_notifications_are_passed_over(bad: Talk) -> None:
    bad.send(b"\n  \n\r\n")
    bad.send({"jsonrpc": "2.0", "method": "notifications/of-no-kind"})
    bad.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}})
    bad.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    assert bad.ask("ping")["result"] == {}


def test_requests_of_the_newest_protocol_need_no_handshake(world: World) -> None:
    talk = Talk(started([RECOLLECT, "mcp"], world))
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    try:
        assert len(talk.ask("tools/list", _meta=meta)["result"]["tools"]) == 5
        answer = talk.ask("tools/call", _meta=meta, name="list_memories", arguments={})
        assert answer["result"]["structuredContent"] == {"memories": [], "total": 0}
    finally:
        talk.stop()


def test_nothing_but_the_protocol_is_written_to_standard_output(world: World) -> None:
    noisy = """
import os, sys
print("noise", flush=True)
os.write(1, b"more noise")
os.system("echo and more")
"""
    code = f"""
import sys
sys.argv[:] = ["recollect", "mcp"]
import recollect.config.settings as settings
load = settings.load_settings
def noisy(*arguments):
    {noisy.strip().replace(chr(10), "; ").replace("import os, sys; ", "import os; ")}
    return load(*arguments)
settings.load_settings = noisy
from recollect.cli.main import main
main()
"""
    with talking(world, command=[sys.executable, "-c", code]) as talk:
        assert len(talk.ask("tools/list")["result"]["tools"]) == 5
        assert talk.call("list_memories")["isError"] is False
        status, out, errors = talk.end()
    assert (status, out) == (0, "")
    assert "noise" in errors, "it went where it does no harm"


def test_pipes_that_do_not_block_are_no_end_of_the_conversation(world: World) -> None:
    code = "import os, sys; [os.set_blocking(n, False) for n in (0, 1)]; os.execv(sys.argv[1], sys.argv[1:])"
    with talking(world, command=[sys.executable, "-c", code, RECOLLECT, "mcp"]) as talk:
        asked = [talk.begin("tools/list") for _ in range(40)]
        assert sorted(talk.heard()["id"] for _ in asked) == asked, "more than a pipe holds"


# The end


def test_answers_are_given_to_whoever_says_everything_at_once(world: World) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "list_memories"}} for n in (1, 2, 3)),
    ]
    client = {"name": "test", "version": "1"}
    lines[0]["params"] = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    done = world.run("mcp", stdin="\n".join(json.dumps(line) for line in lines))
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [0, 1, 2, 3], "also to the last line"
    assert (done.returncode, done.stderr) == (0, "")


def test_no_client_at_all_ends_it_silently(world: World) -> None:
    done = world.run("mcp")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it(world: World, number: signal.Signals) -> None:
    with talking(world) as talk:
        talk.process.send_signal(number)
        assert talk.process.wait(PATIENCE) == 128 + number
        assert talk.process.stderr
        assert talk.process.stderr.read() == b""


def test_closed_pipe_ends_it_silently(world: World) -> None:
    with talking(world) as talk:
        assert talk.process.stdout
        assert talk.process.stderr
        talk.process.stdout.close()
        talk.begin("ping")
        assert talk.process.wait(PATIENCE) == 0
        assert talk.process.stderr.read() == b""


@pytest.mark.parametrize("how", ["closed", "terminated"])
def test_call_that_hangs_does_not_hold_up_the_end(world: World, how: str) -> None:
    with journal_held(world), talking(world) as talk:
        talk.begin_call("store_memory", **LESSON)
        is_waiting(world, talk.process.pid)
        if how == "closed":
            assert talk.process.stdin
            talk.process.stdin.close()
        else:
            talk.process.terminate()
        talk.process.wait(PATIENCE)
    assert (world.store / "session-captures.jsonl").read_text(encoding="utf-8") == ""


def test_call_that_is_being_done_is_finished_before_the_end(world: World) -> None:
    with talking(world) as talk:
        with journal_held(world):
            talk.begin_call("store_memory", **LESSON)
            is_waiting(world, talk.process.pid)
            talk.process.terminate()
        talk.process.wait(PATIENCE)  # the end of its input would be another reason to end
        status, out, errors = talk.end()
    assert status == 128 + signal.SIGTERM
    assert errors == ""
    assert json.loads(out)["result"]["structuredContent"]["outcome"] == "stored"


# A client that starts a server, says who it is, and waits for its own end.
CLIENT = """
import subprocess, sys, json
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(sys.argv[1].encode())
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("hangs", [False, True], ids=["idle", "hanging"])
def test_server_is_gone_after_its_client_was_killed(world: World, hangs: bool) -> None:
    hello: list[Any] = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    if hangs:
        call = {"name": "store_memory", "arguments": LESSON}
        hello.append({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    with journal_held(world):
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, "".join(json.dumps(line) + "\n" for line in hello), RECOLLECT, "mcp"],
            cwd=world.project,
            env=environment(world),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert client.stdout
        pid = int(client.stdout.readline())
        if hangs:
            is_waiting(world, pid)
        client.kill()
        client.communicate()
        until(lambda: not is_alive(pid))
    assert (world.store / "session-captures.jsonl").read_text(encoding="utf-8") == ""


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
