"""Models to validate memory files, and the JSON Schemas generated from them.

Importing this module loads pydantic and takes as long as starting several bare interpreters, so no hook imports it.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from recollect.domain.categories import CATEGORIES, PROJECT
from recollect.domain.memory import (
    LONGEST_POINTER,
    LONGEST_REASON,
    LONGEST_SUMMARY,
    LONGEST_TITLE,
    MOST_CHANGES,
    MOST_SUPERSEDED,
    SCHEMA_VERSION,
    SLUG,
    seen,
)
from recollect.domain.ranking.triggers import LONGEST_TRIGGER, MOST_TRIGGERS
from recollect.domain.secrets.detect import redacted
from recollect.domain.stored import COMMIT_LENGTH, HASH_LENGTH, LONGEST_FILE, MOST_ANCHORS
from recollect.domain.text import counted, cut, one_line
from recollect.errors import WriteRefused

BASE = "base"
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

_Texts = list[str]
_AtLeastOne = Annotated[list[str], Field(min_length=1)]
_Reason: Any = Annotated[str, Field(max_length=LONGEST_REASON)]
_Trigger: Any = Annotated[str, Field(min_length=1, max_length=LONGEST_TRIGGER)]
_Triggers: Any = Annotated[list[_Trigger], Field(max_length=MOST_TRIGGERS)]
_Confidence: Any = Annotated[float, Field(ge=0.0, le=1.0)]
_Pointer: Any = Annotated[str, Field(min_length=1, max_length=LONGEST_POINTER)]
_Pointers: Any = Annotated[list[_Pointer], Field(max_length=MOST_SUPERSEDED)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Alternative(_Model):
    option: str
    rejected_reason: str


class DecisionContent(_Model):
    status: Literal["proposed", "accepted", "deprecated", "superseded"]
    context: str
    decision: str
    alternatives: list[Alternative] | None = None
    rationale: _AtLeastOne
    consequences: _Texts | None = None


class SessionSummaryContent(_Model):
    goal: str
    outcome: Literal["success", "partial", "blocked", "abandoned"]
    completed: _Texts
    in_progress: _Texts | None = None
    blockers: _Texts | None = None
    next_actions: _Texts
    key_changes: _Texts | None = None


class RunbookContent(_Model):
    trigger: str
    symptoms: _Texts | None = None
    steps: _AtLeastOne
    verification: str
    root_cause: str | None = None
    environment: str | None = None


class ConstraintContent(_Model):
    kind: Literal["limitation", "gap", "policy", "technical"]
    rule: str
    impact: _AtLeastOne
    workarounds: _Texts | None = None
    severity: Literal["high", "medium", "low"]
    active: bool
    expires: str | None = None


class TechDebtContent(_Model):
    status: Literal["open", "in_progress", "resolved", "wont_fix"]
    priority: Literal["critical", "high", "medium", "low"]
    description: str
    reason_deferred: str
    impact: _Texts | None = None
    suggested_fix: _Texts | None = None
    acceptance_criteria: _Texts | None = None


class Examples(_Model):
    prefer: _Texts | None = None
    avoid: _Texts | None = None


class PreferenceContent(_Model):
    topic: str
    value: str
    reason: str
    strength: Literal["strong", "default", "soft"]
    examples: Examples | None = None


class FileAnchor(_Model):
    file: Annotated[str, Field(min_length=1, max_length=LONGEST_FILE)]
    hash: Annotated[str, Field(pattern=rf"^[0-9a-f]{{{HASH_LENGTH}}}$")]
    commit: Annotated[str, Field(pattern=rf"^[0-9a-f]{{{COMMIT_LENGTH}}}$")] | None = None
    at: str


class ChangeEntry(_Model):
    date: str
    summary: Annotated[str, Field(max_length=LONGEST_SUMMARY)]
    field: str | None = None
    old_value: Any = None
    new_value: Any = None


_Anchors: Any = Annotated[list[FileAnchor], Field(max_length=MOST_ANCHORS)]
_Changes: Any = Annotated[list[ChangeEntry], Field(max_length=MOST_CHANGES)]

CONTENT: dict[str, type[BaseModel]] = {
    "session_summary": SessionSummaryContent,
    "decision": DecisionContent,
    "runbook": RunbookContent,
    "constraint": ConstraintContent,
    "tech_debt": TechDebtContent,
    "preference": PreferenceContent,
}


def when_said(category: str) -> list[str]:
    """Return the texts that an author must write, and that a capture leaves out if nobody has said them.

    An invented text would be worse. The subject is in the title already.
    """
    row = CATEGORIES[category]
    subject = [field for field in row.key_fields[:1] if field not in row.note_fields]
    reason = [field for field in row.note_fields[1:] if CONTENT[category].model_fields[field].is_required()]
    return [*subject, *reason, *(["verification"] if category == "runbook" else [])]


@cache
def captured_content(category: str) -> type[BaseModel]:
    """Return the model of a category's content in files: as an author writes it, but with `when_said` optional."""
    content = CONTENT[category]
    fields: dict[str, Any] = {}
    for name in when_said(category):
        field = content.model_fields[name]
        kind: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        fields[name] = (kind | None, None)
    if category == "decision":
        option: Any = create_model("CapturedAlternative", __base__=Alternative, rejected_reason=(str | None, None))
        fields["alternatives"] = (list[option] | None, None)
    return create_model(f"Captured{content.__name__}", __base__=content, **fields)


