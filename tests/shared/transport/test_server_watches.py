"""Live resources: watched by those who may read them, for as long as they listen, in both eras."""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    EmptyResult,
    ResourceUpdatedNotification,
    ServerNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from mcp_curated_shared.errors import NotAllowedError, UnavailableError
from mcp_curated_shared.testing import ERAS, LEGACY, MODERN, Era, over_memory
from mcp_curated_shared.testing.clients import http_url
from mcp_curated_shared.transport.requests import RequestContext
from mcp_curated_shared.transport.watches import MOST_URIS
from tests.shared.testing.sample_server import build

both_eras = pytest.mark.parametrize("era", ERAS)
SECONDS = 5.0


class Recorded:
    """Watches that write down what was asked of them."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.stopped = anyio.Event()

    async def allow(self, uri: str, context: RequestContext) -> None:
        self.events.append(f"allow {uri}")
        if "secret" in uri:
            raise NotAllowedError("It is not yours.")

    async def start(self, uri: str, context: RequestContext) -> None:
        self.events.append(f"start {uri}")
        if "broken" in uri:
            raise UnavailableError("It cannot be watched now.")

    async def stop(self, uri: str) -> None:
        self.events.append(f"stop {uri}")
        self.stopped.set()


class Heard:
    """What a client is told of changes."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self.came = anyio.Event()

    async def __call__(self, message: ServerNotification | Exception) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))
            self.came.set()


def legacy_client(target: Any, heard: Heard) -> Client:
    return Client(target, mode="legacy", message_handler=heard)


async def subscribe(client: Client, uri: str) -> None:
    # The session's own method warns that 2026-07-28 has no such request.
    request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
    await client.session.send_request(request, EmptyResult)


async def unsubscribe(client: Client, uri: str) -> None:
    request = UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri))
    await client.session.send_request(request, EmptyResult)


@pytest.mark.anyio
async def test_a_legacy_client_subscribes_hears_and_unsubscribes() -> None:
    watches, heard = Recorded(), Heard()
    server = build(watches=watches)
    async with legacy_client(server, heard) as client:
        resources = client.server_capabilities.resources
        assert resources is not None and resources.subscribe is True
        await subscribe(client, "sample:a")
        await subscribe(client, "sample:a")
        await server.notify_resource_updated("sample:b")
        await server.notify_resource_updated("sample:a")
        with anyio.fail_after(SECONDS):
            await heard.came.wait()
        await unsubscribe(client, "sample:a")
        await server.notify_resource_updated("sample:a")
        await unsubscribe(client, "sample:a")
    assert heard.uris == ["sample:a"]
    assert watches.events == ["allow sample:a", "start sample:a", "stop sample:a"]


@pytest.mark.anyio
async def test_a_legacy_connection_that_closes_ends_its_watches() -> None:
    watches = Recorded()
    server = build(watches=watches)
    async with legacy_client(server, Heard()) as client:
        await subscribe(client, "sample:a")
    with anyio.fail_after(SECONDS):
        await watches.stopped.wait()
    assert watches.events[-1] == "stop sample:a"
    await server.notify_resource_updated("sample:a")


@pytest.mark.anyio
async def test_a_modern_client_listens_hears_and_leaves() -> None:
    watches = Recorded()
    server = build(watches=watches)
    async with over_memory(server, MODERN) as client:
        async with client.listen(resource_subscriptions=["sample:a", "sample:b"]) as stream:
            await server.notify_resource_updated("sample:other")
            await server.notify_resource_updated("sample:b")
            with anyio.fail_after(SECONDS):
                event = await anext(aiter(stream))
            assert event.uri == "sample:b"  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
        with anyio.fail_after(SECONDS):
            await watches.stopped.wait()
    assert watches.events[:4] == ["allow sample:a", "start sample:a", "allow sample:b", "start sample:b"]
    assert sorted(watches.events[4:]) == ["stop sample:a", "stop sample:b"]


@pytest.mark.anyio
async def test_both_eras_hear_of_one_change_and_one_watch_serves_both() -> None:
    watches, heard = Recorded(), Heard()
    server = build(watches=watches)
    async with http_url(server) as url, legacy_client(url, heard) as old, Client(url, mode=MODERN) as new:
        await subscribe(old, "sample:a")
        async with new.listen(resource_subscriptions=["sample:a"]) as stream:
            with anyio.fail_after(SECONDS):
                # The older client's own stream opens in the background: tell it until it hears.
                while not heard.uris:
                    await server.notify_resource_updated("sample:a")
                    with anyio.move_on_after(0.05):
                        await heard.came.wait()
                assert (await anext(aiter(stream))).uri == "sample:a"  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
        assert watches.events.count("start sample:a") == 1
        assert "stop sample:a" not in watches.events
        await unsubscribe(old, "sample:a")
        assert watches.events[-1] == "stop sample:a"


async def watch(client: Client, era: Era, uri: str) -> None:
    if era == LEGACY:
        await subscribe(client, uri)
    else:
        async with client.listen(resource_subscriptions=["sample:fine", uri]):
            pass


