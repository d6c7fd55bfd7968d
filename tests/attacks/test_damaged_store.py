"""Databases damaged byte by byte: every command ends with a sentence, and what files hold is found again."""

from __future__ import annotations

import json
import random
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.conftest import World

from recollect.api import Engine
from recollect.cli.main import cli
from recollect.config.settings import load_settings
from recollect.errors import RecollectError

ENTRIES = 40
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
PELICAN = {"name": "Pelican", "description": "A pelican stores fish for later.", "category": "patterns"}
PAGE = 4096


def lesson(number: int) -> dict[str, object]:
    return {
        "name": f"Lesson {number}",
        "description": f"Number {number} is about caching and zebra{number}.",
        "category": "heuristics",
        "keywords": ["caching"],
    }


def bytes_of(database: Path) -> bytearray:
    """Return a database as one file, with nothing beside it."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return bytearray(database.read_bytes())


def page_of(database: Path, name: str) -> int:
    connection = sqlite3.connect(database)
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    connection.close()
    return (page - 1) * PAGE


@pytest.fixture
def stored(semantic_world: World) -> World:
    """A world whose store has entries of the journal, of banks and of memory files, and has been used."""
    bank = "".join(f"### Pattern: Bank {n}\nOf the bank, about walrus{n}.\n\n" for n in range(20))
    semantic_world.write_bank("patterns", bank)
    semantic_world.write_decision("use-sqlite", title="Use SQLite for narwhals")
    entries = json.dumps([lesson(number) for number in range(ENTRIES)])
    assert semantic_world.run("upsert", "--entry-json", entries, **BY_WORDS).returncode == 0
    start = {"session_id": "s", "source": "startup", "cwd": str(semantic_world.project)}
    assert "Lesson" in semantic_world.run_hook("session-start", start, **BY_WORDS).stdout  # which counts as usage
    return semantic_world


def database_of(world: World) -> Path:
    return world.store / "memory.db"


def found(world: World, query: str) -> list[str]:
    done = world.run("search", query, "--json", **BY_WORDS)
    assert done.returncode == 0, done.stderr
    return [hit["name"] for hit in json.loads(done.stdout)["hits"]]


def schema_byte(data: bytearray, _database: Path) -> None:
    """Damage the name of a table in the schema, and its type: SQLite's message then has a byte that is no text."""
    place = data.index(b"tableusageusage")
    data[place : place + 15] = b"tab\xffeus\xffgeus\xffge"


def index_without_its_row(data: bytearray, database: Path) -> None:
    """Change an id in the index of ids, so that its row is found by no id."""
    connection = sqlite3.connect(database)
    ((id,),) = connection.execute("SELECT id FROM entries WHERE name = 'Lesson 3'").fetchall()
    connection.close()
    start = page_of(database, "sqlite_autoindex_entries_1")
    place = data.index(id.encode(), start, start + PAGE)
    data[place] = ord("0") if data[place] != ord("0") else ord("1")


def text_that_is_none(data: bytearray, _database: Path) -> None:
    data[data.index(b"Number 3 is about")] = 0xFF


