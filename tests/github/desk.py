"""Everything that a write needs, for tests: the double, a repository that may be written to, a server, a person."""

import gzip
import json
import sys
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult, InputResponses

from mcp_curated_shared.security.confirmation.sqlite import LedgerFile
from mcp_curated_shared.testing.clients import Command, Era, Person, Way, connect
from mcp_curated_shared.testing.terminal import type_at
from mcp_curated_shared.transport.asking import CONFIRMATION_META_KEY
from tests.github.double import Double, Repository, serve
from tests.github.serving import build, command, environment, text_of

REPO = "octo-org/hello"
ISSUE: dict[str, Any] = {"repo": REPO, "title": "It breaks", "body": "See here:\n\n- one\n- two", "dry_run": False}
PROMPT = "anything else to leave it: "
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "secrets-dev.jsonl.gz"


@dataclass(slots=True)
class Desk:
    """A double with one repository, and a token that may write there."""

    there: Double
    state: Path
    repository: Repository
    token: str
    allowed: str = REPO
    settings: dict[str, str] = field(default_factory=dict[str, str])

    def serving(
        self, era: Era, person: Person | None = None, *more: str, way: Way = "memory", **settings: str
    ) -> AbstractAsyncContextManager[Client]:
        """A client of a server that may write to the repository."""
        arguments = ("--state-dir", str(self.state), "--log-level", "warning", *more)
        given = {"GITHUB_ALLOWED_REPOS": self.allowed, **self.settings, **settings}
        return connect(
            way,
            era,
            build=lambda: build(self.there, self.token, *arguments, **given),
            command=command(self.there, self.token, *arguments, **given),
            person=person,
        )

    def command(self, *more: str) -> Command:
        """The same server as a process."""
        arguments = ("--state-dir", str(self.state), "--log-level", "debug", *more)
        return command(self.there, self.token, *arguments, GITHUB_ALLOWED_REPOS=self.allowed, **self.settings)

    def approve(self, operation_id: str) -> None:
        """What a person does in a terminal, without one."""
        LedgerFile(str(self.state)).approve(operation_id)

    def approve_in_terminal(self, operation_id: str, typed: str) -> tuple[int, str]:
        """Run the command in a terminal and type at its prompt."""
        argv = [sys.executable, "-P", "-m", "mcp_curated_github"]
        argv += ["approve", operation_id, "--state-dir", str(self.state)]
        return type_at(argv, typed, prompt=PROMPT, environment=environment(self.there, self.token))

    @property
    def posts(self) -> int:
        """How many writes the double was sent."""
        return len(self.there.journal.posts)

    @property
    def audit(self) -> list[dict[str, Any]]:
        """The records of the audit log, in order."""
        text = (self.state / "audit.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


@contextmanager
def desk_at(state: Path, *, verify: bool = True) -> Generator[Desk]:
    """A desk on a running double."""
    with serve(verify=verify) as there:
        repository = there.github.repository(REPO)
        repository.collaborators.add("octocat")
        yield Desk(there, state, repository, there.github.token("octocat"))


def willing() -> Person:
    """Somebody who ticks yes."""
    return Person(answers={"confirm": True})


async def create(client: Client, **changed: Any) -> CallToolResult:
    """Create the issue, or one with other arguments."""
    return await client.call_tool("create_issue", {**ISSUE, **changed})


def standing(result: CallToolResult) -> dict[str, Any]:
    """How the write stands, for programs."""
    return dict((result.meta or {}).get(CONFIRMATION_META_KEY, {}))


def structure(result: CallToolResult) -> dict[str, Any]:
    """The structure of a call that did not fail."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


async def question_of(client: Client, tool: str, arguments: dict[str, Any]) -> InputRequiredResult:
    """The question that a call is answered with, on 2026-07-28."""
    result = await client.session.call_tool(tool, arguments, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


async def answer(client: Client, tool: str, arguments: dict[str, Any], question: InputRequiredResult) -> Any:
    """The same call with yes as the answer."""
    answers: InputResponses = {
        key: ElicitResult(action="accept", content={"confirm": True}) for key in question.input_requests or {}
    }
    return await client.session.call_tool(
        tool, arguments, allow_input_required=True, input_responses=answers, request_state=question.request_state
    )


def corpus() -> list[dict[str, str]]:
    """The secrets of the development corpus; skips where it is not beside the repository."""
    if not CORPUS.exists():
        pytest.skip("the development corpus of secrets is not beside this repository")
    rows = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).decode("utf-8").splitlines()]
    return [row for row in rows if row["secret"]]
