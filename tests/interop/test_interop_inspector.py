"""The MCP Inspector's command line and every server: what it says of the tools, and one call and one resource."""

import json
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_curated_shared.testing.clients import Command
from scripts.generate_docs import Server, servers
from tests.interop.clients import REPOSITORY, inspect
from tests.interop.serving import at_home, reachable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KNOWN = {
    # A parameter of a statement is of whatever type its column has.
    ("query", "untyped-schema", "properties.params.items"),
    ("execute", "untyped-schema", "properties.params.items"),
}


@dataclass(frozen=True, slots=True)
class Served:
    """A folder of notes behind the filesystem server, over HTTP."""

    note: Path
    url: str


@pytest.fixture(scope="module")
def served(clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    del clients  # without them nothing is started
    home = tmp_path_factory.mktemp("inspected")
    note = home / "notes" / "a.txt"
    note.parent.mkdir()
    note.write_text("one\ntwo\n", encoding="utf-8")
    argv = [sys.executable, "-m", "mcp_curated_filesystem", str(note.parent), "--state-dir", str(home / "state")]
    with reachable("http", Command(argv, at_home(home))) as server:
        yield Served(note, server["url"])


@pytest.mark.parametrize("server", servers(REPOSITORY), ids=lambda server: server.folder.name)
def test_the_inspector_finds_no_schema_that_a_model_cannot_take(server: Server, clients: Path, tmp_path: Path) -> None:
    """`--strict` tells of schemas that some model's interface refuses, and fails on the worst of them."""
    everything = [one.replace("{folder}", str(tmp_path)) for one in server.everything]
    command = [sys.executable, "-m", server.module, f"--state-dir={tmp_path}/state", *everything]
    listed = inspect(clients, tmp_path, "--method", "tools/list", "--strict", "--", *command)
    assert listed["result"]["tools"]
    found = {
        (one["toolName"], each["rule"], each["path"])
        for one in listed.get("schemaFindings", ())
        for each in one["findings"]
    }
    assert found <= KNOWN


def test_the_inspector_reads_a_file_by_a_tool_without_a_handshake(
    served: Served, clients: Path, tmp_path: Path
) -> None:
    given = json.dumps({"path": str(served.note)})
    asked = ["--method", "tools/call", "--tool-name", "read_file", "--tool-args-json", given]
    told = inspect(clients, tmp_path, "--protocol-era", "modern", "--server-url", served.url, *asked)
    assert told["result"]["content"][-1]["text"] == "one\ntwo\n"


def test_the_inspector_reads_a_file_as_a_resource_after_a_handshake(
    served: Served, clients: Path, tmp_path: Path
) -> None:
    asked = ["--method", "resources/read", "--uri", served.note.as_uri()]
    told = inspect(clients, tmp_path, "--protocol-era", "legacy", "--server-url", served.url, *asked)
    assert [part["text"] for part in told["result"]["contents"]] == ["one\ntwo\n"]
