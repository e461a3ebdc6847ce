"""What the double knows: accounts, repositories, issues, pull requests, contents. Plain values, built by tests."""

from tests.github.double.state.accounts import Account
from tests.github.double.state.contents import Entry, File, Submodule, Symlink, Tree
from tests.github.double.state.github import GitHub
from tests.github.double.state.issues import Comment, Issue
from tests.github.double.state.pulls import ChangedFile, PullRequest
from tests.github.double.state.repositories import Repository

__all__ = [
    "Account",
    "ChangedFile",
    "Comment",
    "Entry",
    "File",
    "GitHub",
    "Issue",
    "PullRequest",
    "Repository",
    "Submodule",
    "Symlink",
    "Tree",
]
