"""Entries of every category are forgotten and brought back: files say so, and the store follows."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from copy import copy
from itertools import count
from pathlib import Path

import pytest
from tests.conftest import Start, World, heard, tell
from tests.held import writing

import recollect
from recollect.config.locations import journal
from recollect.config.project import identity
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.hashing import content_hash
from recollect.domain.stored import ACTIVE, LONGEST_REASON, RETIRED, Retirement
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StorageError, StoreError, UnknownMemory, WriteRefused
from recollect.files.journal.kinds import RETIREMENT
from recollect.files.journal.log import append_lines, read_lines
from recollect.files.locks import locked
from recollect.learn.remember import remember
from recollect.memories.forget import Forgotten, bring_back, forget
from recollect.memories.lookup import find_named
from recollect.store.open import database_name, open_store
from recollect.store.values import Scope
from recollect.sync.entry_input import parse_entry_input
from recollect.sync.memories import entry_id
from recollect.sync.rebuild import rebuild
from recollect.sync.sync import sync, sync_journal

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
TEXT = "Read the file before you write its parser."
ID = content_hash(TEXT)
BANK = f"### Pattern: Read First\n{TEXT}\n- Keywords: parsing\n"


@pytest.fixture
def engine(semantic_world: World) -> Iterator[Engine]:
    with Engine(semantic_world.workspace()) as opened:
        yield opened


@pytest.fixture
def world(semantic_world: World) -> World:
    return semantic_world


def read(engine: Engine, world: World, root: Path | None = None) -> None:
    assert sync(engine.store, world.workspace(root)) == []


def at(engine: Engine, root: Path) -> Engine:
    """The same engine, with its store, in another project."""
    there = copy(engine)
    there.workspace = Workspace(str(root), engine.workspace.global_store)
    return there


def status(engine: Engine, id: str = ID) -> str:
    [entry] = engine.store.entries([id])
    return entry.status


def seen(engine: Engine, root: Path) -> set[str]:
    return {each.id for each in engine.store.standings(Scope(identity(str(root))))}


def lines(world: World) -> list[dict[str, object]]:
    return read_lines(journal(str(world.store)), 0).lines


def facts(done: Forgotten) -> tuple[str, str, str, str]:
    return done.outcome, done.entry.id, done.entry.status, done.restore


@pytest.mark.parametrize("category", KNOWLEDGE)
@pytest.mark.parametrize("shared", [False, True])
def test_lesson_of_a_bank_is_forgotten_and_brought_back(
    engine: Engine, world: World, category: str, shared: bool
) -> None:
    path = world.write_bank(category, f"### Read First\n{TEXT}\n", shared=shared)
    text = path.read_bytes()
    command = f"recollect restore {ID}"
    done = forget(engine, ID, "It was wrong.")
    assert (facts(done), done.path, done.warnings) == (("retired", ID, RETIRED, command), "", [])
    assert facts(forget(engine, ID[:6])) == ("already_retired", ID, RETIRED, command)
    assert seen(engine, world.project) == set()
    assert facts(bring_back(engine, ID[:8].upper())) == ("restored", ID, ACTIVE, command)
    assert facts(bring_back(engine, ID)) == ("already_active", ID, ACTIVE, command)
    assert seen(engine, world.project) == {ID}
    assert path.read_bytes() == text
    owner = "" if shared else identity(str(world.project))
    said = [{key: value for key, value in line.items() if key != "at"} for line in lines(world)]
    assert said == [{"retired": ID, "project": owner, "reason": "It was wrong."}, {"restored": ID, "project": owner}]


def test_lesson_of_the_journal_is_forgotten_and_comes_back_when_it_is_stored_again(engine: Engine) -> None:
    given = parse_entry_input({"name": "Read First", "description": TEXT, "category": "patterns"})
    remember(engine, given)
    assert forget(engine, ID).outcome == "retired"
    assert remember(engine, given).entry.status == ACTIVE
    assert forget(engine, ID).outcome == "retired"
    assert status(engine) == RETIRED


@pytest.mark.parametrize("name", ["use-sqlite", "use", "decision/use-sqlite", "id", "beginning"])
def test_memory_file_is_forgotten_by_slug_or_id_and_brought_back(engine: Engine, world: World, name: str) -> None:
    path = world.write_decision("use-sqlite", title="Use SQLite")
    id = entry_id(identity(str(world.project)), "decision", "use-sqlite")
    read(engine, world)
    named = {"id": id, "beginning": id[:10]}.get(name, name)
    if named in id:
        assert world.run("search", "sqlite").returncode == 0  # the id is known when the file was read
    done = forget(engine, named, "We moved.")
    assert facts(done) == ("retired", id, RETIRED, "recollect restore use-sqlite")
    assert done.path == ".claude/memory/decisions/use-sqlite.json"
    assert json.loads(path.read_text(encoding="utf-8"))["retired_reason"] == "We moved."
    assert status(engine, id) == RETIRED
    assert forget(engine, named).outcome == "already_retired"
    assert facts(bring_back(engine, named))[:3] == ("restored", id, ACTIVE)
    assert bring_back(engine, named).outcome == "already_active"
    assert not os.path.exists(journal(str(world.store))), "a memory file says it itself"


def test_memory_file_that_the_store_has_not_read_is_forgotten_by_its_id(engine: Engine, world: World) -> None:
    world.write_decision("use-sqlite")
    id = entry_id(identity(str(world.project)), "decision", "use-sqlite")
    assert forget(engine, id).outcome == "retired"
    assert bring_back(engine, id[:8]).outcome == "restored"


def test_archived_memory_is_brought_back_and_not_retired(engine: Engine, world: World) -> None:
    world.write_decision("use-sqlite", record_status="archived", archived_at="2026-01-01T00:00:00Z")
    with pytest.raises(WriteRefused, match="DELETE_ERROR"):
        forget(engine, "use-sqlite")
    assert bring_back(engine, "use-sqlite").entry.status == ACTIVE


def test_slug_comes_before_an_id_that_begins_like_it(engine: Engine, world: World) -> None:
    slug = ID[:6]
    world.write_bank("patterns", BANK)
    world.write_decision(slug)
    assert forget(engine, slug).path.endswith(f"{slug}.json")
    world.write_decision(f"{slug}-a")
    world.write_decision(f"{slug}-b")
    (world.project / ".claude" / "memory" / "decisions" / f"{slug}.json").unlink()
    with pytest.raises(UnknownMemory, match="may mean any of 3 memories"):
        forget(engine, slug)
    assert forget(engine, ID).entry.id == ID


# What must survive


def test_what_was_forgotten_stays_so_when_its_bank_is_edited_and_read_again(engine: Engine, world: World) -> None:
    world.write_bank("patterns", BANK)
    forget(engine, ID)
    world.write_bank("patterns", f"{BANK}- Observation count: 12\n\n### Pattern: Another\nAsk twice.\n")
    read(engine, world)
    assert (status(engine), seen(engine, world.project)) == (RETIRED, {content_hash("Ask twice.")})
    world.write_bank("patterns", "### Pattern: Read First\nRead the file, and then write its parser.\n")
    read(engine, world)
    assert seen(engine, world.project) == {content_hash("Read the file, and then write its parser.")}


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_forgotten_stays_so_when_the_store_is_made_again(world: World, shared: bool) -> None:
    world.write_bank("patterns", BANK, shared=shared)
    place = world.workspace()
    with Engine(place) as engine:
        forget(engine, ID)
    assert rebuild(place).active == 0
    os.unlink(database_name(place.global_store))
    with Engine(place) as engine:
        read(engine, world)
        assert status(engine) == RETIRED
        assert bring_back(engine, ID).outcome == "restored"
    assert rebuild(place).active == 1


def test_line_that_was_written_before_a_kill_is_followed_by_whoever_comes_next(engine: Engine, world: World) -> None:
    world.write_bank("patterns", BANK, shared=True)
    read(engine, world)
    append_lines(journal(str(world.store)), RETIREMENT, [Retirement(ID)])  # and then its writer was killed
    assert status(engine) == ACTIVE
    read(engine, world)
    assert status(engine) == RETIRED


# Other projects


def other_project(world: World) -> Path:
    other = world.home / "desk"
    bank = other / "docs" / "knowledge-bank" / "patterns.md"
    bank.parent.mkdir(parents=True)
    bank.write_text(BANK, encoding="utf-8")
    return other


def test_entry_of_another_project_is_neither_touched_nor_told(engine: Engine, world: World) -> None:
    other = other_project(world)
    read(engine, world, other)
    for change in (forget, bring_back):
        for id in (ID, ID[:6]):
            with pytest.raises(UnknownMemory, match="is an entry of another project") as caught:
                change(engine, id)
            assert "Read First" not in str(caught.value)
            assert str(other) not in str(caught.value)
    assert (status(engine), lines(world)) == (ACTIVE, [])


def test_memory_of_another_project_is_not_touched(engine: Engine, world: World) -> None:
    path = world.write_decision("use-sqlite")
    assert world.run("search", "sqlite").returncode == 0
    text = path.read_bytes()
    other = other_project(world)
    with pytest.raises(UnknownMemory, match="another project"):
        forget(at(engine, other), entry_id(identity(str(world.project)), "decision", "use-sqlite"))
    assert path.read_bytes() == text


def test_what_two_projects_have_is_forgotten_in_one_and_stays_in_the_other(engine: Engine, world: World) -> None:
    other = other_project(world)
    world.write_bank("patterns", BANK)
    for root in (world.project, other):
        read(engine, world, root)
    done = forget(engine, ID)
    assert (done.outcome, done.entry.status) == ("retired", RETIRED)
    assert (seen(engine, world.project), seen(engine, other)) == (set(), {ID})
    assert forget(engine, ID).outcome == "already_retired"
    assert find_named(at(engine, other), ID, []).entry.status == ACTIVE
    assert bring_back(at(engine, other), ID).outcome == "already_active"
    assert bring_back(engine, ID).outcome == "restored"
    assert seen(engine, world.project) == {ID}


def test_what_holds_everywhere_is_forgotten_everywhere_and_brought_back_from_anywhere(
    engine: Engine, world: World
) -> None:
    other = other_project(world)
    world.write_bank("patterns", BANK, shared=True)
    read(engine, world, other)
    assert forget(engine, ID).outcome == "retired"
    assert (seen(engine, world.project), seen(engine, other)) == (set(), set())
    assert bring_back(at(engine, other), ID).outcome == "restored"
    assert (seen(engine, world.project), seen(engine, other)) == ({ID}, {ID})


# What cannot be done


@pytest.mark.parametrize("id", ["", "  ", "abc", "ffffff", "no-such-memory", "\0", "../x", "0" * 17, "x" * 100_000])
def test_name_of_nothing_is_refused_and_shown_in_short(engine: Engine, world: World, id: str) -> None:
    world.write_bank("patterns", BANK)
    for change in (forget, bring_back):
        with pytest.raises(UnknownMemory) as caught:
            change(engine, id)
        assert len(str(caught.value)) < 400
    assert lines(world) == []


def test_beginning_of_several_ids_names_them(engine: Engine, world: World) -> None:
    found: dict[str, str] = {}
    beginning, texts = "", list[str]()
    for text in map("Lesson {}.".format, count()):
        beginning = content_hash(text)[:6]
        if beginning in found:
            texts = [found[beginning], text]
            break
        found[beginning] = text
    world.write_bank("patterns", "".join(f"### Pattern: {text}\n{text}\n" for text in texts))
    with pytest.raises(UnknownMemory) as caught:
        forget(engine, beginning)
    assert str(caught.value).startswith(f"'{beginning}' may mean any of 2 memories; give more of the name:")
    assert all(f"{content_hash(text)}  patterns  active  {text}" in str(caught.value) for text in texts)


def test_reason_with_a_credential_is_refused_and_a_long_one_cut(engine: Engine, world: World) -> None:
    world.write_bank("patterns", BANK)
    world.write_decision("use-sqlite")
    token = "ghp_" + "a1" * 20
    for name in (ID, "use-sqlite"):
        for written in (token, token.replace("_", "_\u200b")):
            with pytest.raises(InvalidEntry, match="a GitHub token") as caught:
                forget(engine, name, f"because of {written}")
            assert written not in str(caught.value)
    assert lines(world) == []
    forget(engine, ID, "line one\nline two\x1b[0m " + "x" * 9_000)
    [line] = lines(world)
    assert str(line["reason"]).startswith("line one line two")
    assert len(str(line["reason"])) == LONGEST_REASON


def test_what_no_file_holds_any_more_cannot_be_brought_back(engine: Engine, world: World) -> None:
    path = world.write_bank("patterns", BANK)
    read(engine, world)
    path.unlink()
    done = forget(engine, ID)
    assert (done.outcome, done.restore) == ("already_retired", "")
    with pytest.raises(UnknownMemory, match="no file holds 'Read First' any more"):
        bring_back(engine, ID)


def test_journal_that_cannot_be_written_keeps_the_entry_as_it_is(engine: Engine, world: World) -> None:
    world.write_bank("patterns", BANK, shared=True)
    os.mkdir(journal(str(world.store)))
    with pytest.raises(StorageError, match=r"session-captures\.jsonl"):
        forget(engine, ID)
    assert status(engine) == ACTIVE


def test_store_that_cannot_be_written_follows_the_journal_later(world: World) -> None:
    world.write_bank("patterns", BANK, shared=True)
    settings = load_settings(str(world.project))
    with (
        open_store(str(world.store)) as other,
        Engine(Workspace(str(world.project), str(world.store), settings), patience=0.01) as engine,
    ):
        read(engine, world)
        with writing(other), pytest.raises(StoreError, match=r"another process.*takes it over later"):
            forget(engine, ID)
        assert status(engine) == ACTIVE
        read(engine, world)
        assert status(engine) == RETIRED


def test_hostile_line_about_a_memory_file_does_not_hide_it(engine: Engine, world: World) -> None:
    world.write_decision("use-sqlite", title="Use SQLite")
    assert world.run("search", "sqlite").returncode == 0
    id = entry_id(identity(str(world.project)), "decision", "use-sqlite")
    append_lines(journal(str(world.store)), RETIREMENT, [Retirement(id), Retirement(id, identity(str(world.project)))])
    assert sync_journal(engine.store, engine.workspace.global_store) == []
    assert status(engine, id) == ACTIVE
    assert find_named(engine, id, []).entry.status == ACTIVE


# Several at once

WORKER = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from recollect.engine.engine import Engine
from recollect.memories.forget import bring_back, forget
from recollect.config.workspace import Workspace

root, store, id = sys.argv[2:5]
with Engine(Workspace(root, store), patience=60.0) as engine:
    for change in (forget, bring_back):
        for _ in range(int(sys.argv[5])):
            print("ready", flush=True)
            sys.stdin.readline()
            print(change(engine, id).outcome, flush=True)
"""


