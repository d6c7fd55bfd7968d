from __future__ import annotations

import fcntl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import InstallError
from recollect.plugin.environment import complete, prepare, unmet
from recollect.plugin.environment_build import build, stop_build
from recollect.plugin.environment_state import (
    INTERPRETER,
    LOCK,
    OUTCOME,
    Outcome,
    interpreter_of,
    is_being_built,
    missing_extras,
    read_outcome,
)

HOUR = 3600.0
SOURCE = Path(__file__).parents[3] / "src"


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


def test_an_installer_that_cannot_be_run_leaves_its_reason_and_nothing_half_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, programs = tmp_path / "data", tmp_path / "bin"
    old = data / "environments" / "old" / "bin" / "python"
    old.parent.mkdir(parents=True)
    old.symlink_to(sys.executable)
    (data / INTERPRETER).write_text(f"{old}\n", encoding="utf-8")
    (data / "build.outcome").write_text("1\n0\nno network\n", encoding="utf-8")
    programs.mkdir()
    (programs / "uv").write_text("#!/nowhere/sh\n", encoding="utf-8")
    (programs / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    wrong = tmp_path / "requirements.txt"
    wrong.write_text("???\n", encoding="utf-8")  # which pip refuses, where there is one
    reason = f"cannot build in {data}: {programs}/uv: No such file or directory"
    with pytest.raises(InstallError) as caught:
        build(str(data), str(wrong), lambda _: None)
    assert str(caught.value) == reason
    outcome = read_outcome(str(data))
    assert (outcome.failures, outcome.reason) == (2, reason)
    assert interpreter_of(str(data)) == str(old), "what served before serves on"
    assert [path.name for path in (data / "environments").iterdir()] == ["old"]
    assert not (data / "scratch").exists()


def test_an_interpreter_that_is_gone_is_the_reason_of_a_build_that_failed(
    tmp_path: Path, bare: Path, requirements: str
) -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); os.unlink(sys.executable);"
        "from recollect.plugin.environment_build import build_in_background; build_in_background(*sys.argv[2:])"
    )
    data = tmp_path / "data"
    command = [bare, "-I", "-S", "-c", code, SOURCE, data, requirements]
    done = subprocess.run(command, env={"HOME": str(tmp_path)}, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert read_outcome(str(data)).reason == f"cannot build in {data}: {bare}: No such file or directory"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A Python without packages."""
    path = tmp_path / "bare" / "python3"
    path.parent.mkdir()
    path.symlink_to(Path(sys.executable).resolve())
    return path


def prepared(bare: Path, data: Path) -> str:
    """What the user of a Python without packages is told at the start of a session."""
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]);"
        "from recollect.plugin.environment import prepare; print(prepare(os.environ))"
    )
    folder = data.parent
    variables = {"CLAUDE_PLUGIN_DATA": str(data), "RECOLLECT_HOME": str(folder / "store"), "HOME": str(folder)}
    done = subprocess.run(
        [bare, "-I", "-S", "-c", code, SOURCE], env=variables, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def test_a_data_folder_that_cannot_be_written_is_said_once_a_day(tmp_path: Path, bare: Path) -> None:
    data = tmp_path / "data"
    data.write_text("a file in its place", encoding="utf-8")
    said = prepared(bare, data)
    assert said.startswith(f"recollect cannot set itself up: cannot write {data}/interpreter: ")
    assert prepared(bare, data) == "\n"


def test_a_build_that_failed_is_said_once_a_day_and_another_reason_at_once(tmp_path: Path, bare: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / INTERPRETER).write_text(f"{bare}\n", encoding="utf-8")
    for reason in ("no network", "no space"):
        (data / "build.outcome").write_text(f"9\n{time.time()}\n{reason}\n", encoding="utf-8")
        assert prepared(bare, data).startswith(f"recollect could not set itself up: {reason}. ")
        assert prepared(bare, data) == "\n"
    assert sorted(path.name for path in data.iterdir()) == ["build.outcome", INTERPRETER]
    told = tmp_path / "store" / ".told"
    told.write_text(told.read_text(encoding="utf-8").replace("20", "19"), encoding="utf-8")
    assert "no space" in prepared(bare, data), "the day after"


def test_a_lock_that_nobody_holds_is_no_build(tmp_path: Path) -> None:
    assert not is_being_built(str(tmp_path))
    (tmp_path / LOCK).write_text("1", encoding="utf-8")
    assert not is_being_built(str(tmp_path))
    stop_build(str(tmp_path))
    with (tmp_path / LOCK).open("r+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def environment(folder: Path, *packages: str, version: str = f"python3.{sys.version_info[1]}") -> str:
    """Return the interpreter of an environment that has these packages, by the names of their folders."""
    for package in packages:
        (folder / "lib" / version / "site-packages" / f"{package}.dist-info").mkdir(parents=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    return str(folder / "bin" / "python")


@pytest.mark.parametrize("version", [f"python3.{sys.version_info[1]}", "python3.99"])
def test_extras_are_missing_whose_package_an_environment_lacks(tmp_path: Path, version: str) -> None:
    python = environment(tmp_path / "one", "httpx-0.28.1", "google_genai-2.0", "openai_agents-1.0", version=version)
    assert missing_extras(["gemini", "ollama", "openai", "voyage"], python) == ["openai", "voyage"]
    assert missing_extras([], python) == []


def test_extras_are_not_added_again_while_a_failure_is_fresh_unless_somebody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "store"))
    data = tmp_path / "data"
    data.mkdir()
    (data / INTERPRETER).write_text(environment(data / "environments" / "one", "click-8.1") + "\n", encoding="utf-8")
    (data / OUTCOME).write_text(f"1\n{int(time.time())}\nno way\n", encoding="utf-8")
    environ = {"CLAUDE_PLUGIN_DATA": str(data)}
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    told = prepare(environ, ["voyage"])
    assert told.startswith(
        "recollect could not add the packages for voyage: no way. Memories are found by their words;"
    )
    assert "`recollect doctor --fix`" in told
    assert (prepare(environ, ["voyage"]), started) == ("", [])
    assert "in the background" in prepare(environ, ["voyage"], asked=True)
    assert [command[-1] for command in started] == ["voyage"]
    assert prepare(environ) == ""


def test_merge_driver_without_packages_fails_and_installs_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "argv", ["bare.py", "command", "merge-driver", "--", "a", "b", "c"])
    monkeypatch.setattr("recollect.plugin.environment.unmet", lambda _: ["click>=8.1,<9"])
    monkeypatch.setattr("recollect.plugin.environment._built", lambda *_: pytest.fail("it installs packages"))
    with pytest.raises(SystemExit) as ended:
        complete()
    assert ended.value.code == 1
    assert "its packages are not installed" in capsys.readouterr().err
