from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UnsafeEdit
from recollect.files.client.config_json import entry_in, shown, with_entry, without_entry

ENTRY = {"command": "/home/dev/bin/recollect", "args": ["mcp"]}

SHOWN = """\
{
  "mcpServers": {
    "recollect": {
      "command": "/home/dev/bin/recollect",
      "args": ["mcp"]
    }
  }
}
"""

OTHERS = """\
{
    "theme":   "dark",
    "mcpServers": {
        "files": {"command": "files-server", "args": []}
    },
    "last": [1,
      2]
}
"""

OTHERS_AND_OURS = """\
{
    "theme":   "dark",
    "mcpServers": {
        "files": {"command": "files-server", "args": []},
        "recollect": {
            "command": "/home/dev/bin/recollect",
            "args": ["mcp"]
        }
    },
    "last": [1,
      2]
}
"""

NO_SECTION = '{\n\t"theme": "dark"\n}\n'
NO_SECTION_AND_OURS = (
    '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"recollect": {\n'
    '\t\t\t"command": "/home/dev/bin/recollect",\n\t\t\t"args": ["mcp"]\n\t\t}\n\t}\n}\n'
)


@pytest.mark.parametrize(
    ("before", "after"),
    [("", SHOWN), (OTHERS, OTHERS_AND_OURS), (NO_SECTION, NO_SECTION_AND_OURS)],
    ids=["no file", "other servers", "no servers"],
)
def test_entry_is_put_in_and_taken_out_and_nothing_else_changes(before: str, after: str) -> None:
    assert with_entry(before, "mcpServers", ENTRY) == after
    assert with_entry(after, "mcpServers", ENTRY) == after, "a second time changes nothing"
    assert entry_in(after, "mcpServers") == ENTRY
    assert without_entry(after, "mcpServers") == before


def test_shown_entry_is_what_an_empty_file_gets() -> None:
    assert shown("mcpServers", ENTRY) == SHOWN


def test_lines_end_as_they_did() -> None:
    after = with_entry(OTHERS.replace("\n", "\r\n"), "mcpServers", ENTRY)
    assert after == OTHERS_AND_OURS.replace("\n", "\r\n")


def test_of_an_entry_that_is_there_only_what_differs_is_changed() -> None:
    before = '{"mcpServers": {"recollect": {"env": {"A": "b"}, "command": "/old/recollect",  "args": ["mcp"]}}}'
    after = '{"mcpServers": {"recollect": {"env": {"A": "b"}, "command": "/home/dev/bin/recollect",  "args": ["mcp"]}}}'
    assert with_entry(before, "mcpServers", ENTRY) == after


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {} // mine\n}',
        '{"mcpServers": {},}',
        "not JSON",
        "[]",
        '{"mcpServers": []}',
        '{"mcpServers": {"recollect": "a text"}}',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(UnsafeEdit):
        with_entry(text, "mcpServers", ENTRY)
    with pytest.raises(UnsafeEdit):
        without_entry(text, "mcpServers")


servers = st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=5), st.text(), max_size=2), max_size=3)


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=3), servers, st.sampled_from([None, 2, 4, "\t"]))
def test_any_configuration_keeps_what_it_had(others: dict[str, Any], known: dict[str, Any], indent: Any) -> None:
    document = {**others, "mcpServers": known}
    text = json.dumps(document, indent=indent)
    after = with_entry(text, "mcpServers", ENTRY)
    assert json.loads(after) == {**document, "mcpServers": {**known, "recollect": ENTRY}}
    left = json.loads(without_entry(after, "mcpServers") or "{}")
    assert {"mcpServers": {}, **left} == {
        **document,
        "mcpServers": {k: v for k, v in known.items() if k != "recollect"},
    }
