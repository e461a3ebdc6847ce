"""People and organisations."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tests.github.double.state.repositories import Repository


@dataclass(slots=True, eq=False)
class Account:
    """A user or an organisation; `starred` holds the newest star last."""

    login: str
    id: int
    kind: Literal["User", "Organization", "Bot"] = "User"
    name: str | None = None
    email: str | None = None
    bio: str | None = None
    members: set[str] = field(default_factory=set[str])
    starred: "list[tuple[Repository, str]]" = field(default_factory=list["tuple[Repository, str]"])

    def star(self, *repositories: "Repository") -> None:
        """Star these in this order."""
        for repository in repositories:
            number = len(self.starred)
            self.starred.append((repository, f"2024-03-{1 + number // 24 % 28:02}T{number % 24:02}:00:00Z"))
