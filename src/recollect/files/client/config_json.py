"""Our server's entry in a client's configuration, which is JSON: everything else in it stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from recollect.errors import UnsafeEdit
from recollect.files.client.json_edit import remove_value, set_value

NAME = "recollect"

Entry = Mapping[str, Any]


def entry_in(text: str, section: str) -> Entry | None:
    """The server that the section calls by our name, ours or not.

    Raises:
        UnsafeEdit: it is not JSON, or what should hold servers holds something else.
    """
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
    """The text with our entry; of one that is there, only what differs is changed.

    Raises:
        UnsafeEdit: the text cannot be changed without losing something.
    """
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
    """The text without our entry, and without what that leaves empty; nothing at all if all of it is.

    Raises:
        UnsafeEdit: the text cannot be changed without losing something.
    """
    if entry_in(text, section) is None:
        return text
    text = remove_value(text, [section, NAME])
    if not json.loads(text.removeprefix("\ufeff"))[section]:
        text = remove_value(text, [section])
    return text if json.loads(text.removeprefix("\ufeff")) else ""


def shown(section: str, entry: Entry) -> str:
    """What a person would add to an empty configuration."""
    return with_entry("", section, entry)


def seems_in(text: str) -> bool:
    """Whether a text that is no plain JSON looks as if it had a server of our name."""
    return re.search(rf'"{NAME}"\s*:\s*\{{', text) is not None


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnsafeEdit(f"{what} is no JSON object")
    return cast("dict[str, Any]", value)


def _section(entry: Entry, unit: str) -> str:
    return f"{{\n{unit * 2}{json.dumps(NAME)}: {_rendered(entry, unit, 2)}\n{unit}}}"


def _rendered(entry: Entry, unit: str, depth: int) -> str:
    """An entry as people write it: a line for each of its members, lists on one line."""
    lines = [
        f"{unit * (depth + 1)}{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in entry.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{unit * depth}}}"


def _indentation(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "
