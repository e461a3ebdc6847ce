"""Secrets made at run time from the formats that their providers document; none of them was ever one."""

import base64
import json
import random
import string
from collections.abc import Callable

LETTERS = string.ascii_letters
ALPHANUMERIC = LETTERS + string.digits
URL_SAFE = ALPHANUMERIC + "_-"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits


class Maker:
    """Makes values that look like chance, the same ones for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)

    def of(self, characters: str, count: int) -> str:
        return "".join(self.random.choice(characters) for _ in range(count))

    def encoded(self, count: int) -> str:
        return base64.b64encode(self.random.randbytes(count)).decode()

    def uuid(self) -> str:
        return "-".join(self.of(HEX, count) for count in (8, 4, 4, 4, 12))

    def json_web_token(self) -> str:
        parts = ({"alg": "RS256", "typ": "JWT"}, {"sub": self.of(string.digits, 9), "exp": 1790000000})
        heads = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        return ".".join([*heads, self.of(URL_SAFE, 86)])

    def password(self) -> str:
        return self.of(ALPHANUMERIC, 6) + "!" + self.of(ALPHANUMERIC, 5) + "7"

    def private_key(self, name: str = "RSA PRIVATE KEY", lines: int = 8) -> tuple[str, list[str]]:
        body = [self.of(ALPHANUMERIC + "+/", 64) for _ in range(lines)]
        return "\n".join([f"-----BEGIN {name}-----", *body, f"-----END {name}-----"]), body


PROVIDERS: dict[str, Callable[[Maker], str]] = {
    "GitHub classic": lambda make: "ghp" + "_" + make.of(ALPHANUMERIC, 36),
    "GitHub OAuth": lambda make: "gho" + "_" + make.of(ALPHANUMERIC, 36),
    "GitHub installation": lambda make: "ghs" + "_" + make.of(string.digits, 7) + "_" + make.json_web_token(),
    "GitHub fine-grained": lambda make: (
        "github" + "_pat_" + make.of(ALPHANUMERIC, 22) + "_" + make.of(ALPHANUMERIC, 59)
    ),
    "GitLab": lambda make: "glpat" + "-" + make.of(URL_SAFE, 20),
    "AWS": lambda make: "AKIA" + make.of(string.ascii_uppercase + "234567", 16),
    "Google": lambda make: "AIza" + make.of(URL_SAFE, 35),
    "Google OAuth": lambda make: "GOCSPX" + "-" + make.of(URL_SAFE, 28),
    "Slack bot": lambda make: "-".join(
        ["xoxb", *(make.of(string.digits, 12) for _ in range(2)), make.of(ALPHANUMERIC, 24)]
    ),
    "Slack webhook": lambda make: (
        "https://hooks.slack"
        + f".com/services/T{make.of(UPPER, 10)}/B{make.of(UPPER, 10)}/"
        + make.of(ALPHANUMERIC, 24)
    ),
    "Stripe": lambda make: "sk" + "_live_" + make.of(ALPHANUMERIC, 24),
    "OpenAI": lambda make: "sk-" + "proj-" + make.of(URL_SAFE, 74) + "T3Blbk" + "FJ" + make.of(URL_SAFE, 74),
    "Anthropic": lambda make: "sk-" + "ant-api03-" + make.of(URL_SAFE, 93) + "AA",
    "Hugging Face": lambda make: "hf" + "_" + make.of(LETTERS, 34),
    "npm": lambda make: "npm" + "_" + make.of(ALPHANUMERIC, 36),
    "PyPI": lambda make: "pypi-" + "AgEIcHlwaS5vcmc" + make.of(URL_SAFE, 150),
    "SendGrid": lambda make: "SG" + "." + make.of(URL_SAFE, 22) + "." + make.of(URL_SAFE, 43),
    "Mailchimp": lambda make: make.of(HEX, 32) + "-us" + "7",
    "Telegram": lambda make: make.of("123456789", 10) + ":AA" + make.of(URL_SAFE, 33),
    "DigitalOcean": lambda make: "dop" + "_v1_" + make.of(HEX, 64),
    "Cloudflare": lambda make: "cfut" + "_" + make.of(ALPHANUMERIC, 48),
    "Databricks": lambda make: "da" + "pi" + make.of(HEX, 32),
    "Vault": lambda make: "hvs" + "." + make.of(URL_SAFE, 24),
    "Terraform": lambda make: make.of(ALPHANUMERIC, 14) + ".atlas" + "v1." + make.of(ALPHANUMERIC, 67),
    "age": lambda make: "AGE-SECRET" + "-KEY-1" + make.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "Entra ID": lambda make: make.of(ALPHANUMERIC, 3) + "8Q" + "~" + make.of(ALPHANUMERIC + "_.~-", 33) + "x",
    "Twilio": lambda make: "S" + "K" + make.of(HEX, 32),
    "JSON Web Token": lambda make: make.json_web_token(),
}
