# hot
"""One entry of a bank: parse its block of markdown, and edit metadata without changing other bytes.

A block begins with a `### ` line. The description reaches to the first `- ` line. Each `- ` line begins a metadata
item and reaches to the next. `## ` and the known file titles end the entry, `---` is skipped. Fenced code is always
plain text.
"""

from __future__ import annotations

from recollect.domain.categories import LABEL
from recollect.domain.entry import CONFIDENCE, Entry, Part
from recollect.domain.text import fenced_lines

_FILE_TITLES = tuple(f"# {category}" for category in LABEL)
_TYPES = frozenset(label.lower() for label in LABEL.values())
_EMPHASIS = "*_`"
_DIGITS = "0123456789"
_LONGEST_KEY = 40
_MOST = 999_999_999

# The metadata read from every entry. Other metadata is parsed only for selected entries.
_ASKED = frozenset(("observation count", "confidence", "last observed", "content hash"))

# A cache from written labels to keys: a bank repeats a handful of labels in every entry.
_KEYS: dict[str, str] = {}


def parse_entry(block: str, category: str, origin: str, position: int) -> Entry:
    """Parse a block of markdown into an entry."""
    summary = _plain_summary(block)
    if summary is None:
        parts = parts_of(block)
        values: dict[str, str] = {}
        for part in parts:
            values.setdefault(part.key, part.value)
        summary = "\n".join(parts[0].lines), values
    description, values = summary
    heading = block.partition("\n")[0].rstrip()
    return Entry(
        category=category,
        name=bare_name(heading[4:]),
        description=_trimmed(description),
        heading=heading,
        parts=lambda: parts_of(block),
        observation_count=counted_in(values.get("observation count", "")),
        confidence=_confidence(values.get("confidence", "")),
        last_observed=_iso_date(values.get("last observed", "")),
        stored_hash=values.get("content hash", "").removeprefix("sha256:"),
        origin=origin,
        position=position,
    )


def _plain_summary(block: str) -> tuple[str, dict[str, str]] | None:
    """Return the description and metadata of a plain block, several times faster than `parts_of`.

    Return None for a block with code, headings or dividers, or with emphasis, several lines or no value in an item of
    `_ASKED`.
    """
    if "\n#" in block or "\n---" in block or may_have_fences(block):
        return None
    description, *items = block[block.find("\n") :].split("\n- ") if "\n" in block else ("",)
    values: dict[str, str] = {}
    for item in items:
        label, _, value = item.partition(":")
        key = _KEYS.get(label) or _key(label)
        if key in _ASKED and key not in values:
            value = value.rstrip()
            if "\n" in value or not value or label.strip()[:1] in _EMPHASIS:
                return None
            values[key] = value.lstrip()
    return description, values


def parts_of(block: str) -> list[Part]:
    """Split the lines of an entry into parts: the description, then metadata items and free text."""
    lines = block.split("\n")
    fenced = fenced_lines(lines) if may_have_fences(block) else frozenset[int]()
    part = Part("", "", [], 1)
    parts = [part]
    in_value = False
    for index, line in enumerate(lines[1:], 1):
        code = index in fenced
        if not code:
            if line.startswith("- "):
                part = _item(line, index)
                parts.append(part)
                in_value = True
                continue
            if _ends_entry(line):
                break
            if line.rstrip() == "---":
                part, in_value = _free_text(parts, index + 1), False
                continue
        filled = bool(line) and not line.isspace()
        in_value = in_value and filled and not code
        if in_value:
            part.value = f"{part.value} {line.strip()}".strip()
        elif filled and not code and part.key and line[0] not in " \t":
            part = _free_text(parts, index)
        part.lines.append(line)
        if filled:
            part.end = index + 1
    return parts


def set_in_block(block: str, label: str, value: str, carriage: str) -> str:
    """Return the block with a metadata item changed in its place and style, or added after the last item."""
    lines = block.split("\n")
    fenced = fenced_lines(lines)
    parts = parts_of(block)
    found = next((part for part in parts if part.key == _key(label)), None)
    if found:
        end = found.start + 1
        while end < found.end and lines[end].strip() and end not in fenced:
            end += 1
        lines[found.start : end] = [_with_value(lines[found.start], value)]
        return "\n".join(lines)
    at = next((part for part in reversed(parts) if part.key), parts[0]).end
    if at == len(lines):
        lines[-1] += carriage
        lines.append("")
    if any(part.start == at and part.lines and not part.key for part in parts[1:]):
        lines.insert(at, carriage)  # without a blank line, the text below would become part of the value
    lines.insert(at, f"- {label}: {value}{carriage}")
    return "\n".join(lines)


