"""After a start: remove what killed runs left anywhere in a root, and tell of safety copies."""

import os
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass

from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.copying import DEEPEST
from mcp_curated_filesystem.writing.locking import locked
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, Location, Root, open_child
from mcp_curated_shared.work import Work


@dataclass(frozen=True, slots=True)
class Tidied:
    """What was found.

    Attributes:
        directories: In how many directories something was removed or is in use by a living writer.
        saved: Safety copies of files whose overwriting in place was cut short: the old content, to be put back by hand.
    """

    directories: int
    saved: tuple[Location, ...]


def tidy(confinement: Confinement, root: Root, *, work: Work) -> Tidied:
    """Walk a root once and remove what killed runs left; meant for a quiet moment after the start.

    It stops without an error when `work` is over, and touches nothing but names of ours whose lock is free; nothing in
    a root that is not writable.
    """
    directories = 0
    saved: list[Location] = []
    if confinement.read_only or not root.writable:
        return Tidied(directories, ())
    with suppress(CuratedError, OSError), confinement.open_directory(root.path) as opened:
        for descriptor, location, names in _directories(opened.descriptor, opened.location, work, 0):
            saved += [location.child(name) for name in names if name.endswith(leftovers.SAVED_SUFFIX)]
            if any(leftovers.is_temporary(name) for name in names):
                with locked(descriptor, work) as directory:
                    if directory is not None:
                        leftovers.sweep(directory)
                directories += 1
    return Tidied(directories, tuple(saved))


def _directories(
    descriptor: int, location: Location, work: Work, depth: int
) -> Generator[tuple[int, Location, list[str]]]:
    """Give each directory that has names of ours, with those names."""
    work.check()
    with os.scandir(descriptor) as listing:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    ours = [name for name, _ in entries if leftovers.is_ours(name)]
    if ours:
        yield descriptor, location, ours
    if depth >= DEEPEST:
        return
    for name, is_directory in entries:
        if not is_directory or leftovers.is_ours(name):
            continue
        with suppress(OSError):
            inner = open_child(descriptor, name, kind="directory")
            try:
                yield from _directories(inner, location.child(name), work, depth + 1)
            finally:
                os.close(inner)
