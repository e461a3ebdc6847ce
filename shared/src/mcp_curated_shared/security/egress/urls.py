r"""URLs: what may be fetched at all, taken apart once and put together again in one spelling.

Two parsers that read one text differently are how a check is passed for one host and a connection made to another
(`http://a.example\@b.example/`, CVE-2023-24329 and many like it). So whatever is ambiguous is refused before parsing,
and what goes out is built from the checked parts, never from the text.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin

from mcp_curated_shared.security.egress.addresses import Address
from mcp_curated_shared.security.egress.errors import InvalidUrlError
from mcp_curated_shared.security.egress.names import canonical_host, host_address

LONGEST_URL: Final = 8_000
"""Characters; what RFC 9110, 4.1 recommends to support."""

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,19}(?=:)", re.ASCII)
_URL: Final = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.ASCII | re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]+)(?::([0-9]{0,5}))?", re.ASCII)
_KEPT_IN_PATHS: Final = "/?%:@!$&'()*+,;=~-._[]|"


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port, compared exactly (RFC 6454): `https://api.example`, `http://10.0.0.5:8080`."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """The origin of a URL; its path does not matter.

        Raises:
            InvalidUrlError: It is no URL that may be fetched.
        """
        return Target.parse(text).origin

    def __str__(self) -> str:
        usual = self.port == DEFAULT_PORTS[self.scheme]
        return f"{self.scheme}://{self.host}" + ("" if usual else f":{self.port}")


@dataclass(frozen=True, slots=True)
class Target:
    """One URL in parts that are safe to connect to and to show, after `parse`.

    Attributes:
        origin: Scheme, host and port.
        path: Path and query as they are sent, in ASCII; it may hold what is not to be shown.
    """

    origin: Origin
    path: str

    @classmethod
    def parse(cls, text: str) -> "Target":
        """Take a URL apart.

        Raises:
            InvalidUrlError: It is longer than `LONGEST_URL`, not http or https, or has user-info, a backslash, white
                space, an invisible or a control character, or an impossible host or port. The text is not quoted.
        """
        _refuse_ambiguous(text)
        match = _URL.fullmatch(text)
        if match is None:
            raise _wrong_scheme(text)
        scheme, authority, path = match[1].lower(), match[2], match[3]
        if "@" in authority:
            raise InvalidUrlError(
                "The URL holds a user name or password, which are never sent from here.", "Give the URL without them."
            )
        parts = _AUTHORITY.fullmatch(authority)
        if parts is None:
            raise InvalidUrlError("The URL has no valid host.", 'Write it as "https://host/path".')
        port = int(parts[2]) if parts[2] else DEFAULT_PORTS[scheme]
        if not 0 < port < 65536:
            raise InvalidUrlError("The URL's port is no port number.", "Give a port from 1 to 65535, or none.")
        rooted = path if path.startswith("/") else f"/{path}"
        return cls(Origin(scheme, canonical_host(parts[1]), port), quote(rooted, safe=_KEPT_IN_PATHS))

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return self.origin.scheme

    @property
    def host(self) -> str:
        """The canonical host, an IPv6 address in brackets; safe to show."""
        return self.origin.host

    @property
    def port(self) -> int:
        """The port to connect to."""
        return self.origin.port

    @property
    def address(self) -> Address | None:
        """The address, where the host is one in whatever spelling."""
        return host_address(self.host)

    @property
    def url(self) -> str:
        """The whole URL in its one spelling, without a fragment."""
        return f"{self.origin}{self.path}"

    def join(self, location: str) -> "Target":
        """Where a `Location` header or a link of this page leads.

        Blanks inside it become `%20`, since servers do send them; everything else is as strict as `parse`.

        Raises:
            InvalidUrlError: As `parse`.
        """
        reference = location.strip(" \t").replace(" ", "%20")
        _refuse_ambiguous(reference)
        try:
            joined = urljoin(self.url, reference)
        except ValueError:
            raise InvalidUrlError("The link leads to no valid URL.") from None
        return Target.parse(joined)


def _refuse_ambiguous(text: str) -> None:
    if len(text) > LONGEST_URL:
        raise InvalidUrlError(f"The URL is longer than {LONGEST_URL:,} characters.", "Give a shorter one.")
    if "\\" in text:
        raise InvalidUrlError("The URL holds a backslash, which programs read differently.", "Write / or %5C instead.")
    if any(_is_unseen(character) for character in text):
        raise InvalidUrlError(
            "The URL holds white space, a control character or an invisible one.", "Remove it or percent-encode it."
        )


def _is_unseen(character: str) -> bool:
    if character.isascii():
        return not "!" <= character <= "~"
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}


def _wrong_scheme(text: str) -> InvalidUrlError:
    scheme = _SCHEME.match(text)
    if scheme is None:
        return InvalidUrlError("The text is no absolute URL.", 'Write it as "https://host/path".')
    if scheme[0].lower() in DEFAULT_PORTS:
        return InvalidUrlError("The URL has no host.", 'Write it as "https://host/path".')
    return InvalidUrlError(f'"{scheme[0].lower()}" URLs are not fetched.', "Give an http or https URL.")
