"""The files of deploy/: the script for a new database, then the commands of compose.yaml in their order."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World
from tests.integration.mcp_server.talk import LESSON
from tests.integration.mcp_server.test_mcp_http import serving
from tests.integration.mcp_server.test_mcp_operating import call, get

DEPLOY = Path(__file__).parents[2] / "deploy"
OWNER = "postgresql://memory_owner@db/memory"
GATEWAY = "postgresql://gateway@db/memory"


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    folder = Path(tempfile.mkdtemp(prefix="recollect-own-"))
    process = postgres.start_own(folder)
    yield postgres.Server(folder)
    process.send_signal(signal.SIGQUIT)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def there(server: postgres.Server, address: str) -> str:
    """An address of compose.yaml, on the test's server."""
    return address.replace("@db/", "@/") + f"?host={server.folder}"


def settings_of(service: str) -> str:
    """The part of compose.yaml about a service."""
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    found = re.search(rf"^  {service}:\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    assert found, service
    return found[1]


@pytest.mark.slow
def test_new_database_is_made_ready_and_serves_a_user(world: World, own_server: postgres.Server) -> None:
    own_server.run("CREATE DATABASE memory")
    programs = postgres.programs(own_server.folder)
    subprocess.run(
        [DEPLOY / "init-db.sh"],
        env={
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PGHOST": str(own_server.folder),
            "POSTGRES_USER": "recollect",
            "POSTGRES_DB": "memory",
            "OWNER_PASSWORD": "it's for the owner",
            "SERVER_PASSWORD": 'a "server"',
        },
        check=True,
        capture_output=True,
    )
    assert f'command: ["team", "init", "{OWNER}"]' in settings_of("setup")
    owner = {"RECOLLECT_MEMORY_STORE": there(own_server, OWNER)}
    for arguments in (
        ("init", there(own_server, OWNER)),
        ("init", there(own_server, OWNER)),
        ("scope", "team:backend", "--create"),
    ):
        done = world.run("team", *arguments, **owner)
        assert done.returncode == 0, done.stderr
    create = ("token", "create", "memory_owner", "--scope", "team:backend", "--role", "writer")
    token = world.run("team", *create, **owner).stdout.strip()
    assert f"RECOLLECT_MEMORY_STORE: {GATEWAY}" in settings_of("server")
    gateway = {"RECOLLECT_MEMORY_STORE": there(own_server, GATEWAY), "RECOLLECT_MEMORY_SCOPE": "personal"}
    with serving(world, "--http", "0", token="", RECOLLECT_METRICS_TOKEN="", **gateway) as server:
        assert get(server, "/healthz").status_code == 200
        assert call(server, "store_memory", token, **LESSON)[0] is False
        assert "Retry with jitter" in call(server, "search_memory", token, query="gateway")[1]


def test_password_in_a_file_reaches_the_command(tmp_path: Path) -> None:
    (tmp_path / "recollect").write_text('#!/bin/sh\nprintf "%s\\n" "$PGPASSWORD" "$@"\n', encoding="utf-8")
    (tmp_path / "recollect").chmod(0o755)
    (tmp_path / "password").write_text("a b'c\n", encoding="utf-8")
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PGPASSWORD_FILE": str(tmp_path / "password")}
    entrypoint = [DEPLOY / "entrypoint.sh", "mcp", "--http", "0.0.0.0:8765"]
    done = subprocess.run(entrypoint, env=environment, check=True, capture_output=True, encoding="utf-8")
    assert done.stdout == "a b'c\nmcp\n--http\n0.0.0.0:8765\n"
    missing = {**environment, "PGPASSWORD_FILE": str(tmp_path / "gone")}
    assert subprocess.run(entrypoint, env=missing, check=False, capture_output=True).returncode != 0


def test_every_variable_of_compose_is_in_the_example_and_in_the_documentation() -> None:
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    example = (DEPLOY / "env.example").read_text(encoding="utf-8")
    page = (DEPLOY.parent / "docs" / "team.md").read_text(encoding="utf-8")
    variables = set(re.findall(r"\$\{([A-Z_]+)", compose))
    assert variables >= {"POSTGRES_PASSWORD", "OWNER_PASSWORD", "SERVER_PASSWORD", "SERVER_NAME"}
    for name in variables:
        assert re.search(rf"^{name}=", example, re.MULTILINE), name
        assert f"`{name}`" in page, name
