from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import CONFIDENCE, Entry
from recollect.domain.ranking.order import Ranked, by_priority
from recollect.domain.ranking.selection import (
    deduplicate,
    select,
    select_ranked,
    select_varied,
)
from recollect.domain.ranking.trust import MOST_CLAIMED
from recollect.domain.stored import Standing
from recollect.files.bank.bank import BankFile


def make(name: str, category: str = "patterns", description: str | None = None, **known: object) -> Entry:
    text = f"what {name} says" if description is None else description
    return Entry(category=category, name=name, description=text, **known)


def vouched(entry: Entry) -> Entry:
    """The same entry, from a source that the user has vouched for."""
    entry.is_vouched = True
    return entry


def names(entries: Sequence[Entry]) -> list[str]:
    return [entry.name for entry in entries]


def many(category: str, count: int) -> list[Entry]:
    """Entries of which the first is the most important."""
    return [make(f"{category} {n}", category, observation_count=100 - n, position=n) for n in range(count)]


@st.composite
def banks(draw: st.DrawFn) -> list[Entry]:
    entries: list[Entry] = []
    for category in KNOWLEDGE:
        for position in range(draw(st.integers(0, 12))):
            local = draw(st.booleans())
            entries.append(
                make(
                    f"{category} {position}",
                    category,
                    observation_count=draw(st.integers(0, 4)),
                    confidence=draw(st.sampled_from(CONFIDENCE)),
                    last_observed="" if local else draw(st.sampled_from(["", "2026-01-01", "2026-02-01"])),
                    origin="local" if local else "global",
                    position=position,
                )
            )
    return entries


limits = st.integers(-1, 40)


# Ranking


def test_by_priority_puts_the_most_observed_first() -> None:
    ranked = by_priority([make("twice", observation_count=2), make("nine", observation_count=9), make("once")])
    assert names(ranked) == ["nine", "twice", "once"]


def test_by_priority_orders_equally_observed_entries_by_confidence() -> None:
    ranked = by_priority([make(level, confidence=level) for level in ("low", "high", "medium")])
    assert names(ranked) == ["high", "medium", "low"]


def test_by_priority_prefers_observations_to_confidence_and_recency() -> None:
    often = make("often", observation_count=3, confidence="low", position=0)
    sure = make("sure", observation_count=2, confidence="high", position=9)
    assert names(by_priority([sure, often])) == ["often", "sure"]


def test_by_priority_prefers_confidence_to_recency() -> None:
    sure = make("sure", confidence="high", last_observed="2025-01-01", origin="global")
    recent = make("recent", confidence="medium", last_observed="2026-01-01", origin="global")
    assert names(by_priority([recent, sure])) == ["sure", "recent"]


def test_by_priority_takes_later_local_entries_for_newer_ones() -> None:
    assert names(by_priority([make(str(n), position=n) for n in (0, 2, 1)])) == ["2", "1", "0"]


def test_by_priority_orders_global_entries_by_date_and_not_by_position() -> None:
    old = make("old", origin="global", last_observed="2025-12-31", position=7)
    new = make("new", origin="global", last_observed="2026-01-01", position=1)
    undated = make("undated", origin="global", position=9)
    assert names(by_priority([undated, old, new])) == ["new", "old", "undated"]


def test_by_priority_ignores_the_date_of_a_local_entry() -> None:
    early = make("early", last_observed="2026-06-01", position=0)
    late = make("late", last_observed="2024-06-01", position=1)
    assert names(by_priority([early, late])) == ["late", "early"]


def test_by_priority_puts_the_user_s_own_entry_before_an_equal_one_of_the_repository() -> None:
    shared = make("shared", origin="global", last_observed="2026-01-01", position=5)
    assert names(by_priority([shared, make("own", position=0)])) == ["shared", "own"]


def test_by_priority_bounds_what_a_repository_claims_but_keeps_the_order_of_its_own() -> None:
    theirs = [make(str(count), observation_count=count) for count in (9999, 500, MOST_CLAIMED)]
    mine = make("mine", origin="global", observation_count=MOST_CLAIMED + 1)
    assert names(by_priority([*theirs, mine])) == ["mine", "9999", "500", str(MOST_CLAIMED)]


def test_by_priority_counts_what_a_vouched_repository_claims_and_puts_its_entry_before_an_equal_one() -> None:
    theirs = [make("many", observation_count=MOST_CLAIMED + 2), make("few", position=0)]
    mine = [make(str(count), origin="global", observation_count=count) for count in (1, MOST_CLAIMED + 1)]
    assert names(by_priority([*mine, *map(vouched, theirs)])) == ["many", str(MOST_CLAIMED + 1), "few", "1"]


