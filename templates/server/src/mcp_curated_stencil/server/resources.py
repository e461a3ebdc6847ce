"""The resources."""

from mcp.server.mcpserver.resources import FunctionResource

from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_stencil.lengths import METRES
from mcp_curated_stencil.settings import StencilSettings


def units() -> str:
    """A line a unit: its name and its metres."""
    return "".join(f"{name}\t{metres:.15g} m\n" for name, metres in METRES.items())


def add_resources(server: CuratedServer[StencilSettings]) -> None:
    """Register them."""
    server.add_resource(
        FunctionResource(
            uri="units://all",
            name="units",
            title="Units",
            description="The units of length, and how many metres each is.",
            mime_type="text/plain",
            fn=units,
        )
    )
