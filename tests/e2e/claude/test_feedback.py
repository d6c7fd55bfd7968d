"""What a session does with a memory that it was given is seen in the transcript that the client really writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import until
from tests.e2e.claude.api import calls, says
from tests.e2e.claude.client import Client

_SLUG = "advisory-locks-for-order-import"
_LOCKS = "How do we keep two importers from taking the same order?"
_FILE = "src/importer.py"


def _write(client: Client) -> None:
    client.world.write_decision(
        _SLUG,
        title="Advisory locks keep order importers apart",
        tags=["importer", "locking", "orders"],
        related_files=[_FILE],
        content={
            "status": "accepted",
            "context": "Two importers took the same order and both charged the customer.",
            "decision": "Each importer takes a PostgreSQL advisory lock on the order number before it reads the order.",
            "rationale": ["The lock ends with the connection, so a crash leaves nothing behind."],
        },
    )
    path = client.project / _FILE
    path.parent.mkdir()
    path.write_text("def import_order(number): ...\n", encoding="utf-8")


def _why(client: Client) -> dict[str, Any]:
    done = client.recollect("why", _SLUG, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _signs(client: Client) -> dict[str, dict[str, Any]]:
    """The signs of use by kind, as soon as there are some: the transcript is looked at after the answer."""
    return until(lambda: {sign["kind"]: sign for sign in _why(client)["signs"]})


@pytest.mark.oldest
def test_memory_whose_file_is_changed_is_shown_as_used(client: Client) -> None:
    _write(client)
    path = str(client.project / _FILE)
    change = calls("Edit", file_path=path, old_string="number", new_string="order")
    script = [calls("Read", file_path=path), change, says("Renamed.")]
    run = client.ask(_LOCKS, script=script, options=["--permission-mode", "acceptEdits"])
    assert any("Advisory locks" in text for text in run.requests[0].context_of("UserPromptSubmit"))
    assert "order" in (client.project / _FILE).read_text(encoding="utf-8")

    sign = _signs(client)["touched"]

    assert sign["session"] == run.session
    transcript = (client.transcripts / f"{run.session}.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(transcript[sign["lines"][-1] - 1])
    assert (line["type"], line["message"]["content"][0]["name"]) == ("assistant", "Edit")
    shown = client.recollect("why", _SLUG).stdout
    assert f"touched: session {run.session}" in shown
    assert "of its transcript" in shown


def test_memory_that_the_answer_has_nothing_of_is_not_shown_as_used(client: Client) -> None:
    _write(client)
    run = client.ask(_LOCKS, "Hello.", script=[says("I do not know."), says("Good day.")])
    assert any("Advisory locks" in text for text in run.requests[0].context_of("UserPromptSubmit"))
    why = _why(client)
    assert why["texts"] == 1
    assert why["signs"] == []


def test_memory_whose_file_changed_is_given_with_a_check(client: Client) -> None:
    _write(client)
    assert client.recollect("confirm", _SLUG).returncode == 0
    (client.project / _FILE).write_text("def import_order(number): lock(number)\n", encoding="utf-8")
    run = client.ask(_LOCKS, script=[says("With a lock.")])
    (given,) = run.requests[0].context_of("UserPromptSubmit")
    assert f"check: {_FILE} changed since " in given
    assert client.recollect("confirm", _SLUG).returncode == 0
    run = client.ask(_LOCKS, script=[says("With a lock.")])
    assert all("check: " not in text for text in run.requests[0].context_of("UserPromptSubmit"))
