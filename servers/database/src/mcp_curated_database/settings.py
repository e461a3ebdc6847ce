"""Every setting of the database server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar

from mcp_curated_shared.settings import AuditSettings, LogSettings, Settings, StateSettings, TransportSettings


@dataclass(frozen=True, slots=True)
class DatabaseSettings(Settings):
    """What the operator of a database server decides."""

    environment_prefix: ClassVar[str] = "MCP_DATABASE_"

    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)
