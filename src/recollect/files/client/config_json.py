"""Our server's entry in a client's JSON configuration. Everything else in the file stays unchanged.

Functions raise UnsafeEdit if the text is not JSON, or cannot be changed without losing something.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from recollect.errors import UnsafeEdit
from recollect.files.json_edit import remove_value, set_value

NAME = "recollect"

Entry = Mapping[str, Any]


def entry_in(text: str, section: str) -> Entry | None:
    """Return the server with our name in the section, ours or not, or None."""
    if not text.strip():
        return None
    try:
        document: Any = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnsafeEdit(f"it is not plain JSON ({error})") from error
    servers: Any = _object(document, "it").get(section, {})
    entry: Any = _object(servers, section).get(NAME)
    return None if entry is None else _object(entry, f"{section}.{NAME}")


def with_entry(text: str, section: str, entry: Entry) -> str:
    """Return the text with our entry. In an existing entry, only differing values are changed."""
    present = entry_in(text, section)
    if present is not None:
        for key, value in entry.items():
            if present.get(key) != value:
                text = set_value(text, [section, NAME, key], json.dumps(value, ensure_ascii=False))
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    unit = _indentation(text)
    if not text.strip():
        return f"{{\n{unit}{json.dumps(section)}: {_section(entry, unit)}\n}}\n"
    if section in json.loads(text.removeprefix("\ufeff")):
        return set_value(text, [section, NAME], _rendered(entry, unit, 2).replace("\n", end))
    return set_value(text, [section], _section(entry, unit).replace("\n", end))


def without_entry(text: str, section: str) -> str:
    """Return the text without our entry and an empty section; an empty string if nothing is left."""
    if entry_in(text, section) is None:
        return text
    text = remove_value(text, [section, NAME])
    if not json.loads(text.removeprefix("\ufeff"))[section]:
        text = remove_value(text, [section])
    return text if json.loads(text.removeprefix("\ufeff")) else ""


def shown(section: str, entry: Entry) -> str:
    """Return the text to add to an empty configuration by hand."""
    return with_entry("", section, entry)


def seems_in(text: str) -> bool:
    """Return True if a text other than plain JSON seems to have a server with our name."""
    return re.search(rf'"{NAME}"\s*:\s*\{{', text) is not None


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnsafeEdit(f"{what} is no JSON object")
    return cast("dict[str, Any]", value)


def _section(entry: Entry, unit: str) -> str:
    return f"{{\n{unit * 2}{json.dumps(NAME)}: {_rendered(entry, unit, 2)}\n{unit}}}"


def _rendered(entry: Entry, unit: str, depth: int) -> str:
    """Return an entry as people write it: one line per member, lists on one line."""
    lines = [
        f"{unit * (depth + 1)}{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in entry.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{unit * depth}}}"


def _indentation(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "
