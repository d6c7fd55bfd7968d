# hot
"""Signs in the work of a session: a fault was mended, something was finished, the user says goodbye."""

from __future__ import annotations

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# Programs and their first arguments that run tests, and commands that end a piece of work.
_TESTS = (
    *("pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "playwright test"),
    *("cargo test", "cargo nextest", "go test", "mix test", "npm test", "npm run test", "npm t", "yarn test"),
    *("pnpm test", "bun test", "deno test", "dotnet test", "gradle test", "gradlew test", "mvn test", "make test"),
    *("make check", "swift test", "bundle exec rspec", "python -m unittest", "python3 -m unittest", "rake test"),
)
_CLOSES = ("git commit", "git merge", "gh pr create", "gh pr merge", "gh issue close", "glab mr create", "bd close")

_FAREWELLS = frozenset("thanks thank thx cheers bye goodbye goodnight danke merci gracias tschuss ciao".split())
_LONGEST_FAREWELL = 8  # in words
_MOST_PARTS = 50

_CHANGING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_LONGEST_LINE = 300
# Words to know a fault by: numbers, times and most names in paths differ from one time to the next.
_SHORTEST_WORD = 3
_FEWEST_WORDS = 4
_MOST_WORDS = 20


class Step:
    """One use of a tool: its name, its input, and the error if it failed."""

    def __init__(self, tool: str, given: Mapping[str, Any], error: str | None = None) -> None:
        self.tool = tool
        self.given = given
        self.error = error

    @property
    def failed(self) -> bool:
        return self.error is not None

    def commands(self) -> list[str]:
        """Return the commands of a shell line, each without variables set before it."""
        line = self.given.get("command") if self.tool == "Bash" else None
        if not isinstance(line, str):
            return []
        for mark in ("&&", "||", ";", "|"):
            line = line.replace(mark, "\n")
        return [_plain(part) for part in line.split("\n", _MOST_PARTS)[:_MOST_PARTS]]


def has_finished(steps: Iterable[Step]) -> bool:
    """Return True if a piece of work was finished: a commit, tests that pass, a closed task."""
    return any(_closes(step) for step in steps if not step.failed)


def says_farewell(prompt: str) -> bool:
    """Return True if a short prompt thanks or says goodbye."""
    words = _letters(prompt[:200]).split()
    return 0 < len(words) <= _LONGEST_FAREWELL and not _FAREWELLS.isdisjoint(words)


class Fault:
    """A command that failed, and the line of its output that says why."""

    def __init__(self, command: str, line: str) -> None:
        self.command = command
        self.line = line

    @property
    def mark(self) -> str:
        """Return a hash of the words of the line, to know the fault again; empty if they say too little."""
        words = [word for word in _letters(self.line).split() if len(word) >= _SHORTEST_WORD][:_MOST_WORDS]
        return f"{crc32(' '.join(words).encode('utf-8', 'replace')):08x}" if len(words) >= _FEWEST_WORDS else ""


def mended(steps: Sequence[Step]) -> list[Fault]:
    """Return the faults of commands that passed later, with a change of a file between."""
    failing: dict[str, tuple[Fault, bool]] = {}  # with True if a file was changed since
    found: list[Fault] = []
    for step in steps:
        if step.tool in _CHANGING:
            failing = {name: (fault, True) for name, (fault, _) in failing.items()}
        for command in step.commands():
            name = " ".join(command.split()[:2])
            if step.error is not None:
                failing.setdefault(name, (Fault(name, _telling_line(step.error)), False))
            elif failing.get(name, (None, False))[1]:
                found.append(failing.pop(name)[0])
    return found


def _telling_line(error: str) -> str:
    """Return the last line of an output that names an error, or else its last line."""
    lines = [line.strip() for line in error.split("\n") if line.strip()]
    named = [line for line in lines if any(word in line.lower() for word in ("error", "exception", "fail", "panic"))]
    return ((named or lines)[-1:] or [""])[0][:_LONGEST_LINE]


def _letters(text: str) -> str:
    return "".join([char if char.isalpha() else " " for char in text.lower()])


def _closes(step: Step) -> bool:
    if step.tool == "TodoWrite":
        todos: Any = step.given.get("todos")
        return bool(todos) and isinstance(todos, list) and all(_is_completed(todo) for todo in todos)  # pyright: ignore
    if step.tool == "TaskUpdate":
        return _is_completed(step.given)
    return any(
        command.startswith(_CLOSES) or any(f" {test} " in f" {command} " for test in _TESTS)
        for command in step.commands()
    )


def _is_completed(task: Any) -> bool:
    return isinstance(task, dict) and task.get("status") == "completed"  # pyright: ignore


def _plain(command: str) -> str:
    """Return a command without white space, variables and a path before its name."""
    words = command.split()
    while words and "=" in words[0]:
        words = words[1:]
    if not words:
        return ""
    return " ".join([words[0].rpartition("/")[2], *words[1:6]])
