# hot
"""JSON for hooks. The json module costs as much as a bare interpreter, most of it for regular expressions."""

from __future__ import annotations

from recollect.domain.text import json_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Rules:
    """Options for the C scanner behind the json module."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 (the scanner's own)

    @staticmethod
    def parse_constant(name: str) -> None:
        """Return None for NaN and the like: they are no JSON and not needed here."""


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    try:
        from _json import make_scanner
    except ImportError:  # only CPython has it
        from json import JSONDecoder

        return JSONDecoder().raw_decode
    return make_scanner(_Rules)  # pyright: ignore[reportArgumentType]


_scan = _scanner()
_SPACE = " \t\n\r"


def parse(text: str) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: the text is no JSON.
    """
    begin = len(text) - len(text.lstrip(_SPACE))
    try:
        value, end = _scan(text, begin)
    except (StopIteration, RecursionError, SystemError) as error:  # the last in CPython 3.11 if json is not loaded
        raise ValueError("it is no JSON") from error
    if text[end:].strip(_SPACE):
        raise ValueError("something follows the JSON")
    return value


def dump(value: Any) -> str:
    """Serialize a value as JSON: objects, lists, texts, numbers, true, false and null."""
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, dict):
        pairs: Any = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return "{" + ", ".join(f"{json_string(name)}: {dump(item)}" for name, item in pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"  # pyright: ignore[reportUnknownArgumentType]
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)
