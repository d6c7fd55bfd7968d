import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.secrets import find_secret

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

# Put together here, so that no scanner takes this file for a leak.
EXAMPLES = [
    ("a private key", "-----BEGIN " + "RSA PRIVATE KEY-----"),
    ("a private key", "-----BEGIN " + "PRIVATE KEY-----"),
    ("a private key", "-----BEGIN " + "OPENSSH PRIVATE KEY-----"),
    ("an AWS access key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("an AWS access key", "ASIA" + "IOSFODNN7EXAMPLE"),
    ("a GitHub token", "ghp_" + LETTERS),
    ("a GitHub token", "gho_" + LETTERS),
    ("a GitHub token", "github_pat_" + LETTERS),
    ("a GitLab token", "glpat-" + LETTERS[:20]),
    ("a Slack token", "xoxb-" + "123456789012-abcdef"),
    ("a Google API key", "AIza" + LETTERS[:35]),
    ("an API key", "sk-" + LETTERS[:24]),
    ("an API key", "sk-ant-" + LETTERS),
    ("an API key", "sk-proj-" + LETTERS),
    ("a Stripe key", "sk_live_" + LETTERS[:24]),
    ("a Stripe key", "rk_live_" + LETTERS[:24]),
    ("an npm token", "npm_" + LETTERS[:36]),
    ("a JSON web token", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + ".SflKxwRJSMeKKF2QT4"),
    ("a password in a URL", "postgres://app:" + "s3cretpw@db.example.com/app"),
    ("a password", "password = " + "hunter2hunter2"),
    ("a password", "DB_PASSWORD=" + "hunter2!"),
    ("a credential", "aws_secret_access_key = " + LETTERS[:30]),
    ("a credential", "GITHUB_TOKEN=" + LETTERS[:30]),
    ("a credential", 'client_secret: "' + LETTERS[:20] + '"'),
    ("a bearer token", "Authorization: Bearer " + LETTERS[:24]),
    ("a credential", "API_KEY='" + LETTERS[:20] + "'"),
    ("a credential", '"secret": "' + LETTERS[:20] + '"'),
    ("a credential", "access-key=" + LETTERS[:20]),
    ("a credential", "TOKEN: " + LETTERS[:20]),
]


@pytest.mark.parametrize(("kind", "secret"), EXAMPLES)
def test_find_secret_names_the_kind_of_a_credential_inside_prose(kind: str, secret: str) -> None:
    assert find_secret(f"Never do this:\n{secret}\nit was in the log.") == kind


@pytest.mark.parametrize("secret", [f"token: `{LETTERS[:20]}`", f"**Password:** {LETTERS[:20]}"])
def test_find_secret_sees_a_credential_behind_markdown(secret: str) -> None:
    assert find_secret(f"The staging server answers to\n{secret}\n") in ("a credential", "a password")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Never write a password into a config file.",
        "password: <your password>",
        "token: ${GITHUB_TOKEN}",
        "API_KEY=changeme",
        "Use a secret manager: it rotates the secret for you.",
        "postgres://localhost:5432/app",
        "https://example.com/path@version",
        "postgres://user:${PASSWORD}@host/db",
        "git@github.com:owner/name.git",
        "sk-learn pipelines are easier to test",
        "The task-runner-with-a-very-long-name-indeed fails",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "sha256:e3b0c44298fc1c14",
        "AKIA is the prefix of AWS access keys",
        "Commit 0123456789abcdef0123456789abcdef01234567 introduced it",
    ],
)
def test_find_secret_lets_ordinary_text_pass(text: str) -> None:
    assert find_secret(text) == ""


@settings(deadline=None)
@given(st.text(), st.sampled_from([secret for _, secret in EXAMPLES]), st.text())
def test_find_secret_sees_a_credential_on_its_own_line_whatever_surrounds_it(before: str, key: str, after: str) -> None:
    assert find_secret(f"{before}\n{key}\n{after}")


def test_find_secret_sees_a_credential_that_unseen_characters_break_up() -> None:
    assert find_secret("token ghp_\u200b" + "a1" * 9 + "\u00ad" + "b2" * 9) == "a GitHub token"
