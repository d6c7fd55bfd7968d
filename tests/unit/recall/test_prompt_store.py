"""What the store answers a prompt when somebody can tell how close it is in meaning to what is stored."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.domain.ranking.fusion import TermStatistics
from recollect.domain.stored import StoredEntry
from recollect.recall.prompt_store import Answer, ask
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Model, Scope, Source

FAR, NEAR, NEITHER = (array("f", numbers).tobytes() for numbers in ([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]))
PROMPT = "where do webhook settings belong"
PARKED = "Webhook deliveries are parked after a day"
FILLING = 60


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """One entry about webhooks and many about nothing, with vectors that say so."""
    store = SqliteStore(str(tmp_path / "memory.db"))
    entries = [entry("parked", PARKED, "Nine attempts within 24 hours, then they are put aside.")]
    entries += [entry(f"filling-{n}", f"Lesson of week {n}", f"Number {n} of many.") for n in range(FILLING)]
    store.put(Source("/bank.md", BANK), entries)
    store.use_model(Model("test/4", "local", "test", 4))
    store.put_vectors([(each.id, NEAR if each.id == "parked" else FAR) for each in entries])
    yield store
    store.close()


def entry(id: str, name: str, description: str) -> StoredEntry:
    return StoredEntry(
        id=id, name=name, description=description, category="patterns", created_at="2026-01-01T00:00:00Z"
    )


def found(answer: Answer) -> list[str]:
    return [hit.entry.id for hit in answer.hits]


def test_an_entry_that_shares_no_word_is_found_by_its_meaning(store: SqliteStore) -> None:
    prompt = "the receiver was offline all weekend"
    assert found(ask(store, prompt, Scope(""), lambda *_: NEAR)) == ["parked"]
    assert found(ask(store, prompt, Scope(""), lambda *_: NEITHER)) == []
    assert found(ask(store, prompt, Scope(""))) == []


def test_an_entry_that_shares_no_word_is_found_by_the_meaning_of_its_triggers(store: SqliteStore) -> None:
    prompt = "the receiver was offline all weekend"
    offline = entry("offline", "Lesson of a Monday", "Call them.")
    offline.triggers = ["nobody answered"]
    store.put(Source("/other.md", BANK), [offline])
    store.put_vectors([("offline", FAR)], [("offline", NEITHER)])
    assert found(ask(store, prompt, Scope(""), lambda *_: NEITHER)) == ["offline"]
    store.put(Source("/other.md", BANK), [entry("offline", "Lesson of a Monday", "Call them.")])
    assert found(ask(store, prompt, Scope(""), lambda *_: NEITHER)) == []


TRIGGERS = ["nobody answered", "where settings belong", "the webhook receiver was offline", "a", "b c", "weekend"]


@pytest.mark.parametrize("count", [1, 3, 6])
@pytest.mark.parametrize("prompt", [PROMPT, PARKED, "attempts within hours", "nobody answered a webhook"])
@pytest.mark.parametrize("vector", [None, NEAR, FAR, NEITHER], ids=["words", "near", "far", "neither"])
def test_an_entry_is_never_found_less_well_with_triggers_than_without(
    store: SqliteStore, prompt: str, count: int, vector: bytes | None
) -> None:
    def distance() -> tuple[float, int]:
        answer = ask(store, prompt, Scope(""), (lambda *_: vector) if vector else None)
        tiers = (answer.others, answer.maybes, answer.hits)
        return next(
            ((hit.nats, tier) for tier, hits in enumerate(tiers) for hit in hits if hit.entry.id == "parked"),
            (float("-inf"), 0),
        )

    before = distance()
    parked = entry("parked", PARKED, "Nine attempts within 24 hours, then they are put aside.")
    parked.triggers = TRIGGERS[:count]
    filling = [entry(f"filling-{n}", f"Lesson of week {n}", f"Number {n} of many.") for n in range(FILLING)]
    store.put(Source("/bank.md", BANK), [parked, *filling])
    store.put_vectors([], [("parked", FAR)])
    assert distance() >= before


def test_closeness_that_comes_from_a_shared_word_alone_is_not_enough(store: SqliteStore) -> None:
    def by_the_shared_word(_text: str, statistics: TermStatistics) -> bytes:
        return NEAR if statistics.telling()("webhook") else NEITHER

    assert found(ask(store, PROMPT, Scope(""), by_the_shared_word)) == []
    assert found(ask(store, PROMPT, Scope(""), lambda *_: NEAR)) == ["parked"]


def test_all_but_the_shared_words_are_heard_as_before(store: SqliteStore) -> None:
    heard: list[dict[str, float]] = []

    def embed(_text: str, statistics: TermStatistics) -> bytes:
        weight = statistics.telling()
        heard.append({word: weight(word) for word in PROMPT.split()})
        return NEITHER

    ask(store, PROMPT, Scope(""), embed)
    whole = heard[0]
    assert heard[1:] == [whole | {"webhook": 0.0}, whole]
    assert min(whole.values()) > 0


def test_an_entry_that_has_no_vector_yet_is_judged_by_words_alone(store: SqliteStore) -> None:
    prompt = "are the parked webhook deliveries sent again"
    store.put(Source("/other.md", BANK), [entry("new", "Parked webhook deliveries are sent by hand", "With replay.")])
    by_words = {hit.entry.id: hit.nats for hit in ask(store, prompt, Scope("")).hits}
    with_vectors = {hit.entry.id: hit.nats for hit in ask(store, prompt, Scope(""), lambda *_: NEITHER).hits}
    assert with_vectors["new"] == by_words["new"] > 0


def test_without_a_vector_of_the_prompt_words_decide_and_nobody_is_asked_again(store: SqliteStore) -> None:
    asked: list[str] = []

    def embed(text: str, _statistics: TermStatistics) -> bytes:
        asked.append(text)
        return b""

    prompt = (
        "are the parked webhook deliveries sent again? nobody has looked after the receiver for a whole weekend now"
    )
    without, by_words = ask(store, prompt, Scope(""), embed), ask(store, prompt, Scope(""))
    assert [(hit.entry.id, hit.nats) for hit in without.hits] == [(hit.entry.id, hit.nats) for hit in by_words.hits]
    assert found(by_words) == ["parked"]
    assert len(asked) == 1


def test_a_model_that_stops_answering_halfway_leaves_the_rest_to_words(store: SqliteStore) -> None:
    answers = iter([NEAR])
    prompt = "are the parked webhook deliveries sent again"
    assert found(ask(store, prompt, Scope(""), lambda *_: next(answers, b""))) == ["parked"]


def test_what_is_said_beside_the_point_does_not_hide_what_a_prompt_means(store: SqliteStore) -> None:
    compared: list[str] = []

    def embed(text: str, _statistics: TermStatistics) -> bytes:
        compared.append(text)
        return NEAR if text.startswith("the receiver") else NEITHER

    pasted = "\n".join(f"step {n} of something compiled widget number {n} without any trouble" for n in range(30))
    assert found(ask(store, f"{pasted}\nthe receiver was offline all weekend", Scope(""), embed)) == ["parked"]
    assert len(set(compared)) <= 4
