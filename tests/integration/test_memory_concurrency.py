"""Eight processes write, retire and rebuild in one memory root: nothing is lost, torn or left out of the index."""

import json
import os
import subprocess
import sys

import pytest
from tests.conftest import PATIENCE

import recollect
from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.files.memory.index_md import index_entry, index_text
from recollect.files.memory.lock import FOLDER
from recollect.files.memory.memories import scan
from recollect.files.memory.schemas import problems_of
from recollect.store.open import open_store
from recollect.store.values import Scope

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
PROCESSES = 8

# Does one thing after the other, and says each that was done. A change of the memory that all share is based on what
# was read, and tried again when somebody was faster.
WORKER = """
import json, random, sys
sys.path[:0] = json.loads(sys.argv[1])
from recollect.errors import WriteRefused
from recollect.files.memory.index_md import rebuild_index
from recollect.files.memory.memories import read_memory
from recollect.files.memory.lock import memories_locked
from recollect.memories import write
from recollect.api import finish
from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings

memories_locked.__wrapped__.__defaults__ = (120.0,)  # a disk that stalls must not decide who gets a turn
folder, store, worker, count = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
settings = load_settings(folder)
root = memory_root(folder, settings)
chance = random.Random(worker)
print("ready", flush=True)
sys.stdin.readline()

def content(text):
    return {"status": "open", "priority": "low", "description": text, "reason_deferred": "time"}

def said(kind, written):
    finish(root, settings, folder, store, written.paths, message=written.message)
    print(json.dumps([kind, written.target]), flush=True)

own = []
for number in range(count):
    kind = chance.choice(["create", "create", "share", "share", "retire", "rebuild"])
    if kind == "create" or (kind == "retire" and not own):
        path = root.file("tech_debt", f"debt-{worker}-{number}")
        record = {"title": f"Debt {number} of {worker}", "tags": ["debt"], "content": content(f"debt {number}")}
        said("create", write.create(root, settings, path, "tech_debt", record))
        own.append(path)
    elif kind == "share":
        path = root.file("decision", "shared")
        while True:
            memory = read_memory(path, "decision")
            record = json.loads(json.dumps(memory.record))
            record["content"]["context"] = f"{worker} {number}"
            try:
                written = write.update(root, settings, path, "decision", record, expected=memory.hash)
            except WriteRefused as refusal:
                assert refusal.kind == "OCC_CONFLICT", refusal
                continue
            break
        said("share", written)
    elif kind == "retire":
        said("retire", write.retire(root, own.pop(), "tech_debt", "paid"))
    else:
        with memories_locked(root.path):
            rebuild_index(root, [])
        print(json.dumps(["rebuild", ""]), flush=True)
"""


@pytest.mark.parametrize("each", [30, pytest.param(125, marks=pytest.mark.attack)])
def test_operations_of_eight_processes_lose_nothing(world, each):
    config = world.project / ".claude" / "memory" / "memory-config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"max_memories_per_category": 10000}', encoding="utf-8")
    shared = {
        "title": "Shared",
        "tags": ["all"],
        "content": {"status": "accepted", "context": "none", "decision": "d", "rationale": ["r"]},
    }
    made = world.run(
        *("write", "--action", "create", "--category", "decision", "--input", "-"), stdin=json.dumps(shared)
    )
    assert made.returncode == 0, made.stderr

    workers = [_start(world, number, each) for number in range(PROCESSES)]
    for worker in workers:
        assert worker.stdout.readline() == b"ready\n"
    for worker in workers:
        worker.stdin.write(b"go\n")
    results = [worker.communicate(timeout=PATIENCE) for worker in workers]
    assert [(worker.returncode, errors) for worker, (_, errors) in zip(workers, results, strict=True)] == [
        (0, b"")
    ] * PROCESSES

    done = [tuple(json.loads(line)) for output, _ in results for line in output.splitlines()]
    assert len(done) == PROCESSES * each
    problems = []
    root = memory_root(str(world.project), load_settings(str(world.project), {}))
    memories = {root.shown(memory.path): memory for memory in scan(root, problems)}
    assert problems == []
    assert [path for path, memory in memories.items() if problems_of(memory.record, memory.category)] == []

    created = {target for kind, target in done if kind == "create"}
    retired = {target for kind, target in done if kind == "retire"}
    assert set(memories) == created | {".claude/memory/decisions/shared.json"}
    assert {path for path, memory in memories.items() if memory.status == "retired"} == retired
    updates = sum(kind == "share" for kind, _ in done)
    assert memories[".claude/memory/decisions/shared.json"].record["times_updated"] == updates

    active = [memory for memory in memories.values() if memory.status == "active"]
    with open(root.index, encoding="utf-8") as file:
        assert file.read() == index_text([index_entry(root, memory) for memory in active])
    assert FOLDER not in os.listdir(root.path)
    assert not [name for _, _, names in os.walk(root.path) for name in names if name.endswith(".tmp")]
    with open_store(str(world.store)) as store:
        assert len(store.standings(Scope(None))) == len(active)


def _start(world, number, each):
    return subprocess.Popen(
        [
            *(sys.executable, "-I", "-c", WORKER, json.dumps([SOURCE, *sys.path])),
            *(str(world.project), str(world.store), str(number), str(each)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "LANG": "C.UTF-8"},
        bufsize=0,
    )
