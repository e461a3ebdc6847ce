"""The command line that every server has: serve, config, doctor, tools.

Nothing here imports `mcp`; only `serve` reaches it, through the transport.
"""

from mcp_curated_shared.cli.main import main
from mcp_curated_shared.cli.program import Command, ServerProgram

__all__ = ["Command", "ServerProgram", "main"]
