"""Nothing that leaves holds a lone surrogate or the inside of a crash."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, EmptyResult, Request, RequestParams, TextContent, Tool
from pydantic import BaseModel, Field

from mcp_curated_shared.errors import NotFoundError
from mcp_curated_shared.testing import ERAS, Command, Era, over_memory, over_stdio
from mcp_curated_shared.transport.failures import LONGEST_FAILURE
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.outgoing import LONGEST_ERROR, sendable
from mcp_curated_shared.transport.replies import Progress, reply
from mcp_curated_shared.transport.resources import ResourceContent, ResourceReply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads

both_eras = pytest.mark.parametrize("era", ERAS)
BAD = "caf\udce9 \ud83d"
GOOD = "caf\\xe9 \\ud83d"


class Named(BaseModel):
    name: str = Field(description="A name.")
    more: dict[str, Any] = Field(description="More.")


def build() -> "CuratedServer[dict[str, Any]]":
    """A server all of whose texts hold lone surrogates."""
    server: CuratedServer[dict[str, Any]] = CuratedServer(Identity("bad", title="Bad", version="1", instructions=""))

    @server.tool(annotations=reads(), description="Text.")
    async def text() -> str:
        return BAD

    @server.tool(annotations=reads(), description="Blocks.")
    async def blocks() -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=BAD)], _meta={BAD: [BAD]})

    @server.tool(annotations=reads(), description="Data.")
    async def data() -> Named:
        return Named(name=BAD, more={BAD: [BAD, 1, None]})

    @server.tool(annotations=reads(), description="Reply.")
    async def both() -> Annotated[CallToolResult, Named]:
        return reply(BAD, Named(name=BAD, more={}), meta={"mcp-curated/x": BAD})

    @server.tool(annotations=reads(), description="Foreseen.")
    async def foreseen() -> str:
        raise NotFoundError(f"No {BAD}.", f"Try {BAD}.", kind=BAD)

    @server.tool(annotations=reads(), description="Protocol error.")
    async def protocol() -> str:
        raise MCPError(-32603, BAD, {BAD: BAD})

    @server.tool(annotations=reads(), description="Progress.")
    async def progress(ctx: Context[Any, Any]) -> str:
        await Progress(ctx)(1, 2, BAD)
        await Progress(ctx)(2, 2, None)
        return "done"

    async def read(uri: str, context: Context[Any, Any]) -> ResourceReply:
        if uri.endswith("gone"):
            raise NotFoundError(BAD)
        return ResourceContent(BAD, meta={"x": BAD})

    server.resource_scheme("bad", read)

    @server.prompt(description="Prompt.")
    async def prompt() -> str:
        return BAD

    return server


@pytest.mark.anyio
@both_eras
async def test_a_server_full_of_lone_surrogates_answers_everything_over_stdio(era: Era) -> None:
    command = Command((sys.executable, str(Path(__file__))))
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with over_stdio(command, era) as client:
        for tool in ("text", "blocks", "data", "both", "foreseen"):
            result = await client.call_tool(tool, {})
            text = result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
            assert (json.dumps(GOOD)[1:-1] if tool == "data" else GOOD) in text
        structured = (await client.call_tool("data", {})).structured_content
        assert structured == {"name": GOOD, "more": {GOOD: [GOOD, 1, None]}}
        with pytest.raises(MCPError) as failed:
            await client.call_tool("protocol", {})
        assert (failed.value.message, failed.value.data) == (GOOD, {GOOD: GOOD})
        await client.call_tool("progress", {}, progress_callback=hear)
        [content] = (await client.read_resource("bad:x")).contents
        assert content.text == GOOD  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
        with pytest.raises(MCPError):
            await client.read_resource("bad:gone")
        assert (await client.get_prompt("prompt")).messages[0].content.text == GOOD  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
    assert told == [GOOD, None]


@pytest.mark.anyio
@both_eras
async def test_a_crash_outside_of_any_tool_tells_nothing_of_the_inside(
    era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    def visible(_: Tool) -> bool:
        raise RuntimeError("the inside of the program")

    server: CuratedServer[dict[str, Any]] = CuratedServer(
        Identity("bad", title="Bad", version="1", instructions=""), visible=visible
    )

    @server.tool(annotations=reads(), description="Look.")
    async def look() -> str:
        return ""

    async with over_memory(server, era) as client:
        with pytest.raises(MCPError) as failed:
            await client.list_tools()
    assert (failed.value.code, failed.value.message) == (-32603, "Internal error")
    assert "the inside of the program" in caplog.text


LONG = "x" * 100_000


@pytest.mark.anyio
@both_eras
async def test_an_error_never_grows_with_what_it_repeats(era: Era) -> None:
    server: CuratedServer[dict[str, Any]] = CuratedServer(Identity("e", title="E", version="1", instructions=""))

    @server.tool(annotations=reads(), description="Fail.")
    async def fail() -> str:
        raise NotFoundError(f"No {LONG} here.", "Try the other one.")

    async def read(uri: str, context: Context[Any, Any]) -> ResourceReply:
        raise NotFoundError(f"There is no {uri}.", "Try the other one.")

    server.resource_scheme("long", read)
    async with over_memory(server, era) as client:
        failed = await client.call_tool("fail", {})
        with pytest.raises(MCPError) as unread:
            await client.read_resource(f"long:{LONG}")
        with pytest.raises(MCPError) as unknown:
            await client.session.send_request(
                Request[RequestParams, str](method=LONG, params=RequestParams()), EmptyResult
            )
    text = failed.content[0].text  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
    assert text.startswith("No xxx") and text.endswith("Try the other one.") and len(text) <= LONGEST_FAILURE
    assert unread.value.message.startswith("There is no long:xxx")
    assert unread.value.message.endswith("Try the other one.")
    for error in (unread.value, unknown.value):
        assert len(json.dumps([error.message, error.data])) < 3 * LONGEST_ERROR


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_what_can_be_sent_is_the_same_object(value: object) -> None:
    assert sendable(value) is value


@given(st.lists(st.text(st.characters(categories=("Cs", "Lu")))))
def test_what_cannot_be_sent_is_escaped_at_any_depth(texts: list[str]) -> None:
    assert repr(sendable({"a": [texts, {"b": texts}]})).encode()


if __name__ == "__main__":
    build().run("stdio")
