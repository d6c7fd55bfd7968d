"""Secrets in text: found, so that they are refused, or taken out, before anything is kept.

Three things tell one: the shape of a known token (secret_rules), its place (a URL, a header, a command, a key block,
`<private>`), or the name that it stands beside. A pattern is compiled when a text holds what it begins with, so that
most texts need none, and hooks that find nothing do not load `re`.
"""

from __future__ import annotations

from recollect.domain.secret_names import named_values
from recollect.domain.secret_rules import TOKENS
from recollect.domain.secret_values import compiled, is_masked, is_secret_word
from recollect.domain.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PRIVATE = "a part marked as private"
_KEY = "a private key"
_URL = "a password in a URL"
_PASSWORD = "a password"  # noqa: S105 (a kind)
_CREDENTIAL = "a credential"

# As TOKENS, by place; a group is the secret itself. Here the texts are looked for in lower case.
_PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        PRIVATE,
        ("<private",),
        r"(?i)<private\b[^<>]{0,80}>(?!`)(?!\s*(?:\.{3}|…)?\s*</private)[\s\S]*?(?:</private\s*>|\Z)",
    ),
    (
        _KEY,
        ("private key",),
        r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"[\s\S]*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)",
    ),
    (_KEY, ("putty-user-key-file",), r"PuTTY-User-Key-File-\d: [\s\S]*?(?:Private-MAC: \w+|\Z)"),
    (_KEY, ("age-secret-key-",), r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}"),
    (_KEY, ('"kty"',), r'"(?:d|k)"\s{0,4}:\s{0,4}"([\w-]{20,})"'),
    ("a JSON web token", ("eyj",), r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{8,}){0,2}"),
    (_URL, ("://",), r"://[^\s/:@\"'`<>]{0,100}:([^\s/@\"'`<>]{3,200})@"),
    ("an Okta token", ("ssws",), r"SSWS\s{1,4}(00[\w-]{30,50})"),
    (
        "a bearer token",
        ("bearer ",),
        r"(?i)(?<!\w)bearer\s{1,4}(?=[^\s'\"]{0,100}[0-9])([A-Za-z0-9._~+/=-]{16,})",
    ),
    (
        _CREDENTIAL,
        ("authorization",),
        r"(?i)authorization['\"]?\s{0,4}[:=,]\s{0,4}[bfru]?['\"]?(?:basic|bearer|token|apikey|api-key|key|digest|negotiate|aws)"
        r"\s{1,4}([A-Za-z0-9._~+/=-]{6,})",
    ),
    (
        _CREDENTIAL,
        ("authorization",),
        r"(?i)authorization['\"]?\s{0,4}:\s{0,4}['\"]?((?=[^\s'\"]{0,100}\d)[\w.~+/=-]{16,})",
    ),
    (_CREDENTIAL, ("basic ",), r"(?i)['\"]basic\s([A-Za-z0-9+/]{10,}={0,2})['\"]"),
    (
        _CREDENTIAL,
        ("cookie",),
        r"(?i)cookie['\"]?:\s{0,4}[^\n=]{0,40}(?:sess|sid|auth|token)[\w.-]{0,40}=([^\s;'\"]{12,})",
    ),
    (
        _PASSWORD,
        (" -u", " --user", " -p"),
        r"(?i)\bcurl\b[^\n|;]{0,300}? (?:-u|--user|--proxy-user)[ =]?['\"]?[^\s:'\"$<{]{1,80}:([^\s'\"]{3,200})",
    ),
    (_PASSWORD, (" -p",), r"\b(?:mysql\w{0,6}|mariadb)\b[^\n|;]{0,200}? -p['\"]?([^\s'\"=-][^\s'\"]{2,200})"),
    (
        _PASSWORD,
        (" -p ", " -p'", ' -p"'),
        r"\b(?:sshpass|docker login|mongo\w{0,8})\b[^\n|;]{0,200}? -p ?['\"]?([^\s'\"=-][^\s'\"]{2,200})",
    ),
    (_PASSWORD, (" -a ",), r"redis-cli\b[^\n|;]{0,200}? -a[ =]?['\"]?([^\s'\"-][^\s'\"]{2,200})"),
    (
        _PASSWORD,
        ("login",),
        r"(?i)(?:machine\s{1,8}\S{1,200}|default)\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,200})",
    ),
    (_PASSWORD, (":5432:", ":*:"), r"(?m)^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:(\S{3,200})$"),
    (_PASSWORD, ("identified", "password '"), r"(?i)(?:identified (?:with \w{1,40} )?by|password) '([^'\s]{3,200})'"),
    (
        _PASSWORD,
        ("value=",),
        r"(?i)(?:key|name)=[\"'][\w:.-]{0,60}(?:password|secret|token|apikey)[\"']\s{1,8}value=[\"']([^\"']{4,200})[\"']",
    ),
    (
        _PASSWORD,
        ("credentials", "log in", "login", "logged in", "sign in"),
        r"(?i)(?:credentials (?:are|is|of)|(?:log|logged|logs|sign) ?in (?:with|as)|login:?)[ :]{1,3}"
        r"['\"`]?[\w.@-]{2,60}['\"`]?\s?[:/]\s?['\"`]?"
        r"((?=[^\s'\"`]{0,60}(?:\d|[!@#$%^&*]))[^\s'\"`/,;)]{5,100})",
    ),
)
# Beside these, chance is not needed, but nobody's words are no secret either.
_SHAPED = frozenset({PRIVATE, _KEY, "a JSON web token"})
_SHORTEST_TOKEN = 15
_PLACE_BEGINNINGS = tuple((begin, (kind, pattern)) for kind, begins, pattern in _PLACES for begin in begins)
_TOKEN_BEGINNINGS = tuple((begin, (kind, pattern)) for kind, begins, pattern in TOKENS for begin in begins)


def find_secret(text: str) -> str:
    """Name the kind of secret that the text seems to hold ("a GitHub token"), or return an empty string.

    Characters that cannot be seen do not hide one: whatever is kept is kept without them.
    """
    return next((kind for _, _, kind in _found(visible(text))), "")


def redact(text: str) -> str:
    """Return the text with the kind of each secret in its place: "[redacted: a GitHub token]".

    What is marked as private becomes "[private]". A text without secrets is returned as it is.
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
    """Return a value of JSON with `redact` done to each text in it, the names of fields included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redacted(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {redact(str(key)): redacted(item) for key, item in value.items()}  # pyright: ignore
    return value


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each secret begins and ends, and its kind; some of them overlap."""
    lowered = _lowered(text)
    for kind, pattern in _that_may_match(_PLACE_BEGINNINGS, lowered):
        yield from _placed(text, kind, pattern)
    long = " ".join([word for word in text.split() if len(word) >= _SHORTEST_TOKEN])
    for kind, pattern in _that_may_match(_TOKEN_BEGINNINGS, long) if long else ():
        yield from _tokens(text, kind, pattern)
    yield from named_values(text, lowered)


def _that_may_match(beginnings: tuple[tuple[str, tuple[str, str]], ...], text: str) -> dict[tuple[str, str], None]:
    """Return the kinds and patterns of which a text holds a beginning, in their order."""
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
        if kind in _SHAPED or is_secret_word(found[group]):
            yield (*found.span(group), kind)


def _lowered(text: str) -> str:
    """Return the text in lower case, with each character in its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if char.isascii() else char for char in text)
