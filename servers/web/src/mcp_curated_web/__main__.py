"""Console script `mcp-curated-web`."""

import sys

from mcp_curated_shared.cli import Command, ServerProgram
from mcp_curated_shared.cli import main as run

PROGRAM = ServerProgram(
    name="web",
    distribution="mcp-curated-web",
    module="mcp_curated_web",
    summary="Gives an MCP client web pages as Markdown and web search; nothing private is reached.",
    settings="mcp_curated_web.settings:WebSettings",
    build="mcp_curated_web.server:build_server",
    checks="mcp_curated_web.doctor:checks",
    commands=(
        Command("explain", "Fetch a URL and tell each step: explain URL.", "mcp_curated_web.explaining:explain"),
        Command("audit", "Check the audit log: audit verify [HEAD].", "mcp_curated_shared.cli.auditing:audit"),
    ),
    examples=(
        ("mcp-curated-web", "Serve over stdio; public hosts only."),
        ("mcp-curated-web --allow-host wiki.internal", "Open one host of your own network."),
        ("mcp-curated-web explain https://example.com/", "See what a fetch does, step by step."),
    ),
)


def main() -> int:
    """Run the command line."""
    return run(PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
