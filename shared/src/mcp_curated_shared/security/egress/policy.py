"""What this process may connect to: the public web on the usual ports, and what the operator opened.

A policy belongs to one purpose. What a model names is fetched under a policy without `origins`; the client of one
service (an API, a search engine on the local network, a key set) gets a policy of its own, `EgressPolicy.only(...)`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.security.egress.addresses import Address, Network, inside, unwrap, why_closed
from mcp_curated_shared.security.egress.errors import EgressRefusedError, InvalidUrlError, UnknownHostError
from mcp_curated_shared.security.egress.names import canonical_host, host_address, is_local_name
from mcp_curated_shared.security.egress.urls import Origin, Target

PUBLIC_PORTS: Final = (80, 443)

_RULE: Final = re.compile(r"(\[[^\]]*\]|[^:/?#@%\[\]\\\s]+)(?::([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class HostRule:
    """One host that the operator opened or closed, on one port or on every.

    Attributes:
        host: Canonical; an IPv6 address in brackets.
        port: None for every port.
    """

    host: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> "HostRule":
        """Read `HOST` or `HOST:PORT`; an IPv6 address stands in brackets.

        Raises:
            InvalidUrlError: It is none.
        """
        match = _RULE.fullmatch(text.strip())
        port = int(match[2]) if match and match[2] else None
        if match is None or (port is not None and not 0 < port < 65536):
            raise InvalidUrlError("It is no host name.", 'Write "name" or "name:port".')
        return cls(canonical_host(match[1]), port)

    def __str__(self) -> str:
        return self.host if self.port is None else f"{self.host}:{self.port}"

    def names(self, host: str, port: int) -> bool:
        """Whether it is exactly this host."""
        return host == self.host and self.port in {None, port}

    def covers(self, host: str, port: int) -> bool:
        """Whether it is this host or one above it: `example.com` covers `www.example.com`."""
        above = host == self.host or (host.endswith("." + self.host) and host_address(host) is None)
        return above and self.port in {None, port}


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """The rules for one purpose. Immutable, so that a connection that was allowed stays allowed while it is kept.

    Attributes:
        allow_hosts: May be reached whatever their address is, on any port unless the rule names one.
        allow_cidrs: Addresses that may be reached on any port.
        allow_ports: Ports of public addresses beside 80 and 443.
        deny_hosts: Never reached, whatever else is allowed: a name with everything below it, or an address.
        origins: Exact origins that the operator configured; their addresses may be private.
        origins_only: Nothing but `origins` may be reached.
    """

    allow_hosts: tuple[HostRule, ...] = ()
    allow_cidrs: tuple[Network, ...] = ()
    allow_ports: tuple[int, ...] = ()
    deny_hosts: tuple[HostRule, ...] = ()
    origins: tuple[Origin, ...] = ()
    origins_only: bool = False

    @classmethod
    def only(cls, *origins: Origin) -> "EgressPolicy":
        """The policy of a client for one configured service: its origins, wherever they are, and nothing else."""
        return cls(origins=origins, origins_only=True)

    def check(self, target: Target) -> None:
        """Decide what can be decided before a name is looked up, so that a refused URL causes no lookup.

        Raises:
            EgressRefusedError: Host, port or literal address are not allowed.
        """
        host, port = target.host, target.port
        self._refuse_denied(host, port, ())
        if target.origin in self.origins:
            return
        if self.origins_only or any((one.host, one.port) == (host, port) for one in self.origins):
            allowed = ", ".join(str(origin) for origin in self.origins)
            raise EgressRefusedError(f"{target.origin} is not {allowed}, and nothing else is reached from here.")
        address = target.address
        if address is not None:
            self.admit(host, port, (address,))
        elif not (self._opens(host, port) or self.allow_cidrs):
            self._refuse_port(port)

    def admit(self, host: str, port: int, addresses: Sequence[Address]) -> tuple[Address, ...]:
        """Decide on the addresses that a host was resolved to; every one of them must be allowed.

        Args:
            host: Canonical.
            port: The port to connect to.
            addresses: All that the resolver answered.

        Returns:
            The addresses to connect to, in the resolver's order, each once.

        Raises:
            EgressRefusedError: At least one of them is not allowed.
            UnknownHostError: There is none.
        """
        if not addresses:
            raise UnknownHostError(f"{host} has no address.", "Check the spelling of the host.")
        self._refuse_denied(host, port, addresses)
        if not self._opens(host, port):
            for address in addresses:
                self._admit_address(host, port, address)
        return tuple(dict.fromkeys(addresses))

    def check_unresolved(self, target: Target) -> None:
        """Decide on a host that somebody else (a proxy) will resolve: `check`, and no name of a local network.

        Raises:
            EgressRefusedError: It is not allowed, or a name that only a local network answers.
        """
        self.check(target)
        if target.origin in self.origins or self._opens(target.host, target.port):
            return
        if is_local_name(target.host):
            raise EgressRefusedError(
                f"{target.host} is a name of a local network, and only public hosts may be reached.",
                "The operator can open it with --allow-host.",
            )
        if target.address is None:
            self._refuse_port(target.port)

    def opens(self, target: Target) -> bool:
        """Whether the operator opened this host by name, so that its addresses do not matter."""
        return target.origin in self.origins or self._opens(target.host, target.port)

    def _opens(self, host: str, port: int) -> bool:
        if any(rule.names(host, port) for rule in self.allow_hosts):
            return True
        return any((origin.host, origin.port) == (host, port) for origin in self.origins)

    def _admit_address(self, host: str, port: int, address: Address) -> None:
        if inside(address, self.allow_cidrs):
            return
        why = why_closed(address)
        if why:
            fix = "The operator can open it with --allow-host or --allow-cidr."
            if host_address(host) is not None:
                raise EgressRefusedError(f"{host} is {why}, and only public hosts may be reached.", fix)
            raise EgressRefusedError(f"{host} is not a public host, and only those may be reached.", fix)
        self._refuse_port(port)

    def _refuse_port(self, port: int) -> None:
        ports = (*PUBLIC_PORTS, *self.allow_ports)
        if port not in ports:
            raise EgressRefusedError(
                f"Port {port} is not one of those that may be reached ({', '.join(map(str, ports))}).",
                "The operator can open it with --allow-port.",
            )

    def _refuse_denied(self, host: str, port: int, addresses: Iterable[Address]) -> None:
        hosts = {host, *(_host_of(form) for address in addresses for form in (address, unwrap(address)))}
        if any(rule.covers(one, port) for rule in self.deny_hosts for one in hosts):
            raise EgressRefusedError(f"The operator closed {host} with --deny-host.")


def _host_of(address: Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)
