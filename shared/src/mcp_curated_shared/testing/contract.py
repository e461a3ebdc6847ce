"""What must hold for every server, whatever it serves. Each function raises `AssertionError` with what it found."""

# ruff: noqa: S101  # asserting is what this module is for

import base64
import json
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp.client.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent, Tool

from mcp_curated_shared.testing.clients import Command
from mcp_curated_shared.testing.wire import ServerProcess
from mcp_curated_shared.transport.failures import ERROR_META_KEY

PLAIN_WORDS: Final = frozenset(
    {
        "type", "description", "properties", "required", "items", "enum", "default", "minimum", "maximum", "minLength",
        "maxLength", "pattern", "minItems", "maxItems", "anyOf",
    }
)  # fmt: skip
_NEVER_SHOWN: Final = ("Traceback", "pydantic", "Error executing tool", "validation error", 'File "')


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Subject:
    """The server under test.

    Attributes:
        build: Makes the server with everything switched on, in this process.
        command: Starts the same server over stdio, at its most talkative log level.
        list_bytes: The most that the reply to `tools/list` may take, as compact JSON.
        example: A call that succeeds.
        slow: A call that runs for at least ten seconds unless it is cancelled; None when there is none.
        build_read_only: Makes the server in its read-only mode; None when it has none.
        secrets: Values that the command was given and that must never come out.
        provoking: Calls that come near the secrets: failing log-ins, crashes, settings shown.
        cleaned_up: Looks, after the process has ended, whether its lifespan was closed; raises if not.
    """

    build: Callable[[], MCPServer[Any]]
    command: Command
    list_bytes: int
    example: Call
    slow: Call | None = None
    build_read_only: Callable[[], MCPServer[Any]] | None = None
    secrets: Sequence[str] = ()
    provoking: Sequence[Call] = ()
    cleaned_up: Callable[[ServerProcess], None] | None = None


def assert_annotated(tools: Iterable[Tool]) -> None:
    """Every tool says all four hints, and none is read-only and destructive."""
    for tool in tools:
        hints = tool.annotations
        assert hints is not None, f"{tool.name} has no annotations"
        said = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert None not in said, f"{tool.name} leaves a hint unsaid: {hints}"
        assert not (hints.read_only_hint and hints.destructive_hint), f"{tool.name} is read-only and destructive"


def assert_only_reading(tools: Iterable[Tool]) -> None:
    """A read-only server lists no tool that says it writes."""
    for tool in tools:
        assert tool.annotations is not None and tool.annotations.read_only_hint, f"{tool.name} writes"


def assert_described(tools: Sequence[Tool]) -> None:
    """Every tool and parameter, at any depth, is described; tools differently, in one paragraph each."""
    seen: dict[str, str] = {}
    for tool in tools:
        text = (tool.description or "").strip()
        assert text, f"{tool.name} has no description"
        assert "\n" not in text, f"the description of {tool.name} is more than one paragraph"
        assert text not in seen, f"{tool.name} and {seen[text]} have the same description"
        seen[text] = tool.name
        for path, schema in _nodes(tool.input_schema, tool.name):
            for name, member in cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {})).items():
                assert str(member.get("description", "")).strip(), f"{path}.{name} has no description"


def assert_plain(tools: Iterable[Tool]) -> None:
    """Schemas use only the words that every host understands, and nothing may be null."""
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            if schema is None:
                continue
            assert schema.get("type") == "object", f"{tool.name}: the schema is no object"
            for path, node in _nodes(schema, tool.name):
                foreign = set(node) - PLAIN_WORDS
                assert not foreign, f"{path} uses {sorted(foreign)}"
                assert isinstance(node.get("type", "any"), str) and node.get("type") != "null", f"{path} allows null"


