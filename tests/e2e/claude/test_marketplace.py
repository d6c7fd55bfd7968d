"""The plugin as the client's own commands see it: valid, installed, updated, removed."""

from __future__ import annotations

import fcntl
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tests.e2e.claude.client import OLDEST, PLUGIN, REPOSITORY, Client, Run


def _done(run: Run) -> str:
    assert run.code == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.oldest
@pytest.mark.parametrize("folder", [REPOSITORY, PLUGIN], ids=["marketplace", "plugin"])
def test_manifests_are_valid(machine: Client, folder: Path) -> None:
    assert "passed" in _done(machine.manage("validate", "--strict", str(folder)))
    if folder == PLUGIN and machine.version != OLDEST:  # which knows no profiles; a marketplace has none
        _done(machine.manage("validate", "--strict", "--profile", "directory", str(folder)))


def _copy_marketplace(folder: Path) -> Path:
    """A marketplace of its own, whose plugin finds the same package."""
    shutil.copytree(REPOSITORY / ".claude-plugin", folder / ".claude-plugin")
    shutil.copytree(PLUGIN, folder / "plugin", ignore=shutil.ignore_patterns("src"))
    (folder / "plugin" / "src").mkdir()
    shutil.copytree(
        REPOSITORY / "src" / "recollect",
        folder / "plugin" / "src" / "recollect",
        ignore=shutil.ignore_patterns("__pycache__", "*.onnx"),
    )
    return folder


def _bump(marketplace: Path, version: str) -> None:
    path = marketplace / "plugin" / ".claude-plugin" / "plugin.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "version": version}), encoding="utf-8")


def _installed(machine: Client) -> list[tuple[str, str, bool]]:
    plugins = json.loads(_done(machine.manage("list", "--json")))
    return [(plugin["id"], plugin["version"], plugin["enabled"]) for plugin in plugins]


@pytest.mark.slow
def test_plugin_is_installed_updated_and_removed_through_a_marketplace(machine: Client, tmp_path: Path) -> None:
    marketplace = _copy_marketplace(tmp_path / "marketplace")
    _bump(marketplace, "9.0.0")
    machine.world.write_bank("patterns", "# Patterns\n\n### Pattern: Retry\nThe lesson: retry twice.\n")
    memory = machine.world.write_decision("kept")

    _done(machine.manage("marketplace", "add", str(marketplace)))
    _done(machine.manage("install", "memory@recollect"))
    machine.name_interpreter()
    assert ("memory@recollect", "9.0.0", True) in _installed(machine)
    assert "The lesson" in machine.ask("Hello there.").requests[0].context_of("SessionStart")[0]

    _bump(marketplace, "9.1.0")
    _done(machine.manage("marketplace", "update", "recollect"))
    _done(machine.manage("update", "memory@recollect"))
    assert ("memory@recollect", "9.1.0", True) in _installed(machine)
    updated = machine.ask("Hello there.")
    assert "The lesson" in updated.requests[0].context_of("SessionStart")[0]

    _done(machine.manage("uninstall", "memory@recollect"))
    _done(machine.manage("marketplace", "remove", "recollect"))
    assert not [plugin for plugin in _installed(machine) if plugin[0].startswith("memory@")]
    assert not machine.data().exists()
    assert machine.ask("Hello there.").requests[0].context_of("SessionStart") == []
    assert memory.exists()


@pytest.mark.oldest
def test_the_commands_of_the_readme_install_the_plugin(machine: Client) -> None:
    lines = REPOSITORY.joinpath("README.md").read_text(encoding="utf-8").splitlines()
    commands = [line.partition("#")[0].split()[2:] for line in lines if line.startswith("claude plugin ")]
    assert [command[-1] for command in commands] == ["OWNER/recollect", "memory@recollect"]
    commands[0][-1] = "./"  # as the line itself says for a clone; there is no network here
    machine.project = REPOSITORY
    for command in commands:
        _done(machine.manage(*command))
    assert [plugin[0] for plugin in _installed(machine)] == ["memory@recollect"]


