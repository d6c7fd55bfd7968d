"""Promotions from several processes at once, and promotions that are killed: nothing lost, nothing torn."""

import json
import os
import random
import select
import signal
import subprocess
import sys
from collections import Counter

import pytest
from tests import forks

import recollect
from recollect.api import promote
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.hashing import content_hash
from recollect.files.bank.bank import BankFile, read_bank
from recollect.files.locks import locked
from recollect.promote.candidates import from_json

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
PROCESSES = 8
each_worker = pytest.mark.parametrize("each", [50, pytest.param(200, marks=pytest.mark.attack)])

# Waits for a line, so that all workers begin together; says each promotion that has returned. Ends with its input.
WORKER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from recollect.files.locks import locked
from recollect.promote.candidates import from_json
from recollect.api import promote

locked.__wrapped__.__defaults__ = (120.0,)  # a disk that stalls must not decide who gets a turn
root, store, texts = sys.argv[2], sys.argv[3], json.loads(sys.stdin.readline())
candidates = [from_json(json.dumps(entry)) for entry in texts]
print("ready", flush=True)
sys.stdin.readline()
for number, candidate in enumerate(candidates):
    result = promote(root, store, candidate, judgement="universal")
    assert result.promoted == 1 and not result.warnings, result.warnings
    print(number, flush=True)
sys.stdin.readline()
"""

# Promotes what it is told to, each time in a fork that kills itself at its n-th file operation from the start of the
# promotion on; says how the fork has ended.
SUICIDES = """
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
from recollect.promote.candidates import from_json
from recollect.api import promote

def count(event, arguments):
    global left
    if event == "open" or event.startswith(("os.", "fcntl.")):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

root, store = sys.argv[2:]
for line in sys.stdin:
    left, entry = json.loads(line)
    number = os.fork()
    if number:
        print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)
        continue
    candidates = from_json(json.dumps(entry))
    sys.addaudithook(count)
    promote(root, store, candidates, judgement="universal")
    break
