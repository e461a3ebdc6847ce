"""Console script `mcp-curated-stencil`."""

import sys

from mcp_curated_shared.cli import ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="stencil",
    distribution="mcp-curated-stencil",
    module="mcp_curated_stencil",
    summary="Gives an MCP client conversions of lengths.",
    settings="mcp_curated_stencil.settings:StencilSettings",
    build="mcp_curated_stencil.server:build_server",
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
