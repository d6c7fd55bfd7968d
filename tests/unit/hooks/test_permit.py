"""Steps that nobody is asked about: recollect's own tools, commands and drafts, and nothing that looks like them."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.hooks import permit
from recollect.hooks.stdin import Event
from recollect.mcp.schemas import TOOLS

PLUGIN = Path(__file__).parents[3] / "plugin"
SEARCH = "recollect search 'x'"
NAME = ".memory-draft-decision-17.json"
CONTEXT = ".memory-triage-context-decision-1a2b.txt"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be a machine where the plugin is installed and no other recollect is."""
    for name in ("temporary", "programs", "project"):
        (tmp_path / name).mkdir()
    for variable in ("TEMP", "TMP", "RECOLLECT_PERMISSIONS_APPROVE_OWN_STEPS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:/usr/bin:/bin")
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", str(PLUGIN))
    return tmp_path


def decision(machine: Path, tool: str, *, mode: str = "default", **given: Any) -> str:
    """Return the decision on a tool call; empty if it is left to the client."""
    return decided(machine, {"tool_name": tool, "tool_input": given, "permission_mode": mode})


def decided(machine: Path, event: dict[str, Any]) -> str:
    answer = permit.handle(Event({"cwd": str(machine / "project"), **event}))
    assert answer.code == 0
    if not answer.stdout:
        return ""
    told = json.loads(answer.stdout)
    assert set(told) == {"hookSpecificOutput"}
    assert told["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    assert told["hookSpecificOutput"]["permissionDecisionReason"]
    return told["hookSpecificOutput"]["permissionDecision"]


def settings(machine: Path, text: str) -> None:
    path = machine / "project" / ".claude" / "memory" / "memory-config.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto", "dontAsk", "bypassPermissions"])
@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_own_tools_are_approved_but_forgetting_is_asked_about(machine: Path, tool: str, mode: str) -> None:
    expected = ("ask" if mode == "auto" else "") if tool == "forget_memory" else "allow"
    assert decision(machine, f"mcp__plugin_memory_recollect__{tool}", mode=mode) == expected


@pytest.mark.parametrize(("mode", "expected"), [("default", ""), ("auto", "ask"), ("bypassPermissions", "")])
def test_replacing_a_memory_is_asked_about_like_forgetting_it(machine: Path, mode: str, expected: str) -> None:
    tool = "mcp__plugin_memory_recollect__store_memory"
    assert decision(machine, tool, mode=mode, name="New", supersedes="0123456789abcdef") == expected
    assert decision(machine, tool, mode=mode, name="New", supersedes="") == "allow"
    for relation in ("supersedes", "updates"):
        assert decision(machine, tool, mode=mode, id="0123456789abcdef", relation=relation, other="x") == expected
    assert decision(machine, tool, mode=mode, id="0123456789abcdef", relation="keep_both", other="x") == "allow"


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__other__store_memory",
        "mcp__recollect__store_memory",
        "mcp__plugin_memory_other__store_memory",
        "mcp__plugin_memory2_recollect__store_memory",
        "mcp__plugin_memory_recollect2__store_memory",
        "mcp__plugin_memory_recollect__store_memory2",
        "mcp__plugin_memory_recollect__",
        "mcp__plugin_memory_recollect__x__store_memory",
        "x_mcp__plugin_memory_recollect__store_memory",
        "mcp__Plugin_memory_recollect__store_memory",
        "store_memory",
        "WebFetch",
        "",
    ],
)
def test_other_tools_are_left_to_the_client(machine: Path, tool: str) -> None:
    assert decision(machine, tool, file_path=f"/tmp/{NAME}", command=SEARCH) == ""


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({"name": "plugin:memory:recollect", "source": "plugin"}, "allow"),
        ({"name": "plugin:other:recollect", "source": "plugin"}, ""),
        ({"name": "recollect", "source": "project"}, ""),
        ({"source": "plugin"}, ""),
        ("plugin:memory:recollect", ""),
    ],
)
def test_server_must_be_the_plugins_where_the_client_names_it(machine: Path, server: Any, expected: str) -> None:
    tool = "mcp__plugin_memory_recollect__store_memory"
    assert decided(machine, {"tool_name": tool, "tool_input": {}, "mcp_server": server}) == expected


def test_own_command_is_approved_with_what_a_model_says_about_it(machine: Path) -> None:
    assert decision(machine, "Bash", command=SEARCH, description="Search", timeout=5000) == "allow"
    assert decision(machine, "Bash", command=SEARCH, run_in_background=False) == "allow"


@pytest.mark.parametrize("field", ["run_in_background", "dangerouslyDisableSandbox", "anything"])
def test_command_with_another_wish_is_left_to_the_client(machine: Path, field: str) -> None:
    assert decision(machine, "Bash", command=SEARCH, **{field: True}) == ""


