"""The store catches up with files that others have changed, and looks at nothing else when none were."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from tests.conftest import World

from recollect.engine.engine import Engine
from recollect.errors import StillReading
from recollect.store.values import BANK, MEMORY, Scope
from recollect.sync.if_changed import sync_if_changed
from recollect.sync.memories import sync_memories

LONG_AGO = 1_700_000_000


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with Engine(world.workspace(variables={})) as engine:
        yield engine


def known(engine: Engine) -> list[str]:
    sources = engine.store.sources(MEMORY, engine.project)
    return sorted(os.path.basename(source.path) for source in sources.values() if source.hash != "gone")


def settle(world: World, moment: float = LONG_AGO) -> None:
    """Let files and folders look as if they had not been touched for long."""
    for path in (world.project / ".claude").rglob("*"):
        os.utime(path, (moment, moment))


def test_new_and_removed_files_are_followed(world: World, engine: Engine) -> None:
    path = world.write_decision("use-x")
    assert sync_if_changed(engine) == []
    assert known(engine) == ["use-x.json"]
    path.unlink()
    sync_if_changed(engine)
    assert known(engine) == []


def test_banks_of_the_project_and_of_all_are_followed(world: World, engine: Engine) -> None:
    sync_if_changed(engine)
    world.write_bank("patterns", "### Pattern: One\nFirst lesson.\n")
    world.write_bank("heuristics", "### Heuristic: Two\nSecond lesson.\n", shared=True)
    sync_if_changed(engine)
    assert engine.store.coverage().entries == 2


@pytest.mark.parametrize("moment", [LONG_AGO, 4_000_000_000], ids=["long ago", "to come"])
def test_when_nothing_has_changed_no_file_is_looked_at(world: World, engine: Engine, moment: float) -> None:
    world.write_decision("use-x")
    settle(world, moment)
    sync_if_changed(engine)
    # A file that is changed in place, under an old time, is what only a look at every file would find.
    path = world.write_decision("use-x", title="Another title")
    settle(world, moment)
    sync_if_changed(engine)
    assert os.stat(path).st_mtime == moment
    names = [entry.name for entry in engine.store.pending(5, Scope(None))]
    assert names == ["Title of use-x"]


def test_another_set_of_categories_is_a_change(world: World, engine: Engine) -> None:
    world.write_decision("use-x")
    settle(world)
    sync_if_changed(engine)
    engine.workspace = world.workspace(variables={"RECOLLECT_CATEGORIES_DECISION_ENABLED": "false"})
    sync_if_changed(engine)
    assert known(engine) == []


def test_files_for_which_there_is_no_time_are_left_for_the_next_time(world: World, engine: Engine) -> None:
    for number in range(5):
        world.write_decision(f"use-{number}")
    settle(world)
    late = time.monotonic()
    for expected in (1, 2, 3, 4):
        with pytest.raises(StillReading, match=f"^{5 - expected} memory files"):
            sync_memories(engine.store, engine.workspace, end=late)
        assert len(known(engine)) == expected
    sync_memories(engine.store, engine.workspace)
    assert len(known(engine)) == 5


def test_a_thorough_look_finds_what_no_folder_tells(world: World, engine: Engine) -> None:
    path = world.write_decision("use-x")
    settle(world)
    sync_if_changed(engine)
    path.write_text(path.read_text(encoding="utf-8").replace("Title of", "Another title of"), encoding="utf-8")
    sync_if_changed(engine, thorough=True)
    assert [entry.name for entry in engine.store.pending(5, Scope(None))] == ["Another title of use-x"]


def test_large_banks_are_left_to_who_can_leave_them_and_memories_are_followed(world: World, engine: Engine) -> None:
    world.write_bank("patterns", "### Pattern: One\n" + "A lesson. " * 30_000)
    world.write_decision("use-x")
    left: list[bool] = []
    for _ in range(2):
        sync_if_changed(engine, leave=lambda: left.append(True))
    assert (known(engine), engine.store.sources(BANK), left) == (["use-x.json"], {}, [True, True])
    settle(world)
    os.utime(world.project / "docs" / "knowledge-bank" / "patterns.md", (LONG_AGO, LONG_AGO))
    sync_if_changed(engine)
    world.write_decision("use-y")
    sync_if_changed(engine, leave=lambda: left.append(True))
    assert known(engine) == ["use-x.json", "use-y.json"]
    assert len(left) == 2, "what has been read already is not left"


def test_banks_that_were_just_read_are_not_read_again(world: World, engine: Engine) -> None:
    world.write_bank("patterns", "### Pattern: One\nFirst lesson.\n")
    world.write_decision("use-x")
    sync_if_changed(engine, banks_read=time.time_ns())
    assert (known(engine), engine.store.sources(BANK)) == (["use-x.json"], {})


def test_a_bank_changed_after_it_was_read_is_read_the_next_time(world: World, engine: Engine) -> None:
    path = world.write_bank("patterns", "### Pattern: One\nFirst lesson.\n")
    long_ago, lately = LONG_AGO * 10**9, (time.time() - 60, time.time() - 60)
    os.utime(path, lately)
    sync_if_changed(engine, banks_read=long_ago)
    sync_if_changed(engine)
    assert len(engine.store.sources(BANK)) == 1
