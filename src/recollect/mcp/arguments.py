"""Check the arguments of a call one by one, so that an error names the argument and its valid values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from recollect.domain.text import one_line
from recollect.errors import InvalidEntry
from recollect.mcp.schemas import ToolSchema

# In characters: more than any field may have. Each field's own check reports its exact limit.
_MAX_CHARS = 100_000


class Arguments:
    """The arguments of a tool call. Every method raises InvalidEntry for an unusable value."""

    def __init__(self, tool: ToolSchema, given: Mapping[str, Any] | None) -> None:
        self._given = {name: value for name, value in (given or {}).items() if value is not None}
        properties: dict[str, Any] = tool.accepts["properties"]
        for name in self._given:
            if name not in properties:
                raise InvalidEntry(f"{tool.name} has no argument {_shown(name)}; it has {', '.join(properties)}")
        missing = [name for name in tool.accepts["required"] if name not in self._given]
        if missing:
            raise InvalidEntry(f"{tool.name} needs {listed(missing)}")

    def has(self, name: str) -> bool:
        return name in self._given

    def text(self, name: str, default: str = "") -> str:
        """Return a text. A lone surrogate, allowed in JSON, is replaced by a question mark."""
        value: object = self._given.get(name, default)
        if not isinstance(value, str):
            raise InvalidEntry(f"{name} must be a text, not {_kind(value)}")
        if len(value) > _MAX_CHARS:
            raise InvalidEntry(f"{name} has {len(value):,} characters, which is far too many")
        return value.encode("utf-8", "replace").decode("utf-8")

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        """Return one of the choices, or the default."""
        value = self.text(name, default)
        if value in choices:
            return value
        near = get_close_matches(value.lower().replace(" ", "_"), choices, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(choices)}"
        raise InvalidEntry(f"{name} cannot be {_shown(value)}; {hint}")

    def number(self, name: str, least: int, most: int, default: int) -> int:
        """Return a whole number within bounds. Some clients send numbers as texts."""
        value: object = self._given.get(name, default)
        if isinstance(value, str) and value.strip().isdecimal() and len(value) <= 12:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidEntry(f"{name} must be a whole number, not {_shown(value)}")
        if not least <= value <= most:
            raise InvalidEntry(f"{name} must be between {least} and {most:,}, not {_shown(value)}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false; false if it is not given."""
        value: object = self._given.get(name, False)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if not isinstance(value, bool):
            raise InvalidEntry(f"{name} must be true or false, not {_shown(value)}")
        return value

    def texts(self, name: str, most: int, least: int = 0) -> list[str]:
        """Return a list of texts. A single text becomes a list of one. Some models send a list as JSON in a text."""
        value: object = self._given.get(name, [])
        value = _read_list(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
        values = cast("list[object]", value if isinstance(value, list) else [value])
        found = [text for text in values if isinstance(text, str)]
        if len(found) != len(values):
            raise InvalidEntry(f"{name} must be a list of texts")
        if any(len(text) > _MAX_CHARS for text in found):
            raise InvalidEntry(f"{name} has a text of more than {_MAX_CHARS:,} characters, which is far too many")
        if not least <= len(found) <= most:
            wanted = f"between {least} and {most}" if least else f"at most {most}"
            raise InvalidEntry(f"{name} must hold {wanted} texts, not {len(found)}")
        return [text.encode("utf-8", "replace").decode("utf-8") for text in found]


def listed(names: Sequence[str]) -> str:
    """Return names in one phrase: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _read_list(text: str) -> object:
    """Return the list in a JSON text, or the text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list) else text  # pyright: ignore[reportUnknownVariableType]


def _kind(value: object) -> str:
    kinds: dict[type[object], str] = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "that")


def _shown(value: object) -> str:
    """Return a given value for an error message, shortened."""
    if isinstance(value, str):
        return repr(one_line(value[:200])[:60])
    if isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 10**18):
        return str(value)
    return _kind(value)
