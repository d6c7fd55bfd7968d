"""A Messages API that answers from a script and remembers what it was asked."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Json = dict[str, Any]
Turn = list[Json]  # the content blocks of an answer
Reply = Turn | Callable[["Request"], Turn]

_PIECE = 64
_number = itertools.count(1)


def says(text: str) -> Turn:
    """An answer that ends the model's turn."""
    return [{"type": "text", "text": text}]


def calls(tool: str, **arguments: Any) -> Turn:
    """An answer that uses a tool."""
    return [{"type": "tool_use", "id": f"toolu_{next(_number):024d}", "name": tool, "input": arguments}]


class Request:
    """What the client sent for one turn of the conversation."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.messages: list[Json] = body["messages"]

    @property
    def text(self) -> str:
        """All that a model would read in it."""
        return "\n".join(_texts({"system": self.body.get("system"), "messages": self.messages}))

    @property
    def passages(self) -> list[str]:
        """The texts of the conversation, one by one, without the system prompt."""
        return list(_texts(self.messages))

    @property
    def newest(self) -> str:
        """The last message that is the user's."""
        return "\n".join(_texts([message for message in self.messages if message["role"] == "user"][-1]))

    @property
    def tool_results(self) -> list[Json]:
        """What tools answered, with `text` and `is_error`."""
        found = [block for block in _blocks(self.messages) if block.get("type") == "tool_result"]
        return [
            {"text": "\n".join(_texts(block.get("content"))), "is_error": bool(block.get("is_error"))}
            for block in found
        ]

    def context_of(self, event: str) -> list[str]:
        """What our hook of this event added to the conversation, each time that it did."""
        start = f"{event} hook additional context: "
        return [part for passage in self.passages for part in passage.split(start)[1:]]


def _blocks(messages: Sequence[Json]) -> Iterator[Json]:
    for message in messages:
        if isinstance(message["content"], list):
            yield from message["content"]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("cache_control", "type", "id", "tool_use_id", "role"):
                yield from _texts(item)


class Api:
    """Answers each turn of the conversation with the script's next reply, and with "Done." when it is at its end.

    Whatever else the client asks (titles, summaries) gets a word, so that it takes nothing from the script.
    """

    def __init__(self, script: Iterable[Reply] = ()) -> None:
        self.requests: list[Request] = []
        self.others: list[Json] = []
        self.failures: list[str] = []
        self._script = iter(script)
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def serve(self, listener: socket.socket) -> None:
        """Answer whoever connects to this socket, until the end of the `with` block."""
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server and self._thread:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def answer(self, body: Json) -> Turn:
        with self._lock:
            if not any(tool.get("name") == "Write" for tool in body.get("tools") or ()):
                self.others.append(body)
                return says("Fine.")
            request = Request(body)
            self.requests.append(request)
            reply = next(self._script, says("Done."))
        return reply(request) if callable(reply) else reply


class _Server(ThreadingHTTPServer):
    """Serves an API on a socket that listens already."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, api: Api) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.api = api


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        self._refuse(404, "nothing is here")

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages":
            self._converse(json.loads(data), len(data) // 4)
        elif path == "/v1/messages/count_tokens":
            self._send(json.dumps({"input_tokens": len(data) // 4}).encode())
        else:
            self._refuse(404, "nothing is here")

    def _converse(self, body: Json, tokens: int) -> None:
        try:
            turn = self.server.api.answer(body)
        except Exception:  # a script's own complaint belongs to the test, not to this thread
            self.server.api.failures.append(traceback.format_exc())
            self._refuse(400, "the script failed")
            return
        message = _message(turn, body.get("model", "scripted"), tokens)
        if body.get("stream"):
            events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))
            self._send(events.encode(), "text/event-stream")
        else:
            self._send(json.dumps(message).encode())

    def _refuse(self, status: int, why: str) -> None:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": why}}
        self._send(json.dumps(error).encode(), status=status)

    def _send(self, data: bytes, kind: str = "application/json", status: int = 200) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # a client that is being stopped does not wait for its answer


def _message(turn: Turn, model: str, tokens: int) -> Json:
    uses_tool = any(block["type"] == "tool_use" for block in turn)
    return {
        "id": f"msg_{next(_number):024d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": turn,
        "stop_reason": "tool_use" if uses_tool else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens,
            "output_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _events(message: Json) -> Iterator[Json]:
    """A message as the stream of events that it arrives in."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, whole, kind, field = {**block, "text": ""}, block["text"], "text_delta", "text"
        else:
            empty, whole, kind, field = (
                {**block, "input": {}},
                json.dumps(block["input"]),
                "input_json_delta",
                "partial_json",
            )
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for start in range(0, len(whole), _PIECE):
            delta = {"type": kind, field: whole[start : start + _PIECE]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}
