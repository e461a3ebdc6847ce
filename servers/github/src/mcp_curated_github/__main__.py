"""Console script `mcp-curated-github`."""

import sys

from mcp_curated_shared.cli import Command, ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="github",
    distribution="mcp-curated-github",
    module="mcp_curated_github",
    summary="Gives an MCP client GitHub: reads, and issues only where allowed and only after a person agreed.",
    settings="mcp_curated_github.settings:GithubSettings",
    build="mcp_curated_github.server:build_server",
    checks="mcp_curated_github.doctor:checks",
    online_checks="mcp_curated_github.doctor:online_checks",
    commands=(
        Command(
            "pending",
            "List the issues and comments that wait for an approval.",
            "mcp_curated_shared.cli.approving:pending",
        ),
        Command("audit", "Check the audit log: audit verify [HEAD].", "mcp_curated_shared.cli.auditing:audit"),
        Command(
            "approve",
            "Approve one in this terminal: approve OP, where the client could not ask.",
            "mcp_curated_shared.cli.approving:approve",
        ),
    ),
    examples=(
        ("mcp-curated-github", "Serve over stdio: read what is public, or what GITHUB_TOKEN sees."),
        (
            "mcp-curated-github config --host claude-desktop --allowed-repos octo-org/hello-world",
            "Print an entry for Claude Desktop that may also write, there only.",
        ),
        ("mcp-curated-github doctor", "Check the token, its rights, the rate limit and the allowed repositories."),
    ),
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
