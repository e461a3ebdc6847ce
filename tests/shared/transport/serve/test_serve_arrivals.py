"""A client that does not send its body, or does not use its session, keeps nobody out."""

import socket
from collections.abc import Iterator

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from mcp_curated_shared.transport import arrivals
from mcp_curated_shared.transport.door import Door
from mcp_curated_shared.transport.listening import Listening, ServingLimits

pytestmark = pytest.mark.anyio

HOST = (b"host", b"localhost:1")
Headers = list[tuple[bytes, bytes]]


class Protocol:
    """Stands for the protocol's application: reads the body, opens sessions, ends them on DELETE."""

    def __init__(self) -> None:
        self.ended: list[bytes] = []
        self.headers: Headers = []
        self.opened = 0
        self.hold = anyio.Event()
        self.reached = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        self.headers = scope["headers"]
        if scope["method"] == "DELETE":
            self.ended.append(headers[b"mcp-session-id"])
        while (await receive()).get("more_body", False):
            pass
        if headers.get(b"x-hold"):
            self.reached.set()
            await self.hold.wait()
        extra: Headers = []
        if scope["method"] == "POST" and b"mcp-session-id" not in headers and b"mcp-protocol-version" not in headers:
            self.opened += 1
            extra = [(b"mcp-session-id", b"s%d" % self.opened)]
        await send({"type": "http.response.start", "status": int(headers.get(b"x-status", b"200")), "headers": extra})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@pytest.fixture
def bound() -> Iterator[socket.socket]:
    with socket.socket() as made:
        yield made


@pytest.fixture
def protocol() -> Protocol:
    return Protocol()


@pytest.fixture
def door(bound: socket.socket, protocol: Protocol) -> Door:
    listening = Listening(bound, "http://localhost:1/mcp", frozenset({"localhost:1"}), frozenset())
    limits = ServingLimits(concurrency=2, arriving=3, sessions=2)
    return Door(protocol, listening, limits, grace=1, on_ready=lambda: None)


async def ask(door: Door, *headers: tuple[bytes, bytes], method: str = "POST", body: bool = True) -> int:
    """The status of one request; without `body` it announces one that never comes."""
    statuses: list[int] = []

    async def receive() -> Message:
        if not body:
            await anyio.sleep_forever()
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await door({"type": "http", "method": method, "path": "/mcp", "headers": [HOST, *headers]}, receive, send)
    assert len(statuses) == 1
    return statuses[0]


async def test_a_body_that_does_not_come_is_given_up_with_408(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "STALL_SECONDS", 0.05)
    with anyio.fail_after(20):
        assert await ask(door, body=False) == 408


async def test_a_body_that_drips_is_given_up_at_its_end_time(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "BODY_SECONDS", 0.05)
    with anyio.fail_after(20):
        assert await ask(door, body=False) == 408


async def test_stalled_bodies_keep_no_newcomer_out(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "FRESH_SECONDS", 0.0)
    statuses: list[int] = []

    async def stall() -> None:
        statuses.append(await ask(door, body=False))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(stall)
                await anyio.wait_all_tasks_blocked()
            assert statuses == [503] * 7
            for _ in range(5):
                assert await ask(door) == 200
            tasks.cancel_scope.cancel()


async def test_bodies_that_all_move_are_not_given_up_for_another(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "FRESH_SECONDS", 1_000.0)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(lambda: ask(door, body=False))
        await anyio.wait_all_tasks_blocked()
        assert await ask(door) == 503
        tasks.cancel_scope.cancel()


async def test_calls_whose_bodies_are_there_are_still_limited(door: Door, protocol: Protocol) -> None:
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(lambda: ask(door, (b"x-hold", b"1")))
            await protocol.reached.wait()
            await anyio.wait_all_tasks_blocked()
            assert await ask(door) == 503
            protocol.hold.set()
    assert await ask(door) == 200


async def test_stopping_gives_up_bodies_on_their_way(door: Door) -> None:
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: ask(door, body=False))
            await anyio.wait_all_tasks_blocked()
            door.stop()


async def test_the_session_unused_longest_gives_way_to_a_new_one(
    door: Door, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "UNUSED_SECONDS", 0.0)
    await ask(door)
    await ask(door)
    assert protocol.ended == []
    await ask(door, (b"mcp-session-id", b"s1"))
    await ask(door)
    assert protocol.ended == [b"s2"]


async def test_a_session_with_an_open_request_is_not_ended(
    door: Door, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "UNUSED_SECONDS", 0.0)
    await ask(door)
    await ask(door)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: ask(door, (b"mcp-session-id", b"s1"), (b"x-hold", b"1")))
            await protocol.reached.wait()
            await ask(door, (b"mcp-session-id", b"s2"))
            await ask(door)
            protocol.hold.set()
    assert protocol.ended == [b"s2"]


async def test_sessions_in_use_are_not_ended(door: Door, protocol: Protocol) -> None:
    for _ in range(4):
        await ask(door)
    assert protocol.ended == []


async def test_requests_without_sessions_end_none(
    door: Door, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "UNUSED_SECONDS", 0.0)
    await ask(door)
    await ask(door)
    await ask(door, (b"mcp-protocol-version", b"2026-07-28"))
    assert protocol.ended == []


async def test_a_session_that_its_client_ended_counts_no_more(
    door: Door, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "UNUSED_SECONDS", 0.0)
    await ask(door)
    await ask(door)
    await ask(door, (b"mcp-session-id", b"s1"), method="DELETE")
    await ask(door)
    assert protocol.ended == [b"s1"]


@pytest.mark.parametrize("name", [b"content-type", b"accept"])
async def test_media_types_are_the_same_in_any_case(door: Door, protocol: Protocol, name: bytes) -> None:
    await ask(door, (name, b"APPLICATION/JSON; charset=utf-8"))
    assert (name, b"application/json; charset=utf-8") in protocol.headers


async def test_a_refused_request_takes_no_sessions_place(
    door: Door, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "UNUSED_SECONDS", 0.0)
    await ask(door)
    assert await ask(door, (b"x-status", b"400")) == 400
    await ask(door)
    assert protocol.ended == []
    await ask(door)
    assert protocol.ended == [b"s1"]
