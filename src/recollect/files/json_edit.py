"""Change one value in a JSON text and leave every other character unchanged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.errors import UnsafeEdit

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class _Member:
    """A member of an object: its key, and the offsets of the key, the value and the value's end."""

    key: str
    start: int
    value: int
    end: int


def set_value(text: str, path: Sequence[str], value: str) -> str:
    """Return the text with the member at `path` set to `value`, given as JSON. Make missing objects.

    Raises:
        UnsafeEdit: the text is not a JSON object, or something on the path is no object.
    """
    if not text.strip():
        text = "{}\n"
    at = _object_start(text)
    for depth, name in enumerate(path):
        members, _ = _members(text, at)
        found = next((member for member in reversed(members) if member.key == name), None)  # the last duplicate counts
        if found is None:
            return _insert(text, at, path[depth:], value)
        if depth == len(path) - 1:
            return text[: found.value] + value + text[found.end :]
        at = found.value
        if text[at] != "{":
            raise UnsafeEdit(f"{'.'.join(path[: depth + 1])} holds no JSON object; change it by hand")
    return text


def remove_value(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at `path` and its duplicates; unchanged if there is none.

    Raises:
        UnsafeEdit: the text is not a JSON object.
    """
    while (shorter := _remove_one(text, path)) != text:
        text = shorter
    return text


def _remove_one(text: str, path: Sequence[str]) -> str:
    at = _object_start(text)
    for depth, name in enumerate(path):
        members, _ = _members(text, at)
        index = next((i for i in reversed(range(len(members))) if members[i].key == name), None)
        if index is None:
            return text
        at = members[index].value
        if depth < len(path) - 1:
            if text[at] != "{":
                return text
            continue
        if index + 1 < len(members):
            return text[: members[index].start] + text[members[index + 1].start :]
        start = members[index - 1].end if index else members[index].start
        return text[:start] + text[members[index].end :]
    return text


def _object_start(text: str) -> int:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnsafeEdit(f"it is not valid JSON ({error}); mend it first") from error
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if text[start] != "{":
        raise UnsafeEdit("it must hold a JSON object; mend it first")
    return start


def _members(text: str, start: int) -> tuple[list[_Member], int]:
    """Return the members of the object opening at `start`, and the offset of its closing brace."""
    members: list[_Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = _skip(text, at + 1)
        key, after = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, after) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(_Member(key, at, value, end))
        at = _skip(text, end)
    return members, at


def _insert(text: str, start: int, path: Sequence[str], value: str) -> str:
    members, close = _members(text, start)
    for name in reversed(path[1:]):
        value = f"{{ {json.dumps(name)}: {value} }}"
    member = f"{json.dumps(path[0])}: {value}"
    if members:
        last = members[-1]
        before = text[: last.start]
        gap = before[len(before.rstrip(_SPACE)) :]
        return f"{text[: last.end]},{gap or ' '}{member}{text[last.end :]}"
    line = text[:start].rpartition("\n")[2]
    indent = line[: len(line) - len(line.lstrip())]
    return f"{text[: start + 1]}\n{indent}  {member}\n{indent}{text[close:]}"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
