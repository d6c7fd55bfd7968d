# hot
"""Make text safe for a model to read: that of others as quoted data, that of the user as it is within our block."""

from __future__ import annotations

from recollect.domain.categories import CATEGORIES, LABEL
from recollect.domain.text import Table, fenced_lines, is_fence, one_line, visible
from recollect.domain.triage.spoken import START_TITLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Combining marks.
_COMBINING = (
    *((0x300, 0x370), (0x483, 0x48A), (0x591, 0x5BE), (0x610, 0x61B), (0x64B, 0x660), (0x1AB0, 0x1B00)),
    *((0x1DC0, 0x1E00), (0x20D0, 0x2100), (0x3099, 0x309B), (0xFE20, 0xFE30)),
)

# Signs to open a tag and their lookalikes, then the possible continuations of a tag, with or without spaces between.
_OPENING = "<\uff1c\ufe64\u02c2\u1438\u2039\u2329\u276c\u276e\u2770\u27e8\u3008"
_IN_TAG = "/!?|"
_SPOKEN = tuple("system memory user human assistant tool function invoke instruction antml triage transcript".split())
_NAMES = ("/", "\\/", *_SPOKEN)

# Before each line that the user has not vouched for.
QUOTE = "> "

# The name of our tag, signs that may stand before a name that is no tag, and lookalikes of the slash of a closing tag.
_OUR_TAG = "memory-context"
_BEFORE_NAMES = "`'\"(),.;:*_-#=~"
_SLASHES = "/\u2044\u2215\u29f8\u2571\\"
_BEFORE_TAG_NAMES = f" {_IN_TAG}{_SLASHES}"

# The headings of our blocks: those of sections, and the beginnings of those of entries.
PINNED_HEADING = "### Pinned in This Project"
TITLES_HEADING = "### Memories of This Project"
_HEADINGS = (
    *(heading.lstrip("# ").lower() for heading in (START_TITLE, PINNED_HEADING, TITLES_HEADING)),
    *(row.start_heading.lower() for row in CATEGORIES.values() if row.start_heading),
    *(f"{label.lower()}:" for label in (*LABEL.values(), *(name.replace("_", " ") for name in CATEGORIES))),
)
_OUR_LEVEL = 3
_DEEPEST = 6

# Signs that may stand before a heading: spaces of all kinds, quotation and list marks.
_BEFORE_HEADINGS = (
    " \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u205f\u3000>|*+-0123456789.)"
)

# How much of a text is looked at behind the sign of a possible tag.
_LONGEST_BEGINNING = 80


def as_data(text: str) -> str:
    """Return text of others as data: without invisible characters, and without tags.

    The first sign of a possible tag becomes `&lt;`. Other uses of the sign stay, to keep code readable.
    """
    text = visible(text)
    for sign in _OPENING:
        if sign in text:
            first, *rest = text.split(sign)
            text = first + "".join(("&lt;" if _is_tag(sign, part) else sign) + part for part in rest)
    return text


def data_line(text: str) -> str:
    """Return text of others on one line, as data, to stand within a line of ours."""
    return as_data(one_line(text))


def plain_text(text: str) -> str:
    """Return text of others as plain text, where only the tags that a model would obey are escaped."""
    return _without_addresses(visible(text), lambda _: "&lt;")


def plain_json(text: str) -> str:
    """Return JSON text with the tags escaped that a model would obey. Its meaning stays the same."""
    return _without_addresses(text, lambda sign: f"\\u{ord(sign):04x}")


def _without_addresses(text: str, escaped: Callable[[str], str]) -> str:
    """Return text with another sign where one begins a tag that a model would obey."""
    for sign in _OPENING:
        first, *rest = text.split(sign)
        text = first + "".join((escaped(sign) if _addresses_model(part) else sign) + part for part in rest)
    return text


def plain_line(text: str) -> str:
    """Return text of others as plain text on one line."""
    return plain_text(one_line(text))


def quoted(text: str) -> str:
    """Return text that its user has not vouched for, each line quoted: so no line of it begins anything."""
    return "\n".join(QUOTE + line for line in as_data(text).split("\n"))


