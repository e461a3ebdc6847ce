"""Issues and what is said in them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tests.github.double.state.repositories import Repository


@dataclass(slots=True, eq=False)
class Comment:
    """A comment; an author of None is an account that is gone."""

    id: int
    body: str
    author: str | None
    created_at: str
    association: str | None = None


@dataclass(slots=True, eq=False)
class Issue:
    """An issue.

    `association` overrides what follows from the author. `deleted` answers 410, `moved_to` 301 (its repository and
    number). `indexed` is false while search does not know it yet.
    """

    repository: "Repository"
    id: int
    number: int
    title: str
    body: str | None
    author: str | None
    created_at: str
    updated_at: str
    labels: list[str] = field(default_factory=list[str])
    assignees: list[str] = field(default_factory=list[str])
    state: Literal["open", "closed"] = "open"
    closed_at: str | None = None
    locked: bool = False
    association: str | None = None
    comments: list[Comment] = field(default_factory=list[Comment])
    deleted: bool = False
    moved_to: "tuple[Repository, int] | None" = None
    indexed: bool = True

    def comment(
        self, body: str, *, author: str | None = "octocat", association: str | None = None, at: str | None = None
    ) -> Comment:
        """Say something; returns the comment."""
        github = self.repository.github
        at = at or github.moment()
        made = Comment(github.next_id(), body, github.known(author), at, association)
        self.comments.append(made)
        self.updated_at = at
        return made

    def close(self) -> None:
        """Close it."""
        self.state = "closed"
        self.closed_at = self.updated_at = self.repository.github.moment()
