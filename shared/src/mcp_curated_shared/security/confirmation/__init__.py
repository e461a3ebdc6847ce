"""Consent for writes: plan, ask, and a ledger that lets each consent count once.

A server describes its write as a `Plan`, asks (`transport.asking` does that in both protocol eras), and calls
`Confirmation.perform` with the function that does it. Plain Python without `mcp`.
"""

from mcp_curated_shared.security.confirmation.confirming import (
    Answer,
    Confirmation,
    Done,
    Held,
    Policy,
    UnconfirmedError,
    UnknownOutcomeError,
    Witness,
)
from mcp_curated_shared.security.confirmation.ledger import (
    Assurance,
    Attempt,
    AttemptState,
    Consent,
    Ledger,
    Operation,
    Refusal,
)
from mcp_curated_shared.security.confirmation.plans import Plan

__all__ = [
    "Answer",
    "Assurance",
    "Attempt",
    "AttemptState",
    "Confirmation",
    "Consent",
    "Done",
    "Held",
    "Ledger",
    "Operation",
    "Plan",
    "Policy",
    "Refusal",
    "UnconfirmedError",
    "UnknownOutcomeError",
    "Witness",
]
