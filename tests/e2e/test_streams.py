"""What the command does with its streams: colours for people only, and no traceback when one is closed."""

from __future__ import annotations

import os
import subprocess

import pytest
from tests.conftest import RECOLLECT, World


@pytest.mark.parametrize("arguments", [("config",), ("promote", "--dry-run")])
def test_colours_are_for_terminals_and_respect_no_color(world: World, arguments: tuple[str, ...]) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    assert b"\x1b[" in world.on_a_terminal(*arguments)
    assert b"\x1b[" not in world.on_a_terminal(*arguments, NO_COLOR="1")
    assert "\x1b[" not in world.run(*arguments).stdout


def test_a_person_is_told_why_nothing_is_injected(world: World) -> None:
    assert b"Nothing to inject: no entries in" in world.on_a_terminal("inject")
    assert world.run("inject").stderr == ""


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&-"])
@pytest.mark.parametrize("command", ["inject", "config", "promote", "promote --entry-file -"])
def test_closed_streams_are_no_traceback(world: World, command: str, redirection: str) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    world.write_local_settings("memory_injection_limit: lots\n")
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" {command} {redirection}', RECOLLECT],
        cwd=world.project,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)
