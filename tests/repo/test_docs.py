"""What the documentation says is so."""

from __future__ import annotations

import importlib.metadata
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
from recollect.domain.feedback import confidence, signs, weight, words
from recollect.domain.stored import MOST_ANCHORS
from recollect.domain.triage import quoted
from recollect.files.session import transcript
from recollect.hooks import stop
from recollect.learn import duplicates
from recollect.memories import likeness
from recollect.sessions import look
from recollect.store.sql import usage
from recollect.truth import check
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
    assert {changelog[1], importlib.metadata.version("recollect-memory"), printed.split()[-1], plugin} == {VERSION}


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
        "team_audit",
        "team_review",
        "team_token",
        "to_scope",
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
        re.split(r"[<>=]", line)[0]
        for line in importlib.metadata.requires("recollect-memory") or []
        if "extra" not in line
    }
    pages = {"jinja2", "markdown-it-py", "markupsafe", "starlette", "uvicorn"}
    assert declared == pages | {"click", "mcp", "numpy", "onnxruntime", "pydantic", "tokenizers"}
    assert all(importlib.metadata.version(name) for name in declared)


def test_page_on_learning_has_the_numbers_of_the_code() -> None:
    page = " ".join((TOP / "docs" / "learning.md").read_text(encoding="utf-8").replace("**", "").split())
    factors = {
        "used once": weight.factor(1, 1, 0),
        "used five times": weight.factor(5, 5, 0),
        "given in vain once": weight.factor(1, 0, 0),
        "given in vain five times": weight.factor(5, 0, 0),
        "contradicted once": weight.factor(0, 0, 1),
    }
    limit = next(each for each in commands_of(cli, "recollect")["recollect dedupe"].params if each.name == "limit")
    files, size, seconds = check._MOST_FILES, check._MOST_BYTES, check._SECONDS
    for told in (
        f"It ends within {stop._LOOKING:.0f} seconds",
        f"at most {transcript.MOST_BYTES >> 20} MiB and {transcript.MOST_LINES:,} lines",
        f"The last {usage._KEPT_EVIDENCE:,} signs are kept",
        f"the last {usage._KEPT_RECEIPTS:,} receipts",
        f"within {signs._TOUCHED_WITHIN} prompts a file",
        f"{signs._ENOUGH} rare words within {signs._WINDOW} words, or a run of {words._RUN} words with {words._RARE}",
        f"{signs._ENOUGH + 1} if the entry has more than {signs._LONG[0]} rare words,"
        f" {signs._ENOUGH + 2} if more than {signs._LONG[1]}",
        f"slug ({signs._SHORTEST_NAME} letters or more) or its title of {signs._TITLE_WORDS} words or more",
        f"you corrected it within {signs._CORRECTED_WITHIN} prompts",
        f"in at most {look._FREQUENT} entries or {100 // look._SHARE} % of them",
        f"A factor between {weight.LOWEST} and {weight.HIGHEST}",
        f"(u \N{MINUS SIGN} {weight._CONTRADICTION}c + {weight._EXPECTED * weight._PRIOR:.0f})"
        f" / (g + {weight._CONTRADICTION}c + {weight._PRIOR})",
        *(f"| {name} | {factor:.2f} |" for name, factor in factors.items()),
        f"Given {weight.REST_TIMES} times as text for prompts within {weight.REST_DAYS} days",
        f"fewer than {signs._TELLABLE} rare words",
        f"low to medium at {confidence._OBSERVED['low']} observations",
        f"medium to high at {confidence._OBSERVED['medium']} with",
        f"in runs of {quoted._RUN} words",
        f"two thirds of their telling words, at least {quoted._TELLING}, in one entry",
        f"at most {MOST_ANCHORS}, the content",
        f"at most {files} files and {size >> 20} MB in {1000 * seconds:.0f} milliseconds",
        f"\N{MINUS SIGN} {check._CHANGED_NATS:.0f} nat | \N{MULTIPLICATION SIGN} {check._CHANGED_FACTOR} |",
        f"\N{MINUS SIGN} {check._GONE_NATS:.0f} nats | \N{MULTIPLICATION SIGN} {check._GONE_FACTOR} |",
        f"answers with at most {likeness._MOST_ALIKE} such texts",
        f"with its {duplicates.LIKELIEST} likeliest others, from a likeness of {duplicates.LEAST} on,"
        f" the {limit.default} likeliest pairs first",
    ):
        assert told in page


def test_page_on_learning_has_the_measured_numbers() -> None:
    """Each of them is measured by a benchmark, and published with the others."""
    page, published = (
        " ".join((TOP / "docs" / name).read_text(encoding="utf-8").replace("**", "").split())
        for name in ("learning.md", "benchmarks.md")
    )
    for told, measured in (
        (".96 of what counts as used was really used", "| used | .96 /"),
        (".85 (11 of 13) in held-out sessions", "(11 of 13)"),
        ("held out, by words | .797 | .797 |", "| with it: open, terse | .797 |"),
        ("the same with vectors | .884 | .870 |", "| .973 | .870 |"),
        ("leaves any trace | .797 | .696 |", "| with it: half hidden | .696 |"),
        ("five days | .67 | .25 to .54 |", "| .67 (.29) | .54 (.25) |"),
        ("after five days | .38 | .04 |", "| .38 (.38) | .04 (.04) |"),
        ("those worth keeping | | 1, 1 |", "staged with its judge | 1 | 1 |"),
        ("none of 498 hard pairs", "498 hard pairs"),
        (".885 are among the three likeliest, .910 if either", "| .885 | .910 |"),
    ):
        assert told in page
        assert measured in published


def test_figures_of_search_are_of_whole_sets_at_both_levels_and_say_which_part_chose_the_constants() -> None:
    page = " ".join((TOP / "docs" / "benchmarks.md").read_text(encoding="utf-8").split())
    assert "| turns, all ten | 5,882 | 1,981 | **.722** |" in page
    assert "| turns, the five others | 3,122 | 984 | **.701** |" in page
    assert "| whole sessions, all ten | 272 | | .931 | **.932** | .772 | **.816** |" in page
    assert "| whole sessions, the five, on this machine | 128 | 997 | .943 | **.944** | .793 | **.823** |" in page
    assert "the five that the constants were chosen with" in page
    assert "were measured on another machine" in page
    assert "on every set" not in " ".join((TOP / "README.md").read_text(encoding="utf-8").split())
