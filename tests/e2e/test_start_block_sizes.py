"""The start block through the real hook: the sample project, and a bank of more lessons than a block can hold."""

from __future__ import annotations

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from tests.conftest import World

from recollect.config.project import identity
from recollect.domain.categories import CATEGORIES
from recollect.domain.start_block import CHARACTER_LIMIT
from recollect.domain.text import client_length
from recollect.files.met import meet

SAMPLE = Path(__file__).parents[2] / "examples" / "sample-project"
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LABELS = {"anti-patterns": "Anti-Pattern", "heuristics": "Heuristic", "patterns": "Pattern"}
SECTIONS = {CATEGORIES[category].start_heading: category for category in LABELS} | {"Memories of This Project": ""}
WAYS = pytest.mark.parametrize("semantic", ["true", "false"])


def begin(world: World, source: str = "startup", session: str = "s1", **variables: str) -> str:
    """Return the block of a session that starts, in a project with sessions before."""
    meet(str(world.store), identity(str(world.project)))
    event = {"session_id": session, "cwd": str(world.project), "hook_event_name": "SessionStart", "source": source}
    done = world.run_hook("session-start", event, **{**BY_WORDS, **variables})
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def lessons(block: str, category: str = "") -> list[str]:
    """Return the titles of the lessons in a block, or in the section of a category."""
    headings = re.findall(r"^### (.+?)(?: \[repository\])?$", block, re.MULTILINE)
    section = ""
    found: list[tuple[str, str]] = []
    for heading in headings:
        section = SECTIONS.get(heading, section)
        found += [] if heading in SECTIONS else [(section, heading)]
    return [heading for section, heading in found if section == category or (section and not category)]


def write_bank_of(world: World, count: int, words: int = 70) -> None:
    """Write lessons in the sizes of real ones, patterns with the most observations."""
    for place, (category, label) in enumerate(LABELS.items()):
        text = "".join(
            f"### {label}: Lesson {n} of {category}\n{'word ' * (words + n % 40)}{n} {category}.\n"
            f"- Observation count: {1 + place * 3 + n % 4}\n\n"
            for n in range(place, count, 3)
        )
        world.write_bank(category, text)


@WAYS
def test_a_bank_of_256_lessons_leaves_three_of_each_category_below_the_limit(world: World, semantic: str) -> None:
    write_bank_of(world, 256)
    for number in range(60):
        world.write_decision(f"d{number}", title=f"Decision number {number} about the orders of customers")
    block = begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=semantic)
    assert all(len(lessons(block, category)) >= 3 for category in LABELS)
    assert CHARACTER_LIMIT - 1_000 < client_length(block) < CHARACTER_LIMIT
    shown = len(lessons(block))
    assert f"*Memory: {shown} entries" in block
    assert f"{20 - shown} dropped to stay below 9,500 characters" in block
    titles = block.count("\n- [")
    assert titles > 20
    assert f"\n{60 - titles} more: `recollect list`\n" in block


@WAYS
def test_a_few_long_lessons_do_not_push_others_out(world: World, semantic: str) -> None:
    write_bank_of(world, 30, words=40)
    long = "".join(f"### Pattern: Long {n}\n{'long ' * 600}{n}\n- Observation count: 20\n\n" for n in range(2))
    world.write_bank("patterns", long, shared=True)
    block = begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=semantic)
    assert client_length(block) < CHARACTER_LIMIT
    assert all(len(lessons(block, category)) >= 3 for category in LABELS)


def test_without_a_context_every_other_lesson_is_one_not_given_lately(world: World) -> None:
    write_bank_of(world, 256)
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true"}
    given = [set(lessons(begin(world, session=f"s{number}", **variables))) for number in range(6)]
    for earlier, later in pairwise(given):
        assert len(later - earlier) >= len(later) // 2 - 1
        assert len(later & earlier) >= len(later) // 3
    assert len(set.union(*given)) > 3 * len(given[0])


def test_without_a_context_a_resumed_session_is_given_no_further_lessons(world: World) -> None:
    write_bank_of(world, 256)
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true"}
    for number in range(3):
        begin(world, session=f"s{number}", **variables)
    assert begin(world, session="mine", **variables)
    begin(world, session="other", **variables)
    assert begin(world, "resume", session="mine", **variables) == ""


@WAYS
def test_the_sample_project_is_given_lessons_of_each_category_and_its_decisions(world: World, semantic: str) -> None:
    shutil.copytree(SAMPLE, world.project, dirs_exist_ok=True)
    (world.project / ".claude" / "iflow-dev.local.md").unlink()
    world.write_decision("sqlite", title="Deliveries are kept in SQLite")
    block = begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=semantic)
    assert client_length(block) < CHARACTER_LIMIT
    assert all(len(lessons(block, category)) >= 3 for category in LABELS)
    assert "] Deliveries are kept in SQLite\n" in block
    if semantic == "true":
        assert 'context: "webhook-retries. Webhook retri..."' in block
