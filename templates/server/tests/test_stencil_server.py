"""The server keeps the contract of the collection, and its tool, resource and prompt work in both protocol eras."""

import sys

import pytest
from mcp_types import TextContent, TextResourceContents

from mcp_curated_shared.settings import load
from mcp_curated_shared.testing import Call, Command, Subject
from mcp_curated_shared.testing.clients import ERAS, Era, over_memory
from mcp_curated_shared.testing.suite import ServerContract
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_stencil.server import build_server
from mcp_curated_stencil.settings import StencilSettings


def build(*arguments: str) -> CuratedServer[StencilSettings]:
    """The server with these arguments of its command line."""
    return build_server(load(StencilSettings, list(arguments), {}))


class TestStencilContract(ServerContract):
    @pytest.fixture
    def subject(self) -> Subject:
        return Subject(
            build=build,
            command=Command((sys.executable, "-m", "mcp_curated_stencil")),
            list_bytes=1_500,
            example=Call("convert_length", {"value": 1, "unit": "mi", "to": "km"}),
            slow=None,
            build_read_only=build,
            secrets=[],
            provoking=[],
        )


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_answers_with_what_its_settings_say(era: Era) -> None:
    async with over_memory(build("--digits", "3"), era) as client:
        result = await client.call_tool("convert_length", {"value": 1, "unit": "mi", "to": "km"})
    assert result.structured_content == {"value": 1.61, "unit": "km"}


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_unit_is_an_error_that_names_it(era: Era) -> None:
    async with over_memory(build(), era) as client:
        result = await client.call_tool("convert_length", {"value": 1, "unit": "league", "to": "km"})
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    assert "league" in result.content[0].text


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_the_resource_lists_every_unit(era: Era) -> None:
    async with over_memory(build(), era) as client:
        (content,) = (await client.read_resource("units://all")).contents
    assert isinstance(content, TextResourceContents)
    assert "nmi\t1852 m" in content.text


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_the_prompt_names_both_lengths(era: Era) -> None:
    async with over_memory(build(), era) as client:
        (message,) = (await client.get_prompt("compare", {"one": "1 mi", "other": "2 km"})).messages
    assert isinstance(message.content, TextContent)
    assert "1 mi" in message.content.text
    assert "2 km" in message.content.text
