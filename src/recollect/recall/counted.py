"""Count searches as recall, by keeping a receipt of their hits."""

from __future__ import annotations

import time

from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.recall.search import SearchResult
from recollect.store.values import Receipt, ReceiptLine

_LONGEST_QUERY = 1_000


def count_search(engine: Engine, result: SearchResult) -> list[str]:
    """Keep a receipt of a search's hits, count them as recalled if the settings say so, and return warnings."""
    if not result.hits:
        return []
    # For privacy, only those words of the query are kept that the store holds already.
    known = [term for term in result.retrieval.terms if result.retrieval.statistics.frequencies.get(term)]
    receipt = Receipt(
        at=utc_text(time.gmtime()),
        event="search",
        project=engine.project,
        session="",
        query=" ".join(known)[:_LONGEST_QUERY],
        lines=[
            ReceiptLine(
                hit.entry.id,
                hit.score,
                vector=hit.vector or 0.0,
                keyword=hit.keyword or 0.0,
                prominence=hit.prominence,
            )
            for hit in result.hits
        ],
    )
    try:
        engine.store.recalled(receipt, counted=engine.settings.flag("memory_recall_tracking"))
    except StoreError as error:
        return [f"the recall was not counted: {error}"]
    return []
