"""Lessons of shared scopes in every store: beside the user's own, never in their place."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from tests.contract.test_stores import ENGINES, SHOP, bank, entry

from recollect.domain.ranking.trust import TEAM, YOU
from recollect.domain.stored import ACTIVE, RETIRED, StoredEntry, said_by_line
from recollect.store.base import Store
from recollect.store.open import open_store
from recollect.store.values import BANK, JOURNAL, Scope, Source

TEXT = "Retries need jitter."


@pytest.fixture(params=sorted(ENGINES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:  # type: ignore[misc]
    with open_store(ENGINES[request.param](tmp_path), patience=0.1) as opened:
        yield opened


def scope(name: str = "team:backend", project: str = "") -> Source:
    return Source(f"scope:{name}", BANK, project=project, hash="open:1")


def shared(name: str = "Jitter", count: int = 1, by: str = "ann", **known: object) -> StoredEntry:
    details = said_by_line(by, "team:backend")
    return entry("a" * 16, TEXT, name=name, observation_count=count, source="import", details=details, **known)


def own(name: str = "Mine", **known: object) -> StoredEntry:
    return entry("a" * 16, TEXT, name=name, source="manual", **known)


def only(store: Store) -> StoredEntry:
    (found,) = store.entries(["a" * 16])
    return found


def test_a_lesson_of_a_scope_is_the_teams(store: Store) -> None:
    store.put(scope(), [shared(count=4)])

    assert store.origins(["a" * 16]) == {"a" * 16: TEAM}
    assert (only(store).said_by, only(store).observation_count) == ("ann in team:backend", 4)
    assert store.count(Scope(SHOP)) == 1


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_what_is_the_users_own_stays_so_whatever_comes_first(store: Store, order: tuple[int, ...]) -> None:
    steps = [
        lambda: store.put(scope(), [shared(count=7, keywords=["theirs"], triggers=["when they say"])]),
        lambda: store.put(scope("organisation:acme"), [shared("Acme's", count=9, by="eve")]),
        lambda: store.put(Source("store:session-captures.jsonl", JOURNAL, hash="j"), [own(keywords=["mine"])]),
        lambda: store.put(bank("/other/bank.md", SHOP), [entry("a" * 16, TEXT, name="A repository's")]),
    ]
    for place in order:
        steps[place]()

    found = only(store)
    assert (found.name, found.keywords, found.triggers, found.said_by) == ("Mine", ["mine"], [], "")
    assert found.observation_count == 9  # the user's own observations are among the scope's
    assert store.origins(["a" * 16]) == {"a" * 16: YOU}


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_scopes_the_nearest_describes_a_lesson_in_any_order(store: Store, first: int) -> None:
    puts = [(scope(), shared("Backend's")), (scope("organisation:acme"), shared("Acme's"))]
    for source, each in (puts[first], puts[1 - first]):
        store.put(source, [each])

    assert only(store).name == "Backend's"


def test_a_scope_that_retires_a_lesson_leaves_what_the_user_has(store: Store) -> None:
    store.put(Source("store:session-captures.jsonl", JOURNAL, hash="j"), [own()])
    store.put(scope(), [shared(count=5)])
    store.put(scope(), [])

    assert (only(store).status, only(store).observation_count) == (ACTIVE, 1)


def test_a_scope_that_retires_a_lesson_retires_its_own(store: Store) -> None:
    store.put(scope(), [shared()])
    store.put(scope(), [])
    assert only(store).status == RETIRED

    assert store.remove_unheld(lambda each: bool(each.said_by)) == 1
    assert store.entries(["a" * 16]) == []


def test_another_state_of_a_lesson_takes_the_place_of_the_one_before(store: Store) -> None:
    store.put(scope(), [shared(count=1, keywords=["old"]), entry("b" * 16)])
    store.put(scope(), [shared("Better", count=3, keywords=["new"], triggers=["a queue backs up"])], anew=False)

    found = only(store)
    assert (found.name, found.observation_count, found.keywords) == ("Better", 3, ["new"])
    assert found.triggers == ["a queue backs up"]
    assert [each.status for each in store.entries(["b" * 16])] == [ACTIVE]


def test_lessons_of_a_linked_project_belong_to_it(store: Store) -> None:
    store.put(scope("project:shop", SHOP), [shared()])

    assert store.count(Scope(SHOP)) == 1
    assert store.count(Scope("/elsewhere")) == 0


def test_a_bank_that_loses_a_lesson_has_the_scope_read_again(store: Store) -> None:
    store.put(scope(), [shared()])
    store.put(bank("/global.md"), [entry("a" * 16, TEXT, name="In the bank")])
    assert only(store).name == "In the bank"

    store.put(bank("/global.md"), [])
    assert store.sources(BANK)["scope:team:backend"].hash == ""
