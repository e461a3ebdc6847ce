"""Masking the process's own secrets in whatever is about to leave, in every spelling they commonly take."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "[REDACTED:setting]"

SHORTEST = 6
"""A shorter value is not looked for: it would tear holes into ordinary words, and it protects nothing."""


def mask(text: str, pattern: re.Pattern[str] | None) -> str:
    """`text` without the secrets that `pattern` (from `secret_pattern`) finds."""
    return text if pattern is None else pattern.sub(MASK, text)


def secret_pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for every spelling of every secret, longest first; None when there is nothing to look for."""
    spellings = {spelling for secret in secrets if len(secret) >= SHORTEST for spelling in _spellings(secret)}
    if not spellings:
        return None
    return re.compile("|".join(re.escape(one) for one in sorted(spellings, key=len, reverse=True)))


def _spellings(secret: str) -> set[str]:
    """As it is; in a URL; in JSON; in a Python repr; in base64 at each of the three offsets (Basic credentials)."""
    found = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1]}
    raw = secret.encode("utf-8", "surrogatepass")
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + raw).decode("ascii").rstrip("=")
        # The first characters mix in the bytes before the secret, the last those after it: only the middle is certain.
        middle = encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]
        if len(middle) >= SHORTEST:
            found |= {middle, middle.replace("+", "-").replace("/", "_")}
    return found
