"""The host of a URL: one canonical spelling for every way to write it.

Browsers, resolvers and libraries read numbers in many ways (`2130706433`, `0x7f.1`, `127.1`, `0177.0.0.1`) and fold
many characters (full-width digits, ideographic full stops). Whoever compares text with text is fooled by one of them.
Here every spelling becomes either one address or one name in ASCII, as in the URL standard (WHATWG, "host parsing").
"""

import ipaddress
import re
import unicodedata
from ipaddress import IPv4Address
from typing import Final

from mcp_curated_shared.security.egress.addresses import Address
from mcp_curated_shared.security.egress.errors import InvalidUrlError

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER: Final = re.compile(r"0x[0-9a-f]{0,64}|[0-9]{1,64}", re.ASCII)
_LONGEST_NAME: Final = 253  # RFC 1035, 2.3.4, without the root's dot

_LOCAL_SUFFIXES: Final = (
    "localhost",  # RFC 6761
    "local",  # RFC 6762
    "internal",  # reserved for private use by ICANN in 2024; the clouds' metadata hosts
    "home.arpa",  # RFC 8375
    "test",  # RFC 6761
    "invalid",  # RFC 6761
    "onion",  # RFC 7686
    *("intranet", "private", "corp", "home", "lan"),  # RFC 6762, appendix G
)


def canonical_host(text: str) -> str:
    """The one spelling of a host: a name in lower-case ASCII without a final dot, `a.b.c.d`, or `[v6]` compressed.

    Args:
        text: The host as it stands in a URL, an IPv6 address in its brackets.

    Raises:
        InvalidUrlError: No host can have that name.
    """
    if text.startswith("["):
        return f"[{_read_ipv6(text)}]"
    name = (text if text.isascii() else _to_ascii(text)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _LONGEST_NAME or any(_LABEL.fullmatch(label) is None for label in labels):
        raise InvalidUrlError("The URL's host is no valid host name.", "Check its spelling.")
    if _NUMBER.fullmatch(labels[-1]):
        return str(_read_ipv4(labels))
    return name


def host_address(host: str) -> Address | None:
    """The address that a canonical host is, or None for a name."""
    if host.startswith("["):
        return ipaddress.IPv6Address(host[1:-1])
    try:
        return IPv4Address(host)
    except ValueError:
        return None


def is_local_name(host: str) -> bool:
    """Whether a canonical host is a name that only a local network can answer: a single word or a reserved ending."""
    if host_address(host) is not None:
        return False
    return "." not in host or any(host == suffix or host.endswith("." + suffix) for suffix in _LOCAL_SUFFIXES)


def _read_ipv6(text: str) -> ipaddress.IPv6Address:
    try:
        if not text.endswith("]") or "%" in text:  # a zone means something on this machine only (RFC 6874)
            raise ValueError
        return ipaddress.IPv6Address(text[1:-1])
    except ValueError:
        raise InvalidUrlError(
            "The URL's host is no valid IPv6 address.", "Write it as in http://[2001:db8::1]/."
        ) from None


def _to_ascii(text: str) -> str:
    """Fold what looks like ASCII and spell the rest in Punycode (IDNA 2008 with the mapping of UTS 46)."""
    if len(text) > _LONGEST_NAME:  # no character folds to less than one
        raise InvalidUrlError("The URL's host is no valid host name.", "Check its spelling.")
    folded = unicodedata.normalize("NFKC", text).replace("\u3002", ".")
    if folded.isascii():
        return folded
    import idna  # only an international name needs its tables

    try:
        return idna.encode(folded.removesuffix("."), uts46=True, std3_rules=True).decode("ascii")
    except UnicodeError:
        raise InvalidUrlError("The URL's host is no valid international name.", "Check its spelling.") from None


def _read_ipv4(labels: list[str]) -> IPv4Address:
    """One to four numbers, decimal, octal or hexadecimal; the last fills the bytes that are left (inet_aton)."""
    try:
        numbers = [_read_number(label) for label in labels]
        *head, last = numbers
        if len(numbers) > 4 or any(number > 255 for number in head) or last >= 256 ** (5 - len(numbers)):
            raise ValueError
    except ValueError:
        raise InvalidUrlError("The URL's host is no valid IPv4 address.", "Write it as four numbers.") from None
    return IPv4Address(sum(number << (24 - 8 * place) for place, number in enumerate(head)) + last)


def _read_number(text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)
