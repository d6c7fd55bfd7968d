"""What the model is given at a session's start and with a prompt, as the client really sends it."""

from __future__ import annotations

import pytest
from tests.e2e.claude.api import says
from tests.e2e.claude.client import OLDEST, PLUGIN, Client

from recollect.domain.start_block import OPENING

_LOCKS = "How do we keep two importers from taking the same order?"
_OFF_TOPIC = "Rename the variable colour to color in the stylesheet, please."


def _fill_bank(client: Client) -> None:
    """A bank of real length: more than a session can be given."""
    lines = ["# Patterns", ""]
    for number in range(1, 31):
        lines += [f"### Pattern: Lesson {number} of the checkout", f"Lesson {number} begins. {'It matters. ' * 50}", ""]
        lines += [f"Lesson {number} ends.", "- Confidence: high", ""]
    client.world.write_bank("patterns", "\n".join(lines))


def _write_decision(client: Client) -> None:
    client.world.write_decision(
        "advisory-locks-for-order-import",
        title="Advisory locks keep order importers apart",
        tags=["importer", "locking", "orders"],
        content={
            "status": "accepted",
            "context": "Two importers took the same order and both charged the customer.",
            "decision": "Each importer takes a PostgreSQL advisory lock on the order number before it reads the order.",
            "rationale": ["The lock ends with the connection, so a crash leaves nothing behind."],
        },
    )


@pytest.mark.oldest
def test_session_starts_with_the_knowledge_bank_whole_and_first(client: Client) -> None:
    _fill_bank(client)
    _write_decision(client)

    request = client.ask(_LOCKS).requests[0]

    [context] = request.context_of("SessionStart")
    block, end, _ = context.partition("\n---\n")
    assert block.startswith(f"{OPENING}## Engineering Memory (from knowledge bank)")
    assert end
    given = [number for number in range(1, 31) if f"Lesson {number} begins." in block]
    assert len(given) > 5
    assert all(f"Lesson {number} ends." in block for number in given)
    assert "persisted-output" not in request.text
    assert request.text.index("## Engineering Memory") < request.text.index('<memory-context source=".claude')


def test_session_start_gives_nothing_when_injection_is_off(client: Client) -> None:
    _fill_bank(client)
    client.world.write_local_settings("memory_injection_enabled: false\n")

    assert client.ask("Hello there.").requests[0].context_of("SessionStart") == []


def test_plugin_that_is_not_installed_serves_a_session_too(machine: Client) -> None:
    _fill_bank(machine)
    machine.name_interpreter(installed=False)

    run = machine.ask("Hello there.", options=["--plugin-dir", str(PLUGIN)])

    assert "Lesson 1 begins." in run.requests[0].context_of("SessionStart")[0]
    assert not machine.data().exists()


@pytest.mark.oldest
def test_prompt_gets_the_memory_that_it_is_about_once(client: Client) -> None:
    _write_decision(client)

    run = client.ask(_OFF_TOPIC, _LOCKS, _LOCKS, script=[says("Renamed."), says("With a lock."), says("As I said.")])
    off_topic, on_topic, again = run.requests

    assert off_topic.context_of("UserPromptSubmit") == []
    [context] = on_topic.context_of("UserPromptSubmit")
    assert "<memory-context" in context
    assert "Advisory locks keep order importers apart" in context
    assert "advisory lock on the order number" in context
    assert again.context_of("UserPromptSubmit") == [context]


_SAID = (
    "Each importer takes an advisory lock on the order number before it reads the order, and lets go of it at the end."
)


@pytest.mark.oldest
@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "~/CLAUDE.md", "MEMORY.md"])
def test_session_is_not_given_again_what_the_client_shows_it(client: Client, name: str) -> None:
    client.world.write_bank("patterns", f"### Pattern: Locks\n{_SAID}\n\n### Pattern: Cents\nKeep money in cents.\n")
    folder = "".join(char if char.isalnum() else "-" for char in str(client.project))
    memory = client.config / "projects" / folder / "memory" / "MEMORY.md"
    path = {"~/CLAUDE.md": client.config / "CLAUDE.md", "MEMORY.md": memory}.get(name, client.project / name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Importers\n\n- {_SAID}\n", encoding="utf-8")

    request = client.ask("Hello there.").requests[0]
    path.unlink()  # other tests have the same home

    [context] = request.context_of("SessionStart")
    assert "Pattern: Cents" in context
    assert "Pattern: Locks" not in context
    assert request.text.count(_SAID) == 1, "the client shows it"


def test_session_is_not_given_again_what_instructions_for_all_agents_say(client: Client) -> None:
    if client.version == OLDEST:
        pytest.skip("this release does not read AGENTS.md")
    client.world.write_bank("patterns", f"### Pattern: Locks\n{_SAID}\n\n### Pattern: Cents\nKeep money in cents.\n")
    (client.project / "AGENTS.md").write_text(f"# Importers\n\n- {_SAID}\n", encoding="utf-8")

    request = client.ask("Hello there.").requests[0]

    [context] = request.context_of("SessionStart")
    assert "Pattern: Locks" not in context
    assert request.text.count(_SAID) == 1, "the client shows it"


@pytest.mark.oldest
def test_line_about_what_was_recalled_is_shown_to_the_user_and_not_to_the_model(client: Client) -> None:
    client.world.write_bank("patterns", f"### Pattern: Locks\n{_SAID}\n\n### Pattern: Cents\nKeep money in cents.\n")
    run = client.ask("Hello there.")
    assert "2 memories recalled" in run.told_to_the_user[0]
    assert "memories recalled" not in run.requests[0].text


@pytest.mark.oldest
def test_line_about_what_was_recalled_is_shown_on_a_terminal(client: Client) -> None:
    client.world.write_bank("patterns", f"### Pattern: Locks\n{_SAID}\n\n### Pattern: Cents\nKeep money in cents.\n")
    client.ask("Hello there.")  # the first session in a project is told more

    with client.session() as session:
        session.wait_for("recollect: 2 memories recalled")
