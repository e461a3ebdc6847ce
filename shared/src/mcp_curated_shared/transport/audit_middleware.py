"""The audit as the outermost middleware: it sees every call as it arrives and every result as it leaves."""

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import authenticated_principal
from mcp.shared.exceptions import MCPError

from mcp_curated_shared.security.audit.chain import Value
from mcp_curated_shared.security.audit.keys import given_key
from mcp_curated_shared.security.audit.log import AuditLog
from mcp_curated_shared.security.audit.trail import Subject, Trail, current_operation
from mcp_curated_shared.settings.auditing import AuditSettings
from mcp_curated_shared.transport.asking import CONFIRMATION_META_KEY, LOCAL_CALLER
from mcp_curated_shared.transport.failures import ERROR_META_KEY
from mcp_curated_shared.transport.logs import announce
from mcp_curated_shared.transport.requests import RequestContext

if TYPE_CHECKING:
    from mcp_curated_shared.transport.server import CuratedServer

METHODS: Final = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
"""What is recorded, and the parameter that names the thing."""

REFUSALS: Final = frozenset(
    ("not_allowed", "outside_roots", "read_only", "permission", "unconfirmed", "audit", "invalid_argument")
)
"""Kinds of errors that mean that the server would not, rather than could not."""

_FORGED: Final = "invalid_request_state"
_REMEMBERED_QUESTIONS: Final = 4096

ReadsOnly = Callable[[str], bool | None]
"""Whether a tool changes nothing; None for a name that is no tool's."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a round."""

    word: str
    facts: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class _Call:
    """One round of a call; it is only described when it is recorded."""

    context: RequestContext
    params: Mapping[str, Any]
    known: bool
    reads: bool
    about: Subject
    begun: float = field(default_factory=time.perf_counter)


def open_trail(
    settings: AuditSettings, folder: str, *, server: str, version: str, secrets: Iterable[str]
) -> Trail | None:
    """The trail that an operator's settings ask for; None when the audit is off. The disk is not touched yet.

    Args:
        settings: The operator's.
        folder: The state folder.
        server: The distribution's name.
        version: Its version.
        secrets: The process's own secrets.

    Raises:
        SettingsError: The operator's key is too short.
    """
    if settings.level == "off":
        return None
    key = None if settings.audit_key is None else given_key(settings.audit_key.reveal())
    return Trail(AuditLog(folder, key=key), server=server, version=version, level=settings.level, secrets=secrets)


def watch(server: "CuratedServer[Any]", trail: Trail | None) -> None:
    """Let a trail, if there is one, see every call of a server. Call it after every other middleware is in."""
    if trail is not None:
        server.middleware.insert(0, AuditMiddleware(trail, server.reads_only))


def close_trail(trail: Trail | None) -> None:
    """Write what waits, and tell the head of the chain on standard error; for the end of a lifespan."""
    head = None if trail is None else trail.close()
    if head is not None:
        announce(f"The audit ends with {head}; `audit verify` takes it to see whether its end was cut off.")


