"""A small server of the collection's kind: what the tests of the shared package call.

Run as a process (`python sample_server.py`) it serves over stdio as a real one does.
"""

import logging
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import anyio
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, ListRoots, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ResourceTemplate
from pydantic import BaseModel, Field

from mcp_curated_shared.errors import ConflictError, NotFoundError
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.replies import reply
from mcp_curated_shared.transport.resources import ResourceContent, ResourceReply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads, writes
from mcp_curated_shared.transport.watches import Watches

log = logging.getLogger("sample")


class Edit(BaseModel):
    """One replacement."""

    old_text: str = Field(alias="oldText", description="What is there now.")
    new_text: str = Field(alias="newText", description="What is to be there.")
    count: int | None = Field(default=None, ge=1, description="How often it is there.")


class Found(BaseModel):
    """What a look-up gives."""

    name: str = Field(description="The name that was asked for.")
    size: int | None = Field(default=None, description="Its size, where there is one.")


class Consent(BaseModel):
    """The form that `ask` shows."""

    agree: bool = Field(description="Whether to go on.")


def _question() -> Elicit[Consent]:
    return Elicit("Go on?", Consent)


def _refusing() -> str:
    raise ConflictError("The resolver met a conflict.", "Try later.")


def _folders(ctx: Context[Any, Any]) -> ListRoots | list[str]:
    capabilities = ctx.client_capabilities
    return ListRoots() if capabilities is not None and capabilities.roots is not None else []


@asynccontextmanager
async def lifespan(_server: object) -> AsyncGenerator[dict[str, Any]]:
    """Says on the log when it opens and closes."""
    log.info("lifespan opened")
    yield {}
    log.info("lifespan closed")


def build(*, read_only: bool = False, watches: Watches | None = None) -> "CuratedServer[dict[str, Any]]":
    """The whole server; in its read-only mode without the tools that write."""
    server: CuratedServer[dict[str, Any]] = CuratedServer(
        Identity("sample", title="Sample", version="1.2.3", instructions="Look before you change."),
        lifespan=lifespan,
        watches=watches,
    )
    add_reading(server)
    add_failing(server)
    add_asking(server)
    if not read_only:
        add_writing(server)
    add_resources(server)
    return server


def add_reading(server: MCPServer[Any]) -> None:
    @server.tool(annotations=reads())
    async def look(
        name: Annotated[str, Field(description="What to look at.", min_length=1)],
        limit: Annotated[int, Field(description="The most lines.", ge=1, le=100)] = 10,
        share: Annotated[float, Field(description="A share.", gt=0, le=1)] = 0.5,
        tags: Annotated[list[str] | None, Field(description="Labels to look for.")] = None,
    ) -> str:
        """Look at one thing and tell what was asked, as text."""
        return f"{name} {limit!r} {share!r} {tags!r}"

    @server.tool(annotations=reads())
    async def find(name: Annotated[str, Field(description="What to find.")]) -> Annotated[CallToolResult, Found]:
        """Find one thing and give it as text and as data."""
        return reply(f"Found {name}.", Found(name=name))

    @server.tool(annotations=reads())
    async def measure(name: Annotated[str, Field(description="What to measure.")]) -> Found:
        """Measure one thing and give its data alone."""
        return Found(name=name)

    @server.tool(annotations=reads())
    async def wait(seconds: Annotated[float, Field(description="How long.", ge=0)], ctx: Context[Any, Any]) -> str:
        """Wait for a while, and say in the log when it is cancelled."""
        log.info("wait began")
        try:
            await anyio.sleep(seconds)
        except BaseException:
            log.info("wait was cancelled")
            raise
        return str(ctx.request_id)


def add_failing(server: MCPServer[Any]) -> None:
    @server.tool(annotations=reads())
    async def fail(
        how: Annotated[Literal["foreseen", "crash", "deliberate"], Field(description="In which way to fail.")],
    ) -> str:
        """Fail in one of three ways."""
        if how == "foreseen":
            raise NotFoundError("There is no moon.", "Ask for the sun.")
        if how == "deliberate":
            raise ToolError("Said on purpose.")
        raise RuntimeError(os.environ.get("SAMPLE_SECRET", "the inside of the program"))

    @server.tool(annotations=reads())
    async def stumble(met: Annotated[str, Resolve(_refusing)]) -> str:
        """Fail in a resolver."""
        return met


def add_asking(server: MCPServer[Any]) -> None:
    @server.tool(annotations=reads())
    async def ask(outcome: Annotated[ElicitationResult[Any], Resolve(_question)]) -> str:
        """Ask the user whether to go on."""
        return outcome.action

    @server.tool(annotations=reads())
    async def folders(roots: Annotated[Any, Resolve(_folders)]) -> str:
        """Tell which folders the client has open."""
        return repr(roots if isinstance(roots, list) else [str(root.uri) for root in roots.roots])


def add_writing(server: "CuratedServer[Any]") -> None:
    @server.tool(annotations=writes(destructive=True, idempotent=False))
    async def change(
        path: Annotated[str, Field(description="What to change.")],
        edits: Annotated[list[Edit], Field(description="The replacements, in order.", min_length=1)],
        dryRun: Annotated[bool, Field(description="Only tell what would be done.")] = False,
    ) -> str:
        """Change one thing by replacing parts of it."""
        done = [(edit.old_text, edit.new_text, edit.count) for edit in edits]
        return f"{path} {done!r} {dryRun!r}"

    server.alias("try_change", "change", renames={"file": "path"}, fixed={"dryRun": True})


async def read(uri: str, ctx: Context[Any, Any]) -> ResourceReply:
    """The reader of the scheme `sample`."""
    what = uri.partition(":")[2]
    if what == "missing":
        raise NotFoundError("There is no such sample.")
    if what == "crash":
        raise RuntimeError("the inside of the program")
    if what == "both":
        return [ResourceContent("text", "text/markdown"), ResourceContent(b"\x00\xff", "image/png")]
    if what == "bytes":
        return b"\x00"
    return f"{uri} for {ctx.request_id}"


def add_resources(server: "CuratedServer[Any]") -> None:
    template = ResourceTemplate(uri_template="sample:{+path}", name="sample", description="Any sample.")
    server.resource_scheme("sample", read, templates=[template])
    server.config_resource(lambda: "level = debug\ntoken = (masked)")

    @server.prompt(description="Look closely at one thing.")
    async def inspect_closely(name: Annotated[str, Field(description="What to look at.")]) -> str:
        if name == "nothing":
            raise NotFoundError("There is nothing to look at.")
        if name == "crash":
            raise RuntimeError("the inside of the program")
        return f"Look at {name}."


def main() -> int:
    """Serve over stdio, everything logged."""
    from mcp_curated_shared.settings.common import LogSettings, TransportSettings
    from mcp_curated_shared.transport.serve import serve

    secret = os.environ.get("SAMPLE_SECRET")
    return serve(
        build,
        transport=TransportSettings(),
        logs=LogSettings(level="debug"),
        secrets=[secret] if secret else [],
    )


if __name__ == "__main__":
    sys.exit(main())
