"""The one place where our plain errors become the protocol's.

A `CuratedError` is for its reader: its text and next step go out. Everything else is a crash: the reader learns
which tool, resource or prompt it was, and the log gets the traceback.
"""

from typing import Final

from mcp.server.mcpserver.exceptions import (
    MCPServerError,
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError, NotFoundError
from mcp_curated_shared.security.untrusted import safe_text
from mcp_curated_shared.transport.outgoing import cut_error

ERROR_META_KEY: Final = "mcp-curated/error"
"""Where a failed result's `_meta` holds `{"kind": ..., "retry_after_s": ...}`, for programs; the latter where known."""

LONGEST_FAILURE: Final = 16_000
"""Characters of a failed tool's text: the last resort, for what a tool repeats of somebody else's error."""

RESOURCE_NOT_FOUND: Final = -32002
"""A missing resource, up to 2025-11-25; from 2026-07-28 on it is -32602 (SEP-2164)."""

_WRAPPERS = (MCPServerError, ValueError)
_CRASHES = (UnexpectedToolError, UnexpectedResourceError)


def foreseen(error: BaseException) -> CuratedError | None:
    """The foreseen failure in an error that the SDK raised around it, or None when it was a crash.

    A `ToolError` or `ResourceError` that somebody raised on purpose counts as foreseen, without the prefix that
    the SDK puts before its text. `ValueError` is what the SDK wraps a failing prompt in.
    """
    here: BaseException | None = error
    deliberate: BaseException | None = None
    while here is not None:
        if isinstance(here, CuratedError):
            return here
        if not isinstance(here, _WRAPPERS):
            break
        if isinstance(here, (ToolError, ResourceError)) and not isinstance(here, _CRASHES):
            deliberate = here
        elif deliberate is not None:
            break
        here = here.__cause__
    if deliberate is None:
        return None
    kind = "not_found" if isinstance(deliberate, ResourceNotFoundError) else "error"
    return CuratedError(str(deliberate), kind=kind)


def failed(text: str, kind: str, **facts: object) -> CallToolResult:
    """A tool's failure as the model reads it, with its kind and further facts for programs."""
    return CallToolResult(
        content=[TextContent(type="text", text=safe_text(cut_error(text, LONGEST_FAILURE)))],
        is_error=True,
        _meta={ERROR_META_KEY: {"kind": kind, **facts}},
    )


def failed_tool(error: CuratedError) -> CallToolResult:
    """A foreseen failure of a tool."""
    return failed(str(error), error.kind, **_facts(error))


def _facts(error: CuratedError) -> dict[str, object]:
    return {} if error.retry_after_s is None else {"retry_after_s": error.retry_after_s}


def protocol_error(error: CuratedError, version: str | None, *, data: dict[str, object] | None = None) -> MCPError:
    """A foreseen failure where the protocol has no result for failures: resources, prompts, subscriptions.

    Args:
        error: The failure.
        version: The protocol version of the request; None is taken for the newest.
        data: What else a program may want, such as the URI.

    Returns:
        -32602 for what another argument could mend, the era's own code for what does not exist, else -32603.
    """
    return MCPError(_code(error, version), safe_text(str(error)), {**(data or {}), "kind": error.kind, **_facts(error)})


def _code(error: CuratedError, version: str | None) -> int:
    if isinstance(error, NotFoundError) or error.kind == "not_found":
        return INVALID_PARAMS if version is None or version in MODERN_PROTOCOL_VERSIONS else RESOURCE_NOT_FOUND
    return INVALID_PARAMS if isinstance(error, (InvalidArgumentError, NotAllowedError)) else INTERNAL_ERROR