def test_several_may_forget_at_once(engine: Engine, world: World, start: Start) -> None:
    world.write_bank("patterns", BANK, shared=True)
    read(engine, world)
    where = [json.dumps([SOURCE, *sys.path]), str(world.project), str(world.store), ID, "1"]
    workers = [start(WORKER, *where) for _ in range(4)]
    for expected in ({"retired", "already_retired"}, {"restored", "already_active"}):
        for worker in workers:
            assert heard(worker) == "ready"
        for worker in workers:
            tell(worker)
        outcomes = set(map(heard, workers))
        assert outcomes <= expected
        assert outcomes & {"retired", "restored"}
    read(engine, world)
    assert status(engine) == ACTIVE


def test_store_is_free_while_the_journal_is_waited_for(engine: Engine, world: World) -> None:
    world.write_bank("patterns", BANK, shared=True)
    read(engine, world)
    outcomes: list[str] = []

    def forgetting() -> None:
        with Engine(engine.workspace) as own:
            outcomes.append(forget(own, ID).outcome)

    forgetter = threading.Thread(target=forgetting)
    with locked(journal(str(world.store))):
        forgetter.start()
        while forgetter.is_alive() and not any("_wait" in thread.name for thread in threading.enumerate()):
            forgetter.join(0.01)
        with writing(engine.store):
            assert status(engine) == ACTIVE
    forgetter.join()
    assert outcomes == ["retired"]
