"""A repository and what a test puts into it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.github.double.credentials import clone_token
from tests.github.double.state.accounts import Account
from tests.github.double.state.contents import Entry, File, Submodule, Symlink, Tree, identity
from tests.github.double.state.issues import Issue
from tests.github.double.state.pulls import ChangedFile, PullRequest

if TYPE_CHECKING:
    from tests.github.double.state.github import GitHub


@dataclass(slots=True, eq=False)
class Repository:
    """A repository; `empty` is one without a commit. `collaborators` may push, besides its owner."""

    github: "GitHub"
    owner: Account
    name: str
    id: int
    created_at: str
    description: str | None = None
    language: str | None = "Python"
    private: bool = False
    stars: int = 0
    forks: int = 0
    topics: tuple[str, ...] = ()
    license: str | None = "mit"
    default_branch: str = "main"
    archived: bool = False
    has_issues: bool = True
    collaborators: set[str] = field(default_factory=set[str])
    labels: set[str] = field(default_factory=lambda: {"bug", "enhancement", "question"})
    trees: dict[str, Tree] = field(default_factory=dict[str, Tree])
    issues: dict[int, Issue] = field(default_factory=dict[int, Issue])
    clone_token: str = field(default_factory=clone_token)
    pushed_at: str = "2024-03-01T12:00:00Z"

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def empty(self) -> bool:
        """Whether nothing was ever pushed."""
        return not any(tree.entries for tree in self.trees.values())

    def put(self, path: str, entry: Entry, *, branch: str | None = None) -> None:
        """Have `entry` at `path`; a branch that is not there yet begins as the default one is."""
        name = branch or self.default_branch
        start = self.trees.get(self.default_branch, Tree())
        self.trees.setdefault(name, Tree(dict(start.entries))).entries[path] = entry

    def file(
        self, path: str, content: str | bytes = "", *, size: int | None = None, branch: str | None = None
    ) -> "Repository":
        """Have a file; `size` claims another size than the content has."""
        data = content.encode() if isinstance(content, str) else content
        self.put(path, File(data, size), branch=branch)
        return self

    def symlink(self, path: str, target: str) -> "Repository":
        """Have a symbolic link."""
        self.put(path, Symlink(target))
        return self

    def submodule(self, path: str, git_url: str) -> "Repository":
        """Have another repository at `path`."""
        self.put(path, Submodule(git_url, identity(None, git_url)))
        return self

    def issue(
        self,
        title: str,
        body: str | None = "",
        *,
        author: str | None = "octocat",
        labels: Iterable[str] = (),
        comments: Iterable[str] = (),
        association: str | None = None,
        at: str | None = None,
    ) -> Issue:
        """Open an issue, with comments of its author."""
        at = at or self.github.moment()
        number = self.next_number()
        made = Issue(self, self.github.next_id(), number, title, body, self.github.known(author), at, at)
        made.labels.extend(labels)
        made.association = association
        self.issues[number] = made
        for text in comments:
            made.comment(text, author=author)
        return made

    def pull_request(
        self,
        title: str,
        body: str | None = "",
        *,
        author: str | None = "octocat",
        files: Sequence[ChangedFile] = (),
        head: str = "feature",
    ) -> PullRequest:
        """Open a pull request."""
        at = self.github.moment()
        number = self.next_number()
        made = PullRequest(self, self.github.next_id(), number, title, body, self.github.known(author), at, at)
        made.files.extend(files)
        made.head = head
        self.issues[number] = made
        return made

    def rename(self, full_name: str) -> None:
        """Rename or transfer it; the old name goes on as a redirection until another repository takes it."""
        self.github.renamed(self, full_name)

    def next_number(self) -> int:
        """The number of the next issue or pull request."""
        return max(self.issues, default=0) + 1

    def may_push(self, login: str | None) -> bool:
        """Whether this account may push, and so set labels."""
        return login is not None and (
            login == self.owner.login or login in self.collaborators or login in self.owner.members
        )

    def association(self, login: str | None) -> str:
        """How an author stands to this repository."""
        if login == self.owner.login:
            return "OWNER"
        if login in self.owner.members:
            return "MEMBER"
        return "COLLABORATOR" if login in self.collaborators else "NONE"
