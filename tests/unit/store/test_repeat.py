"""Transactions that are run again."""

from __future__ import annotations

import pytest

from recollect.errors import StoreConflict, StoreError
from recollect.store import repeat
from recollect.store.repeat import TRIES, repeated


def ended(times: int, *, error: type[StoreError] = StoreConflict) -> tuple[list[int], int]:
    """Run a transaction that is ended some times; return its runs, and its result."""
    runs: list[int] = []

    def transaction() -> int:
        runs.append(len(runs))
        if len(runs) <= times:
            raise error("cannot use it: another client was in the way") from KeyError("cause")
        return 42

    return runs, repeated(transaction)


def test_transaction_gives_its_result() -> None:
    assert ended(0) == ([0], 42)


def test_transaction_that_is_ended_is_run_until_it_ends_well() -> None:
    assert ended(TRIES - 1) == ([*range(TRIES)], 42)


def test_transaction_that_is_ended_each_time_says_how_often_and_keeps_the_cause() -> None:
    told = f"cannot use it: another client was in the way, each of {TRIES} times; try again when the others have"
    with pytest.raises(StoreError, match=told) as failed:
        ended(TRIES)
    assert not isinstance(failed.value, StoreConflict)
    assert isinstance(failed.value.__cause__, KeyError)
    assert failed.value.fix == "try again when the others have finished"


def test_transaction_that_fails_for_another_reason_is_not_run_again() -> None:
    with pytest.raises(StoreError, match=r"in the way$"):
        ended(1, error=StoreError)


def test_transaction_whose_conflicts_take_long_to_be_told_is_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeat, "_ENOUGH", -1.0)
    assert ended(1) == ([0, 1], 42)
    with pytest.raises(StoreError, match="each of 2 times"):
        ended(2)
