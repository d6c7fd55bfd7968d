# hot
"""Parts of a text that somebody marked with `<private>`, in any of the ways in which the tag may be written."""

from __future__ import annotations

from recollect.domain.secrets.values import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

PRIVATE = "a part marked as private"
_OPEN = r"(?:<|\uff1c|&lt;|\\u003c)"
_CLOSE = r"(?:>|\uff1e|&gt;|\\u003e)"
# A tag ends at the first sign that could end it or begin another, so that no text takes more than linear time.
_TAG = rf"(?i){_OPEN}\s{{0,4}}(\\?/\s{{0,4}})?private\b(?:(?!{_OPEN}|{_CLOSE})[\s\S]){{0,4000}}{_CLOSE}"
_EMPTY = " \t\n.…"


def private_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each private part begins and ends: with the tag that closes it, or with the text.

    A tag within backticks is only mentioned, and a part that holds nothing, or three dots, shows how a tag is used.
    """
    depth, begin, inner = 0, 0, 0
    for tag in compiled(_TAG).finditer(text):
        if _is_mentioned(text, tag):
            continue
        if not tag[1]:
            if not depth:
                begin, inner = tag.span()
            depth += 1
        elif depth:
            depth -= 1
            if not depth and text[inner : tag.start()].strip(_EMPTY):
                yield begin, tag.end()
    if depth:
        yield begin, len(text)


def _is_mentioned(text: str, tag: re.Match[str]) -> bool:
    return text[max(0, tag.start() - 1) : tag.start()] == "`" == text[tag.end() : tag.end() + 1]