@settings(deadline=None)
@given(banks(), st.randoms(use_true_random=False))
def test_by_priority_never_demotes_an_entry_that_is_observed_again(entries: list[Entry], random: object) -> None:
    entries = [entry for entry in entries if entry.category == "patterns"]
    if not entries:
        return
    entry = random.choice(entries)
    before = by_priority(entries).index(entry)
    entry.observation_count += 1
    assert by_priority(entries).index(entry) <= before


# Deduplication


@pytest.mark.parametrize("origin", ["local", "global"])
def test_deduplicate_keeps_the_version_observed_more_often(origin: str) -> None:
    entries = [make(str(n), description="Read first.", origin=origin, observation_count=n) for n in (2, 3, 1)]
    assert names(deduplicate(entries)) == ["3"]


@pytest.mark.parametrize(("claimed", "counted"), [(1, 2), (3, 3), (9999, MOST_CLAIMED)])
def test_deduplicate_keeps_the_user_s_own_version_and_the_larger_count(claimed: int, counted: int) -> None:
    for turn in (1, -1):
        theirs = make("theirs", description="Read first.", observation_count=claimed)
        mine = make("mine", description="Read first.", origin="global", observation_count=2)
        (kept,) = deduplicate([theirs, mine][::turn])
        assert (kept.name, kept.origin, kept.observation_count) == ("mine", "global", counted)


@pytest.mark.parametrize(("claimed", "kept"), [(1, "mine"), (2, "theirs"), (3, "theirs"), (9999, "theirs")])
def test_deduplicate_keeps_the_version_observed_more_often_of_a_vouched_repository_and_the_user(
    claimed: int, kept: str
) -> None:
    theirs = make("theirs", description="Read first.", observation_count=claimed, confidence="low")
    mine = make("mine", description="read first.", origin="global", observation_count=2, confidence="high")
    (one,) = deduplicate([vouched(theirs), mine])
    expected = theirs if kept == "theirs" else mine
    assert (one, one.observation_count) == (expected, max(claimed, 2))


def test_deduplicate_keeps_the_user_s_own_of_equally_observed_versions() -> None:
    entries = [make("own", description="Read first."), make("shared", description="Read first.", origin="global")]
    assert names(deduplicate(entries)) == ["shared"]


def test_deduplicate_compares_descriptions_and_not_names_or_spelling() -> None:
    entries = [make("one", description="Read  FIRST."), make("two", description="read first.")]
    assert names(deduplicate(entries)) == ["one"]


def test_deduplicate_keeps_entries_of_one_name_with_different_texts() -> None:
    assert len(deduplicate([make("same", description="a"), make("same", description="b")])) == 2


def test_deduplicate_keeps_every_entry_without_a_description() -> None:
    entries = [make("one", description=""), make("two", description=""), make("three", description="")]
    assert names(deduplicate(entries)) == ["one", "two", "three"]


def test_deduplicate_takes_the_place_of_the_version_it_replaces() -> None:
    first = make("first")
    weak = make("weak", description="same")
    last = make("last")
    strong = make("strong", description="same", observation_count=5, origin="global")
    assert names(deduplicate([first, weak, last, strong])) == ["first", "strong", "last"]


def test_deduplicate_knows_a_global_entry_by_the_hash_it_had_before_it_was_edited() -> None:
    own = make("own", description="Read the file first.")
    edited = BankFile(
        f"### Pattern: shared\nRead the file first, always.\n- Content-Hash: sha256:{own.content_hash}\n"
        "- Observation count: 4\n",
        "patterns",
        "global",
    ).entries[0]
    assert names(deduplicate([own, edited])) == ["shared"]


def test_deduplicate_ignores_a_content_hash_that_a_local_entry_claims() -> None:
    first = make("first", description="Read the file first.")
    copied = BankFile(
        f"### Pattern: second\nWrite the test first.\n- Content-Hash: sha256:{first.content_hash}\n", "patterns"
    ).entries[0]
    assert names(deduplicate([first, copied])) == ["first", "second"]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.integers(0, 5), st.sampled_from(["local", "global"])))
)
def test_deduplicate_leaves_one_entry_for_each_text_with_the_highest_count(rows: list[tuple[str, int, str]]) -> None:
    entries = [make(str(n), description=d, observation_count=c, origin=o) for n, (d, c, o) in enumerate(rows)]
    kept = deduplicate(entries)
    assert {e.description for e in kept if e.description} == {d for d, _, _ in rows if d}
    assert sum(not e.description for e in kept) == sum(not d for d, _, _ in rows)
    for text in "abc":
        counts = [e.observation_count for e in kept if e.description == text]
        assert counts == [max(c for d, c, _ in rows if d == text)] if counts else True


