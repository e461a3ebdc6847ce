"""Looking up a name once, without holding up the process when the lookup hangs."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.security.egress.addresses import Address, read_address
from mcp_curated_shared.security.egress.errors import UnknownHostError
from mcp_curated_shared.security.egress.names import host_address
from mcp_curated_shared.security.egress.policy import EgressPolicy

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""`await resolver(host)`: every address of a name, as text, in the order to try them; empty or OSError for none."""

_AT_ONCE: Final = 64
_ALIVE = threading.Semaphore(_AT_ONCE)


async def system_resolver(host: str) -> Sequence[str]:
    """Every address that the system's resolver (`getaddrinfo`, RFC 6724 order) has for a name.

    A lookup runs on a daemon thread of its own, since it cannot be cancelled: one that hangs keeps neither the caller
    nor the end of the process.

    Raises:
        OSError: The name is unknown.
        UnavailableError: 64 lookups are under way and do not come back.
    """
    if not _ALIVE.acquire(blocking=False):
        raise UnavailableError("Too many names are being looked up.", "Try again later.")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str] | OSError) -> None:
        if answer.cancelled():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def look_up() -> None:
        found = _look_up(host)
        _ALIVE.release()
        with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits
            loop.call_soon_threadsafe(settle, found)

    try:
        threading.Thread(target=look_up, name="name-lookup", daemon=True).start()
    except RuntimeError:  # the system gives no further thread
        _ALIVE.release()
        raise UnavailableError("Too many names are being looked up.", "Try again later.") from None
    return await answer


def _look_up(host: str) -> list[str] | OSError:
    try:
        return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError as error:
        return error
    except UnicodeError:  # the codec of the standard library, for a label that it cannot encode
        return OSError("the name cannot be looked up")


async def resolve(
    host: str, port: int, policy: EgressPolicy, resolver: Resolver = system_resolver
) -> tuple[Address, ...]:
    """The addresses to connect to for a host: looked up once, decided by the policy, never looked up again.

    Whoever connects must connect to one of these addresses and not to the name, and give the peer's address to
    `check_peer` afterwards. Whatever TLS and HTTP need (SNI, certificate, Host) stays the name. Bring a time limit.

    Args:
        host: Canonical (`names.canonical_host`); an address is not looked up.
        port: The port to connect to.
        policy: Decides.
        resolver: Asked once for a name.

    Raises:
        EgressRefusedError: One of the addresses is not allowed.
        UnknownHostError: The name has no address.
        UnavailableError: Too many lookups hang.
    """
    literal = host_address(host)
    if literal is not None:
        return policy.admit(host, port, (literal,))
    try:
        addresses = [read_address(text) for text in await resolver(host)]
    except (OSError, ValueError):
        raise UnknownHostError(f"{host} has no address.", "Check the spelling of the host.") from None
    return policy.admit(host, port, addresses)


def check_peer(peer: str, host: str, port: int, policy: EgressPolicy) -> None:
    """Decide again on the address that a connected socket's other end has.

    Args:
        peer: The address that the socket tells, as text.
        host: The host that was meant.
        port: The port that was meant.
        policy: Decides.

    Raises:
        EgressRefusedError: It is not allowed.
    """
    policy.admit(host, port, (read_address(peer),))
