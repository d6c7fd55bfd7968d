"""The server over standard input and output."""

from __future__ import annotations

import asyncio
import json
import threading

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from recollect.mcp.server import build_server
from recollect.mcp.wire import LONGEST_LINE, Received, TooLong, Wire, id_of
from recollect.mcp.worker import Worker
from recollect.resident.background import Background
from recollect.serving.ending import Ending

# In seconds: loading begins after this time, even if the client has not had an answer by then.
_SILENCE = 2.0

# Limit of unanswered requests of a client; the next one is delayed until one of them is answered.
_MOST_UNANSWERED = 64


class Conversation:
    """The messages on the wire, with a count of unanswered requests."""

    def __init__(self, wire: Wire, background: Background) -> None:
        self._wire = wire
        self._background = background
        self._unanswered = 0
        self._settled = threading.Condition()

    def is_waited_for(self) -> bool:
        """Return True if the client waits for an answer and can still receive it."""
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
        """Wait for room, then count a request as unanswered; return a callback for its cancellation."""
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
    """Return the message on a line; or a refusal of it, if the client may wait for an answer."""
    if isinstance(line, TooLong):
        said = f"the message is larger than {LONGEST_LINE // 1024:,} KiB, so it was not read"
        return None, _refusal(line.id, types.INVALID_REQUEST, said)
    try:
        return _checked(types.jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False))
    except ValueError:
        return _mended(line)


def _checked(message: types.JSONRPCMessage) -> tuple[types.JSONRPCMessage | None, types.JSONRPCError | None]:
    """Refuse a request with an unusable id: it looks like a notification and would never be answered."""
    if isinstance(message, types.JSONRPCNotification) and not message.method.startswith("notifications/"):
        said = "a request needs an id that is a text or a whole number"
        return None, _refusal("", types.INVALID_REQUEST, said)
    return message, None


def _mended(line: bytes) -> tuple[types.JSONRPCMessage | None, types.JSONRPCError | None]:
    """Parse a line again without lone surrogates: they are allowed in JSON, and some clients send them."""
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
