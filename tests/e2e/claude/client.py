"""The real Claude Code, with nothing of this machine: its own home, its own settings, no network, a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from tests.conftest import PATIENCE, World
from tests.e2e.claude.api import Api, Json, Reply, Request
from tests.e2e.claude.terminal import COLUMNS, Session

REPOSITORY = Path(__file__).parents[3]
PLUGIN = REPOSITORY / "plugin"

# The oldest release that is tested; some things came after it.
OLDEST = "2.1.197"

_ALONE = str(Path(__file__).with_name("alone.py"))
_KEY = "none"


def namespace_command() -> list[str]:
    """How a command gets a network namespace of its own on this machine; empty where none can be had."""
    unshare = shutil.which("unshare")
    for command in ([unshare, "-rn"], [unshare, "-n"]) if unshare else ():
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return [part for part in command if part]
    return []


@dataclass
class Run:
    """What came of one run of the client."""

    code: int
    events: list[Json]
    stdout: str
    stderr: str
    requests: list[Request] = field(default_factory=list)
    others: list[Json] = field(default_factory=list)

    @property
    def results(self) -> list[Json]:
        """How each turn ended."""
        return [event for event in self.events if event["type"] == "result"]

    @property
    def start(self) -> Json:
        """What the client says of itself: its tools, commands, skills and plugins."""
        return next(event for event in self.events if event.get("subtype") == "init")

    @property
    def session(self) -> str:
        return str(self.results[-1]["session_id"])

    def request_for(self, prompt: str) -> Request:
        """What was sent first for a prompt."""
        return next(request for request in self.requests if prompt in request.newest)

    @property
    def told_to_the_user(self) -> list[str]:
        """What the hooks of a session's start have for the person, as the client got it."""
        rows = [event for event in self.events if event.get("subtype") == "hook_response"]
        answers = [json.loads(row["stdout"]) for row in rows if row["stdout"]]
        return [answer["systemMessage"] for answer in answers if "systemMessage" in answer]


