"""Files and folders as resources, completion, and live resources in both eras."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import (
    BlobResourceContents,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    TextResourceContents,
)

from mcp_curated_shared.testing.clients import LEGACY, MODERN, Era, Person, Way
from tests.filesystem.server.serving import serve

pytestmark = pytest.mark.anyio

SECONDS = 10


async def text(client: Client, uri: str) -> str:
    contents = (await client.read_resource(uri)).contents
    assert all(isinstance(part, TextResourceContents) and str(part.uri) == uri for part in contents)
    return "".join(part.text for part in contents if isinstance(part, TextResourceContents))


async def test_a_file_is_read_by_path_and_by_label(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        assert await text(client, (notes / "a.txt").as_uri()) == "one\ntwo\nthree\n"
        assert await text(client, "file://notes/a.txt") == "one\ntwo\nthree\n"


async def test_a_folder_lists_itself(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        assert "b.py" in await text(client, "file://notes/deep/")
        assert "deep/" in await text(client, notes.as_uri())


@pytest.mark.parametrize("name", ["a b.txt", "wei\u00df.txt", "q?.txt", "h#.txt", "p%41.txt", "plus+.txt"])
async def test_any_name_can_be_asked_for(notes: Path, era: Era, name: str) -> None:
    (notes / name).write_text("here\n")
    async with serve("memory", era, [notes]) as client:
        assert await text(client, (notes / name).as_uri()) == "here\n"


async def test_a_name_that_is_no_text_can_be_asked_for(notes: Path, era: Era) -> None:
    (notes / os.fsdecode(b"\xff.txt")).write_text("here\n")
    async with serve("stdio", era, [notes]) as client:
        assert await text(client, f"{notes.as_uri()}/%FF.txt") == "here\n"


async def test_a_binary_is_a_blob(notes: Path, era: Era) -> None:
    (notes / "thing.bin").write_bytes(bytes(range(256)))
    async with serve("memory", era, [notes]) as client:
        (part,) = (await client.read_resource((notes / "thing.bin").as_uri())).contents
    assert isinstance(part, BlobResourceContents)


@pytest.mark.parametrize("path", ["../private/secret.txt", "out/secret.txt", "%2E%2E/private/secret.txt"])
async def test_no_uri_reaches_outside(notes: Path, era: Era, path: str) -> None:
    async with serve("memory", era, [notes]) as client:
        for uri in (f"{notes.as_uri()}/{path}", f"file://notes/{path}"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert "outside" in str(caught.value)


async def test_a_missing_file_has_the_code_of_its_era(notes: Path) -> None:
    codes: tuple[tuple[Era, int], ...] = ((LEGACY, -32002), (MODERN, -32602))
    for era, code in codes:
        async with serve("memory", era, [notes]) as client:
            with pytest.raises(MCPError) as caught:
                await client.read_resource((notes / "nothing.txt").as_uri())
        assert caught.value.error.code == code


async def test_a_resource_asks_for_the_roots_that_decide(notes: Path, era: Era) -> None:
    async with serve("memory", era, [], Person(roots=[str(notes)])) as client:
        assert await text(client, (notes / "a.txt").as_uri()) == "one\ntwo\nthree\n"


async def test_the_effective_settings_are_a_resource(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes, "--deny", ".env"]) as client:
        told = await text(client, "config://main")
    assert str(notes) in told and ".env" in told


async def test_templates_are_listed_and_complete(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        assert templates == {"file:///{+path}", "file://{root}/{+path}"}
        by_path = ResourceTemplateReference(uri="file:///{+path}")
        by_label = ResourceTemplateReference(uri="file://{root}/{+path}")
        found = await client.complete(by_path, {"name": "path", "value": f"{str(notes)[1:]}/de"})
        assert found.completion.values == [f"{str(notes)[1:]}/deep/"]
        labels = await client.complete(by_label, {"name": "root", "value": "n"})
        assert labels.completion.values == ["notes"]
        inside = await client.complete(by_label, {"name": "path", "value": "deep/"}, {"root": "notes"})
        assert inside.completion.values == ["deep/b.py", "deep/deeper/"]
        outside = await client.complete(by_path, {"name": "path", "value": f"{str(notes.parent)[1:]}/priv"})
        assert outside.completion.values == []


class Updates:
    """What a legacy client was told."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self.arrived = anyio.Event()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))
            self.arrived.set()


async def legacy_updates(client: Client) -> Updates:
    updates = Updates()
    client.session._message_handler = updates  # pyright: ignore[reportPrivateUsage]  # the client has no later hook
    return updates


