"""The end of a turn: a person's agent is asked once for what was learned, a program's answer is left as it is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conftest import until
from tests.e2e.claude.api import Api, Json, Request, Turn, calls, says
from tests.e2e.claude.client import Client
from tests.e2e.claude.terminal import Rows, Session

_DECIDED = (
    "We decided to keep the order queue in PostgreSQL rather than in Redis, because one system to back up is enough."
    " We chose it over Redis because losing orders on a restart is not acceptable."
)
_LIMITED = (
    "The payment gateway has a hard limit of ten requests per second, and we cannot change that limit."
    " It is not supported to batch them."
)
_PUT_OFF = (
    "We deferred the cleanup of the legacy importer for now; it is a workaround and technical debt that we fix later."
)
_REPLAYED = (
    "We decided to use Kafka instead of RabbitMQ for audit events, because replay matters."
    " We chose it because the auditors replay a whole day."
)
_LATER = "Where does the order queue live, and why?"
_ANSWER = "Understood."
_SAVED = "Saved for later."
_ASKED = "Stop hook additional context: recollect asks once:"
_LINE = "Stop says: recollect: asking Claude what is worth remembering (perhaps {})"
_QUEUE = "The order queue is a table in PostgreSQL, not a list in Redis."
_REASON = "One system to back up is enough."
_RECORD = {
    "title": "Order queue lives in PostgreSQL",
    "tags": ["orders", "queue", "postgresql"],
    "triggers": ["choosing where to persist purchases", "orders lost in a crash", "adding another data service"],
    "confidence": 0.8,
    "content": {
        "status": "accepted",
        "context": "Orders must survive a restart.",
        "decision": _QUEUE,
        "rationale": [_REASON],
    },
}
_TEXT = json.dumps(_RECORD)
_DRAFT = f"/tmp/.memory-draft-decision-{os.getpid()}.json"
_FINDINGS, _CONTEXT = "FINDINGS_FILE", "CONTEXT_FILE"
_SAVING = f"--action create --auto --category decision --input {_DRAFT}"
_CANDIDATE = f"""recollect candidate --auto --category decision --new-info-file - <<'END_OF_MEMORY'
{_QUEUE}
END_OF_MEMORY"""
_DRAFTING = "Draft at most one memory of the category decision."
_VERIFYING = "Verify the draft of a decision."
# What a person sees who is asked for a permission, or for whom a hook has failed.
_DISTURBED = re.compile("do you want to|hook error|hook failed|reported a problem|<triage_data|permission to", re.I)


def stores(category: str, name: str, description: str) -> Turn:
    tool = "mcp__plugin_memory_recollect__store_memory"
    triggers = ["choosing where to persist purchases", "orders lost in a crash", "adding another data service"]
    return calls(tool, category=category, name=name, description=description, reasoning=_REASON, triggers=triggers)


def saved_in(client: Client, folder: str) -> list[str]:
    """The titles of a category's memories."""
    paths = (client.project / ".claude" / "memory" / folder).glob("*.json")
    return [json.loads(path.read_text(encoding="utf-8"))["title"] for path in paths]


def staged_in(client: Client) -> list[Json]:
    journal = client.store / "session-captures.jsonl"
    return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()] if journal.exists() else []


def assert_calm(session: Session) -> None:
    """Nothing on the screen asks for a permission or looks like a failure."""
    assert not _DISTURBED.search(session.screen.words), session.screen.text


def report(flow: str, version: str, capture: Sequence[Request]) -> None:
    """Print the size of a capture, for docs/benchmarks.md (pytest -s). No key was pressed for it: nobody was asked."""
    bodies = [json.dumps(request.body, ensure_ascii=False, separators=(",", ":")) for request in capture]
    sent = sum(len(body.encode()) for body in bodies) // 4
    print(f"\nA capture ({flow}) in {version}: {len(bodies)} requests, {sent:,} tokens sent")


