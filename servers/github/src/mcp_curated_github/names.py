"""Names of repositories: read once, compared in one form, never repaired."""

import re
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.security.allowlist import NameForm

# Letters, digits and single dashes inside; an account that a company manages ends in `_shortcode`.
_OWNER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?(?:_[A-Za-z0-9]{1,20})?", re.ASCII)
_NAME: Final = re.compile(r"(?!.*\.git\Z)[A-Za-z0-9_.-]{1,100}", re.ASCII | re.IGNORECASE)

REPOSITORY: Final = NameForm("repository", "octo-org/hello-world", (_OWNER, _NAME))
"""`owner/name` as GitHub allows it: ASCII, at most 39 and 100 characters, no `.`, `..` or `*.git`."""

REPOSITORY_PATTERN: Final = r"^[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+$"
"""The same for a schema, roughly: the check itself is `RepoName.parse`."""


@dataclass(frozen=True, slots=True, eq=False)
class RepoName:
    """A repository's full name; two that differ in letter case only are the same (GitHub's rule).

    Attributes:
        owner: As it was written.
        name: As it was written.
    """

    owner: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "RepoName":
        """Read `owner/name`.

        Raises:
            InvalidArgumentError: It is no repository's name.
        """
        REPOSITORY.canonical(text)
        owner, _, name = text.partition("/")
        return cls(owner, name)

    @property
    def canonical(self) -> str:
        """In lower case: the form in which names are compared."""
        return str(self).lower()

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RepoName) and other.canonical == self.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)


def is_owner(text: str) -> bool:
    """Whether a text has the form of an account's login."""
    return text.isascii() and _OWNER.fullmatch(text) is not None
