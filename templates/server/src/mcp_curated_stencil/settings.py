"""Every setting of the server, declared once: flags, variables, `doctor` and the README's table come from here."""

from dataclasses import dataclass, field
from typing import ClassVar

from mcp_curated_shared.settings import (
    AuditSettings,
    Integer,
    LogSettings,
    Settings,
    StateSettings,
    TransportSettings,
    setting,
)


@dataclass(frozen=True, slots=True)
class StencilSettings(Settings):
    """What the operator decides."""

    environment_prefix: ClassVar[str] = "MCP_STENCIL_"

    digits: int = setting(
        Integer(1, 15, "digits"),
        default=6,
        help="Significant digits of a result.",
    )
    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)
