"""Processes that store at once lose nothing and make no twins, and a folder that cannot be written is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import IMPORT_ALL, NOBODY, PATIENCE, SOURCE, Start, World, heard, tell

from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.files.memory.index_md import index_entry, index_text
from recollect.files.memory.memories import scan
from recollect.files.memory.schemas import problems_of
from recollect.store.open import open_store
from recollect.store.values import Scope

PROCESSES = 4
EACH = 5

WORKER = """
import json, sys
sys.path[:0] = [sys.argv[1]]
from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace

folder, store, worker = sys.argv[2:5]
variables = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}
with Engine(Workspace(folder, store, load_settings(folder, variables))) as engine:
    print("ready", flush=True)
    sys.stdin.readline()
    def store_one(category, name, description, reasoning="It saves time."):
        done = memorize(engine, name=name, description=description, reasoning=reasoning, category=category
        )
        print(json.dumps([name, done.outcome, done.path]), flush=True)
    for number in range(int(sys.argv[5])):
        store_one("decision", "The same for all", "Everything is kept in one file.")
        store_one("runbook", "Grown by all", "Drain the queue.", f"Reason {worker}-{number}.")
        store_one("tech_debt", f"Debt {number} of {worker}", f"Number {number} of {worker} is old.")
        store_one("patterns", "Read first", "Read a file before it is changed.")
print("done", flush=True)
"""


def test_processes_that_store_at_once_make_no_twins_and_lose_nothing(world: World, start: Start) -> None:
    arguments = (SOURCE, str(world.project), str(world.store))
    workers = [start(WORKER, *arguments, str(number), str(EACH)) for number in range(PROCESSES)]
    assert [heard(worker) for worker in workers] == ["ready"] * PROCESSES
    for worker in workers:
        tell(worker)
    told: list[tuple[str, str, str]] = []
    for worker in workers:
        out, errors = worker.communicate(timeout=PATIENCE)
        *lines, last = out.splitlines()
        assert (last, errors) == ("done", "")
        told += [tuple(json.loads(line)) for line in lines]
    outcomes = Counter((name, outcome) for name, outcome, _ in told)
    stored = {name: count for (name, outcome), count in outcomes.items() if outcome == "stored"}
    own = [f"Debt {number} of {worker}" for worker in range(PROCESSES) for number in range(EACH)]
    # Those who store a lesson at the same moment may each be told that it is new; it is one, and counted below.
    assert 1 <= stored.pop("Read first") <= PROCESSES
    assert stored == dict.fromkeys(["The same for all", "Grown by all", *own], 1)
    assert outcomes["The same for all", "reinforced"] == PROCESSES * EACH - 1
    assert outcomes["Grown by all", "updated"] == PROCESSES * EACH - 1

    settings = load_settings(str(world.project), {})
    root = memory_root(str(world.project), settings)
    problems: list[str] = []
    memories = scan(root, problems)
    assert problems == []
    assert sorted(memory.title for memory in memories) == sorted(["The same for all", "Grown by all", *own])
    assert all(problems_of(memory.record, memory.category) == [] for memory in memories)
    [grown] = [memory for memory in memories if memory.title == "Grown by all"]
    reasons = [f"Reason {worker}-{number}." for worker in range(PROCESSES) for number in range(EACH)]
    assert sorted(grown.content["root_cause"].split("\n\n")) == sorted(reasons)
    index = Path(root.index).read_text(encoding="utf-8")
    assert index == index_text([index_entry(root, memory) for memory in memories])
    with open_store(str(world.store)) as store:
        entries, total = store.page(Scope(None), 100)
        assert total == len(memories) + 1
        [lesson] = [entry for entry in entries if entry.category == "patterns"]
        assert lesson.observation_count == PROCESSES * EACH


WITHOUT_RIGHTS = f"""
import json, os, sys
sys.path.insert(0, sys.argv[1])
{IMPORT_ALL}
from recollect.errors import RecollectError
from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid({NOBODY})
    os.seteuid({NOBODY})
folder, store = sys.argv[2:4]
variables = {{"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}}
with Engine(Workspace(folder, store, load_settings(folder, variables))) as engine:
    for category in ("decision", "patterns"):
        try:
            done = memorize(engine, name="A name", description="A text.", reasoning="Why.", category=category)
            print(json.dumps([category, done.outcome, ""]))
        except RecollectError as error:
            print(json.dumps([category, type(error).__name__, str(error)]))
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that everybody can reach, with a project and a store of a user without rights."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-"))
    folder.chmod(0o755)
    for name in ("shop-front", "store"):
        (folder / name).mkdir()
        if os.geteuid() == 0:
            os.chown(folder / name, NOBODY, NOBODY)
    yield folder
    (folder / "shop-front").chmod(0o755)
    shutil.rmtree(folder)


