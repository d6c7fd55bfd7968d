# hot
"""Merged settings: defaults, memory-config.json, iflow-dev.local.md, RECOLLECT_* variables.

An unusable value is recorded as a problem. It closes a switch; of other keys, the next weaker source counts instead.
The contents of a file never raise an exception.
"""

from __future__ import annotations

import os
import time

from recollect.config import project
from recollect.config.locations import LOCAL_SETTINGS, NOT_SETTINGS, PROJECT_SETTINGS
from recollect.config.settings_keys import (
    BY_NAME,
    BY_VARIABLE,
    KEYS,
    LOCAL,
    PROJECT_FILE,
    Key,
    Value,
    as_text,
    is_clients_own,
    key_named,
)
from recollect.domain.quick_json import parse
from recollect.domain.text import utc_text
from recollect.errors import StorageError
from recollect.files.textfile import read_text, refuse_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

DEFAULT = "default"
_INFINITY = float("inf")
LARGEST_FILE = 1024 * 1024
_IN_NAMES = {ord(mark): "a" for mark in ".-_"}
_IN_VALUES = {ord(mark): "a" for mark in "._:/"}
_ON = ("true", "yes", "on", "y", "1")
_OFF = ("false", "no", "off", "n", "0")

# Where the password of a server comes from, instead of its address.
PASSWORD_PLACES = "it comes from the variable PGPASSWORD or from the file ~/.pgpass"  # noqa: S105 (no password)
_DEEPEST = max(key.name.count(".") for key in KEYS)

_FILES = {PROJECT_FILE: PROJECT_SETTINGS, LOCAL: LOCAL_SETTINGS}

# Below this prefix, names may also be written in capitals.
THRESHOLDS = "triage.thresholds."


class Problem:
    """A problem in a source of settings: a bad value of `key`, an `unknown` name, or an unusable source.

    A `doubtful` name stands in a file with other tools' keys and prose: it may not be a setting of recollect at all.
    """

    def __init__(self, where: str, reason: str, *, key: str = "", unknown: str = "", doubtful: bool = False) -> None:
        self.where = where
        self.reason = reason
        self.key = key
        self.unknown = unknown
        self.doubtful = doubtful

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


class Settings:
    """The settings of a project: the value of each key, and its source."""

    def __init__(self, found: Mapping[str, tuple[Value, str]], problems: list[Problem]) -> None:
        self._found = found
        self.problems = problems

    def value(self, name: str) -> Value:
        return self._found[name][0] if name in self._found else BY_NAME[name].default

    def source(self, name: str) -> str:
        return self._found[name][1] if name in self._found else DEFAULT

    def is_set(self, name: str) -> bool:
        """Return True if a file or a variable sets the value."""
        return name in self._found

    def is_default(self, name: str) -> bool:
        return self.value(name) == BY_NAME[name].default

    def without(self, name: str) -> Settings:
        """Return the same settings, with the default of one key."""
        return Settings({each: found for each, found in self._found.items() if each != name}, self.problems)

    def off_switch(self, category: str, *, auto: bool) -> str:
        """Return the setting that turns off writing a category, or empty; `auto` is for writes without a request."""
        names = (f"categories.{category}.enabled", *((f"categories.{category}.auto_capture",) * auto))
        return next((name for name in names if not self.flag(name)), "")

    def flag(self, name: str) -> bool:
        value = self.value(name)
        assert isinstance(value, bool), name  # noqa: S101 (a key asked for by the wrong type is our own mistake)
        return value

    def whole(self, name: str) -> int:
        value = self.value(name)
        assert isinstance(value, int), name  # noqa: S101
        return value

    def kept_since(self, category: str, now: float) -> str:
        """Return since when a memory of a category must have changed not to be expired; empty if none expires."""
        days = self.whole(f"categories.{category}.retention_days")
        return utc_text(time.gmtime(now - days * 86_400)) if days else ""

    def real(self, name: str) -> float:
        value = self.value(name)
        assert isinstance(value, float), name  # noqa: S101
        return value

    def text(self, name: str) -> str:
        value = self.value(name)
        assert isinstance(value, str), name  # noqa: S101
        return value

    def words(self, name: str) -> tuple[str, ...]:
        value = self.value(name)
        assert isinstance(value, tuple), name  # noqa: S101
        return value


