"""The web server for tests, opened for loopback unless a test says otherwise."""

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from mcp_curated_shared.settings import load
from mcp_curated_shared.testing.clients import Command, Era, over_memory
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_web.server import build_server
from mcp_curated_web.server.state import Web
from mcp_curated_web.settings import WebSettings

OPEN = ("--allow-cidr", "127.0.0.0/8")


def build(*arguments: str, environment: Mapping[str, str] | None = None) -> CuratedServer[Web]:
    """The server with these arguments of its command line."""
    return build_server(load(WebSettings, list(arguments), dict(environment or {})))


def command(*arguments: str) -> Command:
    """The same server as a process."""
    return Command([sys.executable, "-m", "mcp_curated_web", *arguments])


@asynccontextmanager
async def client(*arguments: str, era: Era = "2026-07-28") -> AsyncGenerator[Client]:
    async with over_memory(build(*(arguments or OPEN)), era) as one:
        yield one


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def fetch(one: Client, url: str, **arguments: Any) -> dict[str, Any]:
    """The structure of a fetch that must succeed."""
    result = await one.call_tool("fetch_url", {"url": url, **arguments})
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


async def refused(one: Client, url: str, tool: str = "fetch_url", **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The text of a fetch that must fail, in one line, and what a program is told."""
    result = await one.call_tool(tool, {"url": url, **arguments})
    assert result.is_error, text_of(result)
    told = text_of(result)
    assert "\n" not in told and "Traceback" not in told, told
    return told, (result.meta or {}).get("mcp-curated/error", {})
