"""Resources: the URI as the client wrote it, read by a parser of ours."""

from typing import Any

import pytest
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    BlobResourceContents,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    TextResourceContents,
)

from mcp_curated_shared.errors import NotFoundError
from mcp_curated_shared.testing import ERAS, MODERN, Era, Person, over_memory
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.requests import current_request
from mcp_curated_shared.transport.resources import ResourceReply, scheme_of
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import BuildError, reads
from tests.shared.testing.sample_server import build

both_eras = pytest.mark.parametrize("era", ERAS)


def with_reader(read: Any) -> "CuratedServer[dict[str, Any]]":
    server: CuratedServer[dict[str, Any]] = CuratedServer(Identity("r", title="R", version="1", instructions=""))
    server.resource_scheme("odd", read)
    return server


@pytest.mark.anyio
@both_eras
@pytest.mark.parametrize(
    "uri",
    [
        "odd:a%2Fb",
        "odd:///a/../b/./c",
        "odd:a?query=1&x#fragment",
        "odd:%FF%00",
        "ODD://Host/C:/x",
        "odd:",
        "odd:caf\u00e9 \U0001f600",
    ],
)
async def test_a_reader_gets_the_uri_as_the_client_wrote_it(era: Era, uri: str) -> None:
    met: list[str] = []

    async def read(uri: str, context: Context[Any, Any]) -> ResourceReply:
        met.append(uri)
        return "text"

    async with over_memory(with_reader(read), era) as client:
        [content] = (await client.read_resource(uri)).contents
    assert met == [uri]
    assert content.uri == uri


@pytest.mark.anyio
@both_eras
async def test_a_reader_gives_text_bytes_or_several_parts(era: Era) -> None:
    async with over_memory(build(), era) as client:
        [text] = (await client.read_resource("sample:x")).contents
        [data] = (await client.read_resource("sample:bytes")).contents
        first, second = (await client.read_resource("sample:both")).contents
    assert isinstance(text, TextResourceContents) and text.mime_type == "text/plain"
    assert isinstance(data, BlobResourceContents) and data.mime_type == "application/octet-stream"
    assert isinstance(first, TextResourceContents) and first.mime_type == "text/markdown"
    assert isinstance(second, BlobResourceContents) and (second.mime_type, second.blob) == ("image/png", "AP8=")
    assert first.uri == second.uri == "sample:both"


@pytest.mark.anyio
@both_eras
@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("sample:missing", "There is no such sample."),
        ("nowhere:x", "There is no resource nowhere:x. URIs of this server begin with sample:"),
        ("config://other", "There is no resource config://other. URIs of this server begin with sample:"),
    ],
)
async def test_what_does_not_exist_has_the_code_of_its_era(era: Era, uri: str, text: str) -> None:
    async with over_memory(build(), era) as client:
        with pytest.raises(MCPError) as missing:
            await client.read_resource(uri)
    assert missing.value.code == (-32602 if era == MODERN else -32002)
    assert missing.value.message == text
    assert missing.value.data == {"uri": uri, "kind": "not_found"}


@pytest.mark.anyio
@both_eras
async def test_a_crash_of_a_reader_tells_nothing_of_the_inside(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async with over_memory(build(), era) as client:
        with pytest.raises(MCPError) as crashed:
            await client.read_resource("sample:crash")
    assert crashed.value.code == -32603
    assert "inside" not in crashed.value.message
    assert "the inside of the program" in caplog.text


@pytest.mark.anyio
@both_eras
async def test_templates_of_a_scheme_are_listed_and_the_settings_are_a_resource(era: Era) -> None:
    async with over_memory(build(), era) as client:
        templates = (await client.list_resource_templates()).resource_templates
        resources = (await client.list_resources()).resources
        [settings] = (await client.read_resource("config://main")).contents
    assert [template.uri_template for template in templates] == ["sample:{+path}"]
    assert [str(resource.uri) for resource in resources] == ["config://main"]
    assert isinstance(settings, TextResourceContents)
    assert settings.text == "level = debug\ntoken = (masked)"


@pytest.mark.anyio
async def test_a_reader_can_ask_first_and_read_on_the_retry() -> None:
    question = ElicitRequest(
        params=ElicitRequestFormParams(
            message="Really?", requested_schema={"type": "object", "properties": {"yes": {"type": "boolean"}}}
        )
    )

    async def read(uri: str, context: Context[Any, Any]) -> ResourceReply:
        if not context.input_responses:
            return InputRequiredResult(input_requests={"really": question}, request_state="asked")
        return f"{context.request_state} {sorted(context.input_responses)}"

    person = Person(answers={"yes": True})
    async with over_memory(with_reader(read), MODERN, person) as client:
        [content] = (await client.read_resource("odd:x")).contents
    assert person.asked == ["Really?"]
    assert isinstance(content, TextResourceContents)
    assert content.text == "asked ['really']"


@pytest.mark.anyio
@both_eras
async def test_a_tool_that_reads_a_missing_resource_fails_as_a_tool(era: Era) -> None:
    server = build()

    @server.tool(annotations=reads(), description="Read a missing thing.")
    async def borrow(ctx: Context[Any, Any]) -> str:
        return str(await ctx.read_resource("sample:missing"))

    async with over_memory(server, era) as client:
        result = await client.call_tool("borrow", {})
    assert result.is_error
    assert "There is no such sample." in str(result.content)
    assert "Error executing" not in str(result.content)


@pytest.mark.anyio
@both_eras
async def test_a_static_resource_and_its_thread_see_the_request(era: Era) -> None:
    server = build()
    met: list[object] = []

    @server.resource("static://one", name="one", description="One.")
    def one() -> str:
        request = current_request()
        met.append(None if request is None else request.method)
        raise NotFoundError("One is gone.")

    async with over_memory(server, era) as client:
        with pytest.raises(MCPError, match=r"One is gone\."):
            await client.read_resource("static://one")
    assert met == ["resources/read"]
    assert current_request() is None


def test_two_readers_of_one_scheme_or_two_resources_of_one_uri_are_not_built() -> None:
    server = build()

    async def read(uri: str, context: Context[Any, Any]) -> ResourceReply:
        return uri

    with pytest.raises(BuildError, match="sample"):
        server.resource_scheme("sample", read)
    with pytest.raises(BuildError, match="config://main"):
        server.config_resource(lambda: "")


@pytest.mark.parametrize(("uri", "scheme"), [("FILE:///x", "file"), ("x", ""), ("", ""), (":", ""), ("a:b:c", "a")])
def test_a_scheme_is_compared_without_case(uri: str, scheme: str) -> None:
    assert scheme_of(uri) == scheme
