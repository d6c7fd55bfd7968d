"""A look at what a session used, when its transcript, its process or its store is not as it should be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import BARE_ENTRY, PATIENCE, World
from tests.e2e.test_feedback import ANSWER, BY_WORDS, PROMPT, Talk, cookie, run, shop, signs

from recollect.hooks.stdin import Event
from recollect.hooks.stop import handle
from recollect.store.open import open_store

__all__ = ["shop"]


def counts(world: World) -> tuple[int, int, int]:
    with open_store(str(world.store)) as store:
        found = store.feedback([cookie(world)]).get(cookie(world))
        return (found.given, found.used, found.contradicted) if found else (0, 0, 0)


def log(world: World) -> str:
    path = world.store / "recollect.log"
    return path.read_text("utf-8") if path.exists() else ""


def used_once(world: World) -> Talk:
    talk = Talk(world)
    assert "httpOnly" in talk.prompt()
    talk.answer()
    return talk


def damage_end(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b'{"type":"assistant","message":{"content":[{"type":"te')


def add_other_bytes(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00\n" + path.read_bytes() + b'{"type":"user","message":"\xc3\x28\xff"}\n\x80\n')


def add_other_values(path: Path) -> None:
    lines = ["[]", "1", '"x"', "null", '{"type":1}', '{"type":"user","message":7,"timestamp":9}']
    path.write_text("\n".join([*lines, path.read_text("utf-8")]), "utf-8")


def put_clock_back(path: Path) -> None:
    first, *rest = path.read_text("utf-8").splitlines()
    back = [json.dumps({**json.loads(line), "timestamp": "2020-01-01T00:00:00.000Z"}) for line in rest]
    path.write_text("\n".join([first, *back, ""]), "utf-8")


def nonsense_clock(path: Path) -> None:
    first, *rest = path.read_text("utf-8").splitlines()
    back = [json.dumps({**json.loads(line), "timestamp": "\x1b[31m soon"}) for line in rest]
    path.write_text("\n".join([first, *back, ""]), "utf-8")


@pytest.mark.parametrize("damage", [damage_end, add_other_bytes, add_other_values, put_clock_back, nonsense_clock])
def test_use_is_found_once_in_a_damaged_transcript(shop: World, damage: Callable[[Path], None]) -> None:
    talk = used_once(shop)
    damage(talk.path)
    talk.stop()
    talk.write("user", "Go on.")
    talk.stop()
    assert counts(shop) == (1, 1, 0)
    assert log(shop) == ""
    assert "\x1b" not in run(shop, "why", cookie(shop))


@pytest.mark.parametrize("size", [0, 40])
def test_transcript_that_is_cut_or_begun_anew_takes_nothing_back(shop: World, size: int) -> None:
    talk = used_once(shop)
    talk.stop()
    talk.path.write_bytes(talk.path.read_bytes()[:size])
    talk.stop()
    talk.stop("SessionEnd")
    talk.path.unlink()
    talk.stop()
    assert counts(shop) == (1, 1, 0)
    assert [kind for kind, _ in signs(shop)] == ["said"]


def test_lines_out_of_order_are_no_use_before_the_memory_was_given(shop: World) -> None:
    talk = used_once(shop)
    prompt, answer = talk.path.read_text("utf-8").splitlines()
    talk.path.write_text(f"{answer}\n{prompt}\n", "utf-8")
    talk.stop()
    assert counts(shop) == (1, 0, 0)


def looks(world: World, talk: Talk) -> subprocess.Popen[str]:
    event = {
        "session_id": talk.session, "cwd": str(world.project), "hook_event_name": "Stop",
        "transcript_path": str(talk.path), "permission_mode": "plan", "last_assistant_message": ANSWER,
    }  # fmt: skip
    process = subprocess.Popen(
        [*BARE_ENTRY, "hook", "stop"],
        env=world.environment(BY_WORDS), cwd=world.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        encoding="utf-8",
    )  # fmt: skip
    assert process.stdin
    process.stdin.write(json.dumps(event))
    process.stdin.close()
    return process


def test_several_looks_at_once_count_once(shop: World) -> None:
    talk = used_once(shop)
    for process in [looks(shop, talk) for _ in range(4)]:
        assert process.wait(PATIENCE) == 0
        if process.stdout:
            process.stdout.close()
    talk.stop()  # waits for the others
    assert counts(shop) == (1, 1, 0)


@pytest.mark.slow
def test_look_that_is_killed_at_any_moment_counts_once_when_it_is_done_again(shop: World) -> None:
    talk = used_once(shop)
    for wait in range(14):
        child = os.fork()
        if not child:
            try:
                os.environ.update(shop.environment(BY_WORDS))
                from recollect.config.workspace import load_workspace
                from recollect.sessions.look import look

                look(load_workspace(str(shop.project)), talk.session, str(talk.path), ANSWER)
            finally:
                os._exit(0)
        time.sleep(0.004 * wait)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert counts(shop) in ((1, 0, 0), (1, 1, 0))
    talk.stop()
    assert counts(shop) == (1, 1, 0)
    assert [kind for kind, _ in signs(shop)] == ["said"]


def test_store_that_cannot_be_read_is_in_the_log(shop: World) -> None:
    talk = used_once(shop)
    database = shop.store / "memory.db"
    kept = database.read_bytes()
    database.write_bytes(b"this is no database" * 1000)
    talk.stop()
    assert "the use of memories in this session was not recorded" in log(shop)
    database.write_bytes(kept)
    talk.stop()
    assert counts(shop) == (1, 1, 0)


def test_what_nobody_foresaw_is_in_the_log(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = used_once(shop)

    def fail(*_: object) -> list[str]:
        raise RuntimeError("nobody foresaw this")

    def do(work: Callable[[], object], *_: object, **__: object) -> None:
        work()

    monkeypatch.setattr("recollect.sessions.look.look", fail)
    monkeypatch.setattr("recollect.hooks.apart.run_detached", do)
    for name, value in shop.environment(BY_WORDS).items():
        monkeypatch.setenv(name, value)
    event = {"session_id": talk.session, "cwd": str(shop.project), "transcript_path": str(talk.path)}
    answer = handle(Event({**event, "hook_event_name": "SessionEnd"}))
    assert answer.afterwards
    answer.afterwards()
    assert "RuntimeError: nobody foresaw this" in log(shop)


def test_prompt_of_another_session_is_not_asked_twice(shop: World) -> None:
    """A session that another one was continued from has the same lines, and was given something itself."""
    talk = used_once(shop)
    talk.stop()
    fork = Talk(shop, "fork")
    fork.path.write_bytes(talk.path.read_bytes())
    fork.prompt("And now?")
    fork.answer("Nothing.")
    fork.stop()
    assert counts(shop) == (1, 1, 0)
    assert PROMPT in fork.path.read_text("utf-8")
