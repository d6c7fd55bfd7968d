"""The weight of an entry by its use: within its bounds, for order alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.feedback.weight import HIGHEST, LOWEST, factor
from recollect.domain.ranking.aboutness import Judgement
from recollect.domain.ranking.order import Ranked, Weights, rank
from recollect.domain.stored import Standing, StoredEntry
from recollect.recall.prompt_request import Hit

COUNTS = st.integers(0, 10_000)
LESSON = StoredEntry(id="0" * 16, category="patterns", name="A lesson", description="Something.", created_at="")


@given(COUNTS, COUNTS, COUNTS)
def test_the_factor_stays_within_its_bounds(times: int, used: int, contradicted: int) -> None:
    assert LOWEST <= factor(times, used, contradicted) <= HIGHEST


@given(COUNTS, COUNTS, COUNTS)
def test_use_raises_the_factor_and_contradiction_lowers_it(times: int, used: int, contradicted: int) -> None:
    here = factor(times, used, contradicted)
    assert factor(times, used + 1, contradicted) >= here
    assert factor(times + 1, used, contradicted) <= here
    assert factor(times, used, contradicted + 1) <= here


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [((0, 0, 0), 1.0), ((1, 0, 0), 0.94), ((5, 0, 0), 0.83), ((20, 0, 0), 0.75), ((1, 1, 0), 1.03),
     ((20, 20, 0), 1.125),
     ((4, 1, 0), 1.0), ((1, 1, 1), 0.87)],
)  # fmt: skip
def test_the_factor_of_some_entries(counts: tuple[int, int, int], wanted: float) -> None:
    assert factor(*counts) == pytest.approx(wanted, abs=0.01)


IDS = st.integers(0, 30).map(lambda number: f"{number:016x}")
USES = st.dictionaries(IDS, st.floats(LOWEST, HIGHEST), max_size=20)
FIGURES = st.dictionaries(IDS, st.floats(0.0, 1.0), max_size=30)
STANDINGS = st.dictionaries(IDS, st.tuples(st.integers(1, 20), st.sampled_from(["low", "medium", "high"])), min_size=1)


@given(STANDINGS, FIGURES, FIGURES, USES)
def test_use_changes_the_order_of_a_start_within_its_bounds_and_nothing_else(
    rows: dict[str, tuple[int, str]], vector: dict[str, float], keyword: dict[str, float], uses: dict[str, float]
) -> None:
    standings = [Standing(id, "patterns", count, confidence, "2026-01-01") for id, (count, confidence) in rows.items()]
    found = {id: figure for id, figure in vector.items() if id in rows}
    worded = {id: figure for id, figure in keyword.items() if id in rows}

    def ranked(uses: dict[str, float] | None) -> list[Ranked]:
        return rank(standings, found, worded, Weights(0.5, 0.2, 0.3), now="2026-02-01", decay=True, uses=uses)

    before, after = {each.id: each for each in ranked(None)}, ranked(uses)
    assert {each.id for each in after} == before.keys()
    for each in after:
        same = before[each.id]
        assert each.score == pytest.approx(same.score * uses.get(each.id, 1.0))
        parts = (each.vector, each.keyword, each.prominence, each.relevance, each.category)
        assert parts == (same.vector, same.keyword, same.prominence, same.relevance, same.category)
    places = {each.id: place for place, each in enumerate(after)}
    for one in before.values():
        for other in before.values():
            if one.score * LOWEST > other.score * HIGHEST:
                assert places[one.id] < places[other.id]
    assert [(each.id, each.score) for each in ranked({})] == [(each.id, each.score) for each in ranked(None)]


@given(st.floats(0, 40), st.floats(0, 20), st.floats(1, 30), st.floats(LOWEST, HIGHEST))
def test_use_changes_the_rank_of_a_hit_and_not_its_bar(words: float, meaning: float, bar: float, use: float) -> None:
    judgement = Judgement(words, meaning, bar, 0.0)
    hit, same = Hit(LESSON, judgement, use=use), Hit(LESSON, judgement)
    assert (hit.nats, hit.bar, hit.words, hit.meaning) == (same.nats, same.bar, same.words, same.meaning)
    assert hit.rank == pytest.approx((words + meaning) * use - bar)
    assert same.rank == same.nats
