import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.secrets.detect import find_secret, redact

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

# Put together here, so that no scanner takes this file for a leak.
EXAMPLES = [
    ("a private key", "-----BEGIN " + "RSA PRIVATE KEY-----"),
    ("a private key", "-----BEGIN " + "PRIVATE KEY-----"),
    ("a private key", "-----BEGIN " + "OPENSSH PRIVATE KEY-----"),
    ("an AWS access key", "AKIA" + "IOSFODNN7SAMPLES"),
    ("an AWS access key", "ASIA" + "IOSFODNN7SAMPLES"),
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


# None of these is anybody's.
HELD = r"""
password=hunter2x
password is hunter-something
The password is hunter2
password: correct-horse-battery
pw: Hunter2!
DB_PASS=swordfish
PGPASSWORD=swordfish psql -h db
the password is swordfish
root password: tr0ub4dor&3
passwd="swordfish"
redis://:swordfish@localhost:6379
mysql -uroot -pswordfish9
--password swordfish
"password":"swordfish"
password='swordfish'
password = 'SuperSecretPass'
SECRET_KEY = 'a8f5f167f44f4964e6c998dee827110c'
Login with admin / Sw0rdfish!
wifi password is "blue-whale-dances"
{"auth": {"password": "swordfish9"}}
\"password\": \"swordfish9\"
password -> "Swordf1sh"
My password is Swordf1sh.
user=admin&password=Sw0rdfish&x=1
API key: 3fa85f64a1b2c3d4e5f60718
X-API-KEY: 3fa85f64a1b2c3d4
token "3fa85f64a1b2c3d4e5f60718"
passphrase = "copper lantern velvet meadow"
We changed the root password to swordfish
I reset the passphrase of the vault to swordfish
the password to the vault is swordfish
DB_PASSWORD_TEST=swordfish9#ab
""".strip().split("\n")

ORDINARY = r"""
private_key_path=/etc/ssl/private/server.pem
private_key_path = "keys/id_ed25519"
token = get_token(request)
token = get_token_v2(request, 3)
password: ${DB_PASSWORD}
password = process.env.DB_PASSWORD2
password = os.environ["DB_PASSWORD"]
token: <your-token>
api_key = "YOUR_API_KEY_HERE"
API_KEY=xxxxxxxxxxxxxxxxxxxx
password: changeme
the password is required
the password is stored in Vault
the password is case-sensitive
The password is hashed with bcrypt before it is stored.
the password was wrong
the password is base64-encoded
password is never logged
the token is expired
def login(user: str, password: str) -> None:
token: str | None = None
password: string;
password: SecretStr
password = getpass.getpass()
self.password = password
connect(user=user, password=self.settings.db_password2)
commit 3f2a9c81b7d04e6fa5c2b1d0987e6543210fedcb fixed it
sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
request id: 550e8400-e29b-41d4-a716-446655440000
max_tokens=4096
next_token = response["NextToken"]
tokenizer = "cl100k_base"
public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
primary_key: order_id_2024_index
cache_key = "session:v2:12345:abcdef0123456789"
password_reset_url: https://example.com/reset/12345
secret_name: prod/db/password1
secretName: shop-db-credentials-v2
existingSecret: shop-postgresql-2
imagePullSecrets: regcred-2024
Password: required
"password": "string"
"password": {"type": "string"}
type: password
Use `--password-stdin` instead of `--password`
the `--password` option is gone
pass --token to the command
PASSWORD=$(cat /run/secrets/db)
export TOKEN=$(vault read -field=token secret/x)
token: ${{ secrets.GITHUB_TOKEN }}
password: "{{ vault_db_password }}"
password: !vault |
apiKey: process.env.OPENAI_API_KEY
const token = await getToken();
const token = useToken2();
token = tokens[3]
key: value
key = "abc"
keys: [a1, b2]
keyboard: us-intl-2024
key=lambda item: item.name2
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
Authorization: Bearer $TOKEN
headers["Authorization"] = f"Bearer {token}"
Authorization header is required
curl -u "$USER:$PASS" https://example.com
curl -u user:password https://example.com
mysql -u root -p shop
ssh -p 2222 web1
https://user@example.com:8080/path
http://user:pass@example.com
postgres://user:password@localhost/db
postgres://${USER}:${PASSWORD}@host/db
http://localhost:8080/@scope/package
npm install @scope/package@1.2.3
git@github.com:owner/name.git
token_type = "bearer2"
csrf_token = "{{ csrf_token }}"
The API key lives in 1Password, vault "Shop", item "Stripe".
Rotate the secret every 90 days; its name is STRIPE_KEY_2.
We decided that tokens expire after 15 minutes.
password must be at least 12 characters
password: at least 12 characters, one digit
secret: see 1password
pwd=/home/dev/project2
echo $PWD
the key is to restart the service
The key is that sqlite3 locks whole files
token: JWT signed with RS256
token is a JWT
the secret is a Kubernetes secret
encryption key: AES-256-GCM
access_key_id: AKIA...
aws_access_key_id = <AKIA…>
sk-learn pipelines
sk-SK locale
SG.foo.bar
s.startswith_something_long_24
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
integrity sha512-AbC0dEf1GhI2jKl3MnO4pQr5StU6vWx7YzA8bCd9EfG0hIj1KlM2nOp3QrS4tUv5WxY6zAb7CdE8fGh9IjK0lM==
"_authToken": "${NPM_TOKEN}"
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
the `<private>` tag keeps a part out
use <private>…</private> for what is nobody's business
token = "token"
token = 'test-token'
password = 'test'
secret = b"secret"
SECRET_KEY = "django-insecure-change-me"
if token == "refresh_token":
if password != confirm_password2:
token.startswith("ghp_")
assert token_count == 12345678901234
"token": "abc"
pass
pass  # nothing to do
passed: 12
bypass: enabled2
compass: north-east-12
Pass: 12 Fail: 3
password: the user's password
the session token of the client is compared in constant time
The default password is printed at the first start.
the password is then sent again
key: docs/features/012-event-store
signing_key = load_key("prod")
api_key: str = Field(default="")
credentials: same-origin
credentials = boto3.Session().get_credentials()
login: ana / password: see vault
log in with SSO / Okta
"secret": "projects/1234/secrets/db-password/versions/3"
client_secret_file: client_secret_1234.json
refresh_token_ttl: 30d12h
password_hash = "$2b$12$abcdefghijklmnopqrstuv"
password field 'new_password2' is missing
Set the password to something long
set the token to expire after 12h
The token for staging is in the vault
keepalive=12345678901234567890a
monkey = "banana1234567890abcdef"
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
secret = arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
token: 2024-11-16T12:00:00Z
hash_key = "user_id"
sort_key: created_at_2024
partition-key: tenant-0001-eu-west-1a
const passwordInput = document.querySelector("#password1");
<input type="password" name="password" id="password1">
<label for="password">Password</label>
placeholder="Password"
password: _("Enter your password")
you are prompted for a password to protect your key
sent as the user name and the password to authenticate
the password for connecting to NetBeans
Setup of the params to pass to and attempt to launch reg.exe
you need a passphrase to unlock it
the --username and --password options
'password': self.password_grant,
password: readPassword,
#password_encryption = scram-sha-256
nid_key = self._lib.NID_pbe_WithSHA1And3_Key_TripleDES_CBC
sk-ssh-ed25519-cert-v01@openssh.com
sk-ecdsa-sha2-nistp256-cert-v01@openssh.com
proxy_url="socks5h://<username>:<password>@proxy-host"
the argument of a token is `args[token.index]`
syn match javaccSpecToken ".LOOKAHEAD("ms=s+1
&state=xyz&token_type=example&expires_in=3600
n3captureprt n3chgpassword n3detach
""".strip().split("\n")


@pytest.mark.parametrize("line", HELD)
def test_find_secret_sees_a_secret_by_the_name_beside_it(line: str) -> None:
    assert find_secret(line)
    assert find_secret(f"Before it.\n{line}\nAfter it.")


@pytest.mark.parametrize("line", ORDINARY)
def test_find_secret_lets_ordinary_code_and_prose_pass(line: str) -> None:
    assert find_secret(line) == ""


def test_find_secret_lets_all_of_them_pass_in_one_text() -> None:
    assert find_secret("\n".join(ORDINARY)) == ""


def test_redact_names_the_kind_and_keeps_the_rest() -> None:
    token = "ghp_" + LETTERS
    assert redact(f"Push with {token}, then wait.") == "Push with [redacted: a GitHub token], then wait."
    assert redact("Connect to redis://:" + "swordfish@cache:6379/0.") == (
        "Connect to redis://:[redacted: a password in a URL]@cache:6379/0."
    )


def test_redact_returns_a_text_without_secrets_as_it_is() -> None:
    assert redact("Nothing\u200b here.") == "Nothing\u200b here."


def test_redact_takes_out_a_key_to_its_end_and_to_the_end_of_the_text_if_it_has_none() -> None:
    key = "-----BEGIN " + f"RSA PRIVATE KEY-----\n{LETTERS}\n"
    assert redact(f"Key:\n{key}-----END RSA PRIVATE KEY-----\nDone.") == "Key:\n[redacted: a private key]\nDone."
    assert redact(f"Key:\n{key}{LETTERS}") == "Key:\n[redacted: a private key]"


def test_redact_takes_out_what_is_marked_as_private() -> None:
    assert redact("A <private>b\nc</private> d <PRIVATE>e</private>.") == "A [private] d [private]."
    assert redact("A <private>b and whatever follows\nit") == "A [private]"
    assert find_secret("A <private>b</private>") == "a part marked as private"


@pytest.mark.parametrize("secret", [secret for _, secret in EXAMPLES] + HELD)
def test_what_is_redacted_is_a_secret_no_more(secret: str) -> None:
    once = redact(f"Before\n{secret}\nafter")
    assert find_secret(once) == ""
    assert redact(once) == once


@settings(deadline=None)
@given(st.text(alphabet="pasword:= is'\"`<>-_/@tokenkey\n1A"))
def test_redact_leaves_nothing_that_is_found_again(text: str) -> None:
    assert find_secret(redact(text)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "password=" * 20_000,
        'password="' * 20_000,
        "<private>" * 20_000,
        "-----BEGIN " + "PRIVATE KEY-----" * 20_000,
        "://a:" * 40_000,
        "eyJ" * 60_000,
        "curl -u a " * 20_000,
        "a" * 1_000_000 + " token",
        "\u0130" * 100_000 + "password",
        "\x1b]" * 100_000,
        "\x1b[" * 100_000,
        "\x1b[" + "1;" * 200_000,
        "\x1b" + " " * 200_000,
        "[1" * 100_000 + "m",
        "\x1b]0;token\x07" * 20_000,
        "\x9d" * 200_000,
    ],
    ids=lambda text: text[:12],
)
def test_text_made_to_slow_it_down_is_read_in_linear_time(text: str) -> None:
    find_secret(text)  # quadratic time would be minutes
    redact(text)


