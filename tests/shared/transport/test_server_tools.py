"""Tools: what is demanded when one is registered, how they are listed, and the names they answer to."""

from typing import Annotated, Any, Literal

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Tool, ToolAnnotations
from pydantic import BaseModel, Field

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.testing import ERAS, Era, over_memory
from mcp_curated_shared.testing.contract import error_text
from mcp_curated_shared.transport.failures import ERROR_META_KEY
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.requests import current_request
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import BuildError, reads, writes
from tests.shared.testing.sample_server import build

both_eras = pytest.mark.parametrize("era", ERAS)
Name = Annotated[str, Field(description="A name.")]


def empty(**options: Any) -> "CuratedServer[dict[str, Any]]":
    return CuratedServer(Identity("empty", title="Empty", version="1", instructions=""), **options)


async def look(name: Name) -> str:
    """Look at it."""
    return name


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert block.type == "text"
    return block.text


@pytest.mark.parametrize("field", ["name", "title", "version"])
def test_a_server_without_a_name_title_or_version_is_not_built(field: str) -> None:
    given = {"name": "n", "title": "t", "version": "1", "instructions": "i"} | {field: " "}
    with pytest.raises(BuildError, match=field):
        Identity(**given)


def test_long_instructions_are_not_built() -> None:
    Identity("n", "t", "1", "x" * 600)
    with pytest.raises(BuildError, match="601"):
        Identity("n", "t", "1", "x" * 601)


@pytest.mark.parametrize(
    "annotations",
    [
        None,
        ToolAnnotations(),
        ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True),
        ToolAnnotations(read_only_hint=True, destructive_hint=True, idempotent_hint=True, open_world_hint=False),
    ],
)
def test_a_tool_with_unsaid_or_contradicting_hints_is_not_built(annotations: ToolAnnotations | None) -> None:
    with pytest.raises(BuildError, match="look"):
        empty().add_tool(look, annotations=annotations)


def test_a_tool_without_a_description_is_not_built() -> None:
    async def bare(name: Name) -> str:
        return name

    with pytest.raises(BuildError, match="no description"):
        empty().add_tool(bare, annotations=reads())


def test_a_description_of_several_paragraphs_is_not_built() -> None:
    with pytest.raises(BuildError, match="paragraphs"):
        empty().add_tool(look, description="One.\n\nTwo.", annotations=reads())


def test_a_parameter_without_a_description_is_not_built() -> None:
    async def bare(name: str) -> str:
        """Look at it."""
        return name

    with pytest.raises(BuildError, match="name"):
        empty().add_tool(bare, annotations=reads())


def test_two_tools_of_one_name_are_not_built() -> None:
    server = empty()
    server.add_tool(look, annotations=reads())
    with pytest.raises(BuildError, match="look"):
        server.add_tool(look, annotations=reads())
    with pytest.raises(BuildError, match="look"):
        server.alias("look", "look")


def test_an_alias_of_nothing_is_not_built() -> None:
    server = empty()
    server.add_tool(look, annotations=reads())
    with pytest.raises(BuildError, match="see"):
        server.alias("watch", "see")
    with pytest.raises(BuildError, match="path"):
        server.alias("watch", "look", renames={"file": "path"})
    with pytest.raises(BuildError, match="path"):
        server.alias("watch", "look", fixed={"path": "x"})


