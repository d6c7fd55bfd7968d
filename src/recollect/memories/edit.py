"""Edit a memory file: a form made from its schema, and the edits saved through the checks of every update."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.errors import WriteRefused
from recollect.files.memory.memories import MemoryFile
from recollect.files.memory.schemas import schema
from recollect.memories import write
from recollect.memories.edit_form import EDITABLE, with_edits
from recollect.memories.finish import finish

if TYPE_CHECKING:
    from recollect.domain.memory import Record

# The kinds of fields in a form.
TEXT, LONG, NUMBER, CHOICE, YES_NO, TEXTS, GROUP, GROUPS = (
    "text", "long", "number", "choice", "yes_no", "texts", "group", "groups",
)  # fmt: skip

_SHORT = ("title", "expires", "topic")
_MOST_ITEMS = 200


@dataclass
class Field:
    """A field of a form: its name as refusals have it, its value, and for groups the fields in it."""

    name: str
    kind: str
    value: Any = None
    choices: Sequence[str] = ()
    is_required: bool = False
    below: list[Field] = field(default_factory=list["Field"])

    @property
    def label(self) -> str:
        return self.name.rpartition(".")[2].replace("_", " ").capitalize()


def form_fields(category: str, record: Record) -> list[Field]:
    """Return the fields of a form for the memories of a category, with the values of a record."""
    known: Record = schema(category)["properties"]
    needed: list[str] = schema(category).get("required", [])
    made = [_field(name, known[name], record.get(name), name in needed) for name in EDITABLE if name != "content"]
    content: Record = known["content"]
    given = record.get("content")
    values = cast("Record", given) if isinstance(given, dict) else {}
    for name, shape in content["properties"].items():
        made.append(_field(f"content.{name}", shape, values.get(name), name in content.get("required", [])))
    return made


def read_fields(category: str, given: Mapping[str, Sequence[str]]) -> Record:
    """Return the fields of a form as a record, without empty ones; `given` has the texts by the names of fields."""
    record: Record = {}
    for each in form_fields(category, {}):
        value = _read(each, given)
        if value is not None:
            below = record.setdefault("content", {}) if each.name.startswith("content.") else record
            below[each.name.removeprefix("content.")] = value
    return record


def save_edit(engine: Engine, memory: MemoryFile, fields: Record, expected: str) -> write.Written | None:
    """Save the edited fields of a memory that was read when its file had the hash `expected`; None without a change.

    Raises:
        WriteRefused: the checks of memory files do not allow it, or somebody else has changed the file.
        LockTimeout: other writers held the root for too long; nothing was written.
        StorageError: it cannot be written.
    """
    record = with_edits(memory, fields, utc_text(time.gmtime()))
    if record is None:
        return None
    root = engine.workspace.memory_root()
    done = write.update(root, engine.settings, memory.path, memory.category, record, expected=expected)
    done.warnings += finish(root, engine.workspace, done.paths, message=done.message, engine=engine)
    return done


def refused_fields(refusal: WriteRefused) -> dict[str, list[str]]:
    """Return the words of a refusal by the field that each is about; those about none are under an empty name."""
    found: dict[str, list[str]] = {}
    name = ""
    for fact, value in refusal.facts:
        if fact == "field":
            name = str(value)
            found.setdefault(name, [])
        else:
            found.setdefault(name, []).append(f"{fact}: {value}")
    return found


def _field(name: str, shape: Record, value: Any, is_required: bool) -> Field:
    kind = shape.get("type")
    if "enum" in shape:
        return Field(name, CHOICE, value, shape["enum"], is_required)
    if kind == "array":
        return _list(name, shape["items"], value, is_required)
    if kind == "object":
        return Field(name, GROUP, below=_below(name, shape, value), is_required=is_required)
    plain = {"number": NUMBER, "boolean": YES_NO}.get(str(kind))
    last = name.rpartition(".")[2]
    return Field(name, plain or (TEXT if last in _SHORT else LONG), value, is_required=is_required)


def _list(name: str, shape: Record, value: Any, is_required: bool) -> Field:
    items = cast("list[Any]", value)[:_MOST_ITEMS] if isinstance(value, list) else []
    if shape.get("type") != "object":
        return Field(name, TEXTS, [item for item in items if isinstance(item, str)], is_required=is_required)
    rows = [_below(f"{name}[{place}]", shape, item) for place, item in enumerate([*items, None])]  # and an empty one
    below = [Field(f"{name}[{place}]", GROUP, below=row) for place, row in enumerate(rows)]
    return Field(name, GROUPS, is_required=is_required, below=below)


def _below(name: str, shape: Record, value: Any) -> list[Field]:
    values = cast("Record", value) if isinstance(value, dict) else {}
    needed = shape.get("required", [])
    properties = cast("Record", shape["properties"])
    return [_field(f"{name}.{key}", each, values.get(key), key in needed) for key, each in properties.items()]


def _read(each: Field, given: Mapping[str, Sequence[str]]) -> Any:
    """Return the value of a field; None if nothing was given for it."""
    if each.kind in (GROUPS, GROUP):
        return (_read_groups if each.kind == GROUPS else _read_group)(each, given) or None
    texts = [text.replace("\r\n", "\n").strip() for text in given.get(each.name, ())]
    if each.kind == TEXTS:
        return [text for text in texts if text] or None
    text = texts[-1] if texts else ""
    if not text:
        return None
    if each.kind == YES_NO:
        return text == "yes"
    return _number(text) if each.kind == NUMBER else text


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # refused by the schema, in its own words


def _read_group(group: Field, given: Mapping[str, Sequence[str]]) -> Record:
    values = {each.name.rpartition(".")[2]: _read(each, given) for each in group.below}
    return {name: value for name, value in values.items() if value is not None}


def _read_groups(each: Field, given: Mapping[str, Sequence[str]]) -> list[Record]:
    """Return the groups of a list that have anything in them; the form may have any number of them."""
    first = each.below[0]
    found: list[Record] = []
    for place in range(_MOST_ITEMS):
        names = {below.name: below.name.replace(first.name, f"{each.name}[{place}]", 1) for below in first.below}
        if not any(name in given for name in names.values()):
            break
        found.append(_read_group(first, {old: given.get(new, ()) for old, new in names.items()}))
    return [row for row in found if row]
