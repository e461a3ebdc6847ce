"""Names of our own in a served directory, and the removal of what a killed run left under them.

A temporary file is locked (`flock`) for as long as its writer lives, and the kernel releases that lock whatever ends
the writer. So a temporary name whose lock is free is litter, and one whose lock is held is never touched.
"""

import errno
import os
import re
import secrets
import stat
import threading
from collections import OrderedDict
from contextlib import suppress

from mcp_curated_filesystem.writing.locking import try_flock
from mcp_curated_shared.errors import InvalidArgumentError

PREFIX = ".mcp-curated-"
"""Every name of ours begins so; walkers leave these entries out."""
TRASH_NAME = PREFIX + "trash"
"""The folder in a root into which deleted entries are moved."""

NOTE_SUFFIX = ".json"
"""Beside each entry of the trash a note says where it came from; its name is the entry's with this."""

_TEMPORARY = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}\.tmp")
SAVED_SUFFIX = ".saved"
"""How the safety copy of a file that is overwritten in place ends."""
_MOST_REMEMBERED = 512

_swept: OrderedDict[tuple[int, int], int] = OrderedDict()
_left: set[tuple[int, int]] = set()
_swept_lock = threading.Lock()


def is_ours(name: str) -> bool:
    """Whether an entry is one that this server makes for itself: listings and searches leave it out."""
    return name.startswith(PREFIX)


def is_temporary(name: str) -> bool:
    """Whether it is the name of something that is not finished."""
    return _TEMPORARY.fullmatch(name) is not None


def temporary_name() -> str:
    """A new name for something that is not finished."""
    return f"{PREFIX}{secrets.token_hex(8)}.tmp"


def saved_name() -> str:
    """A new name for the safety copy of a file that is overwritten in place: kept if the writer is killed."""
    return f"{PREFIX}{secrets.token_hex(8)}{SAVED_SUFFIX}"


def refuse_reserved(relative: str, shown: str) -> None:
    """Refuse to make or change what only this server makes.

    Raises:
        InvalidArgumentError: A component of the path begins with `PREFIX`.
    """
    if any(is_ours(part) for part in relative.split("/")):
        raise InvalidArgumentError(
            f"{shown} has a name that this server keeps for itself ({PREFIX}...).", "Use another name."
        )


def sweep(directory: int) -> bool:
    """Remove what killed runs left in a directory; call it with the directory locked.

    A directory that has not changed since its last sweep is not listed again.

    Args:
        directory: A readable descriptor.

    Returns:
        Whether nothing of that kind is left; False while another writer is at work.
    """
    state = os.fstat(directory)
    with _swept_lock:
        if _swept.get((state.st_dev, state.st_ino)) == state.st_mtime_ns:
            return True
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if is_temporary(entry.name)]
    except OSError:
        return False
    return all([_remove_if_abandoned(directory, name) for name in names])


def note_left(directory: int) -> None:
    """Note that something of ours could not be removed from a directory: the next sweep looks again."""
    state = os.fstat(directory)
    with _swept_lock:
        _left.add((state.st_dev, state.st_ino))


def remember_swept(directory: int) -> None:
    """Note that the directory is clean now, after our own change to it, unless something was left by it."""
    state = os.fstat(directory)
    with _swept_lock:
        if (state.st_dev, state.st_ino) in _left:
            _left.discard((state.st_dev, state.st_ino))
            _swept.pop((state.st_dev, state.st_ino), None)
            return
        _swept[state.st_dev, state.st_ino] = state.st_mtime_ns
        _swept.move_to_end((state.st_dev, state.st_ino))
        while len(_swept) > _MOST_REMEMBERED:
            _swept.popitem(last=False)


def _remove_if_abandoned(directory: int, name: str) -> bool:
    try:
        state = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
            return False
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return False
    try:
        if not try_flock(descriptor):
            return False
        remove_tree(directory, name)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def remove_tree(directory: int, name: str) -> None:
    """Remove an entry of ours, a whole directory if it is one, even if its directories are not writable.

    Raises:
        OSError: Something in it cannot be removed.
    """
    try:
        os.unlink(name, dir_fd=directory)
        return
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):
            raise
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        with suppress(OSError):
            os.fchmod(descriptor, 0o700)
        with os.scandir(descriptor) as listing:
            names = [entry.name for entry in listing]
        for inner in names:
            remove_tree(descriptor, inner)
    finally:
        os.close(descriptor)
    os.rmdir(name, dir_fd=directory)
