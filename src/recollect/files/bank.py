"""Knowledge banks: three markdown files of entries, read and written without losing a byte.

A line that starts with `### ` begins an entry, except in fenced code. Its description reaches to the first line
that starts with `- `; each such line begins a metadata item that continues to the next. `## ` and the known file
titles end an entry, `---` is skipped. Everything else is kept as it stands.
"""

from __future__ import annotations

import os

from recollect.domain.categories import KNOWLEDGE, LABEL
from recollect.domain.entry import CONFIDENCE, Entry, Part
from recollect.domain.text import fenced_lines
from recollect.errors import StorageError, UnsafeEdit
from recollect.files.textfile import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

_FILE_TITLES = ("# anti-patterns", "# patterns", "# heuristics", "# global ")
_LEFT_OUT = ("constitution.md",)
_PREFIXES = tuple(label.lower() + ":" for label in LABEL.values())
_EMPHASIS = "*_`"
_DIGITS = "0123456789"

# Keys as they are written, what they mean, and whether with emphasis: a bank repeats a handful in every entry.
_KEYS: dict[str, tuple[str, bool]] = {}


class BankFile:
    """One file of a bank. Blocks that are not changed are written as they were read."""

    def __init__(self, text: str, category: str, origin: str = "local") -> None:
        self.category = category
        self.origin = origin
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        lines = text.removeprefix("\ufeff").split("\n")
        fenced = fenced_lines(lines) if "```" in text or "~~~" in text else frozenset[int]()
        starts = [i for i, line in enumerate(lines) if line.startswith("### ") and i not in fenced]
        self._carriage = "\r" if lines[0].endswith("\r") else ""
        self._preamble = lines[: starts[0]] if starts else lines
        self._blocks: list[list[str]] = []
        self.entries: list[Entry] = []
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
            self._blocks.append(lines[start:end])
            self.entries.append(self._parse(len(self.entries), fenced, start))

    @property
    def text(self) -> str:
        return self._mark + "\n".join([line for block in (self._preamble, *self._blocks) for line in block])

    def append(self, lines: Sequence[str]) -> Entry:
        """Add an entry, given as its lines, after a blank line at the end of the file.

        Raises:
            UnsafeEdit: what stands before the end of the file would make the entry part of something else.
        """
        last = self._blocks[-1] if self._blocks else self._preamble
        if last[-1].strip():
            last[-1] += "" if last[-1].endswith("\r") else self._carriage
            last.append("")
        last[-1] += self._carriage
        block = [*(line + self._carriage for line in lines), ""]
        self._blocks.append(block)
        entry = self._parse(len(self.entries), fenced_lines(block), 0)
        self.entries.append(entry)
        again = BankFile(self.text, self.category).entries
        if len(again) != len(self.entries) or again[-1].content_hash != entry.content_hash:
            raise UnsafeEdit(f"{self.category}.md has a code fence that is never closed; close it and try again")
        return entry

    def set_metadata(self, position: int, values: Mapping[str, str]) -> Entry:
        """Change metadata of the entry at `position`, keeping each item's place and style; add what is missing."""
        block = self._blocks[position]
        for label, value in values.items():
            key = _key(label)
            fenced = fenced_lines(block)
            parts = _parts(block, fenced, 0)
            found = next((part for part in parts if part.key == key), None)
            if found:
                end = found.start + 1
                while end < found.end and block[end].strip() and end not in fenced:
                    end += 1
                block[found.start : end] = [_with_value(block[found.start], value)]
                continue
            at = next((part for part in reversed(parts) if part.key), parts[0]).end
            if at == len(block) and position == len(self._blocks) - 1:
                block[-1] += self._carriage
                block.append("")
            if any(part.start == at and part.lines and not part.key for part in parts[1:]):
                block.insert(at, self._carriage)  # or the text below would read as more of the value
            block.insert(at, f"- {label}: {value}{self._carriage}")
        self.entries[position] = self._parse(position, fenced_lines(block), 0)
        return self.entries[position]

    def _parse(self, position: int, fenced: AbstractSet[int], offset: int) -> Entry:
        block = self._blocks[position]
        parts = _parts(block, fenced, offset)
        values: dict[str, str] = {}
        for part in parts:
            values.setdefault(part.key, part.value)
        heading = block[0].rstrip()
        return Entry(
            category=self.category,
            name=_name(heading),
            description=_joined(parts[0].lines),
            heading=heading,
            parts=parts,
            observation_count=_count(values.get("observation count", "")),
            confidence=_confidence(values.get("confidence", "")),
            last_observed=_iso_date(values.get("last observed", "")),
            origin=self.origin,
            position=position,
        )


def read_bank(directory: str, origin: str) -> tuple[list[Entry], list[str]]:
    """All entries of a bank, and a sentence on each file that could not be used. A missing bank is an empty one."""
    entries: list[Entry] = []
    warnings: list[str] = []
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return entries, warnings
    except OSError as error:
        return entries, [f"cannot read {directory}: {error.strerror or error}"]
    for name in names:
        if name.removesuffix(".md") not in KNOWLEDGE or not name.endswith(".md"):
            if _is_stray(name, origin):
                warnings.append(f"{os.path.join(directory, name)} is not a knowledge-bank file; skipped")
            continue
        try:
            entries += read_bank_file(os.path.join(directory, name), origin).entries
        except StorageError as error:
            warnings.append(f"{error}; skipped")
    return entries, warnings


