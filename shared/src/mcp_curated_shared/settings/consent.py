"""What the operator accepts as a person's consent to a write."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.declaration import Settings, optional, setting
from mcp_curated_shared.settings.kinds import Choice, Secret, SecretText

ConfirmPolicy = Literal["ask", "elicit", "host", "deny"]


@dataclass(frozen=True, slots=True)
class ConsentSettings(Settings):
    """Who must agree before something is done that asks first."""

    prompted: ClassVar[bool] = False

    confirm: ConfirmPolicy = setting(
        Choice[ConfirmPolicy](("ask", "elicit", "host", "deny")),
        default="ask",
        help="Consent to what asks first: ask, an answer in the client or an approval in a terminal; elicit, only the "
        "former; host, where the client cannot ask, the host's own prompt is enough; deny, never.",
    )


@dataclass(frozen=True, slots=True)
class LedgerSettings(Settings):
    """Where consents are remembered, so that each counts once."""

    prompted: ClassVar[bool] = False

    ledger: Secret | None = optional(
        SecretText("a PostgreSQL connection string", metavar="DSN"),
        help="PostgreSQL database that remembers consents for several replicas of a server; by default a file in the "
        "state folder does.",
    )

    def check(self) -> None:
        """Refuse what is no address of a PostgreSQL.

        Raises:
            SettingsError: It begins with another scheme; the value is not told.
        """
        if self.ledger is None:
            return
        if not _can_be_read(self.ledger.reveal()):
            raise SettingsError(
                "The ledger's connection string cannot be read.",
                "Write / # ? and @ in a password as %2F %23 %3F and %40, and the port as a number.",
            )
        if not self.ledger.reveal().startswith(("postgresql://", "postgres://")):
            raise SettingsError(
                "The ledger's connection string does not begin with postgresql://.",
                "Write postgresql://USER:PASSWORD@HOST/DATABASE, or leave it out to use a file.",
            )


def _can_be_read(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        _ = urlsplit(url).port
    except ValueError:
        return False
    return True
