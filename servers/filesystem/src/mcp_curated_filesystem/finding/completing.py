"""Completing a path while it is typed: for the resource templates."""

import os
from dataclasses import dataclass

from mcp_curated_filesystem.finding.sieving import read_entries
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, OpenDirectory, answering, escape_name, unescape_name
from mcp_curated_shared.work import Work

MAXIMUM = 100
"""Candidates at most, which is also the protocol's limit (2025-06-18, completion/complete)."""

_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Completion:
    """Ways to go on with what was typed.

    Attributes:
        values: Whole values that replace it, in shown form; a directory's ends in `/`. At most 100.
        total: How many there are.
    """

    values: tuple[str, ...] = ()
    total: int = 0

    @property
    def has_more(self) -> bool:
        """Whether some were left out."""
        return self.total > len(self.values)


def complete_path(confinement: Confinement, typed: str, *, base: str | None = None, work: Work) -> Completion:
    """Complete the last component of a path.

    What cannot be opened completes to nothing: a completion is no place for an error.

    Args:
        confinement: Says what is inside, and opens directories.
        typed: What there is so far: absolute, with or without its first `/`; or relative to `base`.
        base: Absolute directory that `typed` starts from, whatever it begins with; None: it is absolute.
        work: The call.

    Raises:
        CancelledError: The caller has gone.
    """
    folder, slash, part = typed.rpartition("/")
    if base is None:
        where = "/" + folder.lstrip("/")
        roots = _roots(confinement, typed)
    else:
        where = os.path.join(base, folder.lstrip("/"))
        roots = []
    start = folder + slash
    try:
        with confinement.open_directory(where) as opened:
            found = _names(confinement, opened, unescape_name(part), Clock(work, _SECONDS))
    except (CuratedError, OSError):
        work.check()
        found = []
    values = sorted({*roots, *(start + escape_name(name) for name in found)})
    return Completion(tuple(values[:MAXIMUM]), len(values))


def _roots(confinement: Confinement, typed: str) -> list[str]:
    """Give the roots whose path goes on from what was typed."""
    lead = "/" if typed.startswith("/") else ""
    paths = [lead + escape_name(root.path).strip("/") + "/" for root in answering(confinement.roots)]
    return [path for path in paths if path.startswith(typed) and path != typed]


def _names(confinement: Confinement, opened: OpenDirectory, part: str, clock: Clock) -> list[str]:
    """Give the entries of a directory that go on from `part`; in another letter case if none does in this one."""
    entries = read_entries(opened.descriptor, clock)
    slashed = [*(f"{name}/" for name in entries.directories), *entries.files, *entries.others]
    relative = f"{opened.location.relative}/" if opened.location.relative else ""
    seen = [name for name in slashed if part.startswith(".") or not name.startswith(".")]
    found = [name for name in seen if name.startswith(part)]
    if not found:
        folded = part.casefold()
        found = [name for name in seen if name.casefold().startswith(folded)]
    return [name for name in found if not confinement.denied(relative + name.rstrip("/"), opened.location.root)]