def read_bank_file(path: str, origin: str) -> BankFile:
    """One file of a bank; its category is its name. A file that does not exist is empty.

    Raises:
        StorageError: it is no regular file, too large, or cannot be read.
    """
    category = os.path.basename(path).removesuffix(".md")
    return BankFile(read_text(path), category, origin)


def _is_stray(name: str, origin: str) -> bool:
    """Whether a file in a bank's folder deserves a word. The global folder also holds files of other kinds."""
    if name.startswith(".") or name in _LEFT_OUT:
        return False
    return origin == "local" or name.endswith(".md")


def _parts(block: Sequence[str], fenced: AbstractSet[int], offset: int) -> list[Part]:
    """The lines of a block that belong to its entry, as the description and then metadata items and free text.

    `fenced` counts lines from the start of the file, in which the block starts at `offset`.
    """
    part = Part("", "", [], 1)
    parts = [part]
    in_value = False
    for index, line in enumerate(block):
        first = line[:1]
        if (first == "-" or first == "#") and offset + index not in fenced:  # noqa: PLR1714 (twice as fast)
            if line.startswith("- "):
                part = _item(line, index)
                parts.append(part)
                in_value = True
                continue
            if line.startswith("## ") or line.lower().startswith(_FILE_TITLES):
                break
            if not index or line.rstrip() == "---":
                part, in_value = _free_text(parts, index + 1), False
                continue
        filled = bool(line) and not line.isspace()
        in_value = in_value and filled and offset + index not in fenced
        if in_value:
            part.value = f"{part.value} {line.strip()}" if part.value else line.strip()
        elif filled and part.key and first not in (" ", "\t") and offset + index not in fenced:
            part = _free_text(parts, index)
        part.lines.append(line)
        if filled:
            part.end = index + 1
    return parts


def _free_text(parts: list[Part], start: int) -> Part:
    """The part that free text belongs to: more of the description, or a part of its own after metadata."""
    if parts[-1].key:
        parts.append(Part("", "", [], start))
    return parts[-1]


def _joined(lines: Sequence[str]) -> str:
    return (lines[0] if len(lines) == 1 else "\n".join([line.rstrip() for line in lines])).strip()


def _item(line: str, start: int) -> Part:
    head, colon, value = line.partition(":")
    if not colon or len(head) > 42:
        return Part("-", line[2:].strip(), [line], start)
    known = _KEYS.get(head)
    if known is None:
        known = _KEYS[head] = (_key(head[2:]), head[2:].strip()[:1] in _EMPHASIS)
    key, emphasised = known
    if emphasised:
        value = line[slice(*_value_span(line))]
    return Part(key, value.strip(), [line], start)


def _value_span(line: str) -> tuple[int, int]:
    """Where a metadata line's value stands, outside the emphasis of its key: `**Key:** value`, `**Key: value**`."""
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
    return label.strip("*_` ").lower().replace("-", " ").replace("_", " ")


def _with_value(line: str, value: str) -> str:
    """The metadata line with another value: bullet, emphasis and line ending as they were."""
    start, end = _value_span(line)
    space = "" if line[start - 1] == " " else " "
    return f"{line[:start]}{space}{value}{line[end:]}"


def _name(heading: str) -> str:
    return bare_name(heading[4:])


def bare_name(name: str) -> str:
    """The name without the type that may stand before it."""
    name = name.strip()
    for prefix in _PREFIXES:
        if name.lower().startswith(prefix):
            return name[len(prefix) :].strip()
    return name


def with_count(value: str, count: int) -> str:
    """An observation count's text with another number, and what was written around it."""
    digits = _first_number(value)
    return value.replace(digits, str(count), 1) if digits else str(count)


def _count(value: str) -> int:
    """The first number in the value, within reason; 1 when there is none."""
    if not value:
        return 1
    digits = value if value.isdecimal() and value.isascii() else _first_number(value)
    return int(digits[:9]) if digits else 1


def _first_number(value: str) -> str:
    start = next((i for i, char in enumerate(value) if char in _DIGITS), len(value))
    end = next((i for i in range(start, len(value)) if value[i] not in _DIGITS), len(value))
    return value[start:end]


def _confidence(value: str) -> str:
    """The first word of the value if it is a level, medium otherwise."""
    if not value or value in CONFIDENCE:
        return value or "medium"
    word = value.strip(_EMPHASIS + " ").lower()
    level = next((level for level in CONFIDENCE if word.startswith(level)), "")
    return level if level and not word[len(level) : len(level) + 1].isalpha() else "medium"


def _iso_date(value: str) -> str:
    date = value.strip(_EMPHASIS)[:10]
    if len(date) == 10 and date[4] == "-" == date[7] and (date[:4] + date[5:7] + date[8:]).isdecimal():
        return date
    return ""
