"""Most tests run the command in forks (tests/forks.py); that is no other command than the installed one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World
from tests.forks import can_have

from recollect.cli.main import COMMANDS

TEXT = "# Patterns\n\n### Pattern: Queue before cron\nA queue keeps events that cron loses: größe.\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_installed_command_starts(world: World, command: str) -> None:
    done = replace(world, forked=False).run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: recollect {command} ")
    assert world.run(command, "--help").stdout == done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["config"], ["search", "größe"], ["list", "--json"], ["show", "no such"], ["lits"], ["write", "--no-option"], []],
)
def test_a_fork_answers_as_the_installed_command_does(world: World, arguments: list[str]) -> None:
    world.write_bank("patterns", TEXT)
    anew = replace(world, forked=False)
    anew.run("rebuild")
    forked, installed = world.run(*arguments, stdin="{}"), anew.run(*arguments, stdin="{}")
    assert (forked.returncode, forked.stdout) == (installed.returncode, installed.stdout)
    assert forked.stderr == installed.stderr


def test_a_fork_finds_by_meaning_as_the_installed_command_does(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", TEXT)
    anew = replace(semantic_world, forked=False)
    anew.run("rebuild")
    arguments = ["search", "jobs that wait their turn", "--json", "--explain"]
    forked, installed = semantic_world.run(*arguments), anew.run(*arguments)
    found = [[(hit["id"], hit["vector"]) for hit in json.loads(done.stdout)["hits"]] for done in (forked, installed)]
    assert found[0] == found[1] != []
    assert (forked.returncode, forked.stderr) == (0, installed.stderr)


def test_a_fork_takes_and_gives_more_than_a_pipe_holds(world: World) -> None:
    entry = '{"name": "Queue", "description": "%s", "category": "patterns"}' % ("größe " * 50_000)
    forked = world.run("upsert", "--entry-file", "-", stdin=entry)
    installed = replace(world, forked=False).run("upsert", "--entry-file", "-", stdin=entry)
    assert (forked.returncode, forked.stderr) == (installed.returncode, installed.stderr)


def test_a_fork_is_killed_and_waited_for(world: World) -> None:
    with world.start("mcp") as server:
        assert server.poll() is None
        server.kill()
        assert server.wait(PATIENCE) == -signal.SIGKILL
        assert server.poll() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONUTF8", "LANG", "LC_ALL", "LD_PRELOAD"])
def test_variables_that_python_reads_at_its_start_need_a_new_process(world: World, name: str) -> None:
    assert can_have({"RECOLLECT_HOME": "x"})
    assert not can_have({name: "x"})
    with world.start("config", **{name: "x"}) as process:
        process.communicate()
    assert type(process) is subprocess.Popen
    assert process.args == [RECOLLECT, "config"]
