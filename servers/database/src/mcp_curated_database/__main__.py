"""Console script `mcp-curated-database`."""

import sys

from mcp_curated_shared.cli import ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="database",
    distribution="mcp-curated-database",
    module="mcp_curated_database",
    summary="Gives an MCP client SQLite and PostgreSQL databases to query, read-only by layers that hold.",
    settings="mcp_curated_database.settings:DatabaseSettings",
    build="mcp_curated_database.server:build_server",
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
