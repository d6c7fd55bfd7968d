"""Hooks with a resident engine are given what they would find by themselves, also when its database is damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, World, until
from tests.integration.mcp_server.talk import talking
from tests.integration.test_resident import (
    MEANT,
    PATIENT,
    WORDED,
    Serve,
    log,
    prompt,
    ready,
    remember,
    serving,
    status,
)

from recollect.files.session.record import read_record

LAUNCHER = Path(__file__).parents[2] / "plugin" / "bin" / "recollect"
ALONE = {"RECOLLECT_ENGINE_WAIT": "0"}


@pytest.fixture
def serve(semantic_world: World) -> Iterator[Serve]:
    yield from serving(semantic_world)


# The plugin


def test_hooks_and_server_of_the_plugin_find_each_other(semantic_world: World) -> None:
    remember(semantic_world)
    data = semantic_world.home / ".claude" / "plugins" / "data" / "memory-recollect"
    data.mkdir(parents=True)
    (data / "interpreter").write_text(f"{sys.executable}\n", encoding="utf-8")
    variables = {"CLAUDE_PLUGIN_DATA": str(data), "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "true", **PATIENT}

    def hook(name: str, **event: str) -> str:
        done = subprocess.run(
            [LAUNCHER, "hook", name],
            cwd=semantic_world.project,
            env=semantic_world.environment(variables),
            input=json.dumps({**event, "session_id": "s1", "cwd": str(semantic_world.project)}),
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout

    with talking(semantic_world, command=[str(LAUNCHER), "mcp"], **variables) as talk:
        until(lambda: status(semantic_world).get("model"))
        assert status(semantic_world)["pid"] == talk.process.pid
        assert "Bill a card once" in hook("prompt", prompt=MEANT), "which only the engine finds"
        answered = until(lambda: status(semantic_world))["answered"]
        assert "Heuristic: Lesson" in hook("session-start", source="startup")
        assert status(semantic_world)["answered"] >= answered + 1
    assert log(semantic_world) == ""


# The start of a session


def begin(world: World, source: str, session: str, **variables: str) -> dict[str, Any]:
    """What a session is told that starts."""
    folder = world.home / ".claude" / "projects" / "shop"
    event: dict[str, Any] = {"source": source, "session_id": session, "cwd": str(world.project)}
    event |= {"transcript_path": str(folder / f"{session}.jsonl")}
    if source == "fork":
        event["seconds_since_last_response"] = 1
    limit = {"RECOLLECT_MEMORY_INJECTION_LIMIT": "50"}
    done = world.run_hook("session-start", event, **{**PATIENT, **limit, **variables})
    assert done.returncode == 0
    return json.loads(done.stdout) if done.stdout else {}


def kept(world: World, session: str) -> tuple[list[str], list[str]]:
    """What the record of a session says: what it was given, and the words of that."""
    record = read_record(str(world.store), session)
    return sorted(record.given), sorted(record.words)


@pytest.mark.parametrize("source", ["resume", "clear", "compact", "fork"])
def test_a_session_that_goes_on_is_told_the_same_with_and_without_an_engine(
    semantic_world: World, serve: Serve, source: str
) -> None:
    semantic_world.write_local_settings("memory_injection_events: startup, resume, clear, compact\n")
    semantic_world.write_bank("patterns", "".join(f"### Pattern: Old {n}\nWhat {n} taught.\n" for n in range(5)))
    transcript = semantic_world.home / ".claude" / "projects" / "shop" / "alone.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("{}\n", encoding="utf-8")
    sessions = ("fork-alone", "fork-engine") if source == "fork" else ("alone", "engine")
    assert semantic_world.run("reembed").returncode == 0  # so both are told the same
    for session in ("alone", "engine"):
        assert "Old 4" in json.dumps(begin(semantic_world, "startup", session, **ALONE))
    bank = semantic_world.project / "docs" / "knowledge-bank" / "patterns.md"
    with bank.open("a", encoding="utf-8") as file:
        file.write("### Pattern: New one\nWhat was learnt since.\n")
    assert semantic_world.run("reembed").returncode == 0
    ready(semantic_world, serve())

    os.utime(transcript)
    alone = begin(semantic_world, source, sessions[0], **ALONE)
    os.utime(transcript)
    answered = status(semantic_world)["answered"]
    by_engine = begin(semantic_world, source, sessions[1])
    until(lambda: status(semantic_world)["left_to_do"] == 0)
    assert status(semantic_world)["answered"] > answered

    assert by_engine == alone
    block = alone["hookSpecificOutput"]["additionalContext"]
    assert "New one" in block
    assert ("Old 4" in block) is (source in ("clear", "compact"))
    # A hook that has nobody to ask notes the words of its block when it has answered.
    until(lambda: kept(semantic_world, sessions[1]) == kept(semantic_world, sessions[0]))
    assert len(kept(semantic_world, sessions[1])[0]) == 6
    assert begin(semantic_world, "resume", sessions[1]) == {}
    assert log(semantic_world) == ""


@pytest.mark.parametrize("show", ["start", "always", "never"])
def test_the_user_is_told_the_same_with_and_without_an_engine(semantic_world: World, serve: Serve, show: str) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    shown = {"RECOLLECT_RETRIEVAL_SHOW": show}

    def told(session: str, **variables: str) -> list[str]:
        event = {"prompt": WORDED, "session_id": session, "cwd": str(semantic_world.project)}
        answer = json.loads(semantic_world.run_hook("prompt", event, **shown, **variables).stdout)
        assert "Bill a card once" in answer["hookSpecificOutput"]["additionalContext"]
        began = begin(semantic_world, "startup", f"{session}-start", **shown, **variables)
        return [each.get("systemMessage", "") for each in (answer, began)]

    told("first", **ALONE)  # the first session is told more
    answered = status(semantic_world)["answered"]
    by_engine = told("engine", **PATIENT)
    assert status(semantic_world)["answered"] >= answered + 2
    assert by_engine == told("alone", **ALONE)
    prompted, started = by_engine
    assert prompted == ("recollect: 1 memory recalled" if show == "always" else "")
    assert started == ("" if show == "never" else "recollect: 41 memories recalled")


# A database that is damaged while the engine has it open


def complains(result: dict[str, Any], database: Path) -> bool:
    said = result["content"][0]["text"]
    return result["isError"] and str(database) in said and "recollect doctor" in said


@pytest.mark.parametrize("how", ["overwritten", "cut"])
def test_a_database_that_is_damaged_under_the_engine_is_told_and_done_without(
    semantic_world: World, serve: Serve, how: str
) -> None:
    remember(semantic_world)
    semantic_world.write_decision("refresh-token-cookie", title="Refresh tokens live in cookies", tags=["cookies"])
    server = serve()
    ready(semantic_world, server)
    assert "Bill a card once" in prompt(semantic_world, WORDED, "before")
    assert not server.call("search_memory", query="payment").get("isError")

    database = semantic_world.store / "memory.db"
    if how == "cut":
        with database.open("r+b") as file:
            file.truncate(5_000)
        (semantic_world.store / "memory.db-wal").write_bytes(b"")
    else:
        database.write_bytes(b"This is no database." * 500)

    assert "Refresh tokens live in cookies" in prompt(semantic_world, "which cookies hold refresh tokens?", "after")
    assert "titles and tags only" in log(semantic_world)
    found = server.call("search_memory", query="payment")
    if found["isError"]:
        assert complains(found, database)
    else:  # what it has read before may be enough
        assert [hit["name"][:16] for hit in found["structuredContent"]["results"]] == ["Bill a card once"]
    assert complains(serve().call("search_memory", query="payment"), database)
    doctor = semantic_world.run("doctor", "--only", "database")
    assert doctor.returncode == 1
    assert f" Database  cannot use {database}: " in doctor.stdout
    assert server.process.poll() is None

    assert semantic_world.run("rebuild").returncode == 0
    assert "Bill a card once" in prompt(semantic_world, WORDED, "mended")
    assert not server.call("search_memory", query="payment").get("isError")


def test_settings_that_cannot_be_used_are_named_on_standard_error_by_the_resident_too(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    folder = semantic_world.project / ".claude" / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory-config.json").write_text('{"retrieval": {"max_inject": "many"}}', encoding="utf-8")
    ready(semantic_world, serve())
    event = {"prompt": WORDED, "session_id": "s1", "cwd": str(semantic_world.project)}
    answered = status(semantic_world)["answered"]
    done = semantic_world.run_hook("prompt", event, **PATIENT)
    assert status(semantic_world)["answered"] > answered
    assert "retrieval.max_inject must be" in done.stderr
    assert "Bill a card once" in done.stdout


# The end of a turn


LIMIT = "The payment gateway has a hard limit of ten requests per second, and we cannot change that limit."
UNSUPPORTED = "The vendor's API doesn't support batches, so every order needs its own request."
SAID = (
    f"{UNSUPPORTED}\n"
    "Next I run the whole suite: something still crashes and the fix comes after lunch.\n"
    "The exception came from the pool: the root cause is that idle connections are dropped after five minutes."
)


@pytest.mark.parametrize("resident", [True, False])
def test_sentences_of_the_agent_are_staged_if_they_are_plain_or_judged_to_last(
    semantic_world: World, serve: Serve, resident: bool
) -> None:
    path = semantic_world.home / "t.jsonl"
    message = {"role": "assistant", "content": [{"type": "text", "text": SAID}]}
    rows = [{"type": "user", "message": {"role": "user", "content": LIMIT}}, {"type": "assistant", "message": message}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if resident:
        remember(semantic_world)
        ready(semantic_world, serve())
    event = {"session_id": "s1", "cwd": str(semantic_world.project), "transcript_path": str(path)}
    variables = {"RECOLLECT_TRIAGE_MODE": "stage", **PATIENT}
    assert semantic_world.run_hook("stop", event, **variables).returncode == 0
    found = {line["category"]: line for line in map(json.loads, journal(semantic_world)) if "staged" in line}
    assert LIMIT in found["constraint"]["snippets"], "the user's own words are not judged"
    staged = found["runbook"]
    assert any("idle connections" in snippet for snippet in staged["snippets"])
    assert not any("Next I run" in snippet for snippet in staged["snippets"])
    assert (UNSUPPORTED in found["constraint"]["snippets"]) is resident


STATED = "we can't call the Metro API more than 200 times a day"
TOLD = [
    "turns out the probes report in fahrenheit when the firmware is older than 2.1",
    "no, don't use moment, we have date-fns everywhere",
    STATED,
]
ASIDE = [
    "make the header a bit smaller and move the logo to the left",
    "Always shows the wrong value when I reload, please fix.",
    "don't touch that file for now, I'm editing it",
    "can we call the Metro API more than 200 times a day?",
]


def stop_after(world: World, *prompts: str, session: str = "s1", mode: str = "default", **variables: str) -> str:
    """End a turn after each prompt, and return the last answer of the stop hook."""
    path, out = world.home / f"{session}.jsonl", ""
    for prompt_ in prompts:
        message = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
        rows = [
            {"type": "user", "message": {"role": "user", "content": prompt_}},
            {"type": "assistant", "message": message},
        ]
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
        event = {"session_id": session, "cwd": str(world.project), "transcript_path": str(path)}
        done = world.run_hook("stop", {**event, "permission_mode": mode}, **PATIENT, **variables)
        assert done.returncode == 0
        out = done.stdout
    return out


def test_a_lasting_statement_of_the_user_is_asked_about_where_a_model_is_at_hand(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    asked = {text: stop_after(semantic_world, text, session=f"s{at}") for at, text in enumerate((*TOLD, *ASIDE))}
    for text in TOLD:
        assert json.dumps(text)[1:-1] in asked[text], f"the hint names it: {text}"
    assert [text for text in ASIDE if asked[text]] == []


def test_a_lasting_statement_is_not_asked_about_without_a_model_nor_twice(semantic_world: World, serve: Serve) -> None:
    assert stop_after(semantic_world, STATED) == ""
    remember(semantic_world)
    ready(semantic_world, serve())
    assert STATED in stop_after(semantic_world, "go on"), "it was said since the agent was asked last"
    path = str(semantic_world.home / "s1.jsonl")
    saved = {"session_id": "s1", "cwd": str(semantic_world.project), "transcript_path": path, "stop_hook_active": True}
    assert semantic_world.run_hook("stop", saved, **PATIENT).stdout == ""
    assert stop_after(semantic_world, "go on", "and again") == ""


@pytest.mark.parametrize(
    ("mode", "variables"),
    [
        ("plan", {}),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}),
        ("default", {"RECOLLECT_TRIAGE_ENABLED": "false"}),
        ("default", {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}),
    ],
)
def test_statements_are_not_judged_where_nothing_is_held(
    semantic_world: World, serve: Serve, mode: str, variables: dict[str, str]
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert stop_after(semantic_world, STATED, mode=mode, **variables) == ""


ALLOWED = "Their API allows 50 calls a minute"
UNNAMED = "no, don't use moment, we have date-fns everywhere"


@pytest.mark.parametrize(
    "off", ["CATEGORIES_CONSTRAINT_ENABLED", "CATEGORIES_CONSTRAINT_AUTO_CAPTURE", "TRIAGE_THRESHOLDS_CONSTRAINT"]
)
def test_statement_of_a_category_that_is_off_is_not_captured_under_another_name(
    semantic_world: World, serve: Serve, off: str
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert (
        f'constraint "{ALLOWED}"'
        in json.loads(stop_after(semantic_world, ALLOWED, session="on"))["hookSpecificOutput"]["additionalContext"]
    )
    switched = {f"RECOLLECT_{off}": "1.0" if "THRESHOLDS" in off else "false"}
    assert stop_after(semantic_world, ALLOWED, session="off", **switched) == ""
    assert stop_after(semantic_world, UNNAMED, session="unnamed", **switched) == "", "it may be a constraint, too"
    preference = f"{STATED}. from now on we write dates as ISO 8601 in all our reports"
    asked = stop_after(semantic_world, preference, session="other", **switched)
    assert "preference" in asked
    assert "constraint" not in asked.partition("<triage_data>")[0]


def test_a_secret_in_a_lasting_statement_is_not_repeated(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    key = "AKIA" + "Z7Q4M2X9K1B5T8LD"
    asked = stop_after(semantic_world, f"{STATED}. The key is {key}, it belongs to the whole company")
    assert "Metro API" in asked
    assert key not in asked


def journal(world: World) -> list[str]:
    return (world.store / "session-captures.jsonl").read_text(encoding="utf-8").splitlines()
