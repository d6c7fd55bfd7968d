# hot
"""Signs in the work of a session: a fault was mended, something was finished, the user says goodbye."""

from __future__ import annotations

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# The client's tools for files: the field with the path, and those that change a file or can only read.
_PATHS = {
    **dict.fromkeys(("Read", "Edit", "MultiEdit", "Write"), "file_path"),
    **dict.fromkeys(("NotebookEdit", "NotebookRead"), "notebook_path"),
    "Grep": "path",
}
_CHANGING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_READING = ("Read", "NotebookRead", "Grep", "Glob")
_SHELL = "Bash"

# Programs and their first arguments that run tests, and commands that end a piece of work.
_TESTS = (
    *("pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "playwright test"),
    *("cargo test", "cargo nextest", "go test", "mix test", "npm test", "npm run test", "npm t", "yarn test"),
    *("pnpm test", "bun test", "deno test", "dotnet test", "gradle test", "gradlew test", "mvn test", "make test"),
    *("make check", "swift test", "unittest", "rake test"),
)
_CLOSES = ("git commit", "git merge", "gh pr create", "gh pr merge", "gh issue close", "glab mr create", "bd close")

# Words before the name of a program that runs tests.
_RUNNERS = ("uv run ", "poetry run ", "pipenv run ", "npx ", "pnpm exec ", "python -m ", "python3 -m ", "bundle exec ")

_THANKS = frozenset("thanks thank thx cheers danke merci gracias".split())
_FAREWELLS = frozenset("bye goodbye goodnight tschuss ciao".split())
_PHRASES = _THANKS | frozenset(
    "you so much a lot very great perfect nice awesome that thats is was all it for now today tomorrow good night see"
    " ok okay and done then we are were everything the help your this from me us again many have day weekend".split()
)
_LONGEST_FAREWELL = 10  # in words
_LONGEST_COMMAND = 4_000

# Commands that only prepare others, and results of tools that were not run to their end.
_PREPARING = ("cd", "export", "source", "set", "echo", "pwd", "sleep", "true")
_NOT_RUN = (
    "The user doesn't want",
    "Permission",
    "PreToolUse:",
    "Command timed out",
    "[Request",
    "<tool_use_error",
    "Claude requested",
)

_LONGEST_WORD = 20
_LONGEST_LINE = 300
# Words to know a fault by: numbers, times and most names in paths differ from one time to the next.
_SHORTEST_WORD = 3
_FEWEST_WORDS = 4
_MOST_WORDS = 20


class Step:
    """One use of a tool: its name, its input, its id, and the error if it failed."""

    def __init__(self, tool: str, given: Mapping[str, Any], id: str = "", error: str | None = None) -> None:
        self.tool = tool
        self.given = given
        self.id = id
        self.error = error

    @property
    def path(self) -> str:
        """Return the path given to a tool for files; empty for other tools."""
        path = self.given.get(_PATHS.get(self.tool, ""))
        return path if isinstance(path, str) else ""

    @property
    def shell_line(self) -> str:
        line = self.given.get("command") if self.tool == _SHELL else ""
        return line if isinstance(line, str) else ""

    def commands(self) -> list[str]:
        """Return the commands of a shell line, without those that only prepare others."""
        line = self.shell_line
        for mark in ("&&", "||", ";"):
            line = line.replace(mark, "\n")
        found = [_plain(part) for part in line[:_LONGEST_COMMAND].split("\n")]
        return [command for command in found if command and command.split(" ", 1)[0] not in _PREPARING]


def is_change(step: Step) -> bool:
    """Return True if a step has changed a file by a tool for that."""
    return step.tool in _CHANGING and step.error is None


def only_reads(step: Step) -> bool:
    """Return True if a tool use can only read files."""
    return step.tool in _READING


class Fault:
    """A command that failed: the words to name it by, the id of its use, and the line of its output with the error."""

    def __init__(self, command: str, id: str, line: str) -> None:
        self.command = command
        self.id = id
        self._line = line

    @property
    def mark(self) -> str:
        """Return a hash of the command and the words of the error, to know it again; empty if they say too little."""
        words = [word for word in _letters(self._line).split() if len(word) >= _SHORTEST_WORD][:_MOST_WORDS]
        told = " ".join([self.command, *words])
        return f"{crc32(told.encode('utf-8', 'replace')):08x}" if len(words) >= _FEWEST_WORDS else ""


def has_finished(steps: Iterable[Step]) -> bool:
    """Return True if a piece of work was finished: a commit, tests that pass, a closed task."""
    return any(_closes(step) for step in steps if step.error is None)


def overcome(steps: Iterable[Step]) -> str:
    """Return the name of the last command that failed before a piece of work was finished; empty without one."""
    failed = found = ""
    for step in steps:
        commands = step.commands()
        if step.error is not None and commands and not step.error.startswith(_NOT_RUN):
            failed = _named(commands[-1])
        elif step.error is None and _closes(step):
            found = failed or found
    return found


def says_farewell(prompt: str) -> bool:
    """Return True if a prompt says nothing but goodbye."""
    return _says_only(prompt, _FAREWELLS)


def says_thanks(prompt: str) -> bool:
    """Return True if a prompt says nothing but thanks."""
    return _says_only(prompt, _THANKS)


def mended(steps: Sequence[Step]) -> list[Fault]:
    """Return the faults of commands that passed later, with a change of a file between.

    Of a line with several commands the last one counts: an earlier one would have ended the line.
    """
    changes = 0
    failing: dict[str, tuple[Fault, int]] = {}  # by the whole command, with the number of changes before it
    found: list[Fault] = []
    for step in steps:
        changes += step.tool in _CHANGING
        command = next(iter(step.commands()[-1:]), "")
        if not command or (step.error or "").startswith(_NOT_RUN):
            continue
        if step.error is not None:
            fault = Fault(_named(command), step.id, _telling_line(step.error))
            failing.setdefault(command, (fault, changes))
        elif command in failing:
            fault, before = failing.pop(command)
            found += [fault] if changes > before else []
    return found


def _named(command: str) -> str:
    """Return the program, and what it is told to do if that is a plain word: anything else may be a secret."""
    words = command.split(" ")
    return " ".join([words[0][:_LONGEST_WORD], *[word for word in words[1:2] if _is_word(word)]])


def _is_word(word: str) -> bool:
    return len(word) <= _LONGEST_WORD and word.replace("-", "").isalpha() and not word.startswith("-")


def _says_only(prompt: str, wanted: frozenset[str]) -> bool:
    words = _letters(prompt[:200]).split()
    known = all(word in wanted or word in _PHRASES for word in words)
    return 0 < len(words) <= _LONGEST_FAREWELL and known and not wanted.isdisjoint(words)


def _telling_line(error: str) -> str:
    """Return the last line of an output that names an error, or else its last line."""
    lines = [line.strip() for line in error.split("\n") if line.strip()]
    named = [line for line in lines if any(word in line.lower() for word in ("error", "exception", "fail", "panic"))]
    return ((named or lines)[-1:] or [""])[0][:_LONGEST_LINE]


def _letters(text: str) -> str:
    return "".join([char if char.isalpha() else " " for char in text.lower().replace("'", "")])


def _closes(step: Step) -> bool:
    if step.tool == "TodoWrite":
        todos: Any = step.given.get("todos")
        return bool(todos) and isinstance(todos, list) and all(_is_completed(todo) for todo in todos)  # pyright: ignore
    if step.tool == "TaskUpdate":
        return _is_completed(step.given)
    return any(_ends_work(command) for command in step.commands())


def _ends_work(command: str) -> bool:
    """Return True for a commit and the like, and for tests. A pipe would hide whether tests have passed."""
    if any(
        mark in f" {command} " for mark in (" --dry-run ", " --abort ", " --collect-only ", " --version ", " --help ")
    ):
        return False
    told = command
    for runner in _RUNNERS:
        told = told.removeprefix(runner)
    is_test = any(f"{told} ".startswith(f"{test} ") for test in _TESTS) and "|" not in command
    return is_test or any(f"{command} ".startswith(f"{closing} ") for closing in _CLOSES)


def _is_completed(task: Any) -> bool:
    return isinstance(task, dict) and task.get("status") == "completed"  # pyright: ignore


def _plain(command: str) -> str:
    """Return a command with single blanks, without variables and a path before its name."""
    words = command.split()
    while words and "=" in words[0]:
        words = words[1:]
    return " ".join([words[0].rpartition("/")[2], *words[1:]]) if words else ""
