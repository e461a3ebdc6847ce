"""The filesystem server and clients of other people."""

import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_curated_shared.testing.clients import Command
from tests.interop.clients import Session, run
from tests.interop.serving import AGREES, EVERY_PAIR, Kind, Way, at_home, paired, reachable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), paired(EVERY_PAIR)]


@dataclass(frozen=True, slots=True)
class Served:
    """A folder and how to reach its server."""

    folder: Path
    server: dict[str, Any]


@pytest.fixture(scope="module")
def served(way: Way, clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    del clients  # without them nothing is started
    home = tmp_path_factory.mktemp("filesystem")
    folder = home / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    argv = [sys.executable, "-m", "mcp_curated_filesystem", str(folder), "--allow-delete"]
    with reachable(way, Command([*argv, "--state-dir", str(home / "state")], at_home(home))) as server:
        yield Served(folder, server)


@pytest.fixture(scope="module")
def session(served: Served, kind: Kind, clients: Path) -> Session:
    """Everything on one connection: list, read, read as a resource, delete with consent, watch."""
    note = served.folder / "a.txt"
    doomed = served.folder / f"{kind.name}.doomed"
    doomed.touch()
    watched = served.folder / f"{kind.name}.watched"
    watched.write_text("before\n", encoding="utf-8")
    steps = [
        {"do": "tools"},
        {"do": "call", "tool": "read_file", "arguments": {"path": str(note)}},
        {"do": "read", "uri": note.as_uri()},
        {"do": "call", "tool": "delete_file", "arguments": {"path": str(doomed)}},
        {"do": "watch", "uri": watched.as_uri(), "file": str(watched), "text": "after\n"},
    ]
    return run(clients, {**kind.description, "server": served.server, "answer": AGREES, "steps": steps})


def test_a_client_agrees_on_the_version_that_it_asks_for(session: Session, kind: Kind) -> None:
    assert session.version == kind.version
    assert session.server == "mcp-curated-filesystem"


def test_a_client_is_given_the_tools(session: Session) -> None:
    assert {"read_file", "edit_file", "delete_file"} <= {tool["name"] for tool in session.steps[0]["tools"]}


def test_a_client_reads_a_file_by_a_tool(session: Session) -> None:
    assert session.steps[1]["content"][-1]["text"] == "one\ntwo\n"


def test_a_client_reads_a_file_as_a_resource(session: Session) -> None:
    assert [part["text"] for part in session.steps[2]["contents"]] == ["one\ntwo\n"]


def test_a_file_is_deleted_once_the_clients_user_agreed(session: Session, served: Served, kind: Kind) -> None:
    assert len(session.asked) == 1
    assert f"{kind.name}.doomed" in session.asked[0]
    assert not session.steps[3].get("isError")
    assert not (served.folder / f"{kind.name}.doomed").exists()


def test_a_client_hears_of_a_changed_file(session: Session, served: Served, kind: Kind) -> None:
    assert session.steps[4] == {"uri": (served.folder / f"{kind.name}.watched").as_uri()}
