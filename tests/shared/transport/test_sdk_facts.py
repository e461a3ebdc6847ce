"""What the SDK itself does, where ours is built around it. A failure here means that the SDK changed.

Each test shows one numbered fact of the design notes on the SDK, on its own server.
"""

import contextlib
import logging
import sys
from typing import Annotated, Any

import pytest
from mcp.client.client import Client
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp_types import EmptyResult, SubscribeRequest, SubscribeRequestParams
from pydantic import BaseModel, Field, ValidationError

from mcp_curated_shared.testing import ERAS, LEGACY, MODERN, Command, Era, over_memory, running

both_eras = pytest.mark.parametrize("era", ERAS)
Server = MCPServer[dict[str, Any]]


class Nested(BaseModel):
    name: str


def bare(**options: Any) -> Server:
    server: Server = MCPServer("bare", **options)

    @server.tool()
    async def look(count: int = 1, nested: Nested | None = None) -> str:
        return f"{count!r}"

    @server.tool()
    async def fail() -> str:
        raise ToolError("said")

    @server.tool()
    async def crash() -> str:
        raise RuntimeError("inside")

    return server


async def text_of(server: Server, era: Era, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    async with over_memory(server, era) as client:
        result = await client.call_tool(tool, arguments)
    return str(result.content[0].text), bool(result.is_error)  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test


@pytest.mark.anyio
@both_eras
async def test_fact_1_a_deliberate_error_is_prefixed_and_a_crash_is_not_told(era: Era) -> None:
    assert await text_of(bare(), era, "fail", {}) == ("Error executing tool fail: said", True)
    assert await text_of(bare(), era, "crash", {}) == ("Error executing tool crash", True)


@pytest.mark.anyio
@both_eras
async def test_fact_3_an_unknown_tool_is_a_result(era: Era) -> None:
    assert await text_of(bare(), era, "nothing", {}) == ("Unknown tool: nothing", True)


@pytest.mark.anyio
@both_eras
async def test_fact_4_unknown_arguments_are_dropped_and_text_becomes_a_number(era: Era) -> None:
    arguments = {"count": "2", "typo": 1, "nested": {"name": "x", "typo": 1}}
    assert await text_of(bare(), era, "look", arguments) == ("2", False)


@pytest.mark.anyio
async def test_fact_5_argument_errors_are_pydantics_with_its_link_and_the_value() -> None:
    text, _ = await text_of(bare(), LEGACY, "look", {"count": "many"})
    assert "errors.pydantic.dev" in text
    assert "many" in text


@pytest.mark.anyio
async def test_fact_6_a_tool_error_from_validation_becomes_a_crash_text_that_carries_it() -> None:
    class Refusing(FuncMetadata):
        def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
            raise ToolError("refused")

    async def look() -> str:
        return ""

    tool = Tool.from_function(look)
    tool.fn_metadata = Refusing(arg_model=tool.fn_metadata.arg_model)
    with pytest.raises(UnexpectedToolError) as caught:
        await tool.run({}, Context())
    assert isinstance(caught.value.__cause__, ToolError)


@pytest.mark.anyio
async def test_fact_7_a_text_is_sent_twice() -> None:
    async with over_memory(bare(), LEGACY) as client:
        result = await client.call_tool("look", {})
    assert result.structured_content == {"result": "1"}


SURROGATE = """
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
server = MCPServer("bare")
@server.tool()
async def look() -> CallToolResult:
    return CallToolResult(content=[], structured_content={"name": "\\udce9"})
server.run("stdio")
"""


@both_eras
def test_fact_10_a_lone_surrogate_in_a_result_ends_the_server(era: Era) -> None:
    with running(Command((sys.executable, "-c", SURROGATE)), era) as server:
        lost = server.send("tools/call", {"name": "look", "arguments": {}})
        with pytest.raises((EOFError, BrokenPipeError)):
            for _ in range(20):  # it notices when its reader gets a line, and may have got the first before it failed
                with contextlib.suppress(TimeoutError):
                    server.call("ping", {}, seconds=0.5)
        assert not server.replied(lost)
        assert server.process.wait(5) == 1


def test_fact_10_a_lone_surrogate_in_a_request_gets_no_reply() -> None:
    with running(Command((sys.executable, "-c", SURROGATE)), LEGACY) as server:
        server.write_raw(b'{"jsonrpc":"2.0","id":77,"method":"ping","params":{"x":"\\udce9"}}\n')
        server.call("ping", {})
        assert not server.replied(77)


@pytest.mark.anyio
async def test_fact_11_schemas_hold_words_that_some_hosts_reject() -> None:
    schema = next(tool.input_schema for tool in await bare().list_tools() if tool.name == "look")
    assert "$defs" in schema
    assert {"type": "null"} in schema["properties"]["nested"]["anyOf"]
    assert "title" in schema["properties"]["count"]


def test_strictness_of_validation_reaches_nested_models_and_takes_objects() -> None:
    class Outer(BaseModel):
        nested: list[Nested]

    assert Outer.model_validate({"nested": [{"name": "x"}]}, strict=True, extra="forbid").nested == [Nested(name="x")]
    for wrong in ({"name": 1}, {"name": "x", "typo": 1}):
        with pytest.raises(ValidationError):
            Outer.model_validate({"nested": [wrong]}, strict=True, extra="forbid")


@pytest.mark.anyio
async def test_fact_27_the_first_of_two_tools_wins_with_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    server = bare()

    async def look() -> str:
        return "second"

    server.add_tool(look)
    assert "already exists" in caplog.text
    assert await text_of(server, LEGACY, "look", {}) == ("1", False)


@pytest.mark.anyio
async def test_fact_28_lists_are_private_and_stale_at_once_without_hints() -> None:
    async with over_memory(bare(), MODERN) as client:
        listed = await client.list_tools()
    assert (listed.ttl_ms, listed.cache_scope) == (0, "private")


@pytest.mark.anyio
async def test_fact_29_anyone_may_listen_to_any_uri() -> None:
    async with (
        over_memory(bare(), MODERN) as client,
        client.listen(resource_subscriptions=["file:///etc/shadow"]) as stream,
    ):
        assert stream is not None


@pytest.mark.anyio
async def test_fact_32_templates_lose_parts_of_a_uri() -> None:
    server = bare()
    met: list[str] = []

    @server.resource("odd:///{+path}")
    async def read(path: str) -> str:
        met.append(path)
        return "text"

    async with over_memory(server, LEGACY) as client:
        await client.read_resource("odd:///a%FFb")
        with pytest.raises(MCPError):
            await client.read_resource("odd:///a?query=1")
    assert met == ["a\ufffdb"]


@pytest.mark.anyio
@both_eras
async def test_fact_35_an_unknown_prompt_has_neither_eras_code(era: Era) -> None:
    async with over_memory(bare(), era) as client:
        with pytest.raises(MCPError) as unknown:
            await client.get_prompt("nothing")
    assert unknown.value.code == (0 if era == LEGACY else -32603)


def test_fact_36_a_static_resource_cannot_take_the_context() -> None:
    async def one(ctx: Context[Any, Any]) -> str:
        return ""

    with pytest.raises(ValueError, match="Context"):
        bare().resource("one://x")(one)


@pytest.mark.anyio
async def test_fact_37_legacy_subscriptions_are_not_served() -> None:
    async with over_memory(bare(), LEGACY) as client:
        request = SubscribeRequest(params=SubscribeRequestParams(uri="odd:x"))
        with pytest.raises(MCPError) as refused:
            await client.session.send_request(request, EmptyResult)
        resources = client.server_capabilities.resources
    assert refused.value.code == -32601
    assert resources is not None and not resources.subscribe


@pytest.mark.anyio
async def test_fact_38_the_session_is_new_on_every_request_and_the_connection_is_not() -> None:
    seen: list[tuple[object, object, object]] = []

    async def see(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/list":
            connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]  # what ours rests on
            seen.append((ctx.session, connection, connection.exit_stack))
        return await call_next(ctx)

    async with over_memory(bare(middleware=[see]), LEGACY) as client:
        await client.list_tools()
        await client.list_tools()
    (first, connection, stack), (second, same, same_stack) = seen
    assert first is not second
    assert connection is same
    assert stack is same_stack


@pytest.mark.anyio
async def test_fact_39_middleware_of_the_constructor_is_inside_of_the_sdks_own() -> None:
    async def own(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        return await call_next(ctx)

    server = bare(middleware=[own])
    assert server.middleware[-1] is own
    assert len(server.middleware) == 3


@pytest.mark.anyio
@both_eras
async def test_fact_42_a_missing_resource_has_the_newer_code_in_both_eras(era: Era) -> None:
    async with over_memory(bare(), era) as client:
        with pytest.raises(MCPError) as missing:
            await client.read_resource("odd:x")
    assert missing.value.code == -32602


@pytest.mark.anyio
async def test_an_unexpected_exception_outside_of_handlers_reaches_legacy_clients_with_its_text() -> None:
    async def broken(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/list":
            raise RuntimeError("inside")
        return await call_next(ctx)

    async with over_memory(bare(middleware=[broken]), LEGACY) as client:
        with pytest.raises(MCPError, match="inside"):
            await client.list_tools()


@pytest.mark.anyio
async def test_the_handlers_call_the_public_methods_that_ours_overrides() -> None:
    called: list[str] = []

    class Overriding(MCPServer[dict[str, Any]]):
        async def list_tools(self) -> Any:
            called.append("list_tools")
            return []

        async def call_tool(self, *given: Any, **named: Any) -> Any:
            called.append("call_tool")
            raise ToolError("no")

        async def read_resource(self, *given: Any, **named: Any) -> Any:
            called.append("read_resource")
            return []

        async def list_resource_templates(self) -> Any:
            called.append("list_resource_templates")
            return []

        async def get_prompt(self, *given: Any, **named: Any) -> Any:
            called.append("get_prompt")
            raise MCPError(-32602, "no")

    async with Client(Overriding("x"), mode=MODERN, cache=None) as client:
        await client.list_tools()
        await client.call_tool("x", {})
        await client.read_resource("x:y")
        await client.list_resource_templates()
        with pytest.raises(MCPError):
            await client.get_prompt("x")
    assert set(called) == {"list_tools", "call_tool", "read_resource", "list_resource_templates", "get_prompt"}


def test_bounds_of_a_parameter_are_in_the_generated_schema() -> None:
    def function(count: Annotated[int, Field(gt=0, le=9, description="C.")]) -> None: ...

    schema = Tool.from_function(function).parameters["properties"]["count"]
    assert (schema["exclusiveMinimum"], schema["maximum"]) == (0, 9)


def test_fact_26_a_new_server_leaves_configured_logging_alone() -> None:
    handlers = list(logging.getLogger().handlers)
    assert handlers, "pytest has its handlers there"
    bare()
    assert logging.getLogger().handlers == handlers
