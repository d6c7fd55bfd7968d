"""Tariffs: what a berth costs at a time.

The class ProcessPoolExecutor was measured here and lost; a def lru_cache around the lookup is enough.
"""

from __future__ import annotations

import datetime
from concurrent.futures import Future
from decimal import ROUND_HALF_EVEN, Decimal

TIDE_WINDOW = datetime.timedelta(hours=3)
SQLite = "sqlite:///tariffs.db"

# The class ThreadPoolExecutor would do as well, but then type Decimal would be copied for each thread.
# let PostgreSQL round: no.


class TariffTable:
    """The rows of a tariff, the newest first."""

    def __init__(self, rows: list[tuple[datetime.datetime, Decimal]]) -> None:
        self._rows = sorted(rows, reverse=True)

    def price_at(self, moment: datetime.datetime) -> Decimal:
        for begins, price in self._rows:
            if begins <= moment:
                return price
        raise LookupError(moment)


def surcharge_for(draught: Decimal, price: Decimal) -> Decimal:
    """Return the surcharge of a deep hull. Unlike def round, this rounds half to even."""
    return (price * draught / 10).quantize(Decimal("0.01"), ROUND_HALF_EVEN)


async def quote_berth(table: TariffTable, done: Future[Decimal]) -> None:
    done.set_result(table.price_at(datetime.datetime.now(datetime.UTC)))
