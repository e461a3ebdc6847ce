"""The GitHub server and clients of other people, before a GitHub on this machine."""

import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_curated_shared.testing.clients import Command
from tests.github.double import Repository, serve
from tests.interop.clients import Session, run
from tests.interop.serving import AGREES, MOST_PAIRS, Kind, Way, at_home, paired, reachable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), paired(MOST_PAIRS)]

REPOSITORY = "octo-org/hello"
README = "# Hello\n\nSay `hello`.\n"


@dataclass(frozen=True, slots=True)
class Served:
    """A repository of a GitHub, and how to reach the server before it."""

    repository: Repository
    server: dict[str, Any]


@pytest.fixture(scope="module")
def served(way: Way, clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    del clients  # without them nothing is started
    home = tmp_path_factory.mktemp("github")
    with serve() as there:
        there.github.organisation("octo-org", members=["octocat"])
        repository = there.github.repository(REPOSITORY)
        repository.file("README.md", README)
        environment = at_home(
            home,
            GITHUB_API_URL=there.url,
            GITHUB_TOKEN=there.github.token("octocat"),
            GITHUB_ALLOWED_REPOS=REPOSITORY,
        )
        argv = [sys.executable, "-m", "mcp_curated_github", "--state-dir", str(home / "state")]
        with reachable(way, Command(argv, environment)) as server:
            yield Served(repository, server)


@pytest.fixture(scope="module")
def session(served: Served, kind: Kind, clients: Path) -> Session:
    """Everything on one connection: list, read, read as a resource, write with consent."""
    issue = {"repo": REPOSITORY, "title": f"Seen by {kind.name}", "body": "It breaks.", "dry_run": False}
    steps = [
        {"do": "tools"},
        {"do": "call", "tool": "get_readme", "arguments": {"repo": REPOSITORY}},
        {"do": "read", "uri": f"github://repos/{REPOSITORY}/readme"},
        {"do": "call", "tool": "create_issue", "arguments": issue},
    ]
    return run(clients, {**kind.description, "server": served.server, "answer": AGREES, "steps": steps})


def test_a_client_agrees_on_the_version_with_the_github_server(session: Session, kind: Kind) -> None:
    assert session.version == kind.version
    assert session.server == "mcp-curated-github"


def test_a_client_is_given_the_tools_of_github(session: Session) -> None:
    assert {"get_readme", "create_issue"} <= {tool["name"] for tool in session.steps[0]["tools"]}


def test_a_client_reads_a_readme_by_a_tool_and_as_a_resource(session: Session) -> None:
    assert any("Say `hello`." in block.get("text", "") for block in session.steps[1]["content"])
    assert any("Say `hello`." in part["text"] for part in session.steps[2]["contents"])


def test_an_issue_is_written_once_when_the_clients_user_agreed(session: Session, served: Served, kind: Kind) -> None:
    assert len(session.asked) == 1
    assert not session.steps[3].get("isError")
    titles = [one.title for one in served.repository.issues.values()]
    assert titles.count(f"Seen by {kind.name}") == 1
