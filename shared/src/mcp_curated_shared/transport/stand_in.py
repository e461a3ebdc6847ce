"""What a host gets when its settings cannot be used: the server's face, with the error behind every call.

A person who uses a host never sees standard error. So when a host started the process it stays up, lists its tools
(those that only read), does no work, and answers every call with the one line that says what is wrong and its fix.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.common import LogSettings
from mcp_curated_shared.transport import logs as log_setup
from mcp_curated_shared.transport.ending import Ending
from mcp_curated_shared.transport.listening import ServingLimits
from mcp_curated_shared.transport.logs import announce, escape_controls, masked
from mcp_curated_shared.transport.serve import leave, open_standard_descriptors

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from mcp_curated_shared.transport.server import CuratedServer

_log = logging.getLogger(__name__)

UNUSABLE = 2
"""The exit status of a server whose settings cannot be used, sooner or later."""

_REFUSED = frozenset({"completion/complete", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen"})


def serve_settings_error(
    *,
    name: str,
    version: str,
    build: "Callable[[], CuratedServer[Any]] | None",
    error: SettingsError,
    logs: LogSettings | None = None,
) -> int:
    """Tell a settings error to whoever started this process; returns the exit status, 2.

    In a terminal, or without a standard input, that is one line on standard error. Otherwise it serves over stdio
    until standard input is closed or a signal comes, doing no work: not even the server's lifespan is entered.

    Args:
        name: The server's name.
        version: Its version.
        build: Makes a server for its tools, resources and prompts, with whatever harmless settings it needs; None, or
            one that fails, leaves a single tool `settings_error`.
        error: What is wrong.
        logs: The level and form of the log; None leaves a log that is configured as it is.
    """
    open_standard_descriptors()
    if logs is not None or not log_setup.is_configured():
        log_setup.configure(logs or LogSettings())
    text = escape_controls(masked(str(error)))
    announce(f"Settings error: {text}", logging.ERROR)
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return UNUSABLE
    from mcp_curated_shared.transport.stdio import serve_stdio

    limits = ServingLimits()
    with Ending(limits.shutdown_seconds) as ending:
        server = _face(name, version, build, text)
        try:
            asyncio.run(serve_stdio(server, ending))
        except Exception:
            _log.critical("The server crashed.", exc_info=True)
        if ending.held_up():
            leave(UNUSABLE)
    return UNUSABLE


def _face(name: str, version: str, build: "Callable[[], CuratedServer[Any]] | None", text: str) -> "CuratedServer[Any]":
    """A server that lists what it would have and refuses all of it."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR

    error = SettingsError(text)
    server = _built(build) or _bare(name, version, error)
    server.refuse_all(error)

    async def refuse(ctx: "ServerRequestContext[Any, Any]", call_next: "CallNext") -> "HandlerResult":
        if ctx.method in _REFUSED:
            raise MCPError(INTERNAL_ERROR, text)
        return await call_next(ctx)

    server.middleware.insert(0, refuse)
    # Public fields of the low-level server, which itself is not: the text that every host shows its model, and a
    # lifespan that opens nothing.
    lowlevel = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]  # the SDK offers no other way
    lowlevel.instructions = f"{text} Until this is mended the server does no work; tell the user."
    lowlevel.lifespan = _nothing
    return server


@contextlib.asynccontextmanager
async def _nothing(_server: object) -> AsyncGenerator[dict[str, Any]]:
    yield {}


def _built(build: "Callable[[], CuratedServer[Any]] | None") -> "CuratedServer[Any] | None":
    if build is None:
        return None
    try:
        server = build()
        return server if asyncio.run(server.list_tools()) else None
    except Exception as error:  # the settings are unusable: what fails on them is no news
        _log.debug("The tools cannot be listed: %r", error)
        return None


def _bare(name: str, version: str, error: SettingsError) -> "CuratedServer[Any]":
    from mcp_curated_shared.transport.identity import Identity
    from mcp_curated_shared.transport.server import CuratedServer
    from mcp_curated_shared.transport.tools import reads

    server: CuratedServer[Any] = CuratedServer(Identity(name, title=name, version=version, instructions=""))

    @server.tool(annotations=reads("Settings error"))
    async def settings_error() -> str:  # pyright: ignore[reportUnusedFunction]  # registered by the decorator
        """Tell why this server cannot work with its settings, and the fix."""
        raise error

    return server
