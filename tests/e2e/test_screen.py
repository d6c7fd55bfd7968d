"""Lines on a terminal: none is longer than the terminal is wide, and no word, date, path or command is broken."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests.conftest import World, days_ago, read_terminal

DEMO = str(Path(__file__).parents[2] / "examples" / "demo.py")
SLUG = "orders-live-in-one-postgresql-database"
QUESTION = "where do the orders live, in PostgreSQL or in another database"
LONG = "Retries of webhooks need jitter, or they overload the payment gateway together, as on 2026-03-14. " * 3
WIDEST = 10_000
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "NO_COLOR": "1"}

READING = [
    ("check",),
    ("config",),
    ("doctor",),
    ("import", "notes.md", "--dry-run"),
    ("index", "--health"),
    ("index", "--gc", "--dry-run"),
    ("index", "--query", "orders"),
    ("init", "--git", "--dry-run"),
    ("inject", "--preview"),
    ("list", "--all"),
    ("log",),
    ("promote", "--dry-run"),
    ("review",),
    ("search", QUESTION, "--explain"),
    ("show", SLUG, "--history"),
    ("show", "retry-with-jitter"),
    ("stale",),
    ("stats",),
    ("status",),
    ("triggers", SLUG),
    ("triggers", "--missing"),
    ("try", QUESTION),
    ("uninstall", "--dry-run"),
    ("why", SLUG),
]
CHANGING = [
    ("add", "Orders are exported every night at two, because the warehouse closes its books at three"),
    ("backup", "create", "saved.tar"),
    ("config", "set", "retrieval.max_inject", "3"),
    ("export", "--format", "markdown", "--output", "all.md"),
    ("inject",),
    ("pin", SLUG),
    ("unpin", SLUG),
    ("mute", SLUG),
    ("unmute", SLUG),
    ("archive", SLUG),
    ("restore", SLUG),
    ("retire", SLUG, "--reason", LONG),
    ("rebuild",),
]
WITH_ANOTHER_LAYOUT = ("list", "review", "stats")  # on a narrow terminal


@pytest.fixture
def shop(semantic_world: World) -> World:
    world = semantic_world
    world.make_repository()
    world.write_bank("patterns", f"### Pattern: Retry with jitter\n{LONG}\n- Used in: Feature #007, {LONG}\n")
    world.write_decision(
        SLUG,
        title="Orders live in one PostgreSQL database, which is backed up each night to another place by `make backup`",
        tags=["orders", "database", "postgresql"],
        related_files=["services/orders/adapters/persistence/postgresql/repository.py", "gone.py"],
        confidence=0.5,
        content={"status": "accepted", "context": LONG, "decision": LONG, "rationale": [LONG, LONG]},
        changes=[{"date": days_ago(1), "summary": LONG, "field": "title", "old_value": "a" * 90, "new_value": LONG}],
    )
    (world.project / "notes.md").write_text(f"# Notes\n\n{LONG}\n\n{LONG[:60]} more\n", encoding="utf-8")
    world.store.mkdir()
    for number in range(3):
        event = {"session_id": f"0199-{number}-4c62-9cbd-87f8bd5e5ee6", "cwd": str(world.project)}
        world.run_hook("session-start", {**event, "source": "startup"}, **BY_WORDS)
        world.run_hook("prompt", {**event, "prompt": QUESTION}, **BY_WORDS)
    return world


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 60])
def test_lines_of_every_command_fit_the_terminal_and_no_word_is_broken(shop: World, columns: int) -> None:
    for command in READING:
        narrow = shown(shop, command, columns)
        assert_fits(narrow, columns)
        if command[0] not in WITH_ANOTHER_LAYOUT:
            assert words(narrow) == words(shown(shop, command, WIDEST))
    for command in CHANGING:
        assert_fits(shown(shop, command, columns), columns)


@pytest.mark.slow
def test_lines_of_the_demo_fit_the_terminal(world: World) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = world.environment({"NO_COLOR": "1"})
    with subprocess.Popen([sys.executable, DEMO], stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = read_terminal(ours).decode().replace("\r\n", "\n")
    assert process.returncode == 0, shown
    assert "Next: docs/quickstart.md" in shown
    assert_fits(shown, 80)


def words(text: str) -> list[str]:
    """The words of a text, each number as 1: times and what is free on a disk differ from run to run."""
    return re.sub(r"\d+([.:]\d+)*", "1", text).split()


def assert_fits(text: str, columns: int) -> None:
    for line in text.splitlines():
        assert len(line) <= columns or len(line.split()) == 1 + line.lstrip().startswith("- "), line


def shown(world: World, command: tuple[str, ...], columns: int) -> str:
    text = world.on_a_terminal(*command, columns=columns, code=None, **BY_WORDS).decode().replace("\r\n", "\n")
    text = text.rpartition("\r\x1b[K")[2]  # what is left of progress
    print(f"$ recollect {' '.join(command)[:60]}  # {columns}\n{text}")
    return text


def test_json_is_not_broken_for_a_terminal(shop: World) -> None:
    for command in (("show", SLUG, "--json"), ("export",), ("schema", "decision"), ("inject", "--print-hook")):
        assert shown(shop, command, 60) == shown(shop, command, WIDEST)
    assert json.loads(shown(shop, ("show", SLUG, "--json"), 60))["record"]["content"]["context"] == LONG


def test_lines_are_not_broken_where_no_terminal_is(shop: World) -> None:
    assert f"Context         {LONG.strip()}" in shop.run("show", SLUG, COLUMNS="60").stdout
