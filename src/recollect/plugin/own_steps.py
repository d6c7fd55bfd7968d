# hot
"""Command lines of the plugin's own texts. They are read so narrowly that no shell can understand them otherwise."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Kinds of options: without a value, with any text, with a draft's path, with a memory's path in this project, with `-`.
FLAG, TEXT, DRAFT, TARGET, STDIN = "flag", "text", "draft", "target", "stdin"
_MANY = 1000

# Each subcommand that may run unasked: the most words that it takes, and its options. An option with a tuple takes one
# of these values. docs/hooks.md has the steps that are left to the user, and why.
STEPS: dict[str, tuple[int, dict[str, str | tuple[str, ...]]]] = {
    "candidate": (0, {"--auto": FLAG, "--category": TEXT, "--lifecycle-event": TEXT, "--new-info-file": STDIN}),
    "config": (0, {}),
    "config get": (1, {}),
    "confirm": (_MANY, {}),
    "doctor": (0, {}),
    "list": (0, {"--category": TEXT, "--state": TEXT}),
    "log": (0, {"--entry": TEXT, "--event": ("start", "prompt", "search"), "--session": TEXT}),
    "promote": (
        _MANY,
        {
            "--as": ("project-specific",),
            "--dry-run": FLAG,
            "--entry-file": DRAFT,
            "--feature": TEXT,
            "--json": FLAG,
        },
    ),
    "review": (1, {"--json": FLAG, "--saved": TEXT}),
    "schema": (1, {}),
    "search": (_MANY, {"--category": TEXT, "--include-retired": FLAG, "--limit": TEXT}),
    "show": (1, {"--json": FLAG}),
    "stale": (0, {}),
    "stats": (0, {}),
    "status": (0, {}),
    "triggers": (_MANY, {"--json": FLAG, "--missing": FLAG}),
    "why": (1, {}),
    "write": (
        0,
        {
            "--action": ("create", "update"),
            "--auto": FLAG,
            "--category": TEXT,
            "--check": FLAG,
            "--hash": TEXT,
            "--input": DRAFT,
            "--target": TARGET,
        },
    ),
}

# Without one of these, the texts of a cloned repository could become lessons for all projects.
_NEEDED = {"promote": ("--as", "--dry-run")}

_PROGRAM = "recollect"
_MAX_CHARS = 64 * 1024
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BARE = frozenset(_LETTERS + _LETTERS.lower() + "0123456789-_./")  # no shell gives these a meaning inside a word
_IN_DELIMITER = frozenset(_LETTERS + "_")
_LIVE_IN_QUOTES = "$`\\!"


class Call:
    """A call of recollect: the words of its command line, and the paths of drafts among them."""

    def __init__(self, words: list[str], drafts: list[str]) -> None:
        self.words = words
        self.drafts = drafts


def own_step(command: str) -> Call | None:
    """Read a shell command. Return None unless it is one call of recollect with known options and plain words."""
    if len(command) > _MAX_CHARS:
        return None
    line, newline, rest = command.rstrip("\n").partition("\n")
    if newline:
        line, _, delimiter = line.rpartition(" <<'")
        if not _is_whole_text(rest, delimiter):
            return None
    words = _words(line) if line.startswith(f"{_PROGRAM} ") and line.isprintable() else None
    return _checked(words, has_input=bool(newline)) if words else None


def _is_whole_text(rest: str, delimiter: str) -> bool:
    """Return True if the rest of a command is the text of a quoted heredoc and nothing else."""
    word = delimiter.removesuffix("'")
    if not word or word == delimiter or not _IN_DELIMITER.issuperset(word):
        return False
    lines = rest.split("\n")
    # Shells disagree on control characters; lone surrogates cannot be passed on.
    is_plain = not any((char < " " and char not in "\t\n") or "\ud800" <= char <= "\udfff" for char in rest)
    return is_plain and lines.index(word) == len(lines) - 1 if word in lines else False


def _words(line: str) -> list[str] | None:
    """Split a line as every POSIX shell does; None if a character might mean something to one of them."""
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(line):
        char = line[at]
        if char == " ":
            if word is not None:
                words.append(word)
            word = None
        elif char in "'\"":
            end = line.find(char, at + 1)
            quoted = line[at + 1 : end]
            if end < 0 or (char == '"' and any(mark in quoted for mark in _LIVE_IN_QUOTES)):
                return None
            word = (word or "") + quoted
            at = end
        elif line.startswith("\\'", at):
            word = (word or "") + "'"
            at += 1
        elif char in _BARE:
            word = (word or "") + char
        else:
            return None
        at += 1
    return words if word is None else [*words, word]


def _checked(words: list[str], *, has_input: bool) -> Call | None:
    """Return the call with these words; None if the table has no such subcommand, option or value."""
    name, arguments = _subcommand(words)
    if name not in STEPS:
        return None
    most, options = STEPS[name]
    plain = 0
    drafts: list[str] = []
    given: set[str] = set()
    takes_input = False
    for word in arguments:
        if word == "--":
            plain += len(list(arguments))
        elif not word.startswith("-"):
            plain += 1
        elif word not in options:
            return None
        else:
            given.add(word)
        if word in given and options[word] != FLAG:
            value = next(arguments, None)
            if value is None or not _is_allowed(value, options[word]):
                return None
            takes_input |= options[word] == STDIN
            drafts += [value] if options[word] == DRAFT else []
    is_whole = name not in _NEEDED or not given.isdisjoint(_NEEDED[name])
    return Call(words, drafts) if is_whole and plain <= most and takes_input >= has_input else None


def _subcommand(words: list[str]) -> tuple[str, Iterator[str]]:
    """Return the name of the subcommand, of one word or two, and the words after it."""
    name = next(iter(words[1:2]), "")
    longer = " ".join(words[1:3])
    is_longer = len(words) > 2 and longer in STEPS
    return (longer, iter(words[3:])) if is_longer else (name, iter(words[2:]))


def _is_allowed(value: str, kind: str | tuple[str, ...]) -> bool:
    if kind == STDIN:
        return value == "-"
    if isinstance(kind, tuple):
        return value in kind
    if kind == TARGET and (value.startswith("/") or ".." in value.split("/")):
        return False  # an absolute path may belong to another project
    return not value.startswith("-")
