"""Credentials in HTTP headers, wherever they are quoted: Authorization (RFC 9110, 11.6.2), cookies (RFC 6265)."""

import base64
import re
from collections.abc import Iterator
from typing import Final

from mcp_curated_shared.security.redaction.keys import level_of
from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.redaction.values import (
    is_placeholder,
    is_plain,
    is_reference,
    is_template,
    looks_random,
)
from mcp_curated_shared.security.redaction.words import reads_like_words

_JOINT: Final = (
    r"(?:\\{0,4}[\"'`\])]|&quot;){0,2}[ \t]{0,8}(?:[:=,]|=>)[ \t]{0,8}"
    r"(?:[fb]?(?:\\{0,4}[\"'`]|&quot;))?"
)
_HEADER: Final = re.compile(
    rf"authorization{_JOINT}(?P<scheme>[a-z][\w-]{{1,24}}[ \t]{{1,4}})?"
    r"(?P<value>[^\s\"'`<>\\,;]{4,2048})",
    re.IGNORECASE | re.ASCII,
)
_PARAMETER: Final = re.compile(r"[A-Za-z_]\w{0,30}=[\"'\w]")
_BEARER: Final = re.compile(
    r"bearer(?:[ \t:=+]|%20|\\u0020){1,4}(?:\\{0,4}[\"'`])?(?P<value>[A-Za-z0-9._~+/=|:-]{12,2048})",
    re.IGNORECASE | re.ASCII,
)
_BASIC: Final = re.compile(r"basic(?:[ \t]|%20){1,4}(?P<value>[A-Za-z0-9+/_-]{8,1024}={0,2})", re.IGNORECASE | re.ASCII)
_COOKIE: Final = re.compile(rf"cookies?2?{_JOINT}", re.IGNORECASE | re.ASCII)
_CRUMB: Final = re.compile(r"\s{0,2}(?P<name>[\w.%!-]{1,64})=(?P<value>[^;\s\"'`\\<>,]{0,2048})(?:;[ \t]?)?")
_COOKIE_WORDS: Final = re.compile(
    r"sess|sid\b|sid$|auth|token|jwt|csrf|xsrf|remember|login|sso|secret|key|user|access|refresh|identity|credential"
)
_ATTRIBUTES: Final = frozenset(
    ("path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "version", "comment", "priority")
)
_MANY_CRUMBS: Final = 100


def find_headers(text: str, small: str) -> list[Span]:
    """Every credential in a header of a text without invisible characters; `small` is the text in lower case."""
    found: list[Span] = []
    if "authorization" in small:
        found += _authorizations(text)
    if "bearer" in small:
        found += _bearers(text)
    if "basic" in small:
        found += _basics(text)
    if "cookie" in small:
        found += _cookies(text)
    return found


def _authorizations(text: str) -> Iterator[Span]:
    for match in _HEADER.finditer(text):
        value, start = match["value"].rstrip(".)]}"), match.start("value")
        if match["scheme"] and _PARAMETER.match(value) and match["scheme"].strip().lower() not in ("bearer", "basic"):
            continue  # Digest and signatures: parameters, of which the assignments judge each
        if _is_credential(value, 6 if match["scheme"] else 12):
            kind = "basic-auth" if (match["scheme"] or "").strip().lower() == "basic" else "authorization"
            yield Span(start, start + len(value), kind)


def _is_credential(value: str, least: int) -> bool:
    if len(value) < least or is_placeholder(value) or is_template(value):
        return False
    return not (is_reference(value) or is_plain(value, digits=2))


def _bearers(text: str) -> Iterator[Span]:
    for match in _BEARER.finditer(text):
        value = match["value"].rstrip(".:")
        if looks_random(value, least=12):
            yield Span(match.start("value"), match.start("value") + len(value), "bearer-token")


def _basics(text: str) -> Iterator[Span]:
    for match in _BASIC.finditer(text):
        if is_user_and_password(match["value"]):
            yield Span(*match.span("value"), "basic-auth")


def is_user_and_password(encoded: str) -> bool:
    """Whether base64 decodes to `user:password` (RFC 7617)."""
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except ValueError:  # of base64 or of UTF-8
        return False
    user, colon, password = decoded.partition(":")
    return bool(colon and (user or password)) and decoded.isprintable()


def _cookies(text: str) -> Iterator[Span]:
    position = 0
    while match := _COOKIE.search(text, position):
        position = match.end()
        for _ in range(_MANY_CRUMBS):
            crumb = _CRUMB.match(text, position)
            if crumb is None:
                break
            if _is_secret_crumb(crumb["name"], crumb["value"]):
                yield Span(*crumb.span("value"), "cookie")
            position = crumb.end()


def _is_secret_crumb(name: str, value: str) -> bool:
    """By its name a value that is no word; by any other name one that can be nothing but a key."""
    if name.lower() in _ATTRIBUTES or is_placeholder(value) or is_template(value):
        return False
    if "=" in value.rstrip("=") and reads_like_words(value):
        return False  # more names and values, not one
    if level_of(name) or _COOKIE_WORDS.search(name.lower()):
        return len(value) >= 6 and not is_plain(value, digits=1)
    return looks_random(value)
