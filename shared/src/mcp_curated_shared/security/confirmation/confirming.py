"""Doing a write once, and only with consent: what a server calls, whatever it writes and however it asks."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, NoReturn, Protocol

import anyio

from mcp_curated_shared.errors import CuratedError, NotAllowedError, UnavailableError
from mcp_curated_shared.security.confirmation.ledger import (
    OPERATION_SECONDS,
    Assurance,
    Attempt,
    Consent,
    Ledger,
    Operation,
    Redeeming,
    Refusal,
)
from mcp_curated_shared.security.confirmation.plans import Plan

Policy = Literal["ask", "elicit", "host", "deny"]
"""What the operator accepts as consent.

ask: an answer to a question in the client, or an approval in a terminal. elicit: only the former. host: where the
client cannot ask, a second call, which the host is trusted to show to its user. deny: nothing.
"""

logger = logging.getLogger(__name__)

WAIT_SECONDS: Final = 20.0
"""How long a repetition waits for the attempt that runs already."""

_POLL_SECONDS: Final = 0.1

Outcome = Literal["done", "failed", "unknown"]
Act = Callable[[], Awaitable[str]]
Recover = Callable[[], Awaitable[str | None]]


class UnconfirmedError(NotAllowedError):
    """There is no consent for this write; nothing was done."""

    kind = "unconfirmed"


class UnknownOutcomeError(CuratedError):
    """The write was sent and nobody can say whether it was done; it is not repeated."""

    kind = "unknown_outcome"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking the client's user.

    Attributes:
        action: "not_asked" when the client cannot ask, or need not.
        key: Names this one answer, so that a replay of it is seen; needed when it is "accept".
    """

    action: Literal["not_asked", "accept", "decline", "cancel"] = "not_asked"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """Nothing was done.

    Attributes:
        status: Why.
        text: The reply to the model, complete.
        operation_id: What a person can approve; None where approval would not help.
    """

    status: Literal["needs_confirmation", "declined"]
    text: str
    operation_id: str | None


@dataclass(frozen=True, slots=True)
class Done:
    """It was done, by this call or by an earlier one.

    Attributes:
        result: What `act` returned.
        assurance: Who vouches for the consent.
        repeated: An earlier call did it; this one did nothing.
    """

    result: str
    assurance: Assurance
    repeated: bool = False


class Witness(Protocol):
    """Who records a write: the audit."""

    async def write_start(self, plan: Plan, consent: Consent) -> None:
        """Record that a write begins; it is on the disk when this returns.

        Raises:
            CuratedError: It cannot be recorded: the write must not happen.
        """
        ...

    async def write_end(self, plan: Plan, consent: Consent, outcome: Outcome) -> None:
        """Record how it ended. Never raises."""
        ...


