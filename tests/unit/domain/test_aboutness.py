"""Whether a prompt is about an entry: rare words count, common ones hardly, and long prompts earn nothing by length."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ranking.aboutness import (
    Bar,
    Judgement,
    Question,
    Rarity,
    best,
    by_words,
    is_asked_for,
    without_triggers,
)
from recollect.domain.ranking.common_words import is_common
from recollect.domain.ranking.fusion import surprise

NAME = "Stripe webhooks pile up after an outage"


def judged(
    prompt: str,
    places: dict[str, set[str]],
    *,
    entries: int = 80,
    frequencies: dict[str, int] | None = None,
    name: str = NAME,
    meaning: float | None = None,
    triggers: int = 0,
    among: int | None = None,
) -> float:
    """The evidence in nats above the bar: a match from 0 on."""
    question = Question(prompt)
    held = dict.fromkeys(question.terms, 0) | dict.fromkeys(places, 1) | (frequencies or {})
    bar = Bar(entries if among is None else among, len(question.passages))
    return bar.judged(by_words(question, Rarity(held, entries), places, name), meaning, triggers).nats


def test_two_rare_words_of_the_name_make_a_prompt_about_an_entry() -> None:
    places = {"stripe": {"name"}, "webhooks": {"name"}}
    assert judged("the stripe webhooks are late again", places) > 0


def test_one_common_word_makes_a_prompt_about_nothing() -> None:
    assert judged("why does the test fail", {"test": {"name"}}, name="Reproduce the bug as a failing test") < 0


def test_common_words_count_less_than_others_of_the_same_frequency() -> None:
    rarity = Rarity({"error": 1, "stripe": 1}, 80)
    assert rarity.of("error") < rarity.of("stripe") / 2


def test_a_large_store_needs_more_than_one_word_that_is_rare_in_it() -> None:
    for entries in (80, 10_000, 1_000_000):
        assert judged("something about stripe", {"stripe": {"description"}}, entries=entries) < 0
        both = {"stripe": {"name", "keywords"}, "webhooks": {"name"}, "outage": {"name"}}
        assert judged("stripe webhooks after the outage", both, entries=entries) > 0


def test_a_word_in_the_name_counts_more_than_one_in_the_text() -> None:
    assert judged("the stripe thing", {"stripe": {"name"}}) > judged("the stripe thing", {"stripe": {"description"}})


def test_words_of_different_passages_do_not_add_up() -> None:
    places = {"stripe": {"description"}, "outage": {"description"}, "webhooks": {"description"}}
    padding = "what should the colour of these seven rather lengthy paragraphs be"
    together = judged("stripe webhooks outage", places)
    apart = judged(f"stripe {padding}\nwebhooks {padding}\noutage {padding}", places)
    assert apart < together


def test_a_question_after_a_long_paste_is_still_found() -> None:
    log = "\n".join(f"2026-11-16 10:00:{n:02} INFO worker {n} polled nothing of note" for n in range(60))
    places = {"stripe": {"name"}, "webhooks": {"name"}, "outage": {"name"}}
    assert judged(f"{log}\nare these the stripe webhooks after the outage?", places) > 0


def test_closeness_in_meaning_adds_to_the_words() -> None:
    places = {"webhooks": {"description"}}
    assert judged("webhooks do not arrive", places, meaning=60.0) > 0 > judged("webhooks do not arrive", places)


def test_being_compared_and_not_close_makes_an_entry_less_likely() -> None:
    places = {"stripe": {"name"}, "webhooks": {"name"}}
    assert judged("stripe webhooks", places, meaning=0.0) < judged("stripe webhooks", places)


def test_closeness_alone_is_enough_and_must_be_greater_in_a_large_store() -> None:
    for entries, enough, too_little in ((3, 0.42, 0.36), (80, 0.5, 0.44), (10_000, 0.6, 0.55), (1_000_000, 0.68, 0.63)):
        assert judged("payments are not marked as paid", {}, entries=entries, meaning=surprise(enough)) > 0
        assert judged("payments are not marked as paid", {}, entries=entries, meaning=surprise(too_little)) < 0


def test_a_shared_word_and_some_closeness_are_enough_together() -> None:
    shared = {"webhooks": {"name"}}
    for entries in (80, 10_000):
        assert judged("webhooks do not arrive", shared, entries=entries, meaning=surprise(0.42)) > 0
        assert judged("webhooks do not arrive", shared, entries=entries, meaning=surprise(0.2)) < 0
        assert judged("webhooks do not arrive", {}, entries=entries, meaning=surprise(0.42)) < 0


def test_words_that_are_sure_need_no_closeness() -> None:
    places = {"stripe": {"name", "keywords"}, "webhooks": {"name"}, "outage": {"name"}}
    assert judged("stripe webhooks after the outage", places, meaning=0.0) > 0


def test_a_long_prompt_must_be_closer_than_a_short_one() -> None:
    long = "\n".join(f"paragraph {n} of something rather lengthy that nobody here has written about" for n in range(12))
    assert judged(long, {}, meaning=20.0) < judged("something short", {}, meaning=20.0)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_being_closer_never_makes_a_prompt_less_about_an_entry(one: float, other: float) -> None:
    nearer, farther = max(one, other), min(one, other)
    at_most = judged("webhooks do not arrive", {"webhooks": {"name"}}, meaning=surprise(nearer))
    assert at_most >= judged("webhooks do not arrive", {"webhooks": {"name"}}, meaning=surprise(farther))


def test_known_terms_come_the_rarest_first_and_unknown_ones_not_at_all() -> None:
    rarity = Rarity({"error": 3, "stripe": 2, "webhooks": 9, "unheard": 0}, 80)
    assert rarity.known(["error", "webhooks", "unheard", "stripe"], 2) == ["stripe", "webhooks"]


def test_terms_of_many_entries_are_not_searched_by_where_there_are_rarer_ones() -> None:
    rarity = Rarity({"customer": 4_000, "stripe": 12}, 10_000)
    assert rarity.to_find_by(["stripe", "customer"]) == ["stripe"]
    assert rarity.to_find_by(["customer"]) == ["customer"]


def test_common_words_are_known_in_all_their_forms() -> None:
    for word in ("test", "tests", "tested", "testing", "running", "tries", "configuration", "failed", "2026"):
        assert is_common(word), word
    for word in ("stripe", "kafka", "playwright", "voucher", "s", ""):
        assert not is_common(word), word


@given(st.text(max_size=3_000), st.integers(0, 10**7))
def test_any_prompt_can_be_judged(prompt: str, entries: int) -> None:
    question = Question(prompt)
    places = {term: {"name"} for term in question.terms[::2]}
    nats = by_words(question, Rarity(dict.fromkeys(question.terms, 1), entries), places, prompt)
    assert nats >= 0
    assert Bar(entries, len(question.passages)).judged(nats, 0.0, 3).bar > 0


@given(st.sampled_from(["stripe", "outage", "pile"]), st.integers(1, 10_000))
def test_sharing_one_word_more_never_makes_a_prompt_less_about_an_entry(word: str, entries: int) -> None:
    prompt = "stripe webhooks pile up after an outage"
    fewer = {"webhooks": {"name"}}
    assert judged(prompt, fewer | {word: {"name"}}, entries=entries) >= judged(prompt, fewer, entries=entries)


def test_few_entries_in_scope_need_less_evidence_than_many() -> None:
    places = {"stripe": {"keywords"}}
    alone, many = (judged("which stripe thing do we use?", places, among=among) for among in (1, 1_000))
    assert alone > 0 > many


def test_bar_rises_with_the_triggers_of_an_entry() -> None:
    places = {"stripe": {"triggers"}, "webhooks": {"triggers"}}
    bars = [judged("stripe webhooks", places, triggers=number) for number in range(7)]
    assert bars == sorted(bars, reverse=True)
    assert bars[0] > bars[6]


FIELDS = ("name", "keywords", "description", "triggers")


@given(
    st.dictionaries(st.sampled_from(NAME.lower().split()), st.sets(st.sampled_from(FIELDS), min_size=1)),
    st.none() | st.floats(0, 40),
    st.none() | st.floats(0, 40),
    st.integers(1, 6),
    st.integers(1, 10_000),
)
def test_triggers_never_put_an_entry_further_below_its_bar(
    places: dict[str, set[str]], triggered: float | None, own: float | None, triggers: int, entries: int
) -> None:
    question = Question("stripe webhooks pile up after an outage")
    rarity, bar = Rarity(dict.fromkeys(question.terms, 1), entries), Bar(entries, 1)

    def evidence(found: Mapping[str, Collection[str]], meaning: float | None, count: int) -> Judgement:
        return bar.judged(by_words(question, rarity, found, NAME), meaning, count)

    alone = evidence(without_triggers(places), own, 0)
    found = best(evidence(places, triggered, triggers), evidence(without_triggers(places), own, 0))
    assert found.nats >= alone.nats
    assert found.missing <= alone.missing
    assert found.words + found.meaning - found.bar == found.nats


def test_places_without_triggers_have_no_word_of_triggers_alone() -> None:
    places = {"stripe": {"name", "triggers"}, "outage": {"triggers"}, "pile": {"description"}}
    assert without_triggers(places) == {"stripe": ["name"], "pile": ["description"]}


def test_word_of_a_trigger_counts_its_rarity_and_no_bonus_for_a_name() -> None:
    triggered, described, named = (
        judged("the stripe thing", {"stripe": {field}}) for field in ("triggers", "description", "keywords")
    )
    assert triggered == described < named


def test_title_by_words_alone_needs_half_of_the_bar_and_at_most_six_nats_less() -> None:
    for among in (1, 12, 300, 100_000):
        bar = Bar(among, 1).judged(0.0, None).bar
        enough = max(bar / 2, bar - 6)
        assert abs(Bar(among, 1).judged(enough, None).missing) < 1e-9
        assert Bar(among, 1).judged(enough - 0.1, None).missing > 0


def test_title_needs_more_words_where_meaning_says_nothing_and_little_meaning() -> None:
    for among, closeness in ((3, 0.30), (12, 0.32), (300, 0.42), (3_000, 0.48)):
        bar = Bar(among, 1)
        whole = bar.judged(0.0, 0.0).bar
        enough = max(whole - 3.5, 0.6 * whole)
        assert bar.judged(enough - 0.1, 0.0).missing > 0 > bar.judged(enough + 0.1, 0.0).missing
        assert bar.judged(0.0, surprise(closeness)).missing < 0 < bar.judged(0.0, surprise(closeness - 0.1)).missing
        assert bar.judged(0.0, surprise(closeness)).nats < 0, "it is enough for a title alone"


def test_title_can_rest_on_some_words_and_some_meaning() -> None:
    bar = Bar(12, 1)
    words, meaning = bar.judged(0.0, 0.0).missing * 0.6, 0.6
    assert bar.judged(words, 0.0).missing > 0
    assert bar.judged(0.0, meaning).missing > 0
    assert bar.judged(words, meaning).missing < 0


def asked_for(prompt: str, places: dict[str, set[str]]) -> bool:
    question = Question(prompt)
    return is_asked_for(question, Rarity(dict.fromkeys(question.terms, 0) | dict.fromkeys(places, 1), 12), places)


def test_short_question_with_a_label_asks_for_its_entry_however_common_the_word_is() -> None:
    assert asked_for("which database do we use?", {"database": {"keywords"}})
    assert asked_for("which database do we use?", {"database": {"name"}})
    assert not asked_for("which database do we use?", {"database": {"description", "triggers"}})
    assert not asked_for("which database does the kubernetes operator of staging use?", {"database": {"name"}})
    assert not asked_for("", {})
