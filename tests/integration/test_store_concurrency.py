"""Several processes remember things at once: nothing is lost or counted twice, and the store equals the journal."""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import recollect
from recollect.config.locations import journal
from recollect.domain.hashing import content_hash
from recollect.files.journal.log import read_lines
from recollect.store.open import database_name, open_store
from recollect.store.values import Scope

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
PROCESSES = 8

# Waits for a line, so that all workers begin together; tells what was found wrong with the store.
WORKER = """
import json, os, sys
sys.path[:0] = json.loads(sys.argv[1])
from recollect.files.locks import locked
from recollect.api import Engine
from recollect.sync.entry_input import parse_entry_input
from recollect.api import remember
from recollect.config.settings import load_settings
import recollect.engine.label, recollect.keywords.registry

locked.__wrapped__.__defaults__ = (120.0,)  # a disk that stalls must not decide who gets a turn
root, store, texts = sys.argv[2], sys.argv[3], json.loads(sys.stdin.readline())
entries = [parse_entry_input(text) for text in texts]
settings = load_settings(root)
print("ready", flush=True)
sys.stdin.readline()
with Engine(store, settings, patience=60.0) as engine:
    for entry in entries:
        result = remember(engine, root, entry)
        assert result.entry.id == entry.content_hash
        wrong = [warning for warning in result.warnings if "await a vector" not in warning]
        assert not wrong, wrong
    print(json.dumps(engine.store.findings), flush=True)
"""


def start(world, texts, **variables):
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", WORKER, json.dumps([SOURCE, *sys.path]), str(world.project), str(world.store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "LANG": "C.UTF-8", **variables},
        bufsize=0,
    )
    process.stdin.write(json.dumps(texts).encode() + b"\n")
    return process


def run_together(world, batches, **variables):
    open_store(str(world.store)).close()  # how several make it at once: tests/unit/store
    workers = [start(world, texts, **variables) for texts in batches]
    for worker in workers:
        assert os.read(worker.stdout.fileno(), 100) == b"ready\n", worker.communicate()[1]
    for worker in workers:
        worker.stdin.write(b"go\n")
    answers = [worker.communicate() for worker in workers]
    assert [errors.decode() for _, errors in answers] == [""] * len(workers)
    assert [json.loads(answer) for answer, _ in answers] == [[]] * len(workers)


def text(description):
    return {
        "name": description[:40],
        "description": description,
        "category": "patterns",
        "keywords": ["one-label"],
        "confidence": "high",
    }


def counts(store):
    return {each.id: each.observation_count for each in store.standings(Scope(None))}


def check_equal_to_journal(folder: Path, expected: Counter[str]) -> None:
    """The journal has a line for each upsert, the store the same counts, and SQLite finds nothing wrong."""
    captures = read_lines(journal(str(folder)), 0)
    assert captures.problems == []
    assert Counter(line["description"] for line in captures.lines) == expected
    with open_store(str(folder)) as store:
        assert store.findings == []
        assert counts(store) == {content_hash(description): times for description, times in expected.items()}
        assert len(store.text_matches(["lesson"], Scope(None), 10_000)) == len(expected)
        assert store.check() == []
    connection = sqlite3.connect(database_name(str(folder)))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("each", [200, pytest.param(500, marks=pytest.mark.attack)])
def test_eight_processes_remember_hundreds_of_things_and_none_is_lost(world, each):
    batches = [
        # Every other text is one that all processes remember, the rest are their own.
        [f"A lesson of {process}, number {n}." if n % 2 else f"A lesson of all, number {n % 100}." for n in range(each)]
        for process in range(PROCESSES)
    ]
    run_together(
        world,
        [[text(description) for description in batch] for batch in batches],
        RECOLLECT_MEMORY_EMBEDDING_ENABLED="false",
    )
    expected = Counter(description for batch in batches for description in batch)
    assert expected.total() == PROCESSES * each
    check_equal_to_journal(world.store, expected)


def test_processes_that_embed_give_every_entry_a_vector_of_its_own_text(world):
    pytest.importorskip("onnxruntime")
    batches = [[f"A lesson of {process} about number {n}." for n in range(6)] for process in range(3)]
    run_together(world, [[text(description) for description in batch] for batch in batches])
    check_equal_to_journal(world.store, Counter(description for batch in batches for description in batch))
    with open_store(str(world.store)) as store:
        coverage = store.coverage()
        assert (coverage.entries, coverage.pending, coverage.skipped) == (18, 0, 0)


def test_processes_that_all_find_a_new_bank_count_its_observations_once(world):
    world.write_bank("patterns", "### Pattern: Local\nA lesson of the bank.\n- Observation count: 3\n")
    batches = [[f"A lesson of {process}, number {n}." for n in range(20)] for process in range(4)]
    run_together(
        world,
        [[text(description) for description in batch] for batch in batches],
        RECOLLECT_MEMORY_EMBEDDING_ENABLED="false",
    )
    with open_store(str(world.store)) as store:
        assert counts(store)[content_hash("A lesson of the bank.")] == 3
        assert len(counts(store)) == 81
