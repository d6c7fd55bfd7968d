"""The protocol of databases: what an engine gives to the SQL that it shares with others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class SqlDatabase(Protocol):
    """An open database. Statements have question marks for their values, and use the SQL that all engines have."""

    GREATEST: str  # the function for the greatest of several values

    @property
    def read_only(self) -> bool: ...

    def close(self) -> None: ...

    def wait(self, patience: float) -> None:
        """Set the number of seconds to wait for other writers from now on."""

    def run(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Run a statement and return all rows.

        Raises:
            StoreError: the statement failed.
        """
        ...

    def select(self, statement: str, keys: Sequence[object], values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement for any number of keys, in portions if need be. Return all rows.

        Raises:
            StoreError: the statement failed.
        """
        ...

    def run_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement that returns nothing for each row of values. Needs a transaction.

        Raises:
            StoreError: the statement failed.
        """

    def begin(self) -> None:
        """Begin a write transaction and keep other writers out. A nested one can fail by itself."""

    def end(self, *, kept: bool) -> None:
        """End the innermost transaction: commit it if `kept`, or else roll it back."""

    def version(self) -> object:
        """Return a version, new whenever any process may have changed entries or vectors."""
        ...

    def count_change(self) -> None:
        """Count a change of entries or vectors, so `version` need not read them. Needs a transaction."""