@cache
def model_of(category: str, *, authored: bool = False) -> type[BaseModel]:
    """Return the model of a category's memory files, or of what an author writes.

    The model of `base` has their common fields.
    """
    named: Any = Literal[PROJECT] if category == BASE else Literal[category]  # pyright: ignore[reportInvalidTypeForm]
    content: Any = dict[str, Any]
    if category != BASE:
        content = CONTENT[category] if authored else captured_content(category)
    fields: dict[str, Any] = {
        "schema_version": Literal[SCHEMA_VERSION],  # pyright: ignore[reportInvalidTypeForm]
        "category": named,
        "id": Annotated[str, Field(pattern=SLUG)],
        "title": Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)],
        "record_status": (Literal["active", "retired", "archived"], "active"),
        "created_at": str,
        "updated_at": str,
        "tags": _AtLeastOne,
        "related_files": (_Texts | None, None),
        "anchors": (_Anchors | None, None),
        "triggers": (_Triggers | None, None),
        "supersedes": (_Pointers | None, None),
        "confidence": (_Confidence | None, None),
        "content": content,
        "changes": (_Changes | None, None),
        "times_updated": (Annotated[int, Field(ge=0)], 0),
        "retired_at": (str | None, None),
        "retired_reason": (_Reason | None, None),
        "superseded_by": (_Pointer | None, None),
        "archived_at": (str | None, None),
        "archived_reason": (_Reason | None, None),
    }
    return create_model(category.title().replace("_", "") + "Memory", __base__=_Model, **fields)


def validated(record: dict[str, Any], category: str, *, authored: bool = False) -> dict[str, Any]:
    """Validate a record and return it with typed fields in order, without nulls and invisible characters.

    `authored` is True for a record that somebody has written in full, and not only captured.

    Raises:
        WriteRefused: the record is invalid. The block lists each field with the expected value, the given value and
            a fix.
    """
    try:
        model = model_of(category, authored=authored).model_validate(seen(record))
    except ValidationError as error:
        found = _problems(error, category)
        more = [("more", f"{len(found) - _MOST_SHOWN:,} further fields")] if len(found) > _MOST_SHOWN else []
        facts = (fact for problem in found[:_MOST_SHOWN] for fact in problem)
        raise WriteRefused("VALIDATION_ERROR", *facts, *more) from error
    return model.model_dump(mode="json", exclude_none=True)


def problems_of(record: dict[str, Any], category: str, *, authored: bool = False) -> list[tuple[tuple[str, str], ...]]:
    """Return a group of facts for each problem of a record, as for `validated`; an empty list if it is valid."""
    try:
        model_of(category, authored=authored).model_validate(record)
    except ValidationError as error:
        return _problems(error, category)
    return []


def is_captured(record: dict[str, Any], category: str) -> bool:
    """Return True if a valid record lacks a text that an author must write."""
    return bool(problems_of(record, category, authored=True)) and not problems_of(record, category)


def _problems(error: ValidationError, category: str) -> list[tuple[tuple[str, str], ...]]:
    return [_facts(dict(detail), category) for detail in error.errors(include_url=False)]


def schema(category: str) -> dict[str, Any]:
    """Return the JSON Schema of a category's memories as authors write them, or of their common fields."""
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


def _facts(detail: dict[str, Any], category: str) -> tuple[tuple[str, str], ...]:
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