class Confirmation:
    """Asks, remembers and lets a write happen once.

    Args:
        ledger: Remembers consents and attempts.
        policy: What counts as consent.
        approve_command: What a person types in a terminal, without the operation's id.
        witness: Records every write; None for no record.
    """

    def __init__(
        self, ledger: Ledger, *, policy: Policy = "ask", approve_command: str, witness: Witness | None = None
    ) -> None:
        self.ledger = ledger
        self.policy: Policy = policy
        self._approve_command = approve_command
        self._witness = witness

    async def close(self) -> None:
        """Close the ledger; for the end of a server."""
        await self.ledger.close()

    async def should_ask(self, plan: Plan, caller: str, operation_id: str | None) -> bool:
        """Whether to ask, where the client can be asked: not for what was done already, or is approved already.

        Reads only: on 2026-07-28 it is called again on every round.
        """
        if self.policy == "deny":
            return False
        if await self._earlier(plan, caller, operation_id) is not None:
            return False
        if operation_id is None or self.policy == "elicit":
            return True
        found = await self.ledger.look(operation_id)
        return found is None or (found.caller, found.digest, found.state) != (caller, plan.digest, "approved")

    async def offer(self, plan: Plan, caller: str) -> str:
        """The id under which a person can approve this plan: for a dry run's preview."""
        return (await self.ledger.offer(plan, caller)).id

    async def perform(
        self,
        plan: Plan,
        answer: Answer,
        *,
        caller: str,
        operation_id: str | None,
        act: Act,
        recover: Recover | None = None,
    ) -> Held | Done:
        """Do the write if there is consent, once.

        Args:
            plan: What is done; `act` does exactly this.
            answer: What the client's user said.
            caller: Who calls: consents and results are theirs alone.
            operation_id: What the call gives as `confirmed_operation_id`.
            act: Does it and says in a text what was done. A `CuratedError` other than `UnknownOutcomeError` means that
                it surely was not done; whatever else it raises, cancellation included, leaves it unknown.
            recover: Looks for the result of a write whose outcome is unknown; None when there is none to be seen.

        Returns:
            What was done, or why nothing was.

        Raises:
            NotAllowedError: The policy forbids it.
            UnconfirmedError: The operation id is of no use.
            UnknownOutcomeError: It was begun before and nobody can say whether it was done.
            CuratedError: From `act`; or the audit cannot be written.
        """
        if self.policy == "deny":
            raise NotAllowedError(
                f"{plan.not_done}: the operator allows no such change (confirm = deny).",
                "Do it another way, or ask them.",
            )
        earlier = await self._earlier(plan, caller, operation_id)
        if earlier is not None:
            return await self._settled(plan, caller, earlier, recover)
        consent, redeeming = self._consent(plan, answer, caller, operation_id)
        if consent is None:
            return await self._hold(plan, answer, caller)
        begun = await self._begin(consent, plan.remembered_seconds, redeeming)
        if not isinstance(begun, Attempt):
            self._refuse(plan, begun, operation_id or "")
        if not begun.fresh:
            return await self._settled(plan, caller, begun, recover)
        return await self._do(plan, replace(consent, assurance=begun.assurance), act)

    async def _earlier(self, plan: Plan, caller: str, operation_id: str | None) -> Attempt | None:
        key = f"op:{operation_id}" if operation_id else ""
        consent = Consent(key, caller, plan.digest, "approved_out_of_band")
        return await self.ledger.earlier(consent, remembered_seconds=plan.remembered_seconds)

    def _consent(
        self, plan: Plan, answer: Answer, caller: str, operation_id: str | None
    ) -> tuple[Consent | None, Redeeming]:
        if answer.action == "accept":
            return Consent(answer.key, caller, plan.digest, "elicited"), "approved"
        if answer.action != "not_asked" or operation_id is None or self.policy == "elicit":
            return None, "approved"
        redeeming: Redeeming = "pending" if self.policy == "host" else "approved"
        return Consent(f"op:{operation_id}", caller, plan.digest, "approved_out_of_band"), redeeming

    async def _begin(self, consent: Consent, remembered_seconds: float, redeeming: Redeeming) -> Attempt | Refusal:
        # A caller that goes away meanwhile must not leave an attempt that nobody ends.
        begun: Attempt | Refusal = "unknown"
        with anyio.CancelScope(shield=True):
            begun = await self.ledger.begin(consent, remembered_seconds=remembered_seconds, redeeming=redeeming)
        return begun  # noqa: RET504 - the type of a scope says that it may swallow a return

    async def _hold(self, plan: Plan, answer: Answer, caller: str) -> Held:
        declined = answer.action != "not_asked"
        if self.policy == "elicit":
            if declined:
                return Held("declined", f"{plan.not_done}: {_DECLINED}. Do not repeat it unasked.", None)
            raise NotAllowedError(
                f"{plan.not_done}: this client cannot ask its user, and the operator accepts nothing else"
                " (confirm = elicit).",
                "Use a client with elicitation, or set confirm to ask.",
            )
        operation = await self.ledger.offer(plan, caller, declined=declined)
        if declined:
            after_all = f"If it is wanted after all, {self._how(operation)}"
            text = f"{plan.not_done}: {_DECLINED}. Do not repeat it unasked. {after_all}"
            return Held("declined", text, operation.id)
        why = "the user must confirm it, and this client cannot ask them"
        if self.policy == "host":
            text = (
                f"{plan.not_done} yet: {plan.text}\nRepeat this call with"
                f' confirmed_operation_id="{operation.id}" if the user wants it.'
            )
        else:
            text = f"{plan.not_done}: {why}. {plan.text}\nTo go on, {self._how(operation)}"
        return Held("needs_confirmation", text, operation.id)

    def _how(self, operation: Operation) -> str:
        minutes = max(1, round(operation.seconds_left / 60))
        approved = operation.state == "approved"
        how = "" if approved else f'a person runs "{self._approve_command} {operation.id}" in a terminal, then '
        return f'{how}repeat this call with confirmed_operation_id="{operation.id}" (within {minutes} minutes).'

    def _refuse(self, plan: Plan, refusal: Refusal, operation_id: str) -> NoReturn:
        text, next_step = _REFUSALS[refusal]
        step = next_step.format(command=f"{self._approve_command} {operation_id}")
        raise UnconfirmedError(f"{plan.not_done}: {text}.", step)

    async def _settled(self, plan: Plan, caller: str, attempt: Attempt, recover: Recover | None) -> Done:
        """The result of an attempt that was begun before, when it has one."""
        if plan.remembered_seconds <= 0:
            raise UnconfirmedError(
                f"{plan.not_done}: this confirmation was used already.",
                "Look whether it is done; repeat the call without confirmed_operation_id to be asked anew.",
            )
        attempt = await self._wait_for(plan, caller, attempt)
        if attempt.state == "done":
            return Done(attempt.result, attempt.assurance, repeated=True)
        if attempt.state == "failed":
            raise UnconfirmedError(
                f"{plan.not_done}: this confirmation was used by an attempt that failed: {attempt.result}",
                "Repeat the call without confirmed_operation_id to be asked again.",
            )
        if attempt.state == "running":
            raise UnavailableError(
                "The same change is being made by an earlier call.", "Ask for its result in a while."
            )
        found = None if recover is None else await recover()
        if found is None:
            raise UnknownOutcomeError(
                "An earlier call began this very change, and how it ended is not known; it was not repeated.",
                "Look whether it was done.",
            )
        await self.ledger.finish(attempt.key, "done", found)
        return Done(found, attempt.assurance, repeated=True)

    async def _wait_for(self, plan: Plan, caller: str, attempt: Attempt) -> Attempt:
        consent = Consent(attempt.key, caller, plan.digest, attempt.assurance)
        with anyio.move_on_after(WAIT_SECONDS):
            while attempt.state == "running":
                await anyio.sleep(_POLL_SECONDS)
                found = await self.ledger.earlier(consent, remembered_seconds=plan.remembered_seconds)
                attempt = found or attempt
        return attempt

    async def _do(self, plan: Plan, consent: Consent, act: Act) -> Done:
        outcome: Outcome = "unknown"
        result = ""
        try:
            if self._witness is not None:
                await self._witness.write_start(plan, consent)
            result = await act()
            outcome = "done"
        except UnknownOutcomeError:
            raise
        except CuratedError as error:
            outcome, result = "failed", str(error)
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._end(plan, consent, outcome, result)
        return Done(result, consent.assurance)

    async def _end(self, plan: Plan, consent: Consent, outcome: Outcome, result: str) -> None:
        # The ledger first: it is what keeps a repetition from writing again.
        try:
            await self.ledger.finish(consent.key, outcome, result)
        except CuratedError as error:
            # What was done is done: saying that nothing was would invite a repetition. This attempt now counts as one
            # whose end nobody knows, and so is not repeated.
            logger.warning("The end of a write (%s) could not be remembered: %s", outcome, error)
        if self._witness is not None:
            await self._witness.write_end(plan, consent, outcome)


_DECLINED: Final = "declined, or your client never showed the question"

_REFUSALS: Final[dict[Refusal, tuple[str, str]]] = {
    "unknown": (
        "there is no such operation",
        "Operation ids come from this server; call without confirmed_operation_id to get one.",
    ),
    "other_caller": (
        "there is no such operation",
        "Operation ids come from this server; call without confirmed_operation_id to get one.",
    ),
    "expired": (
        f"this operation is over: it was used, or its {OPERATION_SECONDS / 60:g} minutes have passed",
        "Call without confirmed_operation_id to get a new one.",
    ),
    "other_content": (
        "this operation is for another content",
        "What was confirmed cannot be changed; call without confirmed_operation_id to get a new one.",
    ),
    "not_approved": (
        "nobody has approved this operation",
        'A person runs "{command}" in a terminal; then repeat this call.',
    ),
    "declined": (
        "this operation was declined",
        'If it is wanted after all, a person runs "{command}" in a terminal; then repeat this call.',
    ),
}
