"""The layers of docs/architecture.md, checked module by module."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "recollect"

# What a package may import beside itself, `errors` and `extras`, inside functions too: the table of
# docs/architecture.md.
_LOW = {"domain", "files", "version"}
_ENGINE = _LOW | {"config", "store", "embedding", "keywords"}
_SYNC = _ENGINE | {"engine"}
_TRUTH = _SYNC | {"sync"}
_RECALL = _TRUTH | {"truth"}
_USE_CASES = {
    "config", "engine", "sync", "truth", "recall", "sessions", "memories", "learn", "promote", "transfer", "share",
    "team", "resident", "plugin", "doctor", "overview",
}  # fmt: skip
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "extras": set(),
    "version": set(),
    "domain": set(),
    "files": {"domain"},
    "store": {"domain"},
    "embedding": {"domain"},
    "keywords": {"domain"},
    "config": _LOW,
    "engine": _ENGINE,
    "sync": _SYNC,
    "truth": _TRUTH,
    "recall": _RECALL,
    "memories": _RECALL,
    "sessions": _RECALL | {"recall"},
    "learn": _RECALL | {"memories"},
    "promote": _RECALL | {"memories"},
    "team": _RECALL,
    "transfer": _RECALL | {"memories"},
    "share": _RECALL | {"memories"},
    "overview": _RECALL | {"recall", "sessions", "memories", "learn"},
    "resident": _RECALL | {"recall", "sessions", "team"},
    "plugin": _RECALL | {"resident", "share"},
    "doctor": _ENGINE | _USE_CASES,
    "serving": {"domain"},
    "hooks": _LOW | _USE_CASES,
    "mcp": _LOW | _USE_CASES | {"serving"},
    "web": _LOW | _USE_CASES | {"serving"},
    "cli": _LOW | _USE_CASES | {"hooks", "mcp", "web"},
    "api": _LOW | _USE_CASES,
    "bare": _USE_CASES | {"cli", "hooks"},
}

# No package is a heap: whoever looks for something reads one short list. Each command has its own module in cli/.
MOST_MODULES = 16

# The domain is pure: it computes, and touches neither files nor clocks nor processes.
IMPURE = {"os", "io", "pathlib", "subprocess", "socket", "sqlite3", "time", "tempfile", "shutil", "urllib.request"}

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def layer_of(path: Path) -> str:
    if path.name == "bare.py":
        return "bare"  # a script, above everything that it may run
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported_by(path: Path) -> set[str]:
    """The full names of all modules that a file imports, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_modules_import_only_layers_below_them() -> None:
    for path in MODULES:
        own = {name.split(".")[1] for name in imported_by(path) if name.startswith("recollect.")}
        assert own <= MAY_IMPORT[layer_of(path)] | {layer_of(path), "errors", "extras"}, path


def test_domain_touches_nothing_outside_the_process() -> None:
    for path in MODULES:
        if layer_of(path) == "domain":
            assert not {name for name in imported_by(path) if name in IMPURE or name.split(".")[0] in IMPURE}, path


def test_no_import_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        name = "recollect." + str(path.relative_to(PACKAGE).with_suffix("")).replace("/", ".")
        graph[name] = {n for n in imported_by(path) if n.startswith("recollect.")}
    edges = {a: {b for b in graph if any(n == b or n.startswith(b + ".") for n in names)} for a, names in graph.items()}
    done: set[str] = set()
    while rest := {name for name in edges if name not in done and edges[name] <= done}:
        done |= rest
    assert set(edges) - done == set()


PACKAGES = sorted(path.parent for path in PACKAGE.rglob("*.py") if path.name == "__init__.py")


@pytest.mark.parametrize("package", PACKAGES[1:], ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_package_says_in_a_sentence_or_two_what_is_in_it(package: Path) -> None:
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    assert len(tree.body) == 1, "whoever imports a module must not load another"
    said = ast.get_docstring(tree) or ""
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_package_is_a_heap(package: Path) -> None:
    modules = [path for path in package.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES or package.name == "cli"


def test_every_layer_of_the_table_exists_and_is_in_the_architecture_page() -> None:
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for layer in MAY_IMPORT:
        assert list(PACKAGE.glob(f"**/{layer}")) or list(PACKAGE.glob(f"**/{layer}.py"))
        assert f"`{layer}" in page


def test_only_one_module_spells_the_default_places() -> None:
    spelled = [path.name for path in MODULES if '"iflow"' in path.read_text(encoding="utf-8")]
    assert spelled == ["locations.py"]


# Lists of words that people use, one of them the name of the database.
WORD_LISTS = {"promote/common_names.py", "domain/triage/words.py", "keywords/words.py", "keywords/prompt.py"}

# Words for people that name it: the help of two commands, a search without full text, a value of a setting.
NAMED_FOR_PEOPLE = {"cli/doctor.py", "cli/store.py", "recall/degradation.py", "config/settings_keys.py"}


def test_only_the_store_knows_its_engine() -> None:
    for path in (path for path in MODULES if layer_of(path) != "store"):
        assert not {module for module in imported_by(path) if "sqlite" in module.lower()}, path
        if str(path.relative_to(PACKAGE)) not in WORD_LISTS | NAMED_FOR_PEOPLE:
            text = path.read_text(encoding="utf-8").lower()
            assert "sqlite" not in text, path
            assert "memory.db" not in text, path


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_engine_is_chosen_in_two_modules_of_the_store(engine: str) -> None:
    modules = (PACKAGE / "store").glob("*.py")
    outside = [path for path in modules if f"recollect.store.{engine}" in path.read_text("utf-8")]
    assert sorted(path.name for path in outside) == ["open.py", "repair.py"]


def test_engines_know_nothing_of_each_other() -> None:
    for one, other in (("sqlite", "postgres"), ("postgres", "sqlite"), ("sql", "sqlite"), ("sql", "postgres")):
        for path in (PACKAGE / "store" / one).glob("*.py"):
            assert not any(name.startswith(f"recollect.store.{other}.") for name in imported_by(path)), path


def test_sql_has_no_numbered_placeholders() -> None:
    """Python 3.12 warns where a sequence is bound to them, and 3.14 refuses it."""
    numbered = re.compile(r"\?[0-9]")
    found = [
        f"{path.name}: {node.value}"
        for path in (PACKAGE / "store").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and numbered.search(node.value)
    ]
    assert not found
