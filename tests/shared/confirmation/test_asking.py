"""Asking through the protocol: stdio's memory twin and HTTP, both eras, clients that can and cannot be asked."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from mcp.client.client import Client
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult, InputResponses
from pydantic import Field

from mcp_curated_shared.security.confirmation import Confirmation, Plan
from mcp_curated_shared.security.confirmation.sqlite import LedgerFile, SqliteLedger
from mcp_curated_shared.testing import clients
from mcp_curated_shared.testing.clients import ERAS, LEGACY, MODERN, Command, Era, Person, connect
from mcp_curated_shared.transport.asking import CONFIRMATION_META_KEY, Asked, Asking, ConfirmedOperation, ask, told
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.listening import PATH
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import writes

pytestmark = pytest.mark.anyio

BODY = Annotated[str, Field(description="What to send.")]
State = tuple[Confirmation, list[str]]
Where = Literal["memory", "http"]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


async def planned(body: str) -> Plan:
    return Plan("send", f"Send {len(body)} characters to octo/hello?", "octo/hello", body.encode(), (body,), "NOT sent")


Planned = Annotated[Plan, Resolve(planned)]


async def asked(plan: Planned, ctx: Context[Any, Any], confirmed_operation_id: str | None) -> Asked:
    return await ask(ctx.request_context.lifespan_context[0], plan, ctx, confirmed_operation_id)


async def send(
    body: BODY,
    ctx: Context[Any, Any],
    plan: Planned,
    outcome: Annotated[ElicitationResult[Any], Resolve(asked)],
    confirmed_operation_id: ConfirmedOperation = None,
) -> CallToolResult:
    """Send a text after asking."""
    confirmation, sent = ctx.request_context.lifespan_context

    async def act() -> str:
        sent.append(body)
        await anyio.wait_all_tasks_blocked()  # others come meanwhile
        return f"Sent as number {len(sent)}."

    return told(await Asking(confirmation, ctx, outcome, confirmed_operation_id).perform(plan, act))


def build(folder: str, sent: list[str]) -> CuratedServer[State]:
    @asynccontextmanager
    async def lifespan(_: object) -> AsyncGenerator[State]:
        yield Confirmation(SqliteLedger(folder), approve_command="sample approve"), sent

    server: CuratedServer[State] = CuratedServer(
        Identity("sample", title="Sample", version="1", instructions=""), lifespan=lifespan
    )
    server.add_tool(send, annotations=writes(destructive=False, idempotent=True))
    return server


def serving(where: Where, era: Era, folder: str, sent: list[str], person: Person | None = None) -> Any:
    return connect(where, era, build=lambda: build(folder, sent), command=Command([]), person=person)


def standing(result: Any) -> dict[str, Any]:
    return dict((result.meta or {}).get(CONFIRMATION_META_KEY, {}))


@pytest.mark.parametrize("where", ["memory", "http"])
async def test_it_is_done_only_when_a_person_accepted_or_approved(where: Where, era: Era, folder: str) -> None:
    sent: list[str] = []
    async with serving(where, era, folder, sent) as client:
        waits = standing(await client.call_tool("send", {"body": "one"}))
        assert (waits["status"], sent) == ("needs_confirmation", [])
        operation = {"confirmed_operation_id": waits["operationId"]}
        assert (await client.call_tool("send", {"body": "one", **operation})).is_error
        LedgerFile(folder).approve(waits["operationId"])
        assert (await client.call_tool("send", {"body": "two", **operation})).is_error
        assert sent == []
        result = await client.call_tool("send", {"body": "one", **operation})
        assert (standing(result)["assurance"], sent) == ("approved_out_of_band", ["one"])
    person = Person(answers={"confirm": True})
    async with serving(where, era, folder, sent, person) as client:
        result = await client.call_tool("send", {"body": "three"})
        assert (standing(result)["assurance"], sent) == ("elicited", ["one", "three"])
        assert len(person.asked) == 1
        assert "Send 5 characters to octo/hello?\nthree\n" in person.asked[0]
        person.action = "decline"
        result = await client.call_tool("send", {"body": "four"})
        assert (standing(result)["status"], sent) == ("declined", ["one", "three"])


async def test_a_repeated_call_gets_the_result_without_another_question(era: Era, folder: str) -> None:
    sent: list[str] = []
    person = Person(answers={"confirm": True})
    async with serving("memory", era, folder, sent, person) as client:
        for _ in range(2):
            await client.call_tool("send", {"body": "one"})
        result = await client.call_tool("send", {"body": "one"})
        assert standing(result) == {"status": "done", "assurance": "elicited", "repeated": True}
    assert (sent, len(person.asked)) == (["one"], 1)


async def test_five_calls_at_once_write_once(era: Era, folder: str) -> None:
    sent: list[str] = []
    results: list[Any] = []
    async with serving("memory", era, folder, sent, Person(answers={"confirm": True})) as client:

        async def call() -> None:
            results.append(await client.call_tool("send", {"body": "one"}))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call)
    assert sent == ["one"]
    assert sorted(standing(result)["repeated"] for result in results) == [False, True, True, True, True]


async def _question(client: Client, body: str) -> InputRequiredResult:
    result = await client.session.call_tool("send", {"body": body}, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


async def _answer(client: Client, body: str, question: InputRequiredResult) -> Any:
    answers: InputResponses = {
        key: ElicitResult(action="accept", content={"confirm": True}) for key in question.input_requests or {}
    }
    return await client.session.call_tool(
        "send",
        {"body": body},
        allow_input_required=True,
        input_responses=answers,
        request_state=question.request_state,
    )


async def test_the_question_is_the_same_however_often_it_is_asked(folder: str) -> None:
    async with serving("memory", MODERN, folder, [], Person(answers={})) as client:
        first, second = await _question(client, "one"), await _question(client, "one")
    assert first.input_requests == second.input_requests
    assert first.request_state != second.request_state


async def test_an_accepted_answer_replayed_in_a_row_and_at_once_writes_once(folder: str) -> None:
    sent: list[str] = []
    async with serving("memory", MODERN, folder, sent, Person(answers={})) as client:
        question = await _question(client, "one")
        for _ in range(3):
            await _answer(client, "one", question)
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(_answer, client, "one", question)
    assert sent == ["one"]


async def test_an_accepted_answer_replayed_after_a_restart_writes_no_more(folder: str) -> None:
    sent: list[str] = []
    for _ in range(2):
        async with serving("memory", MODERN, folder, sent, Person(answers={"confirm": True})) as client:
            await client.call_tool("send", {"body": "one"})
    assert sent == ["one"]


async def test_an_old_connection_without_a_way_back_is_not_asked(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stateless(server: Any, listening: Any, _limits: Any) -> Any:
        allowed = TransportSecuritySettings(allowed_hosts=sorted(listening.hosts))
        return server.streamable_http_app(streamable_http_path=PATH, stateless_http=True, transport_security=allowed)

    monkeypatch.setattr(clients, "application", stateless)
    sent: list[str] = []
    person = Person(answers={"confirm": True})
    async with serving("http", LEGACY, folder, sent, person) as client:
        result = await client.call_tool("send", {"body": secrets.token_hex(4)})
    assert standing(result)["status"] == "needs_confirmation"
    assert (sent, person.asked) == ([], [])
