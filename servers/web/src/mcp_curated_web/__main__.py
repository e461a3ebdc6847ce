"""Console script `mcp-curated-web`."""

import sys

from mcp_curated_shared.cli import ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="web",
    distribution="mcp-curated-web",
    module="mcp_curated_web",
    summary="Gives an MCP client web pages as Markdown and web search; nothing private is reached.",
    settings="mcp_curated_web.settings:WebSettings",
    build="mcp_curated_web.server:build_server",
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
