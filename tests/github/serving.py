"""The GitHub server for tests, in front of the double."""

import sys
from collections.abc import Mapping
from typing import Any

from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from mcp_curated_github.server import build_server
from mcp_curated_github.server.state import GitHub as State
from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.settings import load
from mcp_curated_shared.testing.clients import Command
from mcp_curated_shared.transport.failures import ERROR_META_KEY
from mcp_curated_shared.transport.server import CuratedServer
from tests.github.double import Double

QUIET = ("--audit", "off", "--log-level", "warning")


def environment(there: Double, token: str | None = None, **more: str) -> dict[str, str]:
    """The variables with which a server asks the double."""
    given = {} if token is None else {"GITHUB_TOKEN": token}
    return {"GITHUB_API_URL": there.url, **given, **more}


def build(there: Double, token: str | None = None, *arguments: str, **more: str) -> CuratedServer[State]:
    """The server in this process; `more` are further variables."""
    return build_server(load(GithubSettings, [*(arguments or QUIET)], environment(there, token, **more)))


def command(there: Double, token: str | None = None, *arguments: str, **more: str) -> Command:
    """The same server as a process."""
    argv = [sys.executable, "-m", "mcp_curated_github", *(arguments or QUIET)]
    return Command(argv, environment=environment(there, token, **more))


def text_of(result: CallToolResult) -> str:
    """Every text block of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def found(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structure of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """The text and the facts of a call that must fail, in one line."""
    result = await client.call_tool(tool, arguments)
    told = text_of(result)
    assert result.is_error, told
    assert "\n" not in told, told
    assert told != f"Error executing tool {tool}"
    facts: Mapping[str, Any] = (result.meta or {})[ERROR_META_KEY]
    return told, facts
