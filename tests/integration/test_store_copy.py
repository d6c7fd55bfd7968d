"""Copies of a store: between engines and back, interrupted by kills, refused where something would be lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World
from tests.contract.test_stores import EVERYWHERE, bank, entry, some_vector

from recollect.domain.shared.acting import Acting
from recollect.domain.stored import MUTED, SUPERSEDES, Anchor, Anchored, Mark, Raised, Relation, Retirement
from recollect.errors import StoreError
from recollect.store.base import Store
from recollect.store.copy import Copy, copy_store, plan
from recollect.store.open import open_store
from recollect.store.repair import unchanged
from recollect.store.values import COPYING, JOURNAL, PROMPT, TITLE, Evidence, Model, Receipt, ReceiptLine, Source

psycopg = pytest.importorskip("psycopg") if os.environ.get("CI") != "true" else __import__("psycopg")
sql = psycopg.sql

AT = "2026-11-18T00:00:00Z"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    place = postgres.server().place(tmp_path)
    schema = place.rpartition("%3D")[2]
    yield place
    with psycopg.connect(postgres.server().url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


def filled(place: str, entries: int = 60, *, seed: int = 1) -> None:
    """Make a store with something in every table that is copied."""
    chance = random.Random(seed)
    ids = [f"{chance.getrandbits(64):016x}" for _ in range(entries)]
    with open_store(place) as store:
        store.put(bank(), [entry(id, f"größe \u00b5 of {id}", triggers=["when it breaks"]) for id in ids])
        store.put(
            Source("/journal", JOURNAL, size=9, modified=2**60, hash="h", offset=2**40),
            [entry(ids[0]), entry(ids[1])],
            anew=False,
            retirements=[Retirement(ids[2], "", at=AT, reason="wrong")],
            relations=[Relation(ids[3], ids[4], SUPERSEDES, at=AT)],
            marks=[Mark(ids[5], MUTED, "/p", at=AT)],
            anchored=[Anchored(ids[6], "/p", [Anchor("src/pay.py", "abc", "def", "2026-11-02")])],
        )
        store.put_raised([Raised(ids[7], "high", at=AT, reason="observed")], anew=True)
        for name, size in (("one", 64), ("two", 96)):
            store.use_model(Model(f"test/{name}", "test", name, size))
            vectors = [(id, some_vector(chance, size)) for id in ids]
            store.put_vectors(vectors, vectors[:10])
        for number in range(5):
            lines = [
                ReceiptLine(
                    id, chance.random(), vector=0.1, keyword=1 / 3, prominence=0.5, form=TITLE if number else "text"
                )
                for id in chance.sample(ids, 3)
            ]
            store.recalled(
                Receipt(at=AT, event=PROMPT, project="/p", session=f"s{number}", query="größe?", lines=lines)
            )
        store.note_evidence(
            [Evidence(at=AT, kind="opened", id=ids[0], project="/p", session="s0", turn=2, place="12-13")]
        )
        store.set_meta("worktree /w", "/p")
        store.set_meta("followed /p", "only here")


def rows(place: str) -> dict[str, list[tuple[object, ...]]]:
    with open_store(place) as store:
        return {table.name: [values for _, values in table.read((), 100_000)] for table in store.tables()}


def copied(source: str, target: str) -> Copy:
    return copy_store(source, target, anew=False, progress=lambda *_: None)


@pytest.mark.parametrize("seed", [1, 2])
def test_copy_to_a_server_and_back_has_every_row(tmp_path: Path, server: str, seed: int) -> None:
    here, there, back = str(tmp_path / "a"), server, str(tmp_path / "b")
    filled(here, seed=seed)
    one = copied(here, there)
    other = copied(there, back)
    assert one.tables == other.tables
    assert all(table.rows for table in one.tables)
    assert rows(here) == rows(there) == rows(back)
    assert ("followed /p", "only here") not in rows(back)["_metadata"]
    with open_store(here) as first, open_store(there) as second, open_store(back) as third:
        chance = random.Random(seed)
        asked = some_vector(chance, 96)
        stores = (first, second, third)
        near = [[match.id for match in each.vector_matches(asked, EVERYWHERE, 10)] for each in stores]
        assert near[0] == near[1] == near[2]
        words = [[match.id for match in each.text_matches(["größe"], EVERYWHERE, 100)] for each in stores]
        assert words[0] == words[1] == words[2] != []
        for store in (second, third):
            assert store.check() == []
            assert store.get_meta(COPYING) == ""
            store.put(bank("/new.md"), [entry("f" * 16)])
            store.recalled(Receipt(at=AT, event=PROMPT, project="", session="later", query="", lines=[]))
            assert store.receipts(1)[0].session == "later"


def test_source_stays_as_it_is(tmp_path: Path) -> None:
    filled(str(tmp_path / "a"))
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    plan(str(tmp_path / "a"), str(tmp_path / "b"))
    assert not (tmp_path / "b").exists()
    copied(str(tmp_path / "a"), str(tmp_path / "b"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == before


def test_server_that_is_copied_from_takes_no_writes_of_the_copy(tmp_path: Path, server: str) -> None:
    filled(server)
    before = rows(server)
    with unchanged(server) as store, pytest.raises(StoreError, match="read-only"):
        store.set_meta("a", "b")
    copied(server, str(tmp_path / "b"))
    assert rows(server) == before


def test_server_without_a_store_is_not_given_one_by_copying_from_it(tmp_path: Path, server: str) -> None:
    with pytest.raises(StoreError, match="it has no tables of a store"):
        copied(server, str(tmp_path / "b"))
    filled(str(tmp_path / "a"), 10)
    assert plan(str(tmp_path / "a"), server).problem == ""


COPY = """
import sys
from recollect.store import copy

