"""Scenes in which the scenarios play, and the list of them."""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final

from mcp.client.client import Client
from mcp_types import CallToolResult

from mcp_curated_shared.testing.clients import Era, over_memory
from tests.github.double import Double, GitHub
from tests.github.serving import build, text_of

REPLY_BYTES: Final = 24_000


@dataclass(frozen=True, slots=True)
class Scene:
    """A double and a way to open a client of a server in front of it."""

    there: Double
    era: Era
    token: str

    @property
    def github(self) -> GitHub:
        return self.there.github

    def client(self, *, anonymous: bool = False, **variables: str) -> AbstractAsyncContextManager[Client]:
        """A client of a server that asks as octocat, or as nobody."""
        return over_memory(build(self.there, None if anonymous else self.token, **variables), self.era)


Play = Callable[[Scene], Awaitable[None]]
SCENARIOS: dict[str, Play] = {}


def scenario(number: int, source: str) -> Callable[[Play], Play]:
    """Register a scenario under its number and where it comes from."""

    def register(play: Play) -> Play:
        SCENARIOS[f"{number:02}-{source}-{play.__name__}"] = play
        return play

    return register


def bytes_of(result: CallToolResult) -> int:
    """A whole result as it is sent."""
    sent = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return len(json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode())


async def whole(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    """A result that must be a success and within the limit of every reply."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert bytes_of(result) <= REPLY_BYTES
    return result
