"""Secrets that version 0.6.0 missed: other spellings, other encodings, other documents, names that were cancelled.

The secrets are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import importlib.util
import random
import string
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from recollect.domain.secrets.detect import find_secret, redact, redacted

BENCH = Path(__file__).parents[2] / "bench" / "secrets"
SEEDS = (1, 2, 3)
HEX = "0123456789abcdef"
LETTERS = string.ascii_letters + string.digits


def loaded(name: str) -> ModuleType:
    """A module of the measurement, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as they import each other
    spec.loader.exec_module(module)
    return module


formats = loaded("formats")
gitleaks = loaded("gitleaks")


def drawn(alphabet: str, length: int, seed: int = 7) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def every_line() -> list[tuple[str, str]]:
    """A secret of each format and of each rule of gitleaks, with its name and its seed."""
    lines = [(f"{name}, seed {seed}", line) for seed in SEEDS for name, line in formats.lines(seed).items()]
    rules = [(f"{name}, seed {seed}", *row) for seed in SEEDS for name, row in gitleaks.rules(seed).items()]
    return [*lines, *((name, line) for name, how, line in rules if how != gitleaks.NOT)]


# Every format, and every spelling of it


def test_credentials_of_gitleaks_rules_are_found_by_their_shape_or_their_name(tried: Callable[[int], None]) -> None:
    rows = [(f"{name}, seed {seed}", *row) for seed in SEEDS for name, row in gitleaks.rules(seed).items()]
    assert [name for name, how, line in rows if how != gitleaks.NOT and not find_secret(line)] == []
    assert len(gitleaks.rules()) == 222
    tried(len(rows))


def test_rules_of_gitleaks_without_a_secret_say_why() -> None:
    ways = [(name, how, said) for name, (how, said) in gitleaks.rules().items()]
    assert {how for _, how, _ in ways} == {gitleaks.SHAPE, gitleaks.NAME, gitleaks.NOT}
    reasons = {said for _, how, said in ways if how == gitleaks.NOT}
    assert reasons == {"an identifier, no secret", "public by design", "the name of a file, and no text"}


def test_no_credential_is_found_again_once_it_is_redacted() -> None:
    assert [name for name, line in every_line() if find_secret(redact(line))] == []


def test_every_secret_is_found_in_base64(tried: Callable[[int], None]) -> None:
    lines = every_line()
    assert [name for name, line in lines if not find_secret(f"it is {in_base64(line)} there")] == []
    tried(len(lines))


def test_every_secret_is_found_in_base64_of_addresses_and_without_padding(tried: Callable[[int], None]) -> None:
    lines = every_line()
    coded = [(name, base64.urlsafe_b64encode(line.encode()).decode().rstrip("=")) for name, line in lines]
    assert [name for name, line in coded if not find_secret(f'"{line}"')] == []
    tried(len(lines))


def test_every_secret_is_found_in_full_width_letters(tried: Callable[[int], None]) -> None:
    wide = {point: point + 0xFEE0 for point in range(0x21, 0x7F)}
    lines = every_line()
    assert [name for name, line in lines if not find_secret(line.translate(wide))] == []
    tried(len(lines))


def mathematical(word: str) -> str:
    return "".join(chr(0x1D41A + ord(letter) - ord("a")) for letter in word)


@pytest.mark.parametrize(
    "name",
    [
        *("p\u0430ssword", "\u0440\u0430ssword", "\u24df\u24d0\u24e2\u24e2word", "pa\u200bssword"),
        mathematical("password"),
    ],
)
def test_name_in_letters_that_look_alike_tells_a_password(name: str) -> None:
    assert find_secret(f"{name} = {'Korn77'}blume") == "a password"


def test_what_is_left_of_a_text_keeps_its_own_letters() -> None:
    secret = "Korn77" + "blume"
    assert redact(f"Пароль: р\u0430ssword={secret}, конец") == "Пароль: р\u0430ssword=[redacted: a password], конец"


def test_both_forms_of_a_k3s_token_are_found() -> None:
    certificate = drawn(HEX, 64)
    for login in (f"server:{drawn(HEX, 32)}", f"{drawn(HEX, 6)}.{drawn(HEX, 16)}"):
        assert find_secret(f"it joins with K10{certificate}::{login} there") == "a token of k3s"


# Names

DRAWN = {"hex": drawn(HEX, 64), "letters": drawn(LETTERS, 40), "Base64": drawn(LETTERS + "+/", 43) + "="}


