"""What a server says it is, and how long clients may believe its lists."""

from dataclasses import dataclass
from typing import Final

from mcp.server.caching import CacheableMethod, CacheHint

from mcp_curated_shared.transport.tools import BuildError

LONGEST_INSTRUCTIONS: Final = 600
"""Characters; a host puts the instructions of every server into every conversation."""

_LISTS_LIVE_MS: Final = 5 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Identity:
    """A server's name and what it says of itself.

    Attributes:
        name: The distribution's name; sealed request state names it, so replicas share it.
        title: A short name for people.
        version: The distribution's version.
        instructions: How to use the server, for the model: at most 600 characters; empty for none.
        description: What the server is, in a sentence.
        website_url: Where to read more.
    """

    name: str
    title: str
    version: str
    instructions: str
    description: str | None = None
    website_url: str | None = None

    def __post_init__(self) -> None:
        for field in ("name", "title", "version"):
            if not str(getattr(self, field)).strip():
                raise BuildError(f"A server needs its {field}.")
        length = len(self.instructions)
        if length > LONGEST_INSTRUCTIONS:
            raise BuildError(f"The instructions have {length} characters; {LONGEST_INSTRUCTIONS} is the most.")


def cache_hints(*, tools_depend_on_caller: bool) -> dict[CacheableMethod, CacheHint]:
    """How long a client may keep each list (2026-07-28; SEP-2549).

    Lists change with a restart only, and are the same for everyone unless the tools depend on the caller; what a
    resource says is the caller's alone and stale at once.
    """
    everyone = CacheHint(ttl_ms=_LISTS_LIVE_MS, scope="public")
    caller = CacheHint(ttl_ms=_LISTS_LIVE_MS, scope="private")
    return {
        "tools/list": caller if tools_depend_on_caller else everyone,
        "prompts/list": everyone,
        "resources/templates/list": everyone,
        "resources/list": CacheHint(),
        "resources/read": CacheHint(),
    }