@pytest.mark.anyio
@both_eras
@pytest.mark.parametrize(
    ("uri", "code", "text"),
    [("sample:secret", -32602, "It is not yours."), ("sample:broken", -32603, "It cannot be watched now.")],
)
async def test_what_may_not_or_cannot_be_watched_is_refused_and_leaves_nothing(
    era: Era, uri: str, code: int, text: str
) -> None:
    watches = Recorded()
    async with over_memory(build(watches=watches), era) as client:
        with pytest.raises(MCPError) as refused:
            await watch(client, era, uri)
    assert (refused.value.code, refused.value.message) == (code, text)
    assert f"stop {uri}" not in watches.events
    assert watches.events.count("start sample:fine") == watches.events.count("stop sample:fine")


@pytest.mark.anyio
async def test_a_failed_start_can_be_tried_again() -> None:
    watches = Recorded()
    async with over_memory(build(watches=watches), LEGACY) as client:
        for _ in range(2):
            with pytest.raises(MCPError):
                await watch(client, LEGACY, "sample:broken")
    assert watches.events.count("start sample:broken") == 2


@pytest.mark.anyio
@both_eras
async def test_there_is_an_end_to_how_much_one_client_may_watch(era: Era) -> None:
    watches = Recorded()
    uris = [f"sample:{number}" for number in range(MOST_URIS + 1)]
    async with over_memory(build(watches=watches), era) as client:
        with pytest.raises(MCPError, match="At most 256"):
            if era == MODERN:
                async with client.listen(resource_subscriptions=uris):
                    pass
            else:
                for uri in uris:
                    await subscribe(client, uri)


@pytest.mark.anyio
async def test_a_legacy_request_without_a_uri_is_refused() -> None:
    async with over_memory(build(watches=Recorded()), LEGACY) as client:
        with pytest.raises(MCPError) as refused:
            await subscribe(client, "")
    assert refused.value.code == -32602


@pytest.mark.anyio
@both_eras
async def test_without_live_resources_subscriptions_are_neither_offered_nor_served(era: Era) -> None:
    server = build()
    async with Client(server, mode="auto" if era == MODERN else era) as client:
        resources = client.server_capabilities.resources
        assert resources is not None and not resources.subscribe
        with pytest.raises(MCPError):
            await watch(client, era, "sample:a")
    await server.notify_resource_updated("sample:a")


class Gated(Recorded):
    """Watches whose start and stop wait for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.may_start = anyio.Event()
        self.may_stop = anyio.Event()
        self.stopping = anyio.Event()
        self.given_up = anyio.Event()

    async def start(self, uri: str, context: RequestContext) -> None:
        await super().start(uri, context)
        try:
            await self.may_start.wait()
        except BaseException:
            self.given_up.set()
            raise

    async def stop(self, uri: str) -> None:
        self.stopping.set()
        await self.may_stop.wait()
        await super().stop(uri)


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(SECONDS):
        while not condition():
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_two_who_come_at_once_share_one_start() -> None:
    watches = Gated()
    watches.may_stop.set()
    server = build(watches=watches)
    async with over_memory(server, LEGACY) as one, over_memory(server, LEGACY) as two:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscribe, one, "sample:a")
            tasks.start_soon(subscribe, two, "sample:a")
            await until(lambda: watches.events.count("allow sample:a") == 2)
            watches.may_start.set()
        await unsubscribe(one, "sample:a")
        assert "stop sample:a" not in watches.events
        await unsubscribe(two, "sample:a")
    assert watches.events.count("start sample:a") == watches.events.count("stop sample:a") == 1


@pytest.mark.anyio
async def test_one_who_comes_while_a_watch_is_being_stopped_gets_a_new_one() -> None:
    watches = Gated()
    watches.may_start.set()
    server = build(watches=watches)
    async with over_memory(server, LEGACY) as one, over_memory(server, LEGACY) as two:
        await subscribe(one, "sample:a")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(unsubscribe, one, "sample:a")
            await until(watches.stopping.is_set)
            tasks.start_soon(subscribe, two, "sample:a")
            await until(lambda: watches.events.count("allow sample:a") == 2)
            watches.may_stop.set()
        assert watches.events[-3:] == ["allow sample:a", "stop sample:a", "start sample:a"]


@pytest.mark.anyio
async def test_one_who_leaves_while_a_watch_is_being_started_leaves_nothing() -> None:
    watches = Gated()
    watches.may_stop.set()
    async with over_memory(build(watches=watches), LEGACY) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscribe, client, "sample:a")
            await until(lambda: "start sample:a" in watches.events)
            tasks.cancel_scope.cancel()
        await until(watches.given_up.is_set)
        watches.may_start.set()
        await subscribe(client, "sample:a")
        await unsubscribe(client, "sample:a")
    assert watches.events.count("start sample:a") == 2
    assert watches.events[-1] == "stop sample:a"