@pytest.mark.parametrize("command", [f"{SEARCH}; touch pwned", "recollect uninstall", "", None, [SEARCH], 1])
def test_command_that_is_no_own_step_is_left_to_the_client(machine: Path, command: Any) -> None:
    assert decision(machine, "Bash", command=command) == ""


@pytest.mark.parametrize("tool", ["Bash", "Write", "Read", "mcp__plugin_memory_recollect__store_memory"])
def test_nothing_is_decided_while_planning_or_if_switched_off(machine: Path, tool: str) -> None:
    given = {"command": SEARCH, "file_path": f"/tmp/{NAME}"}
    given = {"command": given["command"]} if tool == "Bash" else given
    assert decision(machine, tool, **given) == "allow"
    assert decision(machine, tool, mode="plan", **given) == ""
    settings(machine, '{"permissions": {"approve_own_steps": false}}')
    assert decision(machine, tool, **given) == ""


def test_repository_cannot_switch_it_on_again(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_PERMISSIONS_APPROVE_OWN_STEPS", "false")
    settings(machine, '{"permissions": {"approve_own_steps": true}}')
    assert decision(machine, "Bash", command=SEARCH) == ""


def program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_another_program_called_recollect_is_not_approved(machine: Path) -> None:
    program(machine / "programs" / "recollect")
    assert decision(machine, "Bash", command=SEARCH) == ""


def test_file_that_cannot_be_run_hides_nothing(machine: Path) -> None:
    (machine / "programs" / "recollect").write_text("", encoding="utf-8")
    assert decision(machine, "Bash", command=SEARCH) == "allow"


def test_link_to_the_launcher_is_this_recollect(machine: Path) -> None:
    (machine / "programs" / "recollect").symlink_to(PLUGIN / "bin" / "recollect")
    assert decision(machine, "Bash", command=SEARCH) == "allow"


@pytest.mark.parametrize("path", [".:/usr/bin", ":/usr/bin", "node_modules/.bin:/usr/bin", "/usr/bin:", ""])
def test_path_that_depends_on_the_folder_is_not_trusted(
    machine: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("PATH", path)
    assert decision(machine, "Bash", command=SEARCH) == ""


def test_relative_part_after_this_recollect_does_not_matter(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{PLUGIN / 'bin'}:.")
    assert decision(machine, "Bash", command=SEARCH) == "allow"


def test_command_outside_the_plugin_is_left_to_the_client(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_PLUGIN_ROOT")
    assert decision(machine, "Bash", command=SEARCH) == ""


def test_command_of_the_environment_that_holds_this_package_is_this_recollect(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = machine / "environment"
    (environment / "bin").mkdir(parents=True)
    installed = program(environment / "bin" / "recollect")
    (machine / "programs" / "recollect").symlink_to(installed)
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python"))
    assert decision(machine, "Bash", command=SEARCH) == "", "this package is elsewhere"
    module = environment / "lib" / "python3.11" / "site-packages" / "recollect" / "hooks" / "permit.py"
    monkeypatch.setattr(permit, "__file__", str(module))
    assert decision(machine, "Bash", command=SEARCH) == "allow"


@pytest.mark.parametrize("tool", ["Write", "Edit", "Read"])
@pytest.mark.parametrize("name", [NAME, ".memory-write-pending-3.json", ".memory-write-pending.json"])
def test_draft_is_approved_new_and_when_it_is_there(machine: Path, tool: str, name: str) -> None:
    path = machine / "temporary" / name
    assert decision(machine, tool, file_path=str(path)) == "allow"
    path.write_text("{}", encoding="utf-8")
    assert decision(machine, tool, file_path=str(path)) == "allow"
    assert decision(machine, tool, file_path=f"/tmp/{name}") == "allow"


def test_context_file_is_read_and_never_written(machine: Path) -> None:
    path = machine / "temporary" / CONTEXT
    path.write_text("said", encoding="utf-8")
    assert decision(machine, "Read", file_path=str(path)) == "allow"
    assert decision(machine, "Write", file_path=str(path)) == ""
    assert decision(machine, "Edit", file_path=str(path)) == ""


@pytest.mark.parametrize("tool", ["MultiEdit", "NotebookEdit", "Glob", "Grep"])
def test_draft_for_another_tool_is_left_to_the_client(machine: Path, tool: str) -> None:
    assert decision(machine, tool, file_path=f"/tmp/{NAME}") == ""


HOSTILE_PATHS = {
    "": "nothing",
    NAME: "a relative path",
    f"./{NAME}": "a relative path with a dot",
    f"~/{NAME}": "the home",
    f"/{NAME}": "the root",
    f"/etc/{NAME}": "another folder",
    f"{{project}}/{NAME}": "the project",
    f"{{temporary}}/folder/{NAME}": "a folder below",
    f"{{temporary}}/../{NAME}": "above",
    f"{{temporary}}/x/../{NAME}": "below and back",
    f"{{temporary}}/./{NAME}": "a dot on the way",
    f"{{temporary}}//{NAME}": "two slashes",
    f"/{{temporary}}/{NAME}": "two slashes at the start",
    f"{{temporary}}/{NAME}/": "a slash at the end",
    f"{{temporary}}/{NAME}/../../etc/passwd": "a draft as a folder",
    f"{{temporary}}/link/{NAME}": "a link to a folder",
    "{temporary}/.memory-draft-linked.json": "a link to a file",
    "{temporary}/.memory-draft-dangling.json": "a link to nothing",
    "{temporary}/.memory-draft-hard.json": "another name of a file",
    "{temporary}/.memory-draft-folder.json": "a folder with a draft's name",
    "{temporary}/.memory-draft-pipe.json": "a pipe",
    "{temporary}/.memory-draft-socket.json": "a socket",
    f"{{temporary}}/{NAME}\0": "a NUL",
    f"{{temporary}}/{NAME}\n": "a newline",
    f" {{temporary}}/{NAME}": "a blank before it",
    f"{{temporary}}/{NAME} ": "a blank after it",
    "{temporary}/.memory-draft-$(touch pwned).json": "a substitution as a name",
    "{temporary}/.memory-draft-a b.json": "a blank in the name",
    "{temporary}/.memory-draft-*.json": "a glob as a name",
    "{temporary}/.memory-draft-\u043e.json": "a Cyrillic letter",
    "{temporary}/.memory-draft-\u200b.json": "an invisible character",
    "{temporary}/.memory-draft-\ud800.json": "half a character",
    "{temporary}/.memory-draft-x.json.sh": "another ending",
    "{temporary}/.memory-draft-x.JSON": "an ending in capitals",
    "{temporary}/memory-draft-x.json": "no dot",
    "{temporary}/.memory-draft.json": "no dash",
    "{temporary}/x.memory-draft-x.json": "something before the name",
    "{temporary}/.memory-other-x.json": "another name of the same kind",
    "{temporary}/.memory-draft-" + "x" * 5000 + ".json": "a name that no system opens",
    "/proc/self/root{temporary}/" + NAME: "the same place by another way",
    "C:\\tmp\\" + NAME: "a path of another system",
}


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=lambda path: HOSTILE_PATHS[path])
def test_path_that_is_no_draft_is_left_to_the_client(machine: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    temporary = machine / "temporary"
    victim = machine / "project" / "victim.json"
    victim.write_text("{}", encoding="utf-8")
    (temporary / "folder").mkdir()
    (temporary / "link").symlink_to(machine / "project")
    (temporary / ".memory-draft-linked.json").symlink_to(victim)
    (temporary / ".memory-draft-dangling.json").symlink_to(machine / "project" / "missing.json")
    (temporary / ".memory-draft-hard.json").hardlink_to(victim)
    (temporary / ".memory-draft-folder.json").mkdir()
    os.mkfifo(temporary / ".memory-draft-pipe.json")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(temporary)  # the name of a socket is short
        listener.bind(".memory-draft-socket.json")
        hostile = path.format(temporary=temporary, project=machine / "project")
        for tool in ("Write", "Edit", "Read"):
            assert decision(machine, tool, file_path=hostile) == ""
        command = f"recollect write --action create --category decision --input '{hostile}'"
        assert decision(machine, "Bash", command=command) == ""


def test_draft_of_another_user_is_left_to_the_client(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = machine / "temporary" / NAME
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    for tool in ("Write", "Edit", "Read"):
        assert decision(machine, tool, file_path=str(path)) == ""


@pytest.mark.parametrize("command", ["write --action create --input", "promote --as project-specific --entry-file"])
def test_command_takes_drafts_and_no_other_file(machine: Path, command: str) -> None:
    assert decision(machine, "Bash", command=f"recollect {command} /tmp/{NAME}") == "allow"
    for other in ("/tmp/x.json", f"/tmp/{CONTEXT}", f"/tmp/../etc/{NAME}", "/etc/passwd"):
        assert decision(machine, "Bash", command=f"recollect {command} {other}") == "", other


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"tool_name": "Bash"},
        {"tool_name": ["Bash"], "tool_input": {"command": SEARCH}},
        {"tool_name": "Bash", "tool_input": SEARCH},
        {"tool_name": "Write", "tool_input": {"file_path": {"a": 1}}},
        {"tool_name": "Read", "tool_input": None},
    ],
)
def test_event_of_another_shape_is_left_to_the_client(machine: Path, event: dict[str, Any]) -> None:
    assert decided(machine, event) == ""
