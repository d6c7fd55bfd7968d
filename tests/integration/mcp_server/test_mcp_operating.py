"""A server that is operated: looked at, measured, stopped, with a store that is slow or gone."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from tests import postgres
from tests.chance import again
from tests.conftest import PATIENCE, World, until
from tests.integration.mcp_server.prometheus_text import Samples, parsed, value
from tests.integration.mcp_server.talk import LESSON
from tests.integration.mcp_server.test_mcp_http import TOKEN, Served, serving

METRICS = "a-token-for-the-metrics-alone"


def get(server: Served, path: str, token: str = "", **headers: str) -> httpx2.Response:
    known = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.get(f"http://127.0.0.1:{server.port}{path}", headers={**known, **headers}, timeout=PATIENCE)


def call(server: Served, tool: str, token: str = TOKEN, **arguments: Any) -> tuple[bool, str]:
    """Call a tool; return whether it failed, and what it said."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    answer = server.post({"Authorization": f"Bearer {token}"}, asked)
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    return result.get("isError", False), result["content"][0]["text"]


def metrics(server: Served, token: str = TOKEN) -> Samples:
    answer = get(server, "/metrics", token)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parsed(answer.text)


# Health


def test_anybody_may_ask_whether_it_is_well_and_learns_nothing_else(world: World) -> None:
    with serving(world, "--http", "0") as server:
        for headers in (
            {},
            {"Host": "10.1.2.3:8765"},
            {"Authorization": "Bearer wrong"},
            {"Origin": "http://a.example"},
        ):
            answer = get(server, "/healthz", **headers)
            assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
            assert answer.headers["content-type"] == "application/json"
        assert server.post({}, path="/healthz").status_code == 405
        assert get(server, "/healthz/").status_code == 401
        assert get(server, "/healthz/../mcp").status_code == 401


def test_server_without_its_store_says_that_it_is_not_well_and_not_where_the_store_is(world: World) -> None:
    gone = f"postgresql://ann@/memory?host={world.home}/nowhere"
    with serving(world, "--http", "0", RECOLLECT_MEMORY_STORE=gone) as server:
        answer = get(server, "/healthz")
        assert answer.status_code == 503
        assert answer.json() == {
            "status": "unavailable",
            "reason": "the store cannot be used; `recollect doctor` says why",
        }
        found = metrics(server)
        assert value(found, "recollect_store_up") == 0
        assert not [name for name, _ in found if name == "recollect_entries_awaiting_vector"]


# Metrics


def test_metrics_count_calls_by_tool_and_outcome(world: World) -> None:
    with serving(world, "--http", "0") as server:
        assert call(server, "store_memory", **LESSON)[0] is False
        assert call(server, "search_memory", query="jitter")[0] is False
        assert call(server, "search_memory", query="gateway")[0] is False
        assert call(server, "search_memory", query="")[0] is True
        assert server.status(Authorization="Bearer wrong") == 401
        found = metrics(server)
        calls = "recollect_tool_calls_total"
        assert value(found, calls, tool="store_memory", outcome="answered") == 1
        assert value(found, calls, tool="search_memory", outcome="answered") == 2
        assert value(found, calls, tool="search_memory", outcome="refused") == 1
        assert value(found, "recollect_tool_call_seconds_count", tool="search_memory") == 3
        assert value(found, "recollect_unknown_tokens_total") == 1
        assert value(found, "recollect_store_up") == 1
        assert value(found, "recollect_open_connections") >= 1
        assert value(found, "recollect_entries_awaiting_vector") == 1
        assert value(found, "recollect_running_calls") == 0


def test_metrics_have_no_label_that_a_client_made_up(world: World) -> None:
    with serving(world, "--http", "0") as server:
        asked = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": 'x"} 1\nevil 1', "arguments": {}},
        }
        assert "error" in server.post({"Authorization": f"Bearer {TOKEN}"}, asked).json()
        assert "evil" not in get(server, "/metrics", TOKEN).text
        metrics(server)


def test_metrics_need_a_token_and_their_own_token_opens_nothing_else(world: World) -> None:
    with serving(world, "--http", "0", RECOLLECT_METRICS_TOKEN=METRICS) as server:
        assert get(server, "/metrics").status_code == 401
        assert get(server, "/metrics", "wrong").status_code == 401
        assert metrics(server, METRICS)
        assert metrics(server, TOKEN)
        assert server.status(Authorization=f"Bearer {METRICS}") == 401


def test_tokens_may_be_in_files(world: World, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    with serving(world, "--http", "0", token="", RECOLLECT_MCP_TOKEN_FILE=str(file)) as server:
        assert TOKEN not in server.introduction
        assert server.status() == 200
    done = world.run("mcp", "--http", "0", RECOLLECT_MCP_TOKEN=TOKEN, RECOLLECT_MCP_TOKEN_FILE=str(file))
    assert "both RECOLLECT_MCP_TOKEN and RECOLLECT_MCP_TOKEN_FILE are set" in done.stderr
    gone = world.run("mcp", "--http", "0", RECOLLECT_MCP_TOKEN_FILE=str(tmp_path / "gone"))
    assert gone.returncode == 1
    assert f"there is no token in {tmp_path / 'gone'}" in gone.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--workers", "2"), ("--call-timeout", "5"), ("--allow-host", "a.example")]
)
def test_options_of_a_service_go_with_http(world: World, option: str, value: str) -> None:
    assert f"{option} goes with --http" in world.run("mcp", option, value).stderr


