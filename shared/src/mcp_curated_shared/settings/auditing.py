"""What the operator has recorded of calls."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from mcp_curated_shared.settings.declaration import Settings, optional, setting
from mcp_curated_shared.settings.kinds import Choice, Secret, SecretText

AuditChoice = Literal["all", "changes", "off"]


@dataclass(frozen=True, slots=True)
class AuditSettings(Settings):
    """The audit log in the state folder."""

    prompted: ClassVar[bool] = False

    level: AuditChoice = setting(
        Choice[AuditChoice](("changes", "all", "off")),
        default="changes",
        help="Which calls the audit log records: changes, with every refused or cancelled call; all; or off.",
        flag="--audit",
    )
    audit_key: Secret | None = optional(
        SecretText(),
        help="Key of the audit log, at least 32 characters; by default one is made beside the log.",
    )
