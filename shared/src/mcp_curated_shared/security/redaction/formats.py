"""The formats that providers give their credentials, as their documentation describes them.

One row a family: its kind, the literals that every such token holds, and the expression for what follows. Lengths are
lower bounds well below the documented ones and have no upper end: providers lengthen their tokens (GitHub's
installation tokens grew from 40 to 520 characters in 2026) and a half-hidden token is a leak. No checksum is asked
for: one that does not match may be a typing error in a token that works.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

Trust = Literal["distinctive", "short", "inner"]

# A token may follow a letter that is not of it: the end of an escape in JSON, of a percent escape, of a colour code.
# The check stands behind the literal, as lookbehinds: expressions that begin with a literal are found fastest.
_BEGINNINGS: Final = (
    r"(?<![A-Za-z0-9_]{0})|(?<=\\[nrtbf]{0})|(?<=%[0-9A-Fa-f]{{2}}{0})|(?<=\\[ux]00[0-9a-fA-F]{{2}}{0})"
    r"|(?<=\\x[0-9a-fA-F]{{2}}{0})|(?<=\x1b\[[0-9]m{0})|(?<=\x1b\[[0-9]{{2}}m{0})|(?<=\x1b\[[0-9];[0-9]{{2}}m{0})"
)
# Of a character that could itself be part of such an escape: that it is none.
_NO_ESCAPE: Final = r"(?<!\\[nrtbfux])(?<!%.)(?<!%[0-9A-Fa-f].)(?<!\x1b\[.)(?<!\x1b\[[0-9].)(?<!\x1b\[[0-9]{2}.)"


@dataclass(frozen=True, slots=True)
class Format:
    """One family of tokens.

    Attributes:
        kind: The kind of its spans.
        literals: A text that holds none of them holds no such token.
        expression: The whole token; of a match with a group `secret` only that is hidden. Compiled when first needed.
        trust: "distinctive": the literal begins the token and means nothing else. "short": it may end an ordinary word,
            so a token must not begin inside one nor read like words. "inner": the literal stands inside the token.
    """

    kind: str
    literals: tuple[str, ...]
    expression: str
    trust: Trust


def _distinctive(kind: str, literals: str, tail: str) -> Format:
    return Format(kind, tuple(literals.split()), f"(?:{_any(literals)})(?:{tail})", "distinctive")


def _short(kind: str, literals: str, tail: str) -> Format:
    return Format(kind, tuple(literals.split()), f"(?:{_any_at_beginning(literals)})(?:{tail})", "short")


def _inner(kind: str, literals: str, whole: str) -> Format:
    return Format(kind, tuple(literals.split()), whole, "inner")


def _beginning_with(first: str, rest: str) -> str:
    """A token that no literal begins: a first character, where a word begins, and what follows it."""
    return f"{first}{_NO_ESCAPE}(?:{_BEGINNINGS.format('.')}){rest}"


def _any(literals: str) -> str:
    return "|".join(re.escape(literal) for literal in sorted(literals.split(), key=len, reverse=True))


def _any_at_beginning(literals: str) -> str:
    escaped = (re.escape(literal) for literal in sorted(literals.split(), key=len, reverse=True))
    return "|".join(f"{literal}(?:{_BEGINNINGS.format(literal)})" for literal in escaped)


_UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_SLASHES = r"(?:https?:\\?/\\?/)?"

_CODE_HOSTS: Final = (
    _distinctive("github-token", "ghp_ gho_ ghu_ ghr_", "[A-Za-z0-9_]{20,}"),
    _distinctive("github-token", "ghs_", "[A-Za-z0-9][A-Za-z0-9_.=-]{19,}"),
    _distinctive("github-token", "github_pat_", "[A-Za-z0-9_]{20,}"),
    _distinctive(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- glwt- GR1348941",
        r"[A-Za-z0-9_.=-]{15,}",
    ),
    _inner("gitlab-session", "_gitlab_session=", r"_gitlab_session=(?P<secret>[0-9A-Za-z]{20,})"),
    _distinctive("atlassian-token", "ATATT3 ATCTT3 ATOATT3 ATRTT3 ATBB ATSTT3", r"[A-Za-z0-9_=.+/-]{20,}"),
    _distinctive("expo-token", "expo_", "[A-Za-z0-9_-]{38,}"),
    _distinctive("npm-token", "npm_", "[A-Za-z0-9]{30,}"),
    _distinctive("pypi-token", "pypi-AgE pypi-AgN", "[A-Za-z0-9_-]{30,}"),
    _distinctive("rubygems-token", "rubygems_", "[0-9a-f]{32,}"),
    _distinctive("clojars-token", "CLOJARS_", "[0-9a-zA-Z]{40,}"),
    _short("crates-token", "cio", "[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _short("nuget-key", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9])"),
    _distinctive("docker-token", "dckr_pat_ dckr_oat_", "[A-Za-z0-9_-]{20,}"),
    _short("jfrog-token", "AKCp cmVmdGtu cmVmdGtuOj", "[A-Za-z0-9]{40,}"),
    _distinctive("sourcegraph-token", "sgp_ slk_", "(?:[a-zA-Z0-9]{16}_|local_)?[0-9a-f]{40,}"),
    _distinctive("buildkite-token", "bkua_ bkaj_ bkct_ bkat_", "[0-9a-zA-Z]{30,}"),
    _distinctive("circleci-token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{30,}"),
    _distinctive("sonar-token", "squ_ sqp_ sqa_", "[0-9a-f]{32,}"),
    _distinctive("snyk-token", "snyk_uat. snyk_sat.", "[A-Za-z0-9_.-]{20,}"),
    _short("harness-token", "pat. sat.", r"[A-Za-z0-9_-]{18,24}\.[0-9a-zA-Z]{20,26}\.[A-Za-z0-9]{16,24}"),
    _short("harness-token", "NRT-", "[A-Za-z0-9]{40,}"),
    _short("octopus-key", "API-", "[A-Z0-9]{25,}"),
    _distinctive("hex-key", "hex_key_", "[0-9a-f]{24,}"),
)

_CLOUDS: Final = (
    _short("aws-access-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _distinctive("vercel-token", "vercel_blob_rw_ vcp_ vci_ vca_ vcr_ vck_", "[A-Za-z0-9_]{24,}"),
    _short("deno-token", "ddp_ ddo_", "[A-Za-z0-9]{36,}"),
    _distinctive("openshift-token", "sha256~", "[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    _distinctive("scalingo-token", "tk-us-", "[A-Za-z0-9_-]{40,}"),
    _distinctive("rootly-key", "rootly_", "[0-9a-f]{40,}"),
    _distinctive("fly-token", "fm1r_ fm2_ fm1a_", "[A-Za-z0-9+/=_-]{40,}"),
    _distinctive("secret-token", "secret-token:", "[A-Za-z0-9_.~%-]{20,}"),  # RFC 8959
    _short("aws-access-key", "A3T", "[A-Z0-9]{17}(?![A-Za-z0-9])"),
    _short("aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{60,}={0,2}"),
    _short("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/=_-]{20,}"),
    _short("google-key", "AIza", "[A-Za-z0-9_-]{30,}"),
    _distinctive("google-oauth-secret", "GOCSPX-", "[A-Za-z0-9_-]{20,}"),
    _distinctive("google-oauth-token", "ya29.", "[A-Za-z0-9_.-]{20,}"),
    _short("google-oauth-token", "1//0", "[A-Za-z0-9_-]{30,}(?![A-Za-z0-9+/=])"),
    _short("google-key", "AQ.Ab", "[A-Za-z0-9_-]{30,}"),
    _short("google-hmac-key", "GOOG1E", "[A-Z0-9]{50,}"),
    _inner("azure-client-secret", "Q~", r"[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{25,}"),
    _inner("azure-key", "JQQJ99", "[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}"),
    _inner(
        "azure-key",
        "+ASt +ABa +AMC +ACR ACDb AIoT ASbE AEhS AzSe AzFu APIM AZDO AzCa",
        _beginning_with(
            "[A-Za-z0-9/+]",
            r"[A-Za-z0-9/+]{32,75}"
            r"(?:\+ASt|\+ABa|\+AMC|\+ACR|ACDb|AIoT|ASbE|AEhS|AzSe|AzFu|APIM|AZDO|AzCa)"
            r"[A-Za-z0-9/+]{4,6}={0,2}(?![A-Za-z0-9/+])",
        ),
    ),
    _distinctive("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{40,}"),
    _short("alibaba-key", "LTAI", "[A-Za-z0-9]{12,}(?![A-Za-z0-9])"),
    _short("tencent-key", "AKID", "[A-Za-z0-9]{28,}"),
    _distinctive("baidu-key", "bce-v3/ALTAK-", r"[A-Za-z0-9]{10,}/[0-9a-f]{30,}"),
    _short("volcengine-key", "AKLT", "[A-Za-z0-9_=-]{30,}"),
    _short("yandex-key", "AQVN", "[A-Za-z0-9_-]{30,}"),
    _short("yandex-key", "YCA YCM YCO YCN YCP", "[A-Za-z0-9_-]{35,38}(?![A-Za-z0-9_-])"),
    _short("yandex-token", "t1. y0_ y1_ y2_ y3_ y4_", "[A-Za-z0-9_=.-]{40,}"),
    _distinctive("heroku-key", "HRKU-", "[A-Za-z0-9_-]{30,}"),
    _distinctive("fly-token", "FlyV1 fm1_ fm2_ fm1r_ fm1a_", r"[A-Za-z0-9_=+/,-]{40,}"),
    _distinctive("fly-token", "fo1_", "[A-Za-z0-9_-]{40,}"),
    _distinctive("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", "[A-Za-z0-9]{30,}"),
    _distinctive("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", "[A-Za-z0-9]{20,}"),
    _distinctive("render-key", "rnd_", "[A-Za-z0-9]{24,}"),
    _distinctive("cloudflare-key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{100,}"),
    _distinctive("cloudflare-token", "cfut_ cfat_ cfk_", "[A-Za-z0-9_-]{30,}"),
    _short("scaleway-key", "SCW", "[A-Z0-9]{17}(?![A-Za-z0-9])"),
    _distinctive("heroku-key", "heroku_", "[A-Za-z0-9]{30,}"),
    _distinctive("terraform-token", "tfp_ tfe_", "[A-Za-z0-9_.=-]{40,}"),
    _inner(
        "terraform-token",
        ".atlasv1.",
        _beginning_with("[A-Za-z0-9]", r"[A-Za-z0-9]{9,19}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    ),
    _distinctive("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_.-]{20,}"),
    _short("vault-token", "s. b. r.", "[A-Za-z0-9]{24}(?![A-Za-z0-9.(])"),
    _short("pulumi-token", "pul-", "[0-9a-f]{32,}"),
    _distinctive("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", r"[A-Za-z0-9_.-]{30,}"),
    _distinctive("onepassword-token", "ops_eyJ", r"[A-Za-z0-9_+/.-]{60,}={0,64}"),
    _short(
        "onepassword-secret-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    _short("bitwarden-token", "0.", _UUID + r"\.[A-Za-z0-9]{20,}:[A-Za-z0-9+/=]{20,}"),
    _short("infisical-token", "st.", r"[0-9a-f]{8,24}(?:-[0-9a-f-]{27})?\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    _distinctive("tailscale-key", "tskey-", r"(?:[a-z]{3,12}-)?[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{10,})?"),
    _distinctive("age-key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", "[A-Z0-9]{40,}"),
    _distinctive("age-key", "age-secret-key-1", "[a-z0-9]{40,}"),
    _distinctive("prefect-key", "pnu_ pnb_", "[A-Za-z0-9]{30,}"),
)

_DATA: Final = (
    _short("databricks-token", "dapi dkea dose dosx", "[0-9a-f]{32,}(?:-[0-9])?"),
    _distinctive("supabase-key", "sbp_", "(?:v0_|oauth_)?[0-9a-f]{40,}"),
    _distinctive("supabase-key", "sb_secret_", "[A-Za-z0-9_-]{20,}"),
    _distinctive("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_=.-]{30,}"),
    _distinctive("neon-key", "napi_", "[a-z0-9]{40,}"),
    _distinctive("mongodb-key", "mdb_sa_sk_", "[A-Za-z0-9_-]{30,}"),
    _distinctive("aiven-password", "AVNS_", "[A-Za-z0-9_-]{14,}"),
    _short("confluent-key", "cflt", r"[A-Za-z0-9+/=]{60}(?![A-Za-z0-9+/])"),
    _short("clickhouse-key", "4b1d", "[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    _short("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-z]{60,}"),
    _distinctive("elastic-key", "essu_", "[A-Za-z0-9_=-]{40,}"),
    _distinctive("dbt-token", "dbtc_ dbts_ dbtu_", "[A-Za-z0-9_=-]{30,}"),
    _distinctive("grafana-token", "glsa_", "[A-Za-z0-9]{30,}_[0-9a-fA-F]{8}"),
    _distinctive("grafana-token", "glc_ey", "[A-Za-z0-9+/_=-]{30,}"),
    _short("grafana-key", "eyJrIjoi", "[A-Za-z0-9+/_-]{40,}={0,3}"),
    _distinctive("newrelic-key", "NRAK- NRII- NRIQ- NRAA- NRRA- NRSP- NRJS-", "[A-Za-z0-9_-]{19,}"),
    _inner("newrelic-key", "NRAL", _beginning_with("[0-9a-fA-F]", "[0-9a-fA-F]{31,39}NRAL(?![A-Za-z0-9])")),
    _distinctive("sentry-token", "sntrys_", r"[A-Za-z0-9+/_.=-]{40,}"),
    _distinctive("sentry-token", "sntryu_ sntrya_ sntryi_", "[0-9a-f]{40,}"),
    _distinctive(
        "dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s09. dt0s16.", r"[A-Za-z0-9_.-]{30,}"
    ),
    _distinctive("honeycomb-key", "hcaik_ hcxik_ hcbik_ hcamk_ hcxlk_ hcalk_ hcaic_", "[A-Za-z0-9]{30,}"),
    _short("launchdarkly-key", "sdk- api- mob- rel-", _UUID),
    _distinctive("posthog-key", "phx_ phs_", "[A-Za-z0-9_]{30,}"),
    _distinctive("datadog-key", "ddapp_ ddpat_ ddapi_", "[A-Za-z0-9_]{24,}"),
    _distinctive("wandb-key", "wandb_v1_", "[A-Za-z0-9_]{20,}"),
)

_MODELS: Final = (
    _short("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{20,}"),
    _short("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or- sk-lf- sk-helicone-", "[A-Za-z0-9_-]{20,}"),
    _inner("openai-key", "T3BlbkFJ", _beginning_with("[A-Za-z0-9]", "[A-Za-z0-9_-]{8,200}?T3BlbkFJ[A-Za-z0-9_-]{10,}")),
    _short("api-key", "sk-", "[A-Za-z0-9][A-Za-z0-9_-]{19,}"),
    _short("openai-session", "sess-", "[A-Za-z0-9]{30,}"),
    _short("huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{24,}"),
    _short("perplexity-key", "pplx-", "[A-Za-z0-9]{30,}"),
    _short("groq-key", "gsk_", "[A-Za-z0-9]{30,}"),
    _short("xai-key", "xai-", "[A-Za-z0-9_-]{30,}"),
    _short("replicate-token", "r8_", "[A-Za-z0-9]{30,}"),
    _short("together-key", "tgp_v1_", "[A-Za-z0-9_-]{30,}"),
    _short("fireworks-key", "fw_", "[A-Za-z0-9]{20,}"),
    _short("elevenlabs-key", "sk_", "[0-9a-f]{40,}"),
    _distinctive("nvidia-key", "nvapi-", "[A-Za-z0-9_-]{40,}"),
    _distinctive("langsmith-key", "lsv2_pt_ lsv2_sk_ ls__", "[0-9a-f]{20,}(?:_[0-9a-f]{8,})?"),
    _short("voyage-key", "pa-", "[A-Za-z0-9_-]{40,}"),
    _distinctive("jina-key", "jina_", "[A-Za-z0-9_-]{40,}"),
    _short("firecrawl-key", "fc-", "[0-9a-f]{30,}"),
    _distinctive("tavily-key", "tvly-", "[A-Za-z0-9_-]{20,}"),
    _distinctive("pinecone-key", "pcsk_", "[A-Za-z0-9_]{40,}"),
    _short("cerebras-key", "csk-", "[a-z0-9]{40,}"),
    _distinctive("runpod-key", "rpa_", "[A-Z0-9]{30,}[a-z0-9]*"),
    _distinctive("anyscale-key", "esecret_", "[A-Za-z0-9]{20,}"),
    _distinctive("apify-token", "apify_api_ apify_proxy_", "[A-Za-z0-9]{30,}"),
    _short("brave-key", "BSA", "[A-Za-z0-9_-]{24,}(?![A-Za-z0-9])"),
    _short("e2b-key", "e2b_", "[0-9a-f]{36,}"),
    _short("modal-token", "ak- as-", "[A-Za-z0-9]{22}(?![A-Za-z0-9])"),
    _short("cursor-key", "key_ crsr_", "[0-9a-f]{60,}"),
)

_MESSAGES: Final = (
    _distinctive(
        "slack-token", "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxe- xoxc- xoxd- xoxe. xapp-", r"[A-Za-z0-9_%./+=-]{10,}"
    ),
    _inner(
        "slack-webhook",
        "hooks.slack.com",
        _SLASHES + r"hooks\.slack(?:-gov)?\.com\\?/(?:services|workflows|triggers)(?:[A-Za-z0-9/_+-]|\\/){20,}",
    ),
    _inner(
        "discord-webhook",
        "/webhooks",
        _SLASHES + r"(?:[a-z]{1,8}\.)?discord(?:app)?\.com\\?/api\\?/(?:v[0-9]{1,2}\\?/)?webhooks\\?/[0-9]{15,21}\\?/"
        r"[A-Za-z0-9_-]{30,}",
    ),
    _inner(
        "discord-token",
        ".",
        _beginning_with("[MNO]", r"[A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    ),
    _inner(
        "discord-token",
        "mfa.",
        _beginning_with("m", r"fa\.[A-Za-z0-9_-]{60,}"),
    ),
    _inner("telegram-token", ":AA :A", _beginning_with("[0-9]", "[0-9]{6,10}:A[A-Za-z0-9_-]{33,35}(?![A-Za-z0-9_-])")),
    _inner(
        "teams-webhook",
        "webhook.office.com outlook.office.com/webhook",
        _SLASHES + r"(?:[a-z0-9-]{1,40}\.webhook|outlook)\.office\.com/webhook[a-z0-9]{0,4}/[A-Za-z0-9@/-]{60,}",
    ),
    _inner(
        "webhook",
        "hooks.zapier.com/hooks/ open.feishu.cn/open-apis/bot open.larksuite.com/open-apis/bot",
        _SLASHES + r"(?:hooks\.zapier\.com/hooks/catch|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)"
        r"/[A-Za-z0-9/-]{12,}",
    ),
    _inner("webhook", "qyapi.weixin.qq.com", r"webhook/send\?key=(?P<secret>[0-9a-fA-F-]{30,})"),
    _inner("mattermost-webhook", "/hooks/", r"/hooks/(?P<secret>[a-z0-9]{26})(?![A-Za-z0-9])"),
    _distinctive("sendgrid-key", "SG.", r"[A-Za-z0-9_.=-]{40,}"),
    _short("mailgun-key", "key- pubkey-", "[0-9a-f]{32}(?![A-Za-z0-9])"),
    _inner("mailgun-key", "-", _beginning_with("[0-9a-f]", "[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])")),
    _inner("mailchimp-key", "-us", _beginning_with("[0-9a-f]", "[0-9a-f]{31}-us[0-9]{1,2}(?![A-Za-z0-9])")),
    _distinctive("brevo-key", "xkeysib- xsmtpsib-", "[0-9a-f]{40,}(?:-[A-Za-z0-9]{10,})?"),
    _short("resend-key", "re_", "[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}"),
    _distinctive("mailersend-key", "mlsn.", "[0-9a-f]{40,}"),
    _short("twilio-key", "SK", "[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
)

_MONEY: Final = (
    _distinctive(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_org_test_ ek_live_",
        "[A-Za-z0-9]{10,}",
    ),
    _distinctive("webhook-secret", "whsec_", r"[A-Za-z0-9+/=_-]{20,}"),
    _distinctive("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpit_", "[0-9a-fA-F]{24,}"),
    _short("square-token", "EAAA", "[A-Za-z0-9_-]{60}(?![A-Za-z0-9_+/-])"),
    _distinctive("square-token", "sq0atp- sq0csp- sandbox-sq0", "[A-Za-z0-9_+=-]{20,}"),
    _distinctive("braintree-token", "access_token$production$ access_token$sandbox$", r"[0-9a-z]{16}\$[0-9a-f]{32}"),
    _distinctive("plaid-token", "access-sandbox- access-development- access-production-", _UUID),
    _distinctive("flutterwave-key", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK-", "[A-Za-z0-9]{12,}(?:-[A-Z])?"),
    _distinctive("razorpay-key", "rzp_live_ rzp_test_", "[A-Za-z0-9]{14,}"),
    _short("easypost-key", "EZAK EZTK", "[A-Za-z0-9]{40,}"),
    _distinctive("shippo-token", "shippo_live_ shippo_test_", "[0-9a-fA-F]{30,}"),
    _distinctive("duffel-token", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{30,}"),
    _short("lob-key", "live_ test_ live_pub_ test_pub_", "[0-9a-f]{31,}|[A-Za-z0-9]{30}(?![A-Za-z0-9])"),
    _short("gocardless-token", "live_ sandbox_", "[A-Za-z0-9_=-]{40}(?![A-Za-z0-9_=-])"),
    _distinctive("paddle-key", "pdl_live_ pdl_sdbx_ pdl_ntfset_", "[A-Za-z0-9_]{20,}"),
    _distinctive("polar-token", "polar_oat_ polar_pat_", "[A-Za-z0-9]{20,}"),
    _short("adyen-key", "AQE", r"[A-Za-z0-9+/]{50,}=?-[A-Za-z0-9+/]{20,}=?-[^\s\"']{4,40}"),
)

_SERVICES: Final = (
    _distinctive("linear-key", "lin_api_ lin_oauth_ lin_wh_", "[A-Za-z0-9]{24,}"),
    _distinctive("notion-token", "ntn_ secret_", "[A-Za-z0-9]{40,}(?![A-Za-z0-9_])"),
    _distinctive("figma-token", "figd_ figo_ figu_ figoh_ figor_", "[A-Za-z0-9_-]{24,}"),
    _short("trello-token", "ATTA", "[0-9a-f]{60,}(?:[0-9A-F]{8})?"),
    _short("asana-token", "0/ 1/ 2/", "[0-9]{12,}(?:/[0-9]{12,})?:[0-9a-f]{32}"),
    _short("clickup-token", "pk_", "[0-9]{5,12}_[A-Z0-9]{20,}"),
    _distinctive("postman-key", "PMAK- PMAT-", "[0-9A-Za-z-]{24,}"),
    _distinctive("readme-key", "rdme_ rdme_xn8s9h", "[a-z0-9]{50,}"),
    _distinctive("contentful-token", "CFPAT-", "[A-Za-z0-9_-]{30,}"),
    _distinctive("typeform-token", "tfp_", "[A-Za-z0-9_.=-]{30,}"),
    _distinctive("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    _inner("salesforce-token", "!", _beginning_with("0", r"0D[A-Za-z0-9]{12,15}!A[A-Za-z0-9._]{40,}")),
    _short("facebook-token", "EAA", "[A-Za-z0-9]{80,}"),
    _short("instagram-token", "IGQV IGAA", "[A-Za-z0-9_-]{60,}"),
    _short("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", "(?=[A-Za-z0-9]{0,80}%)[A-Za-z0-9%]{50,}"),
    _inner("twitter-token", "-", _beginning_with("[0-9]", "[0-9]{14,19}-[A-Za-z0-9]{40}(?![A-Za-z0-9])")),
    _short("dropbox-token", "sl.", r"[A-Za-z0-9_=-][A-Za-z0-9_.=-]{60,}"),
    _distinctive("frameio-token", "fio-u-", "[A-Za-z0-9_=-]{50,}"),
    _distinctive("mapbox-token", "sk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    _inner("maxmind-key", "_mmk", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _short("adobe-secret", "p8e- p8-", "[A-Za-z0-9_-]{30,}"),
    _short("beamer-token", "b_", "[A-Za-z0-9_=-]{44}(?![A-Za-z0-9_=-])"),
    _distinctive("intra42-secret", "s-s4t2ud- s-s4t2af-", "[0-9a-f]{40,}"),
    _distinctive("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", "[A-Za-z0-9]{14,}"),
    _distinctive("infracost-token", "ico-", "[A-Za-z0-9]{30,}"),
    _distinctive("vk-token", "vk1.a.", "[A-Za-z0-9_-]{60,}"),
    _distinctive("pubnub-key", "sec-c-", "[A-Za-z0-9]{40,}|sec-c-" + _UUID),
    _short("apollo-key", "user:gh. service: user:fp.", "[A-Za-z0-9._-]{3,40}:[A-Za-z0-9_-]{20,}"),
    _distinctive("retool-token", "retool_", "[A-Za-z0-9]{20,}"),
    _distinctive("aws-appsync-key", "da2-", "[a-z0-9]{26}(?![A-Za-z0-9])"),
    _distinctive("aws-mws-token", "amzn.mws.", _UUID),
    _short("sumo-key", "sumo_", "[A-Za-z0-9]{40,}"),
    _short("canva-secret", "cnvca", "[A-Za-z0-9_-]{40,}"),
    _distinctive("django-secret-key", "django-insecure-", r"[A-Za-z0-9!@#$%^&*(\-_=+)]{30,}"),
    _distinctive("kong-token", "kpat_ spat_", "[A-Za-z0-9]{30,}"),
)

FORMATS: Final = (*_CODE_HOSTS, *_CLOUDS, *_DATA, *_MODELS, *_MESSAGES, *_MONEY, *_SERVICES)
"""Every family; of two that meet in one place the earlier one names the kind."""
