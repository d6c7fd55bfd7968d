"""Our server's table in a client's TOML configuration. Everything else, comments too, stays unchanged.

Functions raise UnsafeEdit if the text is not TOML, or cannot be changed without losing something.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, cast

from recollect.errors import UnsafeEdit
from recollect.files.client.config_json import NAME, Entry

_HEADER = re.compile(r"[ \t]*\[")
_KEY = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=")


def entry_in(text: str, section: str) -> Entry | None:
    """Return the server with our name in the section, ours or not, or None."""
    servers: Any = _parsed(text).get(section, {})
    entry: Any = cast("dict[str, Any]", servers).get(NAME) if isinstance(servers, dict) else servers
    if entry is not None and not isinstance(entry, dict):
        raise UnsafeEdit(f"{section} holds something else than servers")
    return cast("Entry | None", entry)


def with_entry(text: str, section: str, entry: Entry) -> str:
    """Return the text with our table. In an existing table, only differing values are changed."""
    present = entry_in(text, section)
    wanted = _parsed(text)
    wanted.setdefault(section, {})[NAME] = {**(present or {}), **entry}
    if present is None:
        end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else end if text.endswith("\n") else end * 2
        after = text + gap + shown(section, entry).replace("\n", end)
    else:
        after = _changed(text, section, {key: entry[key] for key in entry if present.get(key) != entry[key]})
    return _checked(after, wanted)


def without_entry(text: str, section: str) -> str:
    """Return the text without our table; an empty string if nothing is left."""
    if entry_in(text, section) is None:
        return text
    wanted = _parsed(text)
    del wanted[section][NAME]
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    is_ours = False
    aside: list[str] = []  # comments at the end of our table, which may belong to the next one
    for line in lines:
        if _HEADER.match(line):
            was_ours, is_ours = is_ours, _is_ours(line, section)
            kept += aside if was_ours and not is_ours else []
            aside = []
        if not is_ours:
            kept.append(line)
        elif line.strip().startswith("#") or (aside and not line.strip()):
            aside.append(line)
        else:
            aside = []
    if lines and is_ours:
        while kept and not kept[-1].strip():
            kept.pop()  # the blank line added before our table
    after = "".join(kept)
    return _checked(after, wanted) if after.strip() else ""


def shown(section: str, entry: Entry) -> str:
    """Return our table as a person would write it."""
    return f"[{section}.{NAME}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in entry.items())


def seems_in(text: str) -> bool:
    """Return True if a text of invalid TOML seems to have a server with our name."""
    return re.search(rf"^[ \t]*\[.*\b{NAME}\b", text, re.MULTILINE) is not None


def _changed(text: str, section: str, entry: Entry) -> str:
    lines = text.splitlines(keepends=True)
    is_ours = False
    for number, line in enumerate(lines):
        if _HEADER.match(line):
            is_ours = _is_ours(line, section)
        found = _KEY.match(line)
        if is_ours and found and found[1] in entry:
            end = line[len(line.rstrip("\r\n")) :]
            lines[number] = f"{found[1]} = {_value(entry[found[1]])}{end}"
    return "".join(lines)


def _is_ours(header: str, section: str) -> bool:
    part = rf"(?:{NAME}|\"{NAME}\"|'{NAME}')"
    return re.match(rf"\s*\[\s*{section}\s*\.\s*{part}\s*(?:\.[^\]]*)?\]", header) is not None


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _checked(text: str, wanted: dict[str, Any]) -> str:
    """Return the text if it parses to `wanted`. Raise UnsafeEdit otherwise."""
    if _without_empty(_parsed(text)) != _without_empty(wanted):
        raise UnsafeEdit("its form is one that recollect does not know how to change")
    return text


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value != {}}


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise UnsafeEdit(f"it is not valid TOML ({error})") from error
