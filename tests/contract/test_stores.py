"""What every store must do, whatever its engine: written against `recollect.store.base.Store` alone."""

import ast
import contextlib
import math
import random
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import postgres
from tests.conftest import examples
from tests.held import writing

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.feedback.kinds import CITED, CONTRADICTED, MENTIONED, OPENED, SAID
from recollect.domain.ranking.terms import query_terms
from recollect.domain.stored import (
    ACTIVE,
    APART,
    ARCHIVED,
    MERGED,
    MUTED,
    PINNED,
    RETIRED,
    STATUSES,
    SUPERSEDES,
    Anchor,
    Anchored,
    Mark,
    Raised,
    Relation,
    Retirement,
    StoredEntry,
)
from recollect.errors import StoreError
from recollect.store.base import Store
from recollect.store.open import database_name, open_store
from recollect.store.repair import set_aside
from recollect.store.values import (
    BANK,
    JOURNAL,
    MEMORY,
    PROMPT,
    STATED,
    TITLE,
    Evidence,
    FileHistory,
    Model,
    Receipt,
    ReceiptLine,
    Scope,
    Source,
    Usage,
)  # fmt: skip

EVERYWHERE = Scope(None)
SHOP, DESK = "/home/dev/shop-front", "/home/dev/desk"

Opener = Callable[[], Store]


# Each takes a folder of a test and returns the place of its store.
ENGINES: dict[str, Callable[[Path], str]] = {
    "postgres": lambda folder: postgres.server().place(folder),
    "sqlite": str,
}


