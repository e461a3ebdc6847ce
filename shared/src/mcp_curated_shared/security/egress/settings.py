"""What an operator decides about connections to other hosts; the same for every server that makes some."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

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


def read_proxy(text: str) -> str:
    """A proxy's URL or `environment`, checked but kept as it was written.

    Raises:
        SettingsError: It cannot be used.
    """
    word = text.strip()
    if word and word != FROM_ENVIRONMENT:
        Proxy.parse(word)
    return word


def show_proxy(text: str) -> str:
    """What `read_proxy` took, without user name and password."""
    return text if text in {"", FROM_ENVIRONMENT} else str(Proxy.parse(text))


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
    proxy: str = setting(
        Parsed(read_proxy, f'a proxy\'s URL, or "{FROM_ENVIRONMENT}"', show_proxy, metavar="URL"),
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
        return ProxyRoutes.parse(self.proxy, environment)
