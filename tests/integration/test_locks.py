"""Locks between real processes. They talk by pipes: a line says that a step is done, so nothing has to wait by time."""

import os
import signal
from pathlib import Path

import pytest
from tests.conftest import PATIENCE, Start, heard, tell

from recollect.errors import LockTimeout, StorageError
from recollect.files.locks import locked

HOLD = """
import sys
from recollect.files.locks import locked
with locked(sys.argv[1], 60):
    print("held", flush=True)
    sys.stdin.readline()
print("released", flush=True)
"""

# Each turn would fail if two processes were inside at once: the marker may exist once, and counting takes two steps.
COUNT = """
import os, sys
from recollect.files.locks import locked
lock, counter, marker, turns = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(turns):
    with locked(lock, 300):
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        with open(counter, encoding="utf-8") as file:
            number = int(file.read())
        with open(counter, "w", encoding="utf-8") as file:
            file.write(str(number + 1))
        os.unlink(marker)
"""


def test_a_lock_lets_one_process_in_at_a_time(tmp_path: Path, start: Start) -> None:
    lock, counter, marker = (str(tmp_path / name) for name in ("lock", "counter", "marker"))
    Path(counter).write_text("0", encoding="utf-8")
    processes = [start(COUNT, lock, counter, marker, "50") for _ in range(6)]
    assert [heard(process) for process in processes] == ["ready"] * 6
    for process in processes:
        tell(process)
    assert [(process.communicate(timeout=PATIENCE)[1], process.returncode) for process in processes] == [("", 0)] * 6
    assert Path(counter).read_text(encoding="utf-8") == "300"


def test_a_lock_that_another_process_holds_times_out_and_says_which(tmp_path: Path, start: Start) -> None:
    path = str(tmp_path / "lock")
    holder = start(HOLD, path)
    assert heard(holder) == "held"
    with pytest.raises(LockTimeout) as caught, locked(path, 0):
        pytest.fail("two processes hold the lock")
    assert path in str(caught.value)
    assert "try again" in str(caught.value)


def test_a_lock_is_free_when_its_holder_is_done(tmp_path: Path, start: Start) -> None:
    path = str(tmp_path / "lock")
    holder = start(HOLD, path)
    assert heard(holder) == "held"
    tell(holder)
    assert heard(holder) == "released"
    with locked(path, 0):
        pass


def test_a_waiting_process_gets_the_lock_when_its_holder_is_done(tmp_path: Path, start: Start) -> None:
    path = str(tmp_path / "lock")
    first = start(HOLD, path)
    assert heard(first) == "held"
    second = start(HOLD, path)
    tell(first)
    assert heard(first) == "released"
    assert heard(second) == "held"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_lock_is_free_when_its_holder_was_killed(tmp_path: Path, start: Start) -> None:
    path = str(tmp_path / "lock")
    holder = start(HOLD, path)
    assert heard(holder) == "held"
    os.kill(holder.pid, signal.SIGKILL)
    assert holder.wait(timeout=PATIENCE) == -signal.SIGKILL
    with locked(path, 0):
        pass


def test_a_lock_excludes_its_own_process_too(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with locked(path, 0):
        with pytest.raises(LockTimeout), locked(path, 0):
            pytest.fail("held twice")
        with locked(str(tmp_path / "another"), 0):
            pass


def test_a_lock_is_free_after_an_error_under_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with pytest.raises(KeyError), locked(path, 0):
        raise KeyError
    with locked(path, 0):
        pass


def test_a_lock_file_is_made_with_its_folders_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "lock"
    with locked(str(path), 0):
        assert path.exists()
    assert path.exists()


def test_a_lock_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = str(tmp_path / "file" / "lock")
    with pytest.raises(StorageError, match=r"^cannot ") as caught, locked(path, 0):
        pytest.fail("no lock, but inside")
    assert path in str(caught.value)
