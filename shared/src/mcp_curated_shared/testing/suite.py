"""The contract as a pytest class: subclass it in a server's tests and give it a `subject`.

    class TestContract(ServerContract):
        @pytest.fixture
        def subject(self, tmp_path): return Subject(build=..., command=..., ...)

Tests of calls run in both protocol eras. The `anyio` plugin runs the async ones.
"""

# ruff: noqa: S101  # asserting is what this module is for

import os
import sys
from collections.abc import Sequence

import pytest
from mcp_types import Tool

from mcp_curated_shared.testing import contract
from mcp_curated_shared.testing.clients import ERAS, Era, over_http, over_memory, over_stdio
from mcp_curated_shared.testing.contract import Subject
from mcp_curated_shared.testing.wire import running
from mcp_curated_shared.transport.identity import LONGEST_INSTRUCTIONS

# What the work that a fault would wait for takes far longer than, and a busy machine does not.
_CANCELLED_SECONDS = 10.0
_TERMINATED_SECONDS = 10.0


async def _tools(subject: Subject, era: Era) -> Sequence[Tool]:
    async with over_memory(subject.build(), era) as client:
        return (await client.list_tools()).tools


class ServerContract:
    """What every server of the collection keeps to."""

    @pytest.fixture(params=ERAS)
    def era(self, request: pytest.FixtureRequest) -> Era:
        """The protocol era of the test."""
        era: Era = request.param
        return era

    @pytest.fixture
    def subject(self) -> Subject:
        """The server under test; every subclass gives its own."""
        raise NotImplementedError("a contract test class has a fixture `subject`")

    @pytest.mark.anyio
    async def test_every_tool_says_all_four_hints(self, subject: Subject, era: Era) -> None:
        """See `contract.assert_annotated`."""
        contract.assert_annotated(await _tools(subject, era))

    @pytest.mark.anyio
    async def test_a_read_only_server_lists_only_tools_that_read(self, subject: Subject, era: Era) -> None:
        """The read-only mode and the hints agree."""
        if subject.build_read_only is None:
            pytest.skip("this server has no read-only mode")
        async with over_memory(subject.build_read_only(), era) as client:
            contract.assert_only_reading((await client.list_tools()).tools)

    @pytest.mark.anyio
    async def test_tools_and_parameters_are_described(self, subject: Subject, era: Era) -> None:
        """See `contract.assert_described`."""
        contract.assert_described(await _tools(subject, era))

    @pytest.mark.anyio
    async def test_schemas_are_plain(self, subject: Subject, era: Era) -> None:
        """See `contract.assert_plain`."""
        contract.assert_plain(await _tools(subject, era))

    @pytest.mark.anyio
    async def test_the_list_of_tools_fits_its_budget(self, subject: Subject, era: Era) -> None:
        """Every conversation pays for the list."""
        size = contract.listed_bytes(await _tools(subject, era))
        assert size <= subject.list_bytes, f"tools/list takes {size} bytes of {subject.list_bytes}"

    @pytest.mark.anyio
    async def test_wrong_arguments_are_refused_in_one_line(self, subject: Subject, era: Era) -> None:
        """See `contract.assert_strict`."""
        async with over_memory(subject.build(), era) as client:
            await contract.assert_strict(client, (await client.list_tools()).tools)

    @pytest.mark.anyio
    async def test_an_unknown_tool_is_a_protocol_error(self, subject: Subject, era: Era) -> None:
        """See `contract.assert_unknown_tool`."""
        async with over_memory(subject.build(), era) as client:
            await contract.assert_unknown_tool(client, (await client.list_tools()).tools)

    def test_the_instructions_are_short(self, subject: Subject) -> None:
        """A host puts them into every conversation."""
        assert len(subject.build().instructions or "") <= LONGEST_INSTRUCTIONS

    @pytest.mark.anyio
    async def test_the_example_succeeds_over_http(self, subject: Subject, era: Era) -> None:
        """The same server, reached over Streamable HTTP."""
        async with over_http(subject.build(), era) as client:
            result = await client.call_tool(subject.example.tool, dict(subject.example.arguments))
        assert not result.is_error, result.content

    @pytest.mark.anyio
    async def test_the_example_succeeds_over_stdio(self, subject: Subject, era: Era) -> None:
        """The same server, started as a host would."""
        async with over_stdio(subject.command, era) as client:
            result = await client.call_tool(subject.example.tool, dict(subject.example.arguments))
        assert not result.is_error, result.content

    def test_standard_output_holds_messages_only_and_nothing_holds_a_secret(self, subject: Subject, era: Era) -> None:
        """Lists, a call, a wrong call and an unknown tool, at the most talkative log level."""
        with running(subject.command, era) as server:
            server.call("tools/list", {})
            server.call("resources/list", {})
            arguments = dict(subject.example.arguments)
            server.call("tools/call", {"name": subject.example.tool, "arguments": arguments})
            server.call("tools/call", {"name": subject.example.tool, "arguments": {"no_such_argument": 1}})
            server.call("tools/call", {"name": "no_such_tool", "arguments": {}})
            server.call("resources/read", {"uri": "config://main"})
            for call in subject.provoking:
                server.call("tools/call", {"name": call.tool, "arguments": dict(call.arguments)})
            server.close()
            contract.assert_nothing_but_messages(server)
            contract.assert_no_secret(b"\n".join(server.lines) + server.error_output, subject.secrets)

    def test_closing_standard_input_ends_the_server_in_order(self, subject: Subject, era: Era) -> None:
        """A host ends a server so."""
        with running(subject.command, era) as server:
            server.call("tools/list", {})
            assert server.close() == 0

    def test_a_cancelled_call_stops_and_the_server_answers_on(self, subject: Subject, era: Era) -> None:
        """Cancelling gives the server back."""
        if subject.slow is None:
            pytest.skip("this server has no slow call")
        with running(subject.command, era) as server:
            server.call("tools/list", {})
            slow = server.send("tools/call", {"name": subject.slow.tool, "arguments": dict(subject.slow.arguments)})
            server.notify("notifications/cancelled", {"requestId": slow})
            arguments = dict(subject.example.arguments)
            reply = server.call(
                "tools/call", {"name": subject.example.tool, "arguments": arguments}, _CANCELLED_SECONDS
            )
            assert not reply["result"].get("isError"), reply
            assert not server.replied(slow)
            assert server.close() == 0, "the cancelled call held the server up"

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
    def test_sigterm_ends_the_server_in_order(self, subject: Subject, era: Era) -> None:
        """Soon, its lifespan closed."""
        with running(subject.command, era) as server:
            server.call("tools/list", {})
            seconds = server.terminate()
            assert seconds < _TERMINATED_SECONDS, f"it took {seconds:.1f} s"
            server.drain()
            assert server.process.returncode == os.EX_OK, server.error_output
            contract.assert_nothing_but_messages(server)
            if subject.cleaned_up is not None:
                subject.cleaned_up(server)
