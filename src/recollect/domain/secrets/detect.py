# hot
"""Find secrets in text, to refuse or redact them before anything is stored.

A secret has one of three signs: the shape of a known token (`rules`), its place (a URL, a header, a command, a key
block, `<private>`), or the name beside it. A pattern is compiled only when a text contains its beginning. So most texts
need none, and hooks without a find do not load `re`.
"""

from __future__ import annotations

from recollect.domain.secrets.encoded import encoded_texts, is_login
from recollect.domain.secrets.look_alikes import folded
from recollect.domain.secrets.names import named_values
from recollect.domain.secrets.places import IN_URL, KEY, LOGIN, PLACES, SEED_PHRASE, is_seed_phrase
from recollect.domain.secrets.private import PRIVATE, private_parts
from recollect.domain.secrets.rules import TOKENS
from recollect.domain.secrets.tables import columns, secret_data, separated_values
from recollect.domain.secrets.values import compiled, has_digit, is_masked, is_random, is_secret_word
from recollect.domain.text import named_text, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import Any

# Kinds with an unmistakable shape: their value needs no further check.
_SHAPED = frozenset({KEY, "a JSON web token"})
_SHORTEST_TOKEN = 15
_MOST_LAYERS = 2  # of Base64 in Base64
# What the value of a kind must be; that of any other kind, no reference and no placeholder.
_CHECKS: dict[str, Callable[[str], bool]] = {IN_URL: is_random, LOGIN: is_login, SEED_PHRASE: is_seed_phrase}
_IN_CLUSTER = r"kind\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?secret\b"
# Terminal codes: with a text (OSC and others), with parameters (CSI), of a character set; and colours that lost their
# escape character, or have it in letters, as in JSON. `x[5m]` is no colour.
_LONGEST_COLOUR = 21
_ESCAPE = r"(?:\x1b|\\(?:u001[bB]|x1[bB]|0?33|e))?"
_CODE = (
    r"(?:\x1b[]PX^_]|\x9d)(?P<carried>[^\n\x07\x1b\x9b-\x9d]*)(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]+[0-~]|\x1b[78=>]"
    rf"|{_ESCAPE}\[[0-9;]{{0,20}}m(?!\])(?:{_ESCAPE}\[K)?"
)
_PLACE_BEGINNINGS = tuple((begin, (kind, pattern)) for kind, begins, pattern in PLACES for begin in begins)
_TOKEN_BEGINNINGS = tuple((begin, (kind, pattern)) for kind, begins, pattern in TOKENS for begin in begins)


def find_secret(text: str) -> str:
    """Return the kind of the first secret found in the text ("a GitHub token"), or an empty string.

    Invisible characters and terminal codes cannot hide one: they are removed first. Letters that look like ASCII ones
    count as these, and Base64 is read.
    """
    return next((kind for seen in _readings(text) for _, _, kind in _found(seen)), "")


def redact(text: str) -> str:
    """Replace each secret in the text by its kind: "[redacted: a GitHub token]".

    Parts marked as private become "[private]". A text without secrets is returned as it is.
    """
    for seen in _readings(text):
        parts: list[str] = []
        end = 0
        for start, stop, kind in sorted(_found(seen)):
            if start >= end:
                parts += [seen[end:start], "[private]" if kind == PRIVATE else f"[redacted: {kind}]"]
            end = max(end, stop)
        if parts:
            return "".join([*parts, seen[end:]])
    return text


def redacted(value: Any) -> Any:
    """Apply `redact` to each text in a JSON value, names included. A text is also judged by the name of its field."""
    if isinstance(value, list):
        return [redacted(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {redact(str(name)): _redacted_field(name, item) for name, item in value.items()}  # pyright: ignore
    return redact(value) if isinstance(value, str) else value


def _readings(text: str) -> Iterator[str]:
    """Yield the visible text without terminal codes, then with what is visible of them: a code may be none."""
    plain = compiled(_CODE).sub(_carried, text) if _may_have_codes(text) else text
    if plain != text:
        yield visible(plain)
    yield visible(text)


def _may_have_codes(text: str) -> bool:
    if "\x1b" in text or "\x9b" in text or "\x9d" in text:
        return True
    if "[" not in text:
        return False
    return "m" in [part[:_LONGEST_COLOUR].lstrip("0123456789;")[:1] for part in text.split("[")[1:]]


def _carried(code: re.Match[str]) -> str:
    """Return what replaces a terminal code: nothing, or the text it carries (a title, a link) if a secret is in it."""
    carried = code["carried"]
    return f" {carried} " if carried and find_secret(carried) else ""


def _redacted_field(name: object, value: Any) -> Any:
    shown = redacted(value)
    kind = find_secret(named_text(name, value)) if isinstance(value, str) and shown == value else ""
    return f"[redacted: {kind}]" if kind else shown


def _found(seen: str, layers: int = _MOST_LAYERS) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each secret. Some of them overlap."""
    text = folded(seen)
    lowered = _lowered(text)
    for start, stop in private_parts(text) if "private" in lowered else ():
        yield start, stop, PRIVATE
    for kind, pattern in _that_may_match(_PLACE_BEGINNINGS, lowered):
        yield from _placed(text, kind, pattern)
    # Nothing drawn by chance has small letters alone.
    long = " ".join(
        [word for word in text.split() if len(word) >= _SHORTEST_TOKEN and not (word.islower() and not has_digit(word))]
    )
    for kind, pattern in _that_may_match(_TOKEN_BEGINNINGS, long) if long else ():
        yield from _tokens(text, kind, pattern)
    yield from named_values(text, lowered)
    yield from columns(text, lowered) if "|" in text else ()
    yield from separated_values(text, lowered) if "\n" in text else ()
    if "kind" in lowered and "secret" in lowered and compiled(_IN_CLUSTER).search(lowered):
        yield from secret_data(text)
    for start, stop, inner in encoded_texts(text) if long and layers else ():
        for _, _, kind in _found(visible(inner), layers - 1):
            yield start, stop, kind
            break


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
        if kind in _SHAPED or _CHECKS.get(kind, is_secret_word)(found[group]):
            yield (*found.span(group), kind)


def _lowered(text: str) -> str:
    """Return the text in lower case, with the positions of all characters unchanged."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if char.isascii() else char for char in text)