@pytest.mark.slow
@pytest.mark.oldest
def test_person_is_asked_nothing_in_any_mode_and_the_next_session_knows(client: Client) -> None:
    script = [
        *(says(_ANSWER), stores("decision", "Order queue lives in PostgreSQL", _QUEUE), says(_SAVED)),
        *(says(_ANSWER), stores("constraint", "Ten requests per second", _LIMITED), says(_SAVED)),
        *(says(_ANSWER), stores("tech_debt", "Importer needs a cleanup", _PUT_OFF), says(_SAVED)),
        says(_ANSWER),
    ]
    with client.session(*script, options=["--permission-mode", "default"]) as session:
        session.say(_DECIDED)
        assert_calm(session)
        assert _LINE.format("a decision") in session.screen.words
        session.switch_to("accept edits on")
        session.say(_LIMITED)
        assert_calm(session)
        assert _LINE.format("a constraint") in session.screen.words
        session.switch_to("auto mode on")
        session.say(_PUT_OFF)
        assert_calm(session)
        assert _LINE.format("tech debt") in session.screen.words
        session.switch_to("plan mode on")
        session.say(_REPLAYED)
        assert_calm(session)
        assert session.screen.words.count("Stop says: ") == 3

    requests = session.requests
    assert [_ASKED in request.newest for request in requests] == [False, True, False] * 3 + [False]
    assert [result["is_error"] for result in requests[-1].tool_results] == [False] * 3
    assert saved_in(client, "decisions") == ["Order queue lives in PostgreSQL"]
    assert saved_in(client, "constraints") == ["Ten requests per second"]
    assert saved_in(client, "tech-debt") == ["Importer needs a cleanup"]
    assert not (client.project / ".claude" / ".stop_hook_active").exists()
    [staged] = staged_in(client)
    assert (staged["category"], staged["snippets"][0]) == ("decision", _REPLAYED.partition(" We chose")[0])
    report("direct", client.version, requests[1:3])

    def remembers(request: Request) -> Turn:
        [context] = request.context_of("UserPromptSubmit")
        return says(f"As I remember: {_QUEUE}" if _QUEUE in context else "I do not know.")

    with client.session(remembers) as later:
        later.wait_for("recollect: 1 capture awaits your review: /memory:review")
        later.say(_LATER)
        assert f"As I remember: {_QUEUE}" in later.screen.words


class Phases:
    """A model that saves a decision as the skill says: one subagent drafts it, another one verifies it."""

    def __init__(self) -> None:
        self.findings = ""
        self.context = ""
        self._main = iter(
            [
                *(says(_ANSWER), calls("Skill", skill="memory:memory-management"), calls("Read", file_path=_FINDINGS)),
                *(_agent(_DRAFTING), _agent(_VERIFYING)),
                *(calls("Bash", command=f"recollect write {_SAVING}"), says(_SAVED)),
            ]
        )
        self._drafter = iter(
            [
                *(calls("Read", file_path=_CONTEXT), calls("Bash", command=_CANDIDATE)),
                *(calls("Bash", command="recollect schema decision"), calls("Write", file_path=_DRAFT, content=_TEXT)),
                *(calls("Bash", command=f"recollect write --check {_SAVING}"), says("The draft is ready.")),
            ]
        )
        self._verifier = iter(
            [[*calls("Read", file_path=_DRAFT), *calls("Read", file_path=_CONTEXT)], says("PASS")],
        )

    def __call__(self, request: Request) -> Turn:
        if _ASKED in request.newest:
            self._note(request.newest)
        task = "\n".join(Request({"messages": request.messages[:1]}).passages)
        if _DRAFTING in task:
            turn = next(self._drafter)
        elif _VERIFYING in task:
            turn = next(self._verifier)
        elif "agent launched" in request.newest:  # newer releases let subagents work in the background
            turn = says("They are at work.")
        else:
            turn = next(self._main)
        return json.loads(json.dumps(turn).replace(_FINDINGS, self.findings).replace(_CONTEXT, self.context))

    def _note(self, asked: str) -> None:
        """Note the file of findings that the request names, and the file with the passages that this one names."""
        [self.findings] = re.findall(r"/tmp/\.memory-triage-context-findings[-\w]*\.txt", asked)
        text = Path(self.findings).read_text(encoding="utf-8")
        [decision] = json.loads(text.partition("<triage_data>")[2].partition("</triage_data>")[0])["categories"]
        self.context = decision["context_file"]


