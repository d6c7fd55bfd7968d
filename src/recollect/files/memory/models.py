"""Models of memory files: what each category's content holds, and the fields that all have.

Importing this module loads pydantic and makes its models, which takes as long as starting several bare interpreters. So
only a check imports it.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from recollect.domain.categories import CATEGORIES, PROJECT
from recollect.domain.memory import (
    BASE,
    LONGEST_POINTER,
    LONGEST_REASON,
    LONGEST_SUMMARY,
    LONGEST_TITLE,
    MOST_CHANGES,
    MOST_SUPERSEDED,
    SCHEMA_VERSION,
    SLUG,
)
from recollect.domain.ranking.triggers import LONGEST_TRIGGER, MOST_TRIGGERS
from recollect.domain.stored import COMMIT_LENGTH, HASH_LENGTH, LONGEST_FILE, MOST_ANCHORS

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
