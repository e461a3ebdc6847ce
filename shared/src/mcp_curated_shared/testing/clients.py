"""A real client of the SDK in either protocol era, over each transport."""

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import uvicorn
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp.server.mcpserver import MCPServer
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ListRootsResult, Root
from pydantic import FileUrl

from mcp_curated_shared.settings.common import TransportSettings
from mcp_curated_shared.transport.http import application
from mcp_curated_shared.transport.listening import ServingLimits, listen

Era = Literal["legacy", "2026-07-28"]
LEGACY: Final[Era] = "legacy"
"""2025-11-25: the handshake, sessions, questions pushed to the client."""
MODERN: Final[Era] = "2026-07-28"
"""No handshake, no session; questions are returned and answered on a retry."""
ERAS: Final[tuple[Era, ...]] = (LEGACY, MODERN)

Way = Literal["memory", "stdio", "http"]
WAYS: Final[tuple[Way, ...]] = ("memory", "stdio", "http")

_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Command:
    """How to start a server over stdio.

    Attributes:
        argv: The program and its arguments.
        environment: Added to the few variables that the SDK's client passes on.
        directory: The working directory; None for the test's own.
    """

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    directory: str | None = None


@dataclass(slots=True)
class Person:
    """Who sits in front of the client: answers questions, and has folders open.

    A client without a person declares neither elicitation nor roots. One whose `answers` is None declares no
    elicitation; one whose `roots` is None declares no roots.

    Attributes:
        answers: What to fill into a form, or None to be a client that cannot ask.
        action: What to do with a question.
        roots: Absolute paths of the folders that are open, or None.
        asked: The questions so far, in order.
    """

    answers: Mapping[str, Any] | None = None
    action: Literal["accept", "decline", "cancel"] = "accept"
    roots: Sequence[str] | None = None
    asked: list[str] = field(default_factory=list[str])

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        """The client's elicitation callback."""
        del context
        self.asked.append(params.message)
        if self.action != "accept" or not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="decline" if self.action == "accept" else self.action)
        return ElicitResult(action="accept", content=dict(self.answers or {}))

    async def list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        """The client's roots callback."""
        del context
        return ListRootsResult(roots=[Root(uri=FileUrl(Path(path).as_uri())) for path in self.roots or ()])


def _client(target: Any, era: Era, person: Person | None) -> Client:
    asks = person is not None and person.answers is not None
    has_roots = person is not None and person.roots is not None
    return Client(
        target,
        mode=era,
        read_timeout_seconds=_SECONDS,
        elicitation_callback=person.answer if person is not None and asks else None,
        list_roots_callback=person.list_roots if person is not None and has_roots else None,
        cache=None,
    )


@asynccontextmanager
async def over_memory(server: MCPServer[Any], era: Era, person: Person | None = None) -> AsyncGenerator[Client]:
    """A client of a server in this process, without a transport."""
    async with _client(server, era, person) as client:
        yield client


@asynccontextmanager
async def over_stdio(command: Command, era: Era, person: Person | None = None) -> AsyncGenerator[Client]:
    """A client of a server that it starts as a host would."""
    program, *arguments = command.argv
    parameters = StdioServerParameters(
        command=program, args=arguments, env=dict(command.environment), cwd=command.directory
    )
    async with _client(parameters, era, person) as client:
        yield client


class _Uvicorn(uvicorn.Server):
    """uvicorn inside a test: it leaves the signals alone and says when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = anyio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.serving.set()


@asynccontextmanager
async def http_url(server: MCPServer[Any], limits: ServingLimits | None = None) -> AsyncGenerator[str]:
    """Serve over Streamable HTTP on a free loopback port, behind the same door as in production; gives the URL."""
    limits = limits or ServingLimits(shutdown_seconds=2.0)
    listening = listen(TransportSettings(transport="http", host="127.0.0.1", port=0))
    config = uvicorn.Config(
        application(server, listening, limits),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    running = _Uvicorn(config)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.serve, [listening.socket])
            with anyio.fail_after(_SECONDS):
                await running.serving.wait()
            try:
                yield listening.url
            finally:
                running.should_exit = True
    finally:
        listening.socket.close()


@asynccontextmanager
async def over_http(server: MCPServer[Any], era: Era, person: Person | None = None) -> AsyncGenerator[Client]:
    """A client of a server over Streamable HTTP on loopback."""
    async with http_url(server) as url, _client(url, era, person) as client:
        yield client


def connect(
    way: Way, era: Era, *, build: Callable[[], MCPServer[Any]], command: Command, person: Person | None = None
) -> AbstractAsyncContextManager[Client]:
    """A client over one of the three ways.

    Args:
        way: The transport.
        era: The protocol era.
        build: Makes the server, for memory and HTTP.
        command: Starts the same server, for stdio.
        person: Who sits in front of the client.
    """
    match way:
        case "memory":
            return over_memory(build(), era, person)
        case "http":
            return over_http(build(), era, person)
        case "stdio":
            return over_stdio(command, era, person)