@dataclass
class Client:
    """A person's machine that has one release of the client."""

    program: Path
    version: str
    namespace: list[str]
    home: Path
    project: Path
    store: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in (self.config, self.project):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def config(self) -> Path:
        return self.home / ".claude"

    @property
    def world(self) -> World:
        """The same machine, for tests that put something into its project or its store."""
        return World(self.home, self.project, self.store, semantic=True)

    @property
    def transcripts(self) -> Path:
        """Where the client writes down the project's sessions."""
        return self.config / "projects" / "".join(char if char.isalnum() else "-" for char in str(self.project))

    def data(self, *, installed: bool = True) -> Path:
        """Where the client lets the plugin keep what it makes for itself."""
        return self.config / "plugins" / "data" / ("memory-recollect" if installed else "memory-inline")

    def name_interpreter(self, interpreter: str | Path = sys.executable, *, installed: bool = True) -> None:
        """Have the plugin run this Python; the tests' own has all packages, so that no run has to install them."""
        self.data(installed=installed).mkdir(parents=True, exist_ok=True)
        (self.data(installed=installed) / "interpreter").write_text(f"{interpreter}\n", encoding="utf-8")

    def manage(self, *arguments: str) -> Run:
        """`claude plugin ...`"""
        with Api() as api:
            return self.run(["plugin", *arguments], api)

    def recollect(
        self, *arguments: str, launcher: Path = PLUGIN / "bin" / "recollect"
    ) -> subprocess.CompletedProcess[str]:
        """The plugin's own command, as a person would call it in the project."""
        return subprocess.run(
            [launcher, *arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
        )

    def ask(
        self, *prompts: str, more: Iterable[str] = (), script: Iterable[Reply] = (), options: Sequence[str] = ()
    ) -> Run:
        """A session in the project: each prompt is given when the model has done with the one before.

        Whether there are `more` may depend on what has happened by then.
        """
        streams = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
        with Api(script) as api:
            run = self.run(["-p", *streams, *options], api, chain(prompts, more))
        assert not api.failures, self._complaints(api)
        assert run.code == 0, f"claude {self.version} exited with {run.code}: {run.stderr[-2000:]} {run.stdout[-2000:]}"
        return run

    def run(self, arguments: Sequence[str], api: Api, prompts: Iterable[str] = ()) -> Run:
        """Run the program alone, with an API to talk to; each prompt is given after the result of the one before."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
            self._started(arguments, api, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
        ):
            assert process.stdin
            assert process.stdout
            events: list[Json] = []
            said: list[str] = []
            waiting = iter(prompts)
            _give(process.stdin, next(waiting, None))
            for line in process.stdout:
                said.append(line)
                event = _event(line)
                if event:
                    events.append(event)
                if event and event["type"] == "result":
                    _give(process.stdin, next(waiting, None))
            code = process.wait()
            errors.seek(0)
            return Run(code, events, "".join(said), errors.read(), api.requests, api.others)

    @contextmanager
    def session(self, *script: Reply, options: Sequence[str] = (), columns: int = COLUMNS) -> Iterator[Session]:
        """A session in the project with a person at a terminal, who ends it with /exit."""
        self._greet()
        servers = self.home / ".cache" / "claude-cli-nodejs" / self.transcripts.name
        session = Session(self.transcripts, servers / "mcp-logs-plugin-memory-recollect", script, columns)
        end = session.screen.theirs
        try:
            with session.api, self._started(options, session.api, stdin=end, stdout=end, stderr=end) as process:
                session.begin()
                yield session
                if session.is_open:
                    session.leave(process)
        finally:
            session.screen.close()
        assert not session.api.failures, self._complaints(session.api)

    def _complaints(self, api: Api) -> str:
        """What a script complained about, what the last request was given, and what hooks have logged."""
        log = self.store / "recollect.log"
        logged = log.read_text(encoding="utf-8")[-2000:] if log.exists() else "nothing"
        given = api.requests[-1].context_of("UserPromptSubmit") if api.requests else []
        return "\n".join([*api.failures, f"given: {given}", f"logged: {logged}"])

    def _greet(self) -> None:
        """Answer what the client asks a person who starts it for the first time."""
        path = self.config / ".claude.json"
        state = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        state |= {"hasCompletedOnboarding": True, "theme": "dark"}
        state |= {"customApiKeyResponses": {"approved": [_KEY], "rejected": []}}
        state.setdefault("projects", {})[str(self.project)] = {"hasTrustDialogAccepted": True}
        path.write_text(json.dumps(state), encoding="utf-8")

    @contextmanager
    def _started(self, arguments: Sequence[str], api: Api, **streams: Any) -> Iterator[subprocess.Popen[str]]:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                alone = [*self.namespace, sys.executable, "-I", "-S", _ALONE, str(theirs.fileno())]
                process = subprocess.Popen(
                    [*alone, str(self.program), *arguments],
                    cwd=self.project,
                    env=self.environment(),
                    encoding="utf-8",
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    **streams,
                )
            deadline = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
            deadline.start()
            try:
                listeners = socket.recv_fds(ours, 1, 1)[1]
                if listeners:
                    api.serve(socket.socket(fileno=listeners[0]))
                yield process
            finally:
                deadline.cancel()
                deadline.join()
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                with process:
                    pass

    def environment(self) -> dict[str, str]:
        """Everything that the client gets to know about where it runs."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "RECOLLECT_HOME": str(self.store),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "ANTHROPIC_API_KEY": _KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # or root could not skip permissions
            # Chance decides whether a server has loaded its model by the time of a prompt.
            "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false",
            "MCP_CONNECT_TIMEOUT_MS": "60000",  # a busy machine must not decide whether the first request has the tools
            **self.variables,
        }


def _give(stdin: IO[str], prompt: str | None) -> None:
    if prompt is None:
        stdin.close()
        return
    message: Any = {"type": "user", "message": {"role": "user", "content": prompt}}
    try:
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()
    except OSError:
        pass  # the client has ended; its exit code says why


def _event(line: str) -> Json | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "type" in event else None
