"""Every setting of the github server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar

from mcp_curated_shared.settings import AuditSettings, LogSettings, Settings, StateSettings, TransportSettings


@dataclass(frozen=True, slots=True)
class GithubSettings(Settings):
    """What the operator of a github server decides."""

    environment_prefix: ClassVar[str] = "GITHUB_"

    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)
