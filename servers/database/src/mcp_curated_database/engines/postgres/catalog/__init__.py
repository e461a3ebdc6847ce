"""What a PostgreSQL database holds, from pg_catalog alone: a role that may only SELECT is told the same as its owner.

The views of information_schema leave out the constraints of tables that the role does not own.
"""

from mcp_curated_database.engines.postgres.catalog.describing import describe
from mcp_curated_database.engines.postgres.catalog.listing import close_tables, column_names, table_names
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection

__all__ = ["CatalogConnection", "close_tables", "column_names", "describe", "table_names"]
