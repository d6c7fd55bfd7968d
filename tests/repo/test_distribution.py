"""The name under which an installer knows us: no text tells anybody to install a stranger's package in our place.

On the index, `recollect` and `recollect-mcp` are packages of somebody else, and `recollect-memory` is nobody's until
we publish it. So texts install a path, a repository, or the library that an extra needs.
"""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.extras import EXTRAS, way_to_add

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"recollect", "recollect-mcp", "recollect-memory"}

_INSTALLER = re.compile(
    r"\b(?:pip[\d.]*|pipx|uv|poetry|pdm|conda|easy_install)[ ]+(?:-\S+ +)*(?:pip +|tool +)?(?:-\S+ +)*"
    r"(?:install|run|add|inject|upgrade|reinstall|sync|download|wheel|upgrade-all)\b|\b(?:uvx|easy_install)\b"
)
_END = re.compile(r"[`;&|#)]|[.,:] |$")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_BINARY = {".gz", ".onnx", ".png", ".pyc", ".whl", ".zip"}


# A command that goes on in the next line, and arguments beside the name of a program, as settings of clients have them.
_GOES_ON = re.compile(r"""\\\n\s*|["'],?\s*["']?args["']?\s*[:=]\s*\[\s*["']?""")


def installed_names(line: str) -> list[str]:
    """The names that a line gives to an installer; paths, addresses and options are none."""
    found: list[str] = []
    plain = re.sub(r"""["'],\s*["']""", " ", _GOES_ON.sub(" ", line))  # a list of arguments
    for command in _INSTALLER.finditer(plain):
        end = _END.search(plain, command.end())
        for word in plain[command.end() : end.start() if end else len(plain)].split():
            name = _NAME.match(word.strip("\"'\\[],"))
            if name and "/" not in word:
                found.append(re.sub(r"[-_.]+", "-", name[0]).lower())
    return found


def texts() -> Iterator[tuple[str, str]]:
    """The path and the text of each file of the tree."""
    listed = subprocess.run(
        ["git", "-C", str(TOP), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    for name in filter(None, listed.split("\0")):
        path = TOP / name
        if path.is_file() and path.suffix not in _BINARY and path != Path(__file__):
            yield name, path.read_text(encoding="utf-8", errors="replace")


def test_no_line_of_the_tree_installs_us_by_a_name() -> None:
    if not (TOP / ".git").exists():
        pytest.skip("no git repository here")
    found = [(name, _GOES_ON.sub(" ", text).split("\n")) for name, text in texts()]
    lines = [(f"{name}, about line {at}", line) for name, those in found for at, line in enumerate(those, 1)]
    assert len(lines) > 50_000
    assert [place for place, line in lines if not OURS.isdisjoint(installed_names(line))] == []
    assert [place for place, line in lines if "httpx" in installed_names(line)]  # so lines are read


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("pip install 'recollect[postgres]'", ["recollect"]),
        ("python -m pip install --upgrade recollect_memory==1.0", ["recollect-memory"]),
        ("run `pipx install recollect` and be done", ["recollect"]),
        ("uv tool install --force recollect-mcp", ["recollect-mcp"]),
        ("uvx --from recollect recollect mcp", ["recollect", "recollect", "mcp"]),
        ("uv pip install -q click recollect", ["click", "recollect"]),
        ("uv --quiet add recollect", ["recollect"]),
        ('["pip", "install", "recollect"]', ["recollect"]),
        ('"command": "uvx", "args": ["recollect", "mcp"]', ["recollect", "mcp"]),
        ('command = "uvx"\nargs = ["recollect-mcp"]', ["recollect-mcp"]),
        ("pip install \\\n    recollect", ["recollect"]),
        ("pipx inject recollect-memory httpx", ["recollect-memory", "httpx"]),
        ("/opt/recollect/bin/pip install '.[postgres]'", []),
        ("pip install git+https://github.com/OWNER/recollect", []),
        ("pipx install ./recollect, or ~/src/recollect", []),
        ("in a clone of it by `pipx install --force .`, then recollect init", []),
        ("pip uninstall recollect", []),
        ("use uv for everything, recollect says", []),
    ],
)
def test_names_that_an_installer_is_given_are_read(line: str, names: list[str]) -> None:
    assert [name for name in installed_names(line) if name != "git-https"] == names


def test_distribution_has_a_name_of_its_own_and_keeps_command_and_import() -> None:
    assert PROJECT["name"] == importlib.metadata.metadata("recollect-memory")["Name"] == "recollect-memory"
    assert PROJECT["scripts"] == {"recollect": "recollect.cli.main:main"}
    commands = importlib.metadata.entry_points(group="console_scripts", name="recollect")
    assert [command.dist and command.dist.name for command in commands] == ["recollect-memory"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_hint_for_an_extra_names_its_library_as_the_extra_asks_for_it(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_PLUGIN_DATA", raising=False)
    assert [EXTRAS[extra][2]] == PROJECT["optional-dependencies"][extra]
    assert way_to_add(extra).endswith(f"pip install '{EXTRAS[extra][2]}'") or "uv pip install" in way_to_add(extra)
    assert OURS.isdisjoint(installed_names(way_to_add(extra)))


def test_hint_names_an_installer_that_this_environment_has(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    source = Path(recollect.__file__).parents[1]
    program = f"import sys; sys.path.insert(0, {str(source)!r})\nfrom recollect.extras import way_to_add\n"
    program += "print(way_to_add('postgres'))"
    done = subprocess.run([python, "-I", "-c", program], capture_output=True, check=True, encoding="utf-8", env={})
    assert done.stdout == f"uv pip install --python {python} 'psycopg[binary]>=3.2,<4'\n"


@pytest.mark.parametrize("target", [".installed", ".installed-dev"])
def test_make_takes_the_distribution_of_the_older_name_away_before_it_installs(tmp_path: Path, target: str) -> None:
    if not shutil.which("make"):
        pytest.skip("make is not here")
    calls = tmp_path / "calls"
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n', encoding="utf-8")
    python.chmod(0o755)
    folder = tmp_path / "venv"
    subprocess.run(
        ["make", "-C", str(TOP), f"VENV={folder}", "UV=", f"{folder}/{target}"], check=True, capture_output=True
    )
    gone, installed = calls.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"-m pip uninstall .*--yes .*\brecollect", gone)
    assert re.fullmatch(r"tools/install\.py .*-e \.(\[dev\])?", installed)
