from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.stored import StoredEntry, said_by_line
from recollect.engine.engine import Engine
from recollect.learn.by_hand import Note, add
from recollect.memories.forget import forget
from recollect.recall.catalogue import Catalogue, Filter
from recollect.store.values import PROMPT, Evidence, Receipt, ReceiptLine
from recollect.sync.rebuild import sync_all


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "store").mkdir()
    bank = "### Pattern: Old one\nFrom a bank.\n- Last observed: 2020-01-01\n- Keywords: bank, Old\n"
    (tmp_path / "store" / "patterns.md").write_text(bank, encoding="utf-8")
    project = str(tmp_path / "shop")
    settings = load_settings(project, {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
    with Engine(Workspace(project, str(tmp_path / "store"), settings)) as opened:
        sync_all(opened)
        ids = [
            add(opened, Note(f"Lesson number {number} of mine.", "heuristics", tags=["mine"]))[0].id
            for number in range(3)
        ]
        told = {"project": opened.project, "session": "s"}
        lines = [ReceiptLine(id, 1.0, vector=0, keyword=1, prominence=0) for id in ids[:2]]
        opened.store.recalled(Receipt(at="2026-11-01T00:00:00Z", event=PROMPT, query="", lines=lines, **told))
        opened.store.note_evidence(
            [Evidence(at="2026-11-01T00:00:00Z", kind="cited", id=ids[0], turn=1, place="1", **told)]
        )
        yield opened


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Filter(), 4),
        (Filter(categories=("patterns",)), 1),
        (Filter(origin="you"), 4),
        (Filter(origin="import"), 0),
        (Filter(tag=" OLD "), 1),
        (Filter(tag="ol"), 0),
        (Filter(tag="mine"), 3),
        (Filter(days=7), 3),
        (Filter(days=-365), 1),
        (Filter(use="used"), 1),
        (Filter(use="unused"), 1),
        (Filter(use="never_given"), 2),
        (Filter(origin="you", use="never_given"), 2),
        (Filter(status="retired", tag="mine"), 0),
    ],
)
def test_filter_chooses_entries(engine: Engine, wanted: Filter, count: int) -> None:
    page = Catalogue().page(engine, wanted, limit=50)
    assert (len(page.entries), page.total) == (count, count)


@pytest.mark.parametrize(
    ("said_by", "is_taken"),
    [
        ("ann in team:backend", True),
        ("ann", True),
        ("team:backend", True),
        ("bob", False),
        ("team:back", False),
        ("in", False),
    ],
)
def test_filter_takes_what_was_said_by_a_member_or_in_a_scope(said_by: str, is_taken: bool) -> None:
    told = {"id": "0" * 16, "category": "patterns", "name": "Jitter", "description": "Wait."}
    entry = StoredEntry(**told, details=said_by_line("ann", "team:backend"))
    assert Filter(said_by=said_by).takes(entry, "team") is is_taken
    assert not Filter(said_by=said_by).takes(StoredEntry(**told), "you")


def test_pages_of_a_filter_are_parts_of_one_whole(engine: Engine) -> None:
    catalogue = Catalogue()
    parts = [catalogue.page(engine, Filter(tag="mine"), limit=2, offset=offset) for offset in (0, 2)]
    assert [len(part.entries) for part in parts] == [2, 1]
    assert len({looked.entry.id for part in parts for looked in part.entries}) == 3


def test_change_of_the_store_shows_in_the_next_page(engine: Engine) -> None:
    catalogue = Catalogue()
    [first, *_] = catalogue.page(engine, Filter(tag="mine"), limit=50).entries
    forget(engine, first.entry.id)
    assert catalogue.page(engine, Filter(tag="mine"), limit=50).total == 2


def test_search_finds_only_what_the_filter_chooses(engine: Engine) -> None:
    assert len(Catalogue().search(engine, "lesson number", Filter(), limit=10).hits) == 3
    assert len(Catalogue().search(engine, "lesson number", Filter(use="used"), limit=10).hits) == 1
    assert Catalogue().search(engine, "lesson number", Filter(origin="import"), limit=10).hits == []
