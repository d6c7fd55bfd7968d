"""Permission questions: none about recollect's own steps, and all the others as before."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.claude.api import Turn, calls
from tests.e2e.claude.client import Client

_TOOL = "mcp__plugin_memory_recollect__"
_DRAFT = Path(f"/tmp/.memory-draft-decision-{os.getpid()}.json")
_CONTEXT = Path(f"/tmp/.memory-triage-context-decision-{os.getpid()}.txt")
_OTHER = Path(f"/tmp/memory-draft-decision-{os.getpid()}.json")
_RECORD = {
    "title": "Order queue is polled",
    "tags": ["queue"],
    "confidence": 0.9,
    "content": {"status": "accepted", "context": "Orders.", "decision": "Poll it.", "rationale": ["No broker."]},
}
_CANDIDATE = """recollect candidate --auto --category decision --new-info-file - <<'END_OF_MEMORY'
It's polled; $(touch pwned) `touch pwned`
END_OF_MEMORY"""
_OWN: list[Turn] = [
    calls(
        f"{_TOOL}store_memory",
        name="Order queue lives in PostgreSQL",
        category="decision",
        description="The order queue is a table in PostgreSQL.",
        reasoning="One system to back up.",
    ),
    calls("Bash", command="recollect search 'order queue'"),
    calls("Read", file_path=str(_CONTEXT)),
    calls("Bash", command=_CANDIDATE),
    calls("Write", file_path=str(_DRAFT), content=json.dumps(_RECORD)),
    calls("Bash", command=f"recollect write --action create --auto --category decision --input {_DRAFT}"),
]
_OTHERS: list[Turn] = [
    calls("Bash", command="recollect search x; touch pwned"),
    calls("Bash", command='recollect search "$(touch pwned)"'),
    calls("Bash", command="recollect retire 'order-queue-is-polled' --reason 'wrong'"),
    calls("Write", file_path=str(_OTHER), content="{}"),
    calls(f"{_TOOL}forget_memory", id="0f0f0f0f", reason="wrong"),
]


@pytest.fixture(autouse=True)
def files() -> Iterator[None]:
    """Be a stop that has left a passage to read; leave nothing behind."""
    _CONTEXT.write_text("We poll the order queue.\n", encoding="utf-8")
    yield
    for path in (_CONTEXT, _DRAFT, _OTHER):
        path.unlink(missing_ok=True)


@pytest.mark.oldest
@pytest.mark.parametrize("approves", [True, False], ids=["approved", "switched off"])
def test_nobody_is_asked_about_own_steps_and_everybody_about_others(client: Client, approves: bool) -> None:
    client.variables["RECOLLECT_PERMISSIONS_APPROVE_OWN_STEPS"] = str(approves).lower()

    run = client.ask("Remember this.", script=[*_OWN, *_OTHERS])

    results = run.requests[-1].tool_results
    asked = [denied["tool_use_id"] for denied in run.results[-1]["permission_denials"]]
    steps = _OTHERS if approves else [*_OWN, *_OTHERS]
    assert asked == [block["id"] for turn in steps for block in turn], results
    assert [result["is_error"] for result in results[: len(_OWN)]] == [not approves] * len(_OWN), results
    saved = {path.name for path in (client.project / ".claude" / "memory" / "decisions").glob("*.json")}
    assert saved == ({"order-queue-lives-in-postgresql.json", "order-queue-is-polled.json"} if approves else set())
    assert not (client.project / "pwned").exists()
    assert not _OTHER.exists()
