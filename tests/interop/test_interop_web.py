"""The web server and clients of other people, on a site on this machine."""

import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_curated_shared.testing.clients import Command
from tests.interop.clients import Session, run
from tests.interop.serving import MOST_PAIRS, Kind, Way, at_home, paired, reachable
from tests.web.site import Site, page, serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), paired(MOST_PAIRS)]

PAGE = "<!doctype html><title>Pears</title><main><h1>Pears</h1><p>Pears are ripe in <b>autumn</b>.</p></main>"


@dataclass(frozen=True, slots=True)
class Served:
    """A site and how to reach the server that may read it."""

    site: Site
    server: dict[str, Any]


@pytest.fixture(scope="module")
def served(way: Way, clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    del clients  # without them nothing is started
    home = tmp_path_factory.mktemp("web")
    argv = [sys.executable, "-m", "mcp_curated_web", "--allow-cidr", "127.0.0.0/8", "--state-dir", str(home / "state")]
    with serve({"/pears": page(PAGE)}) as site, reachable(way, Command(argv, at_home(home))) as server:
        yield Served(site, server)


@pytest.fixture(scope="module")
def session(served: Served, kind: Kind, clients: Path) -> Session:
    """Everything on one connection: list, fetch, read as a resource, cancel, and go on."""
    url = served.site.url("/pears")
    fetch = {"do": "call", "tool": "fetch_url", "arguments": {"url": url}}
    cancelled = {"do": "cancel", "tool": "fetch_url", "arguments": {"url": "{address}slow"}}
    steps = [{"do": "tools"}, fetch, {"do": "read", "uri": url}, cancelled, fetch]
    return run(clients, {**kind.description, "server": served.server, "steps": steps})


def test_a_client_agrees_on_the_version_with_the_web_server(session: Session, kind: Kind) -> None:
    assert session.version == kind.version
    assert session.server == "mcp-curated-web"


def test_a_client_is_given_the_tools_of_the_web_server(session: Session) -> None:
    assert "fetch_url" in {tool["name"] for tool in session.steps[0]["tools"]}


def test_a_client_fetches_a_page_by_a_tool_and_as_a_resource(session: Session) -> None:
    assert any("ripe in **autumn**" in block.get("text", "") for block in session.steps[1]["content"])
    assert any("ripe in **autumn**" in part["text"] for part in session.steps[2]["contents"])


def test_a_call_that_a_client_cancels_lets_go_of_the_page(session: Session) -> None:
    assert "changed my mind" in session.steps[3]["error"]  # the runner fails where the server did not hang up


def test_the_connection_of_a_client_that_cancelled_goes_on(session: Session) -> None:
    assert any("ripe in **autumn**" in block.get("text", "") for block in session.steps[4]["content"])