# A store that is slow


class Blocked:
    """A PostgreSQL store in which another client keeps a lock."""

    def __init__(self, place: str, lock: str) -> None:
        with ExitStack() as opened:
            self._other = opened.enter_context(closing(psycopg.connect(place)))
            self._watch = opened.enter_context(closing(psycopg.connect(postgres.server().url(), autocommit=True)))
            self._other.execute(lock.encode())  # a connection that this would leave open fails another test
            self._opened = opened.pop_all()

    def wait_for_somebody(self, number: int = 1) -> None:
        """Wait until as many connections wait for the lock."""
        asked = (
            "SELECT DISTINCT a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " WHERE NOT l.granted AND %s = ANY (pg_blocking_pids(a.pid))"
        )
        pid = self._other.info.backend_pid
        until(lambda: len(self._watch.execute(asked, [pid]).fetchall()) >= number)

    def release(self) -> None:
        self._other.rollback()

    def __enter__(self) -> Blocked:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


@pytest.fixture
def place(tmp_path: Path) -> str:
    return postgres.server().place(tmp_path)


# The statements by which a client keeps other writers to the scope of the login out.
WRITE_LOCK = "SELECT set_config('recollect.scope', 'personal:dev', true); SELECT take_turn()"


def lock_of_tables(place: str) -> str:
    """The statement by which a client keeps others from reading."""
    schema = place.rpartition("%3D")[2]
    return f"LOCK TABLE {schema}.entries, {schema}._metadata IN ACCESS EXCLUSIVE MODE"


def test_calls_run_side_by_side_on_a_server(world: World, place: str) -> None:
    with serving(world, "--http", "0", RECOLLECT_MEMORY_STORE=place) as server, ThreadPoolExecutor(4) as beside:
        call(server, "store_memory", **LESSON)
        with Blocked(place, lock_of_tables(place)) as blocked:
            listing = [beside.submit(call, server, "list_memories") for _ in range(4)]
            blocked.wait_for_somebody(4)
            blocked.release()
            assert [each.result()[0] for each in listing] == [False] * 4
        assert value(metrics(server), "recollect_tool_calls_total", tool="list_memories", outcome="answered") == 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_during_a_call_lets_it_be_answered_and_takes_no_other(
    world: World, place: str, number: signal.Signals
) -> None:
    with serving(world, "--http", "0", RECOLLECT_MEMORY_STORE=place) as server, ThreadPoolExecutor(1) as beside:
        call(server, "list_memories")
        with Blocked(place, WRITE_LOCK) as blocked:
            storing = beside.submit(call, server, "store_memory", **LESSON)
            blocked.wait_for_somebody()
            server.process.send_signal(number)
            until(lambda: is_refused(server))
            blocked.release()
            failed, said = storing.result()
            assert not failed, said
            assert "Stored: Retry with jitter" in said
        assert server.process.wait(PATIENCE) == 128 + number


def is_refused(server: Served) -> bool:
    try:
        get(server, "/healthz")
    except httpx2.ConnectError:
        return True
    return False


def store_in_time(server: Served) -> None:
    """Store something, however late a server is that has to make its tables first and answers in a second or two."""
    until(lambda: again() and not call(server, "store_memory", **LESSON)[0])


def test_slow_store_gets_a_sentence_in_time_and_the_server_goes_on(world: World, place: str) -> None:
    with serving(world, "--http", "0", "--call-timeout", "1", RECOLLECT_MEMORY_STORE=place) as server:
        store_in_time(server)
        with Blocked(place, lock_of_tables(place)) as blocked:
            failed, said = call(server, "list_memories")
            assert failed
            assert said == "list_memories was not answered within 1 s: the store is slow; try again later"
            failed, said = call(server, "forget_memory", id="0" * 8, reason="Tests do that.")
            assert failed
            assert "It may still be done: look with search_memory before you repeat it" in said
            answer = get(server, "/healthz")
            assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
            assert value(metrics(server), "recollect_tool_calls_total", tool="list_memories", outcome="late") == 1
            blocked.release()
        until(lambda: again() and not call(server, "list_memories")[0])
        until(lambda: get(server, "/healthz").status_code == 200)


def test_busy_server_says_that_nothing_was_done(world: World, place: str) -> None:
    arguments = ("--http", "0", "--call-timeout", "2", "--workers", "1")
    with serving(world, *arguments, RECOLLECT_MEMORY_STORE=place) as server, ThreadPoolExecutor(1) as beside:
        store_in_time(server)
        with Blocked(place, lock_of_tables(place)) as blocked:
            first = beside.submit(call, server, "list_memories")
            blocked.wait_for_somebody()
            failed, said = call(
                server, "store_memory", **{**LESSON, "description": "Something else entirely, in time."}
            )
            assert failed
            assert said == (
                "store_memory was not answered within 2 s: the server is busy. Nothing was done; try again later"
            )
            assert "the store is slow" in first.result()[1]
