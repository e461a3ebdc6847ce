"""Streamable HTTP, on loopback: both protocol eras at one path, `/healthz` and `/readyz` beside it."""

import asyncio
import contextlib
import logging
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.transport.door import Door
from mcp_curated_shared.transport.listening import PATH, Listening, ServingLimits
from mcp_curated_shared.transport.logs import announce

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from mcp_curated_shared.transport.ending import Ending

_log = logging.getLogger(__name__)

CONNECTIONS = 1024
KEEP_ALIVE_SECONDS = 30


class _Uvicorn(uvicorn.Server):
    """uvicorn without its signal handling, which would take the signals from `Ending`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def application(server: "MCPServer[Any]", listening: Listening, limits: ServingLimits) -> Door:
    """The ASGI application of `server`, behind its door."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=False,  # with it a 2026 client that disconnects leaves its call running
        max_request_body_size=limits.body_bytes,
        session_idle_timeout=limits.session_idle_seconds,
        max_sessions=limits.sessions,
        # Always explicit: the SDK switches its checks off when it is given a host it does not know.
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=sorted(listening.hosts),
            allowed_origins=sorted(listening.origins),
        ),
    )
    return Door(
        app,
        listening,
        limits,
        grace=limits.shutdown_seconds * 0.4,
        on_ready=lambda: announce(f"Listening on {listening.url}"),
    )


async def serve_http(server: "MCPServer[Any]", listening: Listening, limits: ServingLimits, ending: "Ending") -> None:
    """Serve until `ending` receives a signal; the server's lifespan has been left then.

    Raises:
        SettingsError: The server's lifespan found its settings unusable.
        RuntimeError: It failed to start otherwise; the log has the traceback.
    """
    door = application(server, listening, limits)
    uvicorn_server = _Uvicorn(_uvicorn_settings(door, limits))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        door.stop()
        uvicorn_server.should_exit = True

    ending.on_stop(lambda: loop.call_soon_threadsafe(stop))
    try:
        await uvicorn_server.serve(sockets=[listening.socket])
    except SystemExit:
        if isinstance(door.failure, SettingsError):
            raise door.failure from None
        raise RuntimeError("The server did not start.") from door.failure


def _uvicorn_settings(door: Door, limits: ServingLimits) -> uvicorn.Config:
    return uvicorn.Config(
        door,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,  # ours stays
        access_log=False,
        server_header=False,
        proxy_headers=False,  # by default uvicorn believes X-Forwarded-For from loopback
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(limits.shutdown_seconds * 0.6)),
    )
