# hot
"""Patterns of secrets by place: a key block, a URL, a header, a command, a sentence about logging in."""

from __future__ import annotations

KEY = "a private key"
_URL = "a password in a URL"
_PASSWORD = "a password"  # noqa: S105 (a kind)
_CREDENTIAL = "a credential"

IN_URL = "a token in a URL"
LOGIN = "a login"
SEED_PHRASE = "a seed phrase"
_SEED = "a seed of one-time codes"
_HASH = "a password hash"
# Words that no seed phrase has (BIP39), and a sentence of twelve words does.
_IN_SENTENCES = frozenset("and are for from has have its not the was were which with your".split())
_PHRASE_LENGTHS = (12, 15, 18, 21, 24)
_FEWEST_WORDS = 5
# A value on a command line: in quotes up to its closing quote, or bare up to a space.
_GIVEN = r"""(?:"([^"\n]{3,200})"|'([^'\n]{3,200})'|([^\s"'-][^\s"'|]{2,200}))"""

# Like TOKENS, but by place. A group is the secret itself. The beginnings are compared in lower case.
PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        KEY,
        ("private key",),
        r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"[\s\S]*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)",
    ),
    (KEY, ("putty-user-key-file",), r"PuTTY-User-Key-File-\d: [\s\S]*?(?:Private-MAC: \w+|\Z)"),
    (KEY, ("age-secret-key-",), r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}"),
    (KEY, ('"kty"',), r'"(?:d|k)"\s{0,4}:\s{0,4}"([\w-]{20,})"'),
    ("a JSON web token", ("eyj",), r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{8,}){0,2}"),
    (_URL, ("://",), r"://[^\s/:@\"'`<>]{0,100}:([^\s/\"'`<>]{3,500})@"),
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
    (IN_URL, ("://",), r"://([\w.~%+=-]{20,300})@(?![^\s/]{0,100}sentry)[\w-]{1,60}[.:/\w]"),
    (KEY, ("0x",), r"(?i)private[ _-]?key\W{1,8}(?:is\W{1,4}|was\W{1,4})?(0x[0-9a-f]{64})\b"),
    (
        _PASSWORD,
        ("requirepass", "masterauth"),
        rf"(?im)(?:^[ \t]{{0,8}}|config set |--)(?:requirepass|masterauth)[ \t]{{1,4}}{_GIVEN}",
    ),
    (_PASSWORD, (" -w",), rf"\bldap[a-z]{{2,10}}\b[^\n|;]{{0,200}}? -w ?{_GIVEN}"),
    (
        _PASSWORD,
        ("smb", "rpcclient"),
        r"\b(?:smb\w{3,8}|rpcclient)\b[^\n|;]{0,200}? (?:-U|--user)[ =]?['\"]?[^\s%'\"]{1,80}%([^\s'\"]{3,200})",
    ),
    (_PASSWORD, ("lftp",), r"\blftp\b[^\n|;]{0,200}? (?:-u|--user)[ =]?['\"]?[^\s,'\"]{1,80},([^\s'\"]{3,200})"),
    (_CREDENTIAL, ("secret set",), rf"\bgh secret set\b[^\n|;]{{0,200}}? (?:--body|-b)[ =]{_GIVEN}"),
    (
        _PASSWORD,
        ("sudo",),
        rf"\b(?:echo|printf) (?:-\w )?{_GIVEN}\s{{0,4}}\|\s{{0,4}}sudo (?:-\w+ ){{0,4}}(?:-\w*S|--stdin)\b",
    ),
    (
        LOGIN,
        ('"auth', "'auth", "auth:", "auth ="),
        r"(?<![\w-])auth\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?([A-Za-z0-9+/]{8,4000}={0,2})(?![\w+/=])",
    ),
    (_HASH, (":::",), r"(?i)\b[^\s:]{1,100}:\d{1,10}:([0-9a-f]{32}:[0-9a-f]{32}):::"),
    (
        _HASH,
        ("::",),
        r"(?i)::[\w.-]{0,64}:([0-9a-f]{16}:[0-9a-f]{32}:[0-9a-f]{16,}|[0-9a-f]{48}:[0-9a-f]{48}:[0-9a-f]{16})",
    ),
    (_SEED, ("otpauth://",), r"(?i)otpauth://[^\s\"'<>]{0,300}?[?&;]secret=([A-Z2-7]{16,200})"),
    (
        _SEED,
        ("otp", "2fa", "mfa", "authenticator"),
        r"(?i:otp|2fa|mfa|authenticator)"
        r"(?:[\w -]{0,20}(?i:seed|secret|key)\w{0,10}|[\w -]{0,20}(?=\W{1,8}[A-Z ]{0,60}[2-7]))"
        r"[\"'`*\]]{0,3}\s{0,4}(?::?=>?|:|is\b|\s)[*]{0,2}\s{0,4}[\"'`]?"
        r"((?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}|(?=[a-z ]{0,80}[2-7])(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}"
        r"|[A-Z2-7]{16,128})(?![\w-])",
    ),
    (
        SEED_PHRASE,
        ("mnemonic", "phrase", "seed words", "seed_words", "recovery words"),
        r"(?i:mnemonic|(?:seed|recovery|backup|secret|wallet)[ _-]?(?:recovery[ _-]?)?(?:phrase|words))"
        r"[\"'`*]{0,3}\s{0,4}(?:[:=]|is|was)[*]{0,2}\s{0,4}[\"'`]?"
        r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![ ,]{0,2}[a-z])",
    ),
    (
        "a signature of a URL",
        ("-signature=",),
        r"X-(?:Goog|Amz|Oss|Cos|Ms)-Signature=([A-Za-z0-9%+/=]{40,2000})",
    ),
    (
        _CREDENTIAL,
        ("contribsys__com",),
        r"(?i)CONTRIBSYS__COM[\"']?\s{0,4}[:=]\s{0,4}[\"']?([0-9a-f]{8}:[0-9a-f]{8})\b",
    ),
)


def is_seed_phrase(value: str) -> bool:
    """Return whether words are a seed phrase: as many as one has, and no sentence."""
    words = value.replace(",", " ").split()
    return len(words) in _PHRASE_LENGTHS and len(set(words)) >= _FEWEST_WORDS and _IN_SENTENCES.isdisjoint(words)
