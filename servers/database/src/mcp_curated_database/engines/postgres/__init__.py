"""PostgreSQL 14 and later, through asyncpg."""

from mcp_curated_database.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