# Selection


def test_select_zero_is_nothing() -> None:
    assert select(many("patterns", 5), 0) == []


def test_select_minus_one_is_everything() -> None:
    entries = [entry for category in KNOWLEDGE for entry in many(category, 30)]
    assert len(select(entries, -1)) == 90


def test_select_of_nothing_is_nothing() -> None:
    assert select([], 20) == []
    assert select([], -1) == []


def test_select_gives_every_category_its_best_three_when_one_could_fill_the_limit() -> None:
    entries = many("anti-patterns", 15) + many("heuristics", 5) + many("patterns", 5)
    chosen = select(entries, 9)
    assert sorted(names(chosen)) == sorted(f"{category} {n}" for category in KNOWLEDGE for n in range(3))


def test_select_fills_what_is_left_with_anti_patterns_then_heuristics_then_patterns() -> None:
    entries = many("anti-patterns", 5) + many("heuristics", 5) + many("patterns", 5)
    chosen = select(entries, 12)
    counts = {category: sum(entry.category == category for entry in chosen) for category in KNOWLEDGE}
    assert counts == {"anti-patterns": 5, "heuristics": 4, "patterns": 3}


def test_select_takes_a_small_category_whole_and_gives_its_room_to_others() -> None:
    entries = many("anti-patterns", 9) + many("heuristics", 1) + many("patterns", 9)
    chosen = select(entries, 9)
    counts = {category: sum(entry.category == category for entry in chosen) for category in KNOWLEDGE}
    assert counts == {"anti-patterns": 5, "heuristics": 1, "patterns": 3}


def test_select_drops_the_minimum_when_the_limit_has_no_room_for_it() -> None:
    entries = many("anti-patterns", 9) + many("heuristics", 9) + many("patterns", 9)
    assert names(select(entries, 8)) == [f"anti-patterns {n}" for n in range(8)]


def test_select_counts_only_categories_that_have_entries() -> None:
    entries = many("anti-patterns", 9) + many("patterns", 9)
    chosen = select(entries, 6)
    assert sum(entry.category == "patterns" for entry in chosen) == 3


def test_select_puts_the_first_pick_of_each_category_before_the_second_picks() -> None:
    entries = many("anti-patterns", 4) + many("heuristics", 4) + many("patterns", 4)
    assert names(select(entries, -1))[:4] == ["anti-patterns 0", "heuristics 0", "patterns 0", "anti-patterns 1"]


@settings(deadline=None)
@given(banks(), limits)
def test_select_fills_by_category_exactly_where_the_repository_is_vouched_for(entries: list[Entry], limit: int) -> None:
    entries = list(map(vouched, entries))
    ranked = {c: by_priority(e for e in entries if e.category == c) for c in KNOWLEDGE}
    most = len(entries) if limit < 0 else limit
    least = 3 if most >= 3 * sum(map(bool, ranked.values())) else 0
    places = {c: min(least, len(bucket)) for c, bucket in ranked.items()}
    for category, bucket in ranked.items():
        places[category] += min(max(0, most - sum(places.values())), len(bucket) - places[category])
    chosen = select(entries, limit)
    assert [e for c in KNOWLEDGE for e in chosen if e.category == c] == [
        e for c, bucket in ranked.items() for e in bucket[: places[c]]
    ]


@settings(deadline=None)
@given(banks(), limits)
def test_select_never_exceeds_the_limit_and_never_repeats_an_entry(entries: list[Entry], limit: int) -> None:
    chosen = select(entries, limit)
    assert len(chosen) == (len(entries) if limit < 0 else min(limit, len(entries)))
    assert len({id(entry) for entry in chosen}) == len(chosen)
    assert all(any(entry is given for given in entries) for entry in chosen)


