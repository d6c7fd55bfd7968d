"""What a session is given again when it goes on, forgets, or starts over."""

from __future__ import annotations

import json

import pytest
from tests.e2e.claude.api import says
from tests.e2e.claude.client import Client
from tests.unit.domain.test_compaction import PLAIN

_OLD = "### Pattern: Retry the gateway\nThe old lesson: retry twice.\n"
_NEW = "### Pattern: Log the order number\nThe new lesson: log it first.\n"


def _bank(client: Client, *entries: str) -> None:
    client.world.write_bank("patterns", "# Patterns\n\n" + "\n".join(entries))


@pytest.mark.slow
@pytest.mark.oldest
def test_resumed_session_gets_only_what_is_new(client: Client) -> None:
    _bank(client, _OLD)
    session = client.ask("Hello there.").session
    resumed = client.ask("Hello again.", options=["--resume", session])
    _bank(client, _OLD, _NEW)
    with_news = client.ask("Hello once more.", options=["--resume", session])

    request = resumed.request_for("Hello again.")
    assert len(request.context_of("SessionStart")) == 1
    request = with_news.request_for("Hello once more.")
    assert request.text.count("The old lesson") == 1
    assert request.text.count("The new lesson") == 1
    assert with_news.session == session


def test_fork_of_a_session_gets_nothing_twice(client: Client) -> None:
    _bank(client, _OLD)
    session = client.ask("Hello there.").session
    _bank(client, _OLD, _NEW)

    fork = client.ask("Hello from the fork.", options=["--resume", session, "--fork-session"])

    request = fork.request_for("Hello from the fork.")
    assert fork.session != session
    assert request.text.count("The old lesson") == 1
    assert request.text.count("The new lesson") == 1


@pytest.mark.oldest
def test_compacted_and_cleared_sessions_are_given_the_bank_again(client: Client) -> None:
    _bank(client, _OLD)
    client.world.write_local_settings("memory_injection_events: startup,resume,clear,compact\n")

    run = client.ask("Hello there.", "/compact", "After the summary.", "/clear", "After the clearing.")

    assert "The old lesson" in run.request_for("Hello there.").context_of("SessionStart")[0]
    assert run.request_for("After the summary.").text.count("The old lesson") == 1
    assert run.request_for("After the clearing.").text.count("The old lesson") == 1
    assert run.results[0]["session_id"] == run.results[2]["session_id"] != run.results[4]["session_id"]


def test_compaction_forgets_what_a_prompt_was_given(client: Client) -> None:
    client.world.write_decision("gateway", title="Retry the payment gateway twice", tags=["gateway", "payment"])
    prompt = "How often do we retry the payment gateway?"

    run = client.ask(prompt, "/compact", prompt + " Again.")

    assert len(run.request_for(prompt).context_of("UserPromptSubmit")) == 1
    assert len(run.request_for("Again.").context_of("UserPromptSubmit")) == 1


@pytest.mark.oldest
def test_the_summary_of_a_compacted_conversation_is_kept(client: Client) -> None:
    client.world.write_decision("gateway", title="Retry the payment gateway twice", tags=["gateway", "payment"])
    summary = says(f"<analysis>\nThe queue was moved.\n</analysis>\n\n<summary>\n{PLAIN}</summary>")

    prompts = ("Move the order queue.", "Is it moved?", "/compact", "Go on.")  # an older release compacts no less
    run = client.ask(*prompts, script=[says("Moving it."), says("Moved."), summary])

    assert PLAIN.split("\n")[1] in run.request_for("Go on.").text
    [path] = (client.project / ".claude" / "memory" / "sessions").glob("*.json")
    assert path.stem.startswith(f"session-{run.session[:13]}")
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["title"] == "Move the order queue to Postgres"
    assert kept["content"]["next_actions"] == ["Run the load test.", "Remove Redis from the deployment"]
