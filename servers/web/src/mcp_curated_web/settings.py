"""Every setting of the web server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar

from mcp_curated_shared.settings import AuditSettings, LogSettings, Settings, StateSettings, TransportSettings


@dataclass(frozen=True, slots=True)
class WebSettings(Settings):
    """What the operator of a web server decides."""

    environment_prefix: ClassVar[str] = "MCP_WEB_"

    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)
