"""The sockets below the connection pool: one lookup, a decision on every address, a connection to that literal."""

import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast

import anyio
import httpcore

from mcp_curated_shared.security.egress import Address, EgressPolicy, Resolver, canonical_host, check_peer, resolve
from mcp_curated_shared.security.egress.errors import EgressRefusedError

_STAGGER_SECONDS = 0.25  # RFC 8305, 5: the recommended delay between connection attempts
_MOST_ATTEMPTS = 8

Connect = Callable[[Address], Awaitable[httpcore.AsyncNetworkStream]]


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects only where a policy admits every address that a host has.

    The pool keeps connections by scheme, host and port, and every one of them came through here: keeping one alive
    cannot lead anywhere else. Host, SNI and certificate stay the name, which this class only resolves.

    Args:
        policy: Decides.
        resolver: Asked once for a connection to a name.
    """

    def __init__(self, policy: EgressPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._plain = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to one of the admitted addresses.

        Raises:
            CuratedError: The policy refuses, or the name is unknown.
            httpcore.ConnectError: No address accepted.
            httpcore.ConnectTimeout: None did in time, the lookup included.
        """
        name = canonical_host(f"[{host}]" if ":" in host else host)

        async def connect(address: Address) -> httpcore.AsyncNetworkStream:
            return await self._plain.connect_tcp(str(address), port, None, local_address, socket_options)

        try:
            with anyio.fail_after(timeout):
                addresses = await resolve(name, port, self._policy, self._resolver)
                stream = await connect_first(connect, in_turns(addresses)[:_MOST_ATTEMPTS])
        except TimeoutError:
            raise httpcore.ConnectTimeout from None
        try:
            check_peer(str(stream.get_extra_info("server_addr")[0]), name, port, self._policy)
        except BaseException:
            await _close([stream])
            raise
        return _ClosingStream(stream)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refused: a socket in the file system is not the web (container engines and databases listen on them)."""
        raise EgressRefusedError("Unix sockets are not reached from here.")

    async def sleep(self, seconds: float) -> None:
        """Wait, for the pool."""
        await anyio.sleep(seconds)


class _ClosingStream(httpcore.AsyncNetworkStream):
    """A stream that is closed when its TLS handshake does not come to its end.

    httpcore 1.0 closes it after an error but not when it is cancelled, which is what a deadline does: each such
    handshake would leave a descriptor until the garbage is collected.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            return _ClosingStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:
            await _close([self._stream])
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def in_turns(addresses: Sequence[Address]) -> tuple[Address, ...]:
    """The addresses with their families taking turns, the first address's family first (RFC 8305, 4)."""
    first = [address for address in addresses if address.version == addresses[0].version]
    second = [address for address in addresses if address.version != addresses[0].version]
    turns = [address for pair in zip(first, second, strict=False) for address in pair]
    shorter = min(len(first), len(second))
    return (*turns, *first[shorter:], *second[shorter:])


async def connect_first(connect: Connect, addresses: Sequence[Address]) -> httpcore.AsyncNetworkStream:
    """The first connection that comes about; the next address is tried when one fails or is slow (RFC 8305).

    Raises:
        httpcore.ConnectError: None came about; the error of the last attempt that failed.
    """
    if len(addresses) == 1:
        return await connect(addresses[0])
    won: list[httpcore.AsyncNetworkStream] = []
    failures: list[Exception] = []

    async def attempt(address: Address, over: anyio.Event) -> None:
        try:
            stream = await connect(address)
        except (httpcore.NetworkError, httpcore.TimeoutException, OSError) as error:
            failures.append(error)
            over.set()
            return
        won.append(stream)
        group.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as group:
            for address in addresses:
                over = anyio.Event()
                group.start_soon(attempt, address, over)
                with anyio.move_on_after(_STAGGER_SECONDS):
                    await over.wait()
    except BaseException:
        await _close(won)
        raise
    if not won:
        raise failures[-1]
    await _close(won[1:])
    return won[0]


async def _close(streams: Iterable[httpcore.AsyncNetworkStream]) -> None:
    with anyio.CancelScope(shield=True):
        for stream in streams:
            await stream.aclose()
