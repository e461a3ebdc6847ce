"""Asking the client's user for consent, in both protocol eras; the protocol's side of `security.confirmation`.

A tool that writes with consent takes two resolved parameters: its plan, and the answer to the question about it.

    async def planned(path: str, ctx: Ctx) -> Plan: ...            # what would be done; changes nothing
    async def asked(plan: Annotated[Plan, Resolve(planned)], ctx: Ctx, confirmed_operation_id: str | None) -> Asked:
        return await ask(confirmation_of(ctx), plan, ctx, confirmed_operation_id)

    async def remove(path: str, ctx: Ctx, plan: Annotated[Plan, Resolve(planned)],
                     outcome: Annotated[ElicitationResult[Any], Resolve(asked)],
                     confirmed_operation_id: ConfirmedOperation = None) -> CallToolResult:
        asking = Asking(confirmation_of(ctx), ctx, outcome, confirmed_operation_id)
        return told(await asking.perform(plan, act))

The consent is the last question of its tool: an answer that travels on into a further round could be used from each of
that round's replays.
"""

import hashlib
import secrets
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, Final

from mcp.server.context import CallNext, HandlerResult
from mcp.server.elicitation import (
    CancelledElicitation,
    DeclinedElicitation,
    ElicitationResult,
)
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit
from mcp.server.request_state import authenticated_principal
from mcp_types import CallToolResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field

from mcp_curated_shared.security.confirmation.confirming import Act, Answer, Confirmation, Done, Held, Recover
from mcp_curated_shared.security.confirmation.plans import Plan
from mcp_curated_shared.transport.replies import reply
from mcp_curated_shared.transport.requests import RequestContext

CONFIRMATION_META_KEY: Final = "mcp-curated/confirmation"
"""Where a result's `_meta` says how the write stands: `status`, and `operationId` or `assurance` and `repeated`."""

LOCAL_CALLER: Final = "local"
"""Who calls where nobody has to say who they are: over stdio, and over HTTP on loopback without tokens."""

ConfirmedOperation = Annotated[
    str | None, Field(description="Operation id from an earlier reply, once a person approved it")
]

_sealed_state: ContextVar[str | None] = ContextVar("mcp_curated_sealed_state", default=None)


class Consented(BaseModel):
    """The form a person fills in."""

    confirm: Annotated[bool, Field(title="Yes, do it", description="Only ticked counts as consent")] = False


class NotAsked(BaseModel):
    """In place of an answer where nobody was asked."""


Asked = Elicit[Consented] | NotAsked


async def remember_sealed_state(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
    """Middleware, outside the one that opens it: keep the sealed `requestState` that names this request's question.

    Its seal holds a fresh nonce, so it names one asking of a question; a replay shows the same one.
    """
    state = None if ctx.params is None else ctx.params.get("requestState")
    if not isinstance(state, str):
        return await call_next(ctx)
    token = _sealed_state.set(state)
    try:
        return await call_next(ctx)
    finally:
        _sealed_state.reset(token)


def can_be_asked(context: Context[Any, Any]) -> bool:
    """Whether the client declares forms and there is a way to reach it (not over a stateless old connection)."""
    capabilities = context.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS or context.session.can_send_request


def caller_of(context: Context[Any, Any]) -> str:
    """Whom consents and results belong to: the authenticated principal, or the person at this machine."""
    return authenticated_principal(context.request_context) or LOCAL_CALLER


async def ask(
    confirmation: Confirmation, plan: Plan, context: Context[Any, Any], operation_id: str | None
) -> Elicit[Consented] | NotAsked:
    """What a resolver returns: the question about a plan, or that it is not asked.

    Args:
        confirmation: The server's.
        plan: What is asked about; the same for the same call.
        context: Of the request.
        operation_id: What the call gives as `confirmed_operation_id`.
    """
    if can_be_asked(context) and await confirmation.should_ask(plan, caller_of(context), operation_id):
        return Elicit(plan.text, Consented)
    return NotAsked()


@dataclass(frozen=True, slots=True)
class Asking:
    """One call that needs consent, as the tool received it.

    Attributes:
        confirmation: The server's.
        context: Of the request.
        outcome: What the resolver that asks gave.
        operation_id: What the call gives as `confirmed_operation_id`.
    """

    confirmation: Confirmation
    context: Context[Any, Any]
    outcome: ElicitationResult[Any]
    operation_id: str | None

    async def perform(self, plan: Plan, act: Act, recover: Recover | None = None) -> Held | Done:
        """Do a write if the answer, or an approved operation, allows it. See `Confirmation.perform`."""
        return await self.confirmation.perform(
            plan,
            _answer(self.outcome, self.context),
            caller=caller_of(self.context),
            operation_id=self.operation_id,
            act=act,
            recover=recover,
        )


def _answer(outcome: ElicitationResult[Any], context: Context[Any, Any]) -> Answer:
    if isinstance(outcome, DeclinedElicitation):
        return Answer("decline")
    if isinstance(outcome, CancelledElicitation):
        return Answer("cancel")
    data: object = outcome.data
    if isinstance(data, NotAsked):
        return Answer("not_asked")
    if not isinstance(data, Consented) or not data.confirm:
        return Answer("decline")
    return Answer("accept", _key(context))


def _key(context: Context[Any, Any]) -> str:
    """Names one answer. An old connection's answer came during this very call, so it cannot come again."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return f"answer:{secrets.token_hex(16)}"
    state = _sealed_state.get()
    if state is None:
        raise RuntimeError("An answer came without the sealed state of its question.")
    return f"state:{hashlib.sha256(state.encode('utf-8', 'surrogatepass')).hexdigest()}"


def told(outcome: Held | Done) -> CallToolResult:
    """The reply to a write that was done, or held back, as text and for programs."""
    if isinstance(outcome, Held):
        meta: dict[str, object] = {"status": outcome.status}
        if outcome.operation_id is not None:
            meta["operationId"] = outcome.operation_id
        return reply(outcome.text, meta={CONFIRMATION_META_KEY: meta})
    text = f"{outcome.result}\n{_ASSURANCES[outcome.assurance]}"
    if outcome.repeated:
        text = f"Already done by an earlier call; nothing was done now. {text}"
    meta = {"status": "done", "assurance": outcome.assurance, "repeated": outcome.repeated}
    return reply(text, meta={CONFIRMATION_META_KEY: meta})


_ASSURANCES: Final = {
    "elicited": "Confirmed by an answer in the client (elicited).",
    "approved_out_of_band": "Confirmed in a terminal (approved_out_of_band).",
    "host_only": "Confirmed by nothing but the host's own prompt for this call (host_only).",
}

__all__ = [
    "CONFIRMATION_META_KEY",
    "LOCAL_CALLER",
    "Asked",
    "Asking",
    "ConfirmedOperation",
    "Consented",
    "NotAsked",
    "ask",
    "caller_of",
    "can_be_asked",
    "remember_sealed_state",
    "told",
]
