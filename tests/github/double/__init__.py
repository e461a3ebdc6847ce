"""A GitHub on 127.0.0.1, for tests: in state, answers, headers and faults as the real one, as far as our operations go.

    async with double() as there:
        token = there.github.token("octocat")
        there.github.repository("octocat/hello").issue("It breaks", "How to see it ...")
        there.faults.on("issues/create", faults.closed_after())
        ...  # the server under test, with GITHUB_API_URL=there.url
        assert len(there.journal.posts) == 1

Every JSON answer is held to GitHub's published description (tests/github/openapi), and so is every request; leaving the
block raises where either was not as described.
"""

from tests.github.double import faults
from tests.github.double.delivery import Hold
from tests.github.double.journal import Exchange, Journal
from tests.github.double.serving import ContractError, Double, double, serve
from tests.github.double.state import ChangedFile, Comment, GitHub, Issue, PullRequest, Repository

__all__ = [
    "ChangedFile",
    "Comment",
    "ContractError",
    "Double",
    "Exchange",
    "GitHub",
    "Hold",
    "Issue",
    "Journal",
    "PullRequest",
    "Repository",
    "double",
    "faults",
    "serve",
]
