from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import uvicorn

from recollect.serving import connections
from recollect.serving.connections import Connection, Door

KNOWN = (b"authorization", b"known")
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: known\r\n"
SHORT, LONG = 0.2, 60.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Streams]]


def served(app: Any, client: Callable[[Connect], Awaitable[None]]) -> None:
    """Serve an application by our connections for as long as a client talks to it."""

    async def run() -> None:
        door = Door(lambda headers: KNOWN in headers)
        config = uvicorn.Config(
            app,
            port=0,
            http=partial(Connection, door),  # pyright: ignore[reportArgumentType]
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        port = server.servers[0].sockets[0].getsockname()[1]
        opened: list[asyncio.StreamWriter] = []

        async def connect() -> Streams:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.append(writer)
            return reader, writer

        async with asyncio.timeout(50):
            await client(connect)
        for writer in opened:
            writer.transport.abort()
        await server.shutdown()

    asyncio.run(run())


async def answer(_: Any, receive: Any, send: Any) -> None:
    """Read a request to its end, and answer it."""
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


async def heard(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(
    ("bound", "data"),
    [
        ("HEAD_SECONDS", b""),
        ("HEAD_SECONDS", b"POST / HTTP/1.1\r\nHos"),
        ("BODY_SECONDS", HEAD + b"Content-Length: 10\r\n\r\n{"),
        ("BODY_SECONDS", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"),
    ],
)
def test_request_that_does_not_come_to_its_end_is_closed(
    monkeypatch: pytest.MonkeyPatch, bound: str, data: bytes
) -> None:
    monkeypatch.setattr(connections, bound, SHORT)

    async def client(connect: Connect) -> None:
        reader, writer = await connect()
        writer.write(data)
        assert await heard(reader) == b""

    served(answer, client)


def test_byte_now_and_then_does_not_prolong_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", SHORT)

    async def drip(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x")
            await asyncio.sleep(SHORT / 20)

    async def client(connect: Connect) -> None:
        reader, writer = await connect()
        writer.write(b"POST / HTTP/1.1\r\nHost: ")
        dripping = asyncio.create_task(drip(writer))
        assert await heard(reader) == b""
        dripping.cancel()

    served(answer, client)


def test_second_request_on_a_connection_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", SHORT)

    async def client(connect: Connect) -> None:
        reader, writer = await connect()
        for _ in range(2):
            writer.write(HEAD + b"Content-Length: 1\r\n\r\n{")
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(HEAD)
        assert await heard(reader) == b""

    served(answer, client)


def test_answer_that_goes_on_outlives_every_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("HEAD_SECONDS", "BODY_SECONDS", "PAUSE_SECONDS"):
        monkeypatch.setattr(connections, bound, SHORT)
    others_are_gone = asyncio.Event()

    async def news(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await others_are_gone.wait()
        await send({"type": "http.response.body", "body": b"last", "more_body": False})

    async def client(connect: Connect) -> None:
        reader, writer = await connect()
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await reader.readuntil(b"first")
        slow, _ = await connect()
        assert await heard(slow) == b""
        others_are_gone.set()
        assert b"last" in await heard(reader)

    served(news, client)


def test_client_that_reads_no_answer_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PAUSE_SECONDS", SHORT)
    is_cut_off = asyncio.Event()

    async def flood(_: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in [b"x" * 1_000_000] * 100:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        is_cut_off.set()

    async def client(connect: Connect) -> None:
        _, writer = await connect()
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await is_cut_off.wait()

    served(flood, client)


def test_oldest_stranger_makes_room_and_who_is_known_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_STRANGERS", 2)
    monkeypatch.setattr(connections, "HEAD_SECONDS", LONG)

    async def client(connect: Connect) -> None:
        known = await connect()
        known[1].write(HEAD + b"Content-Length: 1\r\n\r\n{")
        await known[0].readuntil(b"ok")
        strangers = [await connect() for _ in range(5)]
        assert [await heard(reader) for reader, _ in strangers[:3]] == [b""] * 3
        for reader, writer in (known, *strangers[3:]):
            writer.write(HEAD + b"Content-Length: 1\r\n\r\n{")
            assert await reader.readuntil(b"ok")

    served(answer, client)
