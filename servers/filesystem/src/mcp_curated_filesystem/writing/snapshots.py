"""A file as it was read, and whether it still is that."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mcp_curated_filesystem.text.blocks import read_up_to
from mcp_curated_filesystem.text.versions import SMALL_BYTES, version_tag
from mcp_curated_shared.errors import ConflictError
from mcp_curated_shared.security.confinement import Target
from mcp_curated_shared.work import Work

Piece = bytes | memoryview
"""A part of the new content."""

WRITE_BYTES = 1 << 20
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file is opened by name in a held directory: no link is followed, no pipe waited for."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file as it was read.

    Attributes:
        stat: `fstat` taken before the content was read.
        data: The whole content, or None if it was not needed; then only size and times tell a change.
    """

    stat: os.stat_result
    data: bytes | None = field(default=None, repr=False)


def read_snapshot(target: Target, *, limit: int) -> Snapshot:
    """Read the file that a target names, without following a link and without waiting for a pipe.

    Args:
        target: The file.
        limit: How many bytes are read at most; a longer file gives a snapshot without data.

    Raises:
        ConflictError: It is gone, or something else is there now.
        OSError: It cannot be read.
    """
    try:
        descriptor = os.open(target.name, READ_FLAGS, dir_fd=target.directory)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            raise changed(target) from None
        raise
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise changed(target)
        data = read_up_to(descriptor, limit + 1, 0) if state.st_size <= limit else b""
        if state.st_size > limit or len(data) > limit:
            return Snapshot(state)
        return Snapshot(state, data)
    finally:
        os.close(descriptor)


def changed(target: Target) -> ConflictError:
    """The error for a file that another program changed while we worked on it."""
    return ConflictError(
        f"{target.location.shown} was changed by another program at the same moment; nothing was written.",
        "Read it again, then repeat the change.",
    )


def is_still(target: Target, name: str, before: Snapshot) -> bool:
    """Whether the entry is the file that was read, unchanged. Its content counts: times are too coarse to tell."""
    try:
        state = os.stat(name, dir_fd=target.directory, follow_symlinks=False)
        if _facts(state) != _facts(before.stat):
            return False
        if before.data is None:
            return True
        descriptor = os.open(name, READ_FLAGS, dir_fd=target.directory)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True  # its owner took away the right to read it; size and times say that it is the same
    try:
        return same_content(descriptor, before.data)
    finally:
        os.close(descriptor)


def _facts(state: os.stat_result) -> tuple[int, int, int, int]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def same_content(descriptor: int, data: bytes) -> bool:
    """Whether a file holds exactly `data`, read in blocks."""
    at = 0
    while block := read_up_to(descriptor, WRITE_BYTES, at):
        if data[at : at + len(block)] != block:  # a slice is copied, yet far quicker than comparing memoryviews
            return False
        at += len(block)
    return at == len(data)


def in_blocks(pieces: Iterable[Piece]) -> Iterator[memoryview]:
    """Give the content a megabyte at a time; an edit of many places has very many small pieces."""
    small = bytearray()
    for piece in pieces:
        if len(small) + len(piece) < WRITE_BYTES:
            small += piece
            continue
        if small:
            yield memoryview(bytes(small))
            small.clear()
        whole = memoryview(piece)
        for at in range(0, len(whole), WRITE_BYTES):
            yield whole[at : at + WRITE_BYTES]
    if small:
        yield memoryview(bytes(small))


def write_all(descriptor: int, pieces: Sequence[Piece], work: Work) -> None:
    """Write the pieces one after another, looking at `work` once a megabyte."""
    for block in in_blocks(pieces):
        work.check()
        rest = block
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def sync_directory(directory: int | None) -> None:
    """Make renames in a directory survive a power cut, where that can be asked for."""
    if directory is None:
        return
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EROFS, errno.ENOTSUP):
            raise


def version_after(pieces: Sequence[Piece], state: os.stat_result) -> str:
    """The version tag of a file that was written from pieces; `state` is its `fstat` after that."""
    small = state.st_size <= SMALL_BYTES
    return version_tag(b"".join(pieces) if small else -1, state)
