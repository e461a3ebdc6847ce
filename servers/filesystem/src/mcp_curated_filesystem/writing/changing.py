"""What every change of a file or directory goes through: confinement, the lock, the sweep, foreseen errors."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from mcp_curated_filesystem.text.versions import version_tag
from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.locking import locked
from mcp_curated_filesystem.writing.snapshots import Snapshot
from mcp_curated_shared.errors import ConflictError
from mcp_curated_shared.security.confinement import Confinement, NotAFileError, Target, from_os_error, kind_of
from mcp_curated_shared.work import Work


@contextmanager
def foreseen(asked: str) -> Generator[None]:
    """Turn an `OSError` on a path into the error that names it."""
    try:
        yield
    except OSError as error:
        raise from_os_error(error, asked) from error


@contextmanager
def changing(
    confinement: Confinement, asked: str, work: Work, *, base: str | None, parents: bool = False, exact: bool = False
) -> Generator[tuple[Target, int | None]]:
    """Hold the place of a file that is about to change, and be the only writer there.

    Args:
        confinement: Where it must be.
        asked: Its path.
        work: Cancels the wait for another writer.
        base: As for `Confinement.open_target`.
        parents: Make missing directories.
        exact: Do not take a name that differs in letter case.

    Yields:
        The target, with its `stat` taken under the lock, and a readable descriptor of its directory, if it may be read.

    Raises:
        CuratedError: Anything that is wrong, named by its path.
    """
    with (
        foreseen(asked),
        confinement.open_target(asked, base=base, parents=parents, exact=exact) as target,
    ):
        leftovers.refuse_reserved(target.location.relative, target.location.shown)
        with locked(target.directory, work) as directory:
            clean = directory is not None and leftovers.sweep(directory)
            target.stat = stat_of(target)
            yield target, directory
            if clean and directory is not None:
                leftovers.remember_swept(directory)


def stat_of(target: Target) -> os.stat_result | None:
    """`lstat` of the target as it is now."""
    try:
        return os.stat(target.name, dir_fd=target.directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def not_a_file(target: Target, state: os.stat_result) -> NotAFileError:
    """The error for a target that is a directory, a pipe, a socket or a device: never written, never replaced."""
    return NotAFileError(f"{target.location.shown} is {kind_of(state.st_mode)}, not a file; nothing was written.")


def version_of(snapshot: Snapshot) -> str:
    """The version tag of a file as it was read."""
    return version_tag(-1 if snapshot.data is None else snapshot.data, snapshot.stat)


def check_version(target: Target, snapshot: Snapshot, expected: str | None) -> None:
    """Refuse to change a file that is no longer the one the caller saw.

    Raises:
        ConflictError: It names the current version.
    """
    if expected is None:
        return
    current = version_of(snapshot)
    if expected.strip() != current:
        raise ConflictError(
            f"{target.location.shown} is not at version {expected[:80]} any more: it is at {current}."
            " Nothing was written.",
            "Read it again, then repeat the change with the version that the read gives.",
        )
