"""The packages that extras add to the plugin's environment: pinned, with hashes, as the extras ask for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from recollect.extras import EXTRAS
from recollect.plugin.environment import unmet

TOP = Path(__file__).parents[2]
LOCKED = TOP / "plugin" / "locked"
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(extra: str) -> dict[str, list[str]]:
    """Return the hashes by requirement line."""
    found: dict[str, list[str]] = {}
    for line in (LOCKED / f"{extra}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("    --hash=sha256:"):
            found[list(found)[-1]].append(line.strip(" \\").removeprefix("--hash=sha256:"))
        else:
            found[line.removesuffix(" \\")] = []
    return found


def versions(extra: str) -> dict[str, str]:
    return {line.partition("==")[0]: line.partition("==")[2].partition(" ")[0] for line in pinned(extra)}


def test_every_extra_of_a_provider_has_a_file_and_nothing_else_has() -> None:
    assert {path.stem for path in LOCKED.iterdir()} == set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {"dev"}


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_package_is_pinned_to_one_version_with_hashes(extra: str) -> None:
    lines = pinned(extra)
    assert lines
    for line, hashes in lines.items():
        assert line.count("==") >= 1
        assert hashes
        assert all(len(each) == 64 and set(each) <= set("0123456789abcdef") for each in hashes)


@pytest.mark.parametrize("extra", EXTRAS)
def test_pinned_version_is_one_that_the_extra_asks_for(extra: str, tmp_path: Path) -> None:
    (requirement,) = PROJECT["optional-dependencies"][extra]
    name = EXTRAS[extra][0]
    known = {package.replace("-", "_"): version for package, version in versions(extra).items()}
    (tmp_path / "site" / f"{name}-{known[name]}.dist-info").mkdir(parents=True)
    (tmp_path / "asked.txt").write_text(f"{requirement}\n", encoding="utf-8")
    assert unmet(str(tmp_path / "asked.txt"), str(tmp_path / "site")) == []


def test_extras_agree_on_the_versions_that_they_share() -> None:
    for one in EXTRAS:
        for other in EXTRAS:
            shared = versions(one).keys() & versions(other).keys()
            assert {name: versions(one)[name] for name in shared} == {name: versions(other)[name] for name in shared}


def test_extras_leave_the_plugins_own_packages_alone() -> None:
    own = {line.partition(">")[0] for line in (TOP / "plugin" / "requirements.txt").read_text("utf-8").split()}
    assert len(own) == 11
    for extra in EXTRAS:
        assert own.isdisjoint(versions(extra))
