"""The protocol side of the github server: everything below it is plain Python."""

from mcp_curated_github.server.build import build_server

__all__ = ["build_server"]
