"""Credentials in addresses: the password of a URL's user information (RFC 3986, 3.2.1) and of the forms of drivers.

Only the password is hidden; the scheme, the user and the host stay readable.
"""

import re
from collections.abc import Iterator
from typing import Final

from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.redaction.values import is_placeholder, is_template, looks_random

KIND: Final = "url-password"

_HOST: Final = r"(?=[\w\[.%$-])"
_PASSWORD: Final = re.compile(rf"([^\s/?#@:\"'<>\\`]{{0,200}}):([^\s/?#\"'<>`\\]{{1,512}})@{_HOST}")
# Drivers take what RFC 3986 wants escaped; then the last "@" before a host divides, but not after "host:5432/".
_LOOSE_PASSWORD: Final = re.compile(
    rf"([^\s/?#@:\"'<>\\`]{{1,200}}):(?![0-9]{{1,5}}[/?#])([^\s\"'<>`\\@]{{1,200}})@{_HOST}[\w.-]{{1,200}}[:/?]"
)
_DRIVERS: Final = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|sqlserver|oracle|snowflake|clickhouse|cockroachdb|"
    r"cassandra|neo4j|bolt|ldaps?|smtps?|imaps?|s?ftps?|nats|mqtts?|kafka|couchdb|influxdb|db2|vertica|redshift|trino|"
    r"presto|jdbc:[a-z0-9]+)(?:\+[a-z0-9_]{1,20})?\Z",
    re.IGNORECASE,
)
_TOKEN_USER: Final = re.compile(rf"([^\s/?#@:\"'<>\\`]{{16,512}})(?::(?:x-oauth-basic|x)?)?@{_HOST}")
_ENCODED: Final = re.compile(
    r"%3A%2F%2F([\w.~-]{0,80})%3A([\w.~-]+(?:%(?!40)[0-9A-F]{2}[\w.~-]*){0,40})%40", re.IGNORECASE
)
_GO_DSN: Final = re.compile(r"(?<![\w.-])[\w.-]{1,64}:([^\s\"'`@]{1,128})@(?:tcp|unix|udp)6?\(")
_ORACLE: Final = re.compile(
    r"(?:jdbc:oracle:[a-z]{2,6}:|sqlplus(?: -[a-zA-Z]+)? )([^/\s@\"']{1,64})/([^@\s\"']{1,128})@"
)
_PGPASS: Final = re.compile(
    r"^[\w.*-]{1,100}:(?:5432|5433|6432|\*):[\w*-]{1,64}:[\w*.-]{1,64}:([^\s:]{1,128})$", re.MULTILINE
)

_AFTER_TOKEN: Final = frozenset({"x-oauth-basic", "x"})
"""What stands in the password's place when the token takes the user's."""

_STAND_INS: Final = frozenset(
    ("pass", "password", "passwd", "pwd", "secret", "pw", "token", "user", "username", "mypassword")
)


def find_addresses(text: str, small: str) -> list[Span]:
    """Every password in an address of a text without invisible characters; `small` is the text in lower case."""
    found: list[Span] = []
    for slashes in ("://", ":\\/\\/"):
        if slashes in text:
            found += _urls(text, slashes)
    if "%3a%2f%2f" in small:
        found += _spans(_ENCODED, text, 2)
    if "@tcp(" in text or "@unix(" in text or "@udp(" in text:
        found += _spans(_GO_DSN, text, 1)
    if "jdbc:oracle:" in small or "sqlplus " in small:
        found += _spans(_ORACLE, text, 2)
    if any(port in text for port in (":5432:", ":5433:", ":6432:", ":*:")):
        found += _spans(_PGPASS, text, 1)
    return found


def _spans(pattern: re.Pattern[str], text: str, group: int) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if is_password(match.group(group)):
            yield Span(*match.span(group), KIND)


def _urls(text: str, slashes: str) -> Iterator[Span]:
    position = text.find(slashes)
    while position >= 0:
        start = position + len(slashes)
        span = _user_information(text, position, start)
        if span:
            yield span
        position = text.find(slashes, span.end if span else start)


def _user_information(text: str, colon: int, start: int) -> Span | None:
    """The password, or the token that takes the user's place, after `scheme://`."""
    match = _PASSWORD.match(text, start)
    if match is None and _DRIVERS.search(text, max(0, colon - 32), colon):
        match = _LOOSE_PASSWORD.match(text, start)
    if match and match.group(2) not in _AFTER_TOKEN:
        return Span(*match.span(2), KIND) if is_password(match.group(2)) else None
    token = _TOKEN_USER.match(text, start)
    if token and looks_random(token.group(1)):
        return Span(*token.span(1), "url-token")
    return None


def is_password(value: str) -> bool:
    """Whether what stands in a password's place is one: no mask, no template, no word for it."""
    if len(value) < 3 or value.startswith("$") or value.lower() in _STAND_INS:
        return False
    return not is_placeholder(value) and not is_template(value)
