"""Running a server: over stdio for the host that started the process, or over HTTP on loopback.

Exit status: 0 after an end in order (standard input closed, the reader of standard output gone, SIGTERM, SIGINT,
SIGHUP); 1 after a crash, or when the clean-up after a closed standard input took longer than its bound; 128 + the
signal's number when the clean-up was cut short by the bound or by a second signal. No `mcp` is imported here before
the log is configured.
"""

import asyncio
import contextlib
import gc
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Generator, Iterable
from typing import TYPE_CHECKING, Any

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.common import LogSettings, TransportSettings
from mcp_curated_shared.transport import logs as log_setup
from mcp_curated_shared.transport.ending import Ending
from mcp_curated_shared.transport.listening import Listening, ServingLimits, listen

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001
"""A call over stdio changes threads five times. At Python's default of 5 ms a busy search would let a cheap call
wait up to 25 ms for its turns; at 1 ms the search loses about a hundredth of its speed."""


def serve(
    build: "Callable[[], MCPServer[Any]]",
    *,
    transport: TransportSettings,
    logs: LogSettings,
    secrets: Iterable[str] = (),
    before: Callable[[], None] | None = None,
    limits: ServingLimits | None = None,
) -> int:
    """Serve until the client or a signal ends it, and return the exit status for `sys.exit`.

    Takes over the process: its log, its signals, its standard streams (which stay diverted). Main thread only.

    Args:
        build: Makes the server; called once, after the log is configured. It must not wait for anything.
        transport: stdio or HTTP, and where.
        logs: The level and form of the log.
        secrets: Values that never appear in the log.
        before: Called before any thread is started (Landlock binds only the thread that enters it and its children).
        limits: What serving may take.

    Raises:
        SettingsError: From `build`, `before`, the server's lifespan, or an address that is refused; nothing was served.
    """
    limits = limits or ServingLimits()
    open_standard_descriptors()
    log_setup.configure(logs, secrets=secrets)
    listening = listen(transport) if transport.transport == "http" else None
    if before is not None:
        before()
    sys.setswitchinterval(SWITCH_SECONDS)
    with Ending(limits.shutdown_seconds) as ending:
        status = _run(build, listening, limits, ending)
        held_up = ending.held_up()
        if held_up:
            # The interpreter would wait for them at exit, without a bound.
            _log.warning("Still busy at the end: %s.", ", ".join(held_up))
            leave(status)
    return status


def leave(status: int) -> None:
    """End the process now, without waiting for threads; what was printed is flushed."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(status)


def _run(
    build: "Callable[[], MCPServer[Any]]", listening: Listening | None, limits: ServingLimits, ending: Ending
) -> int:
    try:
        serving = _made(build, listening, limits, ending)
        if listening is None and sys.stdin is not None and sys.stdin.isatty():
            log_setup.announce("A host starts this server and speaks MCP with it over stdio. Ctrl-C ends it.")
        asyncio.run(serving)
    except SettingsError:
        raise
    except Exception:
        _log.critical("The server crashed.", exc_info=True)
        return 1
    return 0


def _made(
    build: "Callable[[], MCPServer[Any]]", listening: Listening | None, limits: ServingLimits, ending: Ending
) -> Coroutine[Any, Any, None]:
    """Build the server and import what serves it; what is left is to run it."""
    with uncollected():
        server = build()
        if listening is None:
            from mcp_curated_shared.transport.stdio import serve_stdio

            return serve_stdio(server, ending)
        from mcp_curated_shared.transport.http import serve_http

        return serve_http(server, listening, limits, ending)


@contextlib.contextmanager
def uncollected() -> Generator[None]:
    """Make without collecting garbage, and never look again at what was made.

    Imports make some hundred thousand objects that stay and hardly a cycle that goes; going through them again and
    again is a seventh of a start, and later a part of every full collection (`gc.freeze`, made for this).
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collected:
            gc.enable()


def open_standard_descriptors() -> None:
    """Fill the descriptors 0 to 2 where they are closed.

    Otherwise the next file that is opened takes such a number, and a stray print goes into a user's file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
