"""The protocol side of the web server: everything below it is plain Python."""

from mcp_curated_web.server.build import build_server

__all__ = ["build_server"]
