from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.services.environment import prepare, unmet
from recollect.services.environment_build import build, stop_build
from recollect.services.environment_state import (
    INTERPRETER,
    LOCK,
    Outcome,
    interpreter_of,
    is_being_built,
    read_outcome,
)

HOUR = 3600.0


@pytest.fixture
def requirements(tmp_path: Path) -> str:
    path = tmp_path / "requirements.txt"
    path.write_text("# what is needed\nclick>=8.1,<9\ntyping-extensions>=4\n\n", encoding="utf-8")
    return str(path)


def packages(folder: Path, *names: str) -> str:
    for name in names:
        (folder / "packages" / f"{name}.dist-info").mkdir(parents=True)
    return str(folder / "packages")


@pytest.mark.parametrize("version", ["8.1", "8.1.0", "8.10.2", "8.5.1rc1"])
def test_a_version_within_the_bounds_meets_a_requirement(tmp_path: Path, requirements: str, version: str) -> None:
    assert unmet(requirements, packages(tmp_path, f"click-{version}", "typing_extensions-4.16.0")) == []


@pytest.mark.parametrize("version", ["8.0.9", "8", "9", "9.0.0", "10.2", "7.1.2", ""])
def test_a_version_out_of_bounds_does_not(tmp_path: Path, requirements: str, version: str) -> None:
    site = packages(tmp_path, f"click-{version}", "Typing.Extensions-4.0")
    assert unmet(requirements, site) == ["click>=8.1,<9"]


def test_nothing_is_met_without_packages(tmp_path: Path, requirements: str) -> None:
    assert unmet(requirements, str(tmp_path / "none")) == ["click>=8.1,<9", "typing-extensions>=4"]


def test_the_packages_of_these_tests_meet_the_requirements_of_the_plugin() -> None:
    plugin = Path(__file__).parents[3] / "plugin"
    assert unmet(str(plugin / "requirements.txt")) == []


def test_without_a_data_folder_there_is_nothing_to_prepare() -> None:
    assert prepare({}) == ""
    assert prepare({"CLAUDE_PLUGIN_DATA": "relative"}) == ""


def test_an_interpreter_that_has_everything_is_named_and_nothing_is_built(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert prepare({"CLAUDE_PLUGIN_DATA": str(data)}) == ""
    assert [path.name for path in data.iterdir()] == [INTERPRETER]
    assert interpreter_of(str(data)) == sys.executable


@pytest.mark.parametrize("text", ["", "python3\n", "/nowhere/python3\n", "/tmp\n", "\xff\n"])
def test_what_is_no_interpreter_is_not_taken_for_one(tmp_path: Path, text: str) -> None:
    (tmp_path / INTERPRETER).write_text(text, encoding="latin-1")
    assert interpreter_of(str(tmp_path)) == ""


def test_after_a_failure_the_next_try_is_an_hour_later_and_then_later_each_time() -> None:
    assert Outcome().is_due(0.0)
    for failures, hours in ((1, 1), (2, 2), (3, 4), (5, 16), (6, 24), (60, 24)):
        outcome = Outcome(failures, 1000.0, "no network")
        assert not outcome.is_due(1000.0 + hours * HOUR - 1)
        assert outcome.is_due(1000.0 + hours * HOUR)


def test_a_clock_that_went_back_does_not_put_the_next_try_off_forever() -> None:
    assert Outcome(1, 1000.0, "no network").is_due(999.0)


def test_a_build_that_was_interrupted_begins_again_at_once_but_not_forever() -> None:
    assert Outcome(1, 1000.0).is_due(1001.0)
    assert Outcome(2, 1000.0).is_due(1001.0)
    assert not Outcome(3, 1000.0).is_due(1001.0)


@pytest.mark.parametrize("text", ["", "x\ny\nz\n", "1", "1\n2"])
def test_an_outcome_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "build.outcome").write_text(text, encoding="utf-8")
    assert read_outcome(str(tmp_path)).failures == 0


@pytest.fixture
def builder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock of a build, as the leader of its session."""
    code = (
        "import fcntl, os, sys\n"
        "lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "os.write(lock, b'%d' % os.getpid())\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / LOCK)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.communicate()


def test_a_build_is_seen_and_can_be_stopped(tmp_path: Path, builder: subprocess.Popen[str]) -> None:
    assert is_being_built(str(tmp_path))
    stop_build(str(tmp_path))
    assert builder.wait() == -15
    assert not is_being_built(str(tmp_path))


def test_an_installer_that_outlived_its_build_is_stopped_too(tmp_path: Path) -> None:
    code = (
        "import fcntl, os, subprocess, sys\n"
        "lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "os.write(lock, b'%d' % os.getpid())\n"
        "subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'], pass_fds=[lock])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / LOCK)], stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.wait() == -9
        assert is_being_built(str(tmp_path))
        stop_build(str(tmp_path))
        assert not is_being_built(str(tmp_path))


def test_what_another_process_has_just_built_is_not_built_again(tmp_path: Path, requirements: str) -> None:
    built = tmp_path / "environments" / "new" / "bin" / "python"
    built.parent.mkdir(parents=True)
    built.symlink_to(sys.executable)
    (tmp_path / "interpreter").write_text(f"{built}\n", encoding="utf-8")
    assert build(str(tmp_path), requirements, lambda _: None, wait=False) == str(built)


def test_a_data_folder_that_cannot_be_written_is_said_once_a_day(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("a file in its place", encoding="utf-8")
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]);"
        "from recollect.services.environment import prepare; print(prepare(os.environ))"
    )
    source = Path(__file__).parents[3] / "src"
    bare = tmp_path / "bin" / "python3"
    bare.parent.mkdir()
    bare.symlink_to(Path(sys.executable).resolve())  # which has no packages
    variables = {"CLAUDE_PLUGIN_DATA": str(data), "RECOLLECT_HOME": str(tmp_path / "store"), "HOME": str(tmp_path)}
    said = [
        subprocess.run(
            [bare, "-I", "-S", "-c", code, source], env=variables, capture_output=True, encoding="utf-8", check=True
        ).stdout
        for _ in range(2)
    ]
    assert said[0].startswith(f"recollect cannot set itself up: cannot write {data}/interpreter: ")
    assert said[1] == "\n"


def test_a_lock_that_nobody_holds_is_no_build(tmp_path: Path) -> None:
    assert not is_being_built(str(tmp_path))
    (tmp_path / LOCK).write_text("1", encoding="utf-8")
    assert not is_being_built(str(tmp_path))
    stop_build(str(tmp_path))
    with (tmp_path / LOCK).open("r+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
