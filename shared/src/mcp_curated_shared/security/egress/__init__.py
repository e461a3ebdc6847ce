"""Egress: which other hosts this process may connect to, decided on addresses and never on text.

Usable by itself, without a server, an HTTP library or the protocol:

    policy = EgressPolicy(allow_ports=(8080,))
    target = Target.parse(text)                    # one reading of a URL; whatever is ambiguous is refused
    policy.check(target)                           # what can be decided before a lookup
    addresses = await resolve(target.host, target.port, policy)    # one lookup, every address must be allowed
    reader, writer = await asyncio.open_connection(str(addresses[0]), target.port)    # to that literal
    check_peer(writer.get_extra_info("peername")[0], target.host, target.port, policy)

`transport.http_client` does exactly this below its connection pool, for each connection, each redirect and each proxy.
TLS and HTTP keep the name: SNI, certificate and Host come from `target.host`. Check-then-connect with a second lookup
is what rebinding names get through (a resolver that answers a public address first and 127.0.0.1 then).

Every refusal is a `CuratedError` that names at most the host, never a path, user-info or the address behind a name.
"""

from mcp_curated_shared.security.egress.addresses import Address, Network, is_public, unwrap, why_closed
from mcp_curated_shared.security.egress.errors import EgressRefusedError, InvalidUrlError, UnknownHostError
from mcp_curated_shared.security.egress.names import canonical_host, host_address, is_local_name
from mcp_curated_shared.security.egress.networks import read_network
from mcp_curated_shared.security.egress.policy import PUBLIC_PORTS, EgressPolicy, HostRule
from mcp_curated_shared.security.egress.proxies import PROXY_NOTICE, Proxy, ProxyRoutes, unused_proxies
from mcp_curated_shared.security.egress.resolving import Resolver, check_peer, resolve, system_resolver
from mcp_curated_shared.security.egress.settings import EgressSettings
from mcp_curated_shared.security.egress.urls import LONGEST_URL, Origin, Target

__all__ = [
    "LONGEST_URL",
    "PROXY_NOTICE",
    "PUBLIC_PORTS",
    "Address",
    "EgressPolicy",
    "EgressRefusedError",
    "EgressSettings",
    "HostRule",
    "InvalidUrlError",
    "Network",
    "Origin",
    "Proxy",
    "ProxyRoutes",
    "Resolver",
    "Target",
    "UnknownHostError",
    "canonical_host",
    "check_peer",
    "host_address",
    "is_local_name",
    "is_public",
    "read_network",
    "resolve",
    "system_resolver",
    "unused_proxies",
    "unwrap",
    "why_closed",
]
