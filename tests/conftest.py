"""Fixtures for tests that use recollect as people do: as a process, in a project, with a store of its own."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import settings as hypothesis_settings
from tests import forks

import recollect.hooks.bare
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.resident import client as resident

SOURCE = str(Path(recollect.hooks.bare.__file__).parents[2])
RECOLLECT = str(Path(sys.executable).parent / "recollect")
BARE_ENTRY = (sys.executable, "-I", "-S", str(recollect.hooks.bare.__file__))


# Whoever runs the tests in the background may have these ignored, and processes inherit that; a user's are not.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

# Nor does a user have the environment in which the tests are run; whoever runs them may have activated it.
_PATH = os.environ["PATH"].split(os.pathsep)
os.environ["PATH"] = os.pathsep.join(folder for folder in _PATH if folder != os.path.dirname(RECOLLECT))

pytest_plugins = ["tests.chance"]

NOBODY = forks.NOBODY

# Seconds after which a test that waits has hung. It guards against that alone, so no machine is too slow for it.
PATIENCE = 300.0
_LOOKS_EVERY = 0.02


def examples(number: int) -> int:
    """Scale the number of examples that a property is tried with by `make test` to the profile that is used."""
    return max(10, number * hypothesis_settings().max_examples // 100)


# Half of the time of the tests is waiting for a disk, unless their files are kept in memory; they need 1 GiB.
_MEMORY = "/dev/shm"
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)


def pytest_xdist_auto_num_workers() -> int:
    """Have three workers more than cores: half of the time tests wait, for a lock, a limit or the client."""
    return (os.cpu_count() or 1) + 3


def pytest_collection_finish() -> None:
    """Keep what all tests share from the garbage collector: looking through it would take half a second each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the slow tests, so that no worker is still at one when the others have nothing left to do.

    Each worker begins with an equal part of all tests, so each part gets its share of the slow ones.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    slow = [item for item in items if item.get_closest_marker("slow")]
    others = [item for item in items if not item.get_closest_marker("slow")]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        part = slow[worker::workers]
        end = len(items) * (worker + 1) // workers
        room = end - len(ordered) - len(part)
        ordered += [*part, *others[:room]]
        others = others[room:]
    items[:] = [*ordered, *others]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say last what was not run, with the reason: whoever reads "passed" should know what that leaves open."""
    skipped = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, count in skipped.most_common():
        terminalreporter.line(f"Not run here: {count} tests: {reason}")
    if not skipped:
        terminalreporter.line("Nothing was left out.")
    if terminalreporter.config.getoption("durations"):
        _say_where_time_went(terminalreporter)


def _say_where_time_went(terminalreporter: pytest.TerminalReporter) -> None:
    """Say for each folder of tests how many seconds of the workers it took."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if isinstance(report, pytest.TestReport):
            seconds["/".join(report.nodeid.partition("::")[0].split("/")[:-1][:3])] += report.duration
    total = sum(seconds.values()) or 1.0
    terminalreporter.line(f"Workers were busy with tests for {total:,.0f} s:")
    for folder, taken in sorted(seconds.items(), key=lambda each: -each[1]):
        terminalreporter.line(f"  {taken:7,.0f} s  {taken / total:4.0%}  {folder}")


# Code that imports all of recollect but what loads a model, and the servers, which take a second.
IMPORT_ALL = """
import importlib, pkgutil, recollect
for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
    late = ("recollect.embedding.", "recollect.hooks.bare", "recollect.mcp.", "recollect.serving.", "recollect.web.")
    if not module.name.startswith(late):
        importlib.import_module(module.name)
"""


def run_without_rights(
    arguments: Sequence[str],
    owned: Iterable[Path],
    *,
    cwd: str | Path,
    environment: Mapping[str, str],
    stdin: str = "",
    largest: int = 0,
) -> subprocess.CompletedProcess[str]:
    """Run the command as a user without rights, who owns these folders; no file may become larger than `largest`."""
    if os.geteuid() == 0:
        for folder in owned:
            for path in (folder, *folder.rglob("*")):
                if path.exists():
                    os.chown(path, NOBODY, NOBODY)
    # A fork has everything imported: the interpreter itself may stand in a folder that only root can read.
    with forks.Fork(
        arguments,
        limits=forks.Limits(largest=largest, rights=False),
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment},
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        stdout, stderr = process.communicate(stdin)
    return subprocess.CompletedProcess([*arguments], process.returncode, stdout, stderr)


