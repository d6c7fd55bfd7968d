"""The lock of a memory root, between real processes, ours and others. They talk by pipes, so nothing waits by time."""

import os
import signal
import time
from pathlib import Path

import pytest
from tests.conftest import PATIENCE, Start, heard, tell

from recollect.errors import LockTimeout, StorageError
from recollect.files.memory.lock import FOLDER, STALE_AFTER, memories_locked

HOLD = """
import sys
from recollect.files.memory.lock import memories_locked
with memories_locked(sys.argv[1], 60) as warnings:
    print("held", len(warnings), flush=True)
    sys.stdin.readline()
print("released", flush=True)
"""

# Each turn would fail if two processes were inside at once: the marker may exist once, and counting takes two steps.
COUNT = """
import os, sys
from recollect.files.memory.lock import memories_locked
root, turns = sys.argv[1], int(sys.argv[2])
counter, marker = os.path.join(root, "counter"), os.path.join(root, "marker")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(turns):
    with memories_locked(root, 300) as warnings:
        assert warnings == [], warnings
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        with open(counter, encoding="utf-8") as file:
            number = int(file.read())
        with open(counter, "w", encoding="utf-8") as file:
            file.write(str(number + 1))
        os.unlink(marker)
"""

# Another tool: it makes the folder, says so, and removes it when it is told to.
FOREIGN = """
import os, sys
os.mkdir(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
os.rmdir(sys.argv[1])
"""

