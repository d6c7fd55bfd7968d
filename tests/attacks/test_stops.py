"""Two stops of one session at once: one of them is held, and what was said is looked through once."""

from __future__ import annotations

import fcntl
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping

import pytest
from tests.conftest import BARE_ENTRY, PATIENCE, World
from tests.e2e.test_stop import (
    DECISION,
    EVERY_TURN,
    PREFERENCE,
    Session,
    assert_passed,
    held_for,
    journal_of,
    remove_contexts,
)

AT_ONCE = 6
ROUNDS = 5


@pytest.fixture
def sessions(world: World) -> Iterator[list[Session]]:
    sessions = [Session(world) for _ in range(ROUNDS)]
    yield sessions
    for session in sessions:
        remove_contexts(session.id)


def stop_at_once(session: Session, variables: Mapping[str, str], **fields: str) -> list[int]:
    """Serve one stop by several hooks: all of them have started when the first is told of it. Their exit codes."""
    hooks = [
        subprocess.Popen(
            [*BARE_ENTRY, "hook", "stop", "--exit-code"],
            cwd=session.world.project,
            env=session.world.environment({**EVERY_TURN, **variables}),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(AT_ONCE)
    ]
    event = json.dumps(session.event(**fields)).encode()
    for hook in hooks:
        assert hook.stdin
        hook.stdin.write(event)
        hook.stdin.close()
    return sorted(hook.wait(PATIENCE) for hook in hooks)


def test_one_of_several_hooks_holds_the_stop(sessions: list[Session], tried: Callable[[int], None]) -> None:
    tried(ROUNDS * AT_ONCE)
    for session in sessions:
        session.says(DECISION)
        session.says(PREFERENCE)
        assert stop_at_once(session, {}) == [0] * (AT_ONCE - 1) + [2]


def test_one_of_several_hooks_holds_the_stop_of_a_session_without_a_transcript(sessions: list[Session]) -> None:
    for session in sessions:
        session.path.unlink()
        codes = stop_at_once(session, {}, last_assistant_message=DECISION)
        assert codes == [0] * (AT_ONCE - 1) + [2]


def test_what_was_said_is_staged_once(sessions: list[Session], world: World) -> None:
    for number, session in enumerate(sessions):
        session.says(DECISION.replace("SQLite", f"SQLite {number}"))
        codes = stop_at_once(session, {"RECOLLECT_TRIAGE_MODE": "stage"})
        assert codes == [0] * AT_ONCE
    staged = [line["session"] for line in journal_of(world) if "session" in line]
    assert sorted(staged) == sorted(session.id for session in sessions)


def test_a_stop_that_another_hook_is_looking_through_passes_and_nothing_is_lost(sessions: list[Session]) -> None:
    session = sessions[0]
    session.says(DECISION)
    with session.path.open("rb") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        assert_passed(session.stops())
    assert held_for(session.stops()) == ["decision"]
