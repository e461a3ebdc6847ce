"""One writer at a time in a directory, among threads and among processes.

The lock is `flock(2)` on the directory itself, so that nothing is littered, servers that share a directory but no
state folder (containers) exclude each other too, and the end of a process, however it comes, releases it. Before it
stands a lock in memory, so that threads wait without polling. A file system without `flock` on directories (NFS) leaves
the lock in memory and the check at the rename, which sees what another process changed.
"""

import errno
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.work import Work

try:
    import fcntl
except ImportError:  # Windows has no flock: the lock in memory remains
    fcntl = None

PATIENCE = 20.0
"""Seconds to wait for another writer."""

_LONGEST_NAP = 0.02
_WITHOUT_FLOCK = {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}

_Identity = tuple[int, int]


class _Held:
    """A lock in memory and how many want it; forgotten when nobody does."""

    __slots__ = ("lock", "wanted")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0


# One table for the process: two servers in one process must exclude each other as well.
_table: dict[_Identity, _Held] = {}
_table_lock = threading.Lock()


@contextmanager
def locked(directory: int, work: Work, *, patience: float = PATIENCE) -> Generator[int | None]:
    """Be the only writer in a directory.

    Args:
        directory: A descriptor of the directory; `O_PATH` is enough.
        work: Cancels the wait.
        patience: Seconds to wait for others.

    Yields:
        A readable descriptor of the directory (to list and to sync it), None where the directory may not be read.

    Raises:
        UnavailableError: Another writer kept it for longer than `patience`.
        CancelledError, TimedOutError: From `work`.
    """
    state = os.fstat(directory)
    until = time.monotonic() + patience
    with _in_memory((state.st_dev, state.st_ino), work, until):
        descriptor = _open_readable(directory)
        try:
            if descriptor is not None:
                _flock(descriptor, work, until)
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)


@contextmanager
def _in_memory(identity: _Identity, work: Work, until: float) -> Generator[None]:
    with _table_lock:
        held = _table.setdefault(identity, _Held())
        held.wanted += 1
    try:
        while not held.lock.acquire(timeout=0.05):
            _wait_on(work, until)
        try:
            yield
        finally:
            held.lock.release()
    finally:
        with _table_lock:
            held.wanted -= 1
            if held.wanted == 0:
                del _table[identity]


def _open_readable(directory: int) -> int | None:
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except PermissionError:
        return None


def _flock(descriptor: int, work: Work, until: float) -> None:
    nap = 0.0005
    while not try_flock(descriptor):
        _wait_on(work, until)
        time.sleep(nap)
        nap = min(nap * 2, _LONGEST_NAP)


def try_flock(descriptor: int) -> bool:
    """Take the lock of an open file or directory without waiting.

    Returns:
        False only if another holder has it; where there are no such locks, nobody does.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _WITHOUT_FLOCK:
            raise
    return True


def _wait_on(work: Work, until: float) -> None:
    work.check()
    if time.monotonic() > until:
        raise UnavailableError("Another writer has been busy in this directory for too long.", "Try again.")
