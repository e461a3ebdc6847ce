"""Proxies: used when the operator asks for one, never because a variable happens to be set.

Through a proxy the proxy looks names up, so the address that is reached cannot be decided here: the egress policy is
then the proxy's. What can be seen from here (literal addresses, names of a local network) is still refused, and the
caller is told once, in `PROXY_NOTICE`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import unquote

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress.addresses import Network, inside
from mcp_curated_shared.security.egress.errors import InvalidUrlError
from mcp_curated_shared.security.egress.names import canonical_host
from mcp_curated_shared.security.egress.networks import read_network
from mcp_curated_shared.security.egress.urls import Origin, Target
from mcp_curated_shared.settings.kinds import Secret

PROXY_NOTICE: Final = (
    "Fetched through a proxy: it looks the names up, so which addresses are reached is its decision, not this server's."
)
FROM_ENVIRONMENT: Final[Literal["environment"]] = "environment"
"""The value of `--proxy` that asks for HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY."""

_URL: Final = re.compile(r"(?P<scheme>[a-z0-9+.-]+)://(?:(?P<user>[^@/?#]*)@)?(?P<host>[^@/?#]+)/?", re.IGNORECASE)
_EXCEPTION: Final = re.compile(r"\.?(?P<host>\[[0-9a-f:.]+\]|[^:\[\]/]+|[0-9a-f:]+)(?::(?P<port>[0-9]{1,5}))?", re.I)


@dataclass(frozen=True, slots=True)
class Proxy:
    """One HTTP proxy. Its own address is the operator's choice and may be private.

    Attributes:
        origin: Where it listens.
        user: The user name for it, if it wants one.
        password: The password for it.
    """

    origin: Origin
    user: str | None = field(default=None, repr=False)
    password: Secret | None = None

    @classmethod
    def parse(cls, text: str) -> "Proxy":
        """Read `http://[user:password@]host:port`; without a scheme http is meant.

        Raises:
            SettingsError: It is no URL, or of a scheme other than http and https. The text is not quoted.
        """
        match = _URL.fullmatch(text if "://" in text else f"http://{text}")
        if match is None:
            raise SettingsError("The proxy is no URL.", 'Write it as "http://proxy.example:3128".')
        if match["scheme"].lower() not in {"http", "https"}:
            raise SettingsError(
                f"{match['scheme'].lower()} proxies are not supported.", "Give the proxy's http or https URL."
            )
        try:
            origin = Origin.parse(f"{match['scheme']}://{match['host']}")
        except InvalidUrlError as error:
            raise SettingsError(f"The proxy cannot be used: {error.text}", error.next_step) from None
        if match["user"] is None:
            return cls(origin)
        user, _, password = match["user"].partition(":")
        return cls(origin, unquote(user), Secret(unquote(password)))

    def __str__(self) -> str:
        return f"{self.origin.scheme}://{'***@' if self.user is not None else ''}{self.origin.host}:{self.origin.port}"


@dataclass(frozen=True, slots=True)
class _Exception:
    """One entry of NO_PROXY: a host with everything below it, a network, or `*`."""

    host: str = ""
    port: int | None = None
    network: Network | None = None

    @classmethod
    def parse(cls, text: str) -> "_Exception | None":
        if text == "*":
            return cls(host="*")
        if "/" in text:
            try:
                return cls(network=read_network(text))
            except SettingsError:
                return None
        match = _EXCEPTION.fullmatch(text.removeprefix("*"))
        if match is None:
            return None
        host = match["host"]
        try:
            canonical = canonical_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
        except InvalidUrlError:
            return None
        return cls(canonical, int(match["port"]) if match["port"] else None)

    def covers(self, target: Target) -> bool:
        if self.network is not None:
            return target.address is not None and inside(target.address, (self.network,))
        if self.port is not None and self.port != target.port:
            return False
        return self.host in {"*", target.host} or target.host.endswith("." + self.host)


@dataclass(frozen=True, slots=True)
class ProxyRoutes:
    """Which proxy, if any, a URL is fetched through.

    Attributes:
        http: For http URLs.
        https: For https URLs.
        exceptions: What is fetched directly, and so under the whole policy.
    """

    http: Proxy | None = None
    https: Proxy | None = None
    exceptions: tuple[_Exception, ...] = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "ProxyRoutes":
        """What HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say; the lower-case ones come first, as in curl.

        Under CGI `HTTP_PROXY` is a header of the request and not a setting (CVE-2016-5385): it is ignored there.

        Raises:
            SettingsError: A variable names a proxy that cannot be used.
        """
        cgi = "REQUEST_METHOD" in environment
        names = {
            "http": ("http_proxy",) if cgi else ("http_proxy", "HTTP_PROXY"),
            "https": ("https_proxy", "HTTPS_PROXY"),
        }
        found = {scheme: _first(environment, (*own, "all_proxy", "ALL_PROXY")) for scheme, own in names.items()}
        listed = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
        exceptions = (_Exception.parse(word) for word in re.split(r"[\s,]+", listed) if word)
        return cls(found["http"], found["https"], tuple(one for one in exceptions if one is not None))

    def route(self, target: Target) -> Proxy | None:
        """The proxy for a URL, or None to connect directly."""
        proxy = self.http if target.scheme == "http" else self.https
        if proxy is None or any(exception.covers(target) for exception in self.exceptions):
            return None
        return proxy


def unused_proxies(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The proxy variables that are set: worth naming when a connection fails and they were not asked for."""
    names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
    return tuple(name for name in names if environment.get(name) or environment.get(name.lower()))


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> Proxy | None:
    for name in names:
        text = environment.get(name, "").strip()
        if text:
            try:
                return Proxy.parse(text)
            except SettingsError as error:
                raise SettingsError(f"{name}: {error.text}", error.next_step) from None
    return None
