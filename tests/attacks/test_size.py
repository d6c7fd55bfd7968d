"""A repository of any size leaves the user what is theirs: their lessons are given, and they may add others."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conftest import World

from recollect.config.trust import trust
from recollect.engine.engine import Engine
from recollect.errors import StillReading
from recollect.files.bank.bank import MOST_BROUGHT as MOST_ENTRIES
from recollect.files.memory import memories
from recollect.files.memory.memories import MOST_BROUGHT, survey
from recollect.recall.prompt import memories_for
from recollect.recall.start_block import inject
from recollect.recall.start_request import Injection, StartRequest
from recollect.sessions.start import Start, begin, withheld
from recollect.store.values import MEMORY
from recollect.sync import bounds
from recollect.sync.bounds import VERY_MANY
from recollect.sync.memories import sync_memories
from recollect.sync.sync import sync

OWN = tuple(f"Rotate the key of carrier {name} before each release." for name in ("Hermes", "Iris", "Mercury"))
MEMORY_TEXT = {
    "schema_version": "1.0",
    "category": "decision",
    "title": "Barrels",
    "record_status": "active",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "tags": ["barrels"],
    "content": {"status": "accepted", "context": "Barrels leak.", "decision": "Tin.", "rationale": ["It is cheap."]},
}

# The files below a folder that were opened while somebody counted.
_opened: list[str] = []
_watched: list[str] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watched and str(arguments[0]).startswith(_watched[0]):
        _opened.append(str(arguments[0]))


sys.addaudithook(_watch)


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """Collects the paths that this process opens below a folder."""
    _opened.clear()
    _watched.append(str(folder))
    try:
        yield _opened
    finally:
        _watched.clear()


def _make_repository(world: World) -> None:
    if not (world.project / ".git").exists():
        world.make_repository()


def bring_files(world: World, count: int, category: str = "decision") -> Path:
    """Have the repository bring memory files, each a second older than the one before."""
    folder = world.project / ".claude" / "memory" / {"decision": "decisions", "runbook": "runbooks"}[category]
    folder.mkdir(parents=True, exist_ok=True)
    now = int(time.time()) - 10
    for number in range(count):
        path = folder / f"brought-{number:06}.json"
        path.write_text(json.dumps(MEMORY_TEXT | {"id": path.stem, "category": category}), encoding="utf-8")
        os.utime(path, (now - number, now - number))
    _make_repository(world)
    return folder


def bring_entries(world: World, count: int) -> None:
    world.write_bank("patterns", "".join(f"### Pattern: Barrel {n}\nBarrel {n} leaks.\n" for n in range(count)))
    _make_repository(world)


def learn(world: World) -> None:
    """Have the user keep lessons of their own, from another folder."""
    elsewhere = world.home / "elsewhere"
    elsewhere.mkdir()
    for text in OWN:
        done = world.run("add", "patterns", text, "--json", cwd=elsewhere)
        assert done.returncode == 0, done.stderr


def start(world: World) -> Injection:
    asked = StartRequest(world.workspace(), event="startup", session="s1")
    injection = inject(asked)
    injection.finish()
    return injection


def assert_own_are_given(text: str) -> None:
    assert [lesson for lesson in OWN if lesson not in text] == []


# ---- the first start, and the first prompt


def test_large_bank_of_a_clone_leaves_the_first_start_the_users_lessons(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    bring_entries(world, 12_000)
    for _ in range(2):
        text = start(world).text
        assert_own_are_given(text)
        assert "[repository]" in text
        assert "markdown only" not in text


def test_large_bank_of_a_clone_is_read_up_to_a_bound_and_one_line_says_so(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    bring_entries(world, MOST_ENTRIES + 1_000)
    with Engine(world.workspace()) as engine:
        sync(engine.store, engine.workspace)
        assert engine.store.coverage().entries == MOST_ENTRIES + len(OWN)
    said = "5,000 of 6,000 bank entries of this repository are read; `recollect trust` reads all"
    (line,) = [line for line in start(world).text.split("\n") if "bank entries" in line]
    assert said in line
    assert said in world.run("status").stdout
    assert said in world.run("doctor", "--only", "banks").stdout


def test_three_files_of_a_clones_bank_share_the_bound(world: World) -> None:
    for category, label in (("patterns", "Pattern"), ("anti-patterns", "Anti-Pattern")):
        world.write_bank(category, "".join(f"### {label}: B {n}\nBarrel {n}.\n" for n in range(4_000)))
    world.write_bank("heuristics", "".join(f"### Heuristic: H {n}\nHoop {n}.\n" for n in range(100)))
    from recollect.sync.bounds import bank_bounds

    assert bank_bounds(world.workspace()) == {"heuristics.md": 100, "anti-patterns.md": 2_450, "patterns.md": 2_450}


def test_few_entries_of_a_clone_that_are_very_long_leave_the_first_start_the_users_lessons(
    semantic_world: World,
) -> None:
    world = semantic_world
    learn(world)
    words = "barrel {} " * 20_000
    world.write_bank("patterns", "".join(f"### Pattern: B {n}\n{words.replace('{}', str(n))}\n" for n in range(100)))
    world.write_bank("heuristics", "### Heuristic: Hoops\nHoops rust.\n")
    _make_repository(world)
    text = start(world).text
    assert_own_are_given(text)
    assert "Hoops rust." in text
    (line,) = [line for line in text.split("\n") if line.startswith("*Memory: ")]
    assert "of 101 bank entries of this repository are read; `recollect trust` reads all" in line
    with Engine(world.workspace()) as engine:
        sync(engine.store, engine.workspace)
        assert len(OWN) + 10 < engine.store.coverage().entries < len(OWN) + 60


def test_titles_from_files_of_a_clone_cost_no_search_of_very_many_texts(world: World) -> None:
    folder = bring_files(world, 20)
    for number in range(20):
        path = folder / f"brought-{number:06}.json"
        tags = [f"t{n}" for n in range(2_000 if number else 1)]
        path.write_text(json.dumps(MEMORY_TEXT | {"id": path.stem, "title": f"T {number}", "tags": tags}), "utf-8")
    workspace = world.workspace(variables={"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"})
    injection = inject(StartRequest(workspace, event="startup", session="s1"))
    assert "T 0" in {title.name for title in injection.titles}
    assert len(injection.titles) == 3
    assert "17 more: `recollect list`" in injection.text


def test_memory_files_of_a_clone_are_read_up_to_a_size(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = json.loads(world.run("add", "decision", "We keep the order queue in PostgreSQL.", "--json").stdout)
    path = world.project / mine["path"]
    os.utime(path, (1, 1))
    folder = bring_files(world, 20)
    size = (folder / "brought-000000.json").stat().st_size
    monkeypatch.setattr(memories, "MOST_SIZE", 5 * size)
    found = survey(world.workspace().memory_root(), [])
    names = {os.path.basename(each.path) for each in found.files}
    assert names == {path.name} | {f"brought-{number:06}.json" for number in range(5)}
    assert found.total == 21
    trust(str(world.project), str(world.store))
    assert len(survey(world.workspace().memory_root(), []).files) == 21


def test_many_memory_files_of_a_clone_leave_the_first_start_and_prompt_the_users_lessons(
    semantic_world: World,
) -> None:
    world = semantic_world
    learn(world)
    folder = bring_files(world, 8_000)
    with opened_below(folder) as opened:
        text = start(world).text
        assert_own_are_given(text)
        assert "5,000 of 8,000 memory files of this repository are read; `recollect trust` reads all" in text
        found = memories_for("when do we rotate the key of carrier Hermes?", world.workspace(), "s2")
        assert OWN[0] in found.text
    assert len(set(opened)) <= MOST_BROUGHT


def test_very_many_memory_files_are_not_looked_at_while_somebody_waits(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    folder = bring_files(world, 10_100)
    with opened_below(folder) as opened:
        text = start(world).text
        found = memories_for("when do we rotate the key of carrier Hermes?", world.workspace(), "s2")
        assert opened == []
    assert_own_are_given(text)
    assert "5,000 of 10,100 memory files of this repository are read; `recollect trust` reads all" in text
    assert OWN[0] in found.text
    assert found.afterwards
    found.afterwards()
    with Engine(world.workspace()) as engine:
        assert len(engine.store.sources(MEMORY)) == MOST_BROUGHT


def test_notices_after_a_start_look_at_none_of_very_many_memory_files(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    folder = bring_files(world, VERY_MANY + 100)
    started = Start(world.workspace(), "startup", "s1")
    injection = begin(started)
    assert_own_are_given(injection.text)
    with opened_below(folder) as opened:
        withheld(started, injection)
    assert opened == []


def test_names_are_counted_up_to_a_bound_until_all_were_looked_at(
    semantic_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = semantic_world
    for module in (memories, bounds):
        monkeypatch.setattr(module, "MOST_COUNTED", VERY_MANY + 50)
    bring_files(world, VERY_MANY + 100)
    assert bounds.very_many(world.workspace()) == VERY_MANY + 50
    learn(world)
    assert "5,000 of 10,050 memory files" in start(world).text
    with Engine(world.workspace()) as engine:
        sync_memories(engine.store, engine.workspace)
    assert "5,000 of 10,100 memory files" in start(world).text


def test_a_hook_gives_the_users_lessons_beside_many_memory_files(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    bring_files(world, MOST_BROUGHT + 1_000)
    asked = {"session_id": "s9", "cwd": str(world.project), "prompt": "when do we rotate the key of carrier Iris?"}
    assert OWN[1] in world.run_hook("prompt", asked).stdout


def test_titles_alone_are_looked_for_in_no_more_files_than_there_is_time_for(world: World) -> None:
    folder = bring_files(world, MOST_BROUGHT + 1_000)
    with opened_below(folder) as opened:
        memories_for("which barrels leak, and what are they made of?", world.workspace(), "s1")
    assert 0 < len(set(opened)) <= MOST_BROUGHT


# ---- without the store


@pytest.mark.parametrize("entries", [0, 8_000])
def test_start_from_markdown_gives_the_lessons_that_were_added(world: World, entries: int) -> None:
    learn(world)
    bring_entries(world, entries)
    text = start(world).text
    assert_own_are_given(text)
    if entries:
        assert "bank entries of this repository are read; `recollect trust` reads all" in text


def test_start_from_markdown_gives_nothing_that_was_retired_or_is_of_another_project(world: World) -> None:
    learn(world)
    from recollect.domain.hashing import content_hash
    from recollect.domain.stored import Retirement
    from recollect.files.journal.kinds import CAPTURE, RETIREMENT
    from recollect.files.journal.log import append_lines

    journal = world.workspace().journal
    elsewhere = {"category": "patterns", "source": "session-capture", "project": str(world.home / "elsewhere")}
    append_lines(journal, CAPTURE, [elsewhere | {"name": "Oars", "description": "Oars are greased in May."}])
    append_lines(journal, RETIREMENT, [Retirement(content_hash(OWN[0]), "", at="2026-05-01T00:00:00Z")])
    text = start(world).text
    assert OWN[0] not in text
    assert OWN[1] in text
    assert "Oars" not in text


def test_start_from_markdown_quotes_what_an_agent_has_stored(world: World) -> None:
    from recollect.files.journal.kinds import CAPTURE
    from recollect.files.journal.log import append_lines

    learn(world)
    fields = {"name": "Oars", "description": "Oars are greased in May.", "category": "patterns"}
    append_lines(world.workspace().journal, CAPTURE, [fields | {"source": "session-capture"}])
    lines = start(world).text.split("\n")
    assert "> Oars are greased in May." in lines
    assert OWN[0] in lines


# ---- which files are read


def test_newest_files_of_a_clone_are_read_and_those_written_here_take_no_place_of_theirs(world: World) -> None:
    mine = json.loads(world.run("add", "decision", "We keep the order queue in PostgreSQL.", "--json").stdout)
    path = world.project / mine["path"]
    os.utime(path, (1, 1))
    bring_files(world, MOST_BROUGHT + 500)
    found = survey(world.workspace().memory_root(), [])
    names = {os.path.basename(each.path) for each in found.files}
    assert names == {path.name} | {f"brought-{number:06}.json" for number in range(MOST_BROUGHT)}
    assert found.total == MOST_BROUGHT + 501


def test_a_repository_that_is_vouched_for_is_read_whole(semantic_world: World) -> None:
    world = semantic_world
    bring_files(world, MOST_BROUGHT + 300)
    bring_entries(world, MOST_ENTRIES + 300)
    with Engine(world.workspace()) as engine:
        sync(engine.store, engine.workspace)
        assert engine.store.coverage().entries == MOST_ENTRIES
    trust(str(world.project), str(world.store))
    workspace = world.workspace()
    assert len(survey(workspace.memory_root(), []).files) == MOST_BROUGHT + 300
    with Engine(workspace) as engine:
        sync(engine.store, workspace)
        assert engine.store.coverage().entries == MOST_ENTRIES + 300
    assert "are read" not in world.run("status").stdout


def test_files_left_out_later_are_forgotten(semantic_world: World) -> None:
    world = semantic_world
    folder = bring_files(world, 3)
    with Engine(world.workspace()) as engine:
        sync_memories(engine.store, engine.workspace)
        assert engine.store.coverage().entries == 3
        old = time.time() - 10**8
        for number in range(3):
            os.utime(folder / f"brought-{number:06}.json", (old, old))
        (folder / "brought-000000.json").rename(folder / "a-first.json")
        bring_files(world, MOST_BROUGHT, "runbook")
        with pytest.raises(StillReading):
            sync_memories(engine.store, world.workspace(), end=0.0)
        known = engine.store.sources(MEMORY)
        assert {os.path.basename(path) for path, source in known.items() if source.hash == "gone"} == {
            f"brought-{number:06}.json" for number in range(3)
        }


def test_reading_very_many_files_goes_on_where_it_stopped_and_begins_with_the_newest(semantic_world: World) -> None:
    world = semantic_world
    bring_files(world, MOST_BROUGHT + 100)
    trust(str(world.project), str(world.store))
    with Engine(world.workspace()) as engine:
        for expected in (1, 2, 3):
            with pytest.raises(StillReading):
                sync_memories(engine.store, engine.workspace, end=0.0)
            paths = sorted(map(os.path.basename, engine.store.sources(MEMORY)))
            assert paths == [f"brought-{number:06}.json" for number in range(expected)]


def test_a_large_bank_that_is_vouched_for_is_read_slice_by_slice(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    bring_entries(world, 1_700)
    trust(str(world.project), str(world.store))
    with Engine(world.workspace()) as engine:
        seen: list[int] = []
        for _ in range(3):
            with pytest.raises(StillReading) as raised:
                sync(engine.store, engine.workspace, end=0.0)
            assert raised.value.of_repository
            seen.append(engine.store.coverage().entries - len(OWN))
        assert seen == [500, 1_000, 1_500]
        sync(engine.store, engine.workspace, end=0.0)
        assert engine.store.coverage().entries == 1_700 + len(OWN)


# ---- adding beside many


def test_a_category_that_a_clone_has_filled_takes_the_users_memories(world: World) -> None:
    bring_files(world, 100)
    texts = ("We keep the order queue in PostgreSQL.", "Invoices are numbered per year.", "Stamps are sold by weight.")
    variables = {"RECOLLECT_MAX_MEMORIES_PER_CATEGORY": "2"}
    for text in texts[:2]:
        done = world.run("add", "decision", text, **variables)
        assert done.returncode == 0, done.stderr
    refused = world.run("add", "decision", texts[2], **variables)
    assert refused.returncode == 1
    assert "LIMIT_ERROR" in refused.stderr
    assert "2 active memories" in refused.stderr


@pytest.mark.attack
def test_100_000_memory_files_of_a_clone_keep_no_command_from_its_work(semantic_world: World) -> None:
    world = semantic_world
    learn(world)
    bring_files(world, 100_000)
    said = "5,000 of 100,000 memory files of this repository are read; `recollect trust` reads all"
    text = start(world).text
    assert_own_are_given(text)
    assert said in text, "nobody has looked at each of them yet"
    assert OWN[0] in memories_for("when do we rotate the key of carrier Hermes?", world.workspace(), "s2").text
    assert said in world.run("status").stdout
    found = world.run("search", "rotate the key of carrier Hermes")
    assert OWN[0] in found.stdout
    assert said in found.stderr
    assert said in world.run("list").stderr
    assert world.run("add", "decision", "We keep the order queue in PostgreSQL.").returncode == 0
