"""What a running database server holds."""

from dataclasses import dataclass

from mcp.server.mcpserver import Context

from mcp_curated_database.databases import Databases
from mcp_curated_database.settings import DatabaseSettings
from mcp_curated_shared.security.confirmation import Confirmation


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The lifespan state of the server.

    Attributes:
        settings: The operator's.
        databases: The sources and their engines.
        confirmation: Asks before something is written.
    """

    settings: DatabaseSettings
    databases: Databases
    confirmation: Confirmation


DatabaseContext = Context[DatabaseState]


def state_of(context: DatabaseContext) -> DatabaseState:
    """The state of the server that answers this request."""
    return context.request_context.lifespan_context
