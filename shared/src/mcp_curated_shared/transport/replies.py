"""Results as tools give them: one text for the model, the same facts for a program, sent once each."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import BaseModel

from mcp_curated_shared.security.untrusted import safe_text


def reply(
    text: str,
    structured: BaseModel | None = None,
    *,
    blocks: Sequence[ContentBlock] = (),
    meta: Mapping[str, Any] | None = None,
) -> CallToolResult:
    """A tool's result: a text that is complete by itself, and optionally its structured form.

    A tool that gives a structured form is annotated `Annotated[CallToolResult, Model]`, which publishes the
    model as the output schema; one that gives text alone is annotated `CallToolResult` or `str`.

    Args:
        text: What the model reads.
        structured: The same facts; None fields are left out.
        blocks: What follows the text: images, links, one block a file.
        meta: Facts for programs; keys are namespaced, such as `mcp-curated/untrusted`.
    """
    content: list[ContentBlock] = [TextContent(type="text", text=safe_text(text)), *blocks]
    data = None if structured is None else structured.model_dump(mode="json", by_alias=True, exclude_none=True)
    return CallToolResult(content=content, structured_content=data, _meta=None if meta is None else dict(meta))


class Progress:
    """Tells a caller how far its call is: `await progress(done, total, message)`."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context

    async def __call__(self, done: float, total: float | None, message: str | None) -> None:
        """Send one progress notification; it is dropped when the caller did not ask for progress."""
        await self._context.report_progress(done, total, None if message is None else safe_text(message))
