# hot
"""Find secrets by the name beside them: in an assignment, a header, an option, a tag or a sentence.

A telling word is a word such as "password" or "token" in the name of a value.
"""

from __future__ import annotations

from recollect.domain.secrets.tables import COLUMN_NAMES, PASSWORD
from recollect.domain.secrets.values import (
    compiled,
    has_digit,
    is_call,
    is_code,
    is_drawn,
    is_ordinary,
    is_passphrase,
    is_password,
    is_placeholder,
    is_random,
    is_secret_word,
    is_strong_phrase,
    is_told_beside,
    words_of,
)
from recollect.domain.secrets.words import (
    FOREIGN,
    METHODS,
    NEUTRAL_AFTER,
    NEUTRAL_BEFORE,
    NEUTRAL_BEFORE_PASSWORD,
    PUBLIC,
    TELLING,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_CREDENTIAL = "a credential"
TOO_MUCH = "too much to look through"
_MOST_LOOKED_AT = 5_000  # values beside one word
_LONGEST_NAME = 60
_SHORTEST_BESIDE_METHOD = 32
_LONGEST_LINE = 200
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")

# Short words: they count only as whole words, not inside another word.
_SHORT = frozenset({"pass", "pw", "pwd", "key"})

_BEFORE_OPTION = frozenset(("", *" \n`\"'"))
_BEFORE_VARIABLE = frozenset(("", "export", "set", "ENV", "ARG", "env"))
_SYMBOLS = frozenset("!@#$%^&*_+")
_BRACKETS = frozenset("()[]{}")
# After "to" there is a password if somebody sets it to that, and not if it serves to something.
_CHANGES = (" set ", " sets ", " setting ", " reset", " chang", " updat", " rotat", " default", " switch")
_LONGEST_CLAUSE = 60
_PLURALS = frozenset(f"s{char}" for char in ("", *" :=\"'`*_\t\n"))

# The text after a telling word: the rest of the name, a connection to the value, and the value, bare or in quotes.
_AFTER = r"""(?x)
(?P<rest>[\w-]{0,40})
(?:
    (?P<below>[\\'"`*_]{0,5}[ \t]{0,4}:[*_]{0,3}[ \t]{0,4}(?:[>|][+-]?[ \t]{0,4})?\n[ \t]{0,12})
  | (?P<assigned>
        [\\'"`*_\])]{0,5}[ \t]{0,8}
        (?::[ ]?[A-Za-z_][\w.\[\]|]{0,40}[ ]?=|:=|=>|={1,2}|->|:)
        [*_]{0,3}[ \t]{0,8}
    )
  | (?P<prose>
        (?:[ ](?:for|of|to|on|in|at|there)\b[ \w@.'/-]{0,40}?)?
        [ ](?:is|was|are|will[ ]be|to|ist|lautet|est|es)[ ](?:now[ ]|set[ ]to[ ]|still[ ]|just[ ])?:?[ ]?
      | [ ]for[ ][\w ./-]{1,30}:[ ]
    )
  | (?P<option>[ ]{1,4})
  | (?P<tag>>[ ]{0,4})
)
(?:(?P<quote>\\?["'`])(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n\\])){3,200})|(?P<bare>[^\s"'`]{3,200}))
"""


def named_values(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each secret beside a telling word.

    If one word has too many values in a text, the search for it stops and the rest counts as one secret.
    """
    for word, is_a_password in TELLING:
        left = _MOST_LOOKED_AT
        at = lowered.find(word)
        while at >= 0:
            end = at + len(word)
            found = _followed(text, end)
            left -= bool(found)
            if left < 0:
                yield at, len(text), TOO_MUCH
                break
            span = found and _value(text, at, word, is_a_password, found)
            if span:
                yield (*span, PASSWORD if is_a_password else _CREDENTIAL)
                end = span[1]
            at = lowered.find(word, end)


def _followed(text: str, end: int) -> re.Match[str] | None:
    """Match the text after a telling word, if it may hold a value."""
    if text[end : end + 1].islower() and text[end : end + 2] not in _PLURALS:
        return None  # another word: "tokenizer", "passing"
    return compiled(_AFTER).match(text, end)


def _value(text: str, at: int, word: str, is_a_password: bool, found: re.Match[str]) -> tuple[int, int] | None:
    start = at
    while start and at - start < _LONGEST_NAME and text[start - 1] in _NAME:
        start -= 1
    before, rest = text[start:at], found["rest"]
    if not _is_telling(before, text[at : found.start()], rest, word):
        return None
    neutral = _neutral_words(before, rest, word, is_a_password)
    if not PUBLIC.isdisjoint(neutral):
        return None
    group = "quoted" if found["quoted"] else "bare"
    style = _style(text, start, found)
    value = found[group] if group == "quoted" or style == "shell" else _before_code(found["bare"])
    if len(value) < 3 or (group == "bare" and is_call(found["bare"], value)):
        return None
    if neutral and not _overrules(value, style, is_a_password):
        return None
    accepted = (
        _holds_password(value, style, word, group) if is_a_password else _holds_credential(value, style, word, found)
    )
    name = text[start : found.end("rest")]
    is_code_there = _repeats(name, value) or (style in ("line", "code") and group == "bare" and _ends_in(name, value))
    return _whole(text, found, style) if accepted and not is_code_there else None


def _before_code(bare: str) -> str:
    """Cut a bare value at the first bracket or separator of code, and strip the punctuation of a sentence."""
    return compiled(r"[^<>(){}\[\],;|\\]*").match(bare)[0].rstrip(".,:")  # type: ignore[index]


def _is_telling(before: str, word: str, rest: str, telling: str) -> bool:
    """Return whether the telling word is a word of a name, not a part of another word."""
    if rest and not _begins_word(word, rest) and rest.lower() != "s":
        return False
    if telling in _SHORT and before and before[-1].isalnum() and not _begins_word(before, word):
        return before.lower() in ("pg", "my", "db", "user", "root")
    return telling != "key" or bool([name for name in words_of(before) if len(name) > 1])


def _neutral_words(before: str, rest: str, telling: str, is_a_password: bool) -> set[str]:
    """Return all words around the telling one if one of them is neutral: it says that a value is no secret."""
    neutral = NEUTRAL_BEFORE_PASSWORD if is_a_password or telling == "secret" else NEUTRAL_BEFORE
    names, after = set(words_of(before)[-2:]) if before else set[str](), set(words_of(rest)) if rest else set[str]()
    return set() if names.isdisjoint(neutral) and after.isdisjoint(NEUTRAL_AFTER) else names | after


def _overrules(value: str, style: str, is_a_password: bool) -> bool:
    """Return whether a value is a secret in spite of a neutral word: it looks drawn by chance, or like a password."""
    is_plain = value.islower() and _SYMBOLS.isdisjoint(value.replace("_", ""))
    if is_a_password and style == "shell" and not is_plain and has_digit(value) and is_told_beside(value):
        return True
    return style in ("shell", "line", "code", "option") and is_drawn(value)


def _repeats(name: str, value: str) -> bool:
    """Return whether a value is its own name, and so is code: `pass_fds=pass_fds`, `private_key = keys.PrivateKey`."""
    words = words_of(name)
    own = words_of(value)[-len(words) :] if "." in value else words_of(value)
    return value[-1:].isalpha() and own == words


def _ends_in(name: str, value: str) -> bool:
    """Return whether a value is a name that ends in the one beside it, and so is code: `password: readPassword`."""
    words = words_of(name)
    return value.isidentifier() and value[-1:].isalpha() and words_of(value)[-len(words) :] == words


def _begins_word(before: str, after: str) -> bool:
    """Return whether a word begins between two texts: at a separator, a digit, or a capital after a small letter."""
    return not after[0].isalpha() or not before[-1].isalpha() or (after[0].isupper() and before[-1].islower())


def _style(text: str, start: int, found: re.Match[str]) -> str:
    """Return the style of the connection between a name and its value; an empty string if there is none."""
    name = text[start : found.end("rest")]
    if found["option"] and found["quoted"]:
        return "beside"
    if found["below"]:
        return "below" if _stands_alone(text, found) else ""
    if found["option"] or (found["assigned"] and name.startswith("--")):
        is_first = text[max(0, start - 1) : start] in _BEFORE_OPTION
        spoken = "" if has_digit(name) else "told"
        return spoken if not name.startswith("-") else "option" if is_first else ""
    if found["prose"]:
        return _spoken_style(text, start, name, found["prose"])
    if found["tag"]:  # a password in a URL may be a placeholder: `://<user>:<password>@host`
        return "" if text[max(0, start - 2) : start] == ":<" else "tag"
    return _assigned_style(text, start, name, found)


def _spoken_style(text: str, start: int, name: str, connection: str) -> str:
    """Return the style of a sentence. After "a password to" comes what it is for, unless somebody changes it so."""
    if not connection.endswith("to "):
        return "prose"
    if name.lower() == "pass" and connection.startswith(" to "):  # "to pass to" is no password
        return ""
    before = " " + text[max(0, start - _LONGEST_CLAUSE) : start].rpartition("\n")[2].lower()
    return "prose" if any(verb in before for verb in _CHANGES) else "told"


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Return whether a value is alone on its line, and not the name of another value."""
    after = text[found.end() : found.end() + _LONGEST_LINE].partition("\n")[0].strip()
    return after == found["quote"] if found["quoted"] else not after and found["bare"][-1] not in ":=,({["


def _assigned_style(text: str, start: int, name: str, found: re.Match[str]) -> str:
    """Return the context of an assignment: "shell" for an environment, "line" for its own line, "code" otherwise.

    A part of a connection string, ended by a semicolon, counts as "line".
    """
    before = text[max(0, start - _LONGEST_LINE) : start].rpartition("\n")[2].strip(" \t-*#>`'\"{_")
    if found["assigned"] == "=" and name == name.upper() and before in _BEFORE_VARIABLE:
        return "shell"
    stop = found.end("quoted") + len(found["quote"]) if found["quoted"] else found.start("bare")
    if found["bare"]:
        stop += len(_before_code(found["bare"]))
        if found["assigned"] == "=" and text[stop : stop + 1] == ";":
            return "line"
    after = text[stop : stop + _LONGEST_LINE].partition("\n")[0].strip(" \t`'\"*_,;.}")
    return "code" if before or after else "line"


def _holds_password(value: str, style: str, word: str, group: str) -> bool:
    if not style or not is_secret_word(value) or (word in FOREIGN and not _has_sign(value)):
        return False
    if style in ("told", "prose"):
        is_told = word in COLUMN_NAMES and is_told_beside(value)
        return is_told if style == "told" else _is_told(value, quoted=group == "quoted")
    if group == "quoted":
        return _is_quoted_password(value, style, word)
    if style == "shell":
        return len(value) >= 4
    if style == "option":
        return len(value) >= 4 and not is_ordinary(value, told=value.islower()) and not is_code(value)
    return is_password(value, bare=style in ("code", "below"))


def _has_sign(value: str) -> bool:
    return has_digit(value) or not _SYMBOLS.isdisjoint(value.strip("!?*_"))


def _is_quoted_password(value: str, style: str, word: str) -> bool:
    if word == "passphrase" and is_passphrase(value):
        return True
    if " " in value:
        return style in ("shell", "line", "code") and is_strong_phrase(value)
    return is_password(value, bare=style == "beside")


def _is_told(value: str, *, quoted: bool) -> bool:
    """Return whether a word given in a sentence is a password, and not an adjective."""
    if " " in value or len(value) < 4:
        return False
    if quoted:
        return is_password(value, bare=False)
    inner = value.strip("!?")
    if _has_sign(inner):
        return not is_code(inner) and not ("-" in inner and is_ordinary(inner, told=True))
    return inner.replace("-", "").isalpha() and len(inner) >= 6 and not is_ordinary(inner, told=True)


def _holds_credential(value: str, style: str, word: str, found: re.Match[str]) -> bool:
    is_call_told = style in ("prose", "beside") and found["quoted"] and not _BRACKETS.isdisjoint(value)
    if style in ("", "told") or is_call_told or " " in value or "\\" in value or not is_secret_word(value):
        return False
    if word == "key" and (len(value) < 16 or not has_digit(value)):
        return False
    if word in METHODS:
        return style in ("shell", "line", "code") and len(value) >= _SHORTEST_BESIDE_METHOD and is_drawn(value)
    if style == "shell" and word != "key":
        return len(value) >= (8 if word == "secret" else 12) and not is_placeholder(value) and not is_code(value)
    if style in ("code", "below") and found["bare"] and not has_digit(value):
        return False
    return is_random(value)


def _whole(text: str, found: re.Match[str], style: str) -> tuple[int, int]:
    """Return the start and end of a whole value.

    A quoted one ends at its closing quote, a bare one at a space or any quote.
    """
    if found["quoted"]:
        start, stop = found.span("quoted")
        end = compiled(rf"(?:(?!{found['quote'].replace(chr(92), chr(92) * 2)})(?:\\.|[^\n\\]))*").match(text, stop)
        return start, end.end() if end else stop
    start = found.start("bare")
    end = compiled(r"[^\s\"'`<]*" if style == "tag" else r"[^\s\"'`]*").match(text, start)
    stop = end.end() if end else found.end("bare")
    return start, stop if style == "shell" else start + len(text[start:stop].rstrip(".,:;)}]"))
