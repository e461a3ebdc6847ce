"""Putting the server together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from mcp.server.mcpserver import MCPServer

from mcp_curated_shared.settings import Loaded
from mcp_curated_shared.settings.loading import render
from mcp_curated_shared.transport.audit_middleware import close_trail, open_trail, watch
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_stencil.server.length_tools import add_length_tools
from mcp_curated_stencil.server.prompts import add_prompts
from mcp_curated_stencil.server.resources import add_resources
from mcp_curated_stencil.settings import StencilSettings

DISTRIBUTION = "mcp-curated-stencil"

INSTRUCTIONS = "Converts lengths between the units that the resource units://all lists."


def build_server(loaded: Loaded[StencilSettings]) -> CuratedServer[StencilSettings]:
    """Make the server. Nothing is opened before its lifespan begins.

    Args:
        loaded: The settings, and where each came from.
    """
    settings = loaded.settings
    trail = open_trail(
        settings.audit,
        settings.state.path("stencil"),
        server=DISTRIBUTION,
        version=version(DISTRIBUTION),
        secrets=loaded.secrets,
    )

    @asynccontextmanager
    async def lifespan(_: MCPServer[StencilSettings]) -> AsyncGenerator[StencilSettings]:
        try:
            yield settings
        finally:
            close_trail(trail)

    server = CuratedServer[StencilSettings](
        Identity(
            name=DISTRIBUTION,
            title="Stencil",
            version=version(DISTRIBUTION),
            instructions=INSTRUCTIONS,
            description="Converts lengths.",
        ),
        lifespan=lifespan,
    )
    add_length_tools(server)
    add_resources(server)
    add_prompts(server)
    server.config_resource(lambda: render(loaded))
    watch(server, trail)
    return server
