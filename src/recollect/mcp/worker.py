"""Run tool calls one after the other, in one thread with its own connection to the store."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import visible
from recollect.errors import RecollectError, StoreError
from recollect.mcp import schemas
from recollect.resident.background import Background

if TYPE_CHECKING:
    from recollect.mcp.answers import Answer

_SWITCH = "memory_session_capture"

# In seconds: the time to wait for other writers to the store, and for closing it.
_TIMEOUT = 2.0
_CLOSING = 0.2
_logger = logging.getLogger(__name__)


class Failed(Exception):
    """A failed call; the message gives the reason and a remedy."""


class Worker:
    """A worker for calls, run in the order of arrival. The first call imports the heavy modules."""

    def __init__(self, workspace: Workspace, background: Background) -> None:
        self._workspace = workspace
        self._background = background
        self._thread = ThreadPoolExecutor(1, "calls")
        self._running = threading.Lock()
        self._has_opened = False

    async def call(self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None) -> Answer:
        """Run a call. If it is cancelled before its turn, it never runs.

        Raises:
            Failed: the call failed.
        """
        future: Future[Answer] = self._thread.submit(self._call, tool, given)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Close the store, so that all of it is in one file. Do not wait for a hanging call."""
        if self._has_opened and not self.is_busy():
            wait([self._thread.submit(self._background.warm.let_go)], _CLOSING)

    def is_busy(self) -> bool:
        """Return True while a call is running."""
        return self._running.locked()

    def may_store(self) -> bool:
        """Return True if the settings allow the agent to store memories."""
        return self._workspace.reloaded().settings.flag(_SWITCH)

    def _call(self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None) -> Answer:
        with self._running:
            try:
                return self._done(tool, given)
            except StoreError as error:
                self._background.warm.let_go()  # the next call opens it again
                raise Failed(f"{_sentence(error)}. `recollect doctor` says what is wrong with the store") from error
            except RecollectError as error:
                raise Failed(redact(str(error))) from error
            except OSError as error:
                raise Failed(f"{_sentence(error)}. `recollect doctor` says what is wrong") from error
            except Exception as error:
                _logger.exception("%s failed", tool.name)
                self._background.warm.let_go()
                what = f"{type(error).__name__}: {_sentence(error)}"
                raise Failed(
                    f"{tool.name} failed with an unexpected error ({what}); `recollect doctor` looks for what is wrong"
                ) from error

    def _done(self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None) -> Answer:
        from recollect.engine.engine import Engine
        from recollect.engine.without_store import engine_without_store
        from recollect.learn.remember import JOURNALLED
        from recollect.mcp.answers import remarked
        from recollect.mcp.arguments import Arguments
        from recollect.mcp.tools import DOCTOR, TOOLS

        workspace = self._workspace.reloaded()  # its settings may have changed since the last call
        arguments = Arguments(tool, given)
        try:
            self._has_opened = True
            engine = Engine(workspace, patience=_TIMEOUT, warm=self._background.warm)  # kept open between calls
        except StoreError as error:
            if tool is not schemas.STORE:
                raise
            # Files can still be written.
            answer = TOOLS[tool.name](engine_without_store(workspace, error), arguments)
            return remarked(answer, f"the store cannot be used: {error}", DOCTOR)
        with engine:
            answer = TOOLS[tool.name](engine, arguments)
        if answer.data.get("outcome") == JOURNALLED:
            self._background.warm.let_go()  # the store has failed; the next call opens it again
            return remarked(answer, DOCTOR)
        return answer


def _sentence(error: Exception) -> str:
    return visible(redact(str(error))).rstrip(". ")
