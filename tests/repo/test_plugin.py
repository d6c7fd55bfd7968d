"""The plugin's manifests, launcher and packaging say the same as the code that they start."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

from recollect.files.session import handover_names
from recollect.hooks.run import HOOKS
from recollect.mcp import schemas
from recollect.plugin.environment import requirements_file
from recollect.plugin.slash import PRINTED
from recollect.version import HOME_PAGE, VERSION

TOP = Path(__file__).parents[2]
PLUGIN = TOP / "plugin"


def read_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def handlers() -> list[dict[str, Any]]:
    events = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]
    return [handler for groups in events.values() for group in groups for handler in group["hooks"]]


def test_hooks_file_calls_every_hook_and_no_other_and_only_one_for_several_tools() -> None:
    called = Counter(" ".join(handler["args"]) for handler in handlers())
    assert called == {f"hook {name}": {"permit": 3, "prompt": 2, "stop": 2}.get(name, 1) for name in HOOKS}


def test_slash_commands_that_only_print_are_those_that_the_hooks_file_names() -> None:
    [group] = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]["UserPromptExpansion"]
    assert group["matcher"] == f"memory:({'|'.join(sorted(PRINTED))})"
    assert all((PLUGIN / "commands" / f"{name}.md").exists() for name in PRINTED)


def test_commands_and_reads_of_others_start_no_process() -> None:
    # A rule of the client decides before anything is started; calls of our own server need none.
    groups = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]["PreToolUse"]
    rules = {group["matcher"]: group["hooks"][0].get("if") for group in groups}
    assert rules == {
        "Bash": "Bash(recollect *)",
        "Read": "Read(//tmp/.memory-*)",
        "mcp__plugin_memory_recollect__.*": None,
        "Write|Edit|MultiEdit|NotebookEdit": None,
    }
    drafts = [start for start, _ in (handover_names.DRAFT, handover_names.PENDING, handover_names.CONTEXT)]
    assert all(start.startswith(".memory-") for start in drafts)


def test_hooks_file_starts_the_launcher_without_a_shell_and_within_half_a_minute() -> None:
    for handler in handlers():
        assert handler["type"] == "command"
        assert handler["command"] == "${CLAUDE_PLUGIN_ROOT}/bin/recollect"
        assert 1 <= handler["timeout"] <= 30, "it is in seconds"


def test_server_is_started_by_the_launcher_and_loaded_at_once() -> None:
    [(name, server)] = read_json(PLUGIN / ".mcp.json")["mcpServers"].items()
    assert name == schemas.NAME
    assert server == {"command": "${CLAUDE_PLUGIN_ROOT}/bin/recollect", "args": ["mcp"], "alwaysLoad": True}
    assert "MCP server" in read_json(PLUGIN / ".claude-plugin" / "plugin.json")["description"]


def test_manifest_has_the_version_of_the_package_and_names_every_event_it_hooks() -> None:
    manifest = read_json(PLUGIN / ".claude-plugin" / "plugin.json")
    assert manifest["version"] == VERSION
    for event in read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]:
        assert event in manifest["description"]


def test_manifest_has_homepage_repository_and_author_from_one_constant() -> None:
    manifest = read_json(PLUGIN / ".claude-plugin" / "plugin.json")
    assert manifest["homepage"] == manifest["repository"] == manifest["author"]["url"] == HOME_PAGE
    assert manifest["author"]["name"] == "The recollect authors"


def test_release_fails_without_an_address_and_fills_in_the_one_that_is_given(tmp_path: Path) -> None:
    for name in ("src/recollect/version.py", "plugin/.claude-plugin/plugin.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        text = (TOP / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace(HOME_PAGE, "https://recollect.invalid"), encoding="utf-8")

    def release(*arguments: str) -> int:
        command = [sys.executable, str(TOP / "tools" / "release.py"), "--top", str(tmp_path), *arguments]
        return subprocess.run(command, check=False, capture_output=True).returncode

    assert release() == 1
    for wrong in (
        "recollect",
        "http://example.org/recollect",
        "https://x.invalid",
        'https://a.org/"',
        "https://localhost",
    ):
        assert release("--home-page", wrong) == 1
    given = "https://example.org/recollect"
    assert release("--home-page", given) == 0
    manifest = read_json(tmp_path / "plugin" / ".claude-plugin" / "plugin.json")
    assert (manifest["homepage"], manifest["repository"], manifest["author"]["url"]) == (given,) * 3
    assert f'HOME_PAGE = "{given}"' in (tmp_path / "src" / "recollect" / "version.py").read_text(encoding="utf-8")
    assert release() == 0, "it is filled in now"


def test_marketplace_offers_the_plugin_from_its_folder() -> None:
    (offered,) = read_json(TOP / ".claude-plugin" / "marketplace.json")["plugins"]
    assert offered["name"] == read_json(PLUGIN / ".claude-plugin" / "plugin.json")["name"]
    assert (TOP / offered["source"]).samefile(PLUGIN)


def test_requirements_are_the_dependencies_of_the_package() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (PLUGIN / "requirements.txt").read_text(encoding="utf-8").split() == project["dependencies"]
    assert Path(requirements_file()).samefile(PLUGIN / "requirements.txt")


def test_every_requirement_has_the_one_form_that_a_session_start_can_check() -> None:
    for line in (PLUGIN / "requirements.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"[a-z][a-z0-9_]*>=\d+(\.\d+)*,<\d+", line)


def test_everything_in_the_plugin_but_its_link_to_the_code_is_packaged() -> None:
    build = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    packaged = build["targets"]["wheel"]["force-include"]
    parts = {f"plugin/{path.name}" for path in PLUGIN.iterdir()} - {"plugin/src"}
    assert parts <= set(packaged)
    assert all(packaged[part] == f"recollect/marketplace/{part}" for part in parts)
    assert os.readlink(PLUGIN / "src") == "../src"


def test_plugin_holds_a_launcher_and_no_logic() -> None:
    own = [path for path in PLUGIN.rglob("*") if path.is_file() and "src" not in path.relative_to(PLUGIN).parts]
    assert [path.name for path in own if os.access(path, os.X_OK)] == ["recollect"]
    assert not [path for path in own if path.suffix in {".py", ".sh", ".js"}]


def test_launcher_is_plain_shell() -> None:
    launcher = PLUGIN / "bin" / "recollect"
    assert launcher.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    done = subprocess.run(["/bin/sh", "-n", launcher], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    bashisms = re.findall(r"\[\[|\bfunction \w|\blocal \w|<<<|\$'|==", launcher.read_text(encoding="utf-8"))
    assert bashisms == []


def test_icon_is_what_its_tool_draws() -> None:
    assert (PLUGIN / ".claude-plugin" / "icon.png").read_bytes() == icon_tool().png()


def icon_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("icon", TOP / "tools" / "icon.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
