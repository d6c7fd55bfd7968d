# hot
"""Find parts of a text marked with `<private>`, in any spelling of the tag."""

from __future__ import annotations

from recollect.domain.secrets.values import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PRIVATE = "a part marked as private"
_OPEN = r"(?:<|\uff1c|&lt;|\\u003c)"
_CLOSE = r"(?:>|\uff1e|&gt;|\\u003e)"
# A tag stops at the first sign able to end it or begin another, to keep the search in linear time.
_TAG = rf"(?i){_OPEN}\s{{0,4}}(\\?/\s{{0,4}})?private\b(?:(?!{_OPEN}|{_CLOSE})[\s\S]){{0,4000}}{_CLOSE}"
_EMPTY = " \t\n.…"


def private_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each private part, up to its closing tag or the end of the text.

    A tag within backticks is only a mention. A part with nothing or only dots in it is an example of the tag's use.
    Both are skipped.
    """
    depth, begin, inner = 0, 0, 0
    for tag in compiled(_TAG).finditer(text):
        if text[max(0, tag.start() - 1) : tag.start()] == "`" == text[tag.end() : tag.end() + 1]:
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
