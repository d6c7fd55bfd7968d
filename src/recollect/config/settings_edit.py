"""Set and unset settings in their files, and word the problems found in them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from difflib import get_close_matches

from recollect.config.consent import agree
from recollect.config.locations import LOCAL_SETTINGS, PROJECT_SETTINGS
from recollect.config.settings import THRESHOLDS, Problem, Settings, check, load_settings, local_lines, settings_path
from recollect.config.settings_keys import BY_NAME, BY_VARIABLE, LOCAL, Key, Value, as_text, key_named
from recollect.domain.categories import CATEGORIES
from recollect.errors import InvalidSetting, UnsafeEdit
from recollect.files.json_edit import remove_value, set_value
from recollect.files.locks import locked_folder
from recollect.files.textfile import read_text, refuse_link, write_text

TEMPLATE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "templates", "iflow-dev.local.md")


@dataclass(frozen=True)
class Edit:
    """A change of a setting: the file, the value now in effect, and its source."""

    path: str
    value: Value
    source: str


def complaints(settings: Settings) -> list[str]:
    """Return one sentence for each problem, with the nearest known key for an unknown name."""
    return [sentence for sentence in map(_sentence, settings.problems) if sentence]


def nearest(name: str) -> str:
    """Return the known key (or variable) nearest to a wrong name, or an empty string."""
    known = BY_VARIABLE if name.startswith("RECOLLECT_") else BY_NAME
    return next(iter(get_close_matches(name, known, 1, 0.8 if known is BY_VARIABLE else 0.6)), "")


def _sentence(problem: Problem) -> str:
    if not problem.unknown:
        return str(problem)
    if problem.doubtful and not get_close_matches(problem.unknown, BY_NAME, 1, 0.8):
        return ""
    meant = nearest(problem.unknown)
    return f"{problem}" + (f"; did you mean {meant}?" if meant else "")


def known_key(name: str) -> Key:
    """Return the setting of a name.

    Raises:
        InvalidSetting: the name is unknown; the message suggests the nearest one.
    """
    key = key_named(name)
    if key is None:
        meant = nearest(name)
        hint = f"did you mean {meant}?" if meant else "`recollect config` lists them all."
        raise InvalidSetting(f"{name} is not a setting; {hint}")
    return key


def set_setting(project_root: str, name: str, text: str) -> Edit:
    """Write a setting to the file already containing it, or else to its usual file.

    Raises:
        InvalidSetting: unknown key, or a value not allowed for it.
        UnsafeEdit: the file cannot be changed without losing something.
        StorageError: the file could not be written.
    """
    key = known_key(name)
    value, reason = check(key, text.replace(" ", "") if key.kind is tuple else text.strip())
    if value is None or reason:
        raise InvalidSetting(f"{name} {reason}")
    return _edit(project_root, key, value)


def unset_setting(project_root: str, name: str) -> Edit:
    """Remove a setting from its file, so the next weaker source counts again.

    Raises:
        InvalidSetting: unknown key.
        UnsafeEdit: the file cannot be changed without losing something.
        StorageError: the file could not be written.
    """
    return _edit(project_root, known_key(name), None)


def _edit(root: str, key: Key, value: Value | None) -> Edit:
    for relative in (LOCAL_SETTINGS, PROJECT_SETTINGS):
        path = settings_path(root, relative)
        refuse_link(path, path.removesuffix(relative))
    folder = os.path.dirname(settings_path(root, LOCAL_SETTINGS))
    if value is None and not os.path.isdir(folder):
        path = settings_path(root, LOCAL_SETTINGS if key.file == LOCAL else PROJECT_SETTINGS)
    else:
        with locked_folder(folder):
            path = _rewrite(root, key, value)
    if key.is_harmless:
        agree(path, key.name, None if value is None or key.is_harmless(value) else as_text(value))
    settings = load_settings(root)
    return Edit(path, settings.value(key.name), settings.source(key.name))


def _rewrite(root: str, key: Key, value: Value | None) -> str:
    local, shared = settings_path(root, LOCAL_SETTINGS), settings_path(root, PROJECT_SETTINGS)
    local_text, shared_text = read_text(local), read_text(shared)
    in_local = any(key_named(name) is key for _, name, _ in local_lines(local_text))
    if in_local or (key.file == LOCAL and not _in_json(shared_text, key)):
        mark = "\ufeff" if local_text.startswith("\ufeff") else ""
        path, before, after = local, local_text, mark + _edit_local(local_text.removeprefix(mark), key, value)
    else:
        path, before = shared, shared_text
        try:
            after = _edit_json(shared_text, key, value)
        except UnsafeEdit as error:
            raise UnsafeEdit(f"cannot change {path}: {error}") from error
    if after != before:
        write_text(path, after)
    return path


def _in_json(text: str, key: Key) -> bool:
    try:
        return bool(text.strip()) and _edit_json(text, key, None) != text
    except UnsafeEdit:
        return False


def _edit_json(text: str, key: Key, value: Value | None) -> str:
    path = key.name.split(".")
    if text.strip() and key.name.startswith(THRESHOLDS):
        text = remove_value(text, [*path[:-1], path[-1].upper()])
    other = [*path[:1], *(part.replace("_", "-") if part in CATEGORIES else part for part in path[1:])]
    if text.strip() and other != path:
        text = remove_value(text, other)
    if value is None:
        return remove_value(text, path) if text.strip() else text
    return set_value(text, path, json.dumps(value))


def _edit_local(text: str, key: Key, value: Value | None) -> str:
    number = next((n for n, name, _ in local_lines(text) if key_named(name) is key), None)
    if number is None and value is None:
        return text
    lines = (text or read_text(TEMPLATE)).split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    line = [] if value is None else [f"{key.name}: {as_text(value)}{end}"]
    if number is not None:
        comment = re.search(r"\s#(.*?)\r?$", lines[number - 1])
        lines[number - 1 : number] = [f"#{comment[1]}{end}", *line] if comment else line
        if not line:  # only the first line of a key counts: without it, a second would take effect
            lines = [other for other in lines if key not in map(key_named, _names(other))]
            lines += [""] if lines and lines[-1].endswith("\r") else []  # keep the final line break
        return "\n".join(lines)
    at = insertion_point(lines)
    if at == len(lines) and lines[-1].strip():
        lines[-1] += end
        return "\n".join([*lines, *line, ""])
    return "\n".join([*lines[:at], *line, *lines[at:]])


def _names(line: str) -> list[str]:
    return [name for _, name, _ in local_lines(line)]


def insertion_point(lines: list[str]) -> int:
    """Return the index for a new line: at the end of the front matter, or else of the file."""
    if lines[0].rstrip() == "---":
        closing = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
        if closing is not None:
            return closing
    return len(lines) - 1 if not lines[-1].strip() and len(lines) > 1 else len(lines)
