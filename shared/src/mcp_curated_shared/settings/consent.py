"""What the operator accepts as a person's consent to a write."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from mcp_curated_shared.settings.declaration import Settings, setting
from mcp_curated_shared.settings.kinds import Choice

ConfirmPolicy = Literal["ask", "elicit", "host", "deny"]


@dataclass(frozen=True, slots=True)
class ConsentSettings(Settings):
    """Who must agree before something is done that asks first."""

    prompted: ClassVar[bool] = False

    confirm: ConfirmPolicy = setting(  # noqa: RUF009 - gives an immutable field()
        Choice[ConfirmPolicy](("ask", "elicit", "host", "deny")),
        default="ask",
        help="Consent to what asks first: ask, an answer in the client or an approval in a terminal; elicit, only the "
        "former; host, where the client cannot ask, the host's own prompt is enough; deny, never.",
    )
