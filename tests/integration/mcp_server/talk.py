"""Servers to talk to: by the official client, or line by line where a client would be too well-behaved."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, TextIO, TypeVar

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from tests.conftest import PATIENCE, World

CATEGORIES = (
    *("anti-patterns", "heuristics", "patterns"),
    *("session_summary", "decision", "runbook", "constraint", "tech_debt", "preference"),
)

# Most of what is tested here is not about meaning, and a model is slow to load.
WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}

LESSON = {
    "name": "Retry with jitter",
    "description": "Retries without jitter arrive together and overload the payment gateway again.",
    "reasoning": "It took the shop down twice.",
    "category": "anti-patterns",
}

_WATCHED = 2 * PATIENCE  # seconds; a test that waits for its end has failed by then
_T = TypeVar("_T")
_Streams = tuple[Any, Any]


def environment(world: World, **variables: str) -> dict[str, str]:
    return world.environment({**WORDS, **variables})


def with_client(
    world: World, use: Callable[[ClientSession], Awaitable[_T]], *, command: Sequence[str] = (), **variables: str
) -> _T:
    """Start a server, shake hands, and use it; with a command, it is started as clients do."""

    async def talk() -> _T:
        with (world.home / "stderr").open("w", encoding="utf-8") as errors, anyio.fail_after(_WATCHED):
            async with _server(world, command, variables, errors) as streams, ClientSession(*streams) as session:
                await session.initialize()
                return await use(session)

    return anyio.run(talk)


def _server(
    world: World, command: Sequence[str], variables: Mapping[str, str], errors: TextIO
) -> AbstractAsyncContextManager[_Streams]:
    if not command:
        return _fork(world.start("mcp", stderr=errors.fileno(), **{**WORDS, **variables}))
    program, *arguments = command
    env = environment(world, **variables)
    return stdio_client(StdioServerParameters(command=program, args=arguments, env=env, cwd=world.project), errors)


@asynccontextmanager
async def _fork(process: subprocess.Popen[bytes]) -> AsyncIterator[_Streams]:
    """Do what `stdio_client` does, with a process that is there."""
    assert process.stdin
    assert process.stdout
    stdin, stdout = process.stdin, process.stdout
    heard, hears = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    says, to_say = anyio.create_memory_object_stream[SessionMessage](0)

    async def hear() -> None:
        with suppress(anyio.BrokenResourceError):  # nobody listens any more
            while line := await anyio.to_thread.run_sync(stdout.readline):
                await heard.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))

    async def say() -> None:
        async for each in to_say:
            stdin.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            stdin.flush()

    with process:
        try:
            async with heard, hears, says, to_say, anyio.create_task_group() as tasks:
                tasks.start_soon(hear)
                tasks.start_soon(say)
                yield hears, says
                says.close()
                stdin.close()
                await anyio.to_thread.run_sync(process.wait)
        except BaseException:
            process.kill()
            raise


def said(world: World) -> str:
    """What the last server said on standard error."""
    return (world.home / "stderr").read_text(encoding="utf-8")


async def called(session: ClientSession, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The text and the data of a call that must succeed."""
    result = await session.call_tool(tool, arguments)
    text = result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
    assert not result.is_error, text
    assert isinstance(result.structured_content, dict)
    assert len(text) < 20_000
    assert len(json.dumps(result.structured_content, ensure_ascii=False)) < 20_000
    return text, result.structured_content


async def refused(session: ClientSession, tool: str, **arguments: Any) -> str:
    """Why a call failed that must fail."""
    result = await session.call_tool(tool, arguments)
    assert result.is_error, result
    assert result.structured_content is None
    return result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]


def end(process: subprocess.Popen[Any], watch: threading.Timer) -> None:
    """End a server so that it can put away what it has outside of its world."""
    process.terminate()
    process.wait()
    watch.cancel()


def started(command: Sequence[str], world: World, **variables: str) -> subprocess.Popen[bytes]:
    """Start a server as this command says."""
    return subprocess.Popen(
        command,
        cwd=world.project,
        env=environment(world, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


class Talk:
    """A server that is spoken to line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._watch = threading.Timer(_WATCHED, self.process.kill)  # so that what hangs fails
        self._watch.start()
        self._next = 0

    def send(self, line: bytes | Mapping[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def heard(self) -> dict[str, Any]:
        """The next line, which must be a message."""
        assert self.process.stdout
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def begin(self, method: str, **parameters: Any) -> int:
        """Ask without waiting for the answer."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": parameters})
        return self._next

    def answer(self, id: int) -> dict[str, Any]:
        message = self.heard()
        assert message["id"] == id, message
        return message

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.answer(self.begin(method, **parameters))

    def begin_call(self, tool: str, **arguments: Any) -> int:
        return self.begin("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.begin_call(tool, **arguments))["result"]

    def shake_hands(self) -> dict[str, Any]:
        client = {"name": "test", "version": "1"}
        answer = self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def end(self) -> tuple[int, str, str]:
        """Close standard input; the exit code, what else it said, and what it said on standard error."""
        out, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), errors.decode()

    def stop(self) -> None:
        end(self.process, self._watch)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()


@contextmanager
def talking(world: World, *arguments: str, command: Sequence[str] = (), **variables: str) -> Iterator[Talk]:
    """A server with which hands have been shaken."""
    if command:
        talk = Talk(started([*command, *arguments], world, **variables))
    else:
        talk = Talk(world.start("mcp", *arguments, **{**WORDS, **variables}))
    try:
        talk.shake_hands()
        yield talk
    finally:
        talk.stop()
