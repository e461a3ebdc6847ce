"""Which ledger the settings ask for."""

from mcp_curated_shared.security.confirmation.ledger import Ledger
from mcp_curated_shared.security.confirmation.sqlite import SqliteLedger
from mcp_curated_shared.settings.consent import LedgerSettings


def open_ledger(settings: LedgerSettings, folder: str) -> Ledger:
    """The ledger in PostgreSQL where the settings name one, else the file in the state folder. Nothing is opened yet.

    Args:
        settings: The operator's.
        folder: The state folder.
    """
    if settings.ledger is None:
        return SqliteLedger(folder)
    from mcp_curated_shared.security.confirmation.postgres import PostgresLedger

    return PostgresLedger(settings.ledger.reveal())
