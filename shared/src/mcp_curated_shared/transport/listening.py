"""Where the server listens, and which Host and Origin headers it takes there. No mcp in here: the settings need it."""

import errno
import ipaddress
import socket
import sys
from dataclasses import dataclass

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.common import TransportSettings

PATH = "/mcp"

_ADDRESS_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@dataclass(frozen=True, slots=True)
class ServingLimits:
    """What serving may take.

    Attributes:
        body_bytes: One HTTP request's body; the SDK's own limit of 4 MiB is too small to write a file.
        concurrency: HTTP requests served at the same time; more get 503.
        sessions: Sessions of older clients (2025-11-25 and before) kept at the same time.
        session_idle_seconds: After this long without a request such a session is closed.
        shutdown_seconds: From the wish to stop until the process is gone, at most.
    """

    body_bytes: int = 32 * 1024 * 1024
    concurrency: int = 64
    sessions: int = 256
    session_idle_seconds: float = 30 * 60
    shutdown_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Listening:
    """Bound sockets and what may be asked of them.

    Attributes:
        sockets: Bound, not yet listening, all on the same port.
        url: Where clients connect.
        hosts: Host headers, in lower case; `name:*` for any port.
        origins: Exact Origin headers, in lower case.
    """

    sockets: tuple[socket.socket, ...]
    url: str
    hosts: frozenset[str]
    origins: frozenset[str]


def listen(settings: TransportSettings) -> Listening:
    """Bind the sockets that `settings` name.

    Raises:
        SettingsError: The address is not loopback (nobody is authenticated yet, so whoever can connect may do all
            that the server can), or cannot be bound.
    """
    addresses = loopback_addresses(settings.host)
    sockets: list[socket.socket] = []
    port = settings.port
    try:
        for family, address in addresses:
            bound = _bind(family, address, port, settings.host)
            if bound is not None:
                sockets.append(bound)
                port = int(bound.getsockname()[1])
    except SettingsError:
        for one in sockets:
            one.close()
        raise
    if not sockets:
        raise SettingsError(f"The address {settings.host} does not exist on this machine.", "Use --host 127.0.0.1.")
    names = {"localhost", *(_spelled(str(one.getsockname()[0])) for one in sockets)}
    own = {f"{name}:{port}" for name in names}
    if port == 80:  # clients leave the default port out
        own |= names
    return Listening(
        sockets=tuple(sockets),
        url=f"http://{_spelled(str(sockets[0].getsockname()[0]))}:{port}{PATH}",
        hosts=frozenset(own | {host.lower() for host in settings.allowed_hosts}),
        origins=frozenset({f"http://{host}" for host in own} | {one.lower() for one in settings.allowed_origins}),
    )


def loopback_addresses(host: str) -> list[tuple[socket.AddressFamily, str]]:
    """The addresses behind `host`, each once.

    Raises:
        SettingsError: One of them is not loopback, or there is none.
    """
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM) if host.strip() else []
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise SettingsError(f"The host {host!r} is not an address of this machine.", "Use --host 127.0.0.1.")
    addresses = list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))
    for _, address in addresses:
        if not _is_loopback(address):
            raise SettingsError(
                f"Listening on {host} would open this server to other machines, and it cannot tell who calls: "
                "authentication is not built yet.",
                "Use --host 127.0.0.1, and a tunnel or an authenticating proxy for others.",
            )
    return addresses


def _is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


def _spelled(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _bind(family: socket.AddressFamily, address: str, port: int, host: str) -> socket.socket | None:
    """A bound socket; None when this machine does not have the address (IPv6 is switched off)."""
    try:
        bound = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        return None
    try:
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        # On Windows SO_REUSEADDR would let another program take the port; there it is not needed to bind again.
        if sys.platform != "win32":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
    except OverflowError:
        bound.close()
        raise SettingsError(f"Port {port} does not exist.", "Use --port with a number up to 65535.") from None
    except OSError as error:
        bound.close()
        if isinstance(error, PermissionError):
            raise SettingsError(
                f"Port {port} needs rights this process lacks.", "Use a --port of 1024 or more."
            ) from None
        if error.errno in _ADDRESS_ABSENT:
            return None
        raise SettingsError(
            f"Port {port} of {host} is taken by another program.", "Use another --port; 0 picks a free one."
        ) from None
    return bound
