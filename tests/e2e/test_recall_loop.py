"""What a session was given is not learned again: sessions that quote it, say it in other words, and act on it.

Each session is given memories by the real hooks, and ends by the real stop hook, which stages whatever it finds. A
memory that came back as something new would be given and come back again, each time with more weight.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from tests.conftest import World
from tests.e2e.test_given import ask
from tests.e2e.test_stop import EVERY_TURN, STAGE, Session, journal_of

SESSIONS_OF_A_KIND = 10


class Memory(NamedTuple):
    """A memory, a prompt about it, two sentences that say it in other words, and the file that it is about."""

    slug: str
    title: str
    decision: str
    why: str
    prompt: str
    reworded: tuple[str, str]
    file: str


MEMORIES = (
    Memory(
        "refresh-token-cookie",
        "Refresh token in an httpOnly cookie",
        "We decided to keep the refresh token in an httpOnly cookie because scripts could read localStorage.",
        "A stolen token was used for a week.",
        "should the refresh token go into a cookie or into localStorage?",
        (
            "We keep the refresh token in a cookie rather than in localStorage, because no script can read it there.",
            "Scripts must not be able to read the refresh token, so the convention is a cookie that is httpOnly.",
        ),
        "src/auth/session.py",
    ),
    Memory(
        "advisory-locks",
        "Advisory locks keep order importers apart",
        "Each importer takes a PostgreSQL advisory lock on the order number before it reads the order.",
        "Two importers charged the same customer.",
        "how do we keep two order importers from taking the same order?",
        (
            "Importers must always take the advisory lock of an order first; otherwise two of them charge a customer.",
            "The rule here: before an order is read, its importer holds an advisory lock on the number in PostgreSQL.",
        ),
        "src/orders/importer.py",
    ),
    Memory(
        "webhook-jitter",
        "Webhook retries have jitter",
        "Never retry webhooks without jitter: the gateway was overloaded by retries at the same second.",
        "The gateway was down for an hour.",
        "add retries to the webhook sender for the gateway",
        (
            "From experience, webhooks should never be retried without jitter, since the gateway cannot take it.",
            "Retries of webhooks must be spread by jitter, because at the same second they overload the gateway.",
        ),
        "src/hooks/sender.py",
    ),
    Memory(
        "clickhouse-reports",
        "Reports run on ClickHouse",
        "We chose ClickHouse over PostgreSQL for reports because aggregates over events took minutes.",
        "Reports timed out every Monday.",
        "where does the weekly report query run, ClickHouse or PostgreSQL?",
        (
            "Reports go to ClickHouse instead of PostgreSQL because aggregates over all events are too slow there.",
            "For reports the choice was ClickHouse, as PostgreSQL took minutes for aggregates over the events.",
        ),
        "reports/weekly.sql",
    ),
    Memory(
        "invoice-rounding",
        "Invoices are rounded half to even",
        "Always round invoice totals half to even, once, at the end.",
        "The auditor found a cent.",
        "how do we round the totals of an invoice?",
        (
            "The convention is to round an invoice half to even, and only its total at the end.",
            "Totals of invoices must always be rounded once and at the end, and that half to even.",
        ),
        "src/invoice/total.py",
    ),
)


def quoting(memory: Memory) -> list[dict[str, Any]]:
    return [
        answer(f"There is a memory about this: {memory.decision} {memory.why}"),
        answer(f'As "{memory.title}" says: {memory.decision}'),
    ]


def rewording(memory: Memory) -> list[dict[str, Any]]:
    return [answer(f"{each} The code is like that.") for each in memory.reworded]


def acting(memory: Memory) -> list[dict[str, Any]]:
    return [
        tool("Read", file_path=memory.file),
        tool("Edit", file_path=memory.file, old_string="pass", new_string=f"pass  # {memory.decision}"),
        tool("Bash", command=f'git commit -m "{memory.title}"'),
        answer(f"Changed {memory.file} accordingly: {memory.decision}"),
    ]


def answer(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def tool(name: str, **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": given}


@pytest.fixture
def filled(semantic_world: World) -> World:
    semantic_world.make_repository()
    for memory in MEMORIES:
        semantic_world.write_decision(
            memory.slug,
            title=memory.title,
            tags=memory.slug.split("-"),
            related_files=[memory.file],
            content={
                "status": "accepted",
                "context": memory.why,
                "decision": memory.decision,
                "rationale": [memory.why],
            },
        )
    bank = "".join(f"### Pattern: {each.title}\n{each.decision}\n- Observation count: 2\n\n" for each in MEMORIES[:2])
    semantic_world.write_bank("patterns", bank)
    ask(semantic_world, "something to begin with", "warm")
    return semantic_world


def stored(world: World) -> list[tuple[Any, ...]]:
    """Every entry with what counts it."""
    database = sqlite3.connect(world.store / "memory.db")
    try:
        return list(database.execute("SELECT id, observation_count, status FROM entries ORDER BY id"))
    finally:
        database.close()


@pytest.mark.slow
@pytest.mark.parametrize("way", [quoting, rewording, acting])
def test_thirty_sessions_that_come_back_to_what_they_were_given_teach_nothing(
    filled: World, way: Callable[[Memory], list[dict[str, Any]]]
) -> None:
    before = stored(filled)
    files = sorted((filled.project / ".claude" / "memory").rglob("*.json"))
    assert len(before) >= len(MEMORIES)
    for number in range(SESSIONS_OF_A_KIND):
        memory = MEMORIES[number % len(MEMORIES)]
        session = Session(filled)
        block = ask(filled, memory.prompt, session.id)
        assert memory.title in block, "the session was given it"
        session.says(memory.prompt)
        attached = {"type": "hook_additional_context", "content": [block], "hookEvent": "UserPromptSubmit"}
        session.write(json.dumps({"type": "attachment", "attachment": attached}) + "\n")
        for place, each in enumerate(way(memory)):
            message = {"id": f"msg_{number}_{place}", "role": "assistant", "content": [each]}
            session.write(json.dumps({"type": "assistant", "isSidechain": False, "message": message}) + "\n")
        last = next(each["text"] for each in reversed(way(memory)) if each["type"] == "text")
        variables = STAGE if number % 2 else EVERY_TURN
        done = session.stops(variables, last_assistant_message=last)
        assert (done.returncode, done.stdout) == (0, ""), (memory.slug, variables)
    assert journal_of(filled) == []
    ask(filled, "something to end with", "last")  # syncs the store
    assert stored(filled) == before
    assert sorted((filled.project / ".claude" / "memory").rglob("*.json")) == files
