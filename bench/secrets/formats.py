"""Lines that hold a secret, one for each format, made at run time so that no scanner takes this file for a leak.

A template is the format; `{a36}` stands for 36 letters and digits drawn by chance. What is between ⟦ and ⟧ is written
in Base64, and between ⟪ and ⟫ in full width. Each format belongs to one of two halves, by a checksum of its name: rules
were chosen with `seen` in sight, `held out` is the half to believe. `reported` is the list of a tester, `attacked` what
an attack on version 0.6.0 found to be missed.
"""

from __future__ import annotations

import random
import re
import string
from base64 import b64encode
from binascii import crc32

_ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "-_",
    "s": string.ascii_letters + string.digits + "+/",
    "h": "0123456789abcdef",
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "c": string.ascii_letters,
    "t": string.ascii_uppercase + "234567",
    "x": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "k": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_WORDS = "copper lantern harbour velvet thunder orchid saddle meadow falcon pepper walnut glacier".split()

_FORMATS = r"""
AWS access key id | {=AKIA}{u16}
AWS temporary key id | the job runs as {=ASIA}{u16} in staging
AWS secret key | aws_secret_access_key = {s40}
AWS session token | AWS_SESSION_TOKEN={s120}
AWS Bedrock key | {=ABSK}{s110}
GitHub personal token | {=ghp_}{a36}
GitHub OAuth token | {=gho_}{a36}
GitHub app token | {=ghs_}{a36}
GitHub refresh token | {=ghr_}{a36}
GitHub fine-grained token | {=github_pat_}{a22}_{a59}
GitLab personal token | {=glpat-}{b20}
GitLab deploy token | {=gldt-}{b20}
GitLab runner token | {=glrt-}{b20}
GitLab job token | {=glcbt-}64_{b20}
GitLab trigger token | {=glptt-}{h40}
GitLab feed token | {=glft-}{b20}
GitLab agent token | {=glagent-}{b50}
GitLab OAuth secret | {=gloas-}{b64}
GitLab runner registration | {=GR13}48941{b20}
Slack bot token | {=xoxb-}{d12}-{d12}-{a24}
Slack user token | {=xoxp-}{d12}-{d12}-{d12}-{h32}
Slack app token | {=xapp-}1-A{u10}-{d13}-{h64}
Slack refresh token | {=xoxe-}1-{a146}
Slack webhook | https://hooks.slack.com/{=services/}T{u8}/B{u8}/{a24}
Google API key | {=AIza}{b35}
Google OAuth secret | {=GOCSPX-}{b28}
Google OAuth token | {=ya29.}{b120}
Google refresh token | {=1//0}{b60}
Azure storage key | DefaultEndpointsProtocol=https;AccountName=shop;{=AccountKey}={s86}==;EndpointSuffix=core
Azure SAS signature | https://shop.blob.core.windows.net/x?sv=2022-11-02&se=2026-01-01&{=sig}={s40}%3D
Azure client secret | {a3}8{=Q~}{b34}
Azure service bus | Endpoint=sb://shop.servicebus.windows.net/;{=SharedAccessKey}={s43}=
Stripe live key | {=sk_live_}{a24}
Stripe test key | {=sk_test_}{a24}
Stripe restricted key | {=rk_live_}{a24}
Stripe webhook secret | {=whsec_}{a32}
SendGrid key | {=SG.}{b22}.{b43}
Hugging Face token | {=hf_}{c34}
PyPI token | {=pypi-}AgEIcHlwaS5vcmc{b120}
npm token | {=npm_}{a36}
npm auth token | //registry.example.com/:{=_authToken}={h40}
npm basic auth | {=_auth}={s24}==
Vault service token | {=hvs.}{b95}
Vault old token | {=s.}{a24}
DigitalOcean token | {=dop_v1_}{h64}
DigitalOcean OAuth token | {=doo_v1_}{h64}
Heroku key | {=HEROKU_API_KEY}={uuid}
Heroku new key | {=HRKU-}{uuid}
Twilio key | {=SK}{h32}
Twilio auth token | {=TWILIO_AUTH_TOKEN}={h32}
Mailgun key | {=key-}{h32}
Mailchimp key | {h32}{=-us}14
Datadog API key | {=DD_API_KEY}={h32}
Datadog application key | {=DD_APP_KEY}={h40}
New Relic user key | {=NRAK-}{u27}
New Relic licence key | {h36}{=NRAL}
Sentry user token | {=sntryu_}{h64}
Sentry organisation token | {=sntrys_}{s120}
Linear key | {=lin_api_}{a40}
Notion token | {=ntn_}{d11}{a35}
Notion old token | {=secret_}{a43}
Figma token | {=figd_}{b40}
Shopify access token | {=shpat_}{h32}
Shopify shared secret | {=shpss_}{h32}
Square token | {=sq0atp-}{b22}
Telegram bot token | {d10}{=:AA}{b33}
Discord bot token | {=MT}{a24}.{b6}.{b38}
Discord webhook | https://discord.com/{=api/webhooks/}{d18}/{b68}
Doppler token | {=dp.pt.}{a43}
Databricks token | {=dapi}{h32}
Grafana service token | {=glsa_}{a32}_{h8}
Grafana cloud token | {=glc_}{s80}
Fly.io token | {=fo1_}{b43}
Supabase token | {=sbp_}{h40}
Supabase secret key | {=sb_secret_}{b31}
Cloudflare token | {=CLOUDFLARE_API_TOKEN}={b40}
Cloudflare origin key | {=v1.0-}{h24}-{h146}
Terraform Cloud token | {a14}{=.atlasv1.}{b67}
Atlassian token | {=ATATT3}{b186}
Bitbucket app password | {=ATBB}{a32}
Dropbox token | {=sl.}{b136}
OpenAI key | {=sk-}{a48}
OpenAI project key | {=sk-proj-}{b120}
Anthropic key | {=sk-ant-}api03-{b93}AA
OpenRouter key | {=sk-or-}v1-{h64}
Groq key | {=gsk_}{a52}
Replicate token | {=r8_}{a37}
Perplexity key | {=pplx-}{a48}
xAI key | {=xai-}{a80}
Cohere key | {=COHERE_API_KEY}={a40}
Mistral key | {=MISTRAL_API_KEY}="{a32}"
Airtable token | {=pat}{a14}.{h64}
Postman key | {=PMAK-}{h24}-{h34}
RubyGems key | {=rubygems_}{h48}
crates.io token | {=cio}{a32}
NuGet key | {=oy2}{l43}
Docker token | {=dckr_pat_}{b27}
Artifactory key | {=AKCp}{a69}
Pulumi token | {=pul-}{h40}
PlanetScale password | {=pscale_pw_}{b43}
Tailscale key | {=tskey-}auth-{a12}-{a32}
Dynatrace token | {=dt0c01.}{u24}.{u64}
Sonar token | {=squ_}{h40}
Snyk token | {=SNYK_TOKEN}={uuid}
CircleCI token | {=CIRCLE_TOKEN}: {h40}
Asana token | {=1/}{d16}:{h32}
HubSpot token | {=pat-na1-}{uuid}
Plaid token | {=access-}production-{uuid}
1Password service token | {=ops_}eyJ{b260}
RSA private key | {=-----BEGIN} RSA PRIVATE KEY-----\n{s64}\n{s64}\n-----END RSA PRIVATE KEY-----
EC private key | {=-----BEGIN} EC PRIVATE KEY-----\n{s64}
PKCS 8 private key | {=-----BEGIN} PRIVATE KEY-----\n{s64}
OpenSSH private key | {=-----BEGIN} OPENSSH PRIVATE KEY-----\n{s70}
PGP private key | {=-----BEGIN} PGP PRIVATE KEY BLOCK-----\n\n{s64}
age key | {=AGE-SECRET-KEY-}1{k58}
PuTTY key | {=PuTTY-User-Key-File-}2: ssh-rsa\nEncryption: none\nPrivate-Lines: 14\n{s64}
key in one JSON string | "private_key": "{=-----BEGIN} PRIVATE KEY-----\\n{s64}\\n-----END PRIVATE KEY-----\\n"
WireGuard key | {=PrivateKey} = {s43}=
JSON web token | {=eyJ}{b30}.eyJ{b60}.{b43}
URL with user and password | postgres://app:{p}@db.example.com:5432/shop
URL with a password alone | redis://:{p}@cache.example.com:6379/0
URL, password without a digit | mongodb+srv://app:{n}@cluster.example.net/shop
URL of git | https://oauth2:{a20}@git.example.com/shop/front.git
URL of a broker | amqp://worker:{n}@mq.example.com:5672
ADO.NET connection string | Server=db;Database=shop;User Id=app;{=Password}={p};Encrypt=true
ODBC connection string | Driver=x;Server=db;UID=app;{=PWD}={n};
JDBC URL | jdbc:mysql://db/shop?user=app&{=password}={p}
.env password | {=DB_PASSWORD}={p}
.env password without a digit | {=DB_PASSWORD}={n}
.env secret | {=JWT_SECRET}={n}{n}
.env with export and quotes | export {=API_TOKEN}="{a32}"
.env key | {=ENCRYPTION_KEY}={h64}
YAML password | {=password}: {n}
YAML secret | {=client_secret}: {b40}
JSON password | "{=password}": "{n}",
Python password | {=password} = "{n}"
Python annotated password | {=password}: str = "{p}"
camel case secret | {=clientSecret}: '{b32}',
Java property | spring.datasource.{=password}={p}
XML password | <{=password}>{p}</password>
XML app setting | <add key="{=ApiPassword}" value="{p}" />
Basic header | {=Authorization}: Basic {s24}==
Bearer header | {=Authorization}: Bearer {b40}
token header | {=Authorization}: token {h40}
header in Python | headers = {{"{=Authorization}": "Basic {s28}"}}
X-Api-Key header | {=X-Api-Key}: {h32}
X-Auth-Token header | {=X-Auth-Token}: {b32}
PRIVATE-TOKEN header | curl -H "{=PRIVATE-TOKEN}: {b20}" https://git.example.com/api
cookie header | {=Cookie}: sessionid={l32}; theme=dark
curl user | curl {=-u} admin:{p} https://example.com/api
curl long user | curl --silent {=--user} deploy:{n} https://example.com
netrc | machine example.com login deploy {=password} {n}
pgpass | db.example.com{=:5432}:shop:app:{p}
password option | mysqldump --user=root {=--password}={n} shop
password option with a space | deploy --host web1 {=--password} {n}
short mysql option | mysql -u root {=-p}{p} shop
sshpass | sshpass {=-p} {n} ssh web1
docker login | docker login -u deploy {=-p} {p} registry.example.com
SQL user | CREATE USER app IDENTIFIED {=BY} '{n}';
SQL role | ALTER ROLE app WITH {=PASSWORD} '{p}';
sentence with a digit | The staging {=password} is {p} for now.
sentence without a digit | the {=password} is {w}-{w}
sentence with quotes | The {=password} for the admin page is "{n}".
sentence with a code span | Its {=password} is `{n}`, ask Ana.
sentence about a token | The {=token} is {a32}, it expires in May.
sentence about an API key | API {=key} for production: {h40}
credentials with a slash | the {=credentials} are admin / {p}
markdown password | - **{=Password}:** {p}
passphrase | {=passphrase}: {w}-{w}-{w}-{w}
marked as private | Deploy with <{=private}>the door code is 12 34</private> and restart.
marked as private, never closed | Deploy as <{=private}>whatever follows
"""

