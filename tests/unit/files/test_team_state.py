"""team.json: private, atomic, and not trusted when it is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import StorageError
from recollect.files.team.state import JoinedScope, Outbox, RefusedLine, TeamState, change_state, read_state

ID = "1794974531000-000007-abcdef01"


def made(**known: Any) -> TeamState:
    return TeamState("postgresql://ann@db/memory", "ann", "abcdef01", "laptop", **known)


def put(folder: Path, state: TeamState | None) -> None:
    change_state(str(folder / "team.json"), str(folder / "team"), lambda _: (state, None))


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    state = made(
        personal=True,
        clock=ID,
        skew=-3.5,
        scopes={"team:backend": JoinedScope("curator", True, 7)},
        links={"project:shop": "/home/dev/shop"},
        outbox=Outbox(100, 3, "abc"),
        contacted_at="2026-11-18T04:02:11Z",
        refused=[RefusedLine(ID, "team:backend", "you are a reader there", "2026-11-18T04:02:11Z")],
        renamed={ID: ID.replace("7", "8")},
    )
    put(tmp_path, state)

    assert read_state(str(tmp_path / "team.json")) == state
    assert os.stat(tmp_path / "team.json").st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "team").st_mode & 0o777 == 0o700


def test_no_file_is_no_state_and_none_removes_it(tmp_path: Path) -> None:
    assert read_state(str(tmp_path / "team.json")) is None
    put(tmp_path, made())
    put(tmp_path, None)

    assert not (tmp_path / "team.json").exists()


BROKEN: list[Any] = [
    "{", "[]", "7", "{}", {"version": 2}, {"version": 1, "address": "x"}, {"version": 1, "address": "x", "user": "y"},
    {"version": 1, "address": "x", "user": "y", "machine": {"id": "../../.."}}, "[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("document", BROKEN, ids=lambda each: str(each)[:40])
def test_a_broken_file_is_refused_with_a_way_out(tmp_path: Path, document: Any) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    (tmp_path / "team.json").write_text(text, encoding="utf-8")

    with pytest.raises(StorageError, match="team join"):
        read_state(str(tmp_path / "team.json"))


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
)
FIELDS = ("personal", "clock", "skew", "scopes", "links", "outbox", "contacted_at", "error", "refused", "renamed")


@given(st.dictionaries(st.sampled_from(FIELDS), junk))
def test_any_other_field_may_be_anything(tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("team") / "team.json"
    whole = {"version": 1, "address": "x", "user": "ann", "machine": {"id": "abcdef01"}, **fields}
    path.write_text(json.dumps(whole), encoding="utf-8")

    state = read_state(str(path))
    assert state is not None
    assert state.user == "ann"
    assert all(isinstance(text, str) for text in (state.clock, state.error, state.contacted_at, *state.links.values()))


def test_scopes_and_lines_with_hostile_names_are_left_out(tmp_path: Path) -> None:
    whole: dict[str, Any] = {"version": 1, "address": "x", "user": "ann", "machine": {"id": "abcdef01"}}
    whole |= {"scopes": {"../../etc": {}, "team:x": {"role": "root"}}, "refused": [{"id": "rm -rf"}, {"id": ID}]}
    whole |= {"links": {"project:a": 7}, "renamed": {ID: "x"}, "skew": 1e300}
    (tmp_path / "team.json").write_text(json.dumps(whole), encoding="utf-8")

    state = read_state(str(tmp_path / "team.json"))
    assert state is not None
    assert state.scopes == {"team:x": JoinedScope("reader")}
    assert [line.id for line in state.refused] == [ID]
    assert (state.links, state.renamed, state.skew) == ({}, {}, 0.0)
