"""No test depends on chance that cannot be repeated, or has a limit that a busy machine could reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = [path for path in sorted(TESTS.rglob("*.py")) if not path.is_relative_to(TESTS / "data")]

# Waits that end with an error when a limit in seconds is reached, by the name of what is called.
WAITS = {"wait", "join", "communicate", "run", "settimeout", "result", "fail_after", "Timer", "create_connection"}
# What is random in another way each time, and no seed changes.
UNREPEATABLE = {"uuid.uuid4", "os.urandom", "secrets.token_hex", "random.SystemRandom"}

ALLOWED = {
    "chance.py: random.SystemRandom": "chooses the seed",
    "faults/scenes.py: uuid.uuid4": "one session of all scenes of a worker, in the name of a file that all share",
    "integration/mcp_server/test_mcp_users.py: secrets.token_hex": "a token that nobody knows",
    "integration/test_hook_fuzz.py: run(600)": "thousands of events",
}


def calls(path: Path) -> Iterator[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return f"{name_of(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def limits(call: ast.Call) -> list[float]:
    """The numbers that a call which waits has as its limit. A short one is a pause between two looks."""
    name = name_of(call.func).rpartition(".")[2]
    if name not in WAITS:
        return []
    given = [word.value for word in call.keywords if word.arg == "timeout"]
    given += call.args[:1] if name not in ("run", "communicate", "create_connection") else []
    numbers = [each.value for each in given if isinstance(each, ast.Constant)]
    return [number for number in numbers if isinstance(number, int | float) and number >= 5]


def luck(path: Path) -> set[str]:
    found: set[str] = set()
    for call in calls(path):
        name = name_of(call.func)
        found |= {f"{name.rpartition('.')[2]}({limit})" for limit in limits(call)}
        if name == "random.Random" and not call.args:
            found.add(name)
        if name in UNREPEATABLE:
            found.add(name)
    return {f"{path.relative_to(TESTS)}: {each}" for each in found}


@pytest.fixture(scope="module")
def found() -> set[str]:
    return {each for path in FILES for each in luck(path)}


def test_tests_take_chance_from_their_seed_and_limits_from_one_constant(found: set[str]) -> None:
    assert sorted(found - ALLOWED.keys()) == []


def test_exceptions_are_still_there(found: set[str]) -> None:
    assert sorted(ALLOWED.keys() - found) == []
