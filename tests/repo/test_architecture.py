"""The layers of docs/architecture.md, checked module by module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "recollect"

# Which layers a layer may import. Nothing else may, imports inside functions included.
MAY_IMPORT = {
    "errors": set[str](),
    "version": set[str](),
    "domain": {"domain", "errors"},
    "files": {"files", "domain", "errors"},
    "store": {"store", "domain", "errors"},
    "embedding": {"embedding", "domain", "errors"},
    "keywords": {"keywords", "domain", "errors"},
    "services": {"version", "services", "files", "store", "embedding", "keywords", "domain", "errors"},
    "cli": {"version", "cli", "hooks", "mcp", "services", "files", "domain", "errors"},
    "hooks": {"version", "hooks", "services", "files", "domain", "errors"},
    "mcp": {"version", "mcp", "services", "domain", "errors"},
    "bare": {"cli", "hooks", "services"},
    "api": {"version", "services", "files", "domain", "errors"},
}

# The domain is pure: it computes, and touches neither files nor clocks nor processes.
IMPURE = {"os", "io", "pathlib", "subprocess", "socket", "sqlite3", "time", "tempfile", "shutil", "urllib.request"}

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def layer_of(path: Path) -> str:
    if path.name == "bare.py":
        return "bare"  # a script, above everything that it may run
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


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


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_layers_below_it(path: Path) -> None:
    own = {name.split(".")[1] for name in imported_by(path) if name.startswith("recollect.")}
    assert own <= MAY_IMPORT[layer_of(path)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_domain_touches_nothing_outside_the_process(path: Path) -> None:
    if layer_of(path) == "domain":
        assert not {name for name in imported_by(path) if name in IMPURE or name.split(".")[0] in IMPURE}


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


def test_packages_are_empty() -> None:
    assert [str(path) for path in PACKAGE.rglob("__init__.py") if path.read_text(encoding="utf-8")] == []


def test_every_layer_of_the_table_exists_and_is_in_the_architecture_page() -> None:
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for layer in MAY_IMPORT:
        assert list(PACKAGE.glob(f"**/{layer}")) or list(PACKAGE.glob(f"**/{layer}.py"))
        assert f"`{layer}" in page


def test_only_one_module_spells_the_default_places() -> None:
    spelled = [path.name for path in MODULES if '"iflow"' in path.read_text(encoding="utf-8")]
    assert spelled == ["locations.py"]
