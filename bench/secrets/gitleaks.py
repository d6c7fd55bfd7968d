"""The rules of gitleaks, and what we do with the credentials that each of them describes.

A row has the name of a rule, how we find its credentials, and their format as in formats.py: by their `shape` wherever
they are, or by the `name` beside them, which must have a word such as key, token or secret in it (gitleaks is content
with the name of the service). `not` says why we let them pass. The names and the lengths are those of the 222 rules of
config/gitleaks.toml at b58d3f10 (July 2026; github.com/gitleaks/gitleaks, MIT, Copyright (c) 2019 Zachary Rice). No
pattern and no code of it is here.
"""

from __future__ import annotations

import random

from formats import filled

SHAPE, NAME, NOT = "shape", "name", "not"

RULES = r"""
1password-secret-key | shape | A3-{u6}-{u11}-{u5}-{u5}-{u5}
1password-service-account-token | shape | ops_eyJ{s250}
adafruit-api-key | name | ADAFRUIT_API_KEY={l32}
adobe-client-id | not | an identifier, no secret
adobe-client-secret | shape | p8e-{l32}
age-secret-key | shape | AGE-SECRET-KEY-1{k58}
airtable-api-key | name | AIRTABLE_API_KEY={l17}
airtable-personnal-access-token | shape | pat{a14}.{h64}
algolia-api-key | name | ALGOLIA_API_KEY={l32}
alibaba-access-key-id | shape | LTAI{l20}
alibaba-secret-key | name | ALIBABA_SECRET_KEY={l30}
anthropic-admin-api-key | shape | sk-ant-admin01-{b93}AA
anthropic-api-key | shape | sk-ant-api03-{b93}AA
artifactory-api-key | shape | AKCp{a69}
artifactory-reference-token | shape | cmVmd{a59}
asana-client-id | not | an identifier, no secret
asana-client-secret | name | ASANA_CLIENT_SECRET={l32}
atlassian-api-token | name | ATLASSIAN_API_TOKEN={l20}{h4}
authress-service-client-access-key | shape | sc_{l20}.{l5}.acc_{l20}.{l60}
aws-access-token | shape | AKIA{u16}
aws-amazon-bedrock-api-key-long-lived | shape | ABSK{s109}
aws-amazon-bedrock-api-key-short-lived | shape | bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{s80}
azure-ad-client-secret | shape | {a3}8Q~{b34}
beamer-api-token | name | BEAMER_API_TOKEN=b_{l44}
bitbucket-client-id | not | an identifier, no secret
bitbucket-client-secret | name | BITBUCKET_CLIENT_SECRET={l64}
bittrex-access-key | name | BITTREX_ACCESS_KEY={l32}
bittrex-secret-key | name | BITTREX_SECRET_KEY={l32}
cisco-meraki-api-key | name | CISCO_MERAKI_API_KEY={h40}
clickhouse-cloud-api-secret-key | shape | 4b1d{a38}
clojars-api-token | shape | CLOJARS_{l60}
cloudflare-api-key | name | CLOUDFLARE_API_KEY={l40}
cloudflare-global-api-key | name | CLOUDFLARE_GLOBAL_API_KEY={h37}
cloudflare-origin-ca-key | shape | v1.0-{h24}-{h146}
codecov-access-token | name | CODECOV_ACCESS_TOKEN={l32}
cohere-api-token | name | COHERE_API_TOKEN={a40}
coinbase-access-token | name | COINBASE_ACCESS_TOKEN={l64}
confluent-access-token | name | CONFLUENT_ACCESS_TOKEN={l16}
confluent-secret-key | name | CONFLUENT_SECRET_KEY={l64}
contentful-delivery-api-token | name | CONTENTFUL_DELIVERY_API_TOKEN={l43}
curl-auth-header | shape | curl -H "Authorization: Bearer {b40}" https://example.com
curl-auth-user | shape | curl -u ana:{p} https://example.com
databricks-api-token | shape | dapi{h32}
datadog-access-token | name | DATADOG_ACCESS_TOKEN={l40}
defined-networking-api-token | shape | dnkey-{l26}-{l52}
digitalocean-access-token | shape | doo_v1_{h64}
digitalocean-pat | shape | dop_v1_{h64}
digitalocean-refresh-token | shape | dor_v1_{h64}
discord-api-token | name | DISCORD_API_TOKEN={h64}
discord-client-id | not | an identifier, no secret
discord-client-secret | name | DISCORD_CLIENT_SECRET={l32}
doppler-api-token | shape | dp.pt.{l43}
droneci-access-token | name | DRONECI_ACCESS_TOKEN={l32}
dropbox-api-token | name | DROPBOX_API_TOKEN={l15}
dropbox-long-lived-api-token | name | DROPBOX_LONG_LIVED_API_TOKEN={l11}AAAAAAAAAA{l43}
dropbox-short-lived-api-token | shape | sl.{l135}
duffel-api-token | shape | duffel_test_{l43}
dynatrace-api-token | shape | dt0c01.{u24}.{u64}
easypost-api-token | shape | EZAK{l54}
easypost-test-api-token | shape | EZTK{l54}
etsy-access-token | name | ETSY_ACCESS_TOKEN={l24}
facebook-access-token | shape | {d15}|{a32}
facebook-page-access-token | shape | EAAM{l100}
facebook-secret | name | FACEBOOK_SECRET={h32}
fastly-api-token | name | FASTLY_API_TOKEN={l32}
finicity-api-token | name | FINICITY_API_TOKEN={h32}
finicity-client-secret | name | FINICITY_CLIENT_SECRET={l20}
finnhub-access-token | name | FINNHUB_ACCESS_TOKEN={l20}
flickr-access-token | name | FLICKR_ACCESS_TOKEN={l32}
flutterwave-encryption-key | shape | FLWSECK_TEST-{h12}
flutterwave-public-key | not | public by design
flutterwave-secret-key | shape | FLWSECK_TEST-{h32}-X
flyio-access-token | shape | fo1_{b43}
frameio-api-token | shape | fio-u-{l64}
freemius-secret-key | name | "secret_key" => "sk_{a29}"
freshbooks-access-token | name | FRESHBOOKS_ACCESS_TOKEN={l64}
gcp-api-key | shape | AIza{b35}
generic-api-key | shape | api_key = "{a32}"
github-app-token | shape | ghs_{a36}
github-fine-grained-pat | shape | github_pat_{a82}
github-oauth | shape | gho_{a36}
github-pat | shape | ghp_{a36}
github-refresh-token | shape | ghr_{a36}
gitlab-cicd-job-token | shape | glcbt-64_{b20}
gitlab-deploy-token | shape | gldt-{b20}
gitlab-feature-flag-client-token | shape | glffct-{b20}
gitlab-feed-token | shape | glft-{b20}
gitlab-incoming-mail-token | shape | glimt-{b25}
gitlab-kubernetes-agent-token | shape | glagent-{b50}
gitlab-oauth-app-secret | shape | gloas-{b64}
gitlab-pat | shape | glpat-{b20}
gitlab-pat-routable | shape | glpat-{b27}.{l2}{l7}
gitlab-ptt | shape | glptt-{h40}
gitlab-rrt | shape | GR1348941{b20}
gitlab-runner-authentication-token | shape | glrt-{b20}
gitlab-runner-authentication-token-routable | shape | glrt-t{d1}_{b27}.{l2}{l7}
gitlab-scim-token | shape | glsoat-{b20}
gitlab-session-cookie | name | _gitlab_session={l32}
gitter-access-token | name | GITTER_ACCESS_TOKEN={l40}
gocardless-api-token | name | GOCARDLESS_API_TOKEN=live_{l40}
grafana-api-key | shape | eyJrIjoi{a90}
grafana-cloud-api-token | shape | glc_{s32}
grafana-service-account-token | shape | glsa_{a32}_{h8}
harness-api-key | shape | pat.{b22}.{a24}.{a20}
hashicorp-tf-api-token | shape | {l14}.atlasv1.{l60}
hashicorp-tf-password | shape | administrator_login_password = "{l12}"
heroku-api-key | name | HEROKU_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}
heroku-api-key-v2 | shape | HRKU-AA{b58}
hubspot-api-key | name | HUBSPOT_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}
huggingface-access-token | shape | hf_{c34}
huggingface-organization-api-token | shape | api_org_{c34}
infracost-api-token | shape | ico-{a32}
intercom-api-key | name | INTERCOM_API_KEY={l60}
intra42-client-secret | shape | s-s4t2ud-{h64}
jfrog-api-key | name | JFROG_API_KEY={l73}
jfrog-identity-token | name | JFROG_IDENTITY_TOKEN={l64}
jwt | shape | eyJ{a30}.eyJ{a60}.{b43}
jwt-base64 | shape | ⟦eyJ{a30}.eyJ{a60}.{b43}⟧
kraken-access-token | name | KRAKEN_ACCESS_TOKEN={l80}
kubernetes-secret-yaml | shape | apiVersion: v1\nkind: Secret\ndata:\n  api: ⟦{p}⟧
kucoin-access-token | name | KUCOIN_ACCESS_TOKEN={h24}
kucoin-secret-key | name | KUCOIN_SECRET_KEY={h8}-{h4}-{h4}-{h4}-{h12}
launchdarkly-access-token | name | LAUNCHDARKLY_ACCESS_TOKEN={l40}
linear-api-key | shape | lin_api_{l40}
linear-client-secret | name | LINEAR_CLIENT_SECRET={h32}
linkedin-client-id | not | an identifier, no secret
linkedin-client-secret | name | LINKEDIN_CLIENT_SECRET={l16}
lob-api-key | name | LOB_API_KEY=live_{h35}
lob-pub-api-key | not | public by design
looker-client-id | not | an identifier, no secret
looker-client-secret | name | LOOKER_CLIENT_SECRET={l24}
mailchimp-api-key | shape | {h32}-us{d1}{d1}
mailgun-private-api-token | shape | key-{h32}
mailgun-pub-key | not | public by design
mailgun-signing-key | name | MAILGUN_SIGNING_KEY={h32}-{h8}-{h8}
mapbox-api-token | name | MAPBOX_API_TOKEN=pk.{l60}.{l22}
mattermost-access-token | name | MATTERMOST_ACCESS_TOKEN={l26}
maxmind-license-key | shape | {a6}_{a29}_mmk
messagebird-api-token | name | MESSAGEBIRD_API_TOKEN={l25}
messagebird-client-id | not | an identifier, no secret
microsoft-teams-webhook | shape | https://shop.webhook.office.com/webhookb2/{h8}-{h4}-{h4}-{h4}-{h12}@{h8}-{h4}-{h4}-{h4}-{h12}/IncomingWebhook/{h32}/{h8}-{h4}-{h4}-{h4}-{h12}
netlify-access-token | name | NETLIFY_ACCESS_TOKEN={l40}
new-relic-browser-api-token | shape | NRJS-{h19}
new-relic-insert-key | shape | NRII-{l32}
new-relic-user-api-id | not | an identifier, no secret
new-relic-user-api-key | shape | NRAK-{l27}
notion-api-token | shape | ntn_{d11}{a32}{a3}
npm-access-token | shape | npm_{l36}
nuget-config-password | shape | <add key="ClearTextPassword" value="{p}" />
nytimes-access-token | name | NYTIMES_ACCESS_TOKEN={l32}
octopus-deploy-api-key | shape | API-{u26}
okta-access-token | name | OKTA_ACCESS_TOKEN=00{b40}
openai-api-key | shape | sk-proj-{b74}T3BlbkFJ{b74}
openshift-user-token | shape | sha256~{b43}
perplexity-api-key | shape | pplx-{a48}
pkcs12-file | not | the name of a file, and no text
plaid-api-token | shape | access-sandbox-{h8}-{h4}-{h4}-{h4}-{h12}
plaid-client-id | not | an identifier, no secret
plaid-secret-key | name | PLAID_SECRET_KEY={l30}
planetscale-api-token | shape | pscale_tkn_{b32}
planetscale-oauth-token | shape | pscale_oauth_{b32}
planetscale-password | shape | pscale_pw_{b32}
postman-api-token | shape | PMAK-{h24}-{h34}
prefect-api-token | shape | pnu_{a36}
private-key | shape | -----BEGIN PRIVATE KEY-----\n{s64}\n-----END PRIVATE KEY-----
privateai-api-token | name | PRIVATEAI_API_TOKEN={l32}
pulumi-api-token | shape | pul-{h40}
pypi-upload-token | shape | pypi-AgEIcHlwaS5vcmc{b50}
rapidapi-access-token | name | RAPIDAPI_ACCESS_TOKEN={l50}
readme-api-token | shape | rdme_{l70}
rubygems-api-token | shape | rubygems_{h48}
scalingo-api-token | shape | tk-us-{b48}
sendbird-access-id | not | an identifier, no secret
sendbird-access-token | name | SENDBIRD_ACCESS_TOKEN={h40}
sendgrid-api-token | shape | SG.{b22}.{b43}
sendinblue-api-token | shape | xkeysib-{h64}-{l16}
sentry-access-token | name | SENTRY_ACCESS_TOKEN={h64}
sentry-org-token | shape | sntrys_eyJpYXQiO{s60}LCJyZWdpb25fdXJs{s20}_{s43}
sentry-user-token | shape | sntryu_{h64}
settlemint-application-access-token | shape | sm_aat_{a16}
settlemint-personal-access-token | shape | sm_pat_{a16}
settlemint-service-access-token | shape | sm_sat_{a16}
shippo-api-token | shape | shippo_live_{h40}
shopify-access-token | shape | shpat_{h32}
shopify-custom-access-token | shape | shpca_{h32}
shopify-private-app-access-token | shape | shppa_{h32}
shopify-shared-secret | shape | shpss_{h32}
sidekiq-secret | shape | BUNDLE_ENTERPRISE__CONTRIBSYS__COM={h8}:{h8}
sidekiq-sensitive-url | shape | https://{h8}:{h8}@gems.contribsys.com/
slack-app-token | shape | xapp-1-A{u10}-{d13}-{h64}
slack-bot-token | shape | xoxb-{d12}-{d12}-{a24}
slack-config-access-token | shape | xoxe.xoxb-1-{u163}
slack-config-refresh-token | shape | xoxe-1-{u146}
slack-legacy-bot-token | shape | xoxb-{d12}-{a24}
slack-legacy-token | shape | xoxs-{d10}-{d10}-{d10}-{h20}
slack-legacy-workspace-token | shape | xoxa-2-{a30}
slack-user-token | shape | xoxp-{d12}-{d12}-{d12}-{b32}
slack-webhook-url | shape | https://hooks.slack.com/services/T{u8}/B{u8}/{a24}
snyk-api-token | name | SNYK_API_TOKEN={h8}-{h4}-{h4}-{h4}-{h12}
sonar-api-token | name | SONAR_API_TOKEN={l40}
sourcegraph-access-token | shape | sgp_{h16}_{h40}
square-access-token | shape | EAAA{c1}{b59}
squarespace-access-token | name | SQUARESPACE_ACCESS_TOKEN={h8}-{h4}-{h4}-{h4}-{h12}
stripe-access-token | shape | sk_test_{a24}
sumologic-access-id | not | an identifier, no secret
sumologic-access-token | name | SUMOLOGIC_ACCESS_TOKEN={l64}
telegram-bot-api-token | shape | {d10}:AA{b33}
travisci-access-token | name | TRAVISCI_ACCESS_TOKEN={l22}
twilio-api-key | shape | SK{h32}
twitch-api-token | name | TWITCH_API_TOKEN={l30}
twitter-access-secret | name | TWITTER_ACCESS_SECRET={l45}
twitter-access-token | name | TWITTER_ACCESS_TOKEN={d15}-{a20}
twitter-api-key | name | TWITTER_API_KEY={l25}
twitter-api-secret | name | TWITTER_API_SECRET={l50}
twitter-bearer-token | shape | AAAAAAAAAAAAAAAAAAAAAA{a80}
typeform-api-token | shape | tfp_{l59}
vault-batch-token | shape | hvb.{b138}
vault-service-token | shape | hvs.{b90}
yandex-access-token | shape | t1.{b40}.{b86}
yandex-api-key | shape | AQVN{b35}
yandex-aws-access-token | name | YANDEX_AWS_ACCESS_TOKEN=YC{b38}
zendesk-secret-key | name | ZENDESK_SECRET_KEY={l40}
"""


def rules(seed: int = 1) -> dict[str, tuple[str, str]]:
    """Return of each rule how we find its credentials, and a line with one, or the reason why not."""
    chance = random.Random(seed)  # noqa: S311 (nothing is guarded by it)
    found: dict[str, tuple[str, str]] = {}
    for row in RULES.strip().split("\n"):
        rule, how, template = row.split(" | ")
        found[rule] = how, template if how == NOT else filled(template, chance)
    return found
