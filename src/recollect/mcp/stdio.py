"""The server over standard input and output."""

from __future__ import annotations

import asyncio
import json
import threading

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from recollect.mcp.ending import Ending
from recollect.mcp.server import build_server
from recollect.mcp.wire import LONGEST_LINE, Received, TooLong, Wire, id_of
from recollect.mcp.worker import Worker
from recollect.resident.background import Background

# In seconds: when loading begins if the client has not said anything by then.
_SILENCE = 2.0

# So many requests are taken from a client that does not wait for answers, or never reads them; the others stay with it.
_MOST_UNANSWERED = 64


class Conversation:
    """Messages on the wire, and how many answers are still waited for."""

    def __init__(self, wire: Wire, background: Background) -> None:
        self._wire = wire
        self._background = background
        self._unanswered = 0
        self._settled = threading.Condition()

    def is_waited_for(self) -> bool:
        """Whether somebody waits for an answer who can still be given one."""
        return bool(self._unanswered) and not self._wire.is_cut()

    async def hold(self, worker: Worker, ending: Ending) -> None:
        """Serve until the process ends."""
        ending.wait_for(self.is_waited_for)
        to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        loop = asyncio.get_running_loop()

        def take(line: Received) -> None:
            message, refusal = parsed(line)
            if message is not None:
                taken = SessionMessage(message, self._expected(message))
                asyncio.run_coroutine_threadsafe(to_server.send(taken), loop).result()
            elif refusal is not None:
                self._write(refusal)

        async def write_answers() -> None:
            async for session_message in from_server:
                await anyio.to_thread.run_sync(self._answer, session_message.message)

        async def begin_anyway() -> None:
            await anyio.sleep(_SILENCE)
            self._background.begin()

        server = build_server(worker)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_answers)
            tasks.start_soon(begin_anyway)
            self._wire.deliver(take)
            ending.started()
            await server.run(received, sent, server.create_initialization_options())

    def _expected(self, message: types.JSONRPCMessage) -> ServerMessageMetadata | None:
        """Count a request as unanswered, once there is room for it; how to say that it will never be answered."""
        if not isinstance(message, types.JSONRPCRequest):
            return None
        with self._settled:
            self._settled.wait_for(lambda: self._unanswered < _MOST_UNANSWERED)
            self._unanswered += 1
        return ServerMessageMetadata(on_request_unanswered=self._cancelled)

    async def _cancelled(self) -> None:
        self._settle()

    def _answer(self, message: types.JSONRPCMessage) -> None:
        self._write(message)
        if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
            self._settle()

    def _settle(self) -> None:
        with self._settled:
            self._unanswered -= 1
            self._settled.notify_all()

    def _write(self, message: types.JSONRPCMessage) -> None:
        self._wire.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
            self._background.begin()


def parsed(line: Received) -> tuple[types.JSONRPCMessage | None, types.JSONRPCError | None]:
    """The message on a line; or how to refuse it, if somebody may wait for an answer to it."""
    if isinstance(line, TooLong):
        said = f"the message is larger than {LONGEST_LINE // 1024:,} KiB, so it was not read"
        return None, _refusal(line.id, types.INVALID_REQUEST, said)
    try:
        return _checked(types.jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False))
    except ValueError:
        return _mended(line)


def _checked(message: types.JSONRPCMessage) -> tuple[types.JSONRPCMessage | None, types.JSONRPCError | None]:
    """A request whose id cannot be used looks like a notification, and would never be answered."""
    if isinstance(message, types.JSONRPCNotification) and not message.method.startswith("notifications/"):
        said = "a request needs an id that is a text or a whole number"
        return None, _refusal("", types.INVALID_REQUEST, said)
    return message, None


def _mended(line: bytes) -> tuple[types.JSONRPCMessage | None, types.JSONRPCError | None]:
    """A second look at what is no message: JSON may spell half a character, which some clients send."""
    id = id_of(line, line)
    try:
        document: object = json.loads(line.decode("utf-8", "replace"))
        whole = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return None, _refusal(id, types.PARSE_ERROR, "this is not JSON that can be read")
    try:
        return _checked(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except ValueError:
        return None, _refusal(id, types.INVALID_REQUEST, "this is no JSON-RPC message")


def _refusal(id: str, code: int, said: str) -> types.JSONRPCError:
    known: int | str | None = json.loads(id) if id else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=said))