def read_terminal(descriptor: int) -> bytes:
    """All that is printed to a terminal until its other end is closed."""
    shown = b""
    try:
        while data := os.read(descriptor, 65536):
            shown += data
    except OSError:
        pass  # how Linux says that the other end of a terminal is closed
    finally:
        os.close(descriptor)
    return shown


_T = TypeVar("_T")


def until(condition: Callable[[], _T], otherwise: Callable[[], object] = lambda: "that never happened") -> _T:
    """What a condition says once it holds; it only looks. A test that does it `again` counts that."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, otherwise()
        time.sleep(_LOOKS_EVERY)
    return found


def cpu_seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least time of this thread's own on a core that some work took, so that no other work counts."""
    taken: list[float] = []
    for _ in range(times):
        gc.disable()
        begun = time.thread_time()
        work()
        taken.append(time.thread_time() - begun)
        gc.enable()
    return min(taken)


def cannot_be_tested(reason: str) -> NoReturn:
    """What cannot be tested here is said; where everything has to be, it is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def link_worktree(main: Path, tree: Path) -> Path:
    """Make a folder a worktree of a repository, as git does: each of the two names the other."""
    folder = main / ".git" / "worktrees" / tree.name
    folder.mkdir(parents=True)
    tree.mkdir(exist_ok=True)
    (folder / "commondir").write_text("../..\n", encoding="utf-8")
    (folder / "gitdir").write_text(f"{tree}/.git\n", encoding="utf-8")
    (tree / ".git").write_text(f"gitdir: {folder}\n", encoding="utf-8")
    return tree


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that runs some code; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def run(code: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def heard(process: subprocess.Popen[str]) -> str:
    """The next line that a process says."""
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    """Let a process go on that waits for a line."""
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


# Code of a process that holds a database until it is told to let it go.
LOCK = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN " + sys.argv[2])
print("locked", flush=True)
sys.stdin.readline()
database.execute("ROLLBACK")
print("free", flush=True)
"""


