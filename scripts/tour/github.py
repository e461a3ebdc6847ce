"""The GitHub server's part of the tour: a preview, two refusals, an approval in a terminal, and a replay.

GitHub itself is a process on this machine that behaves as the real one (tests/github/double): no account is needed and
nothing leaves. It counts the writes that reach it.
"""

import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitResult

from mcp_curated_shared.testing.terminal import type_at
from tour.stage import Stage, text_of

REPOSITORY = Path(__file__).resolve().parents[2]
Issue = dict[str, object]
PROMPT = "anything else to leave it: "


@dataclass(slots=True)
class Double:
    """The GitHub of this tour, and the two ends of its talk."""

    asking: IO[str]
    answering: IO[str]
    url: str
    token: str
    repo: str

    def ask(self, word: str) -> Any:
        """What the double knows: `posts` or `issues`."""
        self.asking.write(f"{word}\n")
        self.asking.flush()
        return json.loads(self.answering.readline())


@contextmanager
def github() -> Generator[Double]:
    """A GitHub on loopback, for as long as the block runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.github.double"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        asking, answering = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
        try:
            start = json.loads(answering.readline())
            yield Double(asking, answering, start["url"], start["token"], start["repo"])
        finally:
            asking.close()
            process.wait(20)


def server(double: Double, state: str) -> StdioServerParameters:
    """The server as a host starts it, allowed to write to one repository."""
    environment = {"GITHUB_API_URL": double.url, "GITHUB_TOKEN": double.token, "GITHUB_ALLOWED_REPOS": double.repo}
    arguments = ["-m", "mcp_curated_github", "--state-dir", state, "--log-level", "warning"]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd="/")


async def decline(context: object, params: object) -> ElicitResult:
    """A user who says no."""
    del context, params
    return ElicitResult(action="decline")


async def tour(stage: Stage) -> None:
    """Run the tour against a GitHub of its own."""
    with github() as double, tempfile.TemporaryDirectory(prefix="mcp-curated-tour-") as state:
        stage.heading(
            "GitHub server",
            f"In front of a GitHub on this machine ({double.url}) that counts what is written. The server may write to "
            f"{double.repo} and nowhere else.",
        )
        secret = secrets.token_urlsafe(18)
        issue: Issue = {"repo": double.repo, "title": "It breaks", "body": f"Seen with\n\npassword={secret}\n"}
        async with Client(server(double, state)) as client:
            await preview(stage, client, double, issue, secret)
            await refuse_elsewhere(stage, client, double, issue)
        async with Client(server(double, state), elicitation_callback=decline) as client:
            await refuse_by_user(stage, client, double, issue)
        async with Client(server(double, state)) as client:
            await approve_and_replay(stage, client, double, issue, state, secret)


async def preview(stage: Stage, client: Client, double: Double, issue: Issue, secret: str) -> None:
    """A dry run is the default."""
    await stage.call(client, "get_readme", {"repo": double.repo}, expect="a README is read")
    shown = await stage.call(client, "create_issue", issue, expect="by default an issue is only previewed")
    stage.verdict(secret not in text_of(shown), "the password in it is replaced before anybody sees it")
    stage.verdict(double.ask("posts") == 0, "and nothing was written")


async def refuse_elsewhere(stage: Stage, client: Client, double: Double, issue: Issue) -> None:
    """The allowlist."""
    other: Issue = {**issue, "repo": "octo-org/other", "dry_run": False}
    await stage.call(
        client, "create_issue", other, expect="a repository that is not on the list is refused", error=True
    )
    stage.verdict(double.ask("posts") == 0, "and nothing was written")


async def refuse_by_user(stage: Stage, client: Client, double: Double, issue: Issue) -> None:
    """A client that asks its user, who says no."""
    stage.say("Now a client that can ask its user, who declines.")
    await stage.call(client, "create_issue", {**issue, "dry_run": False}, expect="the user declines", lines=2)
    stage.verdict(double.ask("posts") == 0, "and nothing was written")


async def approve_and_replay(
    stage: Stage, client: Client, double: Double, issue: Issue, state: str, secret: str
) -> None:
    """A client that cannot ask: a person approves in a terminal, and the call counts once however often it comes."""
    stage.say("Now a client that cannot ask: a person must approve in a terminal of their own.")
    write: Issue = {**issue, "dry_run": False}
    held = await stage.call(client, "create_issue", write, expect="the call waits for a person")
    approved: Issue = {**write, "confirmed_operation_id": operation_of(held)}
    await stage.call(client, "create_issue", approved, expect="its id alone is no approval", error=True)
    argv = [sys.executable, "-m", "mcp_curated_github", "approve", operation_of(held), "--state-dir", state]
    status, shown = await anyio.to_thread.run_sync(lambda: type_at(argv, double.repo, prompt=PROMPT))
    stage.say(f"$ mcp-curated-github approve {operation_of(held)}")
    for line in shown.replace("\r", "").splitlines():
        stage.quote(line)
    stage.verdict(status == 0, "a person types the repository's name in a terminal and approves")
    await stage.call(client, "create_issue", approved, expect="the same call creates the issue")
    for _ in range(2):
        await stage.call(client, "create_issue", approved, expect="a replay gets the same result")
    stage.verdict(double.ask("posts") == 1, "GitHub was sent one write in all")
    stage.verdict(secret not in json.dumps(double.ask("issues")), "and the password is not in it")


def operation_of(result: CallToolResult) -> str:
    """The id under which a call waits."""
    structure = cast("dict[str, Any]", result.structured_content or {})
    return str(structure["operation_id"])