@pytest.fixture(params=sorted(ENGINES))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a store."""
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def opener(place: str) -> Iterator[Opener]:
    """Opens the same store as often as it is called."""
    opened: list[Store] = []

    def open_once_more() -> Store:
        opened.append(open_store(place, patience=0.1))
        return opened[-1]

    yield open_once_more
    for store in opened:
        store.close()


@pytest.fixture
def store(opener: Opener) -> Store:
    return opener()


def entry(id: str, description: str = "", **known: object) -> StoredEntry:
    fields: dict[str, object] = {
        "name": f"Lesson {id}",
        "category": "patterns",
        "created_at": "2026-01-01T00:00:00Z",
        **known,
    }
    return StoredEntry(id=id, description=description or f"What {id} has taught us.", **fields)  # type: ignore[arg-type]


def bank(path: str = "/bank.md", project: str = "", **known: object) -> Source:
    return Source(path, BANK, project=project, **known)  # type: ignore[arg-type]


def journal(path: str = "/journal.jsonl") -> Source:
    return Source(path, JOURNAL)


def memory(path: str = "/m.json", project: str = SHOP, **known: object) -> Source:
    return Source(path, MEMORY, project=project, **known)  # type: ignore[arg-type]


def the(store: Store, id: str) -> StoredEntry:
    [found] = store.entries([id])
    return found


def standing(store: Store, scope: Scope = EVERYWHERE) -> set[str]:
    return {each.id for each in store.standings(scope)}


def found(store: Store, text: str, scope: Scope = EVERYWHERE) -> set[str]:
    return {match.id for match in store.text_matches(query_terms(text), scope, 50)}


def receipt(*ids: str, at: str = "2026-02-01T00:00:00Z", **known: str) -> Receipt:
    lines = [ReceiptLine(id, 0.5, vector=0.1, keyword=0.2, prominence=0.3) for id in ids]
    fields = {"event": "startup", "project": SHOP, "session": "s-1", "query": "what now?", **known}
    return Receipt(at=at, lines=lines, **fields)  # type: ignore[arg-type]


def unit(values: Sequence[float]) -> bytes:
    length = math.sqrt(sum(value * value for value in values))
    return array("f", [value / length for value in values]).tobytes()


def some_vector(chance: random.Random, dimensions: int) -> bytes:
    return unit([chance.gauss(0, 1) for _ in range(dimensions)])


def cosine(first: bytes, second: bytes) -> float:
    return sum(a * b for a, b in zip(array("f", first), array("f", second), strict=True))


def model(dimensions: int = 64, identity: str = "one") -> Model:
    return Model(identity, "provider", "name", dimensions)


# Entries and where they come from


def test_entry_comes_back_as_it_was_put(store: Store) -> None:
    store.put(
        bank(project=SHOP),
        [
            entry(
                "a",
                "Read the file first.\nThen write.",
                name="Read First",
                category="heuristics",
                reasoning="It may hold more than you think.",
                keywords=["files", "reading"],
                triggers=["about to overwrite something"],
                references=["src/a.py"],
                details="- Source: Feature #007",
                observation_count=4,
                confidence="high",
                source="import",
                source_project="shop-front",
                updated_at="2026-01-02T00:00:00Z",
            )
        ],
    )
    kept = the(store, "a")
    assert vars(kept) == {
        "id": "a",
        "category": "heuristics",
        "name": "Read First",
        "description": "Read the file first.\nThen write.",
        "reasoning": "It may hold more than you think.",
        "keywords": ["files", "reading"],
        "triggers": ["about to overwrite something"],
        "references": ["src/a.py"],
        "details": "- Source: Feature #007",
        "observation_count": 4,
        "confidence": "high",
        "source": "import",
        "source_project": "shop-front",
        "project": SHOP,
        "unproven": False,
        "status": ACTIVE,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "recall_count": 0,
        "influence_count": 0,
        "last_recalled_at": "",
    }


@pytest.mark.parametrize("category", [*KNOWLEDGE, *PROJECT])
def test_entries_of_all_nine_categories_are_kept(store: Store, category: str) -> None:
    store.put(bank(), [entry("a", category=category)])
    assert the(store, "a").category == category


def test_entries_come_in_the_order_asked_for_without_unknown_ones(store: Store) -> None:
    store.put(bank(), [entry(id) for id in "abc"])
    assert [each.id for each in store.entries(["c", "nobody", "a", "c"])] == ["c", "a"]
    assert store.entries([]) == []


def test_more_entries_are_asked_for_than_a_statement_has_parameters(store: Store) -> None:
    ids = [f"e{number}" for number in range(1_200)]
    with writing(store):
        store.put(bank(), [entry(id) for id in ids])
    assert [each.id for each in store.entries(ids)] == ids


def test_source_is_kept_as_it_was_when_it_was_read(store: Store) -> None:
    store.put(bank("/a.md", SHOP, size=10, modified=2**60, hash="h", offset=7), [])
    kept = store.sources()["/a.md"]
    assert (kept.path, kept.kind, kept.project, kept.size, kept.modified, kept.hash, kept.offset) == (
        *("/a.md", BANK, SHOP, 10, 2**60),
        *("h", 7),
    )


def test_bank_that_is_put_again_changes_nothing(store: Store) -> None:
    for _ in range(3):
        store.put(bank(), [entry("a", observation_count=4, keywords=["x", "y"])])
    kept = the(store, "a")
    assert (kept.observation_count, kept.keywords, kept.status) == (4, ["x", "y"], ACTIVE)


def test_bank_put_anew_says_how_often_each_was_observed_even_if_it_is_less(store: Store) -> None:
    store.put(bank(), [entry("a", observation_count=9)])
    store.put(bank(), [entry("a", observation_count=2)])
    assert the(store, "a").observation_count == 2


def test_standing_tells_entries_that_only_a_repository_has(store: Store) -> None:
    store.put(bank("/own.md"), [entry("own"), entry("both")])
    store.put(journal(), [entry("captured")])
    store.put(bank("/shop.md", SHOP), [entry("theirs"), entry("both")])
    assert {each.id for each in store.standings(EVERYWHERE) if each.from_repository} == {"theirs"}


def test_entry_that_its_bank_no_longer_holds_is_retired_and_not_forgotten(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b")])
    store.put(bank(), [entry("b")])
    assert the(store, "a").status == RETIRED
    assert standing(store) == {"b"}
    assert found(store, "taught") == {"b"}
    assert store.coverage().entries == 1


def test_retired_entry_returns_with_its_source(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put(bank(), [])
    store.put(bank(), [entry("a")])
    assert the(store, "a").status == ACTIVE
    assert found(store, "taught") == {"a"}


def test_entries_that_come_on_top_retire_nothing(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put(bank(), [entry("b")], anew=False)
    store.put(bank(hash="new"), [], anew=False)
    assert standing(store) == {"a", "b"}
    assert store.sources()["/bank.md"].hash == "new"


def test_entry_of_two_banks_is_retired_when_both_have_let_it_go(store: Store) -> None:
    store.put(bank("/one.md"), [entry("a")])
    store.put(bank("/two.md"), [entry("a")])
    store.put(bank("/one.md"), [])
    assert the(store, "a").status == ACTIVE
    store.put(bank("/two.md"), [])
    assert the(store, "a").status == RETIRED


def test_other_bank_of_an_entry_is_to_be_read_again_when_one_lets_it_go(store: Store) -> None:
    store.put(bank("/one.md", hash="1"), [entry("a", confidence="high", observation_count=5)])
    store.put(bank("/two.md", hash="2"), [entry("a")])
    store.put(bank("/one.md", hash="3"), [])
    assert {path: source.hash for path, source in store.sources().items()} == {"/one.md": "3", "/two.md": ""}


def test_entry_of_two_banks_was_observed_as_often_as_the_one_that_says_most(store: Store) -> None:
    store.put(bank("/one.md"), [entry("a", observation_count=3)])
    store.put(bank("/two.md"), [entry("a", observation_count=5)])
    assert the(store, "a").observation_count == 5
    store.put(bank("/two.md"), [])
    assert the(store, "a").observation_count == 3


def test_each_line_of_a_journal_counts_one_observation(store: Store) -> None:
    store.put(journal(), [entry("a", observation_count=50), entry("b"), entry("a")])
    assert (the(store, "a").observation_count, the(store, "b").observation_count) == (2, 1)
    store.put(journal(), [entry("a")], anew=False)
    assert the(store, "a").observation_count == 3


def test_source_without_some_entries_keeps_the_others(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    store.put(bank("/other.md"), [entry("b")])
    store.put(bank(), [entry("d")], anew=False, without=["a", "b", "unknown"])
    assert {each.id: each.status for each in store.entries("abcd")} == {
        "a": RETIRED,
        "b": ACTIVE,
        "c": ACTIVE,
        "d": ACTIVE,
    }
    assert [source.path for source in store.sources_of("b")] == ["/other.md"]
    store.put(bank(), [entry("a")], anew=False, without=["a"])
    assert store.entries(["a"])[0].status == ACTIVE, "what is given is held"


def test_usage_is_handed_on_to_the_entry_that_takes_the_place_of_one_left_out(store: Store) -> None:
    store.put(bank(), [entry("a", name="Jitter")])
    store.put_usages([Usage("a", 3, 0, "2026-01-01T00:00:00Z")])
    store.put(bank(), [entry("b", name="Jitter")], anew=False, without=["a"])
    assert [(usage.id, usage.recall_count) for usage in store.usages()] == [("a", 3), ("b", 3)]


def test_journal_that_is_read_anew_counts_from_the_beginning(store: Store) -> None:
    store.put(journal(), [entry("a"), entry("a"), entry("b")])
    store.put(journal(), [entry("a")])
    assert (the(store, "a").observation_count, the(store, "a").status) == (1, ACTIVE)
    assert the(store, "b").status == RETIRED


def test_observations_of_banks_and_journals_add_up(store: Store) -> None:
    store.put(bank("/one.md"), [entry("a", observation_count=3)])
    store.put(bank("/two.md"), [entry("a", observation_count=5)])
    store.put(journal("/j1"), [entry("a"), entry("a")])
    store.put(journal("/j2"), [entry("a")])
    assert the(store, "a").observation_count == 8


def test_keywords_of_several_observations_are_merged_up_to_ten(store: Store) -> None:
    store.put(journal(), [entry("a", keywords=[f"k{n}" for n in range(6)])])
    store.put(journal(), [entry("a", keywords=[f"k{n}" for n in range(4, 14)])], anew=False)
    assert the(store, "a").keywords == [f"k{n}" for n in range(10)]


def test_references_of_several_observations_are_merged_up_to_fifty(store: Store) -> None:
    store.put(journal(), [entry("a", references=[f"r{n}" for n in range(40)])])
    store.put(journal(), [entry("a", references=[f"r{n}" for n in range(30, 90)])], anew=False)
    assert the(store, "a").references == [f"r{n}" for n in range(50)]


def test_triggers_of_several_observations_are_merged_newest_first_up_to_six(store: Store) -> None:
    store.put(journal(), [entry("a", triggers=["t1", "t2", "t3", "t4"])])
    store.put(journal(), [entry("a", triggers=["t5", "t2", "t6"])], anew=False)
    assert the(store, "a").triggers == ["t5", "t2", "t6", "t1", "t3", "t4"]
    store.put(journal(), [entry("a", triggers=["t7"])], anew=False)
    assert the(store, "a").triggers == ["t7", "t5", "t2", "t6", "t1", "t3"]


def test_observation_without_triggers_leaves_those_that_are_known(store: Store) -> None:
    store.put(bank(), [entry("a", triggers=["of the bank"])])
    store.put(journal(), [entry("a")])
    assert the(store, "a").triggers == ["of the bank"]


def test_bank_that_is_the_only_source_takes_its_triggers_back(store: Store) -> None:
    store.put(bank(), [entry("a", triggers=["old"]), entry("b", triggers=["old"])])
    store.put(bank(), [entry("a", triggers=["new"]), entry("b")])
    assert (the(store, "a").triggers, the(store, "b").triggers) == (["new"], [])
    assert (found(store, "old"), found(store, "new")) == (set(), {"a"})


def test_bank_that_is_the_only_source_says_all_there_is_to_say(store: Store) -> None:
    store.put(bank(), [entry("a", keywords=["old"], references=["old"], confidence="high", details="- Old: x")])
    store.put(bank(), [entry("a", name="Renamed", keywords=["new"], references=["new"], confidence="low")])
    kept = the(store, "a")
    assert (kept.name, kept.keywords, kept.references, kept.confidence, kept.details) == (
        *("Renamed", ["new"], ["new"]),
        *("low", ""),
    )


def test_unseen_characters_and_lone_surrogates_do_not_stop_an_entry(store: Store) -> None:
    store.put(
        bank(), [entry("a", "A\0B\u202eC \ud800 caching", name="N\0", keywords=["\udcff"], references=["\ud800"])]
    )
    assert found(store, "caching") == {"a"}
    assert the(store, "a").name == "N"


def stated() -> Source:
    return Source("/journal.jsonl#carried", JOURNAL, hash=STATED)


@pytest.mark.parametrize("project", ["", SHOP])
def test_stated_observations_are_those_of_banks_and_journals_add_up(store: Store, project: str) -> None:
    store.put(bank(project=project), [entry("a", observation_count=2)])
    store.put(stated(), [entry("a", observation_count=5), entry("b", observation_count=3)])
    assert (the(store, "a").observation_count, the(store, "b").observation_count) == (5, 3)
    store.put(journal(), [entry("a"), entry("b")])
    assert (the(store, "a").observation_count, the(store, "b").observation_count) == (6, 4)
    store.put(bank(project=project), [entry("a", observation_count=9)])
    assert the(store, "a").observation_count == 10
    store.put(stated(), [entry("a", observation_count=4)], anew=False)
    store.put(bank(project=project), [])
    assert the(store, "a").observation_count == 6
    assert the(store, "a").project == ""


@pytest.mark.parametrize("is_first", [True, False])
def test_global_bank_describes_an_entry_that_is_stated_too(store: Store, is_first: bool) -> None:
    puts = [
        lambda: store.put(bank(), [entry("a", name="By the bank", keywords=["bank"], confidence="low")]),
        lambda: store.put(
            stated(),
            [entry("a", name="Stated", keywords=["stated"], observation_count=5, created_at="2020-01-01T00:00:00Z")],
        ),
    ]
    for put in puts if is_first else reversed(puts):
        put()
    found = the(store, "a")
    assert (found.name, found.confidence, set(found.keywords)) == ("By the bank", "low", {"bank", "stated"})
    assert found.created_at == "2020-01-01T00:00:00Z"


def test_stated_entry_keeps_the_words_of_a_project_out(store: Store) -> None:
    store.put(stated(), [entry("a", name="Stated", observation_count=2)])
    store.put(bank(project=SHOP), [entry("a", name="In the shop", details="- Cost: ours", observation_count=4)])
    assert (the(store, "a").name, the(store, "a").details) == ("Stated", "")


def test_stated_entry_that_was_retired_stays_retired(store: Store) -> None:
    store.put(journal(), [], retirements=[Retirement("a")])
    store.put(stated(), [entry("a", observation_count=2)])
    assert the(store, "a").status == RETIRED


# What is retired by word of a journal


def retired(id: str, project: str = "", **known: object) -> Retirement:
    return Retirement(id, project, **known)  # type: ignore[arg-type]


def test_entry_that_a_journal_retires_is_found_no_more_until_it_is_restored(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b")])
    store.put(journal(), [], anew=False, retirements=[retired("a", at="2026-02-01", reason="It was wrong.")])
    assert (the(store, "a").status, standing(store), found(store, "taught")) == (RETIRED, {"b"}, {"b"})
    assert standing(store, Scope(None, (), (RETIRED,))) == {"a"}
    [kept] = store.retirements("a")
    assert (kept.id, kept.project, kept.at, kept.reason) == ("a", "", "2026-02-01", "It was wrong.")
    store.put(journal(), [], anew=False, retirements=[retired("a", ended=True)])
    assert (the(store, "a").status, standing(store)) == (ACTIVE, {"a", "b"})
    assert store.retirements("a") == []


def test_retired_entry_stays_so_when_its_bank_is_read_again_or_another_holds_it(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put(journal(), [], retirements=[retired("a")])
    store.put(bank(), [entry("a", observation_count=7, keywords=["new"])])
    store.put(bank("/shop.md", SHOP), [entry("a")])
    assert (the(store, "a").status, the(store, "a").observation_count) == (RETIRED, 7)
    store.put(bank(), [])
    store.put(bank(), [entry("a")])
    assert standing(store) == set()


def test_entry_may_be_retired_before_a_file_that_holds_it_is_read(store: Store) -> None:
    store.put(journal(), [], retirements=[retired("a"), retired("b", SHOP)])
    store.put(bank(), [entry("a")])
    store.put(bank("/shop.md", SHOP), [entry("b")])
    assert (the(store, "a").status, the(store, "b").status) == (RETIRED, RETIRED)


def test_observation_of_a_journal_ends_what_was_retired_before_it(store: Store) -> None:
    store.put(journal(), [entry("a")])
    store.put(journal(), [], anew=False, retirements=[retired("a"), retired("a", SHOP)])
    store.put(journal(), [entry("a")], anew=False)
    assert (the(store, "a").status, store.retirements("a")) == (ACTIVE, [])
    store.put(journal(), [entry("a")], anew=False, retirements=[retired("a")])
    assert the(store, "a").status == RETIRED


def test_journal_that_is_read_anew_says_anew_what_is_retired(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b")])
    store.put(journal(), [], retirements=[retired("a")])
    store.put(journal(), [], retirements=[retired("b")])
    assert standing(store) == {"a"}


def related(store: Store, *ids: str) -> list[tuple[str, str, str]]:
    return [(each.new, each.old, each.kind) for each in store.relations(ids)]


def test_relations_are_found_from_either_side_and_the_last_of_a_pair_counts(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    assert related(store, "a", "b") == []
    said = [Relation("b", "a", SUPERSEDES, at="2026-01-01"), Relation("c", "b", MERGED, at="2026-01-02")]
    store.put(journal(), [], relations=said)
    assert related(store, "b") == [("b", "a", SUPERSEDES), ("c", "b", MERGED)]
    assert (related(store, "a"), related(store, "c")) == ([("b", "a", SUPERSEDES)], [("c", "b", MERGED)])
    store.put(journal(), [], anew=False, relations=[Relation("a", "b", APART)])
    assert related(store, "a") == [("a", "b", APART)]
    store.put(journal(), [], relations=[])
    assert related(store, "a", "b", "c") == []
    store.forget_sources([journal().path])


def test_observation_of_a_journal_ends_what_took_the_place_of_an_entry(store: Store) -> None:
    store.put(journal(), [entry("a"), entry("b")], relations=[Relation("b", "a", SUPERSEDES)])
    store.put(journal(), [entry("b")], anew=False)
    assert related(store, "a") == [("b", "a", SUPERSEDES)]
    store.put(journal(), [entry("a")], anew=False)
    assert related(store, "a") == []


def test_merged_entries_count_and_are_found_as_one(store: Store) -> None:
    store.put(bank(), [entry("a", observation_count=4, triggers=["one"]), entry("b", triggers=["two"])])
    store.put(journal(), [entry("c")], relations=[Relation("a", "b", MERGED), Relation("b", "c", MERGED)])
    assert (the(store, "a").observation_count, the(store, "b").observation_count) == (6, 2)
    assert set(the(store, "a").triggers) == {"one", "two"}
    store.put(bank(), [entry("a", observation_count=5), entry("b")])
    assert the(store, "a").observation_count == 7
    store.put(journal(), [entry("c")], relations=[Relation("a", "b", APART), Relation("b", "a", MERGED)])
    store.put(journal(), [], anew=False, relations=[Relation("a", "b", APART)])
    assert the(store, "a").observation_count == 5


def test_words_of_an_entry_that_was_replaced_are_found_if_asked_for(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    store.put(journal(), [], retirements=[retired("a"), retired("c")], relations=[Relation("b", "a", SUPERSEDES)])
    assert found(store, "taught") == {"b"}
    scope = Scope(None).with_statuses((ACTIVE,), replaced=True)
    assert {match.id for match in store.text_matches(["taught"], scope, 50)} == {"a", "b"}


def test_what_a_forgotten_journal_has_retired_is_back_with_its_bank(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put(journal(), [], retirements=[retired("a")])
    store.forget_sources(["/bank.md", "/journal.jsonl"])
    store.put(bank(), [entry("a")])
    assert standing(store) == {"a"}


def test_project_retires_its_own_entry_and_nobody_elses(store: Store) -> None:
    third = "/home/dev/third"
    for path, project in (("/shop.md", SHOP), ("/desk.md", DESK), ("/third.md", third)):
        store.put(bank(path, project), [entry("a")])
    store.put(journal(), [], anew=False, retirements=[retired("a", SHOP)])
    seen = {project: standing(store, Scope(project)) for project in (SHOP, DESK, third)}
    assert seen == {SHOP: set(), DESK: {"a"}, third: {"a"}}
    store.put(journal(), [], anew=False, retirements=[retired("a", third)])
    assert (the(store, "a").project, the(store, "a").status) == (DESK, ACTIVE)
    store.put(journal(), [], anew=False, retirements=[retired("a", DESK)])
    assert (the(store, "a").status, standing(store)) == (RETIRED, set())
    assert standing(store, Scope(SHOP, (), (RETIRED,))) == {"a"}
    store.put(journal(), [], anew=False, retirements=[retired("a", SHOP, ended=True)])
    assert (standing(store, Scope(SHOP)), standing(store, Scope(DESK))) == ({"a"}, set())


def test_entry_that_holds_everywhere_is_not_retired_by_a_project(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put(bank("/shop.md", SHOP), [entry("a")])
    store.put(journal(), [], retirements=[retired("a", SHOP)])
    assert (standing(store, Scope(SHOP)), the(store, "a").project) == ({"a"}, "")


def test_memory_file_says_by_itself_whether_it_is_retired(store: Store) -> None:
    store.put(memory(), [entry("a", category="decision")])
    store.put(journal(), [], retirements=[retired("a"), retired("a", SHOP)])
    assert the(store, "a").status == ACTIVE
    store.put(memory(hash="new"), [entry("a", category="decision")])
    assert the(store, "a").status == ACTIVE


def test_source_that_is_renamed_has_still_said_all_that_it_has(store: Store) -> None:
    store.put(Source("/old", JOURNAL, size=7, offset=7), [entry("a"), entry("a")])
    store.rename_source("/old", "new")
    assert {path: source.offset for path, source in store.sources(JOURNAL).items()} == {"new": 7}
    store.put(Source("new", JOURNAL, size=9, offset=9), [entry("a")], anew=False)
    assert the(store, "a").observation_count == 3


def test_observations_add_their_details(store: Store) -> None:
    for details in ("", "- Supersedes: a", "- Supersedes: b", "- Supersedes: a"):
        store.put(journal(), [entry("x", details=details)], anew=False)
    [found] = store.entries(["x"])
    assert found.details == "- Supersedes: a\n- Supersedes: b"


def test_sources_of_an_entry_are_those_that_hold_it(store: Store) -> None:
    store.put(bank("/one.md", SHOP), [entry("a")])
    store.put(journal(), [entry("a"), entry("b")])
    assert [(source.path, source.project) for source in store.sources_of("a")] == [
        ("/journal.jsonl", ""),
        ("/one.md", SHOP),
    ]
    assert store.sources_of("nobody") == []


# Scope


def test_knowledge_of_a_project_is_seen_in_that_project_and_from_above_but_not_in_others(store: Store) -> None:
    store.put(bank("/shop.md", SHOP), [entry("shop")])
    store.put(bank("/desk.md", DESK), [entry("desk")])
    store.put(bank("/global.md"), [entry("all")])
    expected = {SHOP: {"shop", "all"}, DESK: {"desk", "all"}, "": {"all"}, None: {"shop", "desk", "all"}}
    for project, ids in expected.items():
        assert standing(store, Scope(project)) == ids
        assert found(store, "taught", Scope(project)) == ids


def test_entry_of_a_project_and_of_all_is_seen_everywhere_until_only_the_project_holds_it(store: Store) -> None:
    store.put(bank("/shop.md", SHOP), [entry("a")])
    store.put(bank("/global.md"), [entry("a")])
    assert standing(store, Scope(DESK)) == {"a"}
    assert the(store, "a").project == ""
    store.put(bank("/global.md"), [])
    assert standing(store, Scope(DESK)) == set()
    assert the(store, "a").project == SHOP


def test_entry_that_no_file_holds_any_more_is_still_its_projects_own(store: Store) -> None:
    retired_too = (ACTIVE, RETIRED)
    store.put(bank("/shop.md", SHOP), [entry("a")])
    store.put(bank("/shop.md", SHOP), [])
    assert (the(store, "a").status, the(store, "a").project) == (RETIRED, SHOP)
    assert standing(store, Scope(SHOP, (), retired_too)) == {"a"}
    assert standing(store, Scope(DESK, (), retired_too)) == set()


def test_scope_may_name_categories(store: Store) -> None:
    store.put(bank(), [entry(category, category=category) for category in KNOWLEDGE])
    scope = Scope(None, ("patterns", "heuristics"))
    assert standing(store, scope) == {"patterns", "heuristics"}
    assert found(store, "taught", scope) == {"patterns", "heuristics"}


def test_standing_says_what_prominence_is_made_of(store: Store) -> None:
    store.put(bank(), [entry("a", observation_count=3, confidence="low", updated_at="2026-01-05T00:00:00Z")])
    store.recalled(receipt("a"))
    [kept] = store.standings(EVERYWHERE)
    assert (kept.id, kept.category, kept.observation_count, kept.confidence) == ("a", "patterns", 3, "low")
    assert (kept.updated_at, kept.recall_count) == ("2026-01-05T00:00:00Z", 1)
    assert kept.last_recalled_at == "2026-02-01T00:00:00Z"


# Usage and receipts


def test_receipt_comes_back_as_it_was_given(store: Store) -> None:
    lines = [
        ReceiptLine("a", 0.9, vector=0.1, keyword=0.2, prominence=0.3),
        ReceiptLine("unknown", -0.5, vector=0.0, keyword=1.0, prominence=0.25, form=TITLE),
    ]
    store.recalled(
        Receipt(at="2026-01-01T00:00:00Z", event="e", project="p", session="s", query="q\ud800", lines=lines)
    )
    [kept] = store.receipts(5)
    assert (kept.at, kept.event, kept.project, kept.session, kept.query) == (
        "2026-01-01T00:00:00Z",
        "e",
        "p",
        "s",
        "q?",
    )
    assert [(each.id, each.score, each.vector, each.keyword, each.prominence, each.form) for each in kept.lines] == [
        ("a", 0.9, 0.1, 0.2, 0.3, "text"),
        ("unknown", -0.5, 0.0, 1.0, 0.25, "title"),
    ]


def test_title_in_a_receipt_counts_as_no_recall(store: Store) -> None:
    store.put(bank(), [entry("a")])
    given = receipt("a")
    given.lines[0].form = TITLE
    store.recalled(given)
    assert (len(store.receipts(5)), store.usages()) == (1, [])


def test_receipts_are_found_by_project_session_and_entry(store: Store) -> None:
    store.recalled(receipt("a", session="s-1", project=SHOP))
    store.recalled(receipt("b", session="s-1", project=DESK))
    store.recalled(receipt("a", "b", session="t-2", project=SHOP))

    def found(**asked: str) -> list[str]:
        return [kept.session + kept.project[-1] for kept in store.receipts(5, **asked)]

    assert found(project=SHOP) == ["t-2t", "s-1t"]
    assert found(session="s-") == ["s-1k", "s-1t"]
    assert found(entry="b") == ["t-2t", "s-1k"]
    assert found(entry="b", project=SHOP, session="s") == []


def test_signs_of_use_come_back_for_their_entry_oldest_first(store: Store) -> None:
    store.note_evidence(
        [
            Evidence(at=f"2026-02-0{day}T00:00:00Z", kind=OPENED, id=id, project=SHOP, session=f"s-{day}")
            for day, id in ((1, "a"), (2, "b"), (3, "a"))
        ]
    )
    assert [(each.at[:10], each.kind, each.project, each.session) for each in store.evidence("a")] == [
        ("2026-02-01", OPENED, SHOP, "s-1"),
        ("2026-02-03", OPENED, SHOP, "s-3"),
    ]


def sign(kind: str = SAID, *, turn: int = 3, place: str = "5", session: str = "s", id: str = "a") -> Evidence:
    return Evidence(at="2026-02-01T00:00:00Z", kind=kind, id=id, project=SHOP, session=session, turn=turn, place=place)


def known_use(store: Store, id: str = "a") -> tuple[int, int, int]:
    found = store.feedback([id])[id]
    return found.given, found.used, found.contradicted


def test_a_sign_is_kept_once_for_a_turn_with_the_lines_seen_last(store: Store) -> None:
    store.note_evidence([sign()])
    store.note_evidence([sign(place="5, 7"), sign(turn=9, place="11")])
    assert [(each.turn, each.place) for each in store.evidence("a")] == [(3, "5, 7"), (9, "11")]
    assert known_use(store) == (0, 2, 0)
    assert [usage.influence_count for usage in store.usages()] == [2]


def test_a_turn_with_signs_of_several_kinds_counts_as_one_use(store: Store) -> None:
    store.note_evidence([sign(SAID), sign(CITED), sign(SAID, session="t")])
    assert known_use(store) == (0, 2, 0)
    assert len(store.evidence()) == 3


def test_a_contradiction_counts_once_and_is_no_use(store: Store) -> None:
    store.note_evidence([sign(CONTRADICTED), sign(CONTRADICTED)])
    assert (known_use(store), store.usages()) == ((0, 0, 1), [])


def test_opening_counts_as_one_use_of_its_session(store: Store) -> None:
    store.note_evidence([sign(OPENED, turn=0, place=""), sign(OPENED, turn=0, place="")])
    assert (known_use(store), len(store.evidence("a"))) == ((0, 1, 0), 2)


def test_evidence_of_an_unknown_kind_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="no kind of evidence"):
        store.note_evidence([sign(), sign("guessed")])
    assert store.evidence() == []


def test_only_texts_given_for_prompts_count_as_given(store: Store) -> None:
    store.recalled(receipt("a"))
    titled = receipt("a", event=PROMPT)
    titled.lines[0].form = TITLE
    store.recalled(titled)
    store.recalled(receipt("a", event=PROMPT), counted=False)
    assert store.feedback() == {}
    store.recalled(receipt("a", event=PROMPT))
    assert known_use(store) == (1, 0, 0)


def at_rest(store: Store, *ids: str, times: int = 2) -> list[str]:
    return store.rest(ids, at="2026-02-02T00:00:00Z", since="2026-01-03T00:00:00Z", times=times)


def given_to_prompts(store: Store, times: int, *, at: str = "2026-02-01T00:00:00Z", id: str = "a") -> None:
    for _ in range(times):
        store.recalled(receipt(id, at=at, event=PROMPT))


def test_entry_given_in_vain_is_put_to_rest(store: Store) -> None:
    given_to_prompts(store, 1)
    assert at_rest(store, "a", "unknown") == []
    given_to_prompts(store, 1)
    assert at_rest(store, "a") == ["a"]
    assert store.feedback(["a"])["a"].resting == "2026-02-02T00:00:00Z"
    assert at_rest(store, "a") == [], "it is at rest already"


def test_entry_given_long_ago_is_not_put_to_rest(store: Store) -> None:
    given_to_prompts(store, 5, at="2026-01-02T00:00:00Z")
    assert at_rest(store, "a") == []


def test_used_entry_is_not_put_to_rest(store: Store) -> None:
    given_to_prompts(store, 5)
    store.note_evidence([sign()])
    assert at_rest(store, "a") == []


def test_sessions_that_mention_an_entry_do_not_put_it_to_rest(store: Store) -> None:
    given_to_prompts(store, 5)
    ((session,),) = [{each.session for each in store.receipts(5)}]
    store.note_evidence([sign(MENTIONED, session=session), sign(MENTIONED, session=session)])
    assert at_rest(store, "a") == []
    assert (known_use(store), store.usages()[0].influence_count) == ((4, 0, 0), 0), (
        "it is not used, and given once less"
    )


def test_mention_takes_back_one_time_of_its_own_session_alone(store: Store) -> None:
    given_to_prompts(store, 5)
    ((session,),) = [{each.session for each in store.receipts(5)}]
    store.note_evidence([sign(MENTIONED, session=session), sign(MENTIONED, session=session, turn=9)])
    assert known_use(store) == (4, 0, 0), "by its title at first, and then by its text"
    store.note_evidence([sign(MENTIONED, session="started")])
    assert known_use(store) == (4, 0, 0), "it was not given to a prompt there"


def test_pinned_entry_is_not_put_to_rest(store: Store) -> None:
    given_to_prompts(store, 5)
    store.put(journal(), [], marks=[Mark("a", PINNED, SHOP)])
    assert at_rest(store, "a") == []


def test_woken_entry_rests_again_only_after_being_given_as_often_again(store: Store) -> None:
    given_to_prompts(store, 2)
    assert at_rest(store, "a") == ["a"]
    assert store.wake("a", "2026-02-03T00:00:00Z")
    assert not store.wake("a", "2026-02-03T00:00:00Z")
    given_to_prompts(store, 1, at="2026-02-04T00:00:00Z")
    assert at_rest(store, "a") == []
    given_to_prompts(store, 1, at="2026-02-05T00:00:00Z")
    assert at_rest(store, "a") == ["a"]


def test_use_ends_the_rest_of_an_entry(store: Store) -> None:
    given_to_prompts(store, 2)
    at_rest(store, "a")
    store.note_evidence([sign(OPENED, turn=0, place="")])
    assert store.feedback()["a"].resting == ""


def test_raised_confidence_holds_whatever_lower_one_a_source_states(store: Store) -> None:
    store.put(bank(), [entry("a", confidence="low"), entry("b", confidence="high")])
    store.put_raised(
        [Raised("a", "medium", at="2026-02-01", reason="3 observations"), Raised("b", "medium")], anew=True
    )
    assert [each.confidence for each in store.entries(["a", "b"])] == ["medium", "high"]
    store.put(bank(), [entry("a", confidence="low", name="new"), entry("b", confidence="high")])
    assert [(each.name, each.confidence) for each in store.entries(["a"])] == [("new", "medium")]
    store.put_raised([Raised("a", "high")], anew=False)
    assert [each.confidence for each in store.entries(["a"])] == ["high"]
    assert [(each.level, each.at, each.reason) for each in store.raised("a")] == [
        ("medium", "2026-02-01", "3 observations"),
        ("high", "", ""),
    ]


def test_raise_of_an_entry_that_comes_later_holds(store: Store) -> None:
    store.put_raised([Raised("a", "high", at="x", reason="y")], anew=True)
    store.put(bank(), [entry("a", confidence="low")])
    assert [each.confidence for each in store.entries(["a"])] == ["high"]
    assert [standing.confidence for standing in store.standings(EVERYWHERE)] == ["high"]


def test_marks_hold_in_their_project_or_everywhere_until_they_end(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    said = [Mark("b", MUTED, at="2026-01-02"), Mark("a", MUTED, SHOP, at="2026-01-01"), Mark("c", PINNED, SHOP)]
    store.put(journal(), [], marks=said)
    assert store.marked(MUTED, Scope(SHOP)) == ["a", "b"]
    assert (store.marked(MUTED, Scope(DESK)), store.marked(PINNED, Scope(SHOP))) == (["b"], ["c"])
    assert [(mark.kind, mark.project, mark.at) for mark in store.marks("a")] == [(MUTED, SHOP, "2026-01-01")]
    store.put(journal(), [], marks=[Mark("b", MUTED, ended=True)], anew=False)
    assert store.marked(MUTED, EVERYWHERE) == ["a"]
    store.put(journal(), [], marks=said[:1])
    assert store.marked(MUTED, EVERYWHERE) == ["b"], "the journal was read anew"


def anchors_told(anchors: dict[str, list[Anchor]]) -> dict[str, list[tuple[str, str]]]:
    return {id: [(anchor.file, anchor.at) for anchor in those] for id, those in anchors.items()}


def anchored(id: str, project: str, *days: str) -> Anchored:
    return Anchored(id, project, [Anchor(f"src/{day}.py", "0" * 16, "1" * 12, f"2026-11-0{day}") for day in days])


def test_anchors_of_a_journal_are_those_said_last_in_each_project(store: Store) -> None:
    store.put(journal(), [entry("a"), entry("b")], anchored=[anchored("a", SHOP, "1", "2"), anchored("a", DESK, "3")])
    assert anchors_told(store.anchors([SHOP], ["a", "b"])) == {
        "a": [("src/1.py", "2026-11-01"), ("src/2.py", "2026-11-02")]
    }
    store.put(journal(), [], anchored=[anchored("a", SHOP, "4"), anchored("b", SHOP, "5")], anew=False)
    assert anchors_told(store.anchors([SHOP])) == {"a": [("src/4.py", "2026-11-04")], "b": [("src/5.py", "2026-11-05")]}
    assert anchors_told(store.anchors([SHOP, DESK], ["a"]))["a"] == [
        ("src/3.py", "2026-11-03"),
        ("src/4.py", "2026-11-04"),
    ]
    store.put(journal(), [], anchored=[anchored("a", SHOP)], anew=False)
    assert anchors_told(store.anchors([SHOP])) == {"b": [("src/5.py", "2026-11-05")]}
    store.put(journal(), [entry("a")])
    assert store.anchors([SHOP, DESK]) == {}, "the journal was read anew"


def test_anchors_of_a_memory_file_are_those_it_has_now(store: Store) -> None:
    source = Source("/shop/m.json", MEMORY, project=SHOP)
    store.put(source, [entry("m", category="decision")], anchored=[anchored("m", SHOP, "1")])
    store.put(journal(), [], anchored=[anchored("a", SHOP, "2")])
    assert anchors_told(store.anchors([SHOP])) == {"a": [("src/2.py", "2026-11-02")], "m": [("src/1.py", "2026-11-01")]}
    store.put(source, [entry("m", category="decision")], anchored=[anchored("m", SHOP)])
    assert anchors_told(store.anchors([SHOP])) == {"a": [("src/2.py", "2026-11-02")]}


def test_history_of_a_file_is_kept_by_its_content_and_the_newest_counts(store: Store) -> None:
    def histories() -> list[tuple[str, str, str, int, str]]:
        found = store.file_histories(SHOP, ["a.py", "b.py"])
        return sorted((each.file, each.now, each.head, each.commits, each.moved) for each in found)

    store.keep_file_histories([FileHistory(SHOP, "a.py", "1", "now", "h1", 2), FileHistory(DESK, "b.py", "1", "x")])
    store.keep_file_histories([FileHistory(SHOP, "a.py", "1", "", "h1", 1, "c.py")])
    assert histories() == [("a.py", "", "h1", 1, "c.py"), ("a.py", "now", "h1", 2, "")]
    store.keep_file_histories([FileHistory(SHOP, "a.py", "1", "now", "h2", 3)])
    assert histories() == [("a.py", "", "h1", 1, "c.py"), ("a.py", "now", "h2", 3, "")]


def test_marked_entry_out_of_scope_is_not_among_the_marked(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put(journal(), [], marks=[Mark("a", PINNED, SHOP)], retirements=[Retirement("a")])
    assert store.marked(PINNED, Scope(SHOP)) == []
    assert [mark.id for mark in store.marks("a")] == ["a"]


def test_mark_on_an_entry_that_no_file_has_brought_yet_is_known(store: Store) -> None:
    store.put(journal(), [], marks=[Mark("later", MUTED, SHOP)])
    assert (store.marked(MUTED, Scope(SHOP)), store.marked(MUTED, Scope(DESK))) == (["later"], [])


def test_receipts_come_newest_first_and_no_more_than_asked_for(store: Store) -> None:
    for session in ("one", "two", "three"):
        store.recalled(receipt("a", session=session))
    assert [kept.session for kept in store.receipts(2)] == ["three", "two"]


def test_recall_is_counted_once_for_each_receipt(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b")])
    store.recalled(receipt("a", "b", at="2026-02-02T00:00:00Z"))
    store.recalled(receipt("a", at="2026-02-01T00:00:00Z"))
    kept = the(store, "a")
    assert (kept.recall_count, kept.last_recalled_at) == (2, "2026-02-02T00:00:00Z")
    assert the(store, "b").recall_count == 1


def test_receipt_that_is_not_counted_is_kept_and_changes_no_usage(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.recalled(receipt("a"), counted=False)
    assert (the(store, "a").recall_count, the(store, "a").last_recalled_at) == (0, "")
    assert len(store.receipts(5)) == 1


def test_usage_survives_retirement_and_return(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.recalled(receipt("a"))
    store.put(bank(), [])
    assert the(store, "a").recall_count == 1
    store.put(bank(), [entry("a")])
    assert the(store, "a").recall_count == 1


def test_edited_entry_inherits_what_the_old_one_has_earned(store: Store) -> None:
    store.put(bank(), [entry("old", name="Read First"), entry("other", name="Other")])
    store.recalled(receipt("old", "other"))
    store.recalled(receipt("old"))
    store.put(bank(), [entry("new", name="Read First"), entry("other", name="Other")])
    assert (the(store, "new").recall_count, the(store, "new").last_recalled_at) == (2, "2026-02-01T00:00:00Z")
    assert the(store, "old").status == RETIRED
    assert the(store, "other").recall_count == 1


def test_entry_that_is_edited_back_keeps_what_was_earned_meanwhile(store: Store) -> None:
    store.put(bank(), [entry("first", name="Read First")])
    store.recalled(receipt("first"))
    store.put(bank(), [entry("second", name="Read First")])
    store.recalled(receipt("second"))
    store.put(bank(), [entry("first", name="Read First")])
    assert the(store, "first").recall_count == 2


def test_entry_of_another_name_or_category_inherits_nothing(store: Store) -> None:
    store.put(bank(), [entry("old", name="Read First")])
    store.recalled(receipt("old"))
    store.put(bank(), [entry("x", name="Write Last"), entry("y", name="Read First", category="heuristics")])
    assert [each.recall_count for each in store.entries(["x", "y"])] == [0, 0]


def test_forgetting_sources_retires_everything_and_keeps_usage_receipts_and_vectors(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a", observation_count=7)])
    store.put_vectors([("a", unit([1.0] * 64))])
    store.recalled(receipt("a"))
    store.forget_sources(list(store.sources()))
    assert (store.sources(), standing(store)) == ({}, set())
    store.put(bank(), [entry("a", observation_count=2)])
    kept = the(store, "a")
    assert (kept.observation_count, kept.recall_count, kept.status) == (2, 1, ACTIVE)
    assert (store.coverage().pending, len(store.receipts(5))) == (0, 1)


# Notes


def test_note_is_empty_until_it_is_set_and_the_last_one_counts(store: Store) -> None:
    assert store.get_meta("key") == ""
    store.set_meta("key", "one")
    store.set_meta("key", "zwei\nüber")
    assert store.get_meta("key") == "zwei\nüber"


# Models and vectors


def test_model_in_use_comes_back_as_it_was_given(store: Store) -> None:
    assert store.model() is None
    store.use_model(model())
    kept = store.model()
    assert kept is not None
    assert (kept.identity, kept.provider, kept.name, kept.dimensions) == ("one", "provider", "name", 64)


def test_model_of_another_size_drops_vectors_and_kept_questions(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a")])
    store.put_vectors([("a", unit([1.0] * 64))])
    store.keep_query_vector("what?", unit([1.0] * 64))
    store.use_model(model(128))
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert store.query_vector("what?") is None
    assert store.vector_matches(unit([1.0] * 128), EVERYWHERE, 5) == []
    assert [(kept.dimensions, kept.vectors) for kept in store.models()] == [(128, 0)]


FIRST, SECOND = unit([1.0, 0, 0, 0]), unit([0, 1.0, 0, 0])


def use_two_models(store: Store, triggers: Sequence[str] = ()) -> None:
    """Two entries; the first model has seen both, the second one a."""
    store.put(bank(), [entry("a", triggers=list(triggers)), entry("b")])
    store.use_model(model(4))
    store.put_vectors([("a", FIRST), ("b", SECOND)], [("a", FIRST)] if triggers else [])
    store.keep_query_vector("q", FIRST)
    store.use_model(model(4, "two"))
    store.put_vectors([("a", SECOND)], [("a", SECOND)] if triggers else [])


def nearest(store: Store, vector: bytes = FIRST) -> dict[str, float]:
    return {match.id: round(match.score, 2) for match in store.vector_matches(vector, EVERYWHERE, 5)}


def test_vectors_of_each_model_are_kept_and_found_by_it_alone(store: Store) -> None:
    use_two_models(store)
    assert nearest(store) == {"a": 0.0}
    assert store.similarities(FIRST, ["a", "b"]) == {"a": pytest.approx(0.0)}
    assert store.background(SECOND, EVERYWHERE).count == 1
    assert [each.id for each in store.pending(5, EVERYWHERE)] == store.pending_ids(EVERYWHERE) == ["b"]
    assert (store.coverage().pending, store.coverage_of(Scope("")).pending) == (1, 1)
    store.choose_model("one")
    assert nearest(store) == {"a": 1.0, "b": 0.0}
    assert store.background(SECOND, EVERYWHERE).count == 2
    assert (store.pending(5, EVERYWHERE), store.pending_ids(EVERYWHERE)) == ([], [])
    assert (store.coverage().pending, store.coverage_of(Scope("")).pending) == (0, 0)


def test_vectors_of_a_scope_are_listed_by_id_about_as_they_were_put(store: Store) -> None:
    chance = random.Random(4)
    vectors = {f"e{number:03}": some_vector(chance, 100) for number in range(50)}
    store.put(bank(), [entry(id) for id in (*vectors, "without")])
    store.put(bank("/shop.md", SHOP), [entry("of-the-shop")])
    assert store.vectors(EVERYWHERE, 100) == []
    store.use_model(model(100))
    assert store.vectors(EVERYWHERE, 100) == []
    store.put_vectors([*vectors.items(), ("of-the-shop", some_vector(chance, 100))])
    listed = store.vectors(Scope(""), 100)
    assert [id for id, _ in listed] == sorted(vectors)
    assert all(cosine(vectors[id], vector) > 0.99 for id, vector in listed)
    assert store.vectors(EVERYWHERE, 7) == listed[:7]
    assert [id for id, _ in store.vectors(EVERYWHERE, 100)][-1] == "of-the-shop"


def test_triggers_have_a_vector_by_each_model(store: Store) -> None:
    use_two_models(store, triggers=["about to write"])
    assert nearest(store, SECOND) == {"a": 1.0}
    store.choose_model("one")
    assert nearest(store) == {"a": 1.0, "b": 0.0}
    store.use_model(model(4, "three"))
    store.put_vectors([("a", FIRST), ("b", FIRST)])
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert (store.coverage().pending, store.coverage_of(Scope("")).pending) == (1, 1)


def test_kept_question_belongs_to_its_model(store: Store) -> None:
    use_two_models(store)
    assert store.query_vector("q") is None
    store.keep_query_vector("q", SECOND)
    store.choose_model("one")
    assert store.query_vector("q") == FIRST


def test_model_without_vectors_here_finds_nothing_and_everything_awaits_it(store: Store) -> None:
    use_two_models(store)
    assert (store.choose_model("three"), store.model()) == (None, None)
    assert (nearest(store), store.similarities(FIRST, ["a"]), store.query_vector("q")) == ({}, {}, None)
    assert (store.coverage().pending, len(store.pending(5, EVERYWHERE))) == (2, 2)
    store.keep_query_vector("q", FIRST)
    store.drop_vectors()
    with pytest.raises(StoreError, match="before the model"):
        store.put_vectors([("a", FIRST)])
    assert [kept.vectors for kept in store.models()] == [1, 2]


def test_store_that_chooses_no_model_uses_the_one_used_last(opener: Opener) -> None:
    use_two_models(opener())
    (kept,) = [opener().model()]
    assert kept is not None
    assert kept.identity == "two"
    chosen = opener().choose_model("")
    assert chosen is not None
    assert chosen.identity == "two"


def test_changed_text_loses_its_vectors_by_all_models(store: Store) -> None:
    use_two_models(store, triggers=["about to write"])
    store.put(bank(), [entry("a", name="Another name", triggers=["about to read"]), entry("b")])
    for identity in ("one", "two"):
        store.choose_model(identity)
        assert "a" in store.pending_ids(EVERYWHERE)
        assert store.similarities(FIRST, ["a"]) == {}


def test_dropped_vectors_are_those_of_the_model_in_use_alone(store: Store) -> None:
    use_two_models(store)
    store.drop_vectors()
    assert (store.coverage().pending, nearest(store)) == (2, {})
    store.choose_model("one")
    assert (store.coverage().pending, store.query_vector("q")) == (0, FIRST)


def test_forgotten_model_leaves_nothing_and_the_other_all(store: Store) -> None:
    use_two_models(store)
    assert [(kept.identity, kept.vectors, kept.bytes > 0) for kept in store.models()] == [
        ("two", 1, True),
        ("one", 2, True),
    ]
    store.forget_models(["one", "unknown"])
    assert [kept.identity for kept in store.models()] == ["two"]
    assert nearest(store) == {"a": 0.0}
    store.use_model(model(4))
    assert (nearest(store), store.query_vector("q"), store.coverage().pending) == ({}, None, 2)


def test_no_more_than_eight_models_are_kept(store: Store) -> None:
    store.put(bank(), [entry("a")])
    for number in range(10):
        store.use_model(model(4, str(number)))
        store.put_vectors([("a", FIRST)])
    assert sorted(kept.identity for kept in store.models()) == list("23456789")


def test_same_model_keeps_vectors_and_questions(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a")])
    store.put_vectors([("a", unit([1.0] * 64))])
    store.keep_query_vector("what?", b"1234")
    store.use_model(model())
    assert store.coverage().pending == 0
    assert store.query_vector("what?") == b"1234"
    assert store.query_vector("who?") is None


def test_dropped_vectors_leave_every_entry_waiting(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a")])
    store.put_vectors([("a", unit([1.0] * 64))])
    store.drop_vectors()
    assert (store.coverage().pending, store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5)) == (1, [])
    assert store.model() is not None


def test_entries_await_vectors_newest_first_and_only_active_ones(store: Store) -> None:
    store.put(bank(), [entry(id) for id in "abcd"])
    store.put(bank(), [entry(id) for id in "abc"])
    assert [each.id for each in store.pending(2, EVERYWHERE)] == ["c", "b"]
    store.use_model(model())
    store.put_vectors([("b", unit([1.0] * 64))])
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["c", "a"]
    assert sorted(store.pending_ids(EVERYWHERE)) == ["a", "c"]
    coverage = store.coverage()
    assert (coverage.entries, coverage.pending, coverage.skipped) == (3, 2, 0)


def test_titles_are_those_of_active_entries_in_scope_last_changed_first(store: Store) -> None:
    for place, (id, day) in enumerate([("a", 1), ("b", 3), ("c", 2), ("d", 2)]):
        known = {"category": "decision", "name": f"Title {id}", "updated_at": f"2026-01-0{day}"}
        store.put(memory(f"/{place}.json"), [entry(id, **known)])
    store.put(memory("/retired.json"), [entry("e", category="decision", status="retired")])
    store.put(memory("/other.json", project="/other"), [entry("f", category="decision")])
    store.put(bank(), [entry("g")])
    found = store.titles(Scope(SHOP, ("decision",)), 10)
    assert [each.id for each in found] == ["b", "c", "d", "a"]
    assert (found[0].name, found[0].category, found[0].updated_at) == ("Title b", "decision", "2026-01-03")
    assert [each.id for each in store.titles(Scope(SHOP, ("decision",)), 2)] == ["b", "c"]


def test_scope_with_a_worktree_has_its_memories_and_the_lessons_of_the_project(store: Store) -> None:
    store.put(memory("/main.json"), [entry("a", category="decision")])
    store.put(memory("/tree.json", project="/tree"), [entry("b", category="decision")])
    store.put(bank(), [entry("c")])
    assert {each.id for each in store.standings(Scope(SHOP))} == {"a", "c"}
    assert {each.id for each in store.standings(Scope(SHOP, memories="/tree"))} == {"b", "c"}
    assert {each.id for each in store.standings(Scope(None))} == {"a", "b", "c"}


def test_titles_about_a_package_come_first_and_the_others_follow(store: Store) -> None:
    files = {"a": ["packages/api/x.py"], "b": [], "c": ["packages/api-old/x.py"], "d": ['packages/a"p/x.py'], "e": []}
    for place, (id, references) in enumerate(files.items()):
        known = {"category": "decision", "updated_at": f"2026-01-0{place + 1}", "references": references}
        store.put(memory(f"/{place}.json"), [entry(id, **known)])
    scope = Scope(SHOP, ("decision",))
    assert [each.id for each in store.titles(scope, 10, "packages/api")] == ["a", "e", "d", "c", "b"]
    assert [each.id for each in store.titles(scope, 10, 'packages/a"p')] == ["d", "e", "c", "b", "a"]
    assert [each.id for each in store.titles(scope, 1, "packages/api")] == ["a"]


def test_empty_store_has_nothing_to_cover(store: Store) -> None:
    coverage = store.coverage()
    assert (coverage.entries, coverage.pending, coverage.skipped) == (0, 0, 0)
    assert store.pending(5, EVERYWHERE) == []
    assert store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5) == []
    assert store.text_matches(["x"], EVERYWHERE, 5) == []


def test_vector_before_its_model_is_refused(store: Store) -> None:
    store.put(bank(), [entry("a")])
    with pytest.raises(StoreError, match="model"):
        store.put_vectors([("a", unit([1.0] * 64))])


@pytest.mark.parametrize("dimensions", [0, 1, 63, 65, 768])
def test_vectors_among_which_one_has_the_wrong_size_are_refused_together(store: Store, dimensions: int) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a"), entry("b")])
    with pytest.raises(StoreError, match=f"{dimensions} dimensions"):
        store.put_vectors([("a", unit([1.0] * 64)), ("b", array("f", [0.1] * dimensions).tobytes())])
    assert (store.coverage().pending, store.coverage().skipped) == (2, 0)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_vector_that_is_no_number_is_refused_as_an_error_of_the_store(store: Store, value: float) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a")])
    with pytest.raises(StoreError):
        store.put_vectors([("a", array("f", [value] * 64).tobytes())])


def test_vector_of_an_unknown_entry_is_passed_over(store: Store) -> None:
    store.use_model(model())
    store.put_vectors([("nobody", unit([1.0] * 64))])
    assert store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5) == []


def test_question_of_the_wrong_size_finds_nothing(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a")])
    store.put_vectors([("a", unit([1.0] * 64))])
    assert store.vector_matches(unit([1.0] * 32), EVERYWHERE, 5) == []
    assert store.vector_matches(b"", EVERYWHERE, 5) == []


def test_entry_whose_name_changes_awaits_a_new_vector_and_one_whose_details_change_does_not(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a"), entry("b")])
    store.put_vectors([("a", unit([1.0] * 64)), ("b", unit([1.0] * 64))])
    store.put(bank(), [entry("a", name="Renamed"), entry("b", details="- Note: x", keywords=["k"])])
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert {match.id for match in store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5)} == {"b"}


NORTH, EAST, SOUTH = unit([1.0, 0, 0, 0]), unit([0, 1.0, 0, 0]), unit([-1.0, 0, 0, 0])


def near(store: Store, vector: bytes) -> list[tuple[str, float]]:
    return [(match.id, round(match.score, 2)) for match in store.vector_matches(vector, EVERYWHERE, 5)]


def triggered(store: Store) -> None:
    """Put an entry with triggers and one without, each with all its vectors."""
    store.use_model(model(4))
    store.put(bank(), [entry("a", triggers=["when it rains"]), entry("b")])
    store.put_vectors([("a", NORTH), ("b", SOUTH)], [("a", EAST)])


def test_entry_is_as_near_as_the_nearer_of_its_text_and_its_triggers(store: Store) -> None:
    triggered(store)
    assert near(store, EAST) == [("a", 1.0), ("b", 0.0)]
    assert near(store, NORTH) == [("a", 1.0), ("b", -1.0)]
    assert near(store, SOUTH) == [("b", 1.0), ("a", 0.0)]
    assert [match.id for match in store.vector_matches(SOUTH, EVERYWHERE, 1)] == ["b"]
    for question, score in ((NORTH, 1.0), (EAST, 1.0), (SOUTH, 0.0)):
        assert round(store.similarities(question, ["a", "b", "nobody"])["a"], 2) == score
    assert store.similarities(EAST, ["a", "b"], triggers=False) == {"a": pytest.approx(0.0), "b": pytest.approx(0.0)}


def test_triggers_do_not_change_what_is_usual(store: Store) -> None:
    triggered(store)
    usual = store.background(EAST, EVERYWHERE)
    assert (usual.count, round(usual.mean, 2)) == (2, 0.0)


def test_triggers_out_of_scope_are_not_near(store: Store) -> None:
    triggered(store)
    store.put(bank("/desk.md", DESK), [entry("c", triggers=["elsewhere"])])
    store.put_vectors([("c", NORTH)], [("c", EAST)])
    assert {match.id for match in store.vector_matches(EAST, Scope(SHOP), 5)} == {"a", "b"}


def coverages(store: Store) -> list[tuple[int, int, int]]:
    """The coverage of everything, and of a scope that holds as much."""
    found = (store.coverage(), store.coverage_of(Scope(None, KNOWLEDGE)))
    return [(each.entries, each.pending, each.skipped) for each in found]


def test_entry_with_triggers_awaits_vectors_as_one_until_it_has_both(store: Store) -> None:
    store.use_model(model(4))
    store.put(bank(), [entry("a", triggers=["when it rains", "when it snows"]), entry("b")])
    assert coverages(store) == [(2, 2, 0)] * 2
    store.put_vectors([("a", NORTH), ("b", NORTH)])
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert coverages(store) == [(2, 1, 0)] * 2
    store.put_vectors([], [("a", EAST)])
    assert (store.pending(5, EVERYWHERE), coverages(store)) == ([], [(2, 0, 0)] * 2)


def test_retired_entry_with_triggers_awaits_no_vector(store: Store) -> None:
    store.use_model(model(4))
    store.put(bank(), [entry("a", triggers=["when it rains"]), entry("b")])
    store.put_vectors([("a", NORTH), ("b", NORTH)])
    store.put(bank(), [entry("b")])
    assert (store.pending(5, EVERYWHERE), coverages(store)) == ([], [(1, 0, 0)] * 2)


def test_changed_triggers_await_a_new_vector_and_the_text_keeps_its_own(store: Store) -> None:
    triggered(store)
    store.put(bank(), [entry("a", triggers=["when it snows"]), entry("b")])
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert coverages(store) == [(2, 1, 0)] * 2
    assert (near(store, EAST), near(store, NORTH)[0]) == ([("a", 0.0), ("b", 0.0)], ("a", 1.0))


def test_entry_whose_triggers_are_gone_awaits_nothing_and_is_not_near_to_them(store: Store) -> None:
    triggered(store)
    store.put(bank(), [entry("a"), entry("b")])
    assert (store.pending(5, EVERYWHERE), coverages(store)) == ([], [(2, 0, 0)] * 2)
    assert near(store, EAST) == [("a", 0.0), ("b", 0.0)]


def test_changed_text_leaves_the_vector_of_the_triggers(store: Store) -> None:
    triggered(store)
    store.put(bank(), [entry("a", name="Renamed", triggers=["when it rains"]), entry("b")])
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert coverages(store) == [(2, 1, 0)] * 2
    assert near(store, EAST)[0] == ("a", 1.0)


def test_dropped_vectors_are_those_of_triggers_too(store: Store) -> None:
    triggered(store)
    store.drop_vectors()
    assert (near(store, EAST), coverages(store)) == ([], [(2, 2, 0)] * 2)
    store.put_vectors([("a", NORTH), ("b", NORTH)])
    assert coverages(store) == [(2, 1, 0)] * 2


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_vector_of_triggers_that_is_no_number_is_refused_with_that_of_the_text(store: Store, value: float) -> None:
    store.use_model(model(4))
    store.put(bank(), [entry("a", triggers=["when it rains"])])
    with pytest.raises(StoreError):
        store.put_vectors([("a", NORTH)], [("a", array("f", [value] * 4).tobytes())])
    with pytest.raises(StoreError, match="8 dimensions"):
        store.put_vectors([("a", NORTH)], [("a", unit([1.0] * 8))])
    assert near(store, NORTH) == []


@pytest.mark.parametrize("dimensions", [64, 100, 384, 768])
def test_vector_matches_come_in_the_order_of_their_exact_cosine(store: Store, dimensions: int) -> None:
    chance = random.Random(dimensions)
    vectors = {f"e{number}": some_vector(chance, dimensions) for number in range(300)}
    store.use_model(model(dimensions))
    with writing(store):
        store.put(bank(), [entry(id) for id in vectors])
        store.put_vectors(list(vectors.items()))
    for _ in range(5):
        question = some_vector(chance, dimensions)
        exact = {id: cosine(question, vector) for id, vector in vectors.items()}
        matches = store.vector_matches(question, EVERYWHERE, 20)
        assert len({match.id for match in matches}) == 20
        assert all(abs(match.score - exact[match.id]) < 0.01 for match in matches)
        scores = [match.score for match in matches]
        assert scores == sorted(scores, reverse=True)
        best = sorted(exact.values(), reverse=True)
        assert all(abs(exact[match.id] - best[place]) < 0.02 for place, match in enumerate(matches))


def test_nearest_of_many_vectors_are_found_though_not_all_can_be_compared(store: Store) -> None:
    chance = random.Random(7)
    centres = [[chance.gauss(0, 1) for _ in range(64)] for _ in range(40)]
    vectors = {
        f"e{number}": unit([value + chance.gauss(0, 0.5) for value in centres[number % 40]]) for number in range(2_000)
    }
    store.use_model(model())
    with writing(store):
        store.put(bank(), [entry(id) for id in vectors])
        store.put_vectors(list(vectors.items()))
    for centre in centres[:5]:
        question = unit(centre)
        best = sorted(vectors, key=lambda id: -cosine(question, vectors[id]))[:10]
        assert {match.id for match in store.vector_matches(question, EVERYWHERE, 10)} >= set(best[:8])


def test_vectors_in_scope_are_found_though_most_and_nearer_ones_are_not(store: Store) -> None:
    chance = random.Random(3)
    near = unit([1.0] * 64)
    store.use_model(model())
    with writing(store):
        store.put(bank("/desk.md", DESK), [entry(f"d{number}") for number in range(1_500)])
        store.put(bank("/shop.md", SHOP), [entry(f"s{number}") for number in range(3)])
        store.put_vectors([(f"d{number}", near) for number in range(1_500)])
        store.put_vectors([(f"s{number}", some_vector(chance, 64)) for number in range(3)])
    assert {match.id for match in store.vector_matches(near, Scope(SHOP), 5)} == {"s0", "s1", "s2"}
    assert len(store.vector_matches(near, Scope(DESK), 5)) == 5


def test_retired_entries_are_not_near_to_anything(store: Store) -> None:
    store.use_model(model())
    store.put(bank(), [entry("a"), entry("b")])
    store.put_vectors([("a", unit([1.0] * 64)), ("b", unit([1.0] * 64))])
    store.put(bank(), [entry("b")])
    assert [match.id for match in store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5)] == ["b"]
    store.put(bank(), [entry("a"), entry("b")])
    assert len(store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5)) == 2


def test_vector_that_is_replaced_is_found_where_it_is_now(store: Store) -> None:
    store.use_model(model(4))
    store.put(bank(), [entry("a"), entry("b")])
    store.put_vectors([("a", unit([1.0, 0, 0, 0])), ("b", unit([0, 1.0, 0, 0]))])
    store.vector_matches(unit([1.0, 0, 0, 0]), EVERYWHERE, 1)
    store.put_vectors([("a", unit([0, 0, 1.0, 0]))])
    [best] = store.vector_matches(unit([0, 0, 1.0, 0]), EVERYWHERE, 1)
    assert (best.id, round(best.score, 3)) == ("a", 1.0)


def test_vector_without_a_positive_component_is_found(store: Store) -> None:
    store.use_model(model(4))
    store.put(bank(), [entry("a")])
    store.put_vectors([("a", unit([-1.0, 0, -1.0, 0]))])
    assert [match.id for match in store.vector_matches(unit([-1.0, 0, -1.0, 0]), EVERYWHERE, 5)] == ["a"]


def test_similarities_are_cosines_of_the_entries_asked_for(store: Store) -> None:
    chance = random.Random(5)
    vectors = {f"e{number}": some_vector(chance, 64) for number in range(600)}
    store.use_model(model())
    with writing(store):
        store.put(bank(), [*map(entry, vectors), entry("bare")])
        store.put_vectors(list(vectors.items()))
    question = some_vector(chance, 64)
    near = store.similarities(question, [*vectors, "bare", "nobody"])
    assert set(near) == set(vectors)
    assert all(abs(near[id] - cosine(question, vectors[id])) < 0.01 for id in vectors)
    assert store.similarities(question, []) == {}
    assert store.similarities(unit([1.0] * 32), ["e1"]) == {}


def test_background_is_mean_and_deviation_of_cosines(store: Store) -> None:
    question = unit([1.0, 0, 0, 0])
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    assert store.background(question, EVERYWHERE).count == 0
    store.use_model(model(4))
    assert store.background(question, EVERYWHERE).count == 0
    store.put_vectors([("a", unit([1.0, 0, 0, 0])), ("b", unit([0, 1.0, 0, 0]))])
    usual = store.background(question, EVERYWHERE)
    assert (usual.count, round(usual.mean, 3), round(usual.deviation, 3)) == (2, 0.5, 0.5)
    store.put_vectors([("c", unit([0, 0, 1.0, 0]))])
    assert store.background(question, EVERYWHERE).count == 3


# Labels that come later


def test_active_entries_without_keywords_await_some(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b", keywords=["k"]), entry("c"), entry("gone")])
    store.put(bank(), [entry("a"), entry("b", keywords=["k"]), entry("c")])
    assert sorted(store.unlabelled()) == ["a", "c"]
    store.put_keywords({"a": ["pelican", *(f"k{number}" for number in range(20))], "nobody": ["x"]})
    assert store.unlabelled() == ["c"]
    assert len(the(store, "a").keywords) == 10
    assert found(store, "pelican") == {"a"}


# Words


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Migrations were running twice.", "migrate run"),
        ("Check the caches.", "caching"),
        ("Call parse_config_file once.", "config"),
        ("Call parse_config_file once.", "parse_config_file"),
        ("See src/recollect/store/sqlite/store.py for it.", "sqlite"),
        ("See src/recollect/store/sqlite/store.py for it.", "store/sqlite/store.py"),
        ("Close the connectionPool.", "pool"),
        ("Close the connectionPool.", "connectionPool"),
        ("Close the HTTPServer.", "server"),
        ("Close the HTTPServer.", "httpserver"),
        ("数据库迁移必须是幂等的。", "迁移"),
        ("数据库迁移必须是幂等的。", "数据库"),
        ("数据库迁移必须是幂等的。", "幂"),
        ("テストを先に書く", "テスト"),
        ("데이터베이스를 먼저", "데이터"),
        ("Das Menü der Straße", "menu"),
        ("Das Menu", "menü"),
        ("The cafe\u0301 is closed", "café"),
        ("C'est déjà vu", "DÉJÀ"),
        ("Always the same", "ALWAYS"),
        ("Version 3.11 of python", "3.11"),
    ],
)
def test_text_is_found_by_its_words(store: Store, text: str, question: str) -> None:
    store.put(bank(), [entry("a", text, name="Lesson"), entry("b", "Nothing of the kind.", name="Lesson")])
    assert "a" in found(store, question)


@pytest.mark.parametrize(
    ("text", "question"), [("Use the Base64Encoder.", "encoder"), ("Start Http2Server.", "server")]
)
def test_camel_case_with_digits_is_found_by_its_parts(store: Store, text: str, question: str) -> None:
    store.put(bank(), [entry("a", text, name="Lesson")])
    assert found(store, question) == {"a"}


@pytest.mark.parametrize("text", ["Use caching🤖 here.", "caching🙂", "🧪caching"])
def test_word_beside_a_symbol_is_found(store: Store, text: str) -> None:
    store.put(bank(), [entry("a", text, name="Lesson")])
    assert found(store, "caching") == {"a"}


@pytest.mark.parametrize(
    "known",
    [
        {"name": "Pelican crossing"},
        {"keywords": ["pelican", "other-label"]},
        {"keywords": ["first", "wild-pelican"]},
        {"reasoning": "Because a pelican said so."},
        {"details": "- Evidence: the pelican was seen\n- Observation count: 3"},
        {"triggers": ["when it rains", 'a "pelican" lands']},
    ],
)
def test_entry_is_found_by_what_it_holds_beside_its_description(store: Store, known: dict[str, object]) -> None:
    store.put(bank(), [entry("a", **known), entry("b")])
    assert found(store, "pelicans") == {"a"}


def test_bookkeeping_is_not_searched(store: Store) -> None:
    store.put(bank(), [entry("a", details="- Observation count: 3\n- Confidence: high\n- Source: Feature #007")])
    assert found(store, "observation confidence feature") == set()


def test_stop_words_find_nothing_unless_there_is_nothing_else(store: Store) -> None:
    store.put(bank(), [entry("a", "The way to be", name="A"), entry("b", "Pelican", name="B")])
    assert found(store, "the pelican") == {"b"}
    assert found(store, "to be") == {"a"}


def test_text_matches_put_more_and_rarer_words_first_and_obey_the_limit(store: Store) -> None:
    store.put(
        bank(),
        [entry(f"e{n}", f"Caching lesson number {n}.", name="L") for n in range(20)]
        + [entry("best", "Caching of pelicans.", name="L")],
    )
    matches = store.text_matches(["caching", "pelican"], EVERYWHERE, 5)
    assert (matches[0].id, len(matches)) == ("best", 5)
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)


def test_changed_text_is_found_by_its_new_words_only(store: Store) -> None:
    store.put(bank(), [entry("a", reasoning="pelican")])
    store.put(bank(), [entry("a", reasoning="flamingo")])
    assert (found(store, "pelican"), found(store, "flamingo")) == (set(), {"a"})


HOSTILE = [
    *('"', '""', "'", "\0", "a\0b", "AND", "OR", "NOT", "NEAR", "NEAR(a b, 2)", "a*", "*", "^a", "name:a", "-a", "+"),
    *("{name} : a", "(", ")", "a AND", '"unclosed', ";--", "🙂", "🧑‍💻", "\u202e", "a" * 10_000, "é" * 10_000, " ", ""),
]


@pytest.mark.parametrize("term", HOSTILE, ids=range(len(HOSTILE)))
def test_no_term_is_taken_for_an_operator(store: Store, term: str) -> None:
    store.put(bank(), [entry("a", "pelican")])
    assert {match.id for match in store.text_matches([term, "pelican"], EVERYWHERE, 5)} == {"a"}
    assert store.document_frequencies([term, "pelican"])[0]["pelican"] == 1


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(terms=st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(HOSTILE), max_size=8))
def test_no_terms_raise(store: Store, terms: list[str]) -> None:
    store.put(bank(), [entry("a", "pelican and " + " ".join(terms))])
    for match in store.text_matches(terms, EVERYWHERE, 5):
        assert match.id == "a"
    frequencies, entries = store.document_frequencies(terms)
    assert all(0 <= count <= 1 for count in frequencies.values())
    assert entries == (1 if terms else 0)
    assert store.check() == []


def test_thousands_of_terms_are_one_question(store: Store) -> None:
    store.put(bank(), [entry("a", "pelican")])
    terms = [f"t{number}" for number in range(20_000)] + ["pelican"]
    assert [match.id for match in store.text_matches(terms, EVERYWHERE, 5)] == ["a"]


def test_lone_surrogates_in_terms_find_nothing_and_do_not_raise(store: Store) -> None:
    store.put(bank(), [entry("a", "pelican")])
    assert [match.id for match in store.text_matches(["\ud800", "pelican"], EVERYWHERE, 5)] == ["a"]
    assert store.document_frequencies(["\ud800", "pelican"])[0]["pelican"] == 1


def test_places_of_terms_are_the_fields_that_hold_them_by_their_stems(store: Store) -> None:
    one = entry("a", "Webhooks are signed.", name="Retry webhook", keywords=["queue"], reasoning="A queue was lost.")
    store.put(bank(), [one, entry("b", "Something else.")])
    found = store.term_places(["webhooks", "queues", "signing", "unheard"], ["a", "b", "nobody"])
    assert found == {
        "a": {
            "webhooks": {"name", "description"},
            "queues": {"keywords", "reasoning"},
            "signing": {"description"},
        },
        "b": {},
    }
    assert store.term_places([], ["a"]) == {}


def test_word_of_triggers_alone_is_counted_and_its_place_is_known(store: Store) -> None:
    store.put(bank(), [entry("a", "Orders.", triggers=["persisting purchases", "a new table"]), entry("b", "A table.")])
    terms = ["purchase", "tables"]
    assert store.document_frequencies(terms) == ({"purchase": 1, "tables": 2}, 2)
    assert store.term_places(terms, ["a", "b"]) == {
        "a": {"purchase": {"triggers"}, "tables": {"triggers"}},
        "b": {"tables": {"description"}},
    }


def test_document_frequencies_follow_stems_and_accents(store: Store) -> None:
    store.put(bank(), [entry("a", "caching a menu"), entry("b", "caches"), entry("c", "Menü, menü")])
    assert store.document_frequencies(["cache", "menu", "pelican"]) == ({"cache": 2, "menu": 2, "pelican": 0}, 3)
    assert store.document_frequencies([]) == ({}, 0)


def test_term_of_several_words_is_as_rare_as_its_rarest(store: Store) -> None:
    store.put(bank(), [entry("a", "open file"), entry("b", "open door")])
    assert store.document_frequencies(["open_file"]) == ({"open_file": 1}, 2)


@pytest.mark.parametrize("term", ["absent_open", "open_absent_door"])
def test_term_of_which_a_word_occurs_nowhere_occurs_nowhere(store: Store, term: str) -> None:
    store.put(bank(), [entry("a", "open file"), entry("b", "open door")])
    assert store.document_frequencies([term])[0] == {term: 0}


def test_document_frequencies_count_no_more_entries_than_there_are(store: Store) -> None:
    store.put(bank(), [entry(id, "pelican") for id in "abc"])
    store.put(bank(), [entry("a", "pelican")])
    frequencies, entries = store.document_frequencies(["pelican"])
    assert frequencies["pelican"] <= entries


# Transactions


def everything(store: Store) -> object:
    return (
        sorted(store.sources()),
        standing(store),
        store.get_meta("key"),
        [kept.at for kept in store.receipts(10)],
        (store.model() or model(0, "")).identity,
        store.coverage().pending,
        found(store, "taught"),
        [match.id for match in store.vector_matches(unit([1.0] * 64), EVERYWHERE, 10)],
        store.query_vector("q"),
    )


class Stop(Exception):
    pass


def write_everything(store: Store) -> None:
    store.put(bank("/b"), [entry("b")])
    store.put(bank("/a"), [])
    store.set_meta("key", "after")
    store.recalled(receipt("a", "b"))
    store.use_model(model(64, "two"))
    store.put_vectors([("b", unit([1.0] * 64))])
    store.keep_query_vector("q", b"after")


def prepare(store: Store) -> None:
    store.put(bank("/a"), [entry("a")])
    store.use_model(model())
    store.put_vectors([("a", unit([1.0] * 64))])
    store.set_meta("key", "before")


def test_exception_in_a_transaction_leaves_nothing_of_it(store: Store) -> None:
    prepare(store)
    before = everything(store)
    with contextlib.suppress(Stop), writing(store):
        write_everything(store)
        raise Stop
    assert everything(store) == before
    write_everything(store)
    assert everything(store) != before


def test_exception_in_a_transaction_leaves_nothing_of_it_in_memory_either(store: Store) -> None:
    prepare(store)
    before = everything(store)
    with contextlib.suppress(Stop), writing(store):
        write_everything(store)
        assert everything(store) != before
        raise Stop
    assert everything(store) == before


def test_exception_after_a_block_inside_a_transaction_leaves_nothing_of_either(store: Store) -> None:
    prepare(store)
    before = everything(store)
    with contextlib.suppress(Stop), writing(store):
        with writing(store):
            write_everything(store)
        raise Stop
    assert everything(store) == before


@pytest.mark.parametrize("source", ["bank", "memory"])
def test_put_of_an_unknown_category_is_refused_by_name_and_leaves_nothing(store: Store, source: str) -> None:
    prepare(store)
    before = everything(store)
    with pytest.raises(StoreError, match="no such category"):
        store.put(
            {"bank": bank, "memory": memory}[source]("/b"), [entry("good"), entry("bad", category="no such category")]
        )
    assert everything(store) == before


def test_put_that_fails_half_way_leaves_nothing(store: Store) -> None:
    prepare(store)
    before = everything(store)
    with pytest.raises(StoreError):
        store.put(bank("/b"), [entry("good"), entry("bad", confidence="no such confidence")])
    assert everything(store) == before


def test_put_that_fails_half_way_inside_a_transaction_leaves_nothing(store: Store) -> None:
    prepare(store)
    before = everything(store)
    with contextlib.suppress(StoreError), writing(store), contextlib.suppress(StoreError):
        store.put(bank("/b"), [entry("good"), entry("bad", confidence="no such confidence")])
    assert everything(store) == before


def test_other_store_sees_nothing_until_the_transaction_ends(opener: Opener) -> None:
    one, two = opener(), opener()
    with writing(one):
        one.put(bank(), [entry("a")])
        assert standing(one) == {"a"}
        assert standing(two) == set()
    assert standing(two) == {"a"}


def test_two_stores_on_one_place_see_each_others_writes(opener: Opener) -> None:
    one, two = opener(), opener()
    prepare(one)
    assert everything(two) == everything(one)
    write_everything(two)
    one.choose_model("two")
    assert everything(one) == everything(two)


def test_vectors_in_memory_follow_what_another_store_writes(opener: Opener) -> None:
    one, two = opener(), opener()
    one.use_model(model(4))
    one.put(bank(), [entry("a"), entry("b")])
    first, second = unit([1.0, 0, 0, 0]), unit([0, 1.0, 0, 0])
    one.put_vectors([("a", first)])
    assert [match.id for match in one.vector_matches(second, EVERYWHERE, 5)] == ["a"]
    two.put_vectors([("b", second)])
    assert [match.id for match in one.vector_matches(second, EVERYWHERE, 5)] == ["b", "a"]
    two.use_model(model(8))
    assert one.vector_matches(second, EVERYWHERE, 5) == []


def test_what_was_written_is_there_when_the_store_is_opened_again(opener: Opener) -> None:
    one = opener()
    prepare(one)
    before = everything(one)
    one.close()
    assert everything(opener()) == before


def test_healthy_store_has_nothing_to_report(store: Store) -> None:
    prepare(store)
    assert store.check() == []
    assert store.full_text is True


# What projects say of an entry stays with them


def test_an_entry_that_holds_everywhere_is_not_described_by_a_project(store: Store) -> None:
    mine = entry("a", name="Mine", details="- Cost: our key", reasoning="because of us", keywords=["ours"])
    mine.observation_count = 9
    store.put(bank("/global.md", ""), [entry("a", name="Shared", details="- Cost: a day")])
    store.put(bank("/project.md", "/project"), [mine])
    (found,) = store.entries(["a"])
    assert (found.name, found.details, found.reasoning, found.keywords) == ("Shared", "- Cost: a day", "", [])
    assert found.observation_count == 9


def test_an_entry_that_comes_to_hold_everywhere_forgets_what_a_project_said_of_it(store: Store) -> None:
    mine = entry("a", name="Mine", details="- Cost: our key", reasoning="because of us", keywords=["ours"])
    store.put(bank("/project.md", "/project"), [mine])
    store.put(journal(), [entry("a", name="Shared")], anew=False)
    (found,) = store.entries(["a"])
    assert (found.name, found.details, found.reasoning, found.keywords) == ("Shared", "", "", [])


def test_an_entry_of_two_projects_says_what_both_agree_on(store: Store) -> None:
    store.put(bank("/one.md", "/one"), [entry("a", name="N", details="- Cost: one's key", references=["x.py", "y.py"])])
    store.put(bank("/two.md", "/two"), [entry("a", name="N", details="- Cost: another", references=["y.py", "z.py"])])
    (found,) = store.entries(["a"])
    assert (found.name, found.details, found.references) == ("N", "", ["y.py"])


def test_triggers_of_an_entry_of_two_projects_are_those_that_both_have(store: Store) -> None:
    store.put(bank("/one.md", "/one"), [entry("a", triggers=["one's own", "of both"])])
    store.put(bank("/two.md", "/two"), [entry("a", triggers=["of both", "another's"])])
    assert the(store, "a").triggers == ["of both"]
    assert (found(store, "own"), found(store, "another's"), found(store, "both")) == (set(), set(), {"a"})


def test_triggers_of_a_project_stay_out_of_an_entry_that_holds_everywhere(store: Store) -> None:
    store.put(bank("/global.md"), [entry("a", triggers=["of all"])])
    store.put(bank("/project.md", SHOP), [entry("a", triggers=["of the shop"])])
    store.put(bank("/other.md", SHOP), [entry("b", triggers=["of the shop"])])
    store.put(journal(), [entry("b")])
    assert (the(store, "a").triggers, the(store, "b").triggers) == (["of all"], [])


# Memory files


def test_memory_is_what_its_file_says_in_every_field(store: Store) -> None:
    store.put(memory(), [entry("a", "Old text.", keywords=["old"], references=["old.py"], details="- Old: x")])
    said = entry(
        "a",
        "New text.",
        name="Cache prices",
        category="decision",
        reasoning="Because.",
        keywords=[f"k{number}" for number in range(12)],
        references=["new.py"],
        details="- Status: accepted",
        observation_count=3,
        confidence="low",
        source="session-capture",
        source_project="shop-front",
        status=ARCHIVED,
        created_at="2025-05-05T00:00:00Z",
        updated_at="2025-06-06T00:00:00Z",
    )
    store.put(memory(), [said])
    kept = the(store, "a")
    said.project = SHOP
    assert vars(kept) == vars(said)


def test_memory_that_is_put_first_is_what_its_file_says_too(store: Store) -> None:
    store.put(memory(), [entry("a", status=RETIRED, observation_count=7)])
    kept = the(store, "a")
    assert (kept.status, kept.observation_count, kept.project) == (RETIRED, 7, SHOP)


@pytest.mark.parametrize("status", STATUSES)
def test_status_of_a_memory_is_that_of_its_file_whatever_it_was_before(store: Store, status: str) -> None:
    for before in STATUSES:
        store.put(memory(), [entry("a", status=before)])
        store.put(memory(), [entry("a", status=status)])
        assert the(store, "a").status == status


def test_memory_whose_file_is_gone_is_retired_and_comes_back_as_its_file_says(store: Store) -> None:
    for status in (ACTIVE, ARCHIVED):
        store.put(memory(), [entry("a", status=status)])
        store.put(memory(hash="gone"), [])
        assert the(store, "a").status == RETIRED
        assert store.memory_paths(["a"]) == {}
        store.put(memory(hash="h"), [entry("a", status=status)])
        assert the(store, "a").status == status


def test_memory_that_has_moved_is_not_retired_when_its_old_place_lets_it_go(store: Store) -> None:
    store.put(memory("/old.json"), [entry("a", status=ARCHIVED)])
    store.put(memory("/new.json"), [entry("a", status=ARCHIVED)])
    store.put(memory("/old.json", hash="gone"), [])
    assert the(store, "a").status == ARCHIVED
    assert store.memory_paths(["a", "nobody"]) == {"a": "/new.json"}


def test_memory_whose_file_was_only_touched_keeps_its_entry(store: Store) -> None:
    store.put(memory(modified=1), [entry("a", status=ARCHIVED)])
    store.put(memory(modified=2), [], anew=False)
    assert (the(store, "a").status, store.sources()["/m.json"].modified) == (ARCHIVED, 2)


def test_changed_memory_is_found_by_its_new_words_only_and_awaits_a_vector(store: Store) -> None:
    store.use_model(model())
    store.put(memory(), [entry("a", "pelican")])
    store.put_vectors([("a", unit([1.0] * 64))])
    store.put(memory(), [entry("a", "pelican", details="- Note: x", observation_count=2)])
    assert store.coverage().pending == 0
    store.put(memory(), [entry("a", "flamingo")])
    assert (found(store, "pelican"), found(store, "flamingo")) == (set(), {"a"})
    assert [each.id for each in store.pending(5, EVERYWHERE)] == ["a"]
    assert store.check() == []


def test_memory_belongs_to_its_project_and_banks_are_as_they_were(store: Store) -> None:
    store.put(bank("/global.md", hash="b"), [entry("all", observation_count=4)])
    store.put(memory(), [entry("mine")])
    store.put(memory(hash="gone"), [])
    store.put(memory(), [entry("mine")])
    assert standing(store, Scope(SHOP)) == {"all", "mine"}
    assert standing(store, Scope(DESK)) == {"all"}
    assert (the(store, "all").observation_count, store.sources(BANK)["/global.md"].hash) == (4, "b")
    assert store.memory_paths(["all", "mine"]) == {"mine": "/m.json"}


def test_sources_are_told_by_kind_and_project(store: Store) -> None:
    store.put(bank("/global.md"), [])
    store.put(bank("/shop.md", SHOP), [])
    store.put(journal(), [])
    store.put(memory("/one.json"), [])
    store.put(memory("/two.json", DESK), [])
    assert len(store.sources()) == 5
    assert set(store.sources(BANK)) == {"/global.md", "/shop.md"}
    assert set(store.sources(BANK, "")) == {"/global.md"}
    assert set(store.sources(MEMORY, DESK)) == {"/two.json"}
    assert set(store.sources(project=SHOP)) == {"/shop.md", "/one.json"}
    assert sorted(store.projects(MEMORY)) == [DESK, SHOP]
    assert sorted(store.projects(BANK)) == ["", SHOP]


def test_scope_may_name_statuses(store: Store) -> None:
    store.use_model(model())
    for status in STATUSES:
        store.put(memory(f"/{status}.json"), [entry(status, status=status)])
        store.put_vectors([(status, unit([1.0] * 64))])

    def near(scope: Scope) -> set[str]:
        return {match.id for match in store.vector_matches(unit([1.0] * 64), scope, 5)}

    for statuses in ((ACTIVE,), (RETIRED, ARCHIVED), STATUSES):
        scope = Scope(SHOP, statuses=statuses)
        assert standing(store, scope) == found(store, "taught", scope) == near(scope) == set(statuses)
        assert store.background(unit([1.0] * 64), scope).count == len(statuses)
        assert store.coverage_of(Scope(None, statuses=statuses)).entries == len(statuses)
    assert standing(store) == {ACTIVE}


# Usage that travels


def told(store: Store) -> list[tuple[str, int, int, str]]:
    return [(use.id, use.recall_count, use.influence_count, use.last_recalled_at) for use in store.usages()]


def test_usages_are_those_of_all_entries_that_were_ever_used(store: Store) -> None:
    assert store.usages() == []
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    store.recalled(receipt("b", "a"))
    store.recalled(receipt("b", at="2026-02-03T00:00:00Z"))
    store.put(bank(), [])
    assert told(store) == [("a", 1, 0, "2026-02-01T00:00:00Z"), ("b", 2, 0, "2026-02-03T00:00:00Z")]


def test_usages_that_are_put_are_merged_with_those_that_are_there_by_the_higher_count(store: Store) -> None:
    store.recalled(receipt("a", at="2026-02-03T00:00:00Z"))
    elsewhere = [Usage("a", 5, 1, "2026-01-01T00:00:00Z"), Usage("unknown", 0, 2, "")]
    for _ in range(2):
        store.put_usages(elsewhere)
    assert told(store) == [("a", 5, 1, "2026-02-03T00:00:00Z"), ("unknown", 0, 2, "")]
    store.put_usages([Usage("a", 2, 0, "")])
    assert told(store)[0] == ("a", 5, 1, "2026-02-03T00:00:00Z")


@pytest.mark.parametrize(
    "bad",
    [
        Usage("", 1, 1, ""),
        Usage("x" * 65, 1, 1, ""),
        Usage("a\nb", 1, 1, ""),
        Usage("\ud800", 1, 1, ""),
        Usage("a", -1, 1, ""),
        Usage("a", 1, 2**31, ""),
        Usage("a", True, 1, ""),
        Usage("a", 1.5, 1, ""),  # type: ignore[arg-type]
        Usage("a", 1, 1, "9" * 41),
        Usage("a", 1, 1, "\x1b[31m"),
        Usage(7, 1, 1, ""),  # type: ignore[arg-type]
        Usage("a", 1, 1, None),  # type: ignore[arg-type]
    ],
)
def test_usages_among_which_one_cannot_be_are_refused_together(store: Store, bad: Usage) -> None:
    with pytest.raises(StoreError, match="usage"):
        store.put_usages([Usage("good", 1, 0, ""), bad])
    assert store.usages() == []


def test_usage_that_is_handed_on_is_the_higher_of_both_and_stays_with_the_old_one(store: Store) -> None:
    store.put_usages([Usage("old", 4, 1, "2026-01-01T00:00:00Z"), Usage("new", 2, 3, "2026-01-02T00:00:00Z")])
    store.hand_on("old", "new")
    store.hand_on("nobody", "new")
    assert told(store) == [("new", 4, 3, "2026-01-02T00:00:00Z"), ("old", 4, 1, "2026-01-01T00:00:00Z")]


# Pages


def page(store: Store, scope: Scope = EVERYWHERE, limit: int = 10, **asked: object) -> tuple[list[str], int]:
    found, total = store.page(scope, limit, **asked)  # type: ignore[arg-type]
    return [each.id for each in found], total


def test_page_has_those_that_changed_last_first_and_the_newest_of_those_that_changed_at_once(store: Store) -> None:
    days = {"a": "02", "b": "03", "c": "01", "d": "03"}
    store.put(bank(), [entry(id, created_at=f"2026-01-{day}T00:00:00Z") for id, day in days.items()])
    assert page(store) == (["d", "b", "a", "c"], 4)


def test_pages_are_parts_of_one_whole(store: Store) -> None:
    store.put(bank(), [entry(f"{number:02}") for number in range(25)])
    parts = [page(store, offset=offset) for offset in (0, 10, 20, 30)]
    assert [total for _, total in parts] == [25] * 4
    assert [id for ids, _ in parts for id in ids] == page(store, limit=100)[0]
    assert parts[3][0] == []


def test_page_is_of_its_scope_alone(store: Store) -> None:
    store.put(bank(), [entry("all")])
    store.put(bank("/shop.md", SHOP), [entry("shop"), entry("both", category="heuristics")])
    store.put(bank("/desk.md", DESK), [entry("desk"), entry("both", category="heuristics")])
    store.put(memory(), [entry("old", category="decision", status=RETIRED)])
    assert sorted(page(store, Scope(SHOP))[0]) == ["all", "both", "shop"]
    assert page(store, Scope("")) == (["all"], 1)
    assert page(store, Scope(SHOP, ("heuristics",))) == (["both"], 1)
    assert page(store, Scope(SHOP, statuses=(RETIRED,))) == (["old"], 1)
    assert page(store, Scope(None, statuses=STATUSES))[1] == 5


def test_page_of_terms_has_entries_that_hold_them_all(store: Store) -> None:
    store.put(bank(), [entry("a", "The cart is full."), entry("b", "The cart is slow.", reasoning="A query.")])
    assert page(store, terms=["cart"]) == (["b", "a"], 2)
    assert page(store, terms=["CART", "query"]) == (["b"], 1)
    assert page(store, terms=["cart", "nowhere"]) == ([], 0)


@pytest.mark.parametrize("term", ['"', "cart*", "a OR b", "NEAR(", "\0", "%", "_", "\\", "\ud800", "'"])
def test_no_term_of_a_page_is_taken_for_an_operator(store: Store, term: str) -> None:
    store.put(bank(), [entry("a", "Nothing of the kind.")])
    assert page(store, terms=[term, "nowhere"]) == ([], 0)


def test_entries_of_a_page_come_with_how_they_were_used(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.put_usages([Usage("a", 3, 1, "2026-01-02T00:00:00Z")])
    [found], _ = store.page(EVERYWHERE, 1)
    assert (found.recall_count, found.name) == (3, "Lesson a")


def test_ids_are_found_by_their_beginnings_within_a_scope(store: Store) -> None:
    store.put(bank(), [entry("abc1"), entry("abc2"), entry("abd"), entry("ab")])
    store.put(bank("/desk.md", DESK), [entry("abc3")])
    assert store.ids_beginning("abc", Scope(SHOP), 5) == ["abc1", "abc2"]
    assert store.ids_beginning("abc", EVERYWHERE, 5) == ["abc1", "abc2", "abc3"]
    assert store.ids_beginning("ab", EVERYWHERE, 2) == ["ab", "abc1"]
    assert store.ids_beginning("%", EVERYWHERE, 5) == []


# The store itself


def test_rows_of_tables_come_in_portions_and_can_be_removed_and_written_again(store: Store) -> None:
    store.use_model(model(64))
    ids = [f"{number:016x}" for number in (3, 1, 2)]
    store.put(bank(), [entry(id, triggers=["when"]) for id in ids])
    store.put_vectors([(id, unit([1.0, float(place)] + [0.0] * 62)) for place, id in enumerate(ids)])
    tables = {table.name: table for table in store.tables()}
    held = {name: [values for _, values in table.read((), 100)] for name, table in tables.items()}
    assert [row[0] for row in held["entries"]] == ids, "in the order in which they came"
    for name, table in tables.items():
        portions: list[tuple[object, ...]] = []
        after: Sequence[object] = ()
        while rows := table.read(after, 1):
            after = rows[-1][0]
            portions += [values for _, values in rows]
        assert portions == held[name]
        assert len(portions) == table.count()
    with writing(store):
        for table in reversed(store.tables()):
            table.clear()
    assert not any(table.count() for table in tables.values())
    assert store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5) == []
    with writing(store):
        for name, table in tables.items():
            table.write(held[name])
            table.finish()
    assert {name: [values for _, values in table.read((), 100)] for name, table in tables.items()} == held
    assert len(store.vector_matches(unit([1.0] * 64), EVERYWHERE, 5)) == 3
    assert store.check() == []


def test_every_member_of_the_protocol_is_used_in_this_suite() -> None:
    nodes = ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    members = {name for name in {*vars(Store), *Store.__annotations__} if not name.startswith("_")}
    assert len(members) > 40
    assert members - used == set()


def test_store_is_closed_when_it_is_left(opener: Opener) -> None:
    with opener() as store:
        store.set_meta("key", "kept")
    with pytest.raises(StoreError):
        store.get_meta("key")


def test_team_log_of_a_store_knows_its_user(store: Store) -> None:
    assert store.team is None or store.team.user()


def test_store_works_for_its_own_user_again(store: Store) -> None:
    store.put(bank(), [entry("a")])
    store.act_as(None)
    assert store.count(EVERYWHERE) == 1


def test_new_store_has_no_findings_and_can_be_written(store: Store) -> None:
    assert (store.findings, store.damage, store.read_only) == ([], "", False)


def test_new_store_follows_the_files_of_who_opens_it(store: Store) -> None:
    assert (store.follows_files, store.followed) == (True, "")


def test_store_waits_for_another_writer_as_long_as_it_was_told(opener: Opener) -> None:
    first, second = opener(), opener()
    second.wait(0.05)
    with writing(first):
        first.set_meta("key", "first")
        with pytest.raises(StoreError, match=r"0\.05 s"):
            second.set_meta("key", "second")
    second.set_meta("key", "second")
    assert first.get_meta("key") == "second"


def test_usage_and_receipts_are_rescued_from_a_store_that_was_set_aside(opener: Opener, place: str) -> None:
    with opener() as before:
        before.put(bank(), [entry("a")])
        before.recalled(receipt("a"))
        before.note_evidence([Evidence(at="2026-02-01T00:00:00Z", kind=OPENED, id="a", project=SHOP, session="s")])
    aside = set_aside(database_name(place))
    after = opener()
    assert after.usages() == []
    assert after.rescue(aside) == 5  # a usage, a receipt and its line, a sign of use and what follows from it
    assert known_use(after) == (0, 1, 0)
    assert [(usage.id, usage.recall_count) for usage in after.usages()] == [("a", 1)]
    assert [line.id for line in after.receipts(5)[0].lines] == ["a"]
    assert after.rescue(aside) == 0


def test_version_is_new_when_entries_have_changed_and_not_when_one_was_used(opener: Opener) -> None:
    store, other = opener(), opener()
    first = store.version()
    other.put(bank(), [entry("a")])
    second = store.version()
    store.recalled(receipt("a"))
    assert (first != second, second == store.version()) == (True, True)


def test_receipts_are_known_by_the_project_of_their_session(store: Store) -> None:
    store.recalled(receipt("a", project=SHOP))
    assert (store.has_receipts(SHOP), store.has_receipts(DESK)) == (True, False)


def test_origin_of_an_entry_follows_its_sources(store: Store) -> None:
    store.put(bank(project=SHOP), [entry("a")])
    store.put(bank("/shared.md"), [entry("b")])
    found = store.origins(["a", "b"])
    assert set(found) == {"a", "b"}
    assert found["a"] != found["b"]


def test_counts_of_banks_are_told_apart_by_project(store: Store) -> None:
    store.put(bank(project=SHOP), [entry("a", observation_count=5), entry("b")])
    store.put(bank("/shared.md"), [entry("a", observation_count=2)])
    assert store.bank_counts(["a", "b", "c"], ["", SHOP]) == {"a": {SHOP: 5, "": 2}, "b": {SHOP: 1}}
    assert store.bank_counts(["a"], [""]) == {"a": {"": 2}}
    assert store.bank_counts([], [""]) == {}


def test_only_unwanted_entries_that_no_source_holds_are_removed(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b"), entry("c")])
    store.put(bank(), [entry("a")])
    assert store.remove_unheld(lambda each: each.id in "ab") == 1
    assert [each.id for each in store.entries(["a", "b", "c"])] == ["a", "c"]


def test_removed_entry_leaves_no_vector_of_its_triggers_to_the_next(store: Store) -> None:
    triggered(store)
    store.put(bank(), [entry("a", triggers=["when it rains"])])
    store.put(bank(), [])
    assert store.remove_unheld(lambda _each: True) == 2
    assert near(store, EAST) == []
    store.put(bank(), [entry("c", triggers=["when it hails"]), entry("d", triggers=["when it thaws"])])
    store.put_vectors([("c", NORTH), ("d", NORTH)])
    assert coverages(store) == [(2, 2, 0)] * 2
    assert near(store, EAST) == [("c", 0.0), ("d", 0.0)]


def test_compacting_keeps_every_entry(store: Store) -> None:
    store.put(bank(), [entry("a"), entry("b")])
    store.forget_sources(["/bank.md"])
    store.compact()
    assert [each.id for each in store.entries(["a", "b"])] == ["a", "b"]
    assert store.check() == []


def test_an_open_store_finds_what_was_changed_since_the_same_search(store: Store) -> None:
    store.use_model(model(4))
    store.put(bank(), [entry("a", name="Retry with jitter"), entry("b", name="Something else")])
    store.put_vectors([("a", NORTH), ("b", SOUTH)])

    def found() -> tuple[object, ...]:
        return (
            [match.id for match in store.text_matches(["jitter"], EVERYWHERE, 5)],
            store.document_frequencies(["jitter"]),
            [match.id for match in store.vector_matches(NORTH, EVERYWHERE, 1)],
            sorted(title.id for title in store.titles(EVERYWHERE, 5)),
            sorted(store.origins(["a", "b", "c"]).items()),
        )

    first = found()
    assert found() == first
    assert first[:4] == (["a"], ({"jitter": 1}, 2), ["a"], ["a", "b"])
    store.put_keywords({"b": ["jitter"]})
    assert set(found()[0]) == {"a", "b"}
    store.put(bank(), [entry("b", name="Something else"), entry("c", name="Jitter everywhere")])
    store.put_vectors([("c", NORTH)])
    assert found()[1:4] == (({"jitter": 2}, 3), ["c"], ["b", "c"])
    assert found()[4] != first[4]
