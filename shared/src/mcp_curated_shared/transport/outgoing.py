"""The last look at everything that leaves: no lone surrogate, no endless error, and of a crash only that it was one.

One lone surrogate in a result ends an SDK server (the message cannot be written as UTF-8, the writing task fails,
the process exits). File names, database text and error messages can hold one. An exception that no handler expected
reaches a client of 2025-11-25 with its own text, which may hold anything. This middleware is outermost, so that it sees
every result and every error of every method in its final form.
"""

import logging
from collections.abc import Sequence
from typing import Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from pydantic import BaseModel, ValidationError

from mcp_curated_shared.security.untrusted import safe_text

_log = logging.getLogger(__name__)

LONGEST_ERROR: Final = 2000
"""Characters of an error's message, and of each text in its data."""


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
    message, data = cut_error(error.message, LONGEST_ERROR), _cut(error.data)
    if message is error.message and data is error.data and _is_sendable(message) and _is_sendable(data):
        return error
    return MCPError(error.code, safe_text(message), sendable(data))


def cut_error(text: str, longest: int) -> str:
    """An error's text without its middle, if it is longer than `longest` characters; the next step is at its end."""
    if len(text) <= longest:
        return text
    note = f" [... {len(text) - longest:,} characters left out ...] "
    half = (longest - len(note)) // 2
    return text[:half] + note + text[-half:]


def _cut(data: object) -> object:
    """The data of an error with each text in it bounded; the same object when none is too long."""
    if isinstance(data, str):
        return cut_error(data, LONGEST_ERROR)
    if not isinstance(data, dict):
        return data
    members = cast("dict[object, object]", data)
    bounded = {
        name: cut_error(member, LONGEST_ERROR) if isinstance(member, str) else member
        for name, member in members.items()
    }
    return members if all(bounded[name] is members[name] for name in members) else bounded


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
