"""`recollect reembed` and `recollect rebuild`: what they keep, what they make again, and what stops them."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World, read_terminal
from tests.integration.provider_servers import ProviderServer

from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import Scope

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LESSON = {"name": "Captured", "description": "A thing learnt in passing.", "category": "heuristics"}


def environment(world: World, **variables: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(world.home),
        "LANG": "C.UTF-8",
        "RECOLLECT_HOME": str(world.store),
        **variables,
    }


def result_of(world: World, *arguments: str, **variables: str) -> dict[str, Any]:
    done = world.run(*arguments, "--json", **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def everything(world: World) -> dict[str, tuple[Any, ...]]:
    """All that can be told of each active entry, by its id."""
    with SqliteStore(str(world.store / "memory.db")) as store:
        entries = store.entries(standing.id for standing in store.standings(Scope(None)))
    return {
        entry.id: (
            *(entry.name, entry.category, entry.description, entry.details, entry.reasoning),
            *(entry.keywords, entry.references, entry.observation_count, entry.confidence),
            *(entry.project, entry.source, entry.recall_count, entry.last_recalled_at),
        )
        for entry in entries
    }


def receipts(world: World) -> list[tuple[Any, ...]]:
    with SqliteStore(str(world.store / "memory.db")) as store:
        return [(r.at, r.event, r.project, r.query, [line.id for line in r.lines]) for r in store.receipts(100)]


def files(world: World) -> dict[str, bytes]:
    """What people wrote, and the journal."""
    return {
        str(path): path.read_bytes()
        for folder in (world.project, world.store)
        for path in folder.rglob("*.*d*")
        if path.suffix in (".md", ".jsonl")
    }


@pytest.fixture
def used(semantic_world: World, bank_text: Callable[..., str]) -> World:
    """A world with banks of two projects, a global one and a journal, of which some were recalled."""
    other = semantic_world.home / "billing" / "docs" / "knowledge-bank"
    other.mkdir(parents=True)
    (other / "patterns.md").write_text("### Pattern: Zebra\nPaint the zebra in stripes.\n", encoding="utf-8")
    semantic_world.write_bank("patterns", bank_text("Pattern", 5, Confidence="high", References="src/a.py"))
    semantic_world.write_bank("anti-patterns", bank_text("Anti-Pattern", 3, Observation_count="4"), shared=True)
    for _ in range(2):
        semantic_world.run("upsert", "--entry-json", json.dumps(LESSON), **BY_WORDS)
    semantic_world.run("inject", "--limit", "4", **BY_WORDS)
    semantic_world.run("inject", "--limit", "2", cwd=other.parent.parent, **BY_WORDS)
    return semantic_world


def test_missing_vectors_are_made_once_and_all_of_them_when_asked(
    semantic_world: World, bank_text: Callable[..., str]
) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 60))
    first = result_of(semantic_world, "reembed")
    assert (first["embedded"], first["pending_embedding"], first["reason"], first["warnings"]) == (60, 0, "", [])
    assert first["model"].startswith("local/")
    assert result_of(semantic_world, "reembed")["embedded"] == 0
    again = semantic_world.run("reembed", "--all")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("60 entries were given a vector by local/")


def test_there_is_nothing_to_do_without_entries(semantic_world: World) -> None:
    done = semantic_world.run("reembed")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0 entries ")
    rebuilt = semantic_world.run("rebuild")
    assert (rebuilt.returncode, rebuilt.stderr) == (0, "")
    assert rebuilt.stdout.startswith("0 entries ")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "voyage"}, "VOYAGE_API_KEY"),
        ({"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "ollama", "OLLAMA_HOST": "127.0.0.1:9"}, "ollama serve"),
        ({"RECOLLECT_MEMORY_EMBEDDING_MODEL": "no-such-model"}, "memory_embedding_model"),
        (BY_WORDS, "memory_embedding_enabled"),
    ],
)
def test_what_stops_it_is_exit_1_with_what_to_do(semantic_world: World, settings: dict[str, str], said: str) -> None:
    semantic_world.write_bank("patterns", "### Pattern: One\nThe one lesson.\n")
    done = semantic_world.run("reembed", **settings)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")
    assert said in done.stderr


def test_progress_is_for_terminals(semantic_world: World, bank_text: Callable[..., str]) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 3))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [RECOLLECT, "reembed"],
        cwd=semantic_world.project,
        env=environment(semantic_world),
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = read_terminal(ours)
    answer, _ = process.communicate()
    assert process.returncode == 0
    assert b"Embedding" in shown
    assert b"3/3" in shown
    assert answer.startswith(b"3 entries were given a vector")
    quiet = semantic_world.run("reembed", "--all")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_an_interruption_keeps_what_was_done_and_the_next_run_goes_on(
    semantic_world: World, bank_text: Callable[..., str]
) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 120))
    asked, interrupted = threading.Event(), threading.Event()
    with ProviderServer("ollama") as server:

        def slow(vectors: list[list[float]]) -> list[list[float]]:
            if len(server.received) == 2:
                asked.set()
                interrupted.wait(PATIENCE)
            return vectors

        server.change = slow
        settings = {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "ollama", **server.environment}
        process = subprocess.Popen(
            [RECOLLECT, "reembed"],
            cwd=semantic_world.project,
            env=environment(semantic_world, **settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert asked.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=PATIENCE)
        interrupted.set()
        assert process.returncode not in (0, None)
        assert "Traceback" not in complaint
        first = server.received[0].texts
        assert len(first) == 50
        rest = result_of(semantic_world, "reembed", **settings)
        assert (rest["embedded"], rest["pending_embedding"]) == (70, 0)
        later = [text for request in server.received[2:] for text in request.texts]
        assert not set(first) & set(later)


def test_rebuilding_changes_nothing_that_anybody_can_see(used: World) -> None:
    before, given, written = everything(used), receipts(used), files(used)
    assert len(before) == 5 + 3 + 1 + 1
    assert sum(entry[11] for entry in before.values()) == 4 + 2
    result = result_of(used, "rebuild")
    assert (result["entries"], result["set_aside"], result["warnings"]) == (10, "", [])
    assert everything(used) == before
    assert receipts(used) == given
    assert files(used) == written
    shown = used.run("rebuild").stdout
    assert shown.startswith("10 entries from ")


def test_rebuilding_keeps_vectors(semantic_world: World, bank_text: Callable[..., str]) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 5))
    assert result_of(semantic_world, "reembed")["embedded"] == 5
    result = result_of(semantic_world, "rebuild")
    assert (result["entries"], result["pending_embedding"]) == (5, 0)


def test_rebuilding_follows_files_that_were_changed_meanwhile(used: World) -> None:
    (used.store / "anti-patterns.md").unlink()
    used.write_bank("patterns", "### Pattern: Only\nThe only one left.\n")
    lines = (used.store / "session-captures.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (used.store / "session-captures.jsonl").write_text(lines[0], encoding="utf-8")
    assert result_of(used, "rebuild")["entries"] == 3
    found = {entry[0]: entry[7] for entry in everything(used).values()}
    assert found == {"Only": 1, "Captured": 1, "Zebra": 1}


def test_a_file_that_is_no_database_is_put_aside_and_everything_of_files_comes_back(used: World) -> None:
    before = everything(used)
    database = used.store / "memory.db"
    database.write_bytes(b"no database " * 999)
    assert used.run("search", "zebra").returncode == 1
    done = used.run("rebuild", **BY_WORDS)
    assert done.returncode == 0
    aside = [path for path in used.store.iterdir() if path.name.startswith("memory.db.damaged-")]
    assert [path.read_bytes() for path in aside] == [b"no database " * 999]
    assert str(aside[0]) in done.stdout
    counts = {id: entry[7] for id, entry in everything(used).items()}
    # Nothing tells any more where the other project's bank was; it is read again when somebody works there.
    assert counts == {id: entry[7] for id, entry in before.items() if entry[0] != "Zebra"}
    there = used.run("search", "zebra", cwd=used.home / "billing", **BY_WORDS)
    assert "Zebra" in there.stdout


def test_usage_and_receipts_are_rescued_from_a_database_that_is_damaged_in_part(used: World) -> None:
    before, given = everything(used), receipts(used)
    damage(used.store / "memory.db", "entries")
    result = result_of(used, "rebuild", **BY_WORDS)
    assert Path(result["set_aside"]).exists()
    assert result["rescued"] > 0
    after = everything(used)
    assert set(after) >= {id for id, entry in before.items() if entry[0] != "Zebra"}
    assert {id: after[id][11:] for id in after} == {id: before[id][11:] for id in after}
    assert receipts(used) == given
    healthy = sqlite3.connect(used.store / "memory.db")
    assert healthy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    healthy.close()


def damage(path: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = database.execute("PRAGMA page_size").fetchone()
    database.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