def test_first_session_has_memories_while_packages_are_missing(machine: Client, tmp_path: Path) -> None:
    _done(machine.manage("marketplace", "add", str(REPOSITORY)))
    _done(machine.manage("install", "memory@recollect"))
    bare = tmp_path / "bin" / "python3"
    bare.parent.mkdir()
    bare.symlink_to(Path(sys.executable).resolve())
    machine.name_interpreter(bare)
    machine.world.write_bank("patterns", "# Patterns\n\n### Pattern: Retry\nThe lesson: retry twice.\n")
    machine.world.write_decision("gateway", title="Retry the payment gateway twice", tags=["gateway", "payment"])

    first = machine.ask("How often do we retry the payment gateway?")
    with (machine.data() / "build.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the build has ended, which finds no network
    second, third = machine.ask("Hello there."), machine.ask("Hello there.")

    assert "setting itself up in the background" in first.told_to_the_user[0]
    assert "The lesson" in first.requests[0].context_of("SessionStart")[0]
    assert "Retry the payment gateway twice" in first.requests[0].context_of("UserPromptSubmit")[0]
    assert "could not set itself up: the package index could not be reached" in second.told_to_the_user[0]
    assert third.told_to_the_user == ["recollect: 1 memory and 1 title recalled"]


@pytest.mark.slow
def test_status_answers_at_once_in_the_first_session(machine: Client, tmp_path: Path) -> None:
    _done(machine.manage("marketplace", "add", str(REPOSITORY)))
    _done(machine.manage("install", "memory@recollect"))
    bare = tmp_path / "bin" / "python3"
    bare.parent.mkdir()
    bare.symlink_to(Path(sys.executable).resolve())
    machine.name_interpreter(bare)
    machine.world.write_decision("gateway", title="Retry the payment gateway twice")
    with (machine.data() / "build.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # packages are being installed, for as long as this takes
        run = machine.ask("/memory:status", "/memory:doctor")

    status, doctor = (str(result["result"]) for result in run.results)
    assert "recollect is installing its packages in the background" in status
    assert "decision: 1 active" in status
    assert "try again in a moment" in doctor
    assert run.requests == []


@pytest.mark.oldest
@pytest.mark.parametrize("by_doctor", [False, True], ids=["told", "fixed"])
def test_a_clone_that_was_moved_is_named_and_mended(machine: Client, tmp_path: Path, by_doctor: bool) -> None:
    old, new = _copy_marketplace(tmp_path / "clone"), tmp_path / "moved clone"
    _done(machine.manage("marketplace", "add", str(old)))
    _done(machine.manage("install", "memory@recollect"))
    machine.name_interpreter()
    machine.world.write_bank("patterns", "# Patterns\n\n### Pattern: Retry\nThe lesson: retry twice.\n")
    old.rename(new)
    assert machine.ask("Hello there.").requests[0].context_of("SessionStart") == []  # the client says nothing of it

    launcher = new / "plugin" / "bin" / "recollect"
    done = machine.recollect("doctor", "--only", "plugin", "--json", launcher=launcher)
    [finding] = json.loads(done.stdout)["findings"]
    assert done.returncode == 1
    assert str(old) in finding["sentence"]
    told = machine.recollect("status", launcher=launcher).stdout
    assert f"Claude Code looks for the plugin in {old}" in told

    fix = re.search(r"`claude plugin (marketplace add [^`]+)`", finding["fix"])
    assert fix, finding
    assert shlex.split(fix[1])[-1] == str(new)
    if by_doctor:
        commands = tmp_path / "commands"
        commands.mkdir()
        (commands / "claude").symlink_to(machine.program)
        machine.variables["PATH"] = f"{commands}:{machine.environment()['PATH']}"
        mended = machine.recollect("doctor", "--fix", "--only", "plugin", launcher=launcher)
        assert f"Claude Code loads the plugin from {new} now" in mended.stdout
    else:
        _done(machine.manage(*shlex.split(fix[1])))
    assert "The lesson" in machine.ask("Hello there.").requests[0].context_of("SessionStart")[0]
    assert machine.recollect("doctor", "--only", "plugin", launcher=launcher).returncode == 0
