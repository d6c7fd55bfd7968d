"""A server without tools, for use while the packages are missing; it tells the client why.

After a failed handshake a client does not start the server again for a quarter of an hour, in any session. So this one
completes the handshake with the standard library alone, and the next session starts the server with the tools.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any, cast

from recollect.version import VERSION

_LONGEST_LINE = 1024 * 1024
_NO_SUCH_METHOD = -32601
_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # of the protocol


def stand_in(reason: str) -> None:
    """Answer a client until it closes standard input."""
    if sys.stdin is None or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] (a process may have neither)
        return
    with suppress(BrokenPipeError):  # the client is gone
        while line := sys.stdin.buffer.readline(_LONGEST_LINE):
            answer = answer_to(line, reason)
            if answer is not None:
                sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
                sys.stdout.buffer.flush()


def answer_to(line: bytes, reason: str) -> dict[str, Any] | None:
    """Return the answer to a message; None if it needs none."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    request = cast("dict[str, Any]", message)
    if "method" not in request or not isinstance(request.get("id"), (int, str)):
        return None  # a notification or a response: neither is answered
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    match request["method"]:
        case "initialize":
            answer["result"] = _greeting(request.get("params"), reason)
        case "tools/list":
            answer["result"] = {"tools": []}
        case "ping":
            answer["result"] = {}
        case _:
            answer["error"] = {"code": _NO_SUCH_METHOD, "message": f"recollect is not ready: {reason}"}
    return answer


def _greeting(parameters: object, reason: str) -> dict[str, Any]:
    asked = cast("dict[str, Any]", parameters).get("protocolVersion") if isinstance(parameters, dict) else None
    return {
        "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "recollect", "version": VERSION},
        "instructions": f"The tools of long-term memory are missing in this session: {reason}. Memories still come with"
        " prompts; the tools come with a later session.",
    }
