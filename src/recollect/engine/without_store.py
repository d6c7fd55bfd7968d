"""An engine for times when the store cannot be used: files can still be written."""

from __future__ import annotations

from typing import Any, cast

from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.engine.warm import Embedders, Warm
from recollect.errors import StoreError


def engine_without_store(workspace: Workspace, error: StoreError) -> Engine:
    """Return an engine with a store raising the error on every use."""
    return Engine(workspace, warm=cast(Warm, _Broken(error, follows_files=not workspace.acting)))


class _Broken:
    """Stand for the open stores and for the store itself."""

    def __init__(self, error: StoreError, *, follows_files: bool) -> None:
        self._error = error
        self.follows_files = follows_files  # so the journal takes what the store cannot
        self.embedders = Embedders()

    def store(self, *_place: object) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        raise StoreError(str(self._error)) from self._error
