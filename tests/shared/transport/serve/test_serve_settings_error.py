"""Settings that cannot be used: the person who reads only the conversation learns of it there."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

Start = Callable[..., Any]
FIXTURE = str(Path(__file__).with_name("fixture_server.py"))
ERROR = "The folder /nowhere does not exist. Create it or name another."

pytestmark = pytest.mark.anyio


def parameters(mode: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[FIXTURE, mode])


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_only_reading_tools_are_listed_and_every_call_tells_the_error(era: str) -> None:
    async with Client(parameters("settings-error"), mode=era) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("look", {})
        assert [tool.name for tool in tools] == ["look"]
        assert result.is_error
        assert ERROR in result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_an_error_found_by_the_lifespan_is_told_in_the_same_conversation(era: str) -> None:
    async with Client(parameters("broken-lifespan"), mode=era) as client:
        result = await client.call_tool("look", {})
        assert result.is_error
        assert ERROR in result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_instructions_begin_with_the_error(era: str) -> None:
    async with Client(parameters("settings-error"), mode=era) as client:
        assert client.instructions is not None
        assert client.instructions.startswith(ERROR)


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_server_that_cannot_be_built_lists_one_tool_that_tells_the_error(era: str) -> None:
    async with Client(parameters("broken-build"), mode=era) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("settings_error", {})
        assert [tool.name for tool in tools] == ["settings_error"]
        assert result.is_error
        assert ERROR in result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test


async def test_reading_a_resource_tells_the_error() -> None:
    async with Client(parameters("settings-error")) as client:
        with pytest.raises(MCPError, match="/nowhere does not exist"):
            await client.read_resource("config://main")


def test_no_work_is_done_and_the_status_says_that_it_failed(start: Start) -> None:
    server = start("settings-error").open()
    server.call("look")
    server.read()
    server.call("change")
    server.read()
    server.close_input()
    assert server.ended() == 2
    assert "look ran" not in server.log
    assert "change ran" not in server.log
    assert "lifespan entered" not in server.log


def test_the_error_is_on_standard_error_too(start: Start) -> None:
    server = start("settings-error")
    assert ERROR in server.told("Settings error")


def test_in_a_terminal_it_ends_at_once_with_status_2() -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, FIXTURE, "settings-error"], stdin=theirs, capture_output=True, check=False, timeout=20
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert done.stdout == b""
    assert ERROR in done.stderr.decode()
