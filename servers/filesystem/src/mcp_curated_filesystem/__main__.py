"""Console script `mcp-curated-filesystem`."""

import sys

from mcp_curated_shared.cli import Command, ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="filesystem",
    distribution="mcp-curated-filesystem",
    module="mcp_curated_filesystem",
    summary="Gives an MCP client files in the folders you name, and in no others.",
    settings="mcp_curated_filesystem.settings:FilesystemSettings",
    build="mcp_curated_filesystem.server:build_server",
    before="mcp_curated_filesystem.kernel:confine_process",
    checks="mcp_curated_filesystem.doctor:checks",
    commands=(
        Command("pending", "List the deletions that wait for an approval.", "mcp_curated_shared.cli.approving:pending"),
        Command("audit", "Check the audit log: audit verify [HEAD].", "mcp_curated_shared.cli.auditing:audit"),
        Command(
            "approve",
            "Approve one in this terminal: approve OP, where the client could not ask.",
            "mcp_curated_shared.cli.approving:approve",
        ),
    ),
    examples=(
        ("mcp-curated-filesystem ~/notes ~/reference:ro", "Serve two folders over stdio, the second for reading only."),
        ("mcp-curated-filesystem config --host claude-desktop --write ~/notes", "Add the server to Claude Desktop."),
        ("mcp-curated-filesystem doctor ~/notes", "Check that it will work there."),
    ),
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
