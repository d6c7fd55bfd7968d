"""The same server over HTTP: for whoever has the token, under the names that were allowed, and for nobody else."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from tests.conftest import PATIENCE, World
from tests.integration.mcp_server.talk import CATEGORIES, LESSON, WORDS, called, end

TOKEN = "a-token-that-is-long-enough-for-tests"
ACCEPTED = {"Accept": "application/json, text/event-stream"}
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Served:
    """A server that listens, and what it said at its start."""

    def __init__(self, process: subprocess.Popen[str], introduction: str) -> None:
        self.process = process
        self.introduction = introduction
        found = re.search(r"serving (http://(\S+):(\d+)/mcp)", introduction)
        assert found, introduction
        self.url, self.port = found[1], found[3]

    def post(self, headers: Mapping[str, str], body: object = LISTING, path: str = "/mcp") -> httpx2.Response:
        url = f"http://127.0.0.1:{self.port}{path}"
        return httpx2.post(url, json=body, headers={**ACCEPTED, **headers}, timeout=PATIENCE)

    def status(self, **headers: str) -> int:
        return self.post({"Authorization": f"Bearer {TOKEN}", **headers}).status_code


@contextmanager
def serving(world: World, *arguments: str, token: str = TOKEN, **variables: str) -> Iterator[Served]:
    variables = {**WORDS, **({"RECOLLECT_MCP_TOKEN": token} if token else {}), **variables}
    process = world.start("mcp", *arguments, encoding="utf-8", **variables)
    watch = threading.Timer(PATIENCE, process.kill)
    watch.start()
    assert process.stderr
    assert process.stdout
    introduction = ""
    while "claude mcp add" not in introduction and (line := process.stderr.readline()):
        introduction += line
    try:
        yield Served(process, introduction)
    finally:
        end(process, watch)
        process.communicate()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http")
    project = folder / "home" / "shop-front"
    project.mkdir(parents=True)
    with serving(World(folder / "home", project, folder / "store"), "--http", "0") as server:
        yield server


def test_official_client_stores_searches_reads_lists_and_forgets(served: Served) -> None:
    async def talk() -> None:
        with anyio.fail_after(PATIENCE):
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE) as client,
                streamable_http_client(served.url, http_client=client) as streams,
                ClientSession(*streams[:2]) as session,
            ):
                await session.initialize()
                assert len((await session.list_tools()).tools) == 5
                await use(session)

    async def use(session: ClientSession) -> None:
        ids: list[str] = []
        for category in CATEGORIES:
            fields = {**LESSON, "category": category, "name": f"Retry with jitter ({category})"}
            fields["description"] += f" Seen as {category}."
            _, done = await called(session, "store_memory", **fields)
            ids.append(done["id"])
        _, found = await called(session, "search_memory", query="jitter")
        assert {hit["id"] for hit in found["results"]} == set(ids)
        _, gone = await called(session, "forget_memory", id=ids[0], reason="Tests do that.")
        assert gone["outcome"] == "retired"
        _, page = await called(session, "list_memories", status="all", limit=100)
        assert page["total"] == 9
        answers: list[dict[str, Any]] = []

        async def read(id: str) -> None:
            answers.append((await called(session, "get_memories", ids=[id]))[1])

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(read, ids[number % 9])
        assert sorted(answer["memories"][0]["id"] for answer in answers) == sorted(ids[n % 9] for n in range(20))

    anyio.run(talk)


@pytest.mark.parametrize(
    "authorization",
    [
        *("", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN),
        *(f"Bearer {TOKEN.upper()}", "Bearer \u00e4\u00f6\u00fc".encode().decode("latin-1")),
    ],
)
def test_without_the_token_nothing_is_answered(served: Served, authorization: str) -> None:
    for path in ("/mcp", "/", "/.well-known/oauth-protected-resource"):
        answer = served.post({"Authorization": authorization.encode("latin-1")} if authorization else {}, path=path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="recollect"'
        assert TOKEN not in answer.text


def test_token_is_accepted_once_and_only_in_its_header(served: Served) -> None:
    assert served.status() == 200
    url = f"http://127.0.0.1:{served.port}/mcp?access_token={TOKEN}"
    assert httpx2.post(url, json=LISTING, headers=ACCEPTED).status_code == 401
    twice = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer other"), *ACCEPTED.items()]
    assert httpx2.post(f"http://127.0.0.1:{served.port}/mcp", json=LISTING, headers=twice).status_code == 401


def test_foreign_origins_and_hosts_are_refused_token_or_not(served: Served) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1", f"http://127.0.0.1.evil.example:{served.port}"):
        assert served.status(Origin=origin) == 403, origin
    assert served.status(Origin=f"http://localhost:{served.port}") == 200
    for host in (
        "evil.example",
        f"evil.example:{served.port}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1:{served.port}0",
    ):
        assert served.status(Host=host) == 421, host
    assert served.status(Host=f"localhost:{served.port}") == 200


def test_requests_that_cannot_be_used_leave_the_server_alive(served: Served) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    assert served.post(known, {"x": "y" * 5_000_000}).status_code == 413
    assert served.post(known, [1, 2]).status_code == 400
    assert served.post(known, path="/other").status_code == 404
    url = f"http://127.0.0.1:{served.port}/mcp"
    assert httpx2.post(url, content=b"\xff{", headers={**known, **ACCEPTED}).status_code == 400
    with socket.create_connection(("127.0.0.1", int(served.port))) as rude:
        rude.sendall(b"\0\0\0 HTTP/9\r\n\r\n")
        assert b"400" in rude.recv(100)
    assert served.status() == 200


def test_token_is_made_and_shown_once_when_none_is_given(world: World) -> None:
    with serving(world, "--http", ":0", token="") as server:
        token = re.search(r"not shown again: (\S+)", server.introduction)
        assert token
        assert len(token[1]) >= 40
        assert f'--header "Authorization: Bearer {token[1]}"' in server.introduction
        assert server.post({"Authorization": f"Bearer {token[1]}"}).status_code == 200
        assert server.post({"Authorization": f"Bearer {TOKEN}"}).status_code == 401


def test_token_from_the_environment_is_not_shown(served: Served) -> None:
    assert TOKEN not in served.introduction
    assert "Bearer $RECOLLECT_MCP_TOKEN" in served.introduction


@pytest.mark.parametrize("token", ["short", "x" * 23, "with spaces in it, and long enough", "ä" * 30])
def test_tokens_that_are_no_protection_are_refused(world: World, token: str) -> None:
    done = world.run("mcp", "--http", "0", RECOLLECT_MCP_TOKEN=token)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the token in RECOLLECT_MCP_TOKEN ")
    assert token not in done.stderr


def test_port_in_use_is_said(served: Served, world: World) -> None:
    done = world.run("mcp", "--http", served.port)
    assert done.returncode == 1
    assert f"Error: cannot listen on 127.0.0.1:{served.port}: " in done.stderr
    assert "token" not in done.stderr


@pytest.mark.parametrize("address", ["", "localhost", "127.0.0.1:", ":x", "1:2:99999", "65536", "-1", "²"])
def test_addresses_that_are_none_are_refused(world: World, address: str) -> None:
    done = world.run("mcp", "--http", address)
    assert done.returncode == 2
    assert "give HOST:PORT" in done.stderr


def test_names_for_it_go_with_http_only(world: World) -> None:
    assert "--allow-host goes with --http" in world.run("mcp", "--allow-host", "memory.example").stderr


def test_listening_to_others_is_said_and_only_allowed_names_are_answered(world: World) -> None:
    with serving(world, "--http", "0.0.0.0:0", "--allow-host", "memory.example") as server:
        assert server.process.stderr
        warning = server.process.stderr.readline()
        assert "other machines can reach this" in warning
        assert "TLS" in warning
        assert server.status(Host="memory.example") == 200
        assert server.status(Host=f"memory.example:{server.port}", Origin="https://memory.example") == 200
        assert server.status(Host=f"0.0.0.0:{server.port}") == 421
        assert server.status(Host="other.example") == 421
        assert server.status() == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_also_while_somebody_listens(world: World, number: signal.Signals) -> None:
    with serving(world, "--http", "0") as server:
        address = ("127.0.0.1", int(server.port))
        with socket.create_connection(address) as idle, socket.create_connection(address) as listening:
            idle.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\n")
            known = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\nAccept: text/event-stream"
            listening.sendall(f"GET /mcp HTTP/1.1\r\n{known}\r\n\r\n".encode())
            assert listening.recv(12) == b"HTTP/1.1 200"
            server.process.send_signal(number)
            assert server.process.wait(PATIENCE) == 128 + number
        out, errors = server.process.communicate()
        assert (out, errors) == ("", "")