class AuditMiddleware:
    """Records calls.

    Args:
        trail: Where.
        reads_only: What is known of a tool.
    """

    def __init__(self, trail: Trail, reads_only: ReadsOnly) -> None:
        self._trail = trail
        self._reads_only = reads_only
        self._questions: OrderedDict[str, str] = OrderedDict()

    async def __call__(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Record one call, whatever comes of it."""
        if ctx.method not in METHODS:
            return await call_next(ctx)
        call = self._call(ctx)
        token = current_operation.set(self._operation(call.params))
        try:
            if not call.reads:
                self._note(call, "change", {})
            return await self._watched(call, call_next)
        finally:
            current_operation.reset(token)

    def _call(self, ctx: RequestContext) -> _Call:
        params = ctx.params or {}
        if ctx.method != "tools/call":
            about = Subject([params.get(METHODS[ctx.method]), params.get("arguments")])
            return _Call(ctx, params, known=False, reads=True, about=about)
        reads = self._reads_only(str(params.get("name")))
        about = Subject(params.get("arguments"))
        return _Call(ctx, params, known=reads is not None, reads=reads is not False, about=about)

    async def _watched(self, call: _Call, call_next: CallNext) -> HandlerResult:
        try:
            result = await call_next(call.context)
        except MCPError as error:
            self._end(call, _outcome_of_error(error))
            raise
        except anyio.get_cancelled_exc_class():
            self._end(call, _Outcome("cancelled"))
            raise
        except BaseException:
            self._end(call, _Outcome("crashed"))
            raise
        self._end(call, self._outcome_of(result))
        return result

    def _operation(self, params: Mapping[str, Any]) -> str:
        """The operation's id: a new one, or that of the round that asked, by the sealed state that came back."""
        state = params.get("requestState")
        known = self._questions.get(_named(state)) if isinstance(state, str) else None
        return known or secrets.token_hex(8)

    def _note(self, call: _Call, event: str, facts: Mapping[str, Value]) -> None:
        method, params = call.context.method, call.params
        record: dict[str, Value] = {
            "event": event,
            "caller": self._caller(call.context),
            "era": call.context.protocol_version,
            "method": method,
        }
        if method == "tools/call":
            name = str(params.get("name"))
            record["tool"] = name if call.known else self._trail.untrusted(name)
        state = params.get("requestState")
        if isinstance(state, str):
            record["answers"] = _named(state)
        self._trail.note({**record, **facts}, args=call.about)

    def _caller(self, ctx: RequestContext) -> str:
        principal = authenticated_principal(ctx)
        return LOCAL_CALLER if principal is None else self._trail.untrusted(principal)

    def _end(self, call: _Call, outcome: _Outcome) -> None:
        if call.reads and self._trail.level == "changes" and outcome.word in ("ok", "failed", "asked"):
            return
        milliseconds = round((time.perf_counter() - call.begun) * 1000, 1)
        self._note(call, "call", {"outcome": outcome.word, **outcome.facts, "ms": milliseconds})

    def _outcome_of(self, result: object) -> _Outcome:
        if not isinstance(result, Mapping):
            return _Outcome("ok")
        facts = cast("Mapping[str, object]", result)
        state = facts.get("requestState")
        if isinstance(state, str):
            self._questions[_named(state)] = current_operation.get()
            while len(self._questions) > _REMEMBERED_QUESTIONS:
                self._questions.popitem(last=False)
            return _Outcome("asked", {"question": _named(state)})
        if facts.get("isError") is not True:
            return _Outcome("ok", _standing(facts))
        kind = str(_member(facts, ERROR_META_KEY).get("kind", "internal"))
        return _Outcome("refused" if kind in REFUSALS else "failed", {"kind": kind})


def _outcome_of_error(error: MCPError) -> _Outcome:
    given: object = error.data
    data: Mapping[str, object] = cast("Mapping[str, object]", given) if isinstance(given, Mapping) else {}
    if data.get("reason") == _FORGED:
        return _Outcome("forged_state")
    kind = data.get("kind")
    if isinstance(kind, str) and kind not in REFUSALS:
        return _Outcome("failed", {"kind": kind})
    return _Outcome("refused", {"kind": kind if isinstance(kind, str) else f"code{error.code}"})


def _standing(facts: Mapping[str, object]) -> dict[str, str]:
    """How a write with consent stands, as its result says."""
    said = _member(facts, CONFIRMATION_META_KEY)
    return {name: str(said[name]) for name in ("status", "assurance") if name in said}


def _member(facts: Mapping[str, object], name: str) -> Mapping[str, object]:
    meta = facts.get("_meta")
    member = cast("Mapping[str, object]", meta).get(name) if isinstance(meta, Mapping) else None
    return cast("Mapping[str, object]", member) if isinstance(member, Mapping) else {}


def _named(state: str) -> str:
    """A sealed state by its digest: it names one asking of a question."""
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:16]
