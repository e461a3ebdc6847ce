"""Each check of the contract fails on the fault that it is for."""

import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from mcp_curated_shared.testing import contract, over_memory
from mcp_curated_shared.testing.wire import ServerProcess
from mcp_curated_shared.transport.tools import reads, writes


def tool(**changes: Any) -> Tool:
    schema = {"type": "object", "properties": {"name": {"type": "string", "description": "A name."}}}
    fields: dict[str, Any] = {
        "name": "look",
        "description": "Look.",
        "input_schema": schema,
        "annotations": reads(),
    }
    return Tool(**fields | changes)


def with_schema(word: str, value: object) -> Tool:
    schema = {"type": "object", "properties": {"name": {"type": "string", "description": "A name.", word: value}}}
    return tool(input_schema=schema)


@pytest.mark.parametrize(
    "check",
    [contract.assert_annotated, contract.assert_only_reading, contract.assert_described, contract.assert_plain],
)
def test_a_good_tool_passes(check: Callable[[list[Tool]], None]) -> None:
    check([tool()])


@pytest.mark.parametrize(
    "annotations",
    [
        None,
        ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True),
        ToolAnnotations(read_only_hint=True, destructive_hint=True, idempotent_hint=True, open_world_hint=False),
    ],
)
def test_missing_or_contradicting_hints_fail(annotations: ToolAnnotations | None) -> None:
    with pytest.raises(AssertionError, match="look"):
        contract.assert_annotated([tool(annotations=annotations)])


def test_a_writing_tool_in_a_read_only_server_fails() -> None:
    with pytest.raises(AssertionError, match="writes"):
        contract.assert_only_reading([tool(annotations=writes(destructive=False, idempotent=True))])


@pytest.mark.parametrize("description", ["", "One.\n\nTwo.", "  "])
def test_a_missing_or_long_description_fails(description: str) -> None:
    with pytest.raises(AssertionError, match="look"):
        contract.assert_described([tool(description=description)])


def test_two_tools_with_one_description_fail() -> None:
    with pytest.raises(AssertionError, match="same description"):
        contract.assert_described([tool(), tool(name="see")])


def test_an_undescribed_nested_parameter_fails() -> None:
    inner = {"type": "object", "properties": {"deep": {"type": "string"}}}
    schema = {"type": "object", "properties": {"list": {"type": "array", "description": "Some.", "items": inner}}}
    with pytest.raises(AssertionError, match=r"look\.list\[\]\.deep"):
        contract.assert_described([tool(input_schema=schema)])


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("title", "Name"),
        ("format", "uri"),
        ("exclusiveMinimum", 0),
        ("additionalProperties", False),
        ("$ref", "#/$defs/X"),
        ("anyOf", [{"type": "string"}, {"type": "null"}]),
        ("type", ["string", "null"]),
    ],
)
def test_a_schema_that_is_not_plain_fails(word: str, value: object) -> None:
    with pytest.raises(AssertionError):
        contract.assert_plain([with_schema(word, value)])


@pytest.mark.anyio
async def test_a_server_that_drops_unknown_arguments_fails() -> None:
    server: MCPServer[Any] = MCPServer("lax")

    @server.tool()
    def look(name: str) -> str:
        return name

    async with over_memory(server, "legacy") as client:
        tools = (await client.list_tools()).tools
        with pytest.raises(AssertionError, match="succeeded"):
            await contract.assert_strict(client, tools)
        with pytest.raises(AssertionError, match="gave a result"):
            await contract.assert_unknown_tool(client, tools)


@pytest.mark.parametrize("text", ["", "two\nlines", "1 validation error", "Traceback (most recent call last)"])
def test_an_error_that_shows_the_insides_fails(text: str) -> None:
    with pytest.raises(AssertionError):
        contract.assert_fit_to_read(text)


def test_a_successful_result_is_no_error_text() -> None:
    with pytest.raises(AssertionError, match="succeeded"):
        contract.error_text(CallToolResult(content=[TextContent(type="text", text="fine")]))


@pytest.mark.parametrize("line", [b"Loading...", b"[]", b'{"jsonrpc": "1.0"}'])
def test_a_line_that_is_no_message_fails(line: bytes) -> None:
    server = ServerProcess.__new__(ServerProcess)
    server.lines = [b'{"jsonrpc": "2.0", "id": 1, "result": {}}', line]
    with pytest.raises((AssertionError, json.JSONDecodeError)):
        contract.assert_nothing_but_messages(server)


def test_a_secret_is_found_in_every_usual_spelling() -> None:
    secret = f"{secrets.token_urlsafe(12)}/+ "
    for form in contract.spellings(secret):
        with pytest.raises(AssertionError, match="came out"):
            contract.assert_no_secret(b"before " + form + b" after", [secret])
    contract.assert_no_secret(b"nothing here", [secret])


def test_the_size_counts_the_bytes_of_the_list() -> None:
    assert contract.listed_bytes([tool(description="é" * 100)]) > contract.listed_bytes([tool(description="e" * 100)])
