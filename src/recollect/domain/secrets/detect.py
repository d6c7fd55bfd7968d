# hot
"""Find secrets in text, to refuse or redact them before anything is stored.

A secret has one of three signs: the shape of a known token (`rules`), its place (a URL, a header, a command, a key
block, `<private>`), or the name beside it. A pattern is compiled only when a text contains its beginning. So most texts
need none, and hooks without a find do not load `re`.
"""

from __future__ import annotations

from recollect.domain.secrets.names import columns, named_values
from recollect.domain.secrets.places import IN_URL, KEY, PLACES
from recollect.domain.secrets.private import PRIVATE, private_parts
from recollect.domain.secrets.rules import TOKENS
from recollect.domain.secrets.values import compiled, is_masked, is_random, is_secret_word
from recollect.domain.text import named_text, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Kinds with an unmistakable shape: their value needs no further check.
_SHAPED = frozenset({KEY, "a JSON web token"})
_SHORTEST_TOKEN = 15
_PLACE_BEGINNINGS = tuple((begin, (kind, pattern)) for kind, begins, pattern in PLACES for begin in begins)
_TOKEN_BEGINNINGS = tuple((begin, (kind, pattern)) for kind, begins, pattern in TOKENS for begin in begins)


def find_secret(text: str) -> str:
    """Return the kind of the first secret found in the text ("a GitHub token"), or an empty string.

    Invisible characters cannot hide one: they are removed first, as in all stored text.
    """
    return next((kind for _, _, kind in _found(visible(text))), "")


def redact(text: str) -> str:
    """Replace each secret in the text by its kind: "[redacted: a GitHub token]".

    Parts marked as private become "[private]". A text without secrets is returned as it is.
    """
    seen = visible(text)
    parts: list[str] = []
    end = 0
    for start, stop, kind in sorted(_found(seen)):
        if start >= end:
            parts += [seen[end:start], "[private]" if kind == PRIVATE else f"[redacted: {kind}]"]
        end = max(end, stop)
    return "".join([*parts, seen[end:]]) if parts else text


def redacted(value: Any) -> Any:
    """Apply `redact` to each text in a JSON value, names included. A text is also judged by the name of its field."""
    if isinstance(value, list):
        return [redacted(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {redact(str(name)): _redacted_field(name, item) for name, item in value.items()}  # pyright: ignore
    return redact(value) if isinstance(value, str) else value


def _redacted_field(name: object, value: Any) -> Any:
    shown = redacted(value)
    kind = find_secret(named_text(name, value)) if isinstance(value, str) and shown == value else ""
    return f"[redacted: {kind}]" if kind else shown


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each secret. Some of them overlap."""
    lowered = _lowered(text)
    for start, stop in private_parts(text) if "private" in lowered else ():
        yield start, stop, PRIVATE
    for kind, pattern in _that_may_match(_PLACE_BEGINNINGS, lowered):
        yield from _placed(text, kind, pattern)
    long = " ".join([word for word in text.split() if len(word) >= _SHORTEST_TOKEN])
    for kind, pattern in _that_may_match(_TOKEN_BEGINNINGS, long) if long else ():
        yield from _tokens(text, kind, pattern)
    yield from named_values(text, lowered)
    yield from columns(text, lowered) if "|" in text else ()


def _that_may_match(beginnings: tuple[tuple[str, tuple[str, str]], ...], text: str) -> dict[tuple[str, str], None]:
    """Return the kinds and patterns whose beginning is in the text, in their order."""
    return {rule: None for begin, rule in beginnings if begin in text}


def _tokens(text: str, kind: str, pattern: str) -> Iterator[tuple[int, int, str]]:
    for found in compiled(pattern).finditer(text):
        before = text[max(0, found.start() - 1) : found.start()]
        inside = found[0][0].isalnum() and before.isalnum() and before.isascii()
        if not inside and not is_masked(found[0]):
            yield (*found.span(found.lastindex or 0), kind)


def _placed(text: str, kind: str, pattern: str) -> Iterator[tuple[int, int, str]]:
    for found in compiled(pattern).finditer(text):
        group = found.lastindex or 0
        if kind in _SHAPED or (is_random(found[group]) if kind == IN_URL else is_secret_word(found[group])):
            yield (*found.span(group), kind)


def _lowered(text: str) -> str:
    """Return the text in lower case, with the positions of all characters unchanged."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if char.isascii() else char for char in text)