"""


def start_code(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-I", "-W", "error", "-c", code, SOURCE, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def start(world, texts):
    process = start_code(WORKER, str(world.project), str(world.store))
    process.stdin.write(json.dumps(texts).encode() + b"\n")
    return process


def release(workers):
    """Let the workers begin once all are ready."""
    for worker in workers:
        assert os.read(worker.stdout.fileno(), 100) == b"ready\n"
    for worker in workers:
        worker.stdin.write(b"go\n")


def run_together(world, batches):
    workers = [start(world, texts) for texts in batches]
    release(workers)
    errors = [worker.communicate()[1].decode().strip().rpartition("\n")[2] for worker in workers]
    assert errors == [""] * len(workers)
    assert [worker.returncode for worker in workers] == [0] * len(workers)


def text(name, description, category="patterns"):
    return {"name": name, "description": description, "category": category}


def texts_of(store):
    """The files as they are at this moment."""
    found = {}
    for category in KNOWLEDGE:
        path = store / f"{category}.md"
        found[category] = path.read_bytes().decode() if path.exists() else ""
    return found


def check_whole(store):
    """Each file is one that a promotion wrote: a header, and whole entries with the right hash. Returns the entries."""
    found = []
    for category, content in texts_of(store).items():
        if not content:
            continue
        assert content.startswith("# Global ")
        assert content.endswith("\n")
        for entry in BankFile(content, category, "global").entries:
            assert entry.metadata("content hash") == f"sha256:{content_hash(entry.description)}"
            assert [part.key for part in entry.parts[1:]] == [
                "content hash",
                "source",
                "observation count",
                "last observed",
                "tags",
                "confidence",
            ]
            found.append(entry)
    ledger = store / ".promoted.json"
    if ledger.exists():
        json.loads(ledger.read_text(encoding="utf-8"))
    return found


@each_worker
def test_eight_processes_promoting_the_same_text_count_every_promotion(world, each):
    same = text("Read First", "Read the file before you write.")
    run_together(world, [[same] * each] * PROCESSES)
    [entry] = check_whole(world.store)
    assert entry.observation_count == PROCESSES * each
    assert entry.metadata("source") == "shop-front"
    assert [name for name in os.listdir(world.store) if name.endswith(".tmp")] == []


@each_worker
def test_eight_processes_promoting_different_texts_lose_none(world, each):
    batches = [
        [
            text(f"Lesson {worker}-{n}", f"Worker {worker} learned\nlesson number {n}.", KNOWLEDGE[n % 3])
            for n in range(each)
        ]
        for worker in range(PROCESSES)
    ]
    run_together(world, batches)
    found = check_whole(world.store)
    wanted = {entry["name"]: (entry["description"], entry["category"]) for batch in batches for entry in batch}
    assert {entry.name: (entry.description, entry.category) for entry in found} == wanted
    assert len(found) == PROCESSES * each
    assert {entry.observation_count for entry in found} == {1}
    ledger = json.loads((world.store / ".promoted.json").read_text(encoding="utf-8"))
    [seen] = ledger.values()
    assert len(seen) == PROCESSES * each
    assert [name for name in os.listdir(world.store) if name.endswith(".tmp")] == []


def test_two_commands_that_promote_all_new_entries_at_once_count_each_once(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 10))
    environment = {"PATH": os.environ["PATH"], "HOME": str(world.home), "RECOLLECT_HOME": str(world.store)}
    runs = [forks.Fork(["promote"], cwd=world.project, env=environment, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [run.wait() for run in runs] == [0, 0, 0, 0]
    assert Counter(entry.observation_count for entry in check_whole(world.store)) == {1: 10}


@pytest.mark.slow
def test_promotion_killed_at_any_file_operation_leaves_each_file_old_or_new(world):
    old = text("Old", "An old lesson.")
    promote(str(world.project), str(world.store), from_json(json.dumps(old)), judgement="universal")
    before = texts_of(world.store)["patterns"]
    kills = 0
    outcomes = set()
    forking = start_code(SUICIDES, str(world.project), str(world.store))
    for operation in range(1, 200):
        (world.store / "patterns.md").write_bytes(before.encode())
        entry = text("New", f"A new lesson, number {operation}.")
        forking.stdin.write(json.dumps([operation, entry]).encode() + b"\n")
        ended = int(forking.stdout.readline())
        names = [found.name for found in check_whole(world.store)]
        assert names in (["Old"], ["Old", "New"])
        assert names == ["Old", "New"] or texts_of(world.store)["patterns"] == before
        with locked(str(world.store / ".lock"), seconds=0):
            pass
        outcomes.add((ended, len(names)))
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        kills += 1
    assert forking.communicate() == (b"", b"")
    assert kills >= 10
    assert outcomes == {(-signal.SIGKILL, 1), (-signal.SIGKILL, 2), (0, 2)}


@pytest.mark.parametrize("seed", range(3))
def test_processes_killed_at_random_points_lose_no_promotion_that_was_acknowledged(world, seed):
    dice = random.Random(seed)
    shared = text("Shared", "What everybody learned.", "heuristics")
    at_least = at_most = 0
    for group in range(4):
        own = [[text(f"{group}-{m}-{n}", f"Lesson {group} {m} {n}.") for n in range(60)] for m in range(2)]
        workers = [start(world, [item for lesson in lessons for item in (lesson, shared)]) for lessons in own]
        release(workers)
        said = kill_one_by_one(world, workers, 2 * len(own[0]), dice)
        names = {entry.name for entry in check_whole(world.store)}
        for lessons, lines in zip(own, said, strict=True):
            kept = [lesson["name"] in names for lesson in lessons]
            acknowledged = (lines + 1) // 2
            assert kept[:acknowledged] == [True] * acknowledged
            assert not any(kept[acknowledged + 1 :])
            at_least += lines // 2
            at_most += lines // 2 + 1
        with locked(str(world.store / ".lock"), seconds=0):
            pass
    [entry] = [entry for entry in check_whole(world.store) if entry.name == "Shared"]
    assert at_least <= entry.observation_count <= at_most


def kill_one_by_one(world, workers, each, dice):
    """Kill workers after some of their lines, looking at the store all the while. How many of `each` they have said."""
    output = dict.fromkeys(workers, b"")
    alive = list(workers)
    while alive:
        for _ in range(dice.randrange(1, 14)):
            busy = [worker.stdout for worker in alive if output[worker].count(b"\n") < each]
            for ready in select.select(busy, [], [])[0] if busy else ():
                worker = next(worker for worker in alive if worker.stdout is ready)
                output[worker] += os.read(ready.fileno(), 100)
            check_whole(world.store)
        for _ in range(dice.randrange(50_000)):
            pass
        victim = alive.pop(dice.randrange(len(alive)))
        victim.kill()
        rest, errors = victim.communicate()
        assert (victim.returncode, errors) == (-signal.SIGKILL, b"")
        output[victim] += rest
        check_whole(world.store)
    return [said.count(b"\n") for said in output.values()]


def test_store_can_be_promoted_to_after_its_holder_was_killed(world):
    lock = str(world.store / ".lock")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-c",
            "import sys; sys.path.insert(0, sys.argv[1])\nfrom recollect.files.locks import locked\n"
            "with locked(sys.argv[2]):\n    print('held', flush=True)\n    sys.stdin.read()",
            SOURCE,
            lock,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    result = promote(
        str(world.project), str(world.store), from_json(json.dumps(text("A", "A lesson."))), judgement="universal"
    )
    assert result.promoted == 1
    assert len(read_bank(str(world.store), "global")[0]) == 1


def test_project_s_bank_loses_nothing_when_the_stores_differ(world):
    """The lock of a store does not guard the project: its bank has one of its own."""
    lesson = [json.dumps(text(f"n{n}", f"Lesson {n}.")) for n in range(12)]
    options = ["promote", "--as", "project-specific", "--project-root", str(world.project), "--entry-json"]
    runs = [
        forks.Fork(
            [*options, entry, "--global-store", str(world.store / str(n))],
            cwd=world.home,
            env={"PATH": os.environ["PATH"], "HOME": str(world.home)},
            stdout=subprocess.DEVNULL,
        )
        for n, entry in enumerate(lesson)
    ]
    assert [run.wait() for run in runs] == [0] * 12
    assert len(read_bank(str(world.project / "docs" / "knowledge-bank"), "local")[0]) == 12
    assert os.listdir(world.project / "docs" / "knowledge-bank") == ["patterns.md"]


def test_settings_that_are_set_at_once_are_all_kept(world):
    settings = {"retrieval.max_inject": "3", "triage.max_messages": "60", "auto_commit": "true", "triage.mode": "stage"}
    command = os.path.join(os.path.dirname(sys.executable), "recollect")
    options = ["config", "--project-root", str(world.project), "set"]
    runs = [
        subprocess.Popen([command, *options, key, value], env=world.environment({}), stdout=subprocess.DEVNULL)
        for key, value in settings.items()
    ]
    assert [run.wait() for run in runs] == [0] * 4
    for key, value in settings.items():
        assert world.run("config", "get", key).stdout.strip() == value


def test_first_promotion_of_a_large_bank_grows_with_its_size_and_not_faster(world, bank_text):
    """Counted in calls, not in seconds: each of the new entries is parsed a fixed number of times."""
    counts = []
    for size in (100, 200):
        store = world.store / str(size)
        world.write_bank("patterns", bank_text("Pattern", size))
        code = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "from recollect.files.bank import bank, entry as bank_entry\n"
            "from recollect.api import candidates_of, promote\n"
            "calls = 0\n"
            "def profile(frame, event, argument):\n"
            "    global calls\n"
            "    calls += event == 'call' and frame.f_code is bank_entry.parse_entry.__code__\n"
            "candidates, _ = candidates_of(sys.argv[2], sys.argv[3])\n"
            "sys.setprofile(profile)\n"
            "assert promote(sys.argv[2], sys.argv[3], candidates, judgement='universal').promoted == len(candidates)\n"
            "sys.setprofile(None)\n"
            "print(calls)\n"
        )
        arguments = [SOURCE, str(world.project), str(store)]
        done = subprocess.run([sys.executable, "-I", "-c", code, *arguments], capture_output=True, check=True)
        counts.append(int(done.stdout))
    assert counts[1] <= 2 * counts[0] + 10
