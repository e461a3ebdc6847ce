"""What a write returns, for programs; its texts are made in `preview`."""

from typing import Literal

from mcp_curated_github.models import Structure


class WriteResult(Structure):
    """How a write stands; `message` says it in words and names the next step."""

    status: Literal["preview", "created", "declined", "needs_confirmation"]
    message: str
    repo: str
    visibility: str
    number: int | None = None
    url: str | None = None
    operation_id: str | None = None
    assurance: str | None = None
    repeated: bool | None = None
    redacted: list[str] | None = None
    invisible_removed: int | None = None
    warnings: list[str] | None = None
