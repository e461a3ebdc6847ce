"""Overwriting a file in place: only for one that cannot be replaced.

That is a file which is a mount point of its own, stands in a directory that may not be written, or whose owner a
replacement would not keep. Until the last byte is synced a safety copy stands beside it, so that a kill loses nothing;
where the directory does not allow one the reply says that there was none.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress

from mcp_curated_filesystem.text.blocks import read_up_to
from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.snapshots import Piece, Snapshot, changed, in_blocks, same_content, sync_directory
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Target
from mcp_curated_shared.work import Work

_MOST_KEPT = 64 << 20


def overwrite(
    target: Target,
    pieces: Sequence[Piece],
    before: Snapshot,
    directory: int | None,
    work: Work,
) -> bool:
    """Write new content into the existing file.

    Args:
        target: The file.
        pieces: The whole new content.
        before: The file as it was read.
        directory: A readable descriptor of the parent.
        work: Cancels before the first byte is written, never after.

    Returns:
        Whether a safety copy stood beside it meanwhile; a directory that may not be written has none.

    Raises:
        ConflictError: It is another file by now, or changed.
        CuratedError: It has other names that must not change with it, or it is too long to be put back after a failure.
        OSError: It cannot be written; what had been written was put back.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(target.name, flags, dir_fd=target.directory)
    try:
        old = _checked(target, descriptor, before)
        work.check()
        saved = _save(target, old)
        try:
            _put(descriptor, pieces)
        except OSError:
            _put(descriptor, [old])
            raise
        finally:
            if saved is not None:
                with suppress(OSError):
                    os.unlink(saved, dir_fd=target.directory)
        sync_directory(directory)
        return saved is not None
    finally:
        os.close(descriptor)


def _checked(target: Target, descriptor: int, before: Snapshot) -> bytes:
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or (state.st_dev, state.st_ino) != (before.stat.st_dev, before.stat.st_ino):
        raise changed(target)
    if state.st_nlink > 1:
        raise CuratedError(
            f"{target.location.shown} has {state.st_nlink} names (hard links) and cannot be replaced here; writing into"
            " it would change them all. Nothing was written.",
            kind="permission",
        )
    if state.st_size > _MOST_KEPT and before.data is None:
        raise CuratedError(
            f"{target.location.shown} cannot be replaced here, and is too large to be overwritten safely in place.",
            kind="permission",
        )
    old = before.data if before.data is not None else read_up_to(descriptor, state.st_size, 0)
    if state.st_size != before.stat.st_size or not same_content(descriptor, old):
        raise changed(target)
    return old


def _save(target: Target, old: bytes) -> str | None:
    """Keep the old content beside the file, if the directory allows it; the name is never swept away."""
    name = leftovers.saved_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, 0o600, dir_fd=target.directory)
    except OSError:
        return None
    try:
        _put(descriptor, [old])
    except OSError:
        os.unlink(name, dir_fd=target.directory)
        return None
    finally:
        os.close(descriptor)
    return name


def _put(descriptor: int, pieces: Sequence[Piece]) -> None:
    at = 0
    for block in in_blocks(pieces):
        rest = block
        while rest:
            written = os.pwrite(descriptor, rest, at)
            rest = rest[written:]
            at += written
    os.ftruncate(descriptor, at)
    os.fsync(descriptor)