def load_settings(project_root: str, environment: Mapping[str, str] | None = None) -> Settings:
    """Load a project's settings from its files and the environment."""
    found: dict[str, tuple[Value, str]] = {}
    problems: list[Problem] = []
    for where, source, given, raw in (
        *_project_file(project_root, problems),
        *_local_file(project_root, problems),
        *_variables(os.environ if environment is None else environment),
    ):
        key = key_named(given)
        if key is None:
            doubtful = source == LOCAL and not given.startswith("memory_")
            problems.append(Problem(where, f"{given} is not a setting", unknown=given, doubtful=doubtful))
            continue
        name = key.name
        value, reason = check(key, raw)
        if value is not None and key.is_harmless and source in _FILES and not key.is_harmless(value):
            doubt = _doubt(project_root, _FILES[source], name, as_text(value))
            value, reason = (None, doubt) if doubt else (value, reason)
        if value is not None:
            found[name] = (value, source)
        if reason:
            problems.append(Problem(where, f"{name} {reason}", key=name))
    settings = Settings(found, problems)
    for problem in problems:
        if problem.key:
            problem.reason += f"; {as_text(settings.value(problem.key))} is used"
    return settings


def check(key: Key, raw: Any) -> tuple[Value | None, str]:
    """Return the value for a key (None if unusable), and a complaint. A clamped value comes with both."""
    if key.kind is tuple:
        return _check_words(key, raw)
    if key.kind is str:
        return _check_text(key, raw)
    if key.kind is bool:
        return _check_switch(key, raw)
    if isinstance(raw, str):
        raw = coerce(raw)
    if isinstance(raw, bool) or not isinstance(raw, (int, float)) or (key.kind is int and isinstance(raw, float)):
        return None, _must(key, raw)
    return _check_number(key, raw)


def _check_text(key: Key, raw: Any) -> tuple[Value | None, str]:
    text = raw if isinstance(raw, str) else ""
    if not text or any(char.isspace() for char in text) or (key.choices and text not in key.choices):
        return None, _must(key, raw)
    if key.address and text != key.default:
        return _check_address(key, text)
    return (None, _must(key, raw)) if key.deepest and not _is_folder(text, key.deepest) else (text, "")


def _check_address(key: Key, text: str) -> tuple[Value | None, str]:
    """Return an address unless it has a password, which must not stand in a file, nor in a message."""
    if not text.startswith(key.address) or "#" in text:
        return None, _must(key, text if "@" not in text else "that")
    return (None, f"must not have a password; {PASSWORD_PLACES}") if has_password(text) else (text, "")


def has_password(address: str) -> bool:
    """Return True if the address of a server has a password in it."""
    name, _, query = address.partition("://")[2].partition("?")
    return ":" in name.rpartition("@")[0] or "password=" in query.lower()


def _check_switch(key: Key, raw: Any) -> tuple[Value | None, str]:
    """Return True or False for a switch. An unreadable value means off: nobody writes one to leave things on."""
    word = str(raw).lower() if isinstance(raw, bool | int | str) else ""
    if word in _ON or word in _OFF:
        return word in _ON, ""
    return None if key.off_removes else False, _must(key, raw)


def _is_folder(text: str, deepest: int) -> bool:
    """Return True if a text is a plain relative path of at most `deepest` folders."""
    names = text.split("/")
    if len(names) > deepest or (deepest == 1 and "." in text) or is_clients_own(names):
        return False
    return all(
        name.lower() not in ("", ".", "..", ".git") and name.isascii() and name.translate(_IN_NAMES).isalnum()
        for name in names
    )


def coerce(raw: str) -> bool | int | float | str:
    """Parse a value of a `key: value` line: true or false, a whole number, a decimal number, or text."""
    if raw in ("true", "false"):
        return raw == "true"
    digits = raw.removeprefix("-")
    if not digits.isascii():
        return raw
    if digits.isdecimal() and len(digits) < 4000:
        return int(raw)
    whole, point, fraction = digits.partition(".")
    if point and fraction.isdecimal() and (not whole or whole.isdecimal()):
        return float(raw)
    return raw


