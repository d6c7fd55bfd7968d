"""Text from outside, made safe to show, to measure and to write."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MOST_KEPT = 5_000


class _Table(dict[int, "str | int | None"]):
    """A table for `translate`; what is not in it is worked out, and kept while there is room."""

    def __init__(self, known: dict[int, str | int | None], work_out: Callable[[int], int | None]) -> None:
        super().__init__(known)
        self._work_out = work_out

    def __missing__(self, point: int) -> int | None:
        found = self._work_out(point)
        if len(self) < _MOST_KEPT:
            self[point] = found
        return found


def _seen(point: int) -> int | None:
    """Return a character, unless it is for private use: then nobody knows what it looks like."""
    return None if 0xE000 <= point < 0xF900 or point >= 0xF0000 else point


def _plain(point: int) -> int | None:
    """Return a character as it reads: wide letters and signs as those of ASCII, and marks above others as nothing."""
    if 0xFF01 <= point <= 0xFF5E:
        return point - 0xFEE0
    return None if any(first <= point < end for first, end in _COMBINING) else point


# Control characters (but tab and newline), zero-width and bidirectional marks, invisible tags and selectors: what a
# reader cannot see must not reach a model. Those that part words, or lines, become a space.
_UNSEEN = _Table(
    dict.fromkeys(
        [
            *range(0x09),
            *range(0x0E, 0x1C),
            *range(0x7F, 0xA0),
            *(0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *range(0xFDD0, 0xFDF0),
            *range(0xFE00, 0xFE10),
            *range(0xFFF0, 0xFFFC),
            *range(0x13430, 0x13440),
            *range(0x1BCA0, 0x1BCA4),
            *(0x1D159, *range(0x1D173, 0x1D17B)),
            *range(0xE0000, 0xE01F0),
            *(plane + last for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)),
        ]
    )
    | dict.fromkeys([0x0B, 0x0C, 0x0D, *range(0x1C, 0x20), 0x85, 0x2028, 0x2029, 0x202F, 0x2800], " "),
    _seen,
)

# Marks that are written over the character before them, and signs that read as a colon.
_COMBINING = (
    *((0x300, 0x370), (0x483, 0x48A), (0x591, 0x5BE), (0x610, 0x61B), (0x64B, 0x660), (0x1AB0, 0x1B00)),
    *((0x1DC0, 0x1E00), (0x20D0, 0x2100), (0x3099, 0x309B), (0xFE20, 0xFE30)),
)
_PLAIN = _Table(dict.fromkeys([0x02D0, 0x0589, 0x05C3, 0x2236, 0xA789, 0xFE13, 0xFE55], ":"), _plain)

# Signs that open a tag, or look as if they did; and how a tag goes on after one, with or without spaces between.
_OPENING = "<\uff1c\ufe64\u02c2\u1438\u2039\u2329\u276c\u276e\u2770\u27e8\u3008"
_IN_TAG = "/!?|"
_NAMES = (
    "/",
    "\\/",
    "system",
    "memory",
    "user",
    "human",
    "assistant",
    "tool",
    "function",
    "antml",
    "triage",
    "transcript",
)

# How lines begin that the client says, and what it says in the middle of one; how lines of other speakers begin, which
# are ordinary in code; and speakers whose name is ordinary unless words follow it.
_CLIENT = (
    *("system reminder", "system-reminder", "request interrupted", "stop hook feedback"),
    *("caveat: the messages below", "this session is being continued", "end of memory"),
)
_HOOK = (" hook additional context", " hook success", " hook error", " hook feedback", " hook blocking error")
_SPEAKERS = (
    *("system:", "human:", "assistant:", "developer:", "system]", "user]", "assistant]", "inst]", "/inst]"),
    *("system prompt", "system message", "system note", "system instruction"),
)
_USERS = ("user:", "tool result:")

# A text without any of these needs no closer look.
_TELLING = (
    *("system", "human", "user", "assistant", "developer", "tool", "inst]"),
    *("request", "hook", "caveat", "session", "memory"),
)

# What may stand before the first word of a line: spaces of all kinds, emphasis, headings, quotation marks, list marks.
_SPACES = " \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u205f\u3000"
_BEFORE = _SPACES + "#[('\"`-+\u2022\u2013\u2014"
_MOST_NUMBERS = 3
_MOST_WORDS = 12
_LONGEST_BEGINNING = 80

# The mark of what comes from a file of the repository.
REPOSITORY = " [repository]"

_STRUCTURE = ("# ", "## ", "### ", "---")
_JSON_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


def visible(text: str) -> str:
    """The text without characters that cannot be seen, and without bytes that were not UTF-8."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_UNSEEN).encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """The text on one line, with single spaces and nothing unseen."""
    return " ".join(visible(text).split())


def unmarked(text: str) -> str:
    """The text with nothing in it that could open or close a tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_data(text: str) -> str:
    """Return a text of others as a model may read it: nothing unseen, no tags, no line that is somebody else's words.

    What could be a tag has its first sign written as `&lt;`; other uses of the sign stay, so that code can be read.
    Lines that begin as the client's, the system's or a speaker's words become quotes.
    """
    text = visible(text)
    for sign in _OPENING:
        if sign in text:
            first, *rest = text.split(sign)
            text = first + "".join(("&lt;" if _is_tag(sign, part) else sign) + part for part in rest)
    return _quoted(text)


