"""What is remembered of consents and of what was done with them, whoever stores it."""

from dataclasses import dataclass
from typing import Literal, Protocol

from mcp_curated_shared.security.confirmation.plans import Plan

Assurance = Literal["elicited", "approved_out_of_band", "host_only"]
"""Who vouches for a consent: the client that says so, a person in a terminal, or the host's own prompt."""

OPERATION_SECONDS = 600.0
"""How long an operation waits for its approval, and for the call that uses it."""

OperationState = Literal["pending", "approved", "used", "expired"]
Redeeming = Literal["approved", "pending"]
"""Which operations a call may use: approved ones; or pending ones too, where the operator trusts the host's prompt."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A plan that waits for a person.

    Attributes:
        id: Random, 144 bits: knowing it proves that the server gave it, and nothing more.
        caller: For whom it waits; nobody else can use it.
        digest: Of the plan; it fits no other.
        operation: The tool's name.
        text: The question with all its lines.
        word: What approves it.
        state: "expired" when its time is over.
        seconds_left: Until it expires; 0 when it has.
        declined: A person declined it where the client asked: it needs a terminal now, the host's prompt is not enough.
    """

    id: str
    caller: str
    digest: str
    operation: str
    text: str
    word: str
    state: OperationState
    seconds_left: float
    declined: bool


@dataclass(frozen=True, slots=True)
class Consent:
    """The right to do a plan once.

    Attributes:
        key: Names this one consent; the ledger accepts it once. An operation's is `op:` and its id.
        caller: Who gave it or for whom it was given.
        digest: Of the plan that it is for.
        assurance: Who vouches for it; an operation's is told by the ledger, which knows whether it was approved.
    """

    key: str
    caller: str
    digest: str
    assurance: Assurance


AttemptState = Literal["running", "done", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One use of a consent.

    Attributes:
        key: The consent's.
        state: "running" only while a process can be at it; "unknown" when nobody can say whether it was done: the
            answer was lost, or the process died.
        result: What was done, as the server that did it wrote it; or why it failed.
        assurance: Of its consent.
        fresh: It was made just now, for the caller: do the work.
    """

    key: str
    state: AttemptState
    result: str
    assurance: Assurance
    fresh: bool = False


Refusal = Literal["unknown", "expired", "other_content", "other_caller", "not_approved", "declined"]


class Ledger(Protocol):
    """Single use and idempotency, across processes. Every method but `close` is one transaction."""

    async def close(self) -> None:
        """Give back what is held open. The next method opens it again."""
        ...

    async def offer(self, plan: Plan, caller: str, *, declined: bool = False) -> Operation:
        """The operation that waits for this plan and caller: the one that waits already, or a new one.

        Args:
            plan: What is to be approved.
            caller: For whom.
            declined: A person declined it where the client asked.
        """
        ...

    async def look(self, operation_id: str) -> Operation | None:
        """An operation as it stands."""
        ...

    async def waiting(self) -> list[Operation]:
        """The operations that can still be approved or used, oldest first."""
        ...

    async def approve(self, operation_id: str) -> Operation | None:
        """Approve an operation that is pending; one that is not stays as it is, and is told."""
        ...

    async def begin(
        self, consent: Consent, *, remembered_seconds: float, redeeming: Redeeming = "approved"
    ) -> Attempt | Refusal:
        """Take a consent and begin, or tell what was begun with it, or with the same content, before.

        Args:
            consent: One with a key `op:ID` is an operation's and must be there, fit, and be approved.
            remembered_seconds: How long an attempt at the same content by the same caller stands for this one; 0 for
                not at all.
            redeeming: Which operations may be used.

        Returns:
            An attempt: do the work if it is `fresh`, else it is the earlier one. Or why the operation is of no use.
        """
        ...

    async def earlier(self, consent: Consent, *, remembered_seconds: float) -> Attempt | None:
        """What `begin` would tell of before; nothing is begun."""
        ...

    async def finish(self, key: str, state: AttemptState, result: str) -> None:
        """Tell how an attempt ended. One that ended stays as it is, but for "unknown", which may become "done"."""
        ...
