"""Where the API is: one exact origin and the path below which it lies."""

import re
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress import InvalidUrlError, Origin, Target

PUBLIC: Final = "https://api.github.com"

_PREFIX: Final = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~-]+)*", re.ASCII)
_WEB_HOSTS: Final = frozenset({"github.com", "www.github.com"})


@dataclass(frozen=True, slots=True)
class ApiUrl:
    """The base of every request.

    Attributes:
        origin: The only one that is asked, and the only one that gets the token.
        prefix: What every path begins with: empty, or `/api/v3` on an Enterprise server.
    """

    origin: Origin
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> "ApiUrl":
        """Read a base URL.

        Raises:
            SettingsError: It is not https (http only on this machine), or has more than an origin and a plain path.
        """
        try:
            target = Target.parse(text)
        except InvalidUrlError as error:
            raise SettingsError(error.text, f'Write it like "{PUBLIC}" or "https://HOST/api/v3".') from None
        if target.scheme != "https" and not _is_loopback(target):
            raise SettingsError(
                f"{target.origin} is not protected on its way, and the token would be sent there.", "Give an https URL."
            )
        if target.host in _WEB_HOSTS:
            raise SettingsError(f"{target.host} is the web site, not the API.", f'Write "{PUBLIC}".')
        prefix = target.path.rstrip("/")
        if _PREFIX.fullmatch(prefix) is None:
            raise SettingsError(
                "The URL of the API has more than a plain path.", 'Write it like "https://HOST/api/v3".'
            )
        return cls(target.origin, prefix)

    @property
    def host(self) -> str:
        """The host, as errors name it."""
        return self.origin.host

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}"


def _is_loopback(target: Target) -> bool:
    address = target.address
    return target.host == "localhost" if address is None else address.is_loopback


DEFAULT: Final = ApiUrl(Origin("https", "api.github.com", 443))