# A tool that keeps something in its folder, and touches it until it is killed.
BUSY = """
import os, sys, time
os.mkdir(sys.argv[1])
open(os.path.join(sys.argv[1], "beat"), "w").close()
print("held", flush=True)
while True:
    os.utime(sys.argv[1])
    time.sleep(0.01)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    path.mkdir()
    return path


def aged(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def times_out(root: Path) -> str:
    """What is said when the lock cannot be had; fails if anything proceeds."""
    with pytest.raises(LockTimeout) as caught, memories_locked(str(root), 0.2):
        pytest.fail("proceeded without the lock")
    return str(caught.value)


def test_writers_exclude_each_other(root: Path, start: Start) -> None:
    (root / "counter").write_text("0", encoding="utf-8")
    processes = [start(COUNT, str(root), "40") for _ in range(4)]
    assert [heard(process) for process in processes] == ["ready"] * 4
    for process in processes:
        tell(process)
    assert [(process.communicate(timeout=PATIENCE)[1], process.returncode) for process in processes] == [("", 0)] * 4
    assert (root / "counter").read_text(encoding="utf-8") == "160"
    assert os.listdir(root) == ["counter"]


def test_lock_is_a_folder_that_other_tools_see_and_is_gone_afterwards(root: Path) -> None:
    with memories_locked(str(root), 0) as warnings:
        assert warnings == []
        assert (root / ".index.lockdir").is_dir()
        with pytest.raises(FileExistsError):
            os.mkdir(root / FOLDER)
    assert os.listdir(root) == []


def test_lock_is_gone_after_an_error_under_it(root: Path) -> None:
    with pytest.raises(KeyError), memories_locked(str(root), 0):
        raise KeyError
    assert os.listdir(root) == []


def test_lock_makes_a_missing_root(tmp_path: Path) -> None:
    with memories_locked(str(tmp_path / "a" / "b"), 0):
        assert (tmp_path / "a" / "b" / FOLDER).is_dir()
    assert (tmp_path / "a" / "b").is_dir()


def test_second_writer_times_out_and_the_first_keeps_its_lock(root: Path, start: Start) -> None:
    holder = start(HOLD, str(root))
    assert heard(holder) == "held 0"
    assert str(root) in times_out(root)
    assert (root / FOLDER).is_dir()
    tell(holder)
    assert heard(holder) == "released"
    assert os.listdir(root) == []


def test_waiting_writer_has_its_turn_when_the_first_is_done(root: Path, start: Start) -> None:
    first = start(HOLD, str(root))
    assert heard(first) == "held 0"
    second = start(HOLD, str(root))
    tell(first)
    assert heard(first) == "released"
    assert heard(second) == "held 0"


def test_lock_of_another_tool_times_out_and_says_what_to_do(root: Path, start: Start) -> None:
    holder = start(FOREIGN, str(root / FOLDER))
    assert heard(holder) == "held"
    said = times_out(root)
    assert str(root / FOLDER) in said
    assert "nothing was written" in said
    assert "Try again" in said
    assert (root / FOLDER).is_dir()


def test_lock_of_another_tool_is_waited_for(root: Path, start: Start) -> None:
    holder = start(FOREIGN, str(root / FOLDER))
    assert heard(holder) == "held"
    ours = start(HOLD, str(root))
    tell(holder)
    assert heard(ours) == "held 0"


def test_lock_of_another_tool_that_is_too_old_is_broken_with_a_warning(root: Path) -> None:
    (root / FOLDER).mkdir()
    aged(root / FOLDER, STALE_AFTER + 5)
    with memories_locked(str(root), 0) as warnings:
        [warning] = warnings
        assert str(root / FOLDER) in warning
        assert "stale" in warning
    assert os.listdir(root) == []


def test_lock_of_another_tool_is_kept_while_it_is_young_enough(root: Path) -> None:
    (root / FOLDER).mkdir()
    aged(root / FOLDER, STALE_AFTER - 20)
    times_out(root)
    assert (root / FOLDER).is_dir()


def test_lock_from_the_future_is_taken_once_it_was_waited_for(root: Path) -> None:
    (root / FOLDER).mkdir()
    aged(root / FOLDER, -1_000_000)
    with memories_locked(str(root), 0.1) as warnings:
        assert "had a date in the future" in warnings[0]
    assert os.listdir(root) == []


def test_lock_of_a_clock_that_is_a_little_ahead_is_respected(root: Path) -> None:
    (root / FOLDER).mkdir()
    aged(root / FOLDER, -STALE_AFTER + 20)
    times_out(root)
    assert (root / FOLDER).is_dir()


def test_lock_of_a_killed_writer_of_ours_is_taken_at_once(root: Path, start: Start) -> None:
    holder = start(HOLD, str(root))
    assert heard(holder) == "held 0"
    os.kill(holder.pid, signal.SIGKILL)
    assert holder.wait(timeout=PATIENCE) == -signal.SIGKILL
    assert (root / FOLDER).is_dir()
    with memories_locked(str(root), 0) as warnings:
        assert warnings == []
    assert os.listdir(root) == []


def test_lock_of_a_killed_writer_is_taken_by_one_writer_at_a_time(root: Path, start: Start) -> None:
    (root / "counter").write_text("0", encoding="utf-8")
    holder = start(HOLD, str(root))
    assert heard(holder) == "held 0"
    processes = [start(COUNT, str(root), "20") for _ in range(3)]
    assert [heard(process) for process in processes] == ["ready"] * 3
    for process in processes:
        tell(process)
    os.kill(holder.pid, signal.SIGKILL)
    assert [(process.communicate(timeout=PATIENCE)[1], process.returncode) for process in processes] == [("", 0)] * 3
    assert (root / "counter").read_text(encoding="utf-8") == "60"


def moved_aside(root: Path) -> Path:
    """Take the lock over what stands in its place; where that is kept."""
    with memories_locked(str(root), 0) as warnings:
        [warning] = warnings
        assert (root / FOLDER).is_dir()
        assert not (root / FOLDER).is_symlink()
    [kept] = root.iterdir()
    assert kept.name.startswith(f"{FOLDER}.stale.")
    assert str(kept) in warning
    return kept


@pytest.mark.parametrize("age", [0, STALE_AFTER + 5])
def test_folder_with_a_file_in_it_is_moved_aside_whole(root: Path, age: float) -> None:
    (root / FOLDER).mkdir()
    (root / FOLDER / "owner").write_text("4711", encoding="utf-8")
    aged(root / FOLDER, age)
    assert (moved_aside(root) / "owner").read_text(encoding="utf-8") == "4711"


def test_full_folder_that_its_tool_still_changes_is_respected(root: Path, start: Start) -> None:
    tool = start(BUSY, str(root / FOLDER))
    assert heard(tool) == "held"
    times_out(root)
    assert (root / FOLDER / "beat").exists()


@pytest.mark.parametrize("age", [0, STALE_AFTER + 5])
def test_file_in_place_of_the_lock_is_moved_aside(root: Path, age: float) -> None:
    (root / FOLDER).write_text("mine", encoding="utf-8")
    aged(root / FOLDER, age)
    assert moved_aside(root).read_text(encoding="utf-8") == "mine"


def test_what_is_moved_aside_never_replaces_what_was_before(root: Path) -> None:
    for text in ("one", "two"):
        (root / FOLDER).write_text(text, encoding="utf-8")
        with memories_locked(str(root), 0):
            pass
    assert sorted(path.read_text(encoding="utf-8") for path in root.iterdir()) == ["one", "two"]


def test_link_in_place_of_the_lock_is_moved_aside_and_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    aged(tmp_path / "elsewhere", STALE_AFTER + 5)
    (root / FOLDER).symlink_to(tmp_path / "elsewhere")
    assert moved_aside(root).is_symlink()
    assert (tmp_path / "elsewhere").is_dir()


def test_root_that_is_a_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "memory").touch()
    with pytest.raises(StorageError, match=r"^cannot lock "), memories_locked(str(tmp_path / "memory"), 0):
        pytest.fail("no lock, but inside")


def test_after_a_writer_was_cut_short_the_index_is_doubted(root: Path, start: Start) -> None:
    (root / "index.md").write_text("# Memory Index\n", encoding="utf-8")
    holder = start(HOLD, str(root))
    assert heard(holder) == "held 0"
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(timeout=PATIENCE)
    with memories_locked(str(root), 0):
        assert (root / "index.md").stat().st_mtime == 0


def test_lock_leaves_the_index_alone_otherwise(root: Path) -> None:
    (root / "index.md").write_text("# Memory Index\n", encoding="utf-8")
    before = (root / "index.md").stat().st_mtime_ns
    with memories_locked(str(root), 0):
        pass
    assert (root / "index.md").stat().st_mtime_ns == before
