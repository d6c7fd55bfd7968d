# hot
"""Make text from outside safe to show, to measure and to write."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

_MOST_KEPT = 5_000
_LONGEST_NAMED = 200


class Table(dict[int, "int | None"]):
    """A table for `str.translate`. Missing characters are computed on first use, and up to 5,000 are cached."""

    def __init__(self, work_out: Callable[[int], int | None]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, point: int) -> int | None:
        found = self._work_out(point)
        if len(self) < _MOST_KEPT:
            self[point] = found
        return found


# Control characters (but tab and newline), zero-width and bidirectional marks, invisible tags and selectors, characters
# for private use: invisible to a reader, so they must not reach a model. Word and line separators become a space.
_HIDDEN = (
    *((0x00, 0x09), (0x0E, 0x1C), (0x7F, 0xA0), (0xAD, 0xAE), (0x34F, 0x350), (0x61C, 0x61D), (0x115F, 0x1161)),
    *((0x17B4, 0x17B6), (0x180B, 0x1810), (0x200B, 0x2010), (0x202A, 0x202F), (0x2060, 0x2070), (0x3164, 0x3165)),
    *((0xE000, 0xF900), (0xFDD0, 0xFDF0), (0xFE00, 0xFE10), (0xFEFF, 0xFF00), (0xFFA0, 0xFFA1), (0xFFF0, 0xFFFC)),
    *((0x13430, 0x13440), (0x1BCA0, 0x1BCA4), (0x1D159, 0x1D15A), (0x1D173, 0x1D17B), (0xE0000, 0xE01F0)),
    (0xF0000, 0x110000),
)
_PARTING = (0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x1F, 0x85, 0x2028, 0x2029, 0x202F, 0x2800)


def _seen(point: int) -> int | None:
    """Return a visible character as it is, a space for a separator, and None for any other."""
    if 0x20 <= point < 0x7F:
        return point
    if point in _PARTING:
        return 0x20
    is_none = point & 0xFFFE == 0xFFFE  # the last two of each plane
    return None if is_none or any(first <= point < end for first, end in _HIDDEN) else point


_UNSEEN = Table(_seen)

# The mark of entries from a file of the repository.
REPOSITORY = " [repository]"

_DEEPEST_FENCE = 3  # spaces before it
_STRUCTURE = ("# ", "## ", "### ", "---")
_JSON_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


def memories_and_titles(texts: int, titles: int) -> str:
    """Tell how much was given: texts of memories, and titles of others. Lines and pages say it in the same words."""
    told = [counted(texts, "memory", "memories")] if texts or not titles else []
    return " and ".join([*told, *([counted(titles, "title", "titles")] if titles else [])])


def counted(count: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many}"


def visible(text: str) -> str:
    """Return the text without invisible characters and without bytes of invalid UTF-8."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_UNSEEN).encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """Return the text on one line, with single spaces and without invisible characters."""
    return " ".join(visible(text).split())


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply a function to each text in a JSON value, the names of fields included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [change_texts(item, change) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {change(str(key)): change_texts(item, change) for key, item in value.items()}  # pyright: ignore
    return value


def named_text(name: object, text: str) -> str:
    """Return the beginning of a text beside the name of its field: a password is recognised by its name."""
    return f'"{name}": "{text[:_LONGEST_NAMED]}"'


def unmarked(text: str) -> str:
    """Return the text with `&`, `<` and `>` escaped, so it cannot open or close a tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, most: int) -> str:
    """Cut the text to at most `most` characters, with an ellipsis if it was longer."""
    return text if len(text) <= most else text[: most - 1] + "…"


def few(sentences: Sequence[str], most: int) -> list[str]:
    """Return the first `most` sentences, on one line each, and the number of the rest."""
    more = len(sentences) - most
    shown = [one_line(sentence) for sentence in sentences[:most]]
    return [*shown, f"and {more:,} more of the kind"] if more > 0 else shown


def left_out(*parts: tuple[int, int, str]) -> str:
    """Return the sentence about what is not read of a repository: of each kind the number read, that of all, a noun."""
    told = " and ".join(f"{read:,} of {total:,} {noun}" for read, total, noun in parts if read < total)
    return f"{told} of this repository are read; `recollect trust` reads all" if told else ""


def utc_text(moment: Sequence[int]) -> str:
    """Format a time of `time.gmtime` for files. Hooks use it, because datetime, as in domain/clock, is costly."""
    return "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*moment[:6])


def json_string(text: str) -> str:
    """Return the text as a JSON string, for code too hot to import json."""
    return '"' + visible(text).translate(_JSON_ESCAPES) + '"'


def json_safe(text: str) -> str:
    """Return JSON text with invisible characters written as escapes. Its meaning stays the same."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(_escape(char) if _UNSEEN[ord(char)] != ord(char) and char != "\n" else char for char in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def client_length(text: str) -> int:
    """Return the length of the text in UTF-16 units, as a JavaScript client counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fenced_lines(lines: Sequence[str]) -> set[int]:
    """Return the indexes of lines in fenced code, the fences included.

    An unclosed fence does not count: otherwise it would swallow every entry after it.
    """
    fenced: set[int] = set()
    unclosed = {"`": 1 << 30, "~": 1 << 30}
    end = len(lines)
    start = 0
    while start < end:
        mark, length, info = _fence(lines[start])
        if length and length < unclosed[mark] and not (mark == "`" and "`" in info):
            close = _closing(lines, start + 1, mark, length)
            if close is None:
                unclosed[mark] = length
            else:
                fenced.update(range(start, close + 1))
                start = close
        start += 1
    return fenced


def is_fence(line: str) -> bool:
    """Return True if a line could open or close fenced code."""
    return _fence(line)[1] > 0


def escaped(text: str) -> str:
    """Escape headings and dividers outside fenced code, so they do not look like parts of the surrounding text."""
    if "#" not in text and "---" not in text:
        return text
    lines = text.split("\n")
    fenced = fenced_lines(lines)
    return "\n".join(
        f"\\{line}" if index not in fenced and line.lstrip().startswith(_STRUCTURE) else line
        for index, line in enumerate(lines)
    )


def unclosed_fence(lines: Iterable[str]) -> str:
    """Return the fence needed to close the text's open code block, or an empty string."""
    opened = ""
    for line in lines:
        mark, length, info = _fence(line)
        if not length:
            continue
        if not opened:
            opened = "" if mark == "`" and "`" in info else mark * length
        elif mark == opened[0] and length >= len(opened) and not info:
            opened = ""
    return opened


def _closing(lines: Sequence[str], start: int, mark: str, length: int) -> int | None:
    for index in range(start, len(lines)):
        found, size, info = _fence(lines[index])
        if found == mark and size >= length and not info:
            return index
    return None


def _fence(line: str) -> tuple[str, int, str]:
    """Return a fence line's character, its length and its info string. The length is 0 for any other line.

    A line that is indented by four or more is no fence in Markdown: who took it for one would hide headings below it.
    """
    text = line.lstrip(" ")
    if len(line) - len(text) > _DEEPEST_FENCE:
        return "", 0, ""
    text = text.rstrip()
    mark = text[:1]
    if mark not in ("`", "~") or not text.startswith(mark * 3):
        return "", 0, ""
    info = text.lstrip(mark)
    return mark, len(text) - len(info), info
