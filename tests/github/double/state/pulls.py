"""Pull requests: an issue with changed files."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tests.github.double.state.issues import Issue

Status: TypeAlias = Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]

# docs.github.com, "Limits for viewing content and diffs in a repository"
MOST_FILES_OF_A_DIFF = 300
MOST_LINES_OF_A_DIFF = 20_000


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One changed file; a patch of None is one that GitHub does not show (binary, or too large)."""

    filename: str
    patch: str | None = "@@ -1 +1 @@\n-old\n+new"
    status: Status = "modified"
    previous_filename: str | None = None

    @property
    def additions(self) -> int:
        """Added lines of the patch."""
        return self._count("+")

    @property
    def deletions(self) -> int:
        """Removed lines of the patch."""
        return self._count("-")

    def _count(self, sign: str) -> int:
        return sum(line.startswith(sign) for line in (self.patch or "").split("\n"))

    def diff(self) -> str:
        """Its part of the unified diff."""
        before = self.previous_filename or self.filename
        lines = [f"diff --git a/{before} b/{self.filename}"]
        if self.status == "renamed":
            lines += [f"rename from {before}", f"rename to {self.filename}"]
        if self.patch is None:
            return "\n".join([*lines, f"Binary files a/{before} and b/{self.filename} differ", ""])
        old = "/dev/null" if self.status == "added" else f"a/{before}"
        new = "/dev/null" if self.status == "removed" else f"b/{self.filename}"
        return "\n".join([*lines, f"--- {old}", f"+++ {new}", self.patch, ""])


@dataclass(slots=True, eq=False)
class PullRequest(Issue):
    """A pull request; its number is shared with the issues."""

    files: list[ChangedFile] = field(default_factory=list[ChangedFile])
    head: str = "feature"
    draft: bool = False
    merged_at: str | None = None
    mergeable: bool | None = True

    def merge(self) -> None:
        """Merge it."""
        self.close()
        self.merged_at = self.closed_at

    @property
    def diff(self) -> str:
        """The whole unified diff."""
        return "".join(one.diff() for one in self.files)

    @property
    def diff_is_too_large(self) -> bool:
        """Whether GitHub answers 406 where the diff is asked for."""
        return len(self.files) > MOST_FILES_OF_A_DIFF or self.diff.count("\n") > MOST_LINES_OF_A_DIFF