@pytest.mark.parametrize("way", ["memory", "stdio", "http"])
@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_old_client_hears_of_a_change_and_not_after_unsubscribing(notes: Path, way: Way) -> None:
    uri = (notes / "a.txt").as_uri()
    async with serve(way, LEGACY, [notes]) as client:
        assert client.session.server_capabilities is not None
        resources = client.session.server_capabilities.resources
        assert resources is not None and resources.subscribe
        updates = await legacy_updates(client)
        await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]  # the handshake era's way
        (notes / "a.txt").write_text("changed\n")
        with anyio.fail_after(SECONDS):
            await updates.arrived.wait()
        assert set(updates.uris) == {uri}
        await client.unsubscribe_resource(uri)  # pyright: ignore[reportDeprecated]  # the handshake era's way
        await client.subscribe_resource(notes.as_uri())  # pyright: ignore[reportDeprecated]  # the handshake era's way
        updates.uris.clear()
        updates.arrived = anyio.Event()
        (notes / "a.txt").write_text("changed again\n")
        with anyio.fail_after(SECONDS):
            await updates.arrived.wait()
        assert set(updates.uris) == {notes.as_uri()}


async def next_update(events: AsyncIterator[Any]) -> str:
    with anyio.fail_after(SECONDS):
        async for event in events:
            assert isinstance(event, ResourceUpdated)
            return event.uri
    raise AssertionError("the stream ended")


@pytest.mark.parametrize("way", ["memory", "stdio", "http"])
async def test_a_new_client_hears_of_a_file_and_of_a_folder(notes: Path, way: Way) -> None:
    file, folder = (notes / "a.txt").as_uri(), (notes / "deep").as_uri()
    async with serve(way, MODERN, [notes]) as client:
        async with client.listen(resource_subscriptions=[file]) as events:
            (notes / "a.txt").write_text("changed\n")
            assert await next_update(events) == file
        async with client.listen(resource_subscriptions=[folder]) as events:
            (notes / "deep" / "new.txt").write_text("x\n")
            assert await next_update(events) == folder


async def test_a_file_that_is_replaced_is_heard_of(notes: Path) -> None:
    uri = (notes / "a.txt").as_uri()
    async with serve("memory", MODERN, [notes]) as client, client.listen(resource_subscriptions=[uri]) as events:
        (notes / "fresh").write_text("new\n")
        os.replace(notes / "fresh", notes / "a.txt")
        assert await next_update(events) == uri


async def test_what_lies_outside_cannot_be_watched(notes: Path) -> None:
    outside = (notes.parent / "private" / "secret.txt").as_uri()
    async with serve("memory", MODERN, [notes]) as client:
        with pytest.raises(MCPError) as caught:
            async with client.listen(resource_subscriptions=[outside]):
                raise AssertionError("it was allowed")
        assert "outside" in str(caught.value)


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_what_lies_outside_cannot_be_subscribed_to(notes: Path) -> None:
    async with serve("memory", LEGACY, [notes]) as client:
        with pytest.raises(MCPError, match="outside"):
            await client.subscribe_resource(f"{notes.as_uri()}/out/secret.txt")  # pyright: ignore[reportDeprecated]  # the handshake era's way


async def test_a_folder_swapped_for_a_link_to_outside_tells_nothing_of_what_lies_there(notes: Path) -> None:
    """A watch by name would report the changes behind the link (filesystem.md, resources)."""
    uri = (notes / "deep" / "b.py").as_uri()
    private = notes.parent / "private"
    async with serve("memory", MODERN, [notes]) as client, client.listen(resource_subscriptions=[uri]) as events:
        os.rename(notes / "deep", notes / "was")
        (notes / "deep").symlink_to(private)
        (private / "b.py").write_text("outside\n")
        told: list[str] = []
        with anyio.move_on_after(3):
            async for event in events:
                told.append(str(event))
        with pytest.raises(MCPError):
            await client.read_resource(uri)
    # The file that was watched has gone from its path: at most that is told, never a change behind the link.
    assert len(told) <= 1


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_subscription_ends_with_the_roots_that_allowed_it(notes: Path) -> None:
    person = Person(roots=[str(notes)])
    async with serve("memory", LEGACY, [], person) as client:
        updates = await legacy_updates(client)
        await client.subscribe_resource((notes / "a.txt").as_uri())  # pyright: ignore[reportDeprecated]  # the handshake era's way
        person.roots = [str(notes / "deep")]
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()  # pyright: ignore[reportDeprecated]  # the handshake era's way
        await client.subscribe_resource((notes / "deep").as_uri())  # pyright: ignore[reportDeprecated]  # the handshake era's way
        (notes / "a.txt").write_text("changed\n")
        (notes / "deep" / "new.txt").write_text("changed\n")
        with anyio.fail_after(SECONDS):
            await updates.arrived.wait()
        assert set(updates.uris) == {(notes / "deep").as_uri()}