def _nodes(schema: Mapping[str, Any], path: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Every schema inside a schema, with the way to it."""
    found: list[tuple[str, Mapping[str, Any]]] = [(path, schema)]
    for name, member in cast("Mapping[str, Any]", schema.get("properties", {})).items():
        found += _nodes(member, f"{path}.{name}")
    if "items" in schema:
        found += _nodes(schema["items"], f"{path}[]")
    for arm in cast("Sequence[Any]", schema.get("anyOf", ())):
        found += _nodes(arm, f"{path}|")
    return found


def listed_bytes(tools: Iterable[Tool]) -> int:
    """The size of `tools/list` as compact JSON."""
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    return len(json.dumps({"tools": listed}, separators=(",", ":"), ensure_ascii=False).encode())


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that a plain schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0])
    if schema.get("type") == "array":
        return [sample(schema.get("items", {}))] * max(1, int(schema.get("minItems", 1)))
    if schema.get("type") == "object":
        members = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
        return {name: sample(members[name]) for name in schema.get("required", ())}
    return _scalar(schema)


def _scalar(schema: Mapping[str, Any]) -> Any:
    if schema.get("type") in ("integer", "number"):
        return schema.get("minimum", schema.get("maximum", 1))
    if schema.get("type") == "boolean":
        return False
    return "x" * max(1, int(schema.get("minLength", 1)))


_WRONG: Final[Mapping[str, Any]] = {
    "string": 7,
    "integer": "7",
    "number": "7",
    "boolean": "true",
    "array": 7,
    "object": 7,
}


def wrong_calls(tool: Tool) -> list[tuple[dict[str, Any], str]]:
    """Calls of a tool with one wrong argument each, and the name that the error must say."""
    right = cast("dict[str, Any]", sample(tool.input_schema))
    members = cast("Mapping[str, Mapping[str, Any]]", tool.input_schema.get("properties", {}))
    calls = [({**right, "no_such_argument": 1}, "no_such_argument")]
    calls += [({**right, name: _WRONG[member["type"]]}, name) for name, member in members.items() if "type" in member]
    calls += [
        ({other: value for other, value in right.items() if other != name}, name)
        for name in tool.input_schema.get("required", ())
    ]
    return calls


async def assert_strict(client: Client, tools: Iterable[Tool]) -> None:
    """Unknown, wrong and missing arguments of every tool are refused in one line that names them."""
    for tool in tools:
        for arguments, name in wrong_calls(tool):
            result = await client.call_tool(tool.name, arguments)
            text = error_text(result)
            assert name in text, f"{tool.name} {arguments}: the error does not name {name}: {text!r}"
            assert_fit_to_read(text)
            kind = (result.meta or {}).get(ERROR_META_KEY)
            assert kind == {"kind": "invalid_argument"}, f"{tool.name} {arguments}: the error says it is {kind}"


def error_text(result: CallToolResult) -> str:
    """The text of a failed call.

    Raises:
        AssertionError: It did not fail, or says something other than one text.
    """
    assert result.is_error, f"the call succeeded: {result.content}"
    assert len(result.content) == 1 and isinstance(result.content[0], TextContent), result.content
    return result.content[0].text


def assert_fit_to_read(text: str) -> None:
    """An error is one line for its reader, without the insides of the program."""
    assert text.strip() and "\n" not in text, f"not one line: {text!r}"
    for inside in _NEVER_SHOWN:
        assert inside not in text, f"{inside!r} is shown: {text!r}"


async def assert_unknown_tool(client: Client, tools: Sequence[Tool]) -> None:
    """A name that is no tool's is a protocol error, -32602, which says the nearest right name."""
    almost = tools[0].name + "x"
    try:
        result = await client.call_tool(almost, {})
    except MCPError as error:
        assert error.code == INVALID_PARAMS, f"the code is {error.code}"
        assert tools[0].name in error.message.replace(almost, ""), f"no nearest name: {error.message}"
        assert_fit_to_read(error.message)
    else:
        raise AssertionError(f"an unknown tool gave a result: {result.content}")


def assert_nothing_but_messages(server: ServerProcess) -> None:
    """Every line of standard output is one JSON-RPC message."""
    assert server.lines, "nothing was written"
    for line in server.lines:
        message: object = json.loads(line)
        version = cast("Mapping[str, object]", message).get("jsonrpc") if isinstance(message, dict) else None
        assert version == "2.0", f"not a message: {line[:200]!r}"


def assert_no_secret(output: bytes, secrets: Iterable[str]) -> None:
    """No secret is in an output, in no usual spelling."""
    for secret in secrets:
        for form in spellings(secret):
            assert form not in output, "a secret came out"


def spellings(secret: str) -> set[bytes]:
    """A secret as it is, in JSON, in base64 and in a URL."""
    raw = secret.encode()
    return {
        raw,
        json.dumps(secret)[1:-1].encode(),
        base64.b64encode(raw).rstrip(b"="),
        base64.urlsafe_b64encode(raw).rstrip(b"="),
        urllib.parse.quote(secret, safe="").encode(),
    }
