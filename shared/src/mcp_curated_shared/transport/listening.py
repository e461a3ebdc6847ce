"""Where the server listens, and which Host and Origin headers it takes there. No mcp in here: the settings need it."""

import errno
import ipaddress
import socket
import sys
from dataclasses import dataclass

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.common import TransportSettings

PATH = "/mcp"
BACKLOG = 128

_ADDRESS_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@dataclass(frozen=True, slots=True)
class ServingLimits:
    """What serving may take.

    Attributes:
        body_bytes: One HTTP request's body; the SDK's own limit of 4 MiB is too small to write a file.
        concurrency: HTTP requests served at the same time; more get 503.
        arriving: HTTP requests whose body is on its way at the same time; beyond that those that stall give way.
        sessions: Sessions of older clients (2025-11-25 and before) kept at the same time; beyond that those that are
            unused give way.
        session_idle_seconds: After this long without a request such a session is closed.
        shutdown_seconds: From the wish to stop until the process is gone, at most.
    """

    body_bytes: int = 32 * 1024 * 1024
    concurrency: int = 64
    arriving: int = 256
    sessions: int = 256
    session_idle_seconds: float = 30 * 60
    shutdown_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Listening:
    """A bound socket and what may be asked of it.

    Attributes:
        socket: Bound and listening: who connects early waits until the server is ready.
        url: Where clients connect.
        hosts: Host headers, in lower case; `name:*` for any port.
        origins: Exact Origin headers, in lower case.
    """

    socket: socket.socket
    url: str
    hosts: frozenset[str]
    origins: frozenset[str]


def listen(settings: TransportSettings) -> Listening:
    """Listen at the address that `settings` name.

    Raises:
        SettingsError: The address is not loopback (nobody is authenticated yet, so whoever can connect may do all
            that the server can), or cannot be bound.
    """
    bound = _bind(loopback_address(settings.host), settings.port)
    address, port = str(bound.getsockname()[0]), int(bound.getsockname()[1])
    name = f"[{address}]" if ":" in address else address
    own = {f"{name}:{port}", f"localhost:{port}"}
    if port == 80:  # clients leave the default port out
        own |= {name, "localhost"}
    return Listening(
        socket=bound,
        url=f"http://{name}:{port}{PATH}",
        hosts=frozenset(own | {host.lower() for host in settings.allowed_hosts}),
        origins=frozenset({f"http://{host}" for host in own} | {one.lower() for one in settings.allowed_origins}),
    )


def loopback_address(host: str) -> str:
    """The loopback address that `host` is; "localhost" is 127.0.0.1.

    Names are not looked up: whoever answers for a name would decide who can reach the server.

    Raises:
        SettingsError: It is another address, or none.
    """
    try:
        parsed = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise SettingsError(f"{host!r} is not an IP address.", "Use --host 127.0.0.1.") from None
    inner = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    if not (inner or parsed).is_loopback:
        raise SettingsError(
            f"Listening on {host} would open this server to other machines, and it cannot tell who calls: "
            "authentication is not built yet.",
            "Use --host 127.0.0.1, and a tunnel or an authenticating proxy for others.",
        )
    return str(inner or parsed)


def _bind(address: str, port: int) -> socket.socket:
    try:
        bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        raise _absent(address) from None
    try:
        # On Windows SO_REUSEADDR would let another program take the port; there it is not needed to bind again.
        if sys.platform != "win32":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
        bound.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        bound.close()
        raise _unbound(error, address, port) from None
    return bound


def _unbound(error: OSError | OverflowError, address: str, port: int) -> SettingsError:
    if isinstance(error, OverflowError):
        return SettingsError(f"Port {port} does not exist.", "Use a --port up to 65535.")
    if isinstance(error, PermissionError):
        return SettingsError(f"Port {port} needs rights this process lacks.", "Use a --port of 1024 or more.")
    if error.errno in _ADDRESS_ABSENT:
        return _absent(address)
    return SettingsError(f"Port {port} of {address} is taken by another program.", "Use another --port; 0 picks one.")


def _absent(address: str) -> SettingsError:
    return SettingsError(f"The address {address} does not exist on this machine.", "Use --host 127.0.0.1.")
