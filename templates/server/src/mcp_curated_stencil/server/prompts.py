"""The prompts."""

from typing import Annotated

from pydantic import Field

from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_stencil.settings import StencilSettings


def compare(
    one: Annotated[str, Field(description="A length with its unit")],
    other: Annotated[str, Field(description="Another one")],
) -> str:
    """Ask which of two lengths is greater, and by how much."""
    return f"Convert {one} and {other} to one unit with convert_length. Say which is longer, and by how much."


def add_prompts(server: CuratedServer[StencilSettings]) -> None:
    """Register them."""
    server.prompt(title="Compare two lengths")(compare)
