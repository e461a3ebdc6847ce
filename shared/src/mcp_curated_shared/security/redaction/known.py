"""The process's own secrets, in every spelling in which they commonly leave."""

import base64
import html
import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, quote_plus

from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.untrusted import INVISIBLE

SHORTEST: Final = 6
"""A shorter value is not looked for: it would tear holes into ordinary words, and it protects nothing."""

KIND: Final = "setting"

_ESCAPE: Final = re.compile("%[0-9A-F]{2}")


class KnownSecrets:
    """Finds given values exactly, whatever they look like.

    Args:
        secrets: The values; those of fewer than `SHORTEST` characters are ignored.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        seen = (INVISIBLE.sub("", secret) for secret in secrets)
        spellings = {spelling for secret in seen if len(secret) >= SHORTEST for spelling in spellings_of(secret)}
        ordered = sorted(spellings, key=len, reverse=True)
        self._spellings = tuple(spelling for spelling in ordered if not _ESCAPE.search(spelling))
        # The two digits of an escape may be written in either case (RFC 3986, 2.1).
        self._escaped = tuple(
            re.compile(_ESCAPE.sub(lambda match: f"(?i:{match.group()})", re.escape(spelling)))
            for spelling in ordered
            if _ESCAPE.search(spelling)
        )

    def find(self, text: str) -> list[Span]:
        """Every place of every spelling in a text without invisible characters."""
        found = [Span(*match.span(), KIND) for pattern in self._escaped for match in pattern.finditer(text)]
        for spelling in self._spellings:
            start = text.find(spelling)
            while start >= 0:
                end = start + len(spelling)
                found.append(Span(start, end, KIND))
                start = text.find(spelling, end)
        return found


def spellings_of(secret: str) -> set[str]:
    """As it is; in a URL; in JSON; in HTML; in a Python repr; in hex; in base64 at each of the three offsets.

    In base64 the first characters mix in the bytes before the secret and the last ones those after it (as in Basic
    credentials), so only the middle that belongs to the secret alone is looked for.
    """
    in_url = {quote(secret, safe="", errors="surrogatepass"), quote_plus(secret, errors="surrogatepass")}
    found = in_url | {secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], html.escape(secret)}
    found.add(json.dumps(secret, ensure_ascii=False)[1:-1])
    raw = secret.encode("utf-8", "surrogatepass")
    if len(raw) >= 8:
        found |= {raw.hex(), raw.hex().upper()}
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + raw).decode("ascii").rstrip("=")
        middle = encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]
        if len(middle) >= SHORTEST:
            found |= {middle, middle.replace("+", "-").replace("/", "_")}
    return found
