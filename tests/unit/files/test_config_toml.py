from __future__ import annotations

import tomllib

import pytest

from recollect.errors import UnsafeEdit
from recollect.files.client.config_toml import entry_in, with_entry, without_entry

ENTRY = {"command": "/home/dev/bin/recollect", "args": ["mcp"]}

OURS = """\
[mcp_servers.recollect]
command = "/home/dev/bin/recollect"
args = ["mcp"]
"""

OTHERS = """\
# My settings.
model = "m"  # the good one

[mcp_servers.files]
command = 'files-server'

[profiles.quick]
model = "q"
"""


@pytest.mark.parametrize(
    ("before", "after"), [("", OURS), (OTHERS, f"{OTHERS}\n{OURS}")], ids=["no file", "comments and others"]
)
def test_table_is_put_in_and_taken_out_and_nothing_else_changes(before: str, after: str) -> None:
    assert with_entry(before, "mcp_servers", ENTRY) == after
    assert with_entry(after, "mcp_servers", ENTRY) == after, "a second time changes nothing"
    assert entry_in(after, "mcp_servers") == ENTRY
    assert without_entry(after, "mcp_servers") == before


def test_a_last_line_without_an_end_gets_one() -> None:
    assert with_entry('a = "b"', "mcp_servers", ENTRY) == f'a = "b"\n\n{OURS}'


def test_lines_end_as_they_did() -> None:
    after = with_entry(OTHERS.replace("\n", "\r\n"), "mcp_servers", ENTRY)
    assert after == f"{OTHERS}\n{OURS}".replace("\n", "\r\n")


def test_table_in_the_middle_goes_with_its_own_tables_and_leaves_the_next_its_comment() -> None:
    middle = (
        f'{OURS}# Which variables it gets.\n[mcp_servers.recollect.env]\nA = "b"\n\n# Fast.\n[profiles.quick]\nb = 1\n'
    )
    assert without_entry(f'a = "b"\n\n{middle}', "mcp_servers") == 'a = "b"\n\n# Fast.\n[profiles.quick]\nb = 1\n'


def test_of_a_table_that_is_there_only_what_differs_is_changed() -> None:
    before = '[mcp_servers."recollect"]\nstartup_timeout_sec = 20\ncommand = "/old/recollect"\nargs = ["mcp"]\n'
    after = with_entry(before, "mcp_servers", ENTRY)
    assert after == before.replace("/old/recollect", "/home/dev/bin/recollect")


@pytest.mark.parametrize(
    "path", ['/home/dev/my "bin"/recollect', "/home/dev/ü\\x/recollect", "/home/dev/a\tb/recollect"]
)
def test_a_path_is_written_so_that_it_is_read_as_it_is(path: str) -> None:
    after = with_entry(OTHERS, "mcp_servers", {"command": path, "args": ["mcp"]})
    assert tomllib.loads(after)["mcp_servers"]["recollect"]["command"] == path


@pytest.mark.parametrize(
    "text",
    [
        "not TOML",
        "mcp_servers = 1",
        "mcp_servers = { files = { command = 'f' } }",
        "mcp_servers.recollect = 1",
        "[[mcp_servers]]\na = 1",
        '[mcp_servers.recollect]\ncommand = """\n/old/recollect"""\nargs = [\n"x",\n]\n',
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(UnsafeEdit):
        with_entry(text, "mcp_servers", ENTRY)


def test_an_entry_of_another_form_is_not_taken_out_by_half() -> None:
    with pytest.raises(UnsafeEdit):
        without_entry('[mcp_servers]\nrecollect = { command = "recollect", args = ["mcp"] }\n', "mcp_servers")
