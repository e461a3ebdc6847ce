"""The protocol side of the server: everything below it is plain Python."""

from mcp_curated_stencil.server.build import build_server

__all__ = ["build_server"]
