"""Run a program as on a kernel, or in a container, that has no openat2.

`python without_openat2.py PROGRAM [ARGUMENT ...]`; the program by its path.

A seccomp filter (seccomp(2), classic BPF) answers the call with ENOSYS. It outlives execve(2), so the program runs as
it is. Where no process may set a filter the exit status is 77 and nothing was run.
"""

import ctypes
import errno
import os
import struct
import sys

NO_FILTERS = 77

_OPENAT2 = 437
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2  # prctl(2)
_LINES = (
    (0x20, 0, 0, 0),  # load the system call's number
    (0x15, 0, 1, _OPENAT2),  # is it openat2?
    (0x06, 0, 0, 0x00050000 | errno.ENOSYS),  # SECCOMP_RET_ERRNO
    (0x06, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))


def forbid_openat2() -> bool:
    """Let every later openat2 of this process fail with ENOSYS; False where no process may set such a filter."""
    libc = ctypes.CDLL(None, use_errno=True)
    lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in _LINES))
    program = _Program(len(_LINES), ctypes.addressof(lines))
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0 or libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program)) != 0:
        return False
    return libc.syscall(_OPENAT2, -1, b".", None, 0) == -1 and ctypes.get_errno() == errno.ENOSYS


if __name__ == "__main__":
    if not forbid_openat2():
        sys.exit(NO_FILTERS)
    os.execv(sys.argv[1], sys.argv[1:])
