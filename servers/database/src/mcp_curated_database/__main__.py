"""Console script `mcp-curated-database`."""

import sys

from mcp_curated_shared.cli import Command, ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="database",
    distribution="mcp-curated-database",
    module="mcp_curated_database",
    summary="Gives an MCP client SQLite and PostgreSQL databases to query, read-only by layers that hold.",
    settings="mcp_curated_database.settings:DatabaseSettings",
    build="mcp_curated_database.server:build_server",
    checks="mcp_curated_database.doctor:checks",
    commands=(
        Command("pending", "List the writes that wait for an approval.", "mcp_curated_shared.cli.approving:pending"),
        Command("audit", "Check the audit log: audit verify [HEAD].", "mcp_curated_shared.cli.auditing:audit"),
        Command(
            "approve",
            "Approve one in this terminal: approve OP, where the client could not ask.",
            "mcp_curated_shared.cli.approving:approve",
        ),
    ),
    examples=(
        ("mcp-curated-database ~/shop.db", "Serve an SQLite file over stdio, for reading."),
        ("DATABASE_URL=postgresql://reader@db.example/shop mcp-curated-database", "Serve a PostgreSQL database."),
        ("mcp-curated-database --sources ~/databases.toml", "Serve several, with saved queries."),
        ("mcp-curated-database config --host claude-desktop --write ~/shop.db", "Add the server to Claude Desktop."),
        ("mcp-curated-database doctor ~/shop.db", "Check that it will work there."),
    ),
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
