"""A file that is being written beside the place it will take, and that a killed writer leaves no trace of.

On Linux it has no name while its content is written (open(2), `O_TMPFILE`), so that nothing is left of it whatever ends
the process; it gets a name of ours for the moment of the swap. Where a filesystem has no such files it has that name
from the start, locked for as long as its writer lives.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.locking import try_flock
from mcp_curated_filesystem.writing.snapshots import Piece, write_all
from mcp_curated_shared.security.confinement import Target
from mcp_curated_shared.work import Work

_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNNAMED = getattr(os, "O_TMPFILE", 0)


class Unfinished:
    """The file: an open descriptor, readable by nobody else, and its name once it has one.

    Attributes:
        descriptor: Open for reading and writing; the content is in it.
    """

    def __init__(self, directory: int) -> None:
        self._directory = directory
        self._name: str | None = None
        self.descriptor = _open_unnamed(directory)
        if self.descriptor < 0:
            name = leftovers.temporary_name()
            self.descriptor = os.open(name, _CREATE, 0o600, dir_fd=directory)
            self._name = name
        try_flock(self.descriptor)

    def name(self) -> str:
        """The name it has in the directory; it gets one now if it had none.

        Raises:
            OSError: It cannot be named here.
        """
        if self._name is None:
            name = leftovers.temporary_name()
            os.link(f"/proc/self/fd/{self.descriptor}", name, dst_dir_fd=self._directory, follow_symlinks=True)
            self._name = name
        return self._name

    def remove(self) -> None:
        """Close it, and remove whatever its name stands for by now.

        That may fail (a directory that another program has just moved out of the root is closed by Landlock). It is no
        failure of the write, which is done or not done by then; the next write in the directory removes what is left.
        """
        try:
            if self._name is not None:
                os.unlink(self._name, dir_fd=self._directory)
        except FileNotFoundError:
            pass
        except OSError:
            leftovers.note_left(self._directory)
        finally:
            os.close(self.descriptor)


@contextmanager
def unfinished(target: Target, pieces: Sequence[Piece], work: Work) -> Generator[Unfinished]:
    """Write the content beside the target; what is left of it at the end is removed."""
    file = Unfinished(target.directory)
    try:
        write_all(file.descriptor, pieces, work)
        yield file
    finally:
        file.remove()


def _open_unnamed(directory: int) -> int:
    """A file without a name in this directory; -1 where there is no such thing, or no way to name it later."""
    if not _UNNAMED or not os.path.isdir("/proc/self/fd"):
        return -1
    try:
        return os.open(".", _UNNAMED | os.O_RDWR | os.O_CLOEXEC, 0o600, dir_fd=directory)
    except OSError:
        return -1
