# hot
"""Tell possible secrets from placeholders, names of code, paths and ordinary words."""

from __future__ import annotations

from recollect.domain.secrets.words import ENDINGS, ENDINGS_OF_COMPOUNDS, ORDINARY, PLACEHOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# Beginnings of references to a value, in shells, templates, YAML, markup and secret stores.
_REFERENCES = tuple(
    "< { [ ( * & ... … @/ op:// arn: ref+ vault: file: env: env. secrets. process.env os.environ self. this. ./ ../ ~/ "
    "\\ = ` http:// https://".split()
)
# Signs beginning a reference only with certain text after them: `${X}`, `$X`, `%X%`, `%(x)s`, `!vault`, `--x`, `//`.
_SIGNED = (
    r"\$(?:[{(]|[A-Z_][A-Z0-9_]*(?![\w!@#%^&*?~+])|env:|$)|%(?:\w+%|[({\[<]|[-.\d]{0,4}[sdrif](?!\w)|$)"
    r"|!{1,2}(?:[A-Za-z.:/]+(?: |$)|$)|-(?:[- ]|$)|/(?:\W|$)"
)
_ROOTS = tuple(f"/{name}/" for name in "bin dev etc home mnt opt path proc root run srv tmp usr var Users".split())
_SEPARATORS = dict.fromkeys(map(ord, "_-./:+, @&="), " ")
_SIGNS = frozenset("$%!-/")
_LONGEST_NAME = 100
_SHORTEST_BODY, _SHORTEST_EXAMPLE, _SHORTEST_DRAWN = 12, 16, 20
_compiled: dict[str, re.Pattern[str]] = {}
_STRONG = frozenset("!@#$%^&*?~+")
# Words with a digit or a sign in texts about passwords: algorithms, encodings, versions, addresses, options.
_NAMES_WITH_DIGITS = (
    r"(?i)(?:sha|pbkdf|argon|base|utf|md[45]|aes|[bsy]?crypt|oauth|rfc|win|x509|1pass|rs\d|hs\d|v?\d+[.+-]|iso|ntlm|hash"
    r"|pass|arg|param|field|user|test|str|py|-|\d+\w?$)|.*(?:@.+\.|[=:/.]|\*\*|&&|\$$)"
)
_SIGNS_OF_PHRASES = frozenset("!@#$^&*?~")
_TEMPLATES = frozenset("{}<>()%\\")
_DIGITS = frozenset("0123456789")


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern on first use and cache it. Many texts need none, and importing `re` slows a hook."""
    found = _compiled.get(pattern)
    if found is None:
        import re

        found = _compiled[pattern] = re.compile(pattern)
    return found


def is_masked(token: str) -> bool:
    """Return whether a token is masked: it is short, or ends in one repeated letter or in EXAMPLE."""
    body = token.rstrip("-_")
    return len(body) < _SHORTEST_BODY or len(set(body[-12:])) == 1 or is_example(body)


def is_example(value: str) -> bool:
    """Return whether a value is an example from the AWS documentation."""
    return len(value) >= _SHORTEST_EXAMPLE and value.endswith(("EXAMPLE", "EXAMPLEKEY"))


def is_secret_word(value: str) -> bool:
    """Return whether a value may be a secret: neither a reference nor a placeholder."""
    return not _is_reference(value) and not is_placeholder(value)


def _is_reference(value: str) -> bool:
    """Return whether a value refers to another one: a variable, a template, a path, an address."""
    if value.startswith(_REFERENCES) or (value[:1] in _SIGNS and compiled(_SIGNED).match(value)):
        return True
    if value[:1] == "/":
        return value.startswith(_ROOTS) or all(map(_is_wordy, value.translate(_SEPARATORS).split()))
    name = value[1:].replace("->", "_").replace(":", "_").replace(".", "_")
    return value[:1] == "$" and name.isidentifier() and all(map(_is_wordy, name.split("_")))


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder: repeated letters, or words such as "your-token-here"."""
    if len(set(value)) <= 2 or "[redacted" in value or "${" in value or "{{" in value or is_example(value):
        return True
    words = words_of(value)
    return len(value) <= _LONGEST_NAME and all(
        word in PLACEHOLDERS or (word.isdigit() and len(word) <= 3) for word in words
    )