@dataclass(frozen=True)
class World:
    """A project and a global store in a home folder of their own."""

    home: Path
    project: Path
    store: Path
    semantic: bool = False
    forked: bool = True  # whether commands are run in forks, where nobody could tell

    def workspace(self, root: Path | None = None, variables: Mapping[str, str] | None = None) -> Workspace:
        """The workspace of the project, or of another root, with the settings by some variables."""
        folder = str(root or self.project)
        return Workspace(folder, str(self.store), load_settings(folder, variables))

    def write_bank(self, category: str, text: str, *, shared: bool = False) -> Path:
        folder = self.store if shared else self.project / "docs" / "knowledge-bank"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{category}.md"
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def write_decision(self, slug: str, **fields: Any) -> Path:
        """Write a memory file by hand, with these fields in place of the usual ones."""
        record = {
            "schema_version": "1.0",
            "category": "decision",
            "id": slug,
            "title": f"Title of {slug}",
            "record_status": "active",
            "created_at": days_ago(3),
            "updated_at": days_ago(2),
            "tags": ["storage"],
            "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
            **fields,
        }
        path = self.project / ".claude" / "memory" / "decisions" / f"{slug}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record), encoding="utf-8")
        return path

    def trust_in_client(self, root: Path | None = None, *, trusted: bool = True) -> Path:
        """Write the answer of the client's trust dialog for the project, or for another folder."""
        path = self.home / ".claude.json"
        state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"projects": {}}
        folder = str(root or self.project)
        state["projects"][folder] = {"allowedTools": [], "hasTrustDialogAccepted": trusted}
        path.write_text(json.dumps(state), encoding="utf-8")
        return path

    def make_repository(self) -> None:
        """Make the project a repository that tracks nothing yet: its settings are the user's own then."""
        (self.project / ".git").mkdir()

    def write_local_settings(self, text: str) -> Path:
        path = self.project / ".claude" / "iflow-dev.local.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def run(
        self, *arguments: str, cwd: Path | None = None, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command in the project."""
        with self.start(*arguments, cwd=cwd, encoding="utf-8", **variables) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess([*arguments], process.returncode, stdout, stderr)

    def start(
        self,
        *arguments: str,
        cwd: Path | None = None,
        stderr: int = subprocess.PIPE,
        encoding: str | None = None,
        **variables: str,
    ) -> subprocess.Popen[Any]:
        """Start the command in the project: a fork unless that could be told from the installed one."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stderr}
        return self._popen(arguments, variables, cwd=cwd or self.project, encoding=encoding, **pipes)

    def _popen(self, arguments: Sequence[str], variables: Mapping[str, str], **options: Any) -> subprocess.Popen[Any]:
        environment = self.environment(variables)
        if self.forked and arguments and forks.can_have(variables):
            return forks.Fork(arguments, env=environment, **options)
        return subprocess.Popen([RECOLLECT, *arguments], env=environment, **options)

    def on_a_terminal(self, *arguments: str, columns: int = 0, code: int | None = 0, **variables: str) -> bytes:
        """All that the command prints when its output is a terminal of some columns (0: a terminal that tells none)."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self._popen(arguments, variables, cwd=self.project, stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = read_terminal(ours)
        assert process.wait() == code or code is None, shown
        return shown

    def run_bare(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run injection as a hook does: in a bare interpreter."""
        return self._process([*BARE_ENTRY, "inject", *arguments], None, "", variables)

    def run_hook(self, name: str, event: Mapping[str, Any] | str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Serve one event as the client has it served: in a bare interpreter, from standard input.

        Returns when everything that the hook does after its answer is over, its log for example.
        """
        stdin = event if isinstance(event, str) else json.dumps(event)
        reader, writer = os.pipe()
        try:
            return self._process([*BARE_ENTRY, "hook", name], None, stdin, variables, pass_fds=(writer,))
        finally:
            os.close(writer)
            is_over = select.select([reader], [], [], PATIENCE)[0]
            os.close(reader)
            assert is_over, "something that the hook has started is still running"

    def _process(
        self, command: list[str], cwd: Path | None, stdin: str, variables: dict[str, str], **options: Any
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=cwd or self.project,
            env=self.environment(variables),
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
            **options,
        )

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        switched = {} if self.semantic else {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
        return {**environment, "RECOLLECT_HOME": str(self.store), **switched, **variables}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A world with an empty project, where memories come from markdown alone; its store does not exist yet."""
    yield from _world(tmp_path, semantic=False)


@pytest.fixture
def semantic_world(tmp_path: Path) -> Iterator[World]:
    """A world as it comes: memories are chosen by what a session is about."""
    yield from _world(tmp_path, semantic=True)


def _world(folder: Path, *, semantic: bool) -> Iterator[World]:
    project = folder / "home" / "shop-front"
    project.mkdir(parents=True)
    yield World(folder / "home", project, folder / "store", semantic)
    for place in resident.folders(str(folder / "store")):
        resident.sweep(place)  # what servers leave that a test has killed


@pytest.fixture
def tried(record_property: Callable[[str, object], None]) -> Callable[[int], None]:
    """Notes how often a test has tried something, for the table of `make attack`; else it counts once."""
    return lambda count: record_property("tried", count)


@pytest.fixture
def bank_text() -> Callable[..., str]:
    """A bank file with a given number of entries, each with the metadata that the call names."""

    def build(label: str, count: int, start: int = 1, **metadata: str) -> str:
        lines = [f"# {label}s", ""]
        for number in range(start, start + count):
            lines += [f"### {label}: Lesson {number}", f"What {label} {number} taught us.", "- Source: Feature #007"]
            lines += [f"- {key.replace('_', ' ')}: {value}" for key, value in metadata.items()]
            lines.append("")
        return "\n".join(lines)

    return build
