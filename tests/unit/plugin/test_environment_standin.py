from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.plugin.environment_standin import answer_to
from recollect.plugin.environment_wait import patience_of_client


def asked(method: str, **parameters: Any) -> dict[str, Any]:
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters})
    answer = answer_to(line.encode(), "no network")
    assert answer is not None
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer


@pytest.mark.parametrize(
    ("version", "answered"), [("2025-06-18", "2025-06-18"), ("2026-07-28", "2025-11-25"), (None, "2025-11-25")]
)
def test_greeting_agrees_on_a_version_and_gives_the_reason(version: str | None, answered: str) -> None:
    greeting = asked("initialize", protocolVersion=version)["result"]
    assert greeting["protocolVersion"] == answered
    assert "no network" in greeting["instructions"]


def test_there_are_no_tools() -> None:
    assert asked("tools/list")["result"] == {"tools": []}


@pytest.mark.parametrize("method", ["server/discover", "tools/call", "", "x" * 1000])
def test_what_it_cannot_do_is_an_error_with_the_reason(method: str) -> None:
    error = asked(method)["error"]
    assert (error["code"], error["message"]) == (-32601, "recollect is not ready: no network")


@given(
    st.one_of(
        st.binary(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
    )
)
def test_what_asks_for_nothing_gets_no_answer(line: bytes) -> None:
    assert answer_to(line, "") is None


def test_notifications_get_no_answer() -> None:
    assert answer_to(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', "") is None


@pytest.mark.parametrize(
    ("given_by_client", "seconds"),
    [({}, 24), ({"MCP_TIMEOUT": "60000"}, 48), ({"MCP_TIMEOUT": "soon"}, 24), ({"MCP_TIMEOUT": "9" * 50}, 24)],
)
def test_a_client_hears_something_before_it_gives_up(given_by_client: dict[str, str], seconds: float) -> None:
    assert patience_of_client(given_by_client) == seconds
