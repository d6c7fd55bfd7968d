"""The plugin on a machine that has nothing but Python: it works at once, and gets its packages by itself."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, World, until
from tests.integration.provider_servers import speaking

from recollect.plugin.environment_state import is_being_built

BY_WORDS = "Memories are found by their words"

PLUGIN = Path(__file__).parents[2] / "plugin"
LAUNCHER = PLUGIN / "bin" / "recollect"

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}},
}

BANK = """\
### Pattern: Read a real file before you write its parser
The format in the manual is never the format on the disk.

### Heuristic: Water the plants on Fridays
They are in the kitchen.
"""


# Installs as `uv pip install --python <interpreter>` does: links to the packages of these tests.
# What Ollama's client needs comes only from the file that pins it.
INSTALLER = """\
#!/bin/sh
site=$("$4" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
for package in "{packages}"/*; do
  case $package in
    *.pth) ;;
    */httpx | */httpx-*) case $* in *--require-hashes*locked/ollama.txt*) ln -sfn "$package" "$site/" ;; esac ;;
    *) case $* in *--require-hashes*) ;; *) ln -sfn "$package" "$site/" ;; esac ;;
  esac
done
"""


@dataclass(frozen=True)
class Machine:
    """A machine with the plugin, and a Python that has no packages."""

    world: World
    data: Path

    def run(
        self, *arguments: str, stdin: str = "", before: Sequence[str] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Call the plugin's launcher, in the project, with nothing of the environment of these tests."""
        return subprocess.run(
            [*before, str(LAUNCHER), *arguments],
            cwd=self.world.project,
            env={**self.environment, **variables},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
        )

    def serve(self, **variables: str) -> subprocess.Popen[str]:
        """Start the MCP server as a client does, which speaks at once."""
        server = subprocess.Popen(
            [str(LAUNCHER), "mcp"],
            cwd=self.world.project,
            env={**self.environment, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert server.stdin
        server.stdin.write(f"{json.dumps(INITIALIZE)}\n")
        server.stdin.flush()
        return server

    def offer_packages(self) -> dict[str, str]:
        """Return variables with which a build needs no index: pip fails, and `uv` is a stand-in."""
        folder = self.data.parent / "installer"
        folder.mkdir(exist_ok=True)
        installer = folder / "uv"
        installer.write_text(INSTALLER.format(packages=sysconfig.get_path("purelib")), encoding="utf-8")
        installer.chmod(0o755)
        no_index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
        return {"PATH": f"{folder}:{self.environment['PATH']}", **no_index}

    def name_environment(self) -> Path:
        """Name an environment that has everything, as a build does that succeeds."""
        python = self.data / "environments" / "new" / "bin" / "python"
        python.parents[2].mkdir()
        python.parents[1].symlink_to(sys.prefix)
        (self.data / "interpreter").write_text(f"{python}\n", encoding="utf-8")
        return python

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.world.home),
            "LANG": "C.UTF-8",
            "RECOLLECT_HOME": str(self.world.store),
            "CLAUDE_PLUGIN_DATA": str(self.data),
        }

    def start_session(self, before: Sequence[str] = ()) -> dict[str, Any]:
        event = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(self.world.project)}
        done = self.run(
            "hook", "session-start", stdin=json.dumps({**event, "session_id": f"s-{time.time_ns()}"}), before=before
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    @property
    def interpreter(self) -> Path:
        return Path((self.data / "interpreter").read_text(encoding="utf-8").rstrip("\n"))


@pytest.fixture
def machine(semantic_world: World, tmp_path: Path) -> Machine:
    semantic_world.write_bank("patterns", BANK)
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", bare], check=True)
    data = tmp_path / "the plugin's data"
    data.mkdir()
    (data / "interpreter").write_text(f"{bare}/bin/python\n", encoding="utf-8")
    return Machine(semantic_world, data)


@pytest.fixture
def offline() -> list[str]:
    """What to put before a command so that it has no network."""
    for command in (["unshare", "-rn"], ["unshare", "-n"]):
        if shutil.which("unshare") and subprocess.run([*command, "true"], check=False).returncode == 0:
            return command
    if os.environ.get("CI") == "true":
        pytest.fail("no network namespace can be made here (unshare -rn)")
    pytest.skip("no network namespace can be made here (unshare -rn)")


@pytest.mark.slow
def test_first_start_builds_an_environment_that_finds_by_meaning(machine: Machine) -> None:
    first = machine.start_session()
    assert "in the background" in first["systemMessage"]
    assert "real file" in first["hookSpecificOutput"]["additionalContext"], "until then markdown alone has to do"

    # A command waits for the build, or begins it if it is faster; either way there is one.
    found = machine.run("search", "--json", "study actual samples ahead of coding the reader")
    assert found.returncode == 0, found.stderr
    best = json.loads(found.stdout)["hits"][0]
    assert best["name"] == "Read a real file before you write its parser"
    (built,) = (machine.data / "environments").iterdir()
    assert machine.interpreter == built / "bin" / "python"
    assert sorted(path.name for path in machine.data.iterdir()) == [
        "build.lock",
        "build.log",
        "environments",
        "interpreter",
    ]

    again = machine.start_session()
    assert again["systemMessage"] == "recollect: 2 memories recalled"
    assert machine.run("status").stderr == "", "nothing is built a second time"
    assert [path.name for path in (machine.data / "environments").iterdir()] == [built.name]

    # What is there by its name only is found out by the next command.
    shutil.rmtree(next(built.glob("lib/python3*/site-packages/pydantic_core")))
    repaired = machine.run("status", **machine.offer_packages())
    assert repaired.returncode == 0, repaired.stderr
    assert "setting up" in repaired.stderr
    assert not built.exists()

    # The command removes the interpreter that runs it, and the code in use stays as it is.
    removed = machine.run("uninstall", "--yes")
    assert removed.returncode == 0, removed.stderr
    assert not machine.data.exists()
    assert not machine.world.store.exists()
    assert machine.world.project.joinpath("docs/knowledge-bank/patterns.md").read_text(encoding="utf-8") == BANK


def test_without_a_network_commands_say_why_and_sessions_go_on(machine: Machine, offline: list[str]) -> None:
    bare = machine.interpreter
    left = machine.data / "environments" / "of-a-build-that-was-killed"
    left.mkdir(parents=True)

    failed = machine.run("list", before=offline)
    assert failed.returncode == 1
    assert "the package index could not be reached" in failed.stderr
    assert machine.interpreter == bare, "what served before serves on"
    assert list((machine.data / "environments").iterdir()) == []

    told = machine.start_session(before=offline)
    assert "the package index could not be reached" in told["systemMessage"]
    assert "real file" in told["hookSpecificOutput"]["additionalContext"]
    assert "could not set itself up" not in machine.start_session(before=offline).get("systemMessage", "")
    assert list((machine.data / "environments").iterdir()) == [], "it is not tried again within the hour"


def test_status_answers_at_once_while_packages_are_installed(machine: Machine) -> None:
    with (machine.data / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = machine.run("status")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("recollect is installing its packages in the background")
    assert "Knowledge     2 entries in the project's bank" in done.stdout


def test_status_tries_again_when_packages_could_not_be_installed(machine: Machine, offline: list[str]) -> None:
    machine.run("list", before=offline)
    again = machine.run("status", before=offline)
    assert again.returncode == 0
    assert "could not be installed: the package index could not be reached" in again.stdout
    with (machine.data / "build.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the build in the background has ended


def test_a_command_that_lacks_packages_says_so_in_json(machine: Machine, offline: list[str]) -> None:
    failed = machine.run("list", "--json", before=offline)
    told = json.loads(failed.stdout)
    assert (failed.returncode, told["code"]) == (1, "not_installed")
    assert "the package index could not be reached" in told["error"]
    assert told["fix"]


def test_a_start_during_a_build_leaves_it_to_that(machine: Machine) -> None:
    with (machine.data / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "in the background" in machine.start_session()["systemMessage"]
        assert sorted(path.name for path in machine.data.iterdir()) == ["build.lock", "interpreter"]


def test_while_other_packages_are_fetched_the_old_environment_serves(machine: Machine) -> None:
    old = machine.data / "environments" / "old"
    shutil.copytree(machine.interpreter.parents[1], old, symlinks=True)
    (machine.data / "interpreter").write_text(f"{old}/bin/python\n", encoding="utf-8")
    with (machine.data / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        started = machine.start_session()
    assert "updating its packages in the background" in started["systemMessage"]
    assert "real file" in started["hookSpecificOutput"]["additionalContext"]
    assert machine.interpreter == old / "bin" / "python"


@pytest.mark.slow
def test_without_packages_only_a_client_is_served_without_tools(machine: Machine, offline: list[str]) -> None:
    for option in ("--help", "--http=0"):
        failed = machine.run("mcp", option, before=offline)
        assert (failed.returncode, failed.stdout) == (1, "")
        assert "the package index could not be reached" in failed.stderr


def test_an_uninstall_that_cannot_have_its_packages_names_the_way_out(machine: Machine, offline: list[str]) -> None:
    failed = machine.run("uninstall", before=offline)
    assert failed.returncode == 1
    assert "`claude plugin uninstall memory@recollect`" in failed.stderr


def test_a_data_folder_that_cannot_be_written_is_no_reason_to_fail(machine: Machine) -> None:
    shutil.rmtree(machine.data)
    machine.data.write_text("a file in its place", encoding="utf-8")
    assert "real file" in machine.start_session()["hookSpecificOutput"]["additionalContext"]


def test_a_server_that_waited_for_the_build_answers_as_if_it_had_not(machine: Machine) -> None:
    with (machine.data / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = machine.serve()
        python = machine.name_environment()
    assert server.stdout
    answer = json.loads(server.stdout.readline())
    assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (1, "recollect")
    command = Path(f"/proc/{server.pid}/cmdline")
    if command.exists():
        assert command.read_text(encoding="utf-8").split("\0")[0] == str(python), "it is the same process"
    rest, _ = server.communicate(timeout=PATIENCE)
    assert (server.returncode, rest) == (0, "")


def test_a_server_whose_client_goes_while_it_waits_goes_too(machine: Machine) -> None:
    with (machine.data / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = machine.serve(MCP_TIMEOUT="6000000")  # or it would stand in, and end after that
        said, _ = server.communicate(timeout=PATIENCE)  # which closes its standard input
        assert (server.returncode, said) == (0, "")


def test_without_packages_a_server_has_no_tools_and_says_why(machine: Machine) -> None:
    failed = f"1\n{int(time.time())}\nthe package index could not be reached\n"
    (machine.data / "build.outcome").write_text(failed, encoding="utf-8")
    server = machine.serve()
    said, errors = server.communicate('{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n', timeout=PATIENCE)
    greeting, tools = map(json.loads, said.splitlines())
    assert "the package index could not be reached" in greeting["result"]["instructions"]
    assert tools == {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}
    assert "the package index could not be reached" in errors
    assert server.returncode == 0
    assert not (machine.data / "environments").exists(), "it is not tried again within the hour"


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_its_build_to_the_next(machine: Machine) -> None:
    variables = machine.offer_packages()
    server = machine.serve(**variables)
    while not is_being_built(str(machine.data)):
        assert server.poll() is None
    server.send_signal(signal.SIGKILL)
    server.communicate()
    next_one = machine.serve(MCP_TIMEOUT="600000", **variables)
    assert next_one.stdout
    answer = json.loads(next_one.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "recollect"
    assert answer["result"]["capabilities"]["tools"]
    [built] = (machine.data / "environments").iterdir()
    assert machine.interpreter == built / "bin" / "python"
    next_one.communicate(timeout=PATIENCE)
    assert next_one.returncode == 0


# Other providers


def own_settings(machine: Machine, text: str) -> None:
    """Write settings to a file that git does not track, so they are the user's own."""
    subprocess.run(["git", "init", "-q"], cwd=machine.world.project, check=True)
    machine.world.write_local_settings(text)


def choose_ollama(machine: Machine, **variables: str) -> str:
    done = machine.run("config", "set", "memory_embedding_provider", "ollama", **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_packages_of_a_provider_are_added_pinned_and_stay(machine: Machine) -> None:
    offered = machine.offer_packages()
    assert machine.run("list", **offered).returncode == 0
    without = machine.interpreter
    assert "adding the packages for ollama in the background" in choose_ollama(machine, **offered)

    build = machine.data / "build.log"
    until(lambda: machine.interpreter != without, lambda: build.read_text(encoding="utf-8"))
    assert without.exists(), "open sessions go on using it"
    log = (machine.data / "build.log").read_text(encoding="utf-8")
    (pinned,) = [line for line in log.splitlines() if "/uv pip install" in line and "--require-hashes" in line]
    assert "--only-binary=:all: --require-hashes --no-deps" in pinned
    assert f" --requirement {PLUGIN.resolve()}/locked/ollama.txt" in pinned

    with speaking("ollama") as server:
        made = machine.run("reembed", "--json", **server.environment)
        assert made.returncode == 0, made.stderr
        assert json.loads(made.stdout)["model"] == "ollama/nomic-embed-text"
        assert "packages" not in machine.start_session().get("systemMessage", "")

    # The next build has them, too, whatever it is for.
    shutil.rmtree(machine.interpreter.parents[1] / "lib", ignore_errors=True)
    site = machine.interpreter.parents[1] / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    site.joinpath("httpx-0.28.1.dist-info").mkdir(parents=True)
    assert machine.run("list", **offered).returncode == 0
    assert "locked/ollama.txt" in (machine.data / "build.log").read_text(encoding="utf-8")
    assert not without.exists()


@pytest.mark.slow
def test_without_a_network_a_provider_is_done_without_and_the_way_to_add_it_is_named(
    machine: Machine, offline: list[str]
) -> None:
    assert machine.run("list", **machine.offer_packages()).returncode == 0
    without = machine.interpreter
    own_settings(machine, "memory_embedding_provider: ollama\n")
    way = "when you are online, `recollect doctor --fix` adds them"

    failed = machine.run("doctor", "--fix", "--only", "environment", before=offline)
    assert "could not be repaired: the package index could not be reached" in failed.stdout
    assert machine.interpreter == without, "what served before serves on"

    told = machine.start_session(before=offline)
    assert (
        f"could not add the packages for ollama: the package index could not be reached. {BY_WORDS}; {way}"
        in (told["systemMessage"])
    )
    assert "real file" in told["hookSpecificOutput"]["additionalContext"]
    assert "could not add" not in machine.start_session(before=offline)["systemMessage"], "it is said once a day"
    status = json.loads(machine.run("status", "--json", before=offline).stdout)
    (issue,) = [issue for issue in status["attention"] if issue["kind"] == "packages"]
    assert ("lacks the packages for ollama" in issue["text"], issue["fix"]) == (True, way)
    found = machine.run("search", "real file parser", "--json", before=offline)
    assert json.loads(found.stdout)["hits"][0]["name"] == "Read a real file before you write its parser"
    assert "embedding with ollama needs the package httpx: the plugin adds it" in found.stdout
    doctor = machine.run("doctor", "--only", "environment", before=offline)
    assert "the packages for ollama could not be installed (1 time)" in doctor.stdout
    assert way in doctor.stdout

    added = machine.run("doctor", "--fix", "--only", "environment", **machine.offer_packages())
    assert "the packages for ollama were added" in added.stdout
    assert (machine.interpreter != without, without.exists()) == (True, True), "open sessions go on using the old one"
    assert "packages" not in machine.run("status").stdout


def test_labels_by_a_provider_need_its_packages_too(machine: Machine) -> None:
    python = machine.name_environment()
    own_settings(machine, "memory_keyword_provider: claude-api\n")
    assert "packages" not in machine.start_session().get("systemMessage", ""), f"{python} has them all"
    with (machine.data / "build.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        bare = machine.data / "environments" / "bare"
        site = bare / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
        site.mkdir(parents=True)
        for package in Path(sysconfig.get_path("purelib")).iterdir():
            if not package.name.startswith("anthropic"):
                (site / package.name).symlink_to(package)
        (bare / "bin").mkdir()
        (bare / "bin" / "python").symlink_to(python)
        (machine.data / "interpreter").write_text(f"{bare}/bin/python\n", encoding="utf-8")
        assert "is adding the packages for anthropic" in machine.start_session()["systemMessage"]
