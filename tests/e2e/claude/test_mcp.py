"""The plugin's MCP server in the real client: there from the first request on, of use to the model, gone afterwards."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TextIO

import pytest
from tests.chance import again
from tests.e2e.claude.api import Api, Request, Turn, calls, says
from tests.e2e.claude.client import PLUGIN, Client, Run
from tests.e2e.claude.processes import interpreter_of, parent_of, servers, that_outlive
from tests.integration.test_resident import MEANT, remember

from recollect.mcp.schemas import INSTRUCTIONS, TOOLS

_PREFIX = "mcp__plugin_memory_recollect__"
_NAMES = {f"{_PREFIX}{tool.name}" for tool in TOOLS}
_ALLOWED = ["--permission-mode", "bypassPermissions"]
_LESSON = {
    "name": "Take row locks in one order",
    "description": "Transactions that lock the same rows in different orders wait for each other until one is killed.",
    "reasoning": "The nightly import and the refund job deadlocked twice.",
    "category": "anti-patterns",
}
_DECISION = {
    "name": "Order queue lives in PostgreSQL",
    "description": "The order queue is a table in PostgreSQL, not a list in Redis.",
    "reasoning": "One system to back up is enough.",
    "category": "decision",
}


def tool(name: str, /, **arguments: Any) -> Turn:
    return calls(_PREFIX + name, **arguments)


def tools_of(request: Request) -> set[str]:
    return {offered["name"] for offered in request.body["tools"]} & _NAMES


def status_of(run: Run, turn: int = 0) -> str:
    """How the client says that the server is doing, at the beginning of a turn."""
    starts = [event for event in run.events if event.get("subtype") == "init"]
    [server] = starts[turn]["mcp_servers"]
    assert server["name"] == "plugin:memory:recollect"
    return server["status"]


def test_tools_and_instructions_are_in_the_first_request(client: Client) -> None:
    run = client.ask("Hello there.")

    assert status_of(run) == "connected"
    offered = {item["name"]: item for item in run.requests[0].body["tools"]}
    for schema in TOOLS:
        sent = offered[_PREFIX + schema.name]
        assert sent["description"] == schema.description
        assert set(sent["input_schema"]["properties"]) == set(schema.accepts["properties"])
        assert not sent.get("defer_loading")
    assert INSTRUCTIONS.rstrip() in run.requests[0].text


@pytest.mark.oldest
def test_model_stores_finds_and_forgets(client: Client) -> None:
    client.variables["RECOLLECT_MEMORY_KEYWORD_PROVIDER"] = "rules"

    def forget(request: Request) -> Turn:
        [found] = json.loads(request.tool_results[-1]["text"])["results"]
        return tool("forget_memory", id=found["id"], reason="The refund job is gone.")

    run = client.ask(
        "Remember what we learned.",
        script=[
            tool("store_memory", **_LESSON),
            tool("search_memory", query="deadlock of two transactions", category="anti-patterns"),
            forget,
            tool("search_memory", query="deadlock of two transactions", category="anti-patterns"),
            tool("store_memory", **_DECISION),
            tool("list_memories"),
            tool("store_memory", **{**_LESSON, "category": "wisdom"}),
        ],
        options=_ALLOWED,
    )

    results = run.requests[-1].tool_results
    stored, found, forgotten, gone, decided, listed, refused = results
    assert [result["is_error"] for result in results] == [False] * 6 + [True], results
    assert json.loads(stored["text"])["outcome"] == "stored"
    assert [hit["name"] for hit in json.loads(found["text"])["results"]] == [_LESSON["name"]]
    assert _LESSON["name"] in forgotten["text"]
    assert json.loads(gone["text"])["results"] == []
    assert _DECISION["name"] in listed["text"]
    assert "category" in refused["text"]
    [file] = (client.project / ".claude" / "memory" / "decisions").glob("*.json")
    assert json.loads(decided["text"])["path"] == str(file.relative_to(client.project))


def test_next_prompt_is_given_what_the_model_has_stored(client: Client) -> None:
    client.variables["RECOLLECT_MEMORY_KEYWORD_PROVIDER"] = "rules"
    question = "Does the order queue live in PostgreSQL or in Redis?"

    run = client.ask(
        "Remember that.", question, script=[tool("store_memory", **_DECISION), says("Saved.")], options=_ALLOWED
    )

    [context] = run.request_for(question).context_of("UserPromptSubmit")
    assert _DECISION["name"] in context


@pytest.mark.oldest
def test_later_sessions_find_by_its_triggers_what_one_has_stored(client: Client) -> None:
    client.variables["RECOLLECT_MEMORY_KEYWORD_PROVIDER"] = "rules"
    triggers = ["jobs vanish when the broker restarts", "adding a message broker", "choosing a place for the backlog"]
    client.ask("Remember that.", script=[tool("store_memory", **_DECISION, triggers=triggers), says("Saved.")])

    sure = client.ask("Why do jobs vanish when the broker restarts?").requests[0]
    [start] = sure.context_of("SessionStart")
    [text] = sure.context_of("UserPromptSubmit")

    def read(request: Request) -> Turn:
        [title] = request.context_of("UserPromptSubmit")
        [id] = re.findall(rf"^- maybe: \[([0-9a-f]+)\] {_DECISION['name']}$", title, re.MULTILINE)
        return tool("get_memories", ids=[id])

    unsure = client.ask("Put the broker behind a flag of the deployment.", script=[read])

    assert re.search(rf"^Decisions:\n- \[[0-9a-f]{{16}}\] {_DECISION['name']}$", start, re.MULTILINE)
    assert f"- [DECISION] {_DECISION['name']} -> " in text
    assert not [phrase for phrase in triggers if phrase in start + text], "they are for finding alone"
    [whole] = unsure.requests[-1].tool_results
    assert not whole["is_error"], "nobody had to allow it"
    assert _DECISION["description"] in whole["text"]


def test_prompts_of_a_session_are_answered_by_the_engine_in_its_server(client: Client) -> None:
    client.variables["RECOLLECT_MEMORY_EMBEDDING_ENABLED"] = "true"
    client.variables["RECOLLECT_ENGINE_WAIT"] = "20000"  # a busy machine must not decide who answers
    client.variables["RECOLLECT_MEMORY_INJECTION_ENABLED"] = "false"  # or it would have been given already
    remember(client.world)

    def loaded(request: Request) -> Turn:
        again()
        if "being loaded" not in request.tool_results[-1]["text"]:
            return says("Now it is.")
        return tool("search_memory", query=MEANT)  # which waits for the model for some seconds

    asked = chain([tool("search_memory", query=MEANT)], repeat(loaded))
    run = client.ask("Is it loaded?", MEANT, script=asked, options=_ALLOWED)

    [context] = run.request_for(MEANT).context_of("UserPromptSubmit")
    assert "Bill a card once" in context, "which shares no word with the prompt: the hook alone cannot find it"
    assert client.world.run_hook("prompt", {"prompt": MEANT, "cwd": str(client.project)}).stdout == ""


@pytest.mark.oldest
def test_no_process_remains_when_the_client_has_ended(client: Client) -> None:
    started: list[int] = []

    def look(_: Request) -> Turn:
        started.extend(servers(client.store))
        return says("Hello.")

    client.ask("Hello there.", script=[look])

    assert len(started) == 1
    assert that_outlive(started) == []
    assert servers(client.store) == []


def test_no_process_remains_when_the_client_is_killed(client: Client) -> None:
    started: list[int] = []

    def kill(_: Request) -> Turn:
        started.extend(servers(client.store))
        os.kill(parent_of(started[0]), signal.SIGKILL)
        return says("Nobody hears this.")

    with Api([tool("search_memory", query="locks"), kill]) as api:
        streams = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
        run = client.run(["-p", *streams, *_ALLOWED], api, ["Hello there."])

    assert run.code == -signal.SIGKILL
    assert that_outlive(started) == []
    assert servers(client.store) == []


class Build:
    """The building of the plugin's environment, as far as those see it who wait for it."""

    def __init__(self, client: Client, lock: TextIO) -> None:
        self._data = client.data(installed=False)
        self._lock = lock

    def end(self) -> None:
        """Name an environment, as a build does that succeeds."""
        (self._data / "environments").mkdir()
        (self._data / "environments" / "new").symlink_to(Path(sys.prefix))
        (self._data / "interpreter").write_text(f"{self._data}/environments/new/bin/python\n", encoding="utf-8")
        self._lock.close()