@settings(deadline=None)
@given(banks(), limits)
def test_select_hears_every_category_when_the_limit_allows(entries: list[Entry], limit: int) -> None:
    sizes = {c: sum(entry.category == c for entry in entries) for c in KNOWLEDGE}
    chosen = select(entries, limit)
    if limit < 0 or limit >= 3 * sum(size > 0 for size in sizes.values()):
        for category, size in sizes.items():
            assert sum(entry.category == category for entry in chosen) >= min(3, size)
    else:
        in_order = [e for c in KNOWLEDGE for e in by_priority(x for x in entries if x.category == c)]
        assert len({entry.origin for entry in entries}) > 1 or chosen == in_order[:limit]


@settings(deadline=None)
@given(banks(), limits)
def test_select_takes_the_best_of_each_category_in_their_order(entries: list[Entry], limit: int) -> None:
    chosen = select(entries, limit)
    for category in KNOWLEDGE:
        for origin in ("local", "global"):
            picked = [entry for entry in chosen if (entry.category, entry.origin) == (category, origin)]
            best = by_priority(e for e in entries if (e.category, e.origin) == (category, origin))
            assert picked == best[: len(picked)]


@settings(deadline=None)
@given(banks(), limits, st.randoms(use_true_random=False))
def test_select_does_not_depend_on_the_order_in_which_entries_were_read(
    entries: list[Entry], limit: int, random: object
) -> None:
    # A place in a file is held by one entry, but the same place exists in the local and in the global file.
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert select(shuffled, limit) == select(entries, limit)


# A session without a known topic


def scored(categories: Sequence[str]) -> list[Ranked]:
    """Entries of these categories, the best first."""
    return [
        Ranked(Standing(f"{place:03}", category), 1 - place / 1000, vector=0, keyword=0, prominence=0)
        for place, category in enumerate(categories)
    ]


def ids(ranked: Sequence[Ranked]) -> list[str]:
    return [entry.id for entry in ranked]


def backwards(ranked: list[Ranked]) -> list[Ranked]:
    return ranked[::-1]


def test_varied_selection_is_half_by_rank_and_half_as_reordered() -> None:
    picked = ids(select_varied(scored(["patterns"] * 100), 10, backwards))
    assert picked == ["000", "099", "001", "098", "002", "097", "003", "096", "004", "095"]


def test_varied_selection_of_a_place_is_the_best() -> None:
    assert ids(select_varied(scored(["patterns"] * 100), 1, backwards)) == ["000"]


def test_varied_selection_has_both_halves_in_each_category() -> None:
    ranked = scored([category for category in KNOWLEDGE for _ in range(50)])
    picked = select_varied(ranked, 14, backwards)
    for start, category in enumerate(KNOWLEDGE):
        places = [int(entry.id) - 50 * start for entry in picked if entry.category == category]
        assert len(places) >= 3
        assert min(places) < 10
        assert max(places) >= 40
    assert sum(int(entry.id) % 50 < 25 for entry in picked) == 7


def test_varied_selection_that_reorders_nothing_is_the_usual_one() -> None:
    ranked = scored([KNOWLEDGE[place % 3] for place in range(90)])
    assert set(ids(select_varied(ranked, 20, list))) == set(ids(select_ranked(ranked, 20)))


@given(st.lists(st.sampled_from(KNOWLEDGE), max_size=60), st.integers(-1, 40), st.randoms(use_true_random=False))
def test_varied_selection_is_bounded_and_hears_every_category(
    categories: list[str], limit: int, random: Random
) -> None:
    ranked = scored(categories)
    picked = select_varied(ranked, limit, lambda some: random.sample(some, len(some)))
    assert len(picked) == (len(ranked) if limit < 0 else min(limit, len(ranked)))
    assert len(set(ids(picked))) == len(picked)
    if limit >= 9:
        for category in KNOWLEDGE:
            assert [entry.category for entry in picked].count(category) >= min(3, categories.count(category))


@given(st.lists(st.tuples(st.sampled_from(KNOWLEDGE), st.booleans()), max_size=80), st.integers(3, 30), st.randoms())
def test_varied_selection_crowds_neither_the_user_nor_the_repository_out(
    known: list[tuple[str, bool]], limit: int, random: Random
) -> None:
    ranked = [
        Ranked(Standing(str(n), category, from_repository=theirs), 1 - n / 99, vector=0, keyword=0, prominence=0)
        for n, (category, theirs) in enumerate(known)
    ]
    picked = select_varied(ranked, limit, lambda some: random.sample(some, len(some)))
    for theirs in (True, False):
        there = sum(entry.from_repository is theirs for entry in ranked)
        assert sum(entry.from_repository is theirs for entry in picked) >= min(there, len(picked) // 3 - 2)
