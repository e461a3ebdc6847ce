"""SQLite: a pool of guarded readers, and a writer for one statement at a time."""

from mcp_curated_database.engines.sqlite.engine import SqliteEngine

__all__ = ["SqliteEngine"]
