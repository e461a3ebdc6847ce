"""The last look at everything that leaves: no lone surrogate, and nothing of a crash but that there was one.

One lone surrogate in a result ends an SDK server (the message cannot be written as UTF-8, the writing task fails,
the process exits). File names, database text and error messages can hold one. An exception that no handler expected
reaches a client of 2025-11-25 with its own text, which may hold anything. This middleware is outermost, so that it sees
every result and every error of every method in its final form.
"""

import logging
from collections.abc import Sequence
from typing import Any, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from pydantic import BaseModel, ValidationError

from mcp_curated_shared.security.untrusted import safe_text

_log = logging.getLogger(__name__)


async def sendable_only(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: escape every lone surrogate of a result or an error, and keep a crash to the log."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        raise _sendable_error(error) from error.__cause__
    except ValidationError:
        raise  # the SDK answers "Invalid request parameters"
    except Exception:
        _log.exception("handling %r raised an unexpected exception", ctx.method)
        raise MCPError(INTERNAL_ERROR, "Internal error") from None
    if isinstance(result, BaseModel):
        result = result.model_dump(by_alias=True, exclude_none=True)
    return cast("HandlerResult", sendable(result))


def _sendable_error(error: MCPError) -> MCPError:
    if _is_sendable(error.message) and _is_sendable(error.data):
        return error
    return MCPError(error.code, safe_text(error.message), sendable(error.data))


def sendable(value: object) -> object:
    """The same JSON value with every lone surrogate escaped; the very same object when there was none."""
    return value if _is_sendable(value) else _escaped(value)


def _is_sendable(value: object) -> bool:
    if isinstance(value, str):
        return safe_text(value) is value
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return all(map(_is_sendable, members)) and all(map(_is_sendable, members.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_sendable, cast("Sequence[object]", value)))
    return True


def _escaped(value: object) -> object:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {_escaped(name): _escaped(member) for name, member in cast("dict[object, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_escaped(item) for item in cast("Sequence[object]", value)]
    return value
