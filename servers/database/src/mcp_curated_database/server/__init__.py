"""The protocol side of the database server: everything below it is plain Python."""

from mcp_curated_database.server.build import build_server

__all__ = ["build_server"]