# What an independent tester reported as missed, or as found only in part.
_REPORTED = r"""
private part that begins with a backtick | <{=private}>`{n}` is the code</private> b
private tag with a space | < {=private}>{n}</private> b
private tag with a long attribute | <{=private} why="{c200}">{n}</private> b
private tag in full width | ＜{=private}＞{n}＜/private＞ b
private tag, escaped | &lt;{=private}&gt;{n}&lt;/private&gt; b
private tags, nested | <{=private}>{n}<private>b</private>tail</private>
value with a comma | {=DB_PASSWORD}={a5},{a4};x
value with brackets | {=DB_PASSWORD}={c2}(|<{a4}
URL, password with an at sign | postgres://app:{a6}@{a3}@db/shop
quoted words | {=password} = "{w} {w} {d2}!"
quoted, with an escaped quote | {=password} = "{w}\"{w}{d2}"
secret key that begins with a slash | {=AWS_SECRET_ACCESS_KEY}=/{s39}
password that begins with a hyphen | {=password}=-{p}
password that begins with a dollar sign | {=password}: ${p}
password that begins with a percent sign | {=password}: %{p}
password that begins with an exclamation mark | {=password}: !{p}
token as the user of a URL | https://{a24}@git.example.com/shop.git
sentence, with password | Log in as ana with {=password} {w}{d2}{w} first.
two words | {=password} {w}{d2}
value on the next line | {=Password}:\n{p}
YAML folded block | {=password}: >-\n  {p}
Markdown table | | user | {=password} |\n|---|---|\n| ana | {p} |
Ethereum key | private {=key} 0x{h64}
redis requirepass | {=requirepass} {n}
ldapsearch | ldapsearch -x -D cn=ana {=-w} {p} -b dc=shop
smbclient | smbclient //files/shop {=-U} ana%{p}
lftp | lftp {=-u} ana,{p} files.example.com
gh secret set | gh secret set DEPLOY {=--body} {p}
sudo from echo | echo '{p}' | {=sudo} -S systemctl restart shop
bcrypt hash | {=$2y$}10${a53}
crypt hash | root:{=$6$}{a8}${a86}:19000:0
German, lautet | Das {=Passwort} lautet {p}
German, ist | Das {=Passwort} ist {p}
French | mot de {=passe} : {p}
Spanish | La {=contraseña} es {p}
OpenAI key and hyphens | {=sk-proj-}{a120}------------
"""
_ATTACKED = r"""
Rails secret key base | {=SECRET_KEY_BASE}={h128}
Rails secret key base in YAML | secret_{=key_base}: {h128}
key for tests | {=STRIPE_SECRET_KEY_TEST}={b40}
token in a string | {=API_TOKEN_STRING} = "{a40}"
data of a key | client-{=key-data}: {s80}==
old password | {=OLD_PASSWORD}={p}
password of a registry | {=REGISTRY_PASSWORD}={n}
password for tests | {=DB_PASSWORD_TEST}={p}
NVIDIA key | {=nvapi-}{b64}
Tavily key | {=tvly-}{a32}
Tavily development key | {=tvly-dev-}{a32}
Jina key | {=jina_}{a60}
Cerebras key | {=csk-}{l48}
Firecrawl key | {=fc-}{h32}
E2B key | {=e2b_}{h40}
W&B key | {=wandb_v1_}{a77}
Cursor key | {=key_}{h64}
Cloudflare user token | {=cfut_}{a40}{h8}
Cloudflare account token | {=cfat_}{a40}{h8}
Cloudflare global key | {=cfk_}{a40}{h8}
Vercel Blob token | {=vercel_blob_rw_}{a16}_{a30}
PostHog personal key | {=phx_}{a43}
dbt personal token | {=dbtu_}{b50}
Infisical service token | {=st.}{uuid}.{h32}.{h32}
Infisical old service token | {=st.}{h24}.{h32}.{h32}
k3s server token | {=K10}{h64}::server:{h32}
BIP32 key | {=xprv}{x107}
Docker login | {{"auths":{{"ghcr.io":{{"{=auth}":"⟦deploy:{p}⟧"}}}}}}
Docker login on its own line | "{=auth}": "⟦deploy:{n}⟧"
key in kubeconfig | client-key-data: ⟦{=-----BEGIN} RSA PRIVATE KEY-----\n{s64}\n{s64}⟧
assignment in Base64 | ⟦GITHUB_TOKEN={=ghp_}{a36}⟧
Base64 in Base64 | ⟦{{"auths":{{"ghcr.io":{{"{=auth}":"⟦deploy:{p}⟧"}}}}}}⟧
Kubernetes secret | apiVersion: v1\n{=kind}: Secret\nmetadata:\n  name: shop\ndata:\n  api: ⟦{p}⟧
Kubernetes secret in JSON | {{"{=kind}":"Secret","data":{{"api":"⟦{p}⟧"}}}}
htpasswd | ana:{=$apr1$}{a8}${a22}
LDAP hash | {{{=SSHA}}}{s32}
Django hash | {=pbkdf2_sha256}$600000${a22}${s43}=
NTLM dump | Administrator:500{=:}{h32}:{h32}:::
NetNTLMv1 | ana{=::}SHOP:{h48}:{h48}:{h16}
NetNTLMv2 | ana{=::}SHOP:{h16}:{h32}:{h120}
TOTP seed | {=TOTP_SEED}={t32}
TOTP seed in groups | 2FA {=secret}: {t4} {t4} {t4} {t4} {t4} {t4} {t4} {t4}
TOTP address | {=otpauth}://totp/shop:ana?secret={t32}&issuer=shop
CSV | user,{=password}\nana,{p}
CSV with semicolons and quotes | "id";"user";"{=passwd}"\n"1";"ana";"{p}"
CSV, password without a digit | user,{=password}\nana,{n}
key of a method | {=hmac} = "{b43}"
key of a method in .env | {=JWT_SIGNING}={b43}
seed phrase | {=seed} phrase: {w} {w} {w} {w} {w} {w} {w} {w} {w} {w} {w} glacier
signed URL | https://storage.example.com/shop?{=X-Goog-Signature}={h512}
signed URL of S3 | https://shop.s3.example.com/x?X-Amz-Expires=900&{=X-Amz-Signature}={h64}
full width | ⟪{=ghp_}{a36}⟫
prefix in full width | ⟪{=ghp_}⟫{a36}
Cyrillic letters | {=раssword}={p}
"""
_NAMES_ATTACKED = frozenset(row.split(" | ", 1)[0] for row in _ATTACKED.strip().split("\n"))
_NAMES_REPORTED = frozenset(row.split(" | ", 1)[0] for row in _REPORTED.strip().split("\n"))


