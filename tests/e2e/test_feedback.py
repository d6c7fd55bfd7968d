"""What sessions do with what they were given: signs in their transcripts, and what follows from them."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import Any

import pytest
from tests.conftest import World

from recollect.config.project import identity
from recollect.domain.hashing import content_hash
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines
from recollect.store.open import open_store
from recollect.store.values import Evidence, Receipt, ReceiptLine, Scope
from recollect.sync.memories import entry_id

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
PROMPT = "should the refresh token go into a cookie or into localStorage?"
ANSWER = "An httpOnly cookie: a stolen one was once used for a week, so SameSite strict."


@pytest.fixture
def shop(semantic_world: World) -> World:
    semantic_world.make_repository()
    content = {
        "status": "accepted",
        "context": "Scripts could read it.",
        "decision": "The refresh token is an httpOnly SameSite strict cookie, rotated by the vault.",
        "rationale": ["A stolen one was used for a week"],
    }
    semantic_world.write_decision(
        "refresh-token-cookie",
        title="Refresh token in an httpOnly cookie",
        tags=["auth", "cookies"],
        content=content,
        related_files=["src/session.py"],
    )
    hook(semantic_world, "prompt", "warm", prompt="something to begin with")
    return semantic_world


def cookie(world: World) -> str:
    return entry_id(identity(str(world.project)), "decision", "refresh-token-cookie")


def hook(world: World, name: str, session: str, **event: Any) -> str:
    done = world.run_hook(name, {"session_id": session, "cwd": str(world.project), **event}, **BY_WORDS)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")


class Talk:
    """A session: what is said goes into its transcript, and its prompts and stops to the hooks."""

    def __init__(self, world: World, session: str = "s1") -> None:
        self.world = world
        self.session = session
        self.path = world.home / f"{session}.jsonl"

    def prompt(self, text: str = PROMPT) -> str:
        self.write("user", text)
        return hook(self.world, "prompt", self.session, prompt=text)

    def write(self, kind: str, content: Any, **fields: Any) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.500Z", time.gmtime())
        line = {"type": kind, "timestamp": at, "message": {"role": kind, "content": content}, **fields}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def answer(self, text: str = ANSWER, *tools: dict[str, Any]) -> None:
        self.write("assistant", [{"type": "text", "text": text}, *tools])

    def stop(self, event: str = "Stop", **fields: Any) -> None:
        hook(
            self.world, "stop", self.session, hook_event_name=event, transcript_path=str(self.path),
            permission_mode="plan", **fields,
        )  # fmt: skip


def why(world: World, **variables: str) -> dict[str, Any]:
    done = world.run("why", cookie(world), "--json", **BY_WORDS, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def signs(world: World) -> list[tuple[str, str]]:
    with open_store(str(world.store)) as store:
        return [(each.kind, each.place) for each in store.evidence(cookie(world))]


def test_a_stop_keeps_the_signs_of_what_its_session_used(shop: World) -> None:
    talk = Talk(shop)
    assert "httpOnly" in talk.prompt()
    edit = {
        "type": "tool_use",
        "id": "t1",
        "name": "Edit",
        "input": {"file_path": str(shop.project / "src/session.py")},
    }
    talk.answer(ANSWER, edit)
    talk.stop()
    assert signs(shop) == [("said", "2"), ("touched", "2")]
    talk.stop()
    assert signs(shop) == [("said", "2"), ("touched", "2")]


def test_a_stop_without_use_keeps_nothing(shop: World) -> None:
    talk = Talk(shop)
    talk.prompt()
    talk.answer("Let me look at the code first.")
    talk.stop()
    assert signs(shop) == []


def test_an_answer_that_is_not_written_yet_counts_and_is_not_counted_twice(shop: World) -> None:
    talk = Talk(shop)
    talk.prompt()
    talk.stop(last_assistant_message=ANSWER)
    assert signs(shop) == [("said", "2")]
    talk.write("system", "")
    talk.answer()
    talk.stop("SessionEnd")
    assert signs(shop) == [("said", "3")]
    assert why(shop)["used"]["turns"] == 1


def test_the_end_of_a_session_is_looked_at_without_asking_for_memories(shop: World) -> None:
    talk = Talk(shop)
    talk.prompt()
    talk.answer()
    done = shop.run_hook(
        "stop",
        {
            "session_id": "s1",
            "cwd": str(shop.project),
            "hook_event_name": "SessionEnd",
            "transcript_path": str(talk.path),
            "reason": "other",
        },
        **BY_WORDS,
    )
    assert (done.stdout, done.stderr, signs(shop)) == ("", "", [("said", "2")])


def test_feedback_switched_off_looks_at_nothing(shop: World) -> None:
    shop.write_local_settings("memory_feedback_enabled: false\n")
    talk = Talk(shop)
    talk.prompt()
    talk.answer()
    talk.stop()
    assert signs(shop) == []


def given_in_vain(world: World, times: int = 5) -> None:
    for number in range(times):
        talk = Talk(world, f"vain-{number}")
        assert "httpOnly" in talk.prompt()
        talk.answer("Let me look at the code first.")
        talk.stop()


def run(world: World, *arguments: str, **variables: str) -> str:
    done = world.run(*arguments, **BY_WORDS, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_why_shows_the_signs_with_their_session_and_lines(shop: World) -> None:
    talk = Talk(shop)
    talk.prompt()
    talk.answer()
    talk.stop()
    shown = why(shop)
    (sign,) = shown["signs"]
    assert (sign["kind"], sign["session"], sign["turn"], sign["lines"]) == ("said", "s1", 1, [2])
    assert (shown["used"]["kinds"], shown["factor"]) == ({"said": 1}, 1.03)
    text = run(shop, "why", cookie(shop))
    assert "in 1 turn of 1 session: said (1)" in text
    assert "said: session s1, line 2 of its transcript" in text
    assert "times 1.03 by its use" in text


def test_a_memory_given_five_times_in_vain_is_at_rest_and_still_found(shop: World) -> None:
    given_in_vain(shop)
    assert "httpOnly" not in Talk(shop, "next").prompt()
    assert "Refresh token" not in hook(shop, "session-start", "another", source="startup")
    (found,) = json.loads(run(shop, "search", "refresh token cookie", "--json"))["hits"]
    assert (found["id"], found["at_rest"]) == (cookie(shop), True)
    (listed,) = json.loads(run(shop, "list", "--at-rest", "--json"))["memories"]
    assert (listed["id"], listed["at_rest"][:2]) == (cookie(shop), "20")
    done = shop.run("list", "--at-rest", **BY_WORDS)
    assert done.stdout.endswith("\tat rest\n")
    assert "recollect unmute NAME" in done.stderr
    assert "at rest since" in run(shop, "why", cookie(shop))
    assert "at rest, as it was given in vain" in run(shop, "try", PROMPT)


@pytest.mark.parametrize("command", ["unmute", "pin"])
def test_a_memory_at_rest_is_brought_back_by_hand(shop: World, command: str) -> None:
    given_in_vain(shop)
    said = run(shop, command, cookie(shop))
    assert {"unmute": "Not at rest any more", "pin": "Pinned"}[command] in said
    assert "httpOnly" in Talk(shop, "next").prompt()
    assert shop.run("list", "--at-rest", **BY_WORDS).stderr.startswith("There are no resting memories")


def test_a_memory_at_rest_is_brought_back_by_opening_it(shop: World) -> None:
    given_in_vain(shop)
    run(shop, "show", cookie(shop), CLAUDE_CODE_SESSION_ID="s9")
    assert "httpOnly" in Talk(shop, "next").prompt()


def test_a_pinned_memory_never_rests(shop: World) -> None:
    run(shop, "pin", cookie(shop))
    given_in_vain(shop)
    assert "httpOnly" in Talk(shop, "next").prompt()


def test_a_memory_used_once_does_not_rest(shop: World) -> None:
    talk = Talk(shop)
    talk.prompt()
    talk.answer()
    talk.stop()
    given_in_vain(shop)
    assert "httpOnly" in Talk(shop, "next").prompt()


BANK = """# Patterns

