"""One use case for searching: files are read first, the project is chosen, and what is missing is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry
from recollect.recall.degradation import ELSEWHERE, EMPTY_QUERY, NO_MATCH, NOT_SEARCHED, NOTHING_STORED
from recollect.recall.find import find_memories, synced_scope
from recollect.recall.search import SearchResult

BANK = "### Draw delays at random\nJitter spreads retries out.\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "docs" / "knowledge-bank").mkdir(parents=True)
    (root / "docs" / "knowledge-bank" / "patterns.md").write_text(BANK, encoding="utf-8")
    return root


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    root.mkdir()
    return root


def engine_of(root: Path, **settings: str) -> Engine:
    environment = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", **settings}
    return Engine(Workspace(str(root), str(root.parent / "store"), load_settings(str(root), environment)))


@pytest.fixture
def engine(shop: Path) -> Iterator[Engine]:
    with engine_of(shop) as engine:
        yield engine


@pytest.fixture
def other(desk: Path) -> Iterator[Engine]:
    with engine_of(desk) as engine:
        yield engine


def code_of(result: SearchResult) -> str:
    return result.reason.code if result.reason else ""


def test_changed_files_are_read_before_the_search(engine: Engine) -> None:
    result = find_memories(engine, "jitter")
    assert [hit.entry.name for hit in result.hits] == ["Draw delays at random"]
    assert (result.reason, result.warnings) == (None, [])


def test_entries_of_another_project_are_found_by_its_name_or_in_all_projects(
    engine: Engine, other: Engine, shop: Path
) -> None:
    find_memories(engine, "jitter")
    assert code_of(find_memories(other, "jitter")) == ELSEWHERE
    for name in ("shop", str(shop), None):
        assert len(find_memories(other, "jitter", project_name=name).hits) == 1
    with pytest.raises(InvalidEntry, match="no project is called 'shed'; known are: shop"):
        synced_scope(other, "shed")


def test_other_projects_are_read_when_they_are_searched(engine: Engine, other: Engine, shop: Path) -> None:
    find_memories(engine, "jitter")
    later = "### Pin images\nA moving tag breaks builds.\n"
    (shop / "docs" / "knowledge-bank" / "heuristics.md").write_text(later, encoding="utf-8")
    assert len(find_memories(other, "moving tag", project_name=None).hits) == 1


def test_reasons_for_finding_nothing_are_codes(engine: Engine, other: Engine) -> None:
    assert code_of(find_memories(other, "jitter")) == NOTHING_STORED
    assert code_of(find_memories(engine, " ")) == EMPTY_QUERY
    assert code_of(find_memories(engine, "zeppelin")) == NO_MATCH


def test_without_any_way_of_searching_nothing_is_searched(shop: Path) -> None:
    with engine_of(shop, RECOLLECT_MEMORY_EMBEDDING_FALLBACK="none") as engine:
        result = find_memories(engine, "jitter")
    assert code_of(result) == NOT_SEARCHED
    assert str(result.reason) == "nothing was searched: both ways of searching are switched off"


def test_only_a_counted_search_counts_as_recall(engine: Engine) -> None:
    def recalls() -> int:
        return find_memories(engine, "jitter").hits[0].entry.recall_count

    assert (recalls(), recalls()) == (0, 0)
    find_memories(engine, "jitter", counted=True)
    assert recalls() == 1