@pytest.mark.anyio
@both_eras
async def test_tools_are_listed_in_the_order_of_registration_without_aliases(era: Era) -> None:
    async with over_memory(build(), era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["look", "find", "measure", "wait", "fail", "stumble", "ask", "folders", "change"]


@pytest.mark.anyio
async def test_a_docstring_becomes_one_line() -> None:
    server = empty()

    @server.tool(annotations=reads())
    async def wide(name: Name) -> str:
        """Look at
        it well.
        """
        return name

    assert [tool.description for tool in await server.list_tools()] == ["Look at it well."]


@pytest.mark.anyio
@both_eras
async def test_an_alias_is_called_with_its_own_names_and_fixed_arguments(era: Era) -> None:
    async with over_memory(build(), era) as client:
        edits = [{"oldText": "a", "newText": "b"}]
        result = await client.call_tool("try_change", {"file": "p", "edits": edits})
        assert text_of(result) == "p [('a', 'b', None)] True"
        twice = await client.call_tool("try_change", {"file": "p", "path": "q", "edits": edits})
        fixed = await client.call_tool("try_change", {"file": "p", "edits": edits, "dryRun": False})
    assert error_text(twice) == '"path" and path are the same argument; give one.'
    assert error_text(fixed) == '"dryRun" is not an argument of try_change; use change.'


@pytest.mark.anyio
@both_eras
async def test_an_unknown_tool_is_invalid_params_with_the_nearest_name(era: Era) -> None:
    async with over_memory(build(), era) as client:
        with pytest.raises(MCPError) as near:
            await client.call_tool("Change-", {})
        with pytest.raises(MCPError) as far:
            await client.call_tool("x\u202e\n" * 200, {})
    assert (near.value.code, near.value.message) == (-32602, 'Unknown tool "Change-"; did you mean change?')
    assert far.value.code == -32602
    assert far.value.message.isprintable()
    assert len(far.value.message) < 300


@pytest.mark.anyio
@both_eras
async def test_a_text_is_sent_once(era: Era) -> None:
    async with over_memory(build(), era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("look", {"name": "moon"})
    assert tools["look"].output_schema is None
    assert result.structured_content is None
    assert text_of(result).startswith("moon")


@pytest.mark.anyio
@both_eras
async def test_a_structured_result_has_a_text_and_leaves_out_what_is_none(era: Era) -> None:
    async with over_memory(build(), era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        found = await client.call_tool("find", {"name": "moon"})
        measured = await client.call_tool("measure", {"name": "moon"})
    assert tools["find"].output_schema == tools["measure"].output_schema
    assert found.structured_content == measured.structured_content == {"name": "moon"}
    assert text_of(found) == "Found moon."
    assert text_of(measured) == '{"name":"moon"}'


@pytest.mark.anyio
@both_eras
async def test_a_tool_that_the_caller_cannot_see_does_not_exist(era: Era) -> None:
    seen: list[str] = []

    def visible(tool: Tool) -> bool:
        request = current_request()
        seen.append("" if request is None else request.method)
        return tool.name != "look"

    server = empty(visible=visible)
    server.add_tool(look, annotations=reads())
    server.add_tool(look, "see", annotations=reads())
    server.alias("watch", "look")
    async with over_memory(server, era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["see"]
        for name in ("look", "watch"):
            with pytest.raises(MCPError) as unknown:
                await client.call_tool(name, {"name": "x"})
            assert unknown.value.code == -32602
            assert "did you mean look" not in unknown.value.message
    assert set(seen) >= {"tools/list", "tools/call"}


@pytest.mark.anyio
async def test_a_removed_tool_takes_its_aliases_along() -> None:
    server = empty()
    server.add_tool(look, annotations=reads())
    server.alias("watch", "look")
    server.remove_tool("look")
    assert await server.list_tools() == []
    for name in ("look", "watch"):
        with pytest.raises(MCPError):
            await server.call_tool(name, {"name": "x"})
    with pytest.raises(BuildError):
        server.remove_tool("look")


@pytest.mark.anyio
@both_eras
async def test_a_server_that_refuses_all_lists_what_reads_and_answers_with_the_fix(era: Era) -> None:
    server = build()
    server.refuse_all(SettingsError("The folder /x is missing.", "Create it."))
    async with over_memory(server, era) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("look", {"name": "moon"})
        with pytest.raises(MCPError) as hidden:
            await client.call_tool("change", {})
        with pytest.raises(MCPError, match=r"The folder /x is missing\. Create it\."):
            await client.read_resource("config://main")
        with pytest.raises(MCPError, match=r"The folder /x is missing\. Create it\."):
            await client.get_prompt("inspect_closely", {"name": "moon"})
    assert "change" not in [tool.name for tool in tools]
    assert error_text(result) == "The folder /x is missing. Create it."
    assert (result.meta or {})[ERROR_META_KEY] == {"kind": "settings"}
    assert hidden.value.code == -32602


@pytest.mark.anyio
async def test_lists_are_cached_for_everyone_unless_they_depend_on_the_caller() -> None:
    for options, scope in (({}, "public"), ({"visible": lambda tool: True}, "private")):
        server = empty(**options)
        server.add_tool(look, annotations=writes(destructive=False, idempotent=True))
        server.config_resource(lambda: "a = 1")
        async with over_memory(server, "2026-07-28") as client:
            listed = await client.list_tools()
            content = await client.read_resource("config://main")
        assert listed.cache_scope == scope
        assert listed.ttl_ms > 0
        assert (content.cache_scope, content.ttl_ms) == ("private", 0)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_sees_who_the_server_is(mode: Literal["legacy", "auto"]) -> None:
    async with Client(build(), mode=mode) as client:
        info = client.server_info
        assert info is not None
        assert (info.name, info.title, info.version) == ("sample", "Sample", "1.2.3")
        assert client.instructions == "Look before you change."


@pytest.mark.anyio
async def test_arguments_reach_a_model_as_its_class() -> None:
    server = empty()
    met: list[object] = []

    class Point(BaseModel):
        x: int = Field(description="X.")

    async def place(point: Annotated[Point, Field(description="Where.")]) -> str:
        """Place it."""
        met.append(point)
        return "done"

    server.add_tool(place, annotations=reads())
    await server.call_tool("place", {"point": {"x": 1}})
    assert met == [Point(x=1)]
