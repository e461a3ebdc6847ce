"""A client's roots: they give relative paths their start, narrow, or are the list; they never widen."""

from pathlib import Path

import pytest
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import ListRootsResult

from mcp_curated_shared.testing.clients import LEGACY, MODERN, Era, Person, Way
from tests.filesystem.server.serving import call, refused, serve

pytestmark = pytest.mark.anyio


class CountingPerson(Person):
    """Counts how often the roots were asked for."""

    times = 0

    async def list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        self.times += 1
        return await super().list_roots(context)


class FailingPerson(Person):
    """Has roots, and fails to tell them."""

    async def list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        raise MCPError(-32603, "no roots today")


def person_in(*folders: Path) -> Person:
    return Person(roots=[str(folder) for folder in folders])


async def test_a_client_root_cannot_widen_the_operators_folders(notes: Path, era: Era) -> None:
    for policy in ("base", "narrow", "ignore"):
        async with serve("memory", era, [notes, "--roots", policy], Person(roots=["/"])) as client:
            told = await refused(client, "read_file", path=str(notes.parent / "private" / "secret.txt"))
            assert "outside" in told
            assert "one" in await call(client, "read_file", path=str(notes / "a.txt"))


async def test_the_operators_folders_stay_in_force_beside_client_roots(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes], person_in(notes.parent / "private")) as client:
        assert "one" in await call(client, "read_file", path=str(notes / "a.txt"))
        assert "one" in await call(client, "read_file", path="a.txt")


async def test_relative_paths_start_in_the_clients_root(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes], person_in(notes / "deep")) as client:
        assert "main" in await call(client, "read_file", path="b.py")
    async with serve("memory", era, [notes, "--roots", "ignore"], person_in(notes / "deep")) as client:
        await refused(client, "read_file", path="b.py")
        assert "main" in await call(client, "read_file", path="deep/b.py")


async def test_relative_paths_pass_over_client_roots_that_lie_outside(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes], person_in(notes.parent, notes / "deep")) as client:
        assert "main" in await call(client, "read_file", path="b.py")


async def test_narrow_limits_the_folders_to_the_clients_roots(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes, "--roots", "narrow"], person_in(notes / "deep")) as client:
        assert "main" in await call(client, "read_file", path=str(notes / "deep" / "b.py"))
        await refused(client, "read_file", path=str(notes / "a.txt"))
        await refused(client, "write_file", path=str(notes / "new.txt"), content="x")
        assert "deep" in await call(client, "list_allowed_directories")


async def test_without_folders_the_clients_roots_are_the_list(notes: Path, era: Era) -> None:
    async with serve("memory", era, [], person_in(notes / "deep")) as client:
        assert "main" in await call(client, "read_file", path=str(notes / "deep" / "b.py"))
        await refused(client, "read_file", path=str(notes / "a.txt"))
        await call(client, "write_file", path="new.txt", content="x")
    assert (notes / "deep" / "new.txt").read_text() == "x"


async def test_without_folders_and_roots_the_error_names_the_remedy(era: Era) -> None:
    async with serve("memory", era, []) as client:
        told = await refused(client, "read_file", path="/etc/hostname")
    assert "mcp-curated-filesystem /absolute/path" in told


@pytest.mark.parametrize("way", ["stdio", "memory"])
async def test_the_first_call_waits_for_the_roots(notes: Path, era: Era, way: Way) -> None:
    async with serve(way, era, [], person_in(notes)) as client:
        assert "one" in await call(client, "read_file", path=str(notes / "a.txt"))


async def test_an_old_connection_is_asked_once_and_again_after_a_change(notes: Path) -> None:
    person = CountingPerson(roots=[str(notes)])
    async with serve("memory", LEGACY, [], person) as client:
        for _ in range(3):
            assert "one" in await call(client, "read_file", path=str(notes / "a.txt"))
        assert person.times == 1
        person.roots = []
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()  # pyright: ignore[reportDeprecated]  # the handshake era's way
        told = await refused(client, "read_file", path=str(notes / "a.txt"))
        assert "roots" in told
        assert person.times == 2
        person.roots = [str(notes)]
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()  # pyright: ignore[reportDeprecated]  # the handshake era's way
        assert "one" in await call(client, "read_file", path=str(notes / "a.txt"))


async def test_a_new_connection_is_asked_on_every_call_that_needs_it_and_on_no_other(notes: Path) -> None:
    person = CountingPerson(roots=[str(notes)])
    async with serve("memory", MODERN, [notes], person) as client:
        await call(client, "read_file", path=str(notes / "a.txt"))
        await call(client, "read_multiple_files", paths=[f"file://{notes}/a.txt"])
        assert person.times == 0
        await call(client, "read_file", path="a.txt")
        await call(client, "read_file", path="a.txt")
        assert person.times == 2


async def test_a_client_that_fails_to_list_its_roots_does_not_stop_the_operators_folders(notes: Path) -> None:
    person = FailingPerson(roots=[str(notes)])
    async with serve("memory", LEGACY, [notes], person) as client:
        assert "one" in await call(client, "read_file", path="a.txt")
    async with serve("memory", LEGACY, [], person) as client:
        assert "did not answer" in await refused(client, "read_file", path=str(notes / "a.txt"))