def _agent(task: str) -> Turn:
    kind = {"subagent_type": "general-purpose", "model": "sonnet", "run_in_background": False}
    return calls("Agent", description=task, prompt=task, **kind)


@pytest.mark.slow
@pytest.mark.oldest
def test_phases_of_the_skill_ask_the_person_nothing(client: Client) -> None:
    client.variables["RECOLLECT_TRIAGE_FLOW"] = "phases"
    model = Phases()
    with client.session(*[model] * 20, options=["--permission-mode", "default"]) as session:
        session.say(_DECIDED)
        session.wait_for(_SAVED)
        until(lambda: not Path(model.context).exists(), lambda: "what was said is left lying about")
        assert_calm(session)
        assert _LINE.format("a decision") in session.screen.words

    results = [result for request in session.requests for result in request.tool_results]
    assert [result for result in results if result["is_error"]] == []
    assert saved_in(client, "decisions") == [_RECORD["title"]]
    assert not Path(_DRAFT).exists()
    assert [_ASKED in request.newest for request in session.requests].count(True) == 1
    report("phases", client.version, session.requests[1:])


@pytest.mark.oldest
def test_person_is_asked_if_own_steps_are_not_approved(client: Client) -> None:
    client.variables["RECOLLECT_PERMISSIONS_APPROVE_OWN_STEPS"] = "false"
    store = stores("decision", "Order queue lives in PostgreSQL", _QUEUE)
    with client.session(says(_ANSWER), store, options=["--permission-mode", "default"]) as session:
        session.give(_DECIDED)
        session.wait_for("Do you want to proceed?")
        with pytest.raises(AssertionError):
            assert_calm(session)
        session.close_window()

    assert saved_in(client, "decisions") == []


@pytest.mark.oldest
def test_program_gets_the_answer_and_the_capture_waits_for_a_person(client: Client) -> None:
    written = Rows(client.transcripts)
    with Api([written.unhurried(_DECIDED, says(_ANSWER))]) as api:
        run = client.run(["-p", _DECIDED], api)
    streamed = client.ask(_PUT_OFF, script=[written.unhurried(_PUT_OFF, says(_ANSWER))])

    assert (run.code, run.stdout) == (0, f"{_ANSWER}\n"), run.stderr
    assert [result["result"] for result in streamed.results] == [_ANSWER]
    assert (len(run.requests), len(streamed.requests)) == (1, 1)
    assert [each["category"] for each in staged_in(client)] == ["decision", "tech_debt"]
    [told] = streamed.told_to_the_user
    assert "1 capture awaits your review: /memory:review" in told
    listed = client.recollect("review", "--json")
    for each in staged_in(client):
        assert each["staged"] in listed.stdout, listed.stderr
        assert client.recollect("review", "--dismiss", each["staged"]).returncode == 0
    assert client.ask("Hello there.").told_to_the_user == []


def test_fork_of_a_session_is_not_asked_for_what_was_asked_for_before(client: Client) -> None:
    with client.session(says(_ANSWER), says("There is nothing.")) as first:
        first.say(_DECIDED)
    with client.session(says("Hello."), options=["--continue", "--fork-session"]) as fork:
        fork.say("Hello from the fork.")

    assert [_ASKED in request.newest for request in first.requests] == [False, True]
    assert [_ASKED in request.newest for request in fork.requests] == [False]
    assert _DECIDED in fork.requests[0].text
    assert staged_in(client) == []


def test_what_was_injected_is_never_captured(client: Client) -> None:
    client.world.write_bank("patterns", f"# Patterns\n\n### Pattern: Queue in the database\n{_DECIDED}\n")
    client.world.write_decision("queue", title=_RECORD["title"], content=_RECORD["content"])

    run = client.ask(_LATER, script=[says(f"It is as the notes have it: {_DECIDED}")])

    assert _DECIDED in run.requests[0].context_of("SessionStart")[0]
    assert "not a list in Redis" in run.requests[0].context_of("UserPromptSubmit")[0]
    assert staged_in(client) == []
