"""Check the MCP server, by starting it in a temporary folder and listing its tools."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

from recollect.doctor.case import ERROR, OK, Case, Finding
from recollect.doctor.proof import Workshop
from recollect.domain.text import counted, cut, one_line

_TIMEOUT = 20.0
_ENDING = 3.0
_MAX_CHARS = 300
_MAX_BYTES = 1024 * 1024

# Our command in a process with the same module search path as this one.
_COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); sys.argv[0] = 'recollect'; "
    "from recollect.cli.main import main; main()"
)
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "recollect doctor", "version": "1"},
}


def mcp_server(case: Case) -> Iterator[Finding]:
    """Start the server, initialise it and list its tools, as every client does."""
    with Workshop() as shop:
        begun = time.monotonic()
        with open(os.path.join(shop.top, "stderr"), "w+", encoding="utf-8", errors="replace") as said:
            server = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _COMMAND, json.dumps(sys.path), "mcp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=shop.environment(case.environ),
                cwd=shop.project,
            )
            try:
                talk = _Talk(server, begun + case.patience(_TIMEOUT))
                hello = talk.ask(1, "initialize", _HELLO)
                took = time.monotonic() - begun
                talk.tell({"method": "notifications/initialized"})
                tools = talk.ask(2, "tools/list", {}).get("tools")
            except (OSError, ValueError) as error:
                _end(server)
                said.seek(0)
                why = cut(one_line(said.read(_MAX_BYTES)), _MAX_CHARS) or str(error)
                fix = "see what is said of packages above; `recollect mcp` by hand says more"
                yield Finding(ERROR, "MCP server", f"it does not answer a client: {why}", fix)
                return
            finally:
                _end(server)
    count = len(cast("list[object]", tools)) if isinstance(tools, list) else 0
    protocol = hello.get("protocolVersion")
    told = f"greeted a client after {took:.1f} s (protocol {protocol}) and offers {counted(count, 'tool', 'tools')}"
    yield Finding(OK if count else ERROR, "MCP server", told)


def _end(server: subprocess.Popen[bytes]) -> None:
    """End a server by closing its input, as a client does; kill it if it does not end in time."""
    with suppress(OSError):  # it may have ended already
        if server.stdin:
            server.stdin.close()
    try:
        server.wait(_ENDING)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if server.stdout:
        server.stdout.close()


class _Talk:
    """A JSON-RPC conversation with a server, one object a line, until `end` by the monotonic clock."""

    def __init__(self, server: subprocess.Popen[bytes], end: float) -> None:
        assert server.stdin  # noqa: S101 (it is a pipe)
        assert server.stdout  # noqa: S101 (likewise)
        self._input = server.stdin
        self._output = server.stdout.fileno()
        self._end = end
        self._rest = b""

    def tell(self, message: dict[str, Any]) -> None:
        self._input.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._input.flush()

    def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result; raise ValueError if there is none in time, or an invalid one."""
        self.tell({"id": number, "method": method, "params": params})
        while True:
            answer: Any = json.loads(self._line())
            if isinstance(answer, dict) and cast("dict[str, Any]", answer).get("id") == number:
                result: Any = cast("dict[str, Any]", answer).get("result")
                if not isinstance(result, dict):
                    raise ValueError(f"{method} was refused: {cut(json.dumps(answer), _MAX_CHARS)}")
                return cast("dict[str, Any]", result)

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            left = self._end - time.monotonic()
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                raise ValueError("it said nothing in time")
            chunk = os.read(self._output, 65536)
            if not chunk or len(self._rest) > _MAX_BYTES:
                raise ValueError("it ended" if not chunk else "it said too much")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line
