"""A form for editing a memory by hand: TOML, with fixed fields as comments."""

from __future__ import annotations

import re
import tomllib
from datetime import date, time
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.lifecycle import change
from recollect.domain.text import cut, one_line
from recollect.errors import WriteRefused
from recollect.files.memory.schemas import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recollect.domain.memory import Record
    from recollect.files.memory.memories import MemoryFile

EDITABLE = ("title", "tags", "confidence", "related_files", "triggers", "content")

_HEAD = (
    "# Change title, tags, confidence, related_files, triggers and [content], save, and close the editor.",
    "# Tags, and related files that exist, can be added but not taken away.",
    '# A text of several lines stands between """ and """. Comments are not kept.',
    "#",
)
_HASH = re.compile(r"^# hash: ([0-9a-f]{32})\r?$", re.MULTILINE)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_COMMENT = 200

# Three quotes would end a multi-line string, and so would a quote at its end. Spaces before the end of a line are
# escaped too, because many editors strip them.
_QUOTES = re.compile(r'"(?=""|\Z)')
_SPACE_AT_END = re.compile(r"[ \t](?=\n|\Z)")
_ESCAPES = {"\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"'}


def form_of(memory: MemoryFile) -> str:
    """Return a memory as a form to edit; `read_form` reads the same values back, to the character."""
    lines = [*_HEAD, *_shown_only(memory), "", *_fields(memory.record), "", *_content(memory)]
    return "\n".join(lines) + "\n"


def read_form(text: str) -> Record:
    """Return the fields of an edited form.

    Raises:
        WriteRefused: the text is not TOML, or has fields other than the editable ones.
    """
    fields = read_toml(text)
    for field in fields:
        if field not in EDITABLE:
            raise WriteRefused(
                "INPUT_ERROR",
                ("field", one_line(field)),
                ("rule", f"only {', '.join(EDITABLE)} can be changed here"),
                ("fix", "take it out; a field of the content belongs below [content]"),
            )
    return fields


def read_toml(text: str) -> Record:
    """Return the fields of any form.

    Raises:
        WriteRefused: the text is not TOML.
    """
    try:
        text.encode()
        return _plain(tomllib.loads(text.removeprefix("\ufeff")))
    except UnicodeEncodeError:
        raise _unreadable("it is not UTF-8", "save it as UTF-8") from None
    except RecursionError:
        raise _unreadable("it is nested too deeply", "give the fields as the form has them") from None
    except ValueError as error:
        raise _unreadable(one_line(str(error)), "correct that place; the form is TOML (https://toml.io)") from error


def version_in(text: str) -> str:
    """Return the hash of a form's original file, from its comment; empty if there is none."""
    match = _HASH.search(text)
    return match[1] if match else ""


def edited(memory: MemoryFile, text: str, now: str) -> Record | None:
    """Return the record with the edits of a form and a line of history; None if nothing was changed.

    Raises:
        WriteRefused: the text cannot be read.
    """
    return with_edits(memory, read_form(text), now)


def with_edits(memory: MemoryFile, after: Record, now: str) -> Record | None:
    """Return the record with edited fields and a line of history; None if nothing was changed."""
    # Compare forms, not records: TOML has no null, so a null missing from the form is no change.
    before = read_form(form_of(memory))
    changed = [field for field in EDITABLE if before.get(field) != after.get(field)]
    if not changed:
        return None
    record = {field: value for field, value in memory.record.items() if field not in changed}
    record |= {field: after[field] for field in changed if field in after}
    named = list(_named(changed, before, after))
    line = [change(f"Edited by hand: {', '.join(named)}", now)] if named else []
    return {**record, "changes": [*memory.changes, *line]}


def _named(changed: list[str], before: Record, after: Record) -> Iterator[str]:
    """Yield the changed fields, except single values of the content: an update adds a line of history for each."""
    for field in changed:
        old, new = before.get(field), after.get(field)
        if field == "content" and isinstance(old, dict) and isinstance(new, dict):
            earlier, later = cast("Record", old), cast("Record", new)
            lists = [key for key, value in earlier.items() if isinstance(value, list | dict)]
            yield from (f"content.{key}" for key in lists if earlier[key] != later.get(key))
        else:
            yield field


def _shown_only(memory: MemoryFile) -> Iterator[str]:
    """Yield the fixed fields as comments."""
    yield f"# file: {memory.slug} ({memory.category})"
    yield f"# hash: {memory.hash}"
    for field, value in memory.record.items():
        if field in EDITABLE or field in ("category", "id", "schema_version") or value is None:
            continue
        shown = f"{len(memory.changes)} lines of history" if field == "changes" else _comment(value)
        yield f"# {_comment(field)}: {shown}"


def _fields(record: Record) -> Iterator[str]:
    for field in EDITABLE[:-1]:
        value = record.get(field)
        yield f"# {field} may be added here." if value is None else pair(field, value)


def _content(memory: MemoryFile) -> Iterator[str]:
    known: dict[str, Any] = schema(memory.category)["properties"]["content"]["properties"]
    absent = [field for field in known if memory.content.get(field) is None]
    yield "[content]"
    if absent:
        yield f"# May be added: {', '.join(absent)}; `recollect schema {memory.category}` explains them."
    yield from _table(memory.content, {field: says.get("enum", ()) for field, says in known.items()})


def _comment(value: object) -> str:
    return cut(one_line(str(value)[: 2 * _LONGEST_COMMENT]), _LONGEST_COMMENT)


def _table(fields: Mapping[str, Any], choices: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of the content: values first, then subtables, because TOML cannot return to a table."""
    below: list[tuple[str, Any]] = []
    for field, value in fields.items():
        if _is_tables(value):
            below.append((f"content.{_key(field)}", value))
        elif value is not None:
            yield pair(field, value, choices.get(field, ()))
    for name, value in below:
        many = isinstance(value, list)
        for table in cast("list[Record]", value if many else [value]):
            yield from ("", f"[[{name}]]" if many else f"[{name}]")
            yield from (pair(key, item) for key, item in table.items() if item is not None)


def _is_tables(value: object) -> bool:
    """Return True if the value is an object, or a list of objects only."""
    items = cast("list[object]", value if isinstance(value, list) else [value])
    return bool(items) and all(isinstance(item, dict) for item in items)


def pair(field: str, value: Any, choices: tuple[str, ...] = ()) -> str:
    """Return the line of a form for a field."""
    comment = f"  # one of: {', '.join(choices)}" if choices else ""
    return f"{_key(field)} = {_value(value)}{comment}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _multi_line_string(value) if "\n" in value else _one_line_string(value)
    if isinstance(value, list):
        items = [_value(item) for item in cast("list[Any]", value) if item is not None]
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]" if items else "[]"
    if isinstance(value, dict):
        pairs = [f"{_key(key)} = {_value(item)}" for key, item in cast("Record", value).items() if item is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    return repr(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _one_line_string(name)


def _one_line_string(text: str) -> str:
    return '"' + "".join(_escaped(character, '\\"') for character in text) + '"'


def _multi_line_string(text: str) -> str:
    body = "".join(_escaped(character, "\\", plain="\n\t") for character in text)
    body = _SPACE_AT_END.sub(lambda space: "\\t" if space[0] == "\t" else "\\u0020", _QUOTES.sub('\\\\"', body))
    return f'"""\n{body}"""'


def _escaped(character: str, special: str, plain: str = "") -> str:
    """Return a character as written in a TOML string; invisible ones are escaped, so editors keep them."""
    if character in plain or (character.isprintable() and character not in special):
        return character
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"  # a lone surrogate: TOML cannot express it, and no valid record holds one
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _plain(value: Any) -> Any:
    """Return a TOML value as JSON has it: dates, unquoted in TOML, become texts."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("Record", value).items()}
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value.isoformat() if isinstance(value, date | time) else value


def _unreadable(error: str, fix: str) -> WriteRefused:
    return WriteRefused("INPUT_ERROR", ("error", error), ("fix", fix))
