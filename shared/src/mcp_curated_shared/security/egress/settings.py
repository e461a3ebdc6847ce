"""What an operator decides about connections to other hosts; the same for every server that makes some."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress.addresses import Network
from mcp_curated_shared.security.egress.errors import InvalidUrlError
from mcp_curated_shared.security.egress.networks import read_network
from mcp_curated_shared.security.egress.policy import EgressPolicy, HostRule
from mcp_curated_shared.security.egress.proxies import FROM_ENVIRONMENT, Proxy, ProxyRoutes
from mcp_curated_shared.settings.declaration import Settings, many, optional, setting
from mcp_curated_shared.settings.kinds import FilePath, Integer, Parsed


def read_host(text: str) -> HostRule:
    """A host rule of the operator: `HOST` or `HOST:PORT`.

    Raises:
        SettingsError: It is none.
    """
    try:
        return HostRule.parse(text)
    except InvalidUrlError as error:
        raise SettingsError(error.text, 'Write "name" or "name:port", without a scheme or a wildcard.') from None


ProxyChoice = Proxy | Literal["", "environment"]


def read_proxy(text: str) -> ProxyChoice:
    """A proxy's URL; `environment`; or nothing, for none.

    Raises:
        SettingsError: It cannot be used.
    """
    word = text.strip()
    if word in {"", FROM_ENVIRONMENT}:
        return cast("ProxyChoice", word)
    return Proxy.parse(word)


@dataclass(frozen=True, slots=True)
class EgressSettings(Settings):
    """Which hosts may be reached, and how."""

    prompted: ClassVar[bool] = False

    allow_hosts: tuple[HostRule, ...] = many(
        Parsed(read_host, "a host name, with a port or without", metavar="HOST[:PORT]"),
        help="Further hosts that may be reached although they are not public, on any port or on the one named.",
        flag="--allow-host",
        example="wiki.internal:8443",
    )
    allow_cidrs: tuple[Network, ...] = many(
        Parsed[Network](read_network, "a network in CIDR form", metavar="CIDR"),
        help="Addresses that may be reached although they are not public, on any port.",
        flag="--allow-cidr",
        example="10.20.0.0/16",
    )
    allow_ports: tuple[int, ...] = many(
        Integer(1, 65535, metavar="PORT"),
        help="Ports of public hosts that may be reached beside 80 and 443.",
        flag="--allow-port",
        example="8080",
    )
    deny_hosts: tuple[HostRule, ...] = many(
        Parsed(read_host, "a host name, with a port or without", metavar="HOST[:PORT]"),
        help="Hosts that are never reached: a name with everything below it, or an address.",
        flag="--deny-host",
        example="ads.example",
    )
    proxy: ProxyChoice = setting(
        Parsed[ProxyChoice](read_proxy, f'a proxy\'s URL, or "{FROM_ENVIRONMENT}"', metavar="URL"),
        default="",
        help="HTTP proxy for every request; environment takes HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, which "
        "are ignored otherwise. A proxy looks names up itself, so which addresses are reached is then its decision.",
        example="http://proxy.example:3128",
    )
    ca_file: str | None = optional(
        FilePath(),
        help="File with further certificate authorities (PEM), trusted beside the system's.",
        example="/etc/ssl/company-ca.pem",
    )

    def policy(self) -> EgressPolicy:
        """The policy for what a model names."""
        return EgressPolicy(self.allow_hosts, self.allow_cidrs, self.allow_ports, self.deny_hosts)

    def proxies(self, environment: Mapping[str, str] = os.environ) -> ProxyRoutes:
        """The proxies to use.

        Raises:
            SettingsError: A variable names a proxy that cannot be used.
        """
        if isinstance(self.proxy, Proxy):
            return ProxyRoutes(self.proxy, self.proxy)
        return ProxyRoutes.from_environment(environment) if self.proxy else ProxyRoutes()
