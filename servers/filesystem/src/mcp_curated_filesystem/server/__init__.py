"""The protocol side of the filesystem server: everything below it is plain Python."""

from mcp_curated_filesystem.server.build import build_server

__all__ = ["build_server"]
