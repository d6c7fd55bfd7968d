"""The end of a turn: what was decided is asked for once, saved by the skill's own commands, and recalled."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.claude.api import Request, Turn, calls, says
from tests.e2e.claude.client import OLDEST, Client

_DECIDED = (
    "We decided to keep the order queue in PostgreSQL rather than in Redis, because one system to back up is enough.\n"
    "The decision was made because losing orders on a restart is not acceptable."
)
_LATER = "Where does the order queue live, and why?"
_DRAFT = f"/tmp/.memory-draft-decision-{os.getpid()}.json"
_RECORD = {
    "title": "Order queue lives in PostgreSQL",
    "tags": ["orders", "queue", "postgresql"],
    "confidence": 0.8,
    "content": {
        "status": "accepted",
        "context": "Orders must survive a restart.",
        "decision": "The order queue is a table in PostgreSQL, not a list in Redis.",
        "rationale": ["One system to back up is enough."],
    },
}
_PERMISSIONS = ["--allowedTools", "Write", "Bash(recollect:*)", "--permission-mode", "acceptEdits"]


def triage_data(text: str) -> dict[str, Any]:
    return json.loads(text.partition("<triage_data>")[2].partition("</triage_data>")[0])


@pytest.mark.oldest
def test_held_stop_saves_a_decision_that_the_next_session_recalls(client: Client) -> None:
    asked: list[str] = []
    contexts: list[Path] = []

    def is_held(request: Request) -> Turn:
        asked.append(request.newest)
        [decision] = [item for item in triage_data(request.newest)["categories"] if item["category"] == "decision"]
        contexts.append(Path(decision["context_file"]))
        assert "order queue" in contexts[0].read_text(encoding="utf-8")
        return calls("Skill", skill="memory:memory-management")

    run = client.ask(
        "Where should the queue live?",
        "Thank you.",
        script=[
            says(_DECIDED),
            is_held,
            calls("Bash", command="recollect candidate --auto --category decision --new-info 'order queue'"),
            calls("Write", file_path=_DRAFT, content=json.dumps(_RECORD)),
            calls("Bash", command=f"recollect write --action create --auto --category decision --input {_DRAFT}"),
            says(_DECIDED),
            says("You are welcome."),
        ],
        options=_PERMISSIONS,
    )

    assert asked[0].startswith("Stop hook feedback")
    data = triage_data(asked[0])
    assert not contexts[0].exists(), "what was said is not left lying about"
    assert data["parallel_config"]["category_models"]["decision"] == "sonnet"

    results = run.requests[-1].tool_results
    assert [result["is_error"] for result in results] == [False] * 4, results
    assert json.loads(results[1]["text"])["structural_cud"] == "CREATE"
    assert len(run.requests) == 7
    assert len(run.results) == 2
    [saved] = (client.project / ".claude" / "memory" / "decisions").glob("*.json")
    assert json.loads(saved.read_text(encoding="utf-8"))["title"] == _RECORD["title"]
    assert not Path(_DRAFT).exists()
    assert not (client.project / ".claude" / ".stop_hook_active").exists()

    [context] = client.ask(_LATER).requests[0].context_of("UserPromptSubmit")
    assert "Order queue lives in PostgreSQL" in context
    assert "not a list in Redis" in context


def test_stop_is_held_again_for_something_new_and_never_for_the_same(client: Client) -> None:
    run = client.ask(
        "Where should the queue live?",
        "From now on always write tests first, that is our convention going forward. Always prefer small ones.",
        "Thank you.",
        script=[says(_DECIDED), says("Saved."), says("Understood."), says("Saved as well."), says("You are welcome.")],
    )
    resumed = client.ask("Hello again.", options=["--resume", run.session])

    held = [request.newest for request in run.requests if request.newest.startswith("Stop hook feedback")]
    found = [triage_data(text) for text in held]
    assert [[item["category"] for item in data["categories"]] for data in found] == [["decision"], ["preference"]]
    assert len(run.requests) == 5
    assert len(resumed.requests) == 1


def test_fork_of_a_session_is_not_asked_for_what_was_asked_for_before(client: Client) -> None:
    first = client.ask("Where should the queue live?", script=[says(_DECIDED), says("Saved.")])

    fork = client.ask("Hello from the fork.", options=["--resume", first.session, "--fork-session"])

    assert len(first.requests) == 2
    assert [request.newest for request in fork.requests] == ["Hello from the fork."]


def test_stop_in_stage_mode_holds_nothing_and_leaves_a_capture_for_review(client: Client) -> None:
    client.variables["RECOLLECT_TRIAGE_MODE"] = "stage"

    run = client.ask("Where should the queue live?", script=[says(_DECIDED)])

    assert len(run.requests) == 1
    journal = (client.store / "session-captures.jsonl").read_text(encoding="utf-8")
    [staged] = [json.loads(line) for line in journal.splitlines()]
    assert staged["category"] == "decision"
    assert staged["session"] == run.session
    listed = client.recollect("review", "--json")
    assert staged["staged"] in listed.stdout, listed.stderr

    [told] = client.ask("Hello there.").told_to_the_user
    assert "1 capture awaits your review: /memory:review" in told
    assert client.recollect("review", "--dismiss", staged["staged"]).returncode == 0
    assert client.ask("Hello there.").told_to_the_user == []


def test_what_was_injected_is_never_captured(client: Client) -> None:
    client.world.write_bank("patterns", f"# Patterns\n\n### Pattern: Queue in the database\n{_DECIDED}\n")
    client.world.write_decision("queue", title="Order queue lives in PostgreSQL", content=_RECORD["content"])

    run = client.ask(_LATER, script=[says("It is as the notes have it.")])

    assert _DECIDED.splitlines()[0] in run.requests[0].context_of("SessionStart")[0]
    assert "not a list in Redis" in run.requests[0].context_of("UserPromptSubmit")[0]
    assert len(run.requests) == 1


@pytest.mark.oldest
@pytest.mark.parametrize("release", [OLDEST], indirect=True)  # what a newer one asks first is not ours to know
def test_person_at_a_terminal_is_shown_that_a_capture_awaits_review(client: Client) -> None:
    client.variables["RECOLLECT_TRIAGE_MODE"] = "stage"
    client.ask("Where should the queue live?", script=[says(_DECIDED)])
    line = "recollect: 1 capture awaits your review: /memory:review"

    assert line in client.screen(until=line)
