"""Renames that the standard library lacks: swapping two entries, and never replacing one.

Linux has both in renameat2(2), macOS in renameatx_np(2). Where a file system or a system lacks them, `rename_new` has
another way that is just as safe, and `exchange` says so with an error.
"""

import ctypes
import errno
import os
import platform
import stat
import sys
from collections.abc import Callable
from functools import lru_cache

_LACKING = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
# renameat2(2) and renameatx_np(2) number their flags differently.
_NO_REPLACE, _EXCHANGE = (4, 2) if sys.platform == "darwin" else (1, 2)
_SYSCALL = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "armv7l": 382, "i686": 353, "ppc64le": 357, "s390x": 347}

_Native = Callable[[int, bytes, int, bytes, int], int]


class ExchangeUnsupportedError(OSError):
    """This file system cannot swap two entries."""


@lru_cache(maxsize=1)
def _native() -> _Native | None:
    """The C library's function, or the system call where the library is too old to have it."""
    library = ctypes.CDLL(None, use_errno=True)
    kinds = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(library, name, None)
    if function is not None:
        function.argtypes = kinds
        function.restype = ctypes.c_int
        return function
    number = _SYSCALL.get(platform.machine()) if sys.platform == "linux" else None
    if number is None:
        return None
    call = library.syscall
    call.argtypes = [ctypes.c_long, *kinds]
    call.restype = ctypes.c_long

    def by_number(source: int, old: bytes, target: int, new: bytes, flags: int) -> int:
        return call(number, source, old, target, new, flags)

    return by_number


def _rename(source: tuple[int, str], target: tuple[int, str], flags: int) -> None:
    native = _native()
    if native is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if native(source[0], os.fsencode(source[1]), target[0], os.fsencode(target[1]), flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), source[1], None, target[1])


def exchange(first: tuple[int, str], second: tuple[int, str]) -> None:
    """Swap two existing entries, each (directory descriptor, name), in one step.

    Raises:
        ExchangeUnsupportedError: The file system or system cannot.
        OSError: Anything else (ENOENT: one is gone; EBUSY: one is a mount point).
    """
    try:
        _rename(first, second, _EXCHANGE)
    except OSError as error:
        if error.errno in _LACKING:
            raise ExchangeUnsupportedError(error.errno, "the file system cannot swap entries") from error
        raise


def rename_new(source: tuple[int, str], target: tuple[int, str]) -> None:
    """Rename to a name that does not exist yet; an entry there is never replaced, however late it came.

    Args:
        source: (directory descriptor, name) of any kind of entry.
        target: (directory descriptor, name) where it shall be.

    Raises:
        FileExistsError: Something is at the target.
        OSError: As rename(2) (EXDEV: another device).
    """
    try:
        _rename(source, target, _NO_REPLACE)
    except OSError as error:
        if error.errno not in _LACKING:
            raise
        _rename_claimed(source, target)


def _rename_claimed(source: tuple[int, str], target: tuple[int, str]) -> None:
    """Claim the name with an entry that only we made, then rename over it: the claim fails if the name is taken."""
    kind = os.stat(source[1], dir_fd=source[0], follow_symlinks=False).st_mode
    if stat.S_ISDIR(kind):
        os.mkdir(target[1], 0o700, dir_fd=target[0])
    else:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(target[1], flags, 0o600, dir_fd=target[0]))
    try:
        os.rename(source[1], target[1], src_dir_fd=source[0], dst_dir_fd=target[0])
    except OSError:
        remove = os.rmdir if stat.S_ISDIR(kind) else os.unlink
        remove(target[1], dir_fd=target[0])
        raise