### Pattern: Cookies over headers
A token in a cookie needs SameSite against forged requests.
- Observation count: 2

### Pattern: Tokens are short
A refresh token in a cookie lives for a week.
- Observation count: 2

### Pattern: Jitter
Retries need jitter.
- Observation count: 2
"""


def everything_given(world: World, session: str) -> list[str]:
    talk = Talk(world, session)
    return [
        hook(world, "session-start", session, source="startup"),
        talk.prompt(),
        talk.prompt("how long does a refresh token in a cookie live?"),
        run(world, "search", "token cookie"),
        run(world, "try", PROMPT, "--json"),
    ]


def test_feedback_switched_off_gives_exactly_what_is_given_without_any(shop: World) -> None:
    shop.write_bank("patterns", BANK)
    shop.write_local_settings("memory_recall_tracking: false\n")
    run(shop, "search", "token")
    before = everything_given(shop, "before")
    with open_store(str(shop.store)) as store:
        ids = [each.id for each in store.standings(Scope(None))]
        for number, id in enumerate(ids):
            for turn in range(number):
                store.note_evidence([sign(id, "said", turn + 1), sign(id, "contradicted", turn + 40)])
        store.recalled(receipt(*ids))
        for _ in range(5):
            store.recalled(receipt(ids[0]))
        assert store.rest(ids, at="2026-01-01T00:00:00Z", since="", times=1) == ids[:1]
    with sqlite3.connect(shop.store / "memory.db") as database:
        database.execute("DELETE FROM usage")  # how often something was recalled counts in any case
    on = everything_given(shop, "on")
    shop.write_local_settings("memory_recall_tracking: false\nmemory_feedback_enabled: false\n")
    off = everything_given(shop, "off")
    assert off == before
    assert on != off


def sign(id: str, kind: str, turn: int) -> Evidence:
    return Evidence(at="2026-01-01T00:00:00Z", kind=kind, id=id, project="", session="x", turn=turn, place="1")


def receipt(*ids: str) -> Receipt:
    lines = [ReceiptLine(id, 0.0, vector=0.0, keyword=0.0, prominence=0.0) for id in ids]
    return Receipt(at="2026-01-01T00:00:00Z", event="prompt", project="", session="x", query="", lines=lines)


LESSON = "Retries of webhooks need jitter, or they overload the gateway together."


def observe(world: World, times: int, **fields: str) -> str:
    entry = {"name": "Retry with jitter", "description": LESSON, "category": "patterns", "confidence": "low", **fields}
    for _ in range(times):
        append_lines(str(world.store / "session-captures.jsonl"), CAPTURE, [entry])
    return content_hash(LESSON)


def look_at_a_session(world: World, answer: str = "Let me look.") -> None:
    talk = Talk(world)
    talk.prompt("do retries of webhooks need jitter at the gateway?")
    talk.answer(answer)
    talk.stop()


def confidence(world: World, id: str) -> tuple[str, list[str]]:
    shown = json.loads(run(world, "show", id, "--json"))
    return shown["confidence"], [each["reason"] for each in shown["raised"]]


def test_a_lesson_observed_three_times_is_raised_to_medium_with_a_reason(shop: World) -> None:
    id = observe(shop, 2)
    look_at_a_session(shop)
    assert confidence(shop, id) == ("low", [])
    observe(shop, 1)
    look_at_a_session(shop)
    assert confidence(shop, id) == ("medium", ["3 observations"])
    assert "medium since 20" in run(shop, "show", id)
    assert "3 observations" in run(shop, "why", id)
    run(shop, "rebuild")
    assert confidence(shop, id) == ("medium", ["3 observations"])


def test_a_lesson_rises_to_high_only_with_a_retrospective_or_a_use(shop: World) -> None:
    id = observe(shop, 6, confidence="medium")
    look_at_a_session(shop)
    assert confidence(shop, id) == ("medium", [])
    with open_store(str(shop.store)) as store:
        store.note_evidence([sign(id, "said", 1)])
    look_at_a_session(shop)
    assert confidence(shop, id) == ("high", ["6 observations, and used in 1 turn"])


def test_a_lesson_of_a_retrospective_rises_to_high(shop: World) -> None:
    id = observe(shop, 5, confidence="medium", source="retro")
    look_at_a_session(shop)
    assert confidence(shop, id) == ("high", ["5 observations, a retrospective among them"])


def test_an_imported_lesson_keeps_its_confidence(shop: World) -> None:
    shop.write_bank("patterns", BANK.replace("count: 2", "count: 9\n- Confidence: low"))
    look_at_a_session(shop)
    assert confidence(shop, content_hash("Retries need jitter.")) == ("low", [])
