"""The database server and clients of other people, on an SQLite file."""

import contextlib
import json
import sqlite3
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_curated_shared.testing.clients import Command
from tests.interop.clients import Session, run
from tests.interop.serving import AGREES, KINDS, MOST_PAIRS, Kind, Way, at_home, paired, reachable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), paired(MOST_PAIRS)]


@dataclass(frozen=True, slots=True)
class Served:
    """A database file and how to reach its server."""

    file: Path
    server: dict[str, Any]


@pytest.fixture(scope="module")
def served(way: Way, clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    del clients  # without them nothing is started
    home = tmp_path_factory.mktemp("database")
    file = home / "shop.db"
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE items (name TEXT PRIMARY KEY, price INTEGER)")
        connection.executemany("INSERT INTO items VALUES (?, 1)", [(kind.name,) for kind in KINDS])
    argv = [
        sys.executable,
        "-m",
        "mcp_curated_database",
        str(file),
        "--allow-write",
        "--state-dir",
        str(home / "state"),
    ]
    with reachable(way, Command(argv, at_home(home))) as server:
        yield Served(file, server)


@pytest.fixture(scope="module")
def session(served: Served, kind: Kind, clients: Path) -> Session:
    """Everything on one connection: list, ask, read a schema as a resource, write with consent."""
    change = {"sql": "UPDATE items SET price = 2 WHERE name = ?", "params": [kind.name], "dry_run": False}
    steps = [
        {"do": "tools"},
        {"do": "call", "tool": "query", "arguments": {"sql": "SELECT count(*) AS n FROM items"}},
        {"do": "read", "uri": "db://items/schema"},
        {"do": "call", "tool": "execute", "arguments": change},
    ]
    return run(clients, {**kind.description, "server": served.server, "answer": AGREES, "steps": steps})


def test_a_client_agrees_on_the_version_with_the_database_server(session: Session, kind: Kind) -> None:
    assert session.version == kind.version
    assert session.server == "mcp-curated-database"


def test_a_client_is_given_the_tools_of_the_database(session: Session) -> None:
    assert [tool["name"] for tool in session.steps[0]["tools"]] == ["query", "describe_schema", "execute"]


def test_a_client_gets_the_rows_of_a_query(session: Session) -> None:
    assert json.loads(session.steps[1]["content"][-1]["text"])["rows"] == [[len(KINDS)]]


def test_a_client_reads_a_schema_as_a_resource(session: Session) -> None:
    assert any("price" in part["text"] for part in session.steps[2]["contents"])


def test_rows_are_changed_when_the_clients_user_agreed(session: Session, served: Served, kind: Kind) -> None:
    assert len(session.asked) == 1
    assert not session.steps[3].get("isError")
    with contextlib.closing(sqlite3.connect(served.file)) as connection:
        assert connection.execute("SELECT price FROM items WHERE name = ?", [kind.name]).fetchall() == [(2,)]
