"""How an answer goes out: at once, late, in drops, cut off, twice, or not at all."""

import asyncio
import contextlib
import socket
import struct
import threading
from dataclasses import dataclass
from typing import Protocol

from tests.github.double.answers import Answer
from tests.github.double.wire import head_of, whole

LIMIT = 30.0  # seconds after which whatever waits gives up: a forgotten hold must not hang a test run
_STEP = 0.005  # seconds between two looks at a hold: it is released from another thread, and must hold no loop


class Hold:
    """A point where the double waits until the test lets it go on, or the client has gone."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._released = threading.Event()

    def wait_reached(self, seconds: float = 5.0) -> None:
        """Block until a request stands here; raises TimeoutError after `seconds`."""
        if not self._reached.wait(seconds):
            raise TimeoutError("no request came to this hold")

    def release(self) -> None:
        """Let what stands here go on, and what comes later pass."""
        self._released.set()

    async def passed(self, connection: "Connection") -> bool:
        """Wait here; whether the client is still there when the wait is over."""
        self._reached.set()
        for _ in range(int(LIMIT / _STEP)):
            if connection.gone:
                return False
            if self._released.is_set():
                await asyncio.sleep(0)  # one round of the loop reads what has come, the next hands it on:
                await asyncio.sleep(0)  # who closed before the release is then known to be gone
                return not connection.gone
            await asyncio.sleep(_STEP)
        return False


@dataclass(slots=True)
class Connection:
    """A connection of a client."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def gone(self) -> bool:
        """Whether the client has closed its side."""
        return self.reader.at_eof() or self.reader.exception() is not None or self.writer.is_closing()

    async def write(self, data: bytes) -> None:
        """Send bytes and wait until they are on their way; a client that is gone is no error."""
        with contextlib.suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    def abort(self) -> None:
        """End the connection by a reset instead of an orderly close."""
        opened = self.writer.get_extra_info("socket")
        if opened is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class Delivery(Protocol):
    """Sends an answer, or does not."""

    async def send(self, answer: Answer, connection: Connection) -> bool:
        """Send it; whether the connection can take another request."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """The answer as it is, `times` over."""

    times: int = 1

    async def send(self, answer: Answer, connection: Connection) -> bool:
        """Send it whole."""
        await connection.write(whole(answer) * self.times)
        return True


@dataclass(frozen=True, slots=True)
class Late:
    """Nothing until the hold is released."""

    hold: Hold

    async def send(self, answer: Answer, connection: Connection) -> bool:
        """Send it once the hold lets go."""
        if not await self.hold.passed(connection):
            return False
        await connection.write(whole(answer))
        return True


@dataclass(frozen=True, slots=True)
class Dripped:
    """The head at once, then the body in pieces of `size` bytes with `pause` seconds between them."""

    pause: float
    size: int = 1

    async def send(self, answer: Answer, connection: Connection) -> bool:
        """Send it in pieces, as long as the client is there."""
        await connection.write(head_of(answer))
        for start in range(0, len(answer.body), self.size):
            if connection.gone:
                return False
            await connection.write(answer.body[start : start + self.size])
            await asyncio.sleep(self.pause)
        return True


@dataclass(frozen=True, slots=True)
class Cut:
    """The head, the first `size` bytes of the body (or half of it), then an early end of the connection."""

    size: int | None = None

    async def send(self, answer: Answer, connection: Connection) -> bool:
        """Send a part."""
        size = len(answer.body) // 2 if self.size is None else self.size
        await connection.write(head_of(answer) + answer.body[:size])
        return False


@dataclass(frozen=True, slots=True)
class Lost:
    """No byte; the connection is closed, or reset."""

    reset: bool = False

    async def send(self, answer: Answer, connection: Connection) -> bool:
        """Send nothing."""
        if self.reset:
            connection.abort()
        return False


WHOLE = Whole()
