"""A server for the tests of serving: tools that are slow, stuck or noisy, and a lifespan that says what it does.

Run as a process: `python fixture_server.py MODE [...]`. What the tests wait for is told on standard error, in the log.
"""

import argparse
import logging
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.common import LogSettings, TransportSettings
from mcp_curated_shared.transport.listening import ServingLimits
from mcp_curated_shared.transport.serve import serve
from mcp_curated_shared.transport.stand_in import serve_settings_error
from mcp_curated_shared.work import Work, WorkPool

log = logging.getLogger("fixture")


def build(hang_at_the_end: bool) -> Any:
    import anyio.lowlevel
    from mcp.server.mcpserver import Context, MCPServer

    pool = WorkPool(grace=0.2)

    @asynccontextmanager
    async def lifespan(_server: object) -> AsyncGenerator[dict[str, Any]]:
        log.info("lifespan entered")
        try:
            yield {}
        finally:
            await anyio.lowlevel.checkpoint()  # a clean-up that waits must not find itself cancelled
            if hang_at_the_end:
                log.info("lifespan hangs")
                await anyio.sleep_forever()
            pool.close()
            log.info("lifespan left")

    server: MCPServer[dict[str, Any]] = MCPServer("fixture", version="1", lifespan=lifespan, subscriptions=False)

    @server.tool()
    async def echo(text: str) -> str:
        return text

    @server.tool()
    async def size(text: str) -> str:
        return str(len(text))

    @server.tool()
    async def wait(name: str) -> str:
        """Runs until it is cancelled or told to end by `release`."""
        log.info("wait %s began", name)
        try:
            await released.wait()
        except BaseException:
            log.info("wait %s was cancelled", name)
            raise
        log.info("wait %s ended", name)
        return name

    released = anyio.Event()

    @server.tool()
    async def release() -> str:
        released.set()
        return "released"

    @server.tool()
    async def brief() -> str:
        """Runs a little longer than it takes to send a signal."""
        log.info("brief began")
        await anyio.sleep(0.5)
        return "brief"

    @server.tool()
    async def stuck() -> str:
        """A worker thread that never returns, whatever it is told."""

        def hang(_work: Work) -> str:
            log.info("stuck began")
            threading.Event().wait()
            return "never"

        return await pool.run(hang, seconds=60, lane="dead")

    @server.tool()
    def sync_stuck() -> str:
        """The SDK's own worker thread, which is no daemon."""
        log.info("sync_stuck began")
        threading.Event().wait()
        return "never"

    @server.tool()
    async def block_the_loop() -> str:
        log.info("block_the_loop began")
        time.sleep(3600)  # noqa: ASYNC251 - a fault on purpose
        return "never"

    @server.tool()
    def noise() -> str:
        print("stray print")
        subprocess.run([sys.executable, "-c", "print('stray child')"], check=True)
        return "quiet"

    @server.tool()
    async def half_a_pair() -> str:
        return "caf\udce9"

    @server.tool()
    async def crash(text: str) -> str:
        raise RuntimeError(f"crashed with {text}")

    @server.tool()
    async def steps(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 2, "half")
        return "done"

    return server


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("stdio", "http", "settings-error", "broken-build", "broken-lifespan"))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--allowed-host", action="append", default=[])
    parser.add_argument("--allowed-origin", action="append", default=[])
    parser.add_argument("--level", default="info")
    parser.add_argument("--format", default="text")
    parser.add_argument("--secret", action="append", default=[])
    parser.add_argument("--hang-at-the-end", action="store_true")
    parser.add_argument("--shutdown", type=float, default=3.0)
    parser.add_argument("--idle", type=float, default=1800)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--sessions", type=int, default=256)
    parser.add_argument("--unused", type=float)
    asked = parser.parse_args()
    if asked.unused is not None:
        from mcp_curated_shared.transport import arrivals

        arrivals.UNUSED_SECONDS = asked.unused
    logs = LogSettings(level=asked.level, format=asked.format)
    if asked.mode in ("settings-error", "broken-build"):
        return serve_settings_error(
            name="fixture",
            version="1",
            build=curated if asked.mode == "settings-error" else broken,
            error=SettingsError("The folder /nowhere does not exist.", "Create it or name another."),
            logs=logs,
        )
    if asked.mode == "broken-lifespan":
        try:
            return serve(broken_lifespan, transport=TransportSettings(), logs=logs)
        except SettingsError as error:
            return serve_settings_error(name="fixture", version="1", build=curated, error=error)
    transport = TransportSettings(
        transport=asked.mode,
        host=asked.host,
        port=asked.port,
        allowed_hosts=tuple(asked.allowed_host),
        allowed_origins=tuple(asked.allowed_origin),
    )
    limits = ServingLimits(
        concurrency=asked.concurrency,
        sessions=asked.sessions,
        session_idle_seconds=asked.idle,
        shutdown_seconds=asked.shutdown,
    )
    try:
        return serve(
            lambda: build(asked.hang_at_the_end), transport=transport, logs=logs, secrets=asked.secret, limits=limits
        )
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2


def curated() -> Any:
    """A server that must not do any work: its lifespan and its tools would say so."""
    from mcp_curated_shared.transport.identity import Identity
    from mcp_curated_shared.transport.server import CuratedServer
    from mcp_curated_shared.transport.tools import reads, writes

    @asynccontextmanager
    async def lifespan(_server: object) -> AsyncGenerator[dict[str, Any]]:
        log.error("lifespan entered")
        yield {}

    server: CuratedServer[dict[str, Any]] = CuratedServer(
        Identity("fixture", title="Fixture", version="1", instructions="Ordinary."), lifespan=lifespan
    )

    @server.tool(annotations=reads())
    async def look() -> str:
        """Look at nothing in particular."""
        log.error("look ran")
        return "seen"

    @server.tool(annotations=writes(destructive=True, idempotent=True))
    async def change() -> str:
        """Change nothing in particular."""
        log.error("change ran")
        return "changed"

    return server


def broken_lifespan() -> Any:
    from mcp.server.mcpserver import MCPServer

    @asynccontextmanager
    async def lifespan(_server: object) -> AsyncGenerator[dict[str, Any]]:
        print("stray print")
        raise SettingsError("The folder /nowhere does not exist.", "Create it or name another.")
        yield {}

    return MCPServer("fixture", version="1", lifespan=lifespan)


def broken() -> Any:
    raise SettingsError("The folder /nowhere does not exist.")


if __name__ == "__main__":
    sys.exit(main())
