"""The Linux `openat2` system call: the kernel itself refuses a path that leaves its starting directory.

See openat2(2). The call has no wrapper in glibc; its number is 437 on every architecture that Python is built for.
It is only ever an accelerator here: whatever it cannot answer is answered by the walk of `walking`.
"""

import ctypes
import errno
import os
import sys
from typing import Any, Final

_NUMBER = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_TRIES = 4


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class How:
    """The flags of one kind of open, laid out for the kernel once.

    Symbolic links are refused altogether, so that a path that opens *is* the true path; with
    `O_PATH | O_NOFOLLOW` a link as the last component is opened itself.
    """

    __slots__ = ("pointer", "structure")

    def __init__(self, flags: int) -> None:
        resolve = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS
        if flags & os.O_PATH:  # with O_PATH the call takes no other flags
            flags &= os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
        self.structure = _OpenHow(flags | os.O_CLOEXEC, 0, resolve)
        self.pointer = ctypes.addressof(self.structure)


def _load() -> Any:
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call


_call: Final[Any] = _load()


def open_beneath(directory: int, relative: bytes, how: How) -> int:
    """Open `relative` below `directory` if no component is a link and nothing leaves it.

    Args:
        directory: Descriptor of the starting directory.
        relative: Path without "..", not empty.
        how: The kind of open.

    Returns:
        A new descriptor with close-on-exec set, or -1 for any reason at all (missing, a link, an old kernel, a
        container that forbids the call, EAGAIN after a concurrent rename): the walk then finds the answer.
    """
    descriptor: int = _call(_NUMBER, directory, relative, how.pointer, 24)
    tries = _TRIES
    while descriptor < 0 and tries and ctypes.get_errno() in (errno.EAGAIN, errno.EINTR):
        descriptor = _call(_NUMBER, directory, relative, how.pointer, 24)
        tries -= 1
    return descriptor


def supported() -> bool:
    """Whether this kernel (5.6 or newer) and this process's seccomp filter let the call through."""
    if _call is None:
        return False
    how = How(os.O_PATH | os.O_DIRECTORY)
    try:
        start = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        descriptor = open_beneath(start, b".", how)
    finally:
        os.close(start)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True
