"""Opening one component at a time, never through a link: the only calls that touch a name."""

import errno
import itertools
import os
import stat
import sys
from typing import Literal

# macOS has no O_PATH: a directory is held with O_SEARCH, anything else with O_SYMLINK, which opens a link itself.
_O_PATH: int = getattr(os, "O_PATH", 0)
_ALWAYS: int = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)

HOLD_DIRECTORY: int = (_O_PATH or getattr(os, "O_SEARCH", 0)) | _DIRECTORY | _ALWAYS
HOLD_ENTRY: int = (
    (_O_PATH | _ALWAYS) if _O_PATH else (_ALWAYS & ~getattr(os, "O_NOFOLLOW", 0)) | getattr(os, "O_SYMLINK", 0)
)
READ_FILE: int = os.O_RDONLY | _ALWAYS
READ_DIRECTORY: int = os.O_RDONLY | _DIRECTORY | _ALWAYS

LISTED_AT_MOST = 200_000


def open_child(directory: int, name: str, *, kind: Literal["file", "directory"]) -> int:
    """Open one entry of a directory that is held open, for reading; for walkers that use `os.scandir(descriptor)`.

    Args:
        directory: Descriptor of the directory.
        name: One component, as `scandir` gave it.
        kind: "file" also opens other things that can be opened: look at `os.fstat` before reading.

    Returns:
        A descriptor that the caller closes. A FIFO or a terminal does not block.

    Raises:
        OSError: As it is; ELOOP or ENOTDIR when the entry is a link.
    """
    return os.open(name, READ_DIRECTORY if kind == "directory" else READ_FILE, dir_fd=directory)


def open_without_links(path: str) -> int:
    """Hold the directory at an absolute path in which no component may be a link.

    Raises:
        OSError: It is not there, or a component is a link or no directory.
    """
    held = os.open("/", HOLD_DIRECTORY)
    try:
        for component in path.split("/"):
            if component:
                deeper = os.open(component, HOLD_DIRECTORY, dir_fd=held)
                os.close(held)
                held = deeper
    except BaseException:
        os.close(held)
        raise
    return held


def real_path(path: str) -> str | None:
    """The path without links, as far as it exists; None when it cannot be told, since it changes at this moment.

    `os.path.realpath` raises EINVAL when a link becomes a directory between its two looks at it.
    """
    for _ in range(4):
        try:
            return os.path.realpath(path)
        except OSError:
            continue
        except ValueError:
            break
    return None


def open_parent(held: int) -> int:
    """A descriptor of the same directory that can also be listed and synced, if its permissions let it."""
    try:
        return os.open(".", READ_DIRECTORY, dir_fd=held)
    except PermissionError:
        return os.open(".", HOLD_DIRECTORY, dir_fd=held)


def names_in(held: int) -> list[str]:
    """The names in a held directory, at most 200,000 of them; none when it may not be listed."""
    try:
        descriptor = os.open(".", READ_DIRECTORY, dir_fd=held)
    except OSError:
        return []
    try:
        with os.scandir(descriptor) as entries:
            return [entry.name for entry in itertools.islice(entries, LISTED_AT_MOST)]
    except OSError:
        return []
    finally:
        os.close(descriptor)


def stat_of(held: int, name: str) -> os.stat_result | None:
    """`lstat` of one name in a held directory; None when there is nothing."""
    try:
        return os.stat(name, dir_fd=held, follow_symlinks=False)
    except FileNotFoundError:
        return None


def link_text(held: int, name: str) -> str | None:
    """Where a symbolic link points; None when the name is no link (any more)."""
    try:
        return os.readlink(name, dir_fd=held)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


# f_type of filesystems that show the kernel's and the processes' own state (statfs(2), linux/magic.h): among it this
# process's environment, which may hold secrets.
_KERNEL_TYPES = frozenset({0x9FA0, 0x62656572, 0x64626720, 0x74726163, 0x73636673})


def in_kernel_filesystem(descriptor: int) -> bool:
    """Whether it lies in procfs, sysfs or one of their kin. Linux only; elsewhere False."""
    if sys.platform != "linux":
        return False
    import ctypes

    buffer = ctypes.create_string_buffer(256)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fstatfs(descriptor, buffer) != 0:
        return False
    return ctypes.cast(buffer, ctypes.POINTER(ctypes.c_long)).contents.value in _KERNEL_TYPES


def identity(status: os.stat_result) -> tuple[int, int]:
    """(device, inode): what a file is, whatever it is called."""
    return status.st_dev, status.st_ino


def is_link(status: os.stat_result) -> bool:
    """Whether it is a symbolic link."""
    return stat.S_ISLNK(status.st_mode)
