"""The tools. Each validates, calls one function and returns one result."""

from typing import Annotated

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads
from mcp_curated_stencil.lengths import METRES, Length, convert
from mcp_curated_stencil.models import Converted
from mcp_curated_stencil.settings import StencilSettings


async def convert_length(
    value: Annotated[float, Field(description="How many of the unit", allow_inf_nan=False)],
    unit: Annotated[str, Field(description=f"Its unit: {', '.join(METRES)}")],
    to: Annotated[str, Field(description="The unit wanted, one of the same")],
    ctx: Context[StencilSettings],
) -> Converted:
    """Convert a length to another unit, rounded to the digits that the operator chose. Exact to fifteen digits; it
    converts nothing but lengths."""
    settings = ctx.request_context.lifespan_context
    found = convert(Length(value, unit), to, digits=settings.digits)
    return Converted(value=found.value, unit=found.unit)


def add_length_tools(server: CuratedServer[StencilSettings]) -> None:
    """Register them."""
    server.tool(annotations=reads("Convert a length"))(convert_length)