copy.PORTION = 7
left = int(sys.argv[3])

def progress(name, done, total):
    global left
    left -= 1
    print("portion", flush=True)
    if not left:
        sys.stdin.readline()  # is killed here, or in the middle of a later portion

copy.copy_store(sys.argv[1], sys.argv[2], anew=False, progress=progress)
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_to_server", [True, False])
def test_copy_that_is_killed_again_and_again_goes_on_and_ends_the_same(
    tmp_path: Path, server: str, is_to_server: bool, chance: random.Random
) -> None:
    here = str(tmp_path / "a")
    filled(here)
    source, target = (here, server) if is_to_server else (server, str(tmp_path / "b"))
    if not is_to_server:
        copied(here, server)
    kills, code = 0, -1
    for _ in range(40):
        portions = chance.randint(1, 12)
        process = subprocess.Popen(
            [sys.executable, "-c", COPY, source, target, str(portions)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        with process:
            assert process.stdin
            assert process.stdout
            assert process.stderr
            for _ in range(portions):
                if not process.stdout.readline():
                    break
            if chance.random() < 0.5:
                process.stdin.write("\n")  # it goes on, and is killed wherever it is
                process.stdin.flush()
            process.send_signal(signal.SIGKILL)
            told, code = process.stderr.read(), process.wait()
        assert (code, told) in ((0, ""), (-signal.SIGKILL, "")), told
        kills += code != 0
        if code == 0:
            break
    result = None if code == 0 else copied(source, target)
    assert kills >= 3
    assert result is None or result.went_on
    assert rows(source) == rows(target)


def test_store_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    for name in "ab":
        filled(str(tmp_path / name), 10)
    before = rows(str(tmp_path / "b"))
    with pytest.raises(StoreError, match=r"b/memory.db is not empty \(10 rows of entries, .*copy to an empty place"):
        copied(str(tmp_path / "a"), str(tmp_path / "b"))
    assert "is not empty" in plan(str(tmp_path / "a"), str(tmp_path / "b")).problem
    with pytest.raises(StoreError, match="is not empty"):
        copy_store(str(tmp_path / "a"), str(tmp_path / "b"), anew=True, progress=lambda *_: None)
    assert rows(str(tmp_path / "b")) == before


def interrupted(source: str, target: str) -> None:
    def progress(name: str, *_: object) -> None:
        if name == "Copying usage":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(source, target, anew=False, progress=progress)


def test_unfinished_copy_of_another_store_is_refused(tmp_path: Path) -> None:
    for name in "ab":
        filled(str(tmp_path / name), 10)
    interrupted(str(tmp_path / "a"), str(tmp_path / "c"))
    with pytest.raises(StoreError, match=r"has an unfinished copy of .*a/memory.db"):
        copied(str(tmp_path / "b"), str(tmp_path / "c"))
    assert plan(str(tmp_path / "a"), str(tmp_path / "c")).went_on
    assert copied(str(tmp_path / "a"), str(tmp_path / "c")).went_on


def changed(store: Store) -> None:
    store.put(bank("/more.md"), [entry("0" * 16, "more")])


@pytest.mark.parametrize("is_server", [True, False])
def test_source_that_has_changed_is_copied_again_from_the_beginning(
    tmp_path: Path, server: str, is_server: bool
) -> None:
    source, target = str(tmp_path / "a"), server if is_server else str(tmp_path / "b")
    filled(source)
    interrupted(source, target)
    with open_store(source) as store:
        changed(store)
    with pytest.raises(StoreError, match=r"has changed since the copy to .* began; run it again with --anew"):
        copied(source, target)
    result = copy_store(source, target, anew=True, progress=lambda *_: None)
    assert not result.went_on
    assert rows(source) == rows(target)


def test_copy_that_somebody_has_written_to_is_not_called_the_same(tmp_path: Path) -> None:
    source, target = str(tmp_path / "a"), str(tmp_path / "b")
    filled(source)
    interrupted(source, target)
    with open_store(target) as store:
        store.note_evidence([Evidence(at=AT, kind="opened", id="x", project="/p", session="s")])
    with pytest.raises(StoreError, match=r"the copy differs in .*evidence \(1 and 2 rows\)"):
        copied(source, target)


def test_damaged_note_about_a_copy_is_named(tmp_path: Path) -> None:
    filled(str(tmp_path / "a"), 10)
    with open_store(str(tmp_path / "b")) as store:
        store.set_meta(COPYING, '["x", 1]')
    with pytest.raises(StoreError, match="note about a copy is damaged"):
        copied(str(tmp_path / "a"), str(tmp_path / "b"))


def test_copy_goes_to_a_scope_of_others_without_use(tmp_path: Path) -> None:
    team = postgres.server().team(tmp_path, "organisation:acme")
    with team.log("ann") as log:
        log.create_scope("team:backend")
        team.let_in(log, "team:backend", "bob", "writer")
    source = str(tmp_path / "a")
    filled(source)
    with open_store(team.url("bob")) as own:
        own.put(bank("/own.md"), [entry("0" * 16, "of bob's own")])
    planned = plan(source, team.url("bob"), scope="team:backend")
    done = copy_store(source, team.url("bob"), anew=False, progress=lambda *_: None, scope="team:backend")
    assert planned.problem == ""
    assert {table.name for table in done.tables}.isdisjoint({"usage", "receipts", "evidence"})
    assert [(each.name, each.rows) for each in planned.tables] == [(each.name, each.rows) for each in done.tables]
    with open_store(team.url("ann"), acting=Acting("", "team:backend")) as store:
        assert store.count(EVERYWHERE) == 59
        assert len(store.text_matches(["größe"], EVERYWHERE, 100)) == 59
    with open_store(team.url("bob"), acting=Acting("", "", ("personal:bob",))) as own:
        assert own.count(EVERYWHERE) == 1
    with pytest.raises(StoreError, match="is not empty"):
        copy_store(source, team.url("bob"), anew=False, progress=lambda *_: None, scope="team:backend")
    with team.log("ann") as log:
        log.create_scope("team:other")
        team.let_in(log, "team:other", "bob", "reader")
    with pytest.raises(StoreError, match="bob has no role of writer in team:other"):
        copy_store(source, team.url("bob"), anew=False, progress=lambda *_: None, scope="team:other")


# The command


def test_command_copies_and_says_what(world: World, server: str) -> None:
    world.write_bank("patterns", "### Pattern: Retry with jitter\nRetries of webhooks need jitter.\n")
    world.run("rebuild")
    planned = json.loads(world.run("store", "copy", "here", server, "--dry-run", "--json").stdout)
    assert planned["dry_run"] is True
    assert "error" not in planned
    assert {"name": "entries", "rows": 1, "hash": ""} in planned["tables"]
    done = world.run("store", "copy", "here", server)
    assert done.returncode == 0, done.stderr
    assert f"copied from here to {server}; all are the same in both." in done.stdout.replace("\n", " ")
    assert "Copying entries (1)" in done.stderr
    found = world.run("search", "webhook", RECOLLECT_MEMORY_STORE=server)
    assert "Retry with jitter" in found.stdout
    again = world.run("store", "copy", "here", server, "--json")
    assert again.returncode == 1
    assert "is not empty" in json.loads(again.stdout)["error"]
    dry = world.run("store", "copy", "here", server, "--json", "--dry-run")
    assert dry.returncode == 1
    assert "is not empty" in json.loads(dry.stdout)["error"]


def test_entry_with_a_credential_is_not_copied_to_a_server(world: World, server: str, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    world.write_bank("patterns", f"### Pattern: Deploy by hand\nUse {token} to deploy.\n")
    world.run("rebuild")
    for options in ((), ("--dry-run",), ("--scope", "team:backend")):
        done = world.run("store", "copy", "here", server, *options)
        assert done.returncode == 1
        assert "1 entry seems to hold a credential, which must not leave this machine" in done.stderr
        assert "Deploy by hand; `recollect doctor --secrets`" in done.stderr
        assert token not in done.stdout + done.stderr
    found = world.run("store", "copy", server, f"sqlite:{tmp_path / 'back'}", "--json")
    assert token not in found.stdout + "".join(path.read_bytes().decode("latin-1") for path in tmp_path.glob("back/*"))
    assert world.run("store", "copy", "here", f"sqlite:{tmp_path / 'beside'}").returncode == 0


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("nowhere", "is no store; write here, sqlite:FOLDER or postgresql://"),
        ("sqlite:", "is no store"),
        ("sqlite:/no/such/folder", "there is no store at /no/such/folder"),
        ("postgresql://ann:secret@db/memory", "an address with a password is refused"),
    ],
)
def test_command_refuses_what_is_no_store(world: World, source: str, told: str, tmp_path: Path) -> None:
    done = world.run("store", "copy", source, f"sqlite:{tmp_path}/new")
    assert done.returncode == 1
    assert told in done.stderr.replace("\n", " ")
    assert "secret" not in done.stderr
    assert not os.path.exists(tmp_path / "new")
