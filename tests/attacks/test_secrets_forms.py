"""Secrets that are written so as to be missed, to be found in part, or to be slow to find.

The secrets are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import pytest
from tests.conftest import cpu_seconds

from recollect.domain.secrets.detect import find_secret, redact


def seconds(text: str) -> float:
    """Return the least time of three in which a text is looked through and redacted."""
    return cpu_seconds(lambda: (find_secret(text), redact(text)))


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        ("<private>", " "),
        ("", "<private "),
        ("", "< private"),
        ("", "&lt;private "),
        ("", "<private>`"),
        ("", "api-key:"),
        ("", "password="),
        ("", "password:\n"),
        ("", "password='"),
        ("", 'password="\\'),
        ("", "| password |\n|---|\n"),
        ("", "://a:b@c"),
        ("", "password "),
        *(("", f"{'Z2hwX2Fi' * count} ") for count in (1, 3, 300)),
        *(("", piece) for piece in ("otp ", "totp seed: ABCD ", "seed phrase: abcd ", "auth: ", '"auth":"Z2hw')),
        *(
            ("", piece)
            for piece in ("otpauth://", "::", "a:1:", "jina_", "st.a1", "1|", "-Signature=", "SECRET_KEY_BASE=")
        ),
        *(("kind: secret ", piece) for piece in ("data:\n ", '"data":{', " \n a: b", "data:\n a: Z2hwX2Fi\n")),
        *(("user,password\n", piece) for piece in ("a,b\n", "a,password\n", "password,")),
        ("mnemonic: ", "abcd "),
        ("", "\uff50assword="),
    ],
)
def test_twice_the_text_takes_about_twice_the_time(begin: str, piece: str) -> None:
    n = 40_000 // len(piece)
    once = seconds(begin + piece * n + "x")
    assert seconds(begin + piece * 2 * n + "x") < 3 * once + 0.01


def test_a_text_that_names_secrets_too_often_is_neither_kept_nor_looked_through() -> None:
    secret = "hunter" + "2x"
    text = "api-key:" * 20_000 + f" password={secret}"
    assert find_secret(text)
    assert redact(text).endswith("[redacted: too much to look through]")
    assert secret not in redact(text)
    assert find_secret(redact(text)) == ""


# What is written, and what is left of it.
PRIVATE = {
    "<private>`door` code 12</private> b": "[private] b",
    "< private>door</private> b": "[private] b",
    f"<private why='{'x' * 300}'>door</private> b": "[private] b",
    "\uff1cprivate\uff1edoor\uff1c/private\uff1e b": "[private] b",
    "&lt;private&gt;door&lt;/private&gt; b": "[private] b",
    "a <private>door<private>b</private>tail</private> b": "a [private] b",
    "a <private>door</private> b <private>c</private> d": "a [private] b [private] d",
    "a <private>door `</private>` tail</private> b": "a [private] b",
}


@pytest.mark.parametrize(("text", "left"), PRIVATE.items())
def test_a_private_part_is_taken_out_however_its_tag_is_written(text: str, left: str) -> None:
    assert find_secret(text) == "a part marked as private"
    assert redact(text) == left


@pytest.mark.parametrize(
    "text", ["Write `<private>` and `</private>` around it.", "<private>...</private>", "a private < b"]
)
def test_a_tag_that_is_only_mentioned_marks_nothing(text: str) -> None:
    assert find_secret(text) == ""


# What comes before a secret, the secret, and what comes after it.
WHOLE = [
    ("DB_PASSWORD=", "G7kd9" + ",Lm2p;x", "\nnext"),
    ("DB_PASSWORD=", "a(b|c{d" + "<e;f,g9", "\nnext"),
    ("export DB_PASSWORD=", "ab" + "(c|9", "\nnext"),
    ("password=", "G7kd9q" + "(Lm2p;x", "\nnext"),
    ("postgres://app:", "Secr3t" + "@99x", "@db/shop"),
    ('password = "', "two words" + " 99!", '"\nnext'),
    ('password = "', 'two\\"' + "words99", '"\nnext'),
    ('password: "', "it's" + "9here", '"\nnext'),
    ("password='", 'a"b' + "9cdefg", "'\nnext"),
    ('{"x": "password = \\"', "sword" + "'f9sh", '\\" and"}'),
    ('API_TOKEN="', "a1B2c3D4e5" * 40, '"\nnext'),
    ("<password>", "Korn77" + "x", "</password>"),
    ("AWS_SECRET_ACCESS_KEY=", "/DKOHQ9sdf/sdfkjhKJH" + "SDF87sdfkjhSDFkjh12+", "\nnext"),
    ("password=", "-Korn77" + "x!", "\nnext"),
    ("password: ", "$Korn77" + "x!", "\nnext"),
    ("password: ", "%Korn77" + "x", "\nnext"),
    ("password: ", "!Korn77" + "x", "\nnext"),
    ("password=", "/Korn77" + "x!", "\nnext"),
]


@pytest.mark.parametrize(("before", "secret", "after"), WHOLE)
def test_a_secret_is_taken_out_from_its_first_character_to_its_last(before: str, secret: str, after: str) -> None:
    kind = find_secret(before + secret + after)
    assert redact(before + secret + after) == f"{before}[redacted: {kind}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        "password = $password",
        "password: $db->password2",
        "PASSWORD=$DB_PASSWORD2",
        "query = password=%s&x=%s",
        "password: %PASS%",
        "password: %(password2)s",
        "password: !Ref Password2",
        "password=/run/secrets/x9",
        "password: /api/v1/x7",
        "DB_PASSWORD=make(x9)",
        "password=b64decode(x9)",
        'password = "Must have 8 characters!"',
        'password = "see #123"',
        "password: --stdin9",
    ],
)
def test_a_reference_or_a_message_is_no_secret(text: str) -> None:
    assert find_secret(text) == ""


# What comes before a secret, the secret, and what comes after it.
ADDED = [
    ("https://", "a1B2c3D4e5F6g7H8i9J0" + "k1L2", "@git.example.com/shop.git"),
    ("Log in with password ", "Korn77" + "blume", " first."),
    ("password ", "hunter" + "2", ""),
    ("Password:\n", "Korn77" + "blume!", "\nnext"),
    ("password: >-\n  ", "Korn77" + "blume!", "\nnext: 1"),
    ("| user | password |\n|---|---|\n| ana | ", "Korn77" + "blume", " |\n"),
    ("private key ", "0x" + "ab12" * 16, ""),
    ("requirepass ", "Korn" + "blume", "\n"),
    ("ldapsearch -x -D cn=ana -w ", "Korn" + "77", " -b dc=shop"),
    ("smbclient //files/shop -U ana%", "Korn" + "77", ""),
    ("lftp -u ana,", "Korn" + "77", " files.example.com"),
    ("gh secret set DEPLOY --body ", "Korn" + "77", ""),
    ("echo '", "Korn " + "77", "' | sudo -S ls"),
    ("", "$2y$10$" + "aB3./" * 10 + "xyz", ""),
    ("root:", "$6$" + "saltsalt$" + "aB3./x" * 14 + "yz", ":19000:"),
    ("Das Passwort lautet ", "Korn77" + "blume", "."),
    ("Das Passwort ist ", "Korn77" + "blume", "."),
    ("mot de passe : ", "Korn" + "77", ""),
    ("La contraseña es ", "Korn77" + "x", "."),
    ("", "sk-proj-" + "a1B2c3D4e5" * 4 + "-" * 12, ""),
]


@pytest.mark.parametrize(("before", "secret", "after"), ADDED)
def test_a_secret_is_seen_in_commands_tables_and_sentences(before: str, secret: str, after: str) -> None:
    kind = find_secret(before + secret + after)
    assert kind
    assert redact(before + secret + after) == f"{before}[redacted: {kind}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        "https://" + "0a1b" * 8 + "@o1.ingest.sentry.io/1",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "Das Passwort ist falsch",
        "mot de passe : oublié",
        "The password sha256 digest, the password PBKDF2-HMAC.",
        "Password:\n  host2: x",
        "if password:\n    foo2()",
        "| password | required |\n|---|---|\n| a12 | yes |",
        "the requirepass option",
        "sk-proj-" + "-" * 30,
        "https://a-rather-long-name-of-a-user@example.com/x",
    ],
)
def test_examples_policies_and_names_are_no_secrets(text: str) -> None:
    assert find_secret(text) == ""
