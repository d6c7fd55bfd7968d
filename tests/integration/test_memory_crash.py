"""Writers of memories that are killed at every step: each file is the old or the new one, and the next writer works."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

import recollect
from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.files.memory.index_md import index_entry, index_text
from recollect.files.memory.lock import FOLDER
from recollect.files.memory.memories import scan
from recollect.files.memory.schemas import problems_of
from recollect.memories import write

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))

# Reads a folder and a number from each line, and writes there in a child that kills itself at its n-th file operation.
WRITER = """
import json, os, signal, sys
sys.path[:0] = json.loads(sys.argv[1])
from recollect.memories import write
from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
import recollect.domain.ranking.terms

name, arguments = sys.argv[2], json.loads(sys.argv[3])

def work(folder, left):
    settings = load_settings(folder)
    root = memory_root(folder, settings)
    def count(event, _):
        nonlocal left
        if event == "open" or event.startswith(("os.", "fcntl.")):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    action = getattr(write, name)
    sys.addaudithook(count)
    if name in ("create", "update"):
        action(root, settings, root.file(*arguments[:2]), arguments[0], arguments[2])
    else:
        action(root, root.file(*arguments[:2]), arguments[0])
    left = -1

for line in sys.stdin:
    folder, left = json.loads(line)
    child = os.fork()
    if not child:
        work(folder, left)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

DEBT = {"status": "open", "priority": "low", "description": "d", "reason_deferred": "time"}
OLD = {"title": "Slow start of the worker", "tags": ["a"], "content": DEBT}
OTHER = {"title": "Another debt", "tags": ["b"], "content": DEBT}
RENAMED = {"title": "Quick end of all tests", "tags": ["a"], "content": {**DEBT, "description": "other"}}
EDITED = {"title": "Slow start of the worker", "tags": ["a", "c"], "content": {**DEBT, "description": "other"}}


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("create", ["tech_debt", "new", OTHER]),
        ("update", ["tech_debt", "old", EDITED]),
        ("update", ["tech_debt", "old", RENAMED]),
        ("retire", ["tech_debt", "old"]),
    ],
    ids=["create", "update", "rename", "retire"],
)
def test_a_kill_at_any_step_leaves_the_old_or_the_new_version(world, writer, action, arguments):
    settings = load_settings(str(world.project), {})
    running = writer(action, arguments)
    for step in range(1, 200):
        folder = world.project / f"{action}-{step}"
        (folder / ".git").mkdir(parents=True)
        root = memory_root(str(folder), settings)
        write.create(root, settings, root.file("tech_debt", "old"), "tech_debt", OLD)
        before = _records(root)

        finished = _run(running, folder, step)

        after = _records(root)
        assert len(after) in (len(before), len(before) + (action == "create"))
        for slug, record in after.items():
            assert problems_of(record, "tech_debt") == []
            old = before.get(slug) or before["old"]
            new = arguments[2]["content"] if len(arguments) == 3 else old["content"]
            assert record["content"] in (old["content"], new)
        assert finished <= (after != before)

        # The next one is not kept waiting by a lock of the dead, and puts the index right.
        write.create(root, settings, root.file("tech_debt", "next"), "tech_debt", {**OTHER, "title": "Next"})
        active = [memory for memory in scan(root, []) if memory.status == "active"]
        with open(root.index, encoding="utf-8") as file:
            assert file.read() == index_text([index_entry(root, memory) for memory in active])
        assert FOLDER not in os.listdir(root.path)
        if finished:
            break
    assert finished
    assert step > 10


def _records(root):
    problems = []
    found = {memory.slug: memory.record for memory in scan(root, problems)}
    assert problems == []
    return found


@pytest.fixture
def writer(tmp_path):
    """Start a process that writes, and end it."""
    with ExitStack() as started:

        def start(action, arguments):
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", WRITER, json.dumps([SOURCE, *sys.path]), action, json.dumps(arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"},
                encoding="utf-8",
            )
            return started.enter_context(process)

        yield start


def _run(process, folder, step):
    """Whether the writer came to its end."""
    print(json.dumps([str(folder), step]), file=process.stdin, flush=True)
    code = int(process.stdout.readline())
    assert code in (0, -signal.SIGKILL)
    return code == 0
