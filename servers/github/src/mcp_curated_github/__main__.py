"""Console script `mcp-curated-github`."""

import sys

from mcp_curated_shared.cli import ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="github",
    distribution="mcp-curated-github",
    module="mcp_curated_github",
    summary="Gives an MCP client GitHub: reads, and issues only where allowed and only after a person agreed.",
    settings="mcp_curated_github.settings:GithubSettings",
    build="mcp_curated_github.server:build_server",
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
