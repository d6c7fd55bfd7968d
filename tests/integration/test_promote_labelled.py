"""Lessons that were labelled by hand, as the command judges them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import World

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
DATA = os.path.join(ROOT, "tests", "data", "promotion")
PROJECTS = {
    "quaymaster": os.path.join(DATA, "quaymaster"),
    "parcel-tracker": os.path.join(ROOT, "examples", "sample-project"),
}
SHARE = 0.9


def _labels() -> list[tuple[str, bool, str]]:
    with open(os.path.join(DATA, "labels.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(project, label == "universal", name) for project, label, name in rows]


def _judged(world: World, project: str) -> dict[str, bool]:
    root = world.home / project
    shutil.copytree(PROJECTS[project], root)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    done = world.run("promote", "--dry-run", "--json", cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
    return {entry["name"]: entry["universal"] for entry in json.loads(done.stdout)["entries"]}


def test_promotion_judges_nine_of_ten_labelled_lessons_right_in_both_halves(world: World) -> None:
    verdicts = {project: _judged(world, project) for project in PROJECTS}
    assert sum(map(len, verdicts.values())) == len(_labels()) == 63
    for half in (_labels()[::2], _labels()[1::2]):
        wrong = [name for project, is_universal, name in half if verdicts[project][name] != is_universal]
        assert len(half) - len(wrong) >= SHARE * len(half), wrong


@pytest.mark.parametrize(
    ("name", "is_universal"),
    [
        ("Blocking the Event Loop Through a Pool", True),  # a comment names ThreadPoolExecutor
        ("SQLite on a Network Share", True),  # a variable is called SQLite
        ("Floating Point for Money", True),  # only its cost names surcharge_for
        ("Tariffs Begin at Midnight UTC", False),  # the lesson itself names TariffTable
    ],
)
def test_lesson_is_judged_by_definitions_and_by_its_own_sentence(world: World, name: str, is_universal: bool) -> None:
    assert _judged(world, "quaymaster")[name] == is_universal


def test_address_in_the_cost_of_a_lesson_keeps_it_here(world: World) -> None:
    text = "### Slow Peers\nGive every call a limit.\n- Cost: An hour at https://billing.internal/v1\n"
    world.write_bank("heuristics", text)
    assert "billing.internal" in world.run("promote", "--dry-run").stdout
    world.write_bank("heuristics", text.replace("https://billing.internal/v1", "the till"))
    assert "+ universal" in world.run("promote", "--dry-run").stdout


def test_large_repository_does_not_make_promotion_read_all_of_it(world: World) -> None:
    world.write_bank("heuristics", "### Once\nCall `openDrawer` and `closeDrawer` once.\n")
    folder = world.project / "src"
    folder.mkdir()
    line = "// class openDrawer is spoken of here, and nothing is defined\n"
    for number in range(80):
        Path(folder, f"a{number:02}.ts").write_text(line * 8_000, encoding="utf-8")
    Path(folder, "z.ts").write_text("export function closeDrawer() {}\n", encoding="utf-8")
    done = world.run("promote", "--dry-run")
    assert "+ universal" in done.stdout  # the last file is beyond the bytes that are read
