from __future__ import annotations

from pathlib import Path

import pytest

from recollect.learn.input import parted


@pytest.fixture
def project(tmp_path: Path) -> str:
    folder = tmp_path / "shop-front"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").touch()
    (folder / "Makefile").touch()
    return str(folder)


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("src/cart.py", "src/cart.py"),
        ("./src/cart.py", "src/cart.py"),
        ("src/../src/cart.py", "src/cart.py"),
        ("Makefile", "Makefile"),
        ("src", "src"),
        ("src/planned.py", "src/planned.py"),
    ],
)
def test_file_of_the_project_is_one_from_its_folder_on(project: str, reference: str, path: str) -> None:
    assert parted([reference], [project]) == ([path], [])


@pytest.mark.parametrize("reference", ["src/cart.py:12", "src/cart.py:12-20", "src/cart.py#L12-L20"])
def test_place_in_a_file_is_kept_beside_it(project: str, reference: str) -> None:
    assert parted([reference], [project]) == (["src/cart.py"], [reference])


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.org/src/cart.py",
        "PR #12",
        "and/or",
        "v1.2",
        "lib/missing.py",
        "../other/cart.py",
        "/etc/passwd",
        "src/../../x.py",
        ".",
        "..",
        "example.com",
    ],
)
def test_anything_else_is_no_file(project: str, reference: str) -> None:
    assert parted([reference], [project]) == ([], [reference])


def test_absolute_path_and_other_checkout_count_too(project: str, tmp_path: Path) -> None:
    worktree = tmp_path / "tree"
    worktree.mkdir()
    (worktree / "new.py").touch()
    files, others = parted([f"{project}/src/cart.py", "new.py", "src/cart.py"], [str(worktree), project])
    assert (files, others) == (["src/cart.py", "new.py"], [])
