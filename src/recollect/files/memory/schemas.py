"""Check memory files against the models of their categories, and make the JSON Schemas from these.

The models are loaded by the first check.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.memory import BASE, seen
from recollect.domain.secrets.detect import redacted
from recollect.domain.text import counted, cut, one_line
from recollect.errors import WriteRefused

if TYPE_CHECKING:
    from pydantic import BaseModel

# What is told about a problem: names and values.
Facts = tuple[tuple[str, str], ...]

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "schemas")

_LONGEST_SHOWN = 200
_MOST_SHOWN = 20

# What a field should hold, by the kind of the library's complaint.
_EXPECTED = {
    "missing": "a value",
    "extra_forbidden": "a field that the schema knows",
    "model_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "string_type": "a text",
    "string_pattern_mismatch": "a text that fits {pattern}",
    "literal_error": "{expected}",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
    "finite_number": "a number",
}
_LENGTHS = {
    "string_too_short": ("character", "at least {}"),
    "string_too_long": ("character", "at most {}"),
    "too_short": ("item", "at least {}"),
    "too_long": ("item", "at most {}"),
}


def validated(record: dict[str, Any], category: str, *, authored: bool = False) -> dict[str, Any]:
    """Validate a record and return it with typed fields in order, without nulls and invisible characters.

    `authored` is True for a record that somebody has written in full, and not only captured.

    Raises:
        WriteRefused: the record is invalid. The block lists each field with the expected value, the given value and
            a fix.
    """
    found = _checked(seen(record), category, authored=authored)
    if isinstance(found, list):
        more = [("more", f"{len(found) - _MOST_SHOWN:,} further fields")] if len(found) > _MOST_SHOWN else []
        facts = (fact for problem in found[:_MOST_SHOWN] for fact in problem)
        raise WriteRefused("VALIDATION_ERROR", *facts, *more)
    return found.model_dump(mode="json", exclude_none=True)


def problems_of(record: dict[str, Any], category: str, *, authored: bool = False) -> list[Facts]:
    """Return a group of facts for each problem of a record, as for `validated`; an empty list if it is valid."""
    found = _checked(record, category, authored=authored)
    return found if isinstance(found, list) else []


def is_captured(record: dict[str, Any], category: str) -> bool:
    """Return True if a valid record lacks a text that an author must write."""
    return bool(problems_of(record, category, authored=True)) and not problems_of(record, category)


def _checked(record: dict[str, Any], category: str, *, authored: bool) -> BaseModel | list[Facts]:
    """Return the model of a valid record, or the problems of any other."""
    from pydantic import ValidationError

    from recollect.files.memory.models import model_of

    try:
        return model_of(category, authored=authored).model_validate(record)
    except ValidationError as error:
        return [_facts(dict(detail), category) for detail in error.errors(include_url=False)]


def schema(category: str) -> dict[str, Any]:
    """Return the JSON Schema of a category's memories as authors write them, or of their common fields."""
    from recollect.files.memory.models import model_of, when_said

    made = model_of(category, authored=True).model_json_schema()
    definitions: dict[str, Any] = made.pop("$defs", {})
    words = category.replace("_", " ")
    described = f"A {words} memory file of recollect." if category != BASE else "What memory files share."
    untold = when_said(category) if category != BASE else []
    untold += ["an alternative's rejected_reason"] if category == "decision" else []
    if untold:
        described += f" A captured one lacks {' and '.join(untold)} if nobody said it."
    inlined = _plain(_inlined(made, definitions))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{words} memory" if category != BASE else "memory",
        "description": described,
        **inlined,
    }


def schema_text(category: str) -> str:
    return json.dumps(schema(category), indent=2, ensure_ascii=False) + "\n"


def schema_file(category: str) -> str:
    """Return the path of the shipped schema file of a category."""
    return os.path.join(FOLDER, f"{category.replace('_', '-')}.schema.json")


def _facts(detail: dict[str, Any], category: str) -> Facts:
    place: tuple[int | str, ...] = detail["loc"]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{one_line(part)}" for part in place).lstrip(".")
    field = cut(field, _LONGEST_SHOWN)
    kind: str = detail["type"]
    (given,) = redacted({place[-1] if place else "": detail["input"]}).values()
    if kind == "missing":
        got, fix = "nothing", f"add {field}; `recollect schema {category}` shows all fields"
    elif kind == "extra_forbidden":
        got, fix = _shown(given), f"remove {field}; `recollect schema {category}` shows all fields"
    else:
        got, fix = _shown(given), f"correct the value of {field}"
    return ("field", field), ("expected", _expected(detail)), ("got", got), ("fix", fix)


def _expected(detail: dict[str, Any]) -> str:
    """Return what a field should hold in our own words; in the library's for a check that has none here."""
    kind: str = detail["type"]
    limits: dict[str, Any] = detail.get("ctx", {})
    if kind in _LENGTHS:
        noun, words = _LENGTHS[kind]
        return words.format(counted(limits["min_length" if "short" in kind else "max_length"], noun, f"{noun}s"))
    return _EXPECTED[kind].format(**limits) if kind in _EXPECTED else detail["msg"]


def _shown(value: object) -> str:
    return cut(json.dumps(value, ensure_ascii=True, default=str), _LONGEST_SHOWN)


def _inlined(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inlined(item, definitions) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    node = cast(dict[str, Any], value)
    if "$ref" in node:
        return _inlined(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    return {key: _inlined(item, definitions) for key, item in node.items()}


def _plain(value: Any, *, names: bool = False) -> Any:
    """Return a schema without null choices, and without titles repeating the names of fields.

    Memory files contain no nulls. `names` is set if the keys of `value` are names of fields.
    """
    if isinstance(value, list):
        return [_plain(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    node = cast(dict[str, Any], value)
    if names:
        return {key: _plain(item) for key, item in node.items()}
    choices = [choice for choice in node.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        node = {**choices[0], **{key: item for key, item in node.items() if key not in ("anyOf", "default")}}
    dropped = ("title", "default") if node.get("default", 0) is None else ("title",)
    return {key: _plain(item, names=key == "properties") for key, item in node.items() if key not in dropped}