def local_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, key and value of the first `key: value` line of each key, anywhere in the file."""
    seen: set[str] = set()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        name, colon, raw = line.partition(":")
        name = name.rstrip(" \t")
        key = key_named(name) if "-" in name else None
        name = key.name if key else name
        if colon and name not in seen and name.replace("_", "").replace(".", "").isalnum():
            seen.add(name)
            yield number, name, bare_value(raw)


def bare_value(raw: str) -> str:
    """Return a value without its comment, its quotes and its spaces. A comment begins after a space, as in YAML."""
    text = raw.strip()
    inner, closing, rest = text[1:].partition(text[:1]) if text[:1] in ("'", '"') else ("", "", "")
    if inner and closing and not _before_comment(rest).strip():
        return inner.replace(" ", "").strip()
    return _before_comment(raw).replace(" ", "").strip()


def _before_comment(text: str) -> str:
    at = text.find("#")
    while at == 0 or (at > 0 and not text[at - 1].isspace()):
        at = text.find("#", at + 1)
    return text if at < 0 else text[:at]


# Each source yields tuples: the place for messages, the source's name, the key's name and the value.
def _project_file(root: str, problems: list[Problem]) -> Iterator[tuple[str, str, str, Any]]:
    text = _read(root, PROJECT_SETTINGS, problems)
    if not text.strip():
        return
    text = text.removeprefix("\ufeff")
    try:
        document: Any = parse(text)
    except ValueError:
        problems.append(Problem(PROJECT_SETTINGS, f"it is not valid JSON ({_why(text)}); none of it is used"))
        return
    if not _is_object(document):
        problems.append(Problem(PROJECT_SETTINGS, "it must hold a JSON object; none of it is used"))
        return
    for name, value in _flatten("", document):
        yield PROJECT_SETTINGS, PROJECT_FILE, name, value


def _why(text: str) -> str:
    """Return the parser's error for invalid JSON. Import json only here, because it is slow to load."""
    from json import loads

    from recollect.files.memory.memories import has_conflict_markers

    if has_conflict_markers(text.encode("utf-8", "surrogateescape")):
        return "it has conflict markers of git"
    try:
        loads(text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return "unknown"


def _flatten(prefix: str, document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield dotted names and values. Skip names beginning with a mark ($schema, _comment, //): they are notes."""
    for name, value in document.items():
        path = prefix + name
        if not name[:1].isalnum():
            continue
        if "." in name:
            yield f'"{name}"', value  # a dot is a level, not part of a name
        elif _is_object(value) and path not in BY_NAME and path.count(".") < _DEEPEST:
            yield from _flatten(path + ".", value)
        else:
            yield (path.lower() if prefix == THRESHOLDS and name.isupper() else path), value


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _local_file(root: str, problems: list[Problem]) -> Iterator[tuple[str, str, str, Any]]:
    text = _read(root, LOCAL_SETTINGS, problems)
    if "\0" in text:
        problems.append(Problem(LOCAL_SETTINGS, "it is not UTF-8 and cannot be read in full; save it as UTF-8"))
    for number, name, raw in local_lines(text):
        if raw:
            yield f"{LOCAL_SETTINGS} line {number}", LOCAL, name, raw


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str, Any]]:
    for variable in sorted(environment):
        if variable.startswith("RECOLLECT_") and variable not in NOT_SETTINGS:
            key = BY_VARIABLE.get(variable)
            yield variable, variable, key.name if key else variable, bare_value(environment[variable])


def settings_path(root: str, relative: str) -> str:
    """Return the path of a settings file: the project's own, or for a worktree without one the main checkout's."""
    return os.path.join(_top(root, relative), relative)


def _top(root: str, relative: str) -> str:
    if os.path.exists(os.path.join(root, relative)):
        return root
    main = project.checkout(root)
    return root if main == os.path.realpath(root) else main


def _doubt(root: str, relative: str, name: str, text: str) -> str:
    """Return why a value with effects on the machine is not taken from a project's file; empty if it is."""
    from recollect.config.consent import doubt

    why = doubt(_top(root, relative), relative, name, text)
    if not why:
        return ""
    # A value from a repository must not end up in a command for users to run, unless it is plain.
    is_plain = text.isascii() and text.replace("-", "a").translate(_IN_VALUES).isalnum() and not text.startswith("-")
    value = text if is_plain else "VALUE"
    return f"{text if is_plain else ''} {why}; run `recollect config set {name} {value}` if you want it".lstrip()


def _read(root: str, relative: str, problems: list[Problem]) -> str:
    top = _top(root, relative)
    path = os.path.join(top, relative)
    try:
        if os.path.lexists(path):
            refuse_link(path, top)
        return read_text(path, LARGEST_FILE)
    except StorageError as error:
        problems.append(Problem(relative, f"{error}; its settings are not used"))
        return ""


def _check_words(key: Key, raw: Any) -> tuple[Value | None, str]:
    words: list[Any] = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(raw, str | list) or not all(isinstance(word, str) for word in words):
        return None, _must(key, raw)
    texts = tuple(word.strip() for word in words)
    return (None, _must(key, raw)) if any(text not in key.choices for text in texts) else (texts, "")


def _check_number(key: Key, number: float) -> tuple[Value | None, str]:
    if not -_INFINITY < number < _INFINITY:
        return None, _must(key, number)
    if not key.low <= number <= key.high:
        nearest = key.low if number < key.low else key.high
        return _as_kind(key, nearest) if key.clamped else None, _must(key, number)
    return _as_kind(key, number), ""


def _as_kind(key: Key, number: float) -> Value:
    return int(number) if key.kind is int else float(number)


def _must(key: Key, raw: Any) -> str:
    shown = "null" if raw is None else as_text(raw) if isinstance(raw, bool) else repr(raw)
    return f"must be {key.range}, not {shown[:40]}" + ("" if len(shown) <= 40 else "…")