@pytest.fixture
def bare(machine: Client, tmp_path: Path) -> Client:
    """A machine whose Python has no packages, where the plugin is used for the first time."""
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", folder], check=True)
    machine.name_interpreter(folder / "bin" / "python", installed=False)
    return machine


@pytest.fixture
def build(bare: Client) -> Iterator[Build]:
    """A build that is under way."""
    with (bare.data(installed=False) / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Build(bare, lock)


def first_session(client: Client, *prompts: str, more: Iterable[str] = (), script: Any = ()) -> Run:
    return client.ask(*prompts, more=more, script=script, options=["--plugin-dir", str(PLUGIN), *_ALLOWED])


def test_tools_come_to_a_session_that_began_before_the_packages_were_there(bare: Client, build: Build) -> None:
    bare.variables["MCP_CONNECT_TIMEOUT_MS"] = "5000"  # what the client does by itself: the session begins meanwhile
    seen: list[set[str]] = []

    def end_build(request: Request) -> Turn:
        seen.append(tools_of(request))
        [server] = servers(bare.store)
        build.end()
        while "environments/new" not in interpreter_of(server):  # the same process runs the new interpreter
            os.kill(server, 0)  # or it has ended
        return says("Hello.")

    def look(request: Request) -> Turn:
        seen.append(tools_of(request))
        if not seen[-1]:
            threading.Event().wait(0.5)  # it imports what it needs, and shakes hands
        return says("Hello again.")

    def until_they_are_there() -> Iterator[str]:
        while not seen[-1]:
            yield f"Hello {again()}."

    run = first_session(bare, "Hello.", more=until_they_are_there(), script=chain([end_build], repeat(look)))

    assert (seen[0], seen[-1]) == (set(), _NAMES)
    assert status_of(run) == "pending"
    assert "setting itself up" in run.told_to_the_user[0]


@pytest.mark.slow
def test_a_session_that_ends_before_the_packages_are_there_costs_the_next_one_nothing(
    bare: Client, build: Build
) -> None:
    bare.variables["MCP_TIMEOUT"] = "20000"  # of which a fifth is left for a slow start of the server
    started: list[int] = []

    def look(_: Request) -> Turn:
        started.extend(servers(bare.store))
        return says("Hello.")

    first = first_session(bare, "Hello.", script=[look])
    assert status_of(first) == "connected", "or the client would not start it again for a quarter of an hour"
    assert tools_of(first.requests[0]) == set()
    assert "they are still being installed" in first.requests[0].text
    assert len(started) == 1
    assert that_outlive(started) == []

    build.end()
    del bare.variables["MCP_TIMEOUT"]
    assert tools_of(first_session(bare, "Hello.").requests[0]) == _NAMES


def test_a_session_goes_on_without_packages_that_could_not_be_had(bare: Client) -> None:
    outcome = bare.data(installed=False) / "build.outcome"
    outcome.write_text(f"1\n{int(time.time())}\nthe package index could not be reached\n", encoding="utf-8")

    run = first_session(bare, "Hello there.")

    assert status_of(run) == "connected"
    assert "the package index could not be reached" in run.told_to_the_user[0]
    assert "the package index could not be reached" in run.requests[0].text
    assert run.results[-1]["subtype"] == "success"
    assert servers(bare.store) == []

    outcome.unlink()
    bare.name_interpreter(installed=False)
    assert tools_of(first_session(bare, "Hello there.").requests[0]) == _NAMES