def test_project_that_cannot_be_written_is_told_and_knowledge_is_stored(base: Path) -> None:
    (base / "shop-front").chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_RIGHTS, SOURCE, str(base / "shop-front"), str(base / "store")],
        env={"PATH": os.environ["PATH"], "HOME": str(base / "store"), "LANG": "C.UTF-8"},
        cwd=base,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    (category, kind, message), knowledge = (json.loads(line) for line in done.stdout.splitlines())
    assert (category, kind) == ("decision", "StorageError")
    assert "shop-front" in message
    assert knowledge == ["patterns", "stored", ""]
    assert list((base / "shop-front").iterdir()) == []


ONE_CONNECTION = """
import sys
sys.path.insert(0, sys.argv[1])
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize
from recollect.memories.forget import forget
folder, store = sys.argv[2:4]
opened = []
sys.addaudithook(lambda event, told: opened.append(told[0]) if event == "sqlite3.connect" else None)
variables = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}
with Engine(Workspace(folder, store, load_settings(folder, variables))) as engine:
    said = {"description": "Keep carts in SQLite.", "reasoning": "There is no server to run."}
    done = memorize(engine, name="Carts in SQLite", category="decision", **said)
    forget(engine, done.id)
print(len(opened))
"""


def test_a_memory_is_stored_and_retired_over_one_connection(world: World) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONE_CONNECTION, SOURCE, str(world.project), str(world.store)],
        capture_output=True,
        encoding="utf-8",
        env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
        check=True,
    )
    assert done.stdout.strip() == "1"


MODEL = """
import sys
sys.path.insert(0, sys.argv[1])
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize
folder, store, *references = sys.argv[2:]
with Engine(Workspace(folder, store, load_settings(folder, {"RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}))) as engine:
    for name in ("Carts in SQLite", "Carts in SQLite files"):
        said = {"description": f"{name} need no server.", "reasoning": "There is no server to run."}
        done = memorize(engine, name=name, category="decision", references=references, **said)
print(done.outcome, len(done.similar), "onnxruntime" in sys.modules)
"""


def test_model_is_not_loaded_to_find_similar_memories(world: World) -> None:
    """It is loaded to embed a new text, and then used. A change without a new text does without it."""
    (world.project / "cart.py").touch()

    def stored(*references: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", MODEL, SOURCE, str(world.project), str(world.store), *references],
            capture_output=True,
            encoding="utf-8",
            env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
            check=True,
        ).stdout.strip()

    assert stored() == "stored 1 True"
    assert stored("cart.py") == "updated 1 False"


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize
folder, store, kill = sys.argv[2:]
variables = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}

def watch(event, told):  # the process dies when the old memory is about to be retired
    if event == "os.rename" and kill and str(told[1]).endswith("carts-in-sqlite.json"):
        os._exit(9)

with Engine(Workspace(folder, store, load_settings(folder, variables))) as engine:
    def store_one(name, **more):
        said = {"description": f"{name}, for all shops.", "reasoning": "Two shops share them."}
        return memorize(engine, name=name, category="decision", **said, **more)
    if not os.path.exists(os.path.join(folder, ".claude")):
        store_one("Carts in SQLite")
    sys.addaudithook(watch)
    done = store_one("Carts in PostgreSQL", supersedes="carts-in-sqlite")
print(done.outcome, done.superseded.name if done.superseded else None)
"""


def test_process_killed_between_storing_and_retiring_leaves_both_and_the_same_call_finishes(world: World) -> None:
    def run(kill: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", KILLED, SOURCE, str(world.project), str(world.store), kill],
            capture_output=True,
            encoding="utf-8",
            env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
            check=False,
        )

    def states() -> dict[str, str]:
        root = memory_root(str(world.project), load_settings(str(world.project), {}))
        return {memory.slug: memory.status for memory in scan(root, [])}

    assert run("kill").returncode == 9
    assert states() == {"carts-in-sqlite": "active", "carts-in-postgresql": "active"}
    done = run("")
    assert (done.stdout, done.stderr) == ("reinforced Carts in SQLite\n", "")
    assert states() == {"carts-in-sqlite": "retired", "carts-in-postgresql": "active"}
