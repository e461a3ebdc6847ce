"""Resources whose URIs are read by a parser of ours.

The SDK matches a URI against templates, and loses on the way: `%2F` matches nothing, `{+path}` matches no URI with a
query, `%FF` becomes U+FFFD. A scheme registered here gets the URI exactly as the client wrote it. Its templates are
listed for clients to read, but matched by nobody.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, UnexpectedResourceError
from mcp.shared.exceptions import MCPError
from mcp_types import InputRequiredResult

from mcp_curated_shared.errors import CuratedError, NotFoundError
from mcp_curated_shared.security.untrusted import safe_text


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """One part of what reading a resource gives.

    Attributes:
        body: Text, or bytes that are sent as base64.
        media_type: Such as `text/plain`; empty for the default of its kind.
        meta: Facts for programs.
    """

    body: str | bytes
    media_type: str = ""
    meta: Mapping[str, Any] | None = None


ResourceReply = str | bytes | ResourceContent | Sequence[ResourceContent] | InputRequiredResult
ResourceReader = Callable[[str, Context[Any, Any]], Awaitable[ResourceReply]]
"""`await read(uri, context)`: the URI as the client wrote it."""

_TEXT: Final = "text/plain"
_BYTES: Final = "application/octet-stream"


async def read_by(
    read: ResourceReader, uri: str, context: Context[Any, Any]
) -> Iterable[ReadResourceContents] | InputRequiredResult:
    """Read a URI, and give what came in the SDK's form; the SDK puts the client's own URI on every part.

    Raises:
        CuratedError: A foreseen failure of the reader.
        UnexpectedResourceError: Anything else went wrong in it.
    """
    try:
        reply = await read(uri, context)
        if isinstance(reply, InputRequiredResult):
            return reply
        return [_content(part) for part in _parts(reply)]
    except (CuratedError, ResourceError, MCPError):
        raise
    except Exception as error:
        raise UnexpectedResourceError(f"Error reading resource {uri}") from error


def _parts(reply: str | bytes | ResourceContent | Sequence[ResourceContent]) -> Sequence[ResourceContent]:
    if isinstance(reply, (str, bytes)):
        return (ResourceContent(reply),)
    return (reply,) if isinstance(reply, ResourceContent) else reply


def _content(part: ResourceContent) -> ReadResourceContents:
    body = safe_text(part.body) if isinstance(part.body, str) else part.body
    default = _TEXT if isinstance(body, str) else _BYTES
    return ReadResourceContents(
        content=body, mime_type=part.media_type or default, meta=None if part.meta is None else dict(part.meta)
    )


def scheme_of(uri: str) -> str:
    """The scheme of a URI in lower case (RFC 3986 section 3.1: schemes are compared without case), "" without one."""
    scheme, colon, _ = uri.partition(":")
    return scheme.lower() if colon else ""


def unknown_resource(uri: str, schemes: Iterable[str]) -> NotFoundError:
    """The failure for a URI that nothing here serves."""
    shown = safe_text(uri if len(uri) <= 200 else uri[:199] + "…")
    served = ", ".join(f"{scheme}:" for scheme in schemes)
    return NotFoundError(f"There is no resource {shown}.", f"URIs of this server begin with {served}" if served else "")
