"""Which repositories were read, so that a write to a public one can warn after a read of a private one."""

import re
from dataclasses import dataclass, field
from typing import Final

from mcp_curated_github.routes import Route

MOST_NAMES: Final = 200

_PRIVATE: Final = re.compile(rb'"private":\s*true|"visibility":\s*"(?:private|internal)"')
_ISSUES: Final = re.compile(rb'"repository_url":\s*"[^"\s]{1,400}/repos/([^/"\s]+/[^/"\s]+)"')


@dataclass(slots=True)
class Reads:
    """What one process has read.

    Attributes:
        names: Repositories in lower case, whatever they are.
        public: Those of them that are known to be public.
        private: Whether something that is not public was read.
    """

    names: set[str] = field(default_factory=set[str])
    public: set[str] = field(default_factory=set[str])
    private: bool = False

    def note(self, route: Route, body: bytes) -> None:
        """Remember an answer to a read: the repository that was asked, and those that the answer is about.

        Args:
            route: What was asked.
            body: The JSON of the answer; empty for a file or a diff, whose bytes say nothing about a repository.
        """
        if self.private:
            return
        if _PRIVATE.search(body) is not None:
            self.private = True
            return
        if route.repo is not None:
            self.names.add(route.repo.canonical)
        if route.template.startswith("/search/issues"):
            self.names.update(name.decode("ascii", "replace").lower() for name in set(_ISSUES.findall(body)))
        if len(self.names) > MOST_NAMES:
            self.private = True  # too many to be looked at one by one
