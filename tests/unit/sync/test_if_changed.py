"""The store catches up with files that others have changed, and looks at nothing else when none were."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from tests.conftest import World

from recollect.config import project
from recollect.config.settings import load_settings
from recollect.engine.engine import Engine
from recollect.errors import StillReading
from recollect.store.values import BANK, MEMORY, Scope
from recollect.sync.if_changed import sync_if_changed
from recollect.sync.memories import sync_memories_of

LONG_AGO = 1_700_000_000


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    root = str(world.project)
    with Engine(str(world.store), load_settings(root, {}), project_root=root) as engine:
        yield engine


def known(world: World, engine: Engine) -> list[str]:
    sources = engine.store.sources(MEMORY, project.identity(str(world.project)))
    return sorted(os.path.basename(source.path) for source in sources.values() if source.hash != "gone")


def settle(world: World, moment: float = LONG_AGO) -> None:
    """Let files and folders look as if they had not been touched for long."""
    for path in (world.project / ".claude").rglob("*"):
        os.utime(path, (moment, moment))


def test_new_and_removed_files_are_followed(world: World, engine: Engine) -> None:
    path = world.write_decision("use-x")
    assert sync_if_changed(engine, str(world.project)) == []
    assert known(world, engine) == ["use-x.json"]
    path.unlink()
    sync_if_changed(engine, str(world.project))
    assert known(world, engine) == []


def test_banks_of_the_project_and_of_all_are_followed(world: World, engine: Engine) -> None:
    sync_if_changed(engine, str(world.project))
    world.write_bank("patterns", "### Pattern: One\nFirst lesson.\n")
    world.write_bank("heuristics", "### Heuristic: Two\nSecond lesson.\n", shared=True)
    sync_if_changed(engine, str(world.project))
    assert engine.store.coverage().entries == 2


@pytest.mark.parametrize("moment", [LONG_AGO, 4_000_000_000], ids=["long ago", "to come"])
def test_when_nothing_has_changed_no_file_is_looked_at(world: World, engine: Engine, moment: float) -> None:
    world.write_decision("use-x")
    settle(world, moment)
    sync_if_changed(engine, str(world.project))
    # A file that is changed in place, under an old time, is what only a look at every file would find.
    path = world.write_decision("use-x", title="Another title")
    settle(world, moment)
    sync_if_changed(engine, str(world.project))
    assert os.stat(path).st_mtime == moment
    names = [entry.name for entry in engine.store.pending(5, Scope(None))]
    assert names == ["Title of use-x"]


def test_another_set_of_categories_is_a_change(world: World, engine: Engine) -> None:
    world.write_decision("use-x")
    settle(world)
    sync_if_changed(engine, str(world.project))
    engine.settings = load_settings(str(world.project), {"RECOLLECT_CATEGORIES_DECISION_ENABLED": "false"})
    sync_if_changed(engine, str(world.project))
    assert known(world, engine) == []


def test_files_for_which_there_is_no_time_are_left_for_the_next_time(world: World, engine: Engine) -> None:
    for number in range(5):
        world.write_decision(f"use-{number}")
    settle(world)
    late = time.monotonic()
    settings = load_settings(str(world.project), {})
    for expected in (1, 2, 3, 4):
        with pytest.raises(StillReading, match=f"^{5 - expected} memory files"):
            sync_memories_of(engine.store, str(world.project), settings, end=late)
        assert len(known(world, engine)) == expected
    sync_memories_of(engine.store, str(world.project), settings)
    assert len(known(world, engine)) == 5


def test_a_thorough_look_finds_what_no_folder_tells(world: World, engine: Engine) -> None:
    path = world.write_decision("use-x")
    settle(world)
    sync_if_changed(engine, str(world.project))
    path.write_text(path.read_text(encoding="utf-8").replace("Title of", "Another title of"), encoding="utf-8")
    sync_if_changed(engine, str(world.project), thorough=True)
    assert [entry.name for entry in engine.store.pending(5, Scope(None))] == ["Another title of use-x"]


def test_large_banks_are_left_to_who_can_leave_them_and_memories_are_followed(world: World, engine: Engine) -> None:
    world.write_bank("patterns", "### Pattern: One\n" + "A lesson. " * 30_000)
    world.write_decision("use-x")
    left: list[bool] = []
    for _ in range(2):
        sync_if_changed(engine, str(world.project), leave=lambda: left.append(True))
    assert (known(world, engine), engine.store.sources(BANK), left) == (["use-x.json"], {}, [True, True])
    settle(world)
    os.utime(world.project / "docs" / "knowledge-bank" / "patterns.md", (LONG_AGO, LONG_AGO))
    sync_if_changed(engine, str(world.project))
    world.write_decision("use-y")
    sync_if_changed(engine, str(world.project), leave=lambda: left.append(True))
    assert known(world, engine) == ["use-x.json", "use-y.json"]
    assert len(left) == 2, "what has been read already is not left"
