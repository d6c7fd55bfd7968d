"""What two entries are to each other: settled in their files, shown, and obeyed wherever entries are given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.config.locations import journal
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StorageError
from recollect.files.memory.memories import read_memory
from recollect.learn import relate as relating
from recollect.learn.memorize import Memorized, memorize
from recollect.learn.relate import relate
from recollect.memories.forget import bring_back, forget
from recollect.recall.browse import full_entries
from recollect.recall.prompt import memories_for
from recollect.recall.search import SearchResult, search
from recollect.recall.start_block import inject
from recollect.recall.start_request import StartRequest
from recollect.sync.rebuild import rebuild

_MYSQL = "Carts and vouchers are kept in MySQL on the zebra host."
_POSTGRES = "Carts live in PostgreSQL with foreign keys."
_SQLITE = "Baskets are one SQLite file for each shop."


class Shop:
    """A project with a store, without vectors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home" / "shop-front"
        self.folder.mkdir(parents=True)
        self.store = str(folder / "store")
        off = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}
        self.workspace = Workspace(str(self.folder), self.store, load_settings(str(self.folder), off))
        self.engine = Engine(self.workspace)

    def keep(self, category: str, name: str, text: str, **fields: Any) -> Memorized:
        return memorize(self.engine, name=name, description=text, reasoning="We saw it.", category=category, **fields)

    def three(self, category: str) -> tuple[str, str, str]:
        """Store three entries that tell of the same in other words, the oldest first."""
        return (
            self.keep(category, "Carts in MySQL", _MYSQL).id,
            self.keep(category, "PostgreSQL keeps them", _POSTGRES).id,
            self.keep(category, "One file a shop", _SQLITE).id,
        )

    def found(self, query: str) -> SearchResult:
        return search(self.engine, query, project=self.engine.project)

    def hits(self, query: str) -> list[tuple[str, str]]:
        return [(hit.entry.id, hit.was) for hit in self.found(query).hits]

    def prompt(self, text: str, session: str = "") -> str:
        return memories_for(text, self.workspace, session).text

    def start(self) -> str:
        injection = inject(StartRequest(self.workspace, limit=20))
        injection.finish()
        return injection.text

    def lines(self) -> list[dict[str, Any]]:
        text = Path(journal(self.store)).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def record(self, done: str) -> dict[str, Any]:
        return json.loads(next(self.folder.rglob(f"{done}.json")).read_text(encoding="utf-8"))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = Shop(tmp_path)
    yield made
    made.engine.close()


EITHER = pytest.mark.parametrize("category", ["heuristics", "decision"])


@EITHER
def test_old_words_find_the_newer_entry_with_what_it_was(shop: Shop, category: str) -> None:
    old, new, _ = shop.three(category)
    done = relate(shop.engine, new, "supersedes", old)
    assert done.gone is not None
    assert done.gone.id == old
    [(id, was)] = shop.hits("vouchers zebra")
    assert id == new
    assert was.startswith("was: Carts in MySQL (until 20")
    block = shop.prompt("where are the vouchers on the zebra host kept, in MySQL?")
    assert "PostgreSQL keeps them" in block
    assert "\n  was: Carts in MySQL (until 20" in block
    assert "zebra" not in block, "the older one is never given itself"


def test_lesson_says_at_a_start_and_when_it_is_read_what_it_supersedes(shop: Shop) -> None:
    old, new, _ = shop.three("heuristics")
    relate(shop.engine, new, "supersedes", old)
    block = shop.start()
    assert "PostgreSQL keeps them" in block
    assert "\n> - was: Carts in MySQL (until 20" in block
    assert "zebra" not in block
    [looked], _ = full_entries(shop.engine, [new], project=shop.engine.project)
    assert f"- Supersedes: {old} Carts in MySQL" in looked.text


