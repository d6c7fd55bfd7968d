"""Leave out what a session has in its context anyway: neither its start nor a prompt gives it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import World, until
from tests.integration.test_resident import PATIENT, Serve, serving, status
from tests.integration.test_resident import ready as resident_ready

SAID = "Amounts of money are kept in integer cents, because floats lose a cent in the totals of long invoices."
TOPIC = "Invoices show amounts of money with two decimals. Totals of long invoices are rounded once, at the end."
LESSON = f"### Pattern: Integer cents\n{SAID}\n- Observation count: 3\n"
OTHER = "### Pattern: Drain first\nDrain open connections before a container is replaced.\n"
PROMPT = "which type do we use for amounts of money in the totals of invoices, floats or integer cents?"
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
FORGETFUL = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
LEFT_OUT = "| 1 left out, in context already*"


def memory_file(world: World) -> Path:
    folder = "".join(char if char.isalnum() else "-" for char in str(world.project))
    return world.home / ".claude" / "projects" / folder / "memory" / "MEMORY.md"


def place(world: World, name: str) -> Path:
    """The file of this name that the client shows to each session."""
    named = {"user's CLAUDE.md": world.home / ".claude" / "CLAUDE.md", "MEMORY.md": memory_file(world)}
    path = named.get(name, world.project / name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_decision(world: World, decision: str = SAID) -> None:
    content = {"status": "accepted", "context": "Totals of invoices", "decision": decision, "rationale": ["floats"]}
    title = "Amounts of money in invoices are integer cents"
    world.write_decision("cents", title=title, tags=["money", "invoices"], content=content)


def begin(world: World, session: str, **variables: str) -> str:
    """The block that a session starts with."""
    event = {"source": "startup", "session_id": session, "cwd": str(world.project)}
    done = world.run_hook("session-start", event, **{**BY_WORDS, **variables})
    assert done.returncode == 0
    return json.loads(done.stdout).get("hookSpecificOutput", {}).get("additionalContext", "") if done.stdout else ""


def ask(world: World, session: str, **variables: str) -> str:
    """The block that a prompt is given."""
    event = {"prompt": PROMPT, "session_id": session, "cwd": str(world.project)}
    done = world.run_hook("prompt", event, **{**BY_WORDS, **variables})
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


FILES = ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "user's CLAUDE.md", "MEMORY.md"]


@pytest.mark.parametrize("semantic", ["true", "false"])
@pytest.mark.parametrize("name", FILES)
def test_a_start_does_not_repeat_what_the_client_shows_anyway(world: World, name: str, semantic: str) -> None:
    world.write_bank("patterns", LESSON + OTHER)
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": semantic}
    path = place(world, name)
    path.write_text(f"# Billing\n\n{TOPIC}\n", encoding="utf-8")
    block = begin(world, "topic", **variables)
    assert "Integer cents" in block, "it is about the same, and says something else"
    assert "left out" not in block
    rule, _, reason = SAID.partition(", ")
    path.write_text(f"# Billing\n\n- **{rule}**\n  ({reason.upper()})\n", encoding="utf-8")
    block = begin(world, "said", **variables)
    assert "Integer cents" not in block
    assert "Drain first" in block
    assert LEFT_OUT in block


@pytest.mark.parametrize("strategy", ["hybrid", "title_tags"])
@pytest.mark.parametrize("name", FILES)
def test_a_prompt_is_not_given_what_the_client_shows_anyway(semantic_world: World, name: str, strategy: str) -> None:
    write_decision(semantic_world)
    assert semantic_world.run("search", "invoices", **BY_WORDS).returncode == 0
    variables = {"RECOLLECT_RETRIEVAL_MATCH_STRATEGY": strategy}
    path = place(semantic_world, name)
    path.write_text(f"# Billing\n\n{TOPIC}\n", encoding="utf-8")
    assert "integer cents" in ask(semantic_world, "topic", **variables)
    path.write_text(f"# Billing\n\n{SAID}\n", encoding="utf-8")
    assert ask(semantic_world, "said", **variables) == ""
    assert ask(semantic_world, "topic", **variables) == "", "it was given once"


def test_a_lesson_that_is_left_out_leaves_its_place_to_another(world: World) -> None:
    world.write_bank("patterns", LESSON + OTHER)
    limit = {"RECOLLECT_MEMORY_INJECTION_LIMIT": "1"}
    assert "Drain first" not in begin(world, "before", **limit)
    place(world, "CLAUDE.md").write_text(SAID, encoding="utf-8")
    assert "Drain first" in begin(world, "after", **limit)


def test_a_start_with_nothing_but_what_is_known_says_nothing(world: World) -> None:
    world.write_bank("patterns", LESSON)
    place(world, "CLAUDE.md").write_text(SAID, encoding="utf-8")
    event = {"source": "startup", "session_id": "s1", "cwd": str(world.project)}
    world.run_hook("session-start", event)  # the first session is told that the repository has lessons
    assert begin(world, "s2") == ""
    assert world.run("inject").stdout == ""


def test_a_client_without_its_own_memory_does_not_show_it(world: World) -> None:
    world.write_bank("patterns", LESSON)
    place(world, "MEMORY.md").write_text(SAID, encoding="utf-8")
    assert begin(world, "with") == ""
    assert "Integer cents" in begin(world, "without", **FORGETFUL)


def test_a_client_with_a_folder_of_its_own_shows_the_files_in_that(world: World, tmp_path: Path) -> None:
    world.write_bank("patterns", LESSON)
    place(world, "user's CLAUDE.md").write_text(SAID, encoding="utf-8")
    folder = tmp_path / "another"
    folder.mkdir()
    assert "Integer cents" in begin(world, "other", CLAUDE_CONFIG_DIR=str(folder))
    (folder / "CLAUDE.md").write_text(SAID, encoding="utf-8")
    assert begin(world, "same", CLAUDE_CONFIG_DIR=str(folder)) == ""


# The resident


@pytest.fixture
def serve(semantic_world: World) -> Iterator[Serve]:
    yield from serving(semantic_world)


def test_the_resident_leaves_out_the_same_and_notices_changes_of_the_files(
    semantic_world: World, serve: Serve, tmp_path: Path
) -> None:
    write_decision(semantic_world)
    semantic_world.write_bank("patterns", LESSON + OTHER)
    assert semantic_world.run("reembed").returncode == 0
    resident_ready(semantic_world, serve())
    asked = {**PATIENT, "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "true"}
    answered = status(semantic_world)["answered"]
    path = place(semantic_world, "CLAUDE.md")
    for number in range(2):
        path.write_text(TOPIC, encoding="utf-8")
        assert "integer cents" in ask(semantic_world, f"topic-{number}", **asked)
        assert "Integer cents" in begin(semantic_world, f"start-topic-{number}", **asked)
        path.write_text(SAID, encoding="utf-8")
        assert ask(semantic_world, f"said-{number}", **asked) == ""
        block = begin(semantic_world, f"start-said-{number}", **asked)
        assert "Drain first" in block
        assert LEFT_OUT in block
    path.unlink()
    folder = tmp_path / "another"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text(SAID, encoding="utf-8")
    assert ask(semantic_world, "other-folder", **asked, CLAUDE_CONFIG_DIR=str(folder)) == ""
    assert "integer cents" in ask(semantic_world, "own-folder", **asked)
    until(lambda: status(semantic_world)["answered"] >= answered + 10)
