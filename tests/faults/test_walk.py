"""Every command and hook that writes meets a fault at each of its file operations; see injector.py for the faults."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import cache
from itertools import groupby

import pytest
from tests.faults.injector import FAULTS, Operation
from tests.faults.invariants import Reference, check, reference
from tests.faults.scenes import READING, SCENES, Scene, Stage

from recollect.cli.main import COMMANDS
from recollect.hooks.run import HOOKS

every_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)


def test_every_command_and_hook_is_walked_or_known_to_write_nothing() -> None:
    for known, place in ((COMMANDS, 0), (HOOKS, 1)):
        named = {scene.arguments[place] for scene in (*SCENES, *READING) if scene.is_hook or not place}
        assert set(known) - named == set()


@pytest.mark.parametrize("scene", READING, ids=lambda scene: scene.name)
def test_what_only_looks_writes_nothing(stage: Stage, scene: Scene) -> None:
    stage.reset(scene)
    before = _bytes(stage)
    done = stage.play(scene)
    assert "Traceback" not in done.stderr
    assert _bytes(stage) == before


@every_scene
def test_a_fault_at_an_operation_of_a_command_loses_nothing(
    stage: Stage, scene: Scene, tried: Callable[[int], None]
) -> None:
    known = _reference(stage, scene)
    assert known.outcome.operations
    tried(sum(bool(_steps(known, fault)) for fault in FAULTS))
    for fault in FAULTS:
        steps = _steps(known, fault)
        if steps:
            at = random.Random(f"{scene.name} {fault}").choice(steps)
            check(stage, scene, known, fault, at, by_doctor=True)


def test_a_store_that_is_behind_is_no_reason_to_say_that_a_lesson_names_no_file(stage: Stage) -> None:
    scene = next(scene for scene in SCENES if scene.name == "confirm lesson")
    check(stage, scene, _reference(stage, scene), "full", 1)


@pytest.mark.attack
@every_scene
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_operation_of_a_command_loses_nothing(
    stage: Stage, scene: Scene, fault: str, tried: Callable[[int], None]
) -> None:
    known = _reference(stage, scene)
    tried(len(_steps(known, fault)))
    for at in _steps(known, fault):
        try:
            check(stage, scene, known, fault, at)
        except AssertionError as error:
            raise AssertionError(f"{fault} at operation {at}, {known.outcome.operations[at - 1]}: {error}") from error


@cache
def _reference(stage: Stage, scene_: Scene) -> Reference:
    return reference(stage, scene_)


def _steps(known: Reference, fault: str) -> list[int]:
    """Return the numbers of the operations to strike.

    Of many writes to one file in a row these are the first two and the last. A fault that the process outlives is the
    same for SQLite wherever it comes: of its operations in a row these are the first, one in the middle and the last.
    Faults that the process outlives take turns from one operation to the next.
    """
    operations = known.outcome.operations
    outlived = fault not in ("kill", "torn")
    numbers: list[int] = []
    for _, run in groupby(enumerate(operations, 1), lambda each: _run_of(each[1], outlived)):
        each = [number for number, _ in run]
        numbers += sorted({each[0], each[len(each) // 2 if outlived else min(1, len(each) - 1)], each[-1]})
    if outlived:
        numbers = numbers[FAULTS.index(fault) % 2 :: 2]
    return [number for number in numbers if fault != "torn" or operations[number - 1].name in ("write", "pwrite64")]


def _run_of(operation: Operation, outlived: bool) -> str:
    of_database = os.path.basename(operation.path).startswith("memory.db")
    return "database" if of_database and outlived else str(operation)


def _bytes(stage: Stage) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in stage.world.home.rglob("*") if path.is_file()}
