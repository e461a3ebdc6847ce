"""The request that is being answered, for the handlers that the SDK gives no context.

Static resources and completion handlers are called without one; a middleware remembers it for them.
"""

from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

RequestContext = ServerRequestContext[Any, Any]

_current: ContextVar[RequestContext | None] = ContextVar("mcp_curated_request", default=None)


async def remember_request(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
    """Middleware: make the request visible to `current_request` for as long as it runs."""
    token = _current.set(ctx)
    try:
        return await call_next(ctx)
    finally:
        _current.reset(token)


def current_request() -> RequestContext | None:
    """The request being answered, in its own task and its worker threads; None outside of one."""
    return _current.get()