def words_of(name: str) -> list[str]:
    """Split a name into lower-case words at separators, capitals and digits: "dbPass2" has three."""
    return [
        word.lower() for word in compiled(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+").findall(name[:_LONGEST_NAME])
    ]


def is_random(value: str) -> bool:
    """Return whether a value looks random: not made of words, short numbers and separators."""
    if len(value) < 10 or value.isdigit() or not value.isascii() or _is_date(value):
        return False
    return any(not _is_wordy(part) for part in value.translate(_SEPARATORS).split())


def is_password(value: str, *, bare: bool) -> bool:
    """Return whether a value in place of a password may be one. A `bare` one may be code, so it must look strong."""
    if " " in value or len(value) < 4 or not is_secret_word(value):
        return False
    strong = has_digit(value) or not _STRONG.isdisjoint(value)
    if bare:
        return (strong and len(value) >= 6 and not is_code(value)) or (value.count("-") >= 2 and len(value) >= 12)
    return strong or (len(value) >= 6 and not value.istitle() and not is_ordinary(value))


def has_digit(value: str) -> bool:
    return not _DIGITS.isdisjoint(value)


def is_ordinary(word: str, *, told: bool = False) -> bool:
    """Return whether a word is ordinary language about a password, and not the password.

    In a sentence (`told`), most adjectives and participles are recognised by their endings.
    """
    if not word[1:].islower() and word[1:].replace("-", "").isalpha():
        return word.isupper()
    *others, last = word.lower().split("-")
    if told and last.endswith(ENDINGS_OF_COMPOUNDS if others else ENDINGS):
        return True
    return not others and (last in ORDINARY or last in PLACEHOLDERS)


def is_code(value: str) -> bool:
    """Return whether a bare value reads as code: a name of plain words joined by dots or underscores."""
    if value.replace("_", "a").replace(".", "a").isidentifier() and ("." in value or "_" in value):
        return all(map(_is_wordy, value.translate(_SEPARATORS).split()))
    return False


def is_call(bare: str, value: str) -> bool:
    """Return whether a bare value is a call, an index or a block. `value` is its part before any bracket."""
    if bare != value and bare[len(value)] not in "([{":
        return False
    is_closed = compiled(r"[A-Za-z_][\w.]*[(\[{](?:.*[)\]}].*|.*[(\[{,])?$").match(bare)
    return bool(is_closed) or (bare != value and all(map(_is_wordy, value.translate(_SEPARATORS).split())))


def is_strong_phrase(value: str) -> bool:
    """Return whether a quoted value of up to six words is a password: one has a digit and a sign."""
    words = value.split(" ")
    return len(words) <= 6 and any(
        has_digit(word) and not _SIGNS_OF_PHRASES.isdisjoint(word[1:]) and _TEMPLATES.isdisjoint(word) for word in words
    )


def is_drawn(value: str) -> bool:
    """Return whether a value is long and looks drawn by chance: with most of its characters outside words."""
    parts = value.translate(_SEPARATORS).split() if has_digit(value) and len(set(value)) >= 8 else ()
    return sum([len(part) for part in parts if not _is_wordy(part)]) >= _SHORTEST_DRAWN and is_random(value)


def _is_date(value: str) -> bool:
    return value[:4].isdigit() and value[5:7].isdigit() and value[4] == value[7] == "-"


def is_told_beside(value: str) -> bool:
    """Return whether a bare word right after "password" is one: it has letters, and a digit or a sign inside."""
    inner = value.strip("!?*_")
    if len(inner) < 6 or not is_secret_word(value) or is_code(inner) or compiled(_NAMES_WITH_DIGITS).match(inner):
        return False
    has_letter = any(map(str.isalpha, inner))
    return has_letter and (has_digit(inner) or not _SIGNS_OF_PHRASES.isdisjoint(inner))


def is_passphrase(value: str) -> bool:
    """Return whether a value of 3 to 12 words is a passphrase, without words about passphrases."""
    words = value.split(" ")
    return 3 <= len(words) <= 12 and all(word.isalnum() and not is_ordinary(word, told=True) for word in words)


def _is_wordy(part: str) -> bool:
    """Return whether a part consists of words and at most one short number at the end."""
    letters = part.rstrip("0123456789")
    digits = len(part) - len(letters)
    if digits > 4 and letters:
        return False
    if not letters.isalpha():
        return not letters
    if letters.islower() or letters.isupper():
        return len(letters) <= 20
    words = [word for word in words_of(letters) if word]
    return all(len(word) >= 2 for word in words[:-1]) and len(words) * 4 <= len(letters)
