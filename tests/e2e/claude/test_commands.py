"""Commands, skills and agents, as the client offers and runs them."""

from __future__ import annotations

from tests.e2e.claude.api import calls, says
from tests.e2e.claude.client import PLUGIN, Client


def test_every_command_skill_and_agent_is_offered(client: Client) -> None:
    start = client.ask("Hello there.").start

    commands = {f"memory:{path.stem}" for path in (PLUGIN / "commands").glob("*.md")}
    assert {"memory:status", "memory:save", "memory:search", "memory:config", "memory:review"} <= commands
    assert commands <= set(start["slash_commands"])
    assert {"memory:memory-management", "memory:retrospecting"} <= set(start["skills"])
    assert "memory:retro-facilitator" in start["agents"]
    assert "memory" in [plugin["name"] for plugin in start["plugins"]]


def test_commands_show_what_recollect_prints(client: Client) -> None:
    client.world.write_decision("locks", title="Advisory locks keep importers apart")

    run = client.ask(
        "/memory:status",
        "/memory:search locks",
        script=[says("There."), calls("Bash", command="recollect search --limit 10 -- 'locks'"), says("Found it.")],
    )

    status, search, found = run.requests
    printed = client.recollect("status").stdout
    assert printed.splitlines()[0] in status.newest
    assert "locks" in search.newest
    assert not found.tool_results[-1]["is_error"], found.tool_results
    assert "Advisory locks keep importers apart" in found.tool_results[-1]["text"]
