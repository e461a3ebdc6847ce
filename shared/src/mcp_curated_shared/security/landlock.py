"""Landlock, a second layer below confinement: the kernel closes the rest of the filesystem to this process.

Confinement alone lets nothing outside be opened. Landlock (landlock(7), Linux 5.13) makes the same true of every
library in the process and of every fault in ours. It cannot be undone and holds for every thread that starts later,
so it is entered on the main thread before any other exists. Metadata (`stat`) stays visible.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

# System call numbers, the same on every architecture that Python is built for.
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_PR_SET_NO_NEW_PRIVS = 38
_RULE_PATH_BENEATH = 1
_ASK_VERSION = 1

# Rights on files (landlock.h). REFER came with ABI 2, TRUNCATE with 3, IOCTL_DEV with 5.
_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIRECTORY = 1 << 3
_ALL_OF_ABI_1 = (1 << 13) - 1
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEVICE = 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIRECTORY
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE

_LEAST_ABI = 2


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


@dataclass(frozen=True, slots=True)
class LandlockStatus:
    """Whether the layer is in force.

    Attributes:
        active: The process is restricted.
        abi: The kernel's Landlock version; 0 without Landlock.
        reason: Why it is not active; empty when it is.
    """

    active: bool
    abi: int
    reason: str = ""


def abi() -> int:
    """The kernel's Landlock version; 0 when there is none, it is switched off, or a container forbids the call."""
    if _LIBC is None:
        return 0
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))))


def restrict(
    roots: Sequence[tuple[str, bool]], *, writable: Iterable[str] = (), readable: Iterable[str] = ()
) -> LandlockStatus:
    """Close everything but the roots, the given extras, and what Python itself must read.

    Args:
        roots: Path of each root, and whether it is writable.
        writable: Further directories to write in: the state folder. Missing ones are passed over.
        readable: Further files and directories to read. Missing ones are passed over.

    Returns:
        Whether it is in force. It is left out, with the reason, on a system without it, on an ABI below 2 (there a
        rename between directories fails with EXDEV), when another thread already runs (it would stay
        unrestricted), and when a root is missing (it could not be opened later).
    """
    version = abi()
    reason = _why_not(version, roots)
    if reason:
        return LandlockStatus(False, version, reason)
    handled = _ALL_OF_ABI_1 | _REFER
    if version >= 3:
        handled |= _TRUNCATE
    if version >= 5:
        handled |= _IOCTL_DEVICE
    try:
        ruleset = _create(handled)
        try:
            for path, may_write in roots:
                _allow(ruleset, path, handled if may_write else _READ, required=True)
            for path in writable:
                _allow(ruleset, path, handled)
            for path in (*readable, *needed_by_python()):
                _allow(ruleset, path, _READ)
            _allow(ruleset, os.devnull, _READ_FILE | _WRITE_FILE)
            _enter(ruleset)
        finally:
            os.close(ruleset)
    except OSError as error:
        return LandlockStatus(False, version, f"the kernel refused it ({os.strerror(error.errno or 0).lower()})")
    return LandlockStatus(True, version)


def _why_not(version: int, roots: Sequence[tuple[str, bool]]) -> str:
    if sys.platform != "linux":
        return "only Linux has it"
    if version == 0:
        return "this kernel has no Landlock, or it is switched off"
    if version < _LEAST_ABI:
        return f"this kernel's Landlock is too old (ABI {version}, {_LEAST_ABI} is needed)"
    if threading.current_thread() is not threading.main_thread() or threading.active_count() > 1:
        return "another thread is already running"
    missing = [path for path, _ in roots if not os.path.isdir(path)]
    if missing:
        return f"{len(missing)} of the allowed directories is missing and could not be opened later"
    return ""


_SYSTEM_FILES = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types", "/dev/urandom", "/proc/self"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/tls", "/usr/share/ca-certificates"),
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"),
)


def needed_by_python() -> list[str]:
    """The real paths that importing and running Python code read.

    The import path with the directories that its links lead to (uv can link packages into its cache), the standard
    library and the interpreter, system libraries, time zones, the certificate bundle, and `/proc/self`. An import
    path as wide as the home or the current directory (`python -m` puts that first) is not opened whole: only
    the packages that were already imported from it.
    """
    import ssl

    verify = ssl.get_default_verify_paths()
    paths = {*_SYSTEM_FILES, verify.cafile, verify.capath, os.path.dirname(os.__file__)}
    paths |= {sys.prefix, sys.base_prefix} - {"/usr", "/"}
    for directory in sys.path:
        if directory and os.path.isabs(directory):
            paths |= _loaded_from(directory) if _is_wide(directory) else {directory, *_links_of(directory)}
    return sorted({os.path.realpath(path) for path in paths if path})


def _is_wide(directory: str) -> bool:
    real = os.path.realpath(directory)
    home = os.path.realpath(os.path.expanduser("~"))
    return real == os.path.realpath(".") or f"{home}/".startswith(real if real == "/" else f"{real}/")


def _loaded_from(directory: str) -> set[str]:
    files = (getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if "." not in name)
    packages = {os.path.dirname(file) if os.path.basename(file) == "__init__.py" else file for file in files if file}
    return {package for package in packages if os.path.dirname(package) == directory}


def _links_of(directory: str) -> set[str]:
    """Where the links directly inside an import directory lead, unless that would open the directory's parents."""
    try:
        with os.scandir(directory) as entries:
            targets = {os.path.realpath(entry.path) for entry in entries if entry.is_symlink()}
    except OSError:
        return set()
    return {target for target in targets if not _is_wide(target)}


def _libc() -> Any:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


_LIBC: Final[Any] = _libc()


def _create(handled: int) -> int:
    attributes = _RulesetAttributes(handled)
    return _check(_LIBC.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(8), ctypes.c_uint32(0)))


def _allow(ruleset: int, path: str, access: int, *, required: bool = False) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        if required:
            raise
        return
    try:
        if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
            access &= _FILE_RIGHTS
        rule = _PathBeneath(access, descriptor)
        arguments = (ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
        _check(_LIBC.syscall(_ADD_RULE, *arguments))
    finally:
        os.close(descriptor)


def _enter(ruleset: int) -> None:
    zero = ctypes.c_ulong(0)
    _check(_LIBC.prctl(ctypes.c_int(_PR_SET_NO_NEW_PRIVS), ctypes.c_ulong(1), zero, zero, zero))
    _check(_LIBC.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)
