"""What the documentation says is so."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.conftest import RECOLLECT, World

from recollect.cli.main import COMMANDS, cli
from recollect.config.settings_keys import KEYS
from recollect.version import VERSION

TOP = Path(__file__).parents[2]
PAGES = sorted([*TOP.glob("*.md"), *TOP.glob("docs/*.md")])
TRACKED_BY_HAND = {".venv", ".git", ".hypothesis", ".pytest_cache", ".ruff_cache", "__pycache__"}


def test_generated_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(TOP / "tools" / "docs.py"), "--check"], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def commands_of(command: click.Command, name: str) -> dict[str, click.Command]:
    found = {name: command}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for sub_name in command.list_commands(context):
            sub = command.get_command(context, sub_name)
            assert sub is not None
            found |= commands_of(sub, f"{name} {sub_name}")
    return found


def test_every_command_and_option_has_help_and_is_documented() -> None:
    page = (TOP / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, command in commands_of(cli, "recollect").items():
        assert command.help, f"{name} has no help"
        assert f"## `{name}`" in page
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.opts[0]} has no help"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documented_commands_exist(page: Path) -> None:
    known = {name.removeprefix("recollect ").split(" ")[0] for name in commands_of(cli, "recollect")}
    called = re.findall(r"`recollect ([a-z][a-z-]*)", page.read_text(encoding="utf-8"))
    called += re.findall(r"^(?:\w[\w-]*)?\$? ?recollect ([a-z][a-z-]*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    prose = {"recollect never", "recollect ranks"}
    assert {name for name in called if f"recollect {name}" not in prose} <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documented_make_targets_exist(page: Path) -> None:
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ((?:[a-z]+ ?)+)", page.read_text(encoding="utf-8"), re.MULTILINE):
        for word in target.split():
            assert re.search(rf"^{word}:", makefile, re.MULTILINE), word


def test_every_setting_is_documented_with_one_sentence() -> None:
    page = (TOP / "docs" / "settings.md").read_text(encoding="utf-8")
    for key in KEYS:
        assert f"| `{key.name}` |" in page
        assert key.meaning.endswith("."), key.name


def test_quickstart_lesson_is_valid(world: World) -> None:
    page = (TOP / "docs" / "quickstart.md").read_text(encoding="utf-8")
    lesson = re.search(r"```markdown\n(.*?)```", page, re.DOTALL)
    assert lesson is not None
    world.write_bank("anti-patterns", lesson[1])
    assert "### Anti-Pattern: Retrying Without Jitter" in world.run("inject").stdout
    assert world.run("promote", "Retrying Without Jitter").returncode == 0


def test_one_version_everywhere() -> None:
    changelog = re.search(r"^## \[(\d+\.\d+\.\d+)\]", (TOP / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    printed = subprocess.run([RECOLLECT, "--version"], capture_output=True, encoding="utf-8", check=True).stdout
    assert changelog is not None
    plugin = json.loads((TOP / "plugin" / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))["version"]
    assert {changelog[1], importlib.metadata.version("recollect"), printed.split()[-1], plugin} == {VERSION}


def test_commands_are_modules_of_their_own() -> None:
    modules = {path.stem for path in (TOP / "src" / "recollect" / "cli").glob("*.py")}
    assert modules == {
        *(name.replace("-", "_") for name in COMMANDS),
        "__init__",
        "failure",
        "given",
        "help",
        "main",
        "memory",
        "screen",
        "shared",
        "editor",
        "wrap",
    }


def test_no_file_names_a_machine() -> None:
    found: list[str] = []
    for folder, folders, names in os.walk(TOP):
        folders[:] = [name for name in folders if name not in TRACKED_BY_HAND and not name.startswith(".venv-")]
        for name in names:
            path = Path(folder, name)
            text = path.read_text(encoding="utf-8", errors="replace")
            if re.search(r"(?<![\w.~])/(?:work|root|home/(?!dev\b)\w+)/", text):
                found.append(str(path.relative_to(TOP)))
    assert found == []


def test_package_installs_nothing_but_what_it_declares() -> None:
    declared = {
        re.split(r"[<>=]", line)[0] for line in importlib.metadata.requires("recollect") or [] if "extra" not in line
    }
    assert declared == {"click", "mcp", "numpy", "onnxruntime", "pydantic", "tokenizers"}
    assert all(importlib.util.find_spec(name) for name in declared)
