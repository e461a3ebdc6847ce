"""Servers on loopback whose answers are scripted byte by byte, and a resolver whose answers are too.

`127.1.0.1` stands for the public internet (the policy of the tests opens 127.1.0.0/16), `127.0.0.1` for private ones.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from mcp_curated_shared.security.egress import EgressPolicy, read_network

PUBLIC = "127.1.0.1"
PRIVATE = "127.0.0.1"


@dataclass(frozen=True)
class Asked:
    """One request as a server got it."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


Answer = bytes | Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes = b"ok", status: str = "200 OK", **headers: str) -> bytes:
    fields = {"Content-Length": str(len(body)), "Content-Type": "text/plain"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", status, Location=location)


@dataclass
class Server:
    """Answers each request with the next of its answers, the last one again and again."""

    answers: Sequence[Answer] = (answer(),)
    address: str = PUBLIC
    port: int = 0
    context: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list[Asked])
    connections: int = 0
    names: list[str | None] = field(default_factory=list[str | None])  # SNI

    async def __aenter__(self) -> Self:
        if self.context is not None:
            self.context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, self.address, self.port, ssl=self.context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def url(self, path: str = "/", host: str | None = None) -> str:
        scheme = "http" if self.context is None else "https"
        return f"{scheme}://{host or self.address}:{self.port}{path}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer, self.connections))
        self._tasks.add(task)
        await asyncio.wait([task])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                line, *rows = head.decode("latin-1").split("\r\n")[:-2]
                headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                asked = Asked(line, headers, body, number)
                self.asked.append(asked)
                given = self.answers[min(len(self.asked), len(self.answers)) - 1]
                if isinstance(given, bytes):
                    writer.write(given)
                    await writer.drain()
                else:
                    await given(asked, writer)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()


class Names:
    """A resolver: each name's answers in turn, the last one again and again; counts what it is asked."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): answers for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers.get(host)
        if answers is None:
            raise OSError("unknown")
        return answers[min(self.asked.count(host), len(answers)) - 1]


def policy(**more: object) -> EgressPolicy:
    """The public internet is 127.1.0.0/16, on any port."""
    return EgressPolicy(allow_cidrs=(read_network("127.1.0.0/16"),), **more)  # pyright: ignore[reportArgumentType]  # fields by name
