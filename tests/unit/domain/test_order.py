"""The order of entries for a session: the figures of the specification, and what must hold whatever the figures."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.ranking.order import (
    STRENGTH_DAYS,
    Ranked,
    Weights,
    days_between,
    prominence,
    rank,
    retention,
    spread,
)
from recollect.domain.ranking.selection import select_ranked
from recollect.domain.stored import Standing

NOW = "2026-03-31T00:00:00Z"
SPECIFIED = Weights(0.5, 0.2, 0.3)


def standing(id: str = "a", category: str = "patterns", **known: object) -> Standing:
    return Standing(id, category, **{"updated_at": NOW, **known})  # type: ignore[arg-type]


def order(*standings: Standing, vector: object = None, keyword: object = None, **known: object) -> list[Ranked]:
    options = {"weights": SPECIFIED, "now": NOW, "decay": False, **known}
    return rank(list(standings), vector or {}, keyword or {}, **options)  # type: ignore[arg-type]


def parts(weights: Weights) -> tuple[float, float, float]:
    return weights.vector, weights.keyword, weights.prominence


# Prominence


@pytest.mark.parametrize(
    ("known", "most", "figure"),
    [
        ({"observation_count": 1, "confidence": "high"}, 1, 0.3 + 0.2 * 1.0 + 0.3),
        ({"observation_count": 1, "confidence": "medium"}, 1, 0.3 + 0.2 * 0.67 + 0.3),
        ({"observation_count": 1, "confidence": "low"}, 1, 0.3 + 0.2 * 0.33 + 0.3),
        ({"observation_count": 1, "confidence": "high"}, 4, 0.3 / 4 + 0.2 + 0.3),
        ({"observation_count": 4, "confidence": "high", "recall_count": 5}, 4, 0.3 + 0.2 + 0.3 + 0.2 * 0.5),
        ({"confidence": "high", "recall_count": 10}, 1, 1.0),
        ({"confidence": "high", "recall_count": 99}, 1, 1.0),
        ({"confidence": "high", "updated_at": "2026-03-01T00:00:00Z"}, 1, 0.3 + 0.2 + 0.3 / 2),
        ({"confidence": "high", "updated_at": "2026-01-30T00:00:00Z"}, 1, 0.3 + 0.2 + 0.3 / 3),
        ({"confidence": "high", "updated_at": "2099-01-01T00:00:00Z"}, 1, 0.3 + 0.2 + 0.3),
        ({"confidence": "unheard of", "updated_at": "no time"}, 1, 0.3 + 0.2 * 0.67 + 0.3),
        ({"observation_count": 0, "confidence": "high"}, 0, 0.2 + 0.3),
    ],
)
def test_prominence_has_the_specified_figures(known: dict[str, object], most: int, figure: float) -> None:
    assert prominence(standing(**known), most, NOW) == pytest.approx(figure, abs=1e-12)


@given(
    observed=st.integers(0, 50),
    confidence=st.sampled_from(["low", "medium", "high"]),
    recalls=st.integers(0, 30),
    day=st.integers(1, 28),
)
def test_prominence_lies_between_nothing_and_one_and_grows_with_each_part(
    observed: int, confidence: str, recalls: int, day: int
) -> None:
    known = {"observation_count": observed, "confidence": confidence, "recall_count": recalls}
    figure = prominence(standing(**known, updated_at=f"2026-02-{day:02}T00:00:00Z"), 51, NOW)
    assert 0 <= figure <= 1
    more = {**known, "observation_count": observed + 1, "recall_count": recalls + 1}
    assert prominence(standing(**more, updated_at=f"2026-03-{day:02}T00:00:00Z"), 51, NOW) > figure


# Min-max


def test_spread_reaches_from_nothing_to_one() -> None:
    assert spread({"a": -1.0, "b": 0.0, "c": 3.0}) == {"a": 0.0, "b": 0.25, "c": 1.0}


def test_equal_scores_are_all_one_and_none_stay_none() -> None:
    assert spread({"a": 0.4, "b": 0.4}) == {"a": 1.0, "b": 1.0}
    assert spread({"a": 0.0}) == {"a": 1.0}
    assert spread({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(-1e6, 1e6), min_size=1))
def test_spread_keeps_the_order_and_the_bounds(scores: dict[str, float]) -> None:
    stretched = spread(scores)
    assert all(0.0 <= score <= 1.0 for score in stretched.values())
    assert max(stretched.values()) == 1.0
    by_score = sorted(scores, key=lambda id: scores[id])
    assert [stretched[id] for id in by_score] == sorted(stretched.values())


# Weights


def test_all_signals_count_as_specified() -> None:
    [best, other] = order(standing("a"), standing("b"), vector={"a": 0.9, "b": 0.1}, keyword={"b": 3.0})
    assert (best.id, best.score) == ("a", pytest.approx(0.5 * 1 + 0.2 * 0 + 0.3 * 1))
    assert (other.id, other.score) == ("b", pytest.approx(0.5 * 0 + 0.2 * 1 + 0.3 * 1))


@pytest.mark.parametrize(
    ("missing", "left"),
    [
        ({}, (0.5, 0.2, 0.3)),
        ({"vector": True}, (0.0, 0.7, 0.3)),
        ({"keyword": True}, (0.625, 0.0, 0.375)),
        ({"vector": True, "keyword": True}, (0.0, 0.0, 1.0)),
    ],
)
def test_missing_signal_gives_its_weight_to_the_others_and_vectors_give_theirs_to_words(
    missing: dict[str, bool], left: tuple[float, float, float]
) -> None:
    assert parts(SPECIFIED.without(**missing)) == pytest.approx(left)


def test_words_without_a_weight_gain_none_from_missing_vectors() -> None:
    assert parts(Weights(0.5, 0.0, 0.3).without(vector=True)) == (0.0, 0.0, 1.0)


def test_by_words_alone_a_weak_match_comes_before_an_entry_that_is_only_prominent() -> None:
    known = standing("known", observation_count=9, confidence="high")
    weak, strong = standing("weak", confidence="low"), standing("strong", confidence="low")
    ranked = order(known, weak, strong, keyword={"weak": 1.0, "strong": 4.0})
    assert [each.id for each in ranked] == ["strong", "weak", "known"]
    assert [each.keyword for each in ranked] == [1.0, 0.5, 0.0]


def test_weights_that_leave_nothing_leave_prominence() -> None:
    assert parts(Weights(1.0, 0.0, 0.0).without(vector=True)) == (0.0, 0.0, 1.0)


def test_signal_without_candidates_is_missing_and_not_zero() -> None:
    [only] = order(standing("a"), keyword={"a": 2.0})
    assert only.score == pytest.approx(1.0)
    [first, second] = order(standing("a"), standing("b"), keyword={"a": 2.0})
    assert (first.score, second.score) == (pytest.approx(1.0), pytest.approx(0.3))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.7, 1.0])
def test_relevance_weight_keeps_the_proportion_of_vector_to_keyword(share: float) -> None:
    vector, keyword, rest = parts(SPECIFIED.with_relevance(share))
    assert (vector + keyword, rest) == (pytest.approx(share), pytest.approx(1 - share))
    assert vector == pytest.approx(2.5 * keyword)


def test_relevance_weight_is_halved_when_neither_had_any() -> None:
    assert parts(Weights(0.0, 0.0, 1.0).with_relevance(0.6)) == pytest.approx((0.3, 0.3, 0.4))


@pytest.mark.parametrize(
    ("missing", "left"),
    [
        ({}, (0.6 * 5 / 7, 0.6 * 2 / 7, 0.4)),
        ({"vector": True}, (0.0, 0.6, 0.4)),
        ({"keyword": True}, (0.6, 0.0, 0.4)),
        ({"vector": True, "keyword": True}, (0.0, 0.0, 1.0)),
    ],
)
def test_relevance_weight_splits_what_is_there(missing: dict[str, bool], left: tuple[float, float, float]) -> None:
    assert parts(SPECIFIED.with_relevance(0.6).without(**missing)) == pytest.approx(left)


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_relevance_weight_leaves_keywords_out_that_have_no_weight(share: float) -> None:
    weighed = Weights(0.5, 0.0, 0.5).with_relevance(share)
    assert parts(weighed.without(vector=True)) == pytest.approx((0.0, 0.0, 1.0))


weights = st.floats(0.0, 1.0)


@given(weights, weights, weights, st.booleans(), st.booleans())
def test_weights_sum_up_to_one_whatever_is_missing(
    vector: float, keyword: float, rest: float, no_vector: bool, no_keyword: bool
) -> None:
    left = Weights(vector, keyword, rest).without(vector=no_vector, keyword=no_keyword)
    assert sum(parts(left)) == pytest.approx(1.0)
    assert all(part >= 0 for part in parts(left))


# Entries without a vector, while others have one


def test_entry_without_a_vector_is_judged_by_the_signals_that_it_has() -> None:
    standings = [standing("near"), standing("far"), standing("bare")]
    ranked = order(*standings, vector={"near": 0.9, "far": 0.1}, keyword={"bare": 3.0}, unembedded=["bare"])
    scores = {each.id: each.score for each in ranked}
    assert scores == pytest.approx({"near": 0.5 + 0.3, "far": 0.3, "bare": 0.7 + 0.3})
    assert {each.id: each.relevance for each in ranked} == pytest.approx({"near": 0.5, "far": 0.0, "bare": 0.7})


def test_entry_that_is_no_candidate_by_meaning_still_counts_as_far() -> None:
    ranked = order(standing("near"), standing("other"), vector={"near": 0.9}, keyword={"other": 3.0})
    assert {each.id: each.score for each in ranked} == pytest.approx({"near": 0.8, "other": 0.5})


def test_entries_without_a_vector_make_no_difference_where_none_has_one() -> None:
    standings = [standing("a"), standing("b", observation_count=3)]
    every, none = order(*standings, keyword={"a": 2.0}, unembedded="ab"), order(*standings, keyword={"a": 2.0})
    assert [(each.id, each.score) for each in every] == [(each.id, each.score) for each in none]


# Order


def test_candidate_that_is_not_there_any_more_is_left_out() -> None:
    assert [each.id for each in order(standing("a"), vector={"a": 0.1, "retired": 0.9})] == ["a"]
    assert order(vector={"retired": 0.9}) == []


def test_equal_scores_are_ordered_by_prominence_and_then_by_id() -> None:
    ranked = order(standing("b"), standing("a"), standing("c"))
    assert [each.id for each in ranked] == ["a", "b", "c"]


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1)),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 30)),
    st.booleans(),
)
def test_scores_lie_between_nothing_and_one_and_come_in_order(
    vector: dict[str, float], keyword: dict[str, float], decay: bool
) -> None:
    standings = [standing(id, observation_count=number + 1) for number, id in enumerate("abcdef")]
    ranked = order(*standings, vector=vector, keyword=keyword, decay=decay)
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert sorted(each.id for each in ranked) == list("abcdef")
    assert all(-1e-12 <= score <= 1 + 1e-12 for score in scores)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(-0.9, 0.9), min_size=6),
    st.sampled_from("abcdef"),
    st.floats(0.0, 0.1),
)
def test_entry_that_comes_closer_never_falls(vector: dict[str, float], id: str, closer: float) -> None:
    standings = [standing(each) for each in "abcdef"]
    before = [each.id for each in order(*standings, vector=vector)].index(id)
    after = [each.id for each in order(*standings, vector={**vector, id: vector[id] + closer})].index(id)
    assert after <= before


# Decay


@pytest.mark.parametrize("recalls", [0, 1, 9])
def test_retention_is_the_exponential_of_time_over_a_strength_that_grows_with_recall(recalls: int) -> None:
    old = standing(updated_at="2025-03-31T00:00:00Z", recall_count=recalls)
    assert retention(old, NOW) == pytest.approx(math.exp(-365 / (STRENGTH_DAYS * (1 + recalls))))


def test_retention_starts_again_with_each_recall() -> None:
    old = standing(updated_at="2020-01-01T00:00:00Z", last_recalled_at=NOW, recall_count=1)
    assert retention(old, NOW) == 1.0


def test_decay_changes_the_order_only_when_it_is_asked_for() -> None:
    faded = standing("faded", observation_count=9, confidence="high", updated_at="2020-01-01T00:00:00Z")
    fresh = standing("fresh", observation_count=1, confidence="low")
    last = standing("last", confidence="low", updated_at="2020-01-01T00:00:00Z")
    near = {"faded": 0.9, "fresh": 0.8, "last": 0.1}
    assert [each.id for each in order(faded, fresh, last, vector=near)] == ["faded", "fresh", "last"]
    assert [each.id for each in order(faded, fresh, last, vector=near, decay=True)] == ["fresh", "faded", "last"]


# Days

moments = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(microsecond=0)
)


@given(moments, moments)
def test_days_between_agree_with_the_calendar(first: datetime, second: datetime) -> None:
    days = (second - first).total_seconds() / 86_400
    stamps = [moment.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z") for moment in (first, second)]
    assert days_between(*stamps) == pytest.approx(max(0.0, days), abs=1e-6)


@given(st.text(max_size=25), st.text(alphabet="0123456789-T:Z", max_size=25))
def test_days_between_never_raises_and_is_never_negative(one: str, other: str) -> None:
    for stamps in ((one, other), (other, one), (one, NOW), (NOW, other)):
        assert days_between(*stamps) >= 0.0


@pytest.mark.parametrize("stamp", ["", "yesterday", "2026", "2026-3-1", "٢٠٢٦"])
def test_what_is_no_time_is_no_time_ago(stamp: str) -> None:
    assert days_between(stamp, NOW) == 0.0
    assert days_between(NOW, stamp) == 0.0


def test_days_of_dates_alone_begin_at_midnight() -> None:
    assert days_between("2026-03-30", NOW) == 1.0
    assert days_between("2026-03-30T12:00:00Z", NOW) == 0.5


# Selection


def ranked(categories: list[str]) -> list[Ranked]:
    """Entries of these categories, the best first."""
    return [
        Ranked(standing(f"e{place}", category), 1 - place / 1000, vector=0, keyword=0, prominence=0)
        for place, category in enumerate(categories)
    ]


def chosen(categories: list[str], limit: int) -> list[str]:
    return [entry.id for entry in select_ranked(ranked(categories), limit)]


# Ten of one category before ten of the next: only the minimum lets the others in.
LOPSIDED = [category for category in KNOWLEDGE for _ in range(10)]


@pytest.mark.parametrize(
    ("limit", "places"),
    [
        (0, []),
        (1, [0]),
        (8, [0, 1, 2, 3, 4, 5, 6, 7]),
        (9, [0, 1, 2, 10, 11, 12, 20, 21, 22]),
        (10, [0, 1, 2, 3, 10, 11, 12, 20, 21, 22]),
        (20, [*range(17), 20, 21, 22]),
        (-1, list(range(30))),
        (30, list(range(30))),
        (99, list(range(30))),
    ],
)
def test_limit_is_kept_and_each_category_gets_three_where_there_is_room(limit: int, places: list[int]) -> None:
    assert chosen(LOPSIDED, limit) == [f"e{place}" for place in places]


def test_minimum_counts_only_categories_that_have_entries() -> None:
    categories = ["patterns"] * 10 + ["heuristics"] * 10
    assert chosen(categories, 6) == ["e0", "e1", "e2", "e10", "e11", "e12"]
    assert chosen(categories, 5) == ["e0", "e1", "e2", "e3", "e4"]


def test_category_with_fewer_than_three_leaves_its_places_to_the_best() -> None:
    assert chosen(["patterns"] * 10 + ["heuristics"], 6) == ["e0", "e1", "e2", "e3", "e4", "e10"]


def test_nothing_to_choose_from_is_nothing() -> None:
    assert select_ranked([], 20) == []


lists = st.lists(st.sampled_from([*KNOWLEDGE, "decision"]), max_size=40)


@given(lists, st.integers(-1, 50))
def test_selection_is_bounded_has_no_duplicates_and_keeps_the_order(categories: list[str], limit: int) -> None:
    everything = ranked(categories)
    picked = select_ranked(everything, limit)
    assert len(picked) == (len(everything) if limit < 0 else min(limit, len(everything)))
    assert len({entry.id for entry in picked}) == len(picked)
    assert [entry.score for entry in picked] == sorted((entry.score for entry in picked), reverse=True)


@given(lists, st.integers(0, 50))
def test_no_entry_is_chosen_over_a_better_one_of_its_category(categories: list[str], limit: int) -> None:
    everything = ranked(categories)
    picked = {entry.id for entry in select_ranked(everything, limit)}
    for category in set(categories):
        taken = [entry.id in picked for entry in everything if entry.category == category]
        assert taken == sorted(taken, reverse=True)


@given(lists, st.integers(9, 50))
def test_every_category_has_its_three_when_the_limit_has_room(categories: list[str], limit: int) -> None:
    picked = [entry.category for entry in select_ranked(ranked(categories), limit)]
    for category in KNOWLEDGE:
        assert picked.count(category) >= min(3, categories.count(category))


@given(lists, st.integers(9, 50))
def test_larger_limit_keeps_what_a_smaller_one_has_chosen(categories: list[str], limit: int) -> None:
    assert set(chosen(categories, limit)) <= set(chosen(categories, limit + 1))


@given(st.lists(st.tuples(st.sampled_from(KNOWLEDGE), st.integers(1, 9)), min_size=1, max_size=60), st.integers(1, 25))
def test_ranking_only_the_best_chooses_the_same_as_ranking_all(known: list[tuple[str, int]], limit: int) -> None:
    standings = [standing(f"{n:03}", c, observation_count=count) for n, (c, count) in enumerate(known)]
    some = [item.id for item in select_ranked(order(*standings, most=limit), limit)]
    assert some == [item.id for item in select_ranked(order(*standings), limit)]