KEY = "AKIA" + "IOSFODNN7SAMPLES"


@pytest.mark.parametrize(
    "text",
    [
        f"\x1b[31m{KEY}\x1b[0m",
        f"\x1b[01;31m\x1b[K{KEY}\x1b[m\x1b[K",
        f"\x1b[38;2;1;2;3m{KEY}",
        f"\x1b[2K{KEY}",
        f"\x1b(B\x1b[m{KEY}",
        f"\x1b7{KEY}\x1b8",
        f"\x9b31m{KEY}",
        f"{KEY[:6]}\x1b[31m{KEY[6:]}",
        f"{KEY[:6]}\x1b]0;title\x07{KEY[6:]}",
        f"\x1b]8;;https://example.com\x1b\\{KEY}\x1b]8;;\x1b\\",
        f"\x1b]0;{KEY}\x07",
        f"[31m{KEY}[0m",
        f"[m{KEY}",
        f"[01;31m[K{KEY}",
        f"{KEY[:6]}[31m{KEY[6:]}",
        f"\\u001b[31m{KEY}",
        f"\\033[1m{KEY}",
        f"\\x1b[1m{KEY}",
        f"\x1b[{KEY}",
        f"\x1b{KEY}",
        "password=\x1b[31mhunter2" + "hunter2\x1b[0m",
        "password=[31mhunter2" + "hunter2[0m",
    ],
    ids=ascii,
)
def test_terminal_code_hides_no_secret(text: str) -> None:
    shown = redact(f"grep: {text} and more")
    assert find_secret(text)
    assert find_secret(shown) == ""
    assert "[redacted: " in shown
    assert KEY[-6:] not in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "rate(requests[5m])", "\x1b]0;a title\x07$ make", "took [12ms]", "[31mred[0m"]
)
def test_text_with_terminal_codes_and_no_secret_stays_as_it_is(text: str) -> None:
    assert find_secret(text) == ""
    assert redact(text) == text


def test_query_beside_a_secret_stays_as_it_is() -> None:
    assert redact(f"rate(x[5m]) {KEY}") == "rate(x[5m]) [redacted: an AWS access key]"