def column_without_its_value(data: bytearray, database: Path) -> None:
    """Take a value away that the table says is always there; SQLite gives out what it finds."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA writable_schema = ON")
    schema = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'entries'"
    strict, loose = "updated_at TEXT NOT NULL", "updated_at TEXT"
    with connection:
        connection.execute(schema, (strict, loose))
    connection.close()
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE entries SET updated_at = NULL WHERE name = 'Lesson 3'")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(schema, (loose, strict))
    connection.close()
    data[:] = bytes_of(database)


DAMAGE: dict[str, Callable[[bytearray, Path], None]] = {
    "a byte of the schema is no text": schema_byte,
    "a row is missing from its index": index_without_its_row,
    "a byte of an entry is no text": text_that_is_none,
    "a column has no value": column_without_its_value,
}


def damage(world: World, kind: str) -> None:
    database = database_of(world)
    data = bytes_of(database)
    DAMAGE[kind](data, database)
    database.write_bytes(data)


@pytest.mark.parametrize("kind", DAMAGE)
def test_no_command_shows_a_traceback_over_a_damaged_database(stored: World, kind: str) -> None:
    damage(stored, kind)
    for command in (
        ["search", "zebra3"],
        ["status"],
        ["list"],
        ["upsert", "--entry-json", json.dumps(PELICAN)],
        ["rebuild"],
    ):
        done = stored.run(*command, **BY_WORDS)
        assert "Traceback" not in done.stderr, (command, done.stderr)
    hook = stored.run_hook("prompt", {"prompt": "caching zebra3", "cwd": str(stored.project), "session_id": "s"})
    assert (hook.returncode, hook.stderr) == (0, "")


@pytest.mark.parametrize("kind", DAMAGE)
def test_rebuild_puts_a_damaged_database_aside_and_finds_everything_again(stored: World, kind: str) -> None:
    assert found(stored, "zebra3")[0] == "Lesson 3"
    damage(stored, kind)
    stored.run("upsert", "--entry-json", json.dumps(PELICAN), **BY_WORDS)
    done = stored.run("rebuild", "--json", **BY_WORDS)
    assert done.returncode == 0, done.stderr
    assert Path(json.loads(done.stdout)["set_aside"]).is_file()
    for query, name in (("zebra3", "Lesson 3"), ("walrus7", "Bank 7"), ("pelican", "Pelican"), ("narwhals", "Use SQL")):
        assert found(stored, query)[0].startswith(name)


@pytest.mark.parametrize("kind", DAMAGE)
def test_doctor_names_the_damage_and_mends_it(stored: World, kind: str) -> None:
    damage(stored, kind)
    done = stored.run("doctor", "--fix", "--only", "database", "--json", **BY_WORDS)
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    [told] = [each["sentence"] for each in report["repaired"] if each["subject"] == "Database"]
    assert "made again from" in told
    assert ".damaged-" in told
    assert [each for each in report["findings"] if each["subject"] == "Database" and each["level"] == "error"] == []
    assert found(stored, "zebra3")[0] == "Lesson 3"


def test_doctor_sees_a_row_that_its_index_does_not_have_and_says_which(stored: World) -> None:
    damage(stored, "a row is missing from its index")
    report = json.loads(stored.run("doctor", "--only", "database", "--json", **BY_WORDS).stdout)
    [told] = [each for each in report["findings"] if each["subject"] == "Database" and each["level"] == "error"]
    assert "missing from index" in told["sentence"]
    assert "recollect rebuild" in told["fix"]


def test_usage_and_receipts_outlive_a_row_that_its_index_does_not_have(stored: World) -> None:
    before = usage_of(stored)
    assert all(before)
    damage(stored, "a row is missing from its index")
    done = stored.run("rebuild", "--json", **BY_WORDS)
    assert json.loads(done.stdout)["rescued"] == sum(map(len, before))
    assert usage_of(stored) == before


def usage_of(world: World) -> list[list[object]]:
    connection = sqlite3.connect(database_of(world))
    rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("usage", "receipt_lines", "receipts")]
    connection.close()
    return [sorted(each) for each in rows]


# Damage anywhere


@pytest.fixture
def in_process(stored: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The commands in this process: hundreds of interpreters would take too long."""
    for name, value in stored.environment(BY_WORDS).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(stored.project)
    return stored


def ended_well(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, arguments)
    if done.exception and not isinstance(done.exception, (SystemExit, RecollectError, OSError)):
        pytest.fail(f"{arguments}: " + "".join(traceback.format_exception(done.exception)))
    return done


def scrambled(data: bytearray, chance: random.Random) -> None:
    """Damage a database as disks do: bytes flipped, pages zeroed or exchanged, the end cut off."""
    pages = len(data) // PAGE
    kind = chance.choice(["bits", "bits", "bytes", "zero", "garbage", "swap", "cut", "header"])
    if kind == "bits":
        for _ in range(chance.choice([1, 3, 30])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "bytes":
        start = chance.randrange(len(data) - 64)
        data[start : start + 64] = chance.randbytes(64)
    elif kind in ("zero", "garbage"):
        start = chance.randrange(pages) * PAGE
        data[start : start + PAGE] = bytes(PAGE) if kind == "zero" else chance.randbytes(PAGE)
    elif kind == "swap":
        one, other = (chance.randrange(pages) * PAGE for _ in range(2))
        data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]
    elif kind == "cut":
        del data[chance.randrange(len(data)) :]
    else:
        place = chance.randrange(100, 1500)
        data[place] = chance.randrange(256)


def attack(world: World, seeds: range) -> None:
    database = database_of(world)
    whole = bytes(bytes_of(database))
    journal = (world.store / "session-captures.jsonl").read_bytes()
    for seed in seeds:
        for other in world.store.glob("memory.db*"):
            other.unlink()
        (world.store / "session-captures.jsonl").write_bytes(journal)
        data = bytearray(whole)
        scrambled(data, random.Random(seed))
        database.write_bytes(data)
        ended_well("search", "zebra3")
        ended_well("list")
        ended_well("upsert", "--entry-json", json.dumps(PELICAN))
        if seed % 2:
            ended_well("doctor", "--fix", *(f"--only={name}" for name in ("database", "locks", "journal")))
        assert ended_well("rebuild").exit_code == 0, seed
        with Engine(str(world.store), load_settings(str(world.project)), project_root=str(world.project)) as engine:
            assert engine.store.check() == [], seed
        for query, name in (("zebra3", "Lesson 3"), ("walrus7", "Bank 7"), ("pelican", "Pelican"), ("narwhals", "Use")):
            assert name in ended_well("search", query).stdout, (seed, query)


def test_database_damaged_anywhere_is_made_again(in_process: World, tried: Callable[[int], None]) -> None:
    attack(in_process, range(20, 32))
    tried(12)


@pytest.mark.attack
def test_database_damaged_in_two_hundred_places_is_made_again(in_process: World, tried: Callable[[int], None]) -> None:
    attack(in_process, range(100, 300))
    tried(200)