def half(name: str) -> str:
    if name in _NAMES_REPORTED:
        return "reported"
    if name in _NAMES_ATTACKED:
        return "attacked"
    return ("seen", "held out")[crc32(name.encode()) % 2]


def lines(seed: int = 1) -> dict[str, str]:
    """Return a line for each format, by its name."""
    chance = random.Random(seed)  # noqa: S311 (nothing is guarded by it)
    found: dict[str, str] = {}
    for row in (_FORMATS.strip() + _REPORTED.rstrip() + _ATTACKED.rstrip()).split("\n"):
        name, template = row.split(" | ", 1)
        found[name] = filled(template, chance)
    return found


def filled(template: str, chance: random.Random) -> str:
    """Return a line of a format."""
    line = re.sub(r"\{(=?)([^{}]+)\}", lambda part: _part(part[1], part[2], chance), template)
    line = line.replace("\\n", "\n").replace("{{", "{").replace("}}", "}")
    for _ in range(line.count("⟦")):
        line = re.sub("⟦([^⟦⟧]*)⟧", lambda part: b64encode(part[1].encode()).decode(), line)
    return re.sub("⟪(.*?)⟫", lambda part: "".join(chr(ord(char) + 0xFEE0) for char in part[1]), line)


def _part(fixed: str, code: str, chance: random.Random) -> str:
    if fixed:
        return code
    if code == "uuid":
        return "-".join(_drawn("h", length, chance) for length in (8, 4, 4, 4, 12))
    if code == "w":
        return chance.choice(_WORDS)
    if code == "n":
        return chance.choice(_WORDS) + chance.choice(_WORDS).capitalize()
    if code == "p":
        word = chance.choice(_WORDS).capitalize()
        return f"{word}{chance.randint(10, 99)}{chance.choice('!#+')}{_drawn('c', 2, chance)}"
    return _drawn(code[0], int(code[1:]), chance)


def _drawn(alphabet: str, length: int, chance: random.Random) -> str:
    return "".join(chance.choices(_ALPHABETS[alphabet], k=length))