@pytest.mark.parametrize("value", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize(
    "name",
    [
        *("SECRET_KEY_BASE", "secret_key_base", "API_TOKEN_STRING", "STRIPE_SECRET_KEY_TEST", "API_KEY_HEADER"),
        *("client-key-data", "MASTER_KEY_BYTES", "signing_key_data", "CONFIG_SECRET", "API_KEY_SETTING"),
        *("OLD_API_SECRET", "apiKeyString", "ACCESS_TOKEN_RESPONSE", "GITHUB_TOKEN_USER"),
    ],
)
def test_neutral_word_does_not_cancel_a_telling_name_beside_a_value_drawn_by_chance(name: str, value: str) -> None:
    assert find_secret(f"{name}={value}")
    assert find_secret(f"{name}: {value}\n")
    assert find_secret(f'"{name}": "{value}",')


@pytest.mark.parametrize("before", ["OLD", "REGISTRY", "CONFIG", "HOST", "CACHE", "SSH", "GROUP", "S3"])
def test_password_of_something_with_a_neutral_name_is_a_password(before: str) -> None:
    assert find_secret(f"{before}_PASSWORD={'Korn77'}blume") == "a password"


@pytest.mark.parametrize(
    "line",
    [
        *(f"{name}={DRAWN['hex']}" for name in ("AWS_ACCESS_KEY_ID", "token_hash", "key_id", "public_key")),
        *(f"{name}={DRAWN['letters']}" for name in ("next_token", "page_token", "sync_token", "secret_name")),
        f"token_checksum: {DRAWN['hex']}",
        f"cache_key = '{DRAWN['hex']}'",
        f"token_chars = '{LETTERS}'",
        "PASSWORD_MIN_LENGTH=12",
        "PASSWORD_RESET_TIMEOUT=259200",
        "token_length = 40",
        "secret_key_base = load_secret_key_base()",
        "hmac = 'sha256'",
        "signing: ed25519",
        "hmac = hmac.new(key, message, sha256)",
    ],
)
def test_name_of_something_public_is_no_secret(line: str) -> None:
    assert find_secret(line) == ""


@pytest.mark.parametrize(
    "line",
    [
        "pass_fds=pass_fds,",
        "MLKEM768X25519PrivateKey = module.hpke.MLKEM768X25519PrivateKey",
        'CHALLENGE_PASSWORD: "challengePassword",',
        ":param flags: flags to pass to upstream",
        "keyword arguments to pass to `subprocess.run`, such as a user",
    ],
)
def test_value_that_repeats_its_name_and_the_verb_pass_are_no_secrets(line: str) -> None:
    assert find_secret(line) == ""


# Documents

SECRET = "Korn77" + "blume"
KEY = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{drawn(LETTERS, 64)}\n{drawn(LETTERS, 64, 8)}\n"
# What comes before a secret, the secret, and what comes after it.
DOCUMENTS = {
    "docker": ('{"auths":{"ghcr.io":{"auth":"', in_base64(f"deploy:{SECRET}"), '"}}}'),
    "docker, indented": ('  "auth": "', in_base64("deploy:sunflowers"), '"\n'),
    "docker, in JSON": (r'{"config": "{\"auths\":{\"x\":{\"auth\":\"', in_base64(f"a:{SECRET}"), r'\"}}}"}'),
    "kubeconfig": ("users:\n- user:\n    client-key-data: ", in_base64(KEY), "\n"),
    "Secret": ("kind: Secret\nmetadata:\n  name: x\ndata:\n  api: ", in_base64(SECRET), "\n"),
    "Secret, plain": ("kind: Secret\nstringData:\n  api: ", SECRET, "\n"),
    "Secret, JSON": ('{"kind":"Secret","data":{"api":"', in_base64(SECRET), '"}}'),
    "Secret, data first": ("data:\n  api: ", in_base64(SECRET), "\nkind: Secret\n"),
    "CSV": ("user,password\nbob,", SECRET, "\n"),
    "CSV, words": ("user,password,note\nbob,", "sunflowers", ",x\n"),
    "CSV, semicolons": ("id;user;db_password\n1;bob;", SECRET, "\n"),
    "CSV, tabs": ("user\tpwd\nbob\t", SECRET, "\n"),
    "CSV, quotes": ('"user","Password"\n"bob","', SECRET, '"\n'),
    "CSV, second row": ("user,password\nann,x\nbob,", SECRET, "\n"),
    "CSV, separators in quotes": ('"note","user","password"\n"a, b, ""c""","bob","', SECRET, '"\n'),
    "Secret, a slash first": ("kind: Secret\ndata:\n  api: ", f"/+{drawn(LETTERS, 41)}=", "\n"),
    "NTLM": ("Administrator:500:", f"{drawn(HEX, 32)}:{drawn(HEX, 32, 8)}", ":::"),
    "NetNTLMv2": ("ana::CORP:", f"{drawn(HEX, 16)}:{drawn(HEX, 32)}:{drawn(HEX, 90)}", "\n"),
    "NetNTLMv1": ("ana::CORP:", f"{drawn(HEX, 48)}:{drawn(HEX, 48, 8)}:{drawn(HEX, 16)}", "\n"),
    "htpasswd": ("bob:", f"$apr1${drawn(LETTERS, 8)}${drawn(LETTERS, 22)}", "\n"),
    "TOTP": ("TOTP_SEED=", "JBSWYEDPEHPK" + "XPXP", "\n"),
    "TOTP, address": ("otpauth://totp/x:ana?secret=", "JBSWYEDPEHPK" + "XPXP", "&issuer=x"),
    "TOTP, in groups": ("The 2FA secret: ", "JBSW YEDP EHPK " + "XPXP", "\n"),
    "TOTP, small": ("authenticator key: ", "jbsw y3dp ehpk " + "3pxp", "\n"),
    "TOTP, JSON": ('"mfa_seed": "', "JBSWY3DPEHPK" + "3PXP", '"'),
    "seed phrase": ("Seed phrase: ", "copper lantern harbour velvet thunder orchid " * 2, ""),
    "Google": ("https://x.example.com/o?X-Goog-Signature=", drawn(HEX, 512), "&x=1"),
    "hmac": ('hmac = "', drawn(LETTERS + "-_", 43), '"\n'),
    "signing": ("JWT_SIGNING=", drawn(LETTERS, 43), "\n"),
}


@pytest.mark.parametrize("what", DOCUMENTS)
def test_secret_is_taken_out_of_a_document(what: str) -> None:
    before, secret, after = DOCUMENTS[what]
    found = redact(before + secret + after)
    assert "[redacted: " in found
    assert secret.strip() not in found
    assert found.startswith(before)
    assert found.endswith(after)


def test_field_with_an_encoded_secret_is_redacted() -> None:
    token = "ghp_" + drawn(LETTERS, 36)
    assert redacted({"note": in_base64(f"GITHUB_TOKEN={token}")}) == {"note": "[redacted: a GitHub token]"}


def test_secret_is_found_two_layers_deep_and_after_an_escaped_line_break() -> None:
    login = in_base64(json_login())
    assert find_secret(f"kind: Secret\ndata:\n  .dockerconfigjson: {in_base64(json_login())}\n")
    assert find_secret(in_base64(f"text\n{login}\n"))
    assert find_secret(f'{{"text": "first\\n{login}"}}')


def json_login() -> str:
    return f'{{"auths":{{"ghcr.io":{{"auth":"{in_base64(f"deploy:{SECRET}")}"}}}}}}'


@pytest.mark.parametrize(
    "text",
    [
        "kind: ConfigMap\ndata:\n  api: " + in_base64("a plain sentence about it") + "\n",
        "kind: Secret\ndata:\n  ca.crt: " + in_base64(f"-----BEGIN CERTIFICATE-----\n{drawn(LETTERS, 64)}\n") + "\n",
        "kind: Secret\nmetadata:\n  name: shop\n  labels:\n    app: shop-2\n",
        "kind: Secret\ndata:\n  api: <base64>\n  other: {{ .Values.api }}\n",
        '{"auth": "required", "user": "ana"}',
        'auth: "' + in_base64("no colon in this") + '"',
        "user,password\nbob,\nann,<password>\n",
        "Enter a user name, a password\nand press return, then wait.\n",
        "user, password\nhost, schemata\n",
        "def login(user, password,\n          host, callback):\n",
        "password, host = read(path)\n",
        in_base64("The quick brown fox jumps over the lazy dog."),
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "TOTP: enter the code of your authenticator",
        "OTP_TYPE = AUTHENTICATORAPP",
        "2FA key: this that with from your",
        "The seed phrase is written down by the user and kept in a safe place for the next time it is needed",
        "mnemonic = twelve words",
        "std::vector::size:0123456789abcdef",
        "src/recollect/domain/secrets/detect.py and tests/attacks/test_secrets_missed.py",
        "jina_embeddings_v2_base_en_for_long_documents_and_queries",
        "fc-cache, e2b_sandbox, tvly-client, csk-learn, st.session_state.value, phx_router, nvapi-key",
        "the key_of_a_dictionary_with_many_words_and_no_digits_in_it_at_all",
        "Пароль задан, токен не нужен: всё хранится в vault.",
    ],
)
def test_look_alike_of_an_encoded_secret_is_none(text: str) -> None:
    assert find_secret(text) == ""
