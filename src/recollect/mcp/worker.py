"""Run tool calls in threads, each with its own connection to the store: one for a file, some for a server."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import visible
from recollect.errors import RecollectError, StoreError
from recollect.mcp import metrics, schemas
from recollect.mcp.metrics import Metrics
from recollect.resident.background import Background

if TYPE_CHECKING:
    from recollect.domain.shared.acting import Acting
    from recollect.engine.engine import Engine
    from recollect.mcp.answers import Answer

_SWITCH = "memory_session_capture"

# In seconds: the time to wait for other writers to the store, and for closing it.
_TIMEOUT = 2.0
_CLOSING = 0.2

# The scopes whose entries without a vector are counted.
_MOST_SERVED = 20
_logger = logging.getLogger(__name__)


class Failed(Exception):
    """A failed call; the message gives the reason and a remedy."""

    def __init__(self, reason: str, outcome: str = metrics.FAILED) -> None:
        super().__init__(reason)
        self.outcome = outcome


class Worker:
    """A worker for calls, begun in the order of arrival. The first call imports the heavy modules."""

    def __init__(
        self, workspace: Workspace, background: Background, *, threads: int = 1, seconds: float | None = None
    ) -> None:
        """Do up to `threads` calls at once, and give each of them up after `seconds`, if given."""
        self._workspace = workspace
        self._background = background
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(threads, "calls")
        self._counting = threading.Lock()
        self._taken = 0
        self._running = 0
        self._has_opened = False
        self._served: dict[str, Acting] = {}  # a user of each scope
        self.metrics = Metrics()

    async def call(
        self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None, acting: Acting | None = None
    ) -> Answer:
        """Run a call, for the process itself or for a user. If it is cancelled before its turn, it never runs.

        Raises:
            Failed: the call failed.
        """
        begun, outcome = time.monotonic(), metrics.CANCELLED
        try:
            answer = await self._in_time(tool, self._threads.submit(self._call, tool, given, acting))
        except Failed as failure:
            outcome = failure.outcome
            raise
        else:
            outcome = metrics.ANSWERED
            return answer
        finally:
            self.metrics.count_call(tool.name, outcome, time.monotonic() - begun)

    async def _in_time(self, tool: schemas.ToolSchema, future: Future[Answer]) -> Answer:
        with self._counting:
            self._taken += 1
        future.add_done_callback(self._settled)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            late = f"{tool.name} was not answered within {self._seconds:g} s"
            if future.cancelled():
                raise Failed(f"{late}: the server is busy. Nothing was done; try again later", metrics.LATE) from None
            unsure = "" if tool.read_only else ". It may still be done: look with search_memory before you repeat it"
            raise Failed(f"{late}: the store is slow{unsure or '; try again later'}", metrics.LATE) from None

    def _settled(self, _future: Future[Answer]) -> None:
        with self._counting:
            self._taken -= 1

    def close(self) -> None:
        """Close the store, so that all of it is in one file. Do not wait for a hanging call."""
        if self._has_opened and not self.is_busy():
            wait([self._threads.submit(self._background.warm.let_go)], _CLOSING)

    def is_busy(self) -> bool:
        """Return True while a call is running."""
        return bool(self._running)

    @property
    def counts(self) -> tuple[int, int]:
        """Return the numbers of running and of waiting calls."""
        with self._counting:
            return self._running, max(0, self._taken - self._running)

    def look(self) -> None:
        """Make sure that the store answers, in a thread of the caller.

        Raises:
            StoreError: it does not.
        """
        try:
            self._engine().store.get_meta("")
        except StoreError:
            self._background.warm.let_go()
            raise

    def pending(self) -> int:
        """Return the number of entries that await a vector, in the scopes served lately, in a thread of the caller.

        Raises:
            StoreError: the store cannot be used.
        """
        total = self._awaiting(None)
        for scope, acting in list(self._served.items()):
            try:
                total += self._awaiting(acting)
            except StoreError:
                self._served.pop(scope, None)  # its user may not see it any more
                self._background.warm.let_go()
        return total

    def _awaiting(self, acting: Acting | None) -> int:
        engine = self._engine(acting)
        engine.model()
        return engine.store.coverage().pending

    def _engine(self, acting: Acting | None = None) -> Engine:
        from recollect.engine.engine import Engine

        workspace = self._workspace.reloaded()  # its settings may have changed since the last call
        if acting:
            self._note_served(acting)
            workspace = workspace.acting_for(acting)
        return Engine(workspace, patience=_TIMEOUT, warm=self._background.warm)  # kept open between calls

    def _note_served(self, acting: Acting) -> None:
        with self._counting:
            self._served[acting.scope] = acting  # the last one: tokens of those before may be over
            if len(self._served) > _MOST_SERVED:
                del self._served[next(iter(self._served))]

    def may_store(self) -> bool:
        """Return True if the settings allow the agent to store memories."""
        return self._workspace.reloaded().settings.flag(_SWITCH)

    def _call(self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None, acting: Acting | None) -> Answer:
        with self._counting:
            self._running += 1
        try:
            return self._tried(tool, given, acting)
        finally:
            with self._counting:
                self._running -= 1

    def _tried(self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None, acting: Acting | None) -> Answer:
        try:
            return self._done(tool, given, acting)
        except StoreError as error:
            self.metrics.count_store_error()
            self._background.warm.let_go()  # the next call opens it again
            raise Failed(f"{_sentence(error)}. `recollect doctor` says what is wrong with the store") from error
        except RecollectError as error:
            raise Failed(redact(str(error)), metrics.REFUSED) from error
        except OSError as error:
            raise Failed(f"{_sentence(error)}. `recollect doctor` says what is wrong") from error
        except Exception as error:
            _logger.exception("%s failed", tool.name)
            self._background.warm.let_go()
            what = f"{type(error).__name__}: {_sentence(error)}"
            raise Failed(
                f"{tool.name} failed with an unexpected error ({what}); `recollect doctor` looks for what is wrong"
            ) from error

    def _done(self, tool: schemas.ToolSchema, given: Mapping[str, Any] | None, acting: Acting | None) -> Answer:
        from recollect.engine.without_store import engine_without_store
        from recollect.learn.remember import JOURNALLED
        from recollect.mcp.answers import remarked
        from recollect.mcp.arguments import Arguments
        from recollect.mcp.tools import DOCTOR, TOOLS

        arguments = Arguments(tool, given)
        try:
            self._has_opened = True
            engine = self._engine(acting)
        except StoreError as error:
            workspace = self._workspace.reloaded()
            if tool is not schemas.STORE or acting or workspace.acting:
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
