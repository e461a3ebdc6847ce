"""The database server for tests, over each way and in each era."""

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from mcp_curated_database.server import build_server
from mcp_curated_database.server.state import DatabaseState
from mcp_curated_database.settings import DatabaseSettings
from mcp_curated_shared.settings import load
from mcp_curated_shared.testing.clients import Command, Era, Person, Way, connect
from mcp_curated_shared.transport.server import CuratedServer


def build(*arguments: object) -> CuratedServer[DatabaseState]:
    """The server with these arguments of its command line."""
    return build_server(load(DatabaseSettings, [str(one) for one in arguments], {}))


def command(*arguments: object) -> Command:
    """The same server as a process."""
    return Command([sys.executable, "-m", "mcp_curated_database", *map(str, arguments)])


def serve(
    way: Way, era: Era, arguments: Sequence[object], person: Person | None = None
) -> AbstractAsyncContextManager[Client]:
    """A client of the server."""
    return connect(way, era, build=lambda: build(*arguments), command=command(*arguments), person=person)


def text_of(result: CallToolResult) -> str:
    """Every text block of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def rows(client: Client, sql: str, **arguments: Any) -> dict[str, Any]:
    """The object that a query gives."""
    return json.loads(await call(client, "query", sql=sql, **arguments))


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a call that must be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    told = text_of(result)
    assert "Traceback" not in told
    assert told != f"Error executing tool {tool}"
    return told