def may_have_fences(text: str) -> bool:
    return "```" in text or "~~~" in text


def bare_name(name: str) -> str:
    """Return the name without a leading type such as `Pattern:`."""
    label, colon, rest = name.partition(":")
    return rest.strip() if colon and label.strip().lower() in _TYPES else name.strip()


def with_count(value: str, count: int) -> str:
    """Return the text of an observation count with a new number, keeping the words around it."""
    digits = _first_number(value)
    number = str(min(count, _MOST))
    return value.replace(digits, number, 1) if digits else number


def _ends_entry(line: str) -> bool:
    if line[:1] != "#":
        return False
    title = line.rstrip().lower()
    return line.startswith("## ") or title in _FILE_TITLES or title.startswith("# global ")


def _free_text(parts: list[Part], start: int) -> Part:
    """Return the part for free text: the description, or a new part after metadata."""
    if parts[-1].key:
        parts.append(Part("", "", [], start))
    return parts[-1]


def _trimmed(text: str) -> str:
    """Return the text without white space around it or at the ends of its lines."""
    if " \n" in text or "\r" in text or "\t" in text:
        text = "\n".join([line.rstrip() for line in text.split("\n")])
    return text.strip()


def _item(line: str, start: int) -> Part:
    label, colon, _ = line[2:].partition(":")
    if not colon or len(label) > _LONGEST_KEY:
        return Part("-", line[2:].strip(), [line], start)
    return Part(_key(label), line[slice(*_value_span(line))], [line], start)


def _value_span(line: str) -> tuple[int, int]:
    """Return start and end of a metadata line's value, without the emphasis: `**Key:** value`, `**Key: value**`."""
    colon = line.index(":")
    end = len(line.rstrip())
    start = min(end, _skip_spaces(line, colon + 1))
    label = line[2:colon].strip()
    marks = label[: len(label) - len(label.lstrip(_EMPHASIS))]
    if marks and not label.endswith(marks):
        if line.startswith(marks, start):
            start = min(end, _skip_spaces(line, start + len(marks)))
        elif line.endswith(marks, start, end):
            end -= len(marks)
    return start, end


def _skip_spaces(line: str, at: int) -> int:
    return len(line) - len(line[at:].lstrip())


def _key(label: str) -> str:
    """Return the key for a label, without case, emphasis and hyphens; "-" for a text over 40 characters."""
    key = _KEYS.get(label)
    if key is None:
        key = label.strip("*_` ").lower().replace("-", " ").replace("_", " ") if len(label) <= _LONGEST_KEY else "-"
        if len(_KEYS) < 1000:
            _KEYS[label] = key
    return key


def _with_value(line: str, value: str) -> str:
    """Return the metadata line with a new value, keeping bullet, emphasis and line ending."""
    start, end = _value_span(line)
    space = "" if line[start - 1] == " " else " "
    return f"{line[:start]}{space}{value}{line[end:]}"


def counted_in(value: str) -> int:
    """Return the first number in the value, at most 999,999,999; 1 if there is none or it is negative."""
    if not value:
        return 1
    digits = value if value.isdecimal() and value.isascii() else _first_number(value)
    if not digits or f"-{digits}" in value:
        return 1
    return int(digits) if len(digits) < 10 else _MOST


def _first_number(value: str) -> str:
    start = next((i for i, char in enumerate(value) if char in _DIGITS), len(value))
    end = next((i for i in range(start, len(value)) if value[i] not in _DIGITS), len(value))
    return value[start:end]


def _confidence(value: str) -> str:
    """Return the first word of the value if it is a level of confidence, otherwise "medium"."""
    if not value or value in CONFIDENCE:
        return value or "medium"
    word = value.strip(_EMPHASIS + " ").lower()
    level = next((level for level in CONFIDENCE if word.startswith(level)), "")
    return level if level and not word[len(level) : len(level) + 1].isalpha() else "medium"


def _iso_date(value: str) -> str:
    date = value.strip(_EMPHASIS)[:10]
    shaped = len(date) == 10 and date[4] == "-" == date[7] and (date[:4] + date[5:7] + date[8:]).isdecimal()
    return date if shaped and "01" <= date[5:7] <= "12" and "01" <= date[8:] <= "31" else ""