def as_written(text: str) -> str:
    """Return text that the user has vouched for as it is, within our block.

    No line of it can begin one of our headings or end the block, and no fence stays open.
    """
    lines = [_without_our_tag(line) for line in visible(text).split("\n")]
    code = fenced_lines(lines) if "```" in text or "~~~" in text else frozenset[int]()
    return "\n".join(_kept(line, at in code) for at, line in enumerate(lines))


def written_line(text: str) -> str:
    """Return text that the user has vouched for as it is, on one line, to stand within a line of ours."""
    line = visible(text).replace("\n", " ")
    return data_line(line) if _has_our_tag(line) else line


def _without_our_tag(line: str) -> str:
    return QUOTE + line.replace("<", "&lt;") if _has_our_tag(line) else line


def _kept(line: str, is_code: bool) -> str:
    """Return a line of vouched text, escaped if it would be a part of our block."""
    begun = line.lstrip(_BEFORE_HEADINGS)
    if _is_heading(begun, not is_code, len(begun) == len(line.lstrip())):
        return f"{line[: len(line) - len(begun)]}\\{begun}"
    is_rule = len(line.strip()) > 2 and not line.strip().strip("-=")
    return f"\\{line}" if not is_code and (is_rule or is_fence(line)) else line


def _is_heading(begun: str, is_text: bool, is_bare: bool) -> bool:
    """Return whether a line without the signs before it is a heading of ours; in text, whether it looks like one.

    Without signs before it, a heading above ours looks like one, too.
    """
    plain = begun if begun.isascii() else begun.translate(_PLAIN)
    words = plain.lstrip("#")
    level = len(plain) - len(words)
    if not 0 < level <= _DEEPEST or (level != _OUR_LEVEL and words.strip() and not words[0].isspace()):
        return False
    is_like_ours = level == _OUR_LEVEL or (level < _OUR_LEVEL and is_bare)
    return (is_text and is_like_ours) or words.strip().lower().startswith(_HEADINGS)


def _has_our_tag(line: str) -> bool:
    """Return whether a line may hold a tag of our block: its name after a sign, or letters like it after a slash."""
    plain = (line if line.isascii() else line.translate(_PLAIN)).lower()
    if plain.isascii() and _OUR_TAG not in plain:
        return False
    for at in range(len(plain)):
        if plain[at] in _SLASHES or plain.startswith(_OUR_TAG, at):
            closes = plain[at] in _SLASHES
            name = plain[at + closes : at + _LONGEST_BEGINNING].lstrip()[: len(_OUR_TAG)]
            before = plain[max(0, at - _LONGEST_BEGINNING) : at].rstrip(_SLASHES + " ")
            is_sign = not before[-1].isalnum() and before[-1] not in _BEFORE_NAMES if before else closes
            if is_sign and len(name) == len(_OUR_TAG) and all(map(_is_alike, name, _OUR_TAG)):
                return True
    return False


def _is_alike(char: str, own: str) -> bool:
    """Return whether a character is one of our tag's name, or beyond ASCII, where each letter has lookalikes."""
    return char == own or not char.isascii()


def _plain(point: int) -> int | None:
    """Map a character to its look: full-width ones to ASCII, combining marks to None."""
    if 0xFF01 <= point <= 0xFF5E:
        return point - 0xFEE0
    return None if any(first <= point < end for first, end in _COMBINING) else point


_PLAIN = Table(_plain)


def _looks(following: str) -> str:
    """Return the text after a sign as it looks, as far as that decides."""
    return following if following.lstrip()[:_LONGEST_BEGINNING].isascii() else following.translate(_PLAIN)


def _addresses_model(following: str) -> bool:
    """Return whether a sign begins a tag with a name that models know, or ends one, judged by the text after it."""
    looks = _looks(following)
    return looks[:1] == "|" or looks.lstrip(_BEFORE_TAG_NAMES)[:_LONGEST_BEGINNING].lower().startswith(_SPOKEN)


def _is_tag(sign: str, following: str) -> bool:
    """Return whether a sign begins a tag, judged by the text after it."""
    following = _looks(following)
    next_one = following[:1]
    if next_one in _IN_TAG and next_one:
        return True
    # The lookalikes of "<" are quotation marks in many languages.
    is_letter = next_one.isalpha() if sign == "<" else next_one.isascii() and next_one.isalpha()
    return is_letter or following.lstrip()[:40].lower().startswith(_NAMES)
