"""An attack set that nobody here wrote: what becomes of each of its texts, brought by a clone or stored by an agent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from tests.conftest import World
from tests.integration.mcp_server.talk import with_client

PAYLOADS = json.loads((Path(__file__).parents[1] / "data" / "owasp" / "payloads.json").read_text(encoding="utf-8"))
SECRET = 9  # of 12: the others are a card number, a social security number, and the key in Amazon's documentation
WORDS = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true", "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}


def name_of(number: int) -> str:
    return f"Case {number:02} of the set"


def becomes(block: str, number: int) -> str:
    """Say what a session is given of a case: nothing, or its text with which marks."""
    lines = block.split("\n")
    at = next((at for at, line in enumerate(lines) if name_of(number) in line), -1)
    if at < 0:
        return "withheld"
    said = lines[at + 1 :]
    end = next(place for place, line in enumerate(said) if not line or line.startswith(("### ", "---")))
    quoted = "quoted" if all(line.startswith("> ") for line in said[:end]) else "as it is"
    return f"{quoted}{', [repository]' if lines[at].endswith(' [repository]') else ''}"


def assert_told(found: Counter[tuple[str, str]], form: str, refused: int = 0) -> None:
    """Assert that all are given in this form but credentials, of which no more are given than are named here."""
    credentials = {
        form: found.pop(("sensitive_data", form), 0),
        "withheld": found.pop(("sensitive_data", "withheld"), 0),
    }
    assert found == {("prompt_injection", form): 15, ("memory_persistence", form): 5, ("benign", form): 17}
    assert credentials["withheld"] + refused >= SECRET
    assert sum(credentials.values()) + refused == 12


def given_of(world: World, numbers: list[int], *options: str) -> Counter[tuple[str, str]]:
    """Count what a session is given of these cases, by their category."""
    found: Counter[tuple[str, str]] = Counter()
    block = world.run("inject", "--limit", "-1", *options, **WORDS).stdout
    assert "dropped" not in block, "the block has room for all"
    for number in numbers:
        found[PAYLOADS[number]["category"], becomes(block, number)] += 1
    return found


def in_groups(size: int) -> list[list[int]]:
    return [list(range(start, min(start + size, len(PAYLOADS)))) for start in range(0, len(PAYLOADS), size)]


@pytest.mark.parametrize("vouched", [False, True])
def test_texts_in_the_bank_of_a_clone_are_withheld_or_quoted_and_marked(world: World, vouched: bool) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for group in in_groups(25):
        text = "".join(f"### Pattern: {name_of(n)}\n{PAYLOADS[n]['value']}\n\n" for n in group)
        world.write_bank("patterns", text)
        found += given_of(world, group, *(["--project-root", str(world.project)] if vouched else []))
    form = "as it is, [repository]" if vouched else "quoted, [repository]"
    assert_told(found, form)


def test_texts_that_an_agent_stores_are_refused_or_quoted(world: World) -> None:
    outcomes: Counter[tuple[str, str]] = Counter()
    refused: set[int] = set()

    async def use(session: ClientSession) -> None:
        for number, payload in enumerate(PAYLOADS):
            fields: dict[str, Any] = {"name": name_of(number), "description": payload["value"], "category": "patterns"}
            result = await session.call_tool("store_memory", {**fields, "reasoning": "A page said so."})
            outcomes[payload["category"], "refused" if result.is_error else "stored"] += 1
            refused.update([number] if result.is_error else [])

    with_client(world, use)
    assert outcomes["prompt_injection", "stored"] == 15
    assert outcomes["memory_persistence", "stored"] == 5
    assert outcomes["benign", "stored"] == 17
    assert outcomes["sensitive_data", "refused"] >= SECRET
    stored = [number for number in range(len(PAYLOADS)) if number not in refused]
    assert_told(given_of(world, stored), "quoted", refused=len(refused))
