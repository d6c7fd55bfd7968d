"""The plugin's launcher, wherever it is and whatever it is not told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import PATIENCE

from recollect.version import VERSION

PLUGIN = Path(__file__).parents[2] / "plugin"
SHELL = "/bin/sh"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The plugin in a folder whose name needs care, and that nobody may write."""
    folder = tmp_path / "it's a $(plugin) folder"
    shutil.copytree(PLUGIN / "bin", folder / "bin")
    (folder / "src").symlink_to(PLUGIN / "src")
    folder.chmod(0o555)
    return folder


def data_folder(tmp_path: Path, text: str = f"{sys.executable}\n") -> str:
    folder = tmp_path / "plugins" / "data" / "memory-recollect"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "interpreter").write_text(text, encoding="utf-8")
    return str(folder)


def run(command: list[str | Path], cwd: Path, stdin: str = "{}", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "RECOLLECT_HOME": str(cwd / "store"), **variables},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )


def version_by(command: list[str | Path], cwd: Path, **variables: str) -> str:
    done = run([*command, "--version"], cwd, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_launcher_works_in_any_folder_and_without_a_home(plugin: Path, tmp_path: Path) -> None:
    data = data_folder(tmp_path)
    assert version_by([plugin / "bin" / "recollect"], tmp_path, CLAUDE_PLUGIN_DATA=data) == f"recollect {VERSION}\n"
    assert version_by([SHELL, "recollect"], plugin / "bin", CLAUDE_PLUGIN_DATA=data) == f"recollect {VERSION}\n"


def test_launcher_works_through_a_link(plugin: Path, tmp_path: Path) -> None:
    link = tmp_path / "recollect"
    link.symlink_to(plugin / "bin" / "recollect")
    assert version_by([link], tmp_path, CLAUDE_PLUGIN_DATA=data_folder(tmp_path)) == f"recollect {VERSION}\n"


def test_a_command_finds_the_interpreter_that_the_client_does_not_tell_it_about(plugin: Path, tmp_path: Path) -> None:
    data_folder(tmp_path)
    launcher = [plugin / "bin" / "recollect"]
    assert version_by(launcher, tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path)) == f"recollect {VERSION}\n"
    (tmp_path / "plugins" / "data" / "memory-recollect").rename(tmp_path / "plugins" / "data" / "memory-inline")
    assert version_by(launcher, tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path)) == f"recollect {VERSION}\n"


def test_a_name_without_an_end_of_line_is_a_name(plugin: Path, tmp_path: Path) -> None:
    data = data_folder(tmp_path, sys.executable)
    assert version_by([plugin / "bin" / "recollect"], tmp_path, CLAUDE_PLUGIN_DATA=data) == f"recollect {VERSION}\n"


@pytest.mark.parametrize("text", ["", "\n", "bin/python\n", "/nowhere/python\n", "/tmp\n"])
def test_a_name_of_no_interpreter_is_passed_over(plugin: Path, tmp_path: Path, text: str) -> None:
    data = data_folder(tmp_path, text)
    done = run([plugin / "bin" / "recollect", "hook", "write-guard"], tmp_path, CLAUDE_PLUGIN_DATA=data)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("text", ["no program", "#!/bin/sh\nexit 1\n", "#!/bin/sh\nkill -9 $$\n"])
def test_an_interpreter_that_does_not_run_is_forgotten_when_a_session_starts(
    plugin: Path, tmp_path: Path, text: str
) -> None:
    broken = tmp_path / "python"
    broken.write_text(text, encoding="utf-8")
    broken.chmod(0o755)
    data = data_folder(tmp_path, f"{broken}\n")
    done = run([plugin / "bin" / "recollect", "hook", "session-start"], tmp_path, CLAUDE_PLUGIN_DATA=data)
    assert done.returncode == 0
    assert not Path(data, "interpreter").exists()


def test_a_start_that_was_killed_does_not_cost_the_interpreter(plugin: Path, tmp_path: Path) -> None:
    dying = tmp_path / "python"
    dying.write_text(
        f'#!/bin/sh\ncase $* in *hook*) kill -9 $$ ;; *) exec "{sys.executable}" "$@" ;; esac\n', encoding="utf-8"
    )
    dying.chmod(0o755)
    data = data_folder(tmp_path, f"{dying}\n")
    done = run([plugin / "bin" / "recollect", "hook", "session-start"], tmp_path, CLAUDE_PLUGIN_DATA=data)
    assert (done.returncode, done.stdout) == (0, "")
    assert (Path(data) / "interpreter").read_text(encoding="utf-8") == f"{dying}\n"


def test_a_launcher_without_its_code_lets_sessions_go_on(tmp_path: Path) -> None:
    alone = shutil.copy(PLUGIN / "bin" / "recollect", tmp_path / "recollect")
    hook = run([alone, "hook", "stop"], tmp_path)
    assert (hook.returncode, hook.stdout) == (0, "")
    assert "claude plugin marketplace add" in hook.stderr
    start = run([alone, "hook", "session-start"], tmp_path)
    assert start.returncode == 0
    assert "its code was moved or removed" in json.loads(start.stdout)["systemMessage"]
    assert run([alone, "status"], tmp_path).returncode == 1


def test_without_python_sessions_go_on_and_commands_say_what_is_missing(plugin: Path, tmp_path: Path) -> None:
    pythons = [
        place for place in ("/usr/local/bin", "/opt/homebrew/bin", "/usr/bin") if Path(place, "python3").exists()
    ]
    hidden = {os.path.realpath(f"{place}/python3") for place in pythons}
    hide = "".join(f"mount --bind /dev/null '{path}' && " for path in sorted(hidden))
    before = ["unshare", "-rm", SHELL, "-c", f'{hide} export PATH=/nowhere && exec "$@"', SHELL]
    if subprocess.run([*before, "/bin/true"], capture_output=True, check=False).returncode:
        reason = "no file can be hidden here (unshare -rm)"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    hook = run([*before, plugin / "bin" / "recollect", "hook", "stop"], tmp_path)
    assert (hook.returncode, hook.stdout) == (0, "")
    assert "Python 3.11 or newer is needed" in hook.stderr
    assert run([*before, plugin / "bin" / "recollect", "status"], tmp_path).returncode == 1
