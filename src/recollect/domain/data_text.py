# hot
"""Make untrusted text safe for a model to read: as data, never as the words of a speaker."""

from __future__ import annotations

from recollect.domain.text import Table, fenced_lines, one_line, visible

# Combining marks, and signs readable as a colon.
_COMBINING = (
    *((0x300, 0x370), (0x483, 0x48A), (0x591, 0x5BE), (0x610, 0x61B), (0x64B, 0x660), (0x1AB0, 0x1B00)),
    *((0x1DC0, 0x1E00), (0x20D0, 0x2100), (0x3099, 0x309B), (0xFE20, 0xFE30)),
)
_COLONS = (0x02D0, 0x0589, 0x05C3, 0x2236, 0xA789, 0xFE13, 0xFE55)

# Signs to open a tag and their lookalikes, then the possible continuations of a tag, with or without spaces between.
_OPENING = "<\uff1c\ufe64\u02c2\u1438\u2039\u2329\u276c\u276e\u2770\u27e8\u3008"
_IN_TAG = "/!?|"
_NAMES = tuple("/ \\/ system memory user human assistant tool function antml triage transcript".split())

# Beginnings of the client's lines, and its phrases in the middle of a line. Beginnings of other speakers' lines; these
# are ordinary in code. Speakers whose name is ordinary unless words follow it.
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

# Characters allowed before the first word of a line: spaces of all kinds, headings, quotation marks, list marks.
_SPACES = " \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u205f\u3000"
_BEFORE = _SPACES + "#[('\"`-+\u2022\u2013\u2014"
_MOST_NUMBERS = 3
_MOST_WORDS = 12
_LONGEST_BEGINNING = 80


def as_data(text: str) -> str:
    """Return untrusted text as data: without invisible characters or tags, and with impersonating lines quoted.

    The first sign of a possible tag becomes `&lt;`. Other uses of the sign stay, to keep code readable.
    Lines become quotes if they begin like words of the client, the system or a speaker.
    """
    text = visible(text)
    for sign in _OPENING:
        if sign in text:
            first, *rest = text.split(sign)
            text = first + "".join(("&lt;" if _is_tag(sign, part) else sign) + part for part in rest)
    return _quoted(text)


def data_line(text: str) -> str:
    """Return untrusted text on one line, as data."""
    return as_data(one_line(text))


def _plain(point: int) -> int | None:
    """Map a character to its look: full-width ones to ASCII, colon lookalikes to a colon, combining marks to None."""
    if 0xFF01 <= point <= 0xFF5E:
        return point - 0xFEE0
    if point in _COLONS:
        return 0x3A
    return None if any(first <= point < end for first, end in _COMBINING) else point


_PLAIN = Table(_plain)


def _is_tag(sign: str, following: str) -> bool:
    """Return whether a sign begins a tag, judged by the text after it."""
    if not following.lstrip()[:_LONGEST_BEGINNING].isascii():
        following = following.translate(_PLAIN)
    next_one = following[:1]
    if next_one in _IN_TAG and next_one:
        return True
    # The lookalikes of "<" are quotation marks in many languages.
    is_letter = next_one.isalpha() if sign == "<" else next_one.isascii() and next_one.isalpha()
    return is_letter or following.lstrip()[:40].lower().startswith(_NAMES)


def _quoted(text: str) -> str:
    """Quote the lines beginning like the client's words and, outside code, like a speaker's."""
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
    """Return the first words of a line, with single spaces, without leading marks and without spaces before a colon."""
    line = line.lstrip(_BEFORE)
    for _ in range(_MOST_NUMBERS):
        rest = line.lstrip("0123456789")
        if rest == line or not rest.startswith((".", ")")):
            break
        line = rest[1:].lstrip(_BEFORE)
    return " ".join(line.split(None, _MOST_WORDS)[:_MOST_WORDS])[:_LONGEST_BEGINNING].replace(" :", ":")


def _is_client(words: str) -> bool:
    """Return whether a line with this beginning is the client's. A quote is not."""
    return words.startswith(_CLIENT) or (any(said in words for said in _HOOK) and not words.startswith(">"))


def _speaks(words: str) -> bool:
    """Return whether a line with this beginning poses as a speaker's words."""
    return words.startswith(_SPEAKERS) or (words.startswith(_USERS) and words not in _USERS)


def _quote(line: str) -> str:
    said = line.lstrip()
    return f"{line[: len(line) - len(said)]}> {said}"
