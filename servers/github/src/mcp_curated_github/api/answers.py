"""What comes of a request: a success, or a write that was redirected or not answered."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_curated_github.api.fields import Fields, Tally
from mcp_curated_github.api.pages import next_page
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.names import RepoName

if TYPE_CHECKING:
    from mcp_curated_shared.transport.http_client import ResponseHeaders


@dataclass(frozen=True, slots=True)
class Answer:
    """A success.

    Attributes:
        status: The status code.
        headers: The headers.
        body: The body as it came.
        cut: Whether there is more of it than was read.
        renamed_to: The name under which the repository was found, where that is not the one that was asked for.
        hide: Replaces this server's own token in what is shown of the body.
    """

    status: int
    headers: "ResponseHeaders"
    body: bytes
    cut: bool = False
    renamed_to: RepoName | None = None
    hide: Callable[[str], str] = str

    @property
    def next_page(self) -> int | None:
        """The number of the next page, where there is one."""
        return next_page(self.headers.get("link"))

    def document(self) -> object:
        """The body as JSON.

        Raises:
            GitHubError: It is none (`bad_response`); the error shows how it begins.
        """
        try:
            value: object = json.loads(self.body)
        except (ValueError, RecursionError):
            beginning = self.hide(self.body[:400].decode("ascii", "replace"))
            shown = re.sub(r"[^\x20-\x7e]+", " ", beginning)[:80].strip()
            raise GitHubError(
                "bad_response",
                f'GitHub\'s answer is not JSON; it begins "{shown}".',
                "Perhaps a proxy or a login page answered; the operator can check GITHUB_API_URL.",
            ) from None
        return value

    def fields(self, tally: Tally) -> Fields:
        """The body as a JSON object."""
        return Fields.of(self.document(), tally)

    def items(self, tally: Tally) -> list[Fields]:
        """The body as a JSON list of objects."""
        return Fields.list_of(self.document(), tally)


class RenamedError(GitHubError):
    """A write was answered with a redirect, which is not followed: the repository has another name now.

    Args:
        asked: The name that was written to.
        repo: The name that it has now; None where that cannot be learnt.
    """

    def __init__(self, asked: RepoName | None, repo: RepoName | None) -> None:
        now = f"is now {repo}" if repo is not None else "has another name now"
        super().__init__(
            "renamed", f"Nothing was written: {asked or 'the repository'} {now}.", "Use the new name, if it is allowed."
        )
        self.repo = repo


class UnansweredError(GitHubError):
    """A write was sent and no answer that tells its outcome came back: it may have been done.

    Args:
        reason: What came instead.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("unanswered", f"Whether it was written is not known: {reason}", "Look before trying again.")
