"""What one request may take: time in each phase and in all, bytes, redirects, and its turn among the others."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """The bounds of every request of a client.

    Attributes:
        total_seconds: Everything: the queue, lookups, redirects, retries, the body.
        connect_seconds: One lookup, the connection and the TLS handshake, each.
        read_seconds: Longest silence of the other end.
        write_seconds: Longest wait to send on.
        body_bytes: Longest body, decoded and as received.
        redirects: Most redirects that are followed.
        at_once: Requests under way; further ones wait for their turn.
        at_once_per_host: Requests to one host under way.
    """

    total_seconds: float = 25.0
    connect_seconds: float = 10.0
    read_seconds: float = 15.0
    write_seconds: float = 15.0
    body_bytes: int = 5 * (1 << 20)
    redirects: int = 5
    at_once: int = 16
    at_once_per_host: int = 4


class Gate:
    """Lets requests through in their order: so many in all, so many to one host.

    Args:
        at_once: In all.
        at_once_per_host: To one host; a request that waits for its host holds no turn of the others.
    """

    def __init__(self, at_once: int, at_once_per_host: int) -> None:
        self._all = anyio.Semaphore(at_once)
        self._per_host = at_once_per_host
        self._hosts: dict[str, tuple[anyio.Semaphore, int]] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncGenerator[None]:
        """Wait for a turn and hold it."""
        semaphore, users = self._hosts.get(host) or (anyio.Semaphore(self._per_host), 0)
        self._hosts[host] = (semaphore, users + 1)
        try:
            async with semaphore, self._all:
                yield
        finally:
            users = self._hosts[host][1] - 1
            if users:
                self._hosts[host] = (semaphore, users)
            else:
                del self._hosts[host]