def test_active_entry_that_was_superseded_is_not_given_at_a_start(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, _ = shop.three("heuristics")

    def killed(*_: object, **__: object) -> None:
        raise StorageError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(relating, "retire_old", killed)
        with pytest.raises(StorageError):
            relate(shop.engine, new, "supersedes", old)
    block = shop.start()
    assert "zebra" not in block
    assert "\n> - was: Carts in MySQL (until 20" in block


@EITHER
def test_chain_ends_at_the_newest_and_shows_the_one_before(shop: Shop, category: str) -> None:
    first, second, third = shop.three(category)
    relate(shop.engine, second, "supersedes", first)
    relate(shop.engine, third, "supersedes", second)
    for query in ("vouchers zebra", "foreign keys", "baskets"):
        [(id, was)] = shop.hits(query)
        assert (id, was[:26]) == (third, "was: PostgreSQL keeps them")
    # A rebuild reads the same from the files.
    shop.engine.close()
    rebuild(shop.workspace)
    shop.engine = Engine(shop.workspace)
    shop.engine.store.set_meta("x", "y")
    assert [id for id, _ in shop.hits("vouchers zebra")] == [third]


@EITHER
def test_newest_that_is_gone_leaves_nothing_in_its_place(shop: Shop, category: str) -> None:
    first, second, _ = shop.three(category)
    relate(shop.engine, second, "supersedes", first)
    forget(shop.engine, second, "wrong")
    assert shop.hits("vouchers zebra") == []
    bring_back(shop.engine, second)
    assert [id for id, _ in shop.hits("vouchers zebra")] == [second]


@EITHER
def test_restored_entry_stands_by_itself_again(shop: Shop, category: str) -> None:
    first, second, _ = shop.three(category)
    relate(shop.engine, second, "supersedes", first)
    bring_back(shop.engine, first)
    assert shop.hits("vouchers zebra") == [(first, "")]
    assert shop.hits("foreign keys") == [(second, "")]
    if category == "decision":
        assert "supersedes" not in shop.record("postgresql-keeps-them")
        assert "superseded_by" not in shop.record("carts-in-mysql")
    # And superseded once more.
    relate(shop.engine, second, "supersedes", first)
    assert [id for id, _ in shop.hits("vouchers zebra")] == [second]


@EITHER
def test_entries_that_supersede_each_other_both_stand(shop: Shop, category: str) -> None:
    first, second, third = shop.three(category)
    if category == "decision":
        for slug, other in (("carts-in-mysql", "postgresql-keeps-them"), ("postgresql-keeps-them", "carts-in-mysql")):
            path = next(shop.folder.rglob(f"{slug}.json"))
            record = {**json.loads(path.read_text(encoding="utf-8")), "supersedes": [f"decision/{other}"]}
            path.write_text(json.dumps(record), encoding="utf-8")
    else:
        with Path(journal(shop.store)).open("a", encoding="utf-8") as file:
            for new, old in ((first, second), (second, third), (third, first)):  # of a pair, the last line counts
                file.write(json.dumps({"related": new, "to": old, "as": "supersedes"}) + "\n")
    assert "Carts in MySQL" in shop.prompt("where are the vouchers on the zebra host kept, in MySQL?")
    assert [id for id, _ in shop.hits("vouchers zebra")] == [first]
    assert [id for id, _ in shop.hits("foreign keys")] == [second]


def test_lesson_may_take_the_place_of_a_memory_and_not_the_other_way_round(shop: Shop) -> None:
    memory = shop.keep("decision", "Carts in MySQL", _MYSQL).id
    lesson = shop.keep("heuristics", "PostgreSQL keeps them", _POSTGRES).id
    with pytest.raises(InvalidEntry, match="cannot be superseded by a decision"):
        relate(shop.engine, memory, "supersedes", lesson)
    relate(shop.engine, lesson, "supersedes", memory)
    assert shop.record("carts-in-mysql")["superseded_by"] == lesson
    [(id, was)] = shop.hits("vouchers zebra")
    assert (id, was[:19]) == (lesson, "was: Carts in MySQL")
    bring_back(shop.engine, memory)
    assert shop.hits("vouchers zebra") == [(memory, "")]
    assert shop.hits("foreign keys") == [(lesson, "")]


def test_repository_cannot_take_the_place_of_a_lesson(shop: Shop) -> None:
    lesson = shop.keep("heuristics", "Carts in MySQL", _MYSQL).id
    shop.keep("decision", "PostgreSQL keeps them", _POSTGRES)
    path = next(shop.folder.rglob("postgresql-keeps-them.json"))
    record = {**json.loads(path.read_text(encoding="utf-8")), "supersedes": [lesson]}
    path.write_text(json.dumps(record), encoding="utf-8")
    assert "Carts in MySQL" in shop.prompt("where are the vouchers on the zebra host kept, in MySQL?")
    assert shop.hits("vouchers zebra") == [(lesson, "")]


@EITHER
def test_both_that_are_kept_are_not_asked_about_again(shop: Shop, category: str) -> None:
    old = shop.keep(category, "Carts in MySQL", _MYSQL)
    new = shop.keep(category, "Carts in MySQL clusters", _POSTGRES)
    assert [each.id for each in new.similar] == [old.id]
    relate(shop.engine, new.id, "keep_both", old.id)
    relate(shop.engine, old.id, "keep_both", new.id)
    assert [line["as"] for line in shop.lines() if "related" in line] == ["apart"], "said once"
    again = shop.keep(category, "Carts in MySQL clusters", _POSTGRES + " And with checks.")
    if category == "decision":  # the same memory, told anew
        assert (again.id, again.similar) == (new.id, [])
    assert {old.id, new.id} <= {id for id, _ in shop.hits("carts mysql")}


def test_lesson_that_updates_another_has_the_counts_and_triggers_of_both(shop: Shop) -> None:
    old = shop.keep("heuristics", "Carts in MySQL", _MYSQL, triggers=["choosing a database"])
    shop.keep("heuristics", "Carts in MySQL", _MYSQL)
    new = shop.keep("heuristics", "PostgreSQL keeps them", _POSTGRES, triggers=["adding a table"], references=["a.py"])
    relate(shop.engine, new.id, "updates", old.id)
    [entry] = shop.engine.store.entries([new.id])
    assert (entry.observation_count, entry.references) == (3, ["a.py"])
    assert set(entry.triggers) == {"choosing a database", "adding a table"}
    assert shop.engine.store.entries([old.id])[0].status == "retired"
    assert shop.hits("vouchers zebra") == [(new.id, "")]
    shop.keep("heuristics", "PostgreSQL keeps them", _POSTGRES)
    assert shop.engine.store.entries([new.id])[0].observation_count == 4


def test_memory_that_is_updated_keeps_its_place_with_the_newer_text(shop: Shop) -> None:
    old = shop.keep("decision", "Carts in MySQL", _MYSQL, references=["a.py"], triggers=["choosing a database"])
    new = shop.keep("decision", "PostgreSQL keeps them", _POSTGRES, triggers=["adding a table"])
    relate(shop.engine, new.id, "updates", old.id)
    record = shop.record("carts-in-mysql")
    assert record["content"]["decision"] == _POSTGRES
    assert record["triggers"] == ["choosing a database", "adding a table"]
    assert any("Updated by decision/postgresql-keeps-them" in line["summary"] for line in record["changes"])
    assert any(_MYSQL in str(line.get("old_value")) for line in record["changes"]), "nothing is lost"
    assert shop.record("postgresql-keeps-them")["record_status"] == "retired"
    assert [id for id, _ in shop.hits("foreign keys")] == [old.id]


@EITHER
def test_call_that_was_killed_half_way_is_obeyed_and_finished_by_the_same_call(
    shop: Shop, category: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, _ = shop.three(category)

    def killed(*_: object, **__: object) -> None:
        raise StorageError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(relating, "retire_old", killed)
        with pytest.raises(StorageError):
            relate(shop.engine, new, "supersedes", old)
    assert shop.engine.store.entries([old])[0].status == "active"
    assert [id for id, _ in shop.hits("vouchers zebra")] == [new]
    lines = len(shop.lines()) if category == "heuristics" else 0
    relate(shop.engine, new, "supersedes", old)
    assert shop.engine.store.entries([old])[0].status == "retired"
    if category == "heuristics":
        assert len(shop.lines()) == lines + 1, "the relation is said once"


@pytest.mark.parametrize(
    ("relation", "message"),
    [("replaces", "one of supersedes, updates, keep_both"), ("updates", "cannot become one")],
)
def test_relation_that_makes_no_sense_is_refused(shop: Shop, relation: str, message: str) -> None:
    lesson = shop.keep("heuristics", "Carts in MySQL", _MYSQL).id
    memory = shop.keep("decision", "PostgreSQL keeps them", _POSTGRES).id
    with pytest.raises(InvalidEntry, match=message):
        relate(shop.engine, lesson, relation, memory)
    with pytest.raises(InvalidEntry, match="both names mean"):
        relate(shop.engine, lesson, "supersedes", lesson)
    assert read_memory(str(next(shop.folder.rglob("*keeps-them.json"))), "decision").status == "active"


def test_former_text_with_a_credential_is_not_told(shop: Shop) -> None:
    first, second, _ = shop.three("heuristics")
    relate(shop.engine, second, "supersedes", first)
    shop.engine.store._run(  # pyright: ignore
        "UPDATE entries SET name = 'token ghp_' || ? WHERE id = ?", ("a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", first)
    )
    assert shop.hits("foreign keys") == [(second, "")]
