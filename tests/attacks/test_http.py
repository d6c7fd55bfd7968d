"""Clients that say nothing, or say it slowly: the server over HTTP answers the others meanwhile."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.conftest import PATIENCE, World
from tests.integration.mcp_server.test_mcp_http import TOKEN, Served, serving

from recollect.serving.connections import MOST_STRANGERS

MANY = 300
HALF_A_HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthoriz"


def connect(server: Served, stack: ExitStack, data: bytes) -> socket.socket:
    client = stack.enter_context(socket.create_connection(("127.0.0.1", int(server.port)), timeout=PATIENCE))
    client.sendall(data)
    return client


def is_closed(client: socket.socket) -> bool:
    """Wait until the server closes a connection on which it has nothing to say."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def sockets_of(server: Served) -> int:
    found = 0
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed in between
            found += str(link.readlink()).startswith("socket:")
    return found


def threads_of(server: Served) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))


def test_hundreds_of_half_sent_heads_keep_nobody_from_an_answer(world: World, tried: Callable[[int], None]) -> None:
    tried(MANY)
    with serving(world, "--http", "0") as server, ExitStack() as stack:
        assert server.status() == 200
        sockets, threads = sockets_of(server), threads_of(server)
        strangers = [connect(server, stack, HALF_A_HEAD) for _ in range(MANY)]
        assert [server.status() for _ in range(5)] == [200] * 5
        assert all(map(is_closed, strangers[: MANY - MOST_STRANGERS])), "the oldest go first"
        assert all(map(is_closed, strangers)), "the others go when their time is up"
        assert server.status() == 200
        assert sockets_of(server) <= sockets + 1, "but for one that may be kept alive"
        assert threads_of(server) <= threads + 1


def test_requests_without_the_token_whose_body_never_comes_keep_nobody_from_an_answer(world: World) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000000\r\n\r\n{"
    with serving(world, "--http", "0") as server, ExitStack() as stack:
        for _ in range(MANY):
            connect(server, stack, head)
        assert [server.status() for _ in range(5)] == [200] * 5


def test_who_listens_for_news_is_not_cut_off_by_strangers(world: World) -> None:
    with serving(world, "--http", "0") as server, ExitStack() as stack:
        known = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\nAccept: text/event-stream"
        listening = connect(server, stack, f"GET /mcp HTTP/1.1\r\n{known}\r\n\r\n".encode())
        assert listening.recv(12) == b"HTTP/1.1 200"
        strangers = [connect(server, stack, HALF_A_HEAD) for _ in range(MANY)]
        assert all(map(is_closed, strangers))
        listening.setblocking(False)
        try:
            while data := listening.recv(4096):
                assert data
        except BlockingIOError:
            return  # it is open, and there is no news
        raise AssertionError("the listener was cut off")


@pytest.mark.parametrize("token", [TOKEN, ""])
def test_body_over_the_limit_is_answered_also_on_a_connection_that_closes(world: World, token: str) -> None:
    with serving(world, "--http", "0") as server, ExitStack() as stack:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\nContent-Length: 50000000\r\n"
        )
        client = connect(server, stack, f"{head}Authorization: Bearer {token}\r\n\r\n".encode())
        for _ in range(50):
            client.sendall(b"x" * 1_000_000)  # all of it, before it reads: as most clients do
        assert client.recv(12) == (b"HTTP/1.1 413" if token else b"HTTP/1.1 401")
        assert server.status() == 200


def test_client_that_hangs_up_within_its_request_leaves_no_line(world: World) -> None:
    with serving(world, "--http", "0") as server:
        known = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n"
        for sent in ("{", ""):
            for _ in range(20):
                with ExitStack() as stack:
                    client = connect(server, stack, f"POST /mcp HTTP/1.1\r\n{known}\r\n{sent}".encode())
                    client.shutdown(socket.SHUT_WR)
                    assert is_closed(client)
        assert server.status() == 200
        server.process.terminate()
        assert server.process.stderr
        assert server.process.stderr.read() == ""