def data_line(text: str) -> str:
    """Return a text of others on one line, as a model may read it."""
    return as_data(one_line(text))


def _is_tag(sign: str, following: str) -> bool:
    """Return whether a sign begins a tag, by what follows it."""
    if not following.lstrip()[:_LONGEST_BEGINNING].isascii():
        following = following.translate(_PLAIN)
    next_one = following[:1]
    if next_one in _IN_TAG and next_one:
        return True
    # Other signs than the real one are quotation marks in many languages.
    is_letter = next_one.isalpha() if sign == "<" else next_one.isascii() and next_one.isalpha()
    return is_letter or following.lstrip()[:40].lower().startswith(_NAMES)


def _quoted(text: str) -> str:
    """Return a text in which lines are quotes that begin as the client's or, outside code, a speaker's words do."""
    plain = (text if text.isascii() else text.translate(_PLAIN)).lower().replace("*", "").replace("_", "")
    if not any(word in plain for word in _TELLING):
        return text
    lines = text.split("\n")
    begun = [_beginning(line) for line in plain.split("\n")]
    posing = {at for at, words in enumerate(begun) if _is_client(words)}
    code: set[int] = set()
    if "```" in text or "~~~" in text:
        code = fenced_lines(["" if at in posing else line for at, line in enumerate(lines)])
    posing |= {at for at, words in enumerate(begun) if at not in code and _speaks(words)}
    return "\n".join(_quote(line) if at in posing else line for at, line in enumerate(lines)) if posing else text


def _beginning(line: str) -> str:
    """Return the first words of a line, with single spaces, none of them before a colon, and without marks before."""
    line = line.lstrip(_BEFORE)
    for _ in range(_MOST_NUMBERS):
        rest = line.lstrip("0123456789")
        if rest == line or not rest.startswith((".", ")")):
            break
        line = rest[1:].lstrip(_BEFORE)
    return " ".join(line.split(None, _MOST_WORDS)[:_MOST_WORDS])[:_LONGEST_BEGINNING].replace(" :", ":")


def _is_client(words: str) -> bool:
    """Return whether a line that begins so is the client's; a quote is not."""
    return words.startswith(_CLIENT) or (any(said in words for said in _HOOK) and not words.startswith(">"))


def _speaks(words: str) -> bool:
    """Return whether a line that begins so is somebody else's words."""
    return words.startswith(_SPEAKERS) or (words.startswith(_USERS) and words not in _USERS)


def _quote(line: str) -> str:
    said = line.lstrip()
    return f"{line[: len(line) - len(said)]}> {said}"


def cut(text: str, most: int) -> str:
    """The text, or as much of it as fits with a mark that there was more."""
    return text if len(text) <= most else text[: most - 1] + "…"


def few(sentences: Sequence[str], most: int) -> list[str]:
    """The sentences on one line each, or as many as are worth reading and how many more there are."""
    more = len(sentences) - most
    shown = [one_line(sentence) for sentence in sentences[:most]]
    return [*shown, f"and {more:,} more of the kind"] if more > 0 else shown


def json_string(text: str) -> str:
    """The text as a JSON string, for paths that cannot afford to import json."""
    return '"' + visible(text).translate(_JSON_ESCAPES) + '"'


def json_safe(text: str) -> str:
    """A text of JSON with what cannot be seen in it written as escapes, which mean the same to whoever reads it."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(_escape(char) if _UNSEEN[ord(char)] != ord(char) and char != "\n" else char for char in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def client_length(text: str) -> int:
    """How long the text is to a client that counts UTF-16 units, as JavaScript does."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fenced_lines(lines: Sequence[str]) -> set[int]:
    """Which lines belong to fenced code, the fences included.

    A fence that is never closed is not a fence: taking it for one would swallow every entry after it.
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


def escaped(text: str) -> str:
    """The text with nothing in it that would look like a part of what it is shown in: a heading, or a divider."""
    if "#" not in text and "---" not in text:
        return text
    lines = text.split("\n")
    fenced = fenced_lines(lines)
    return "\n".join(
        f"\\{line}" if index not in fenced and line.lstrip().startswith(_STRUCTURE) else line
        for index, line in enumerate(lines)
    )


def unclosed_fence(lines: Iterable[str]) -> str:
    """The fence that would close the text's open code block, or an empty string."""
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
    """A fence line's character, its length and what follows it; length 0 for any other line."""
    text = line.strip()
    mark = text[:1]
    if mark not in ("`", "~") or not text.startswith(mark * 3):
        return "", 0, ""
    info = text.lstrip(mark)
    return mark, len(text) - len(info), info
