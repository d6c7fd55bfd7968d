"""Writers that are killed: what they have acknowledged is there, once, and the next writer works."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter

import recollect
from recollect.api import rebuild
from recollect.config.locations import journal
from recollect.config.settings import load_settings
from recollect.domain.hashing import content_hash
from recollect.store.open import database_name, open_store
from recollect.store.values import Scope

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
KILLS = 20

# Remembers one thing after the other and says each that is done, until it is killed.
WRITER = """
import itertools, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from recollect.api import Engine
from recollect.sync.entry_input import parse_entry_input
from recollect.api import remember
from recollect.config.settings import load_settings

root, store, run, most = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
with Engine(store, load_settings(root)) as engine:
    for number in itertools.islice(itertools.count(), most):
        # Each third text is shared by all runs, so that old entries are counted on as well as new ones made.
        text = f"A lesson of all, number {number % 7}." if number % 3 == 0 else f"A lesson of {run}, number {number}."
        entry = {"name": text[:40], "description": text, "category": "patterns", "keywords": ["one-label"]}
        remember(engine, root, parse_entry_input(entry))
        print(text, flush=True)
    if engine.store.findings:
        print(json.dumps(engine.store.findings), file=sys.stderr)
"""

# Kills itself at its n-th file operation from the start of the work on.
SUICIDE = WRITER.replace(
    "with Engine",
    """
import os, signal
left = int(sys.argv[6])
def count(event, arguments):
    global left
    if event == "open" or event.startswith(("os.", "fcntl.", "sqlite3.")):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
with Engine""",
)


def start(world, run, most=1_000_000, program=WRITER, *arguments, **variables):
    return subprocess.Popen(
        [
            *(sys.executable, "-I", "-c", program, json.dumps([SOURCE, *sys.path])),
            *(str(world.project), str(world.store), str(run), str(most), *map(str, arguments)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(world.home),
            "LANG": "C.UTF-8",
            "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false",
            **variables,
        },
    )


def killed_after(process, acknowledgements, spins):
    """Kill a writer some moments after it has said so many things; all that it has said."""
    said = [process.stdout.readline() for _ in range(acknowledgements)]
    for _ in range(spins):  # an arbitrary moment, without waiting for any
        os.stat("/")
    process.send_signal(signal.SIGKILL)
    # Not `communicate`, which loses the lines that were read ahead.
    with process:
        rest, errors = process.stdout.read(), process.stderr.read()
    assert errors == b""
    assert process.returncode == -signal.SIGKILL
    lines = b"".join(said) + rest
    return [line.decode() for line in lines.split(b"\n")[:-1]]


def journal_lines(world):
    """The texts of the journal's whole lines, and the lines that are torn."""
    texts, torn = [], []
    with open(journal(str(world.store)), "rb") as file:
        for line in file.read().split(b"\n"):
            try:
                texts.append(json.loads(line)["description"])
            except ValueError:
                torn.append(line)
    return texts, [line for line in torn if line]


def counts(world):
    with open_store(str(world.store)) as store:
        assert store.findings == []
        assert store.check() == []
        return {each.id: each.observation_count for each in store.standings(Scope(None))}


def check_intact(world, acknowledged):
    """Everything acknowledged is there; beside it there is at most one thing for each kill, and nothing twice."""
    connection = sqlite3.connect(database_name(str(world.store)))
    assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    connection.execute("INSERT INTO entries_fts (entries_fts, rank) VALUES ('integrity-check', 1)")
    connection.rollback()
    connection.close()
    written, torn = journal_lines(world)
    beyond = Counter(written) - acknowledged
    assert acknowledged - Counter(written) == Counter()
    assert beyond.total() + len(torn) <= KILLS
    stored = counts(world)
    for text, times in acknowledged.items():
        assert times <= stored[content_hash(text)] <= times + beyond[text]
    assert sum(stored.values()) <= len(written)


def test_twenty_kills_in_the_midst_of_writing_lose_nothing_that_was_acknowledged(world, chance):
    acknowledged = Counter()
    for run in range(KILLS):
        said = killed_after(start(world, run), chance.randrange(0, 12), chance.randrange(20_000))
        acknowledged.update(said)
        if run % 5 == 4:
            check_intact(world, acknowledged)
    last = start(world, KILLS, 10)
    said, errors = last.communicate()
    assert (last.returncode, errors) == (0, b"")
    acknowledged.update(said.decode().splitlines())
    check_intact(world, acknowledged)
    # The last writer has read whatever killed ones had left behind.
    written, _ = journal_lines(world)
    before = counts(world)
    assert before == {content_hash(text): times for text, times in Counter(written).items()}
    result = rebuild(str(world.project), str(world.store), load_settings(str(world.project), {}))
    assert (result.set_aside, result.active) == ("", len(before))
    assert counts(world) == before


def test_kill_at_any_step_of_the_first_write_leaves_a_store_that_the_next_one_can_use(world):
    """From the moment that the store does not exist yet: the folder, the schema, the index, the journal, the entry."""
    step = 1
    while True:
        process = start(world, 0, 1, SUICIDE, step)
        said, errors = process.communicate()
        assert errors == b""
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        written = journal_lines(world)[0] if os.path.exists(journal(str(world.store))) else []
        if said:
            assert written
        step += 1 if step < 12 else 4
    assert step > 12
    written, torn = journal_lines(world)
    assert torn == []
    assert counts(world) == {content_hash(written[0]): len(written)}


def test_kill_while_vectors_are_made_leaves_entries_that_await_one(world):
    process = start(world, 0, RECOLLECT_MEMORY_EMBEDDING_ENABLED="true")
    acknowledged = Counter(killed_after(process, 4, 5_000))
    again = start(world, 1, 2, RECOLLECT_MEMORY_EMBEDDING_ENABLED="true")
    said, errors = again.communicate()
    assert (again.returncode, errors) == (0, b"")
    acknowledged.update(said.decode().splitlines())
    check_intact(world, acknowledged)
    with open_store(str(world.store)) as store:
        coverage = store.coverage()
        assert (coverage.pending, coverage.skipped) == (0, 0)
