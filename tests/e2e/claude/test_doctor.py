"""`recollect doctor` beside the real client: what it finds out from the client's own files, without running it."""

from __future__ import annotations

import json

import pytest
from tests.e2e.claude.client import Client
from tests.e2e.claude.test_init import recollect

from recollect.version import VERSION


def examined(machine: Client) -> dict[str, dict[str, str]]:
    # Not all: importing all packages has a limit of its own, which a busy machine can reach.
    checks = [word for name in ("plugin", "environment", "prompt-hook") for word in ("--only", name)]
    done = recollect(machine, "doctor", "--json", *checks)
    assert done.returncode == 0, done.stdout
    return {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}


@pytest.mark.slow
def test_plugin_is_known_as_the_client_has_it(machine: Client) -> None:
    assert machine.manage("list").code == 0
    found = examined(machine)
    assert found["Plugin"]["fix"] == "`recollect init` installs it"

    assert recollect(machine, "init", "--claude", str(machine.program)).returncode == 0
    found = examined(machine)
    assert found["Plugin"]["level"] == "ok"
    assert f"memory@recollect {VERSION} is installed" in found["Plugin"]["sentence"]
    assert found["Environment"]["level"] == "ok"
    assert "given the lesson that it is about" in found["Prompt hook"]["sentence"], "by the copy that the client made"

    assert machine.manage("disable", "memory@recollect").code == 0
    found = examined(machine)
    assert "switches it off" in found["Plugin"]["sentence"]
    assert found["Plugin"]["level"] == "warning"
