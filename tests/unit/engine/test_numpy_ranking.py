"""Ranking by columns is ranking by rows, only faster."""

from __future__ import annotations

from typing import Any

import numpy  # noqa: F401 (what a process that stays has loaded)
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.ranking.order import Ranked, Weights, rank
from recollect.domain.stored import Standing
from recollect.engine.numpy_ranking import NumpyRanking
from recollect.store.values import Usage

NOW = "2026-11-16T10:00:00Z"
STAMPS = [
    "",
    "2026-11-16",
    "2026-11-16T09:59:59Z",
    "2027-01-01T00:00:00Z",
    "2024-02-29",
    "2026-03-01T12:00:00Z",
    "no time",
]

standings = st.lists(
    st.builds(
        Standing,
        st.uuids().map(str),
        st.sampled_from(KNOWLEDGE),
        st.integers(1, 30),
        st.sampled_from(["high", "medium", "low", "unheard of"]),
        st.sampled_from(STAMPS),
        st.booleans(),
        st.integers(0, 15),
        st.sampled_from(STAMPS),
    ),
    max_size=40,
    unique_by=lambda standing: standing.id,
)
shares = st.floats(0, 1)


@given(
    standings,
    st.lists(shares, max_size=40),
    st.lists(st.floats(0, 30), max_size=40),
    st.tuples(shares, shares, shares),
    st.booleans(),
    st.sampled_from([-1, 1, 3, 20]),
    st.sets(st.integers(0, 39)),
    st.booleans(),
)
def test_columns_rank_as_rows_do(  # noqa: PLR0917 (one for each thing that varies)
    rows: list[Standing],
    similar: list[float],
    worded: list[float],
    weights: tuple[float, float, float],
    decay: bool,
    most: int,
    bare: set[int],
    fixed: bool,
) -> None:
    unembedded = {row.id for place, row in enumerate(rows) if place in bare}
    vector = {row.id: figure for row, figure in zip(rows, similar, strict=False) if row.id not in unembedded}
    keyword = {row.id: figure for row, figure in zip(reversed(rows), worded, strict=False)}
    usages = [Usage(row.id, row.recall_count, 0, row.last_recalled_at) for row in rows if row.recall_count]
    for row in rows:
        if not row.recall_count:
            row.last_recalled_at = ""
    weighed = Weights(*weights).with_relevance(0.6) if fixed else Weights(*weights)
    options: dict[str, Any] = {"now": NOW, "decay": decay, "most": most, "unembedded": unembedded}
    by_rows = rank(rows, vector, keyword, weighed, **options)
    by_columns = NumpyRanking(rows).rank(usages, vector, keyword, weighed, **options)
    assert list(map(figures_of, by_columns)) == list(map(figures_of, by_rows))
    assert {one.id for one in by_columns} == {one.id for one in by_rows}


def figures_of(one: Ranked) -> tuple[float, ...]:
    return *(round(figure, 9) for figure in (one.score, one.prominence, one.relevance)), one.vector, one.keyword


def test_nothing_is_ranked_where_there_is_nothing() -> None:
    assert NumpyRanking([]).rank([], {}, {}, Weights(0.5, 0.2, 0.3), now=NOW, decay=True) == []


def test_usage_of_entries_that_are_out_of_scope_does_not_matter() -> None:
    ranked = NumpyRanking([Standing("a", "patterns")]).rank(
        [Usage("b", 3, 0, NOW)], {"b": 1.0}, {"c": 1.0}, Weights(0.5, 0.2, 0.3), now=NOW, decay=True
    )
    assert [one.id for one in ranked] == ["a"]
