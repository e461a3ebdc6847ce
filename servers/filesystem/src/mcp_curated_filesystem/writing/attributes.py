"""Owner, mode and extended attributes: what a file keeps when its content is replaced by another file."""

import errno
import os
import re
import stat
import struct
import sys
from functools import lru_cache

from mcp_curated_shared.security.confinement import Target

_ACL = "system.posix_acl_access"
_DEFAULT_ACL = "system.posix_acl_default"
_OWNER, _GROUP, _MASK, _OTHER = 0x01, 0x04, 0x10, 0x20
# A write takes a file's capabilities away (capabilities(7)); a replacement must not give them to new content.
_NEVER_COPIED = {"security.capability", "security.ima", "security.evm"}


class OwnerNotKeptError(Exception):
    """Only a write in place keeps this file's owner; its text says so."""


def copy_attributes(target: Target, before: os.stat_result, descriptor: int) -> None:
    """Give a new file (`descriptor`) the owner, mode and extended attributes (ACLs are such) of the file at `target`.

    Raises:
        OwnerNotKeptError: This process may not give the file to its owner or group.
        OSError: A mode or an attribute cannot be set.
    """
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            raise OwnerNotKeptError("a replacement could not have kept the file's owner and group") from None
    attributes = _attributes_of(target)
    if sys.platform == "linux" and _ACL not in attributes:
        _drop_inherited_acl(descriptor)
    os.fchmod(descriptor, kept_mode(before.st_mode))
    _set_attributes(descriptor, attributes)


def kept_mode(mode: int) -> int:
    """The mode for new content: as the kernel does on a write, only root keeps set-user-ID and set-group-ID."""
    kept = stat.S_IMODE(mode)
    return kept if os.geteuid() == 0 else kept & ~(stat.S_ISUID | stat.S_ISGID)


def _attributes_of(target: Target) -> dict[str, bytes]:
    if sys.platform != "linux":
        return {}
    try:
        descriptor = os.open(
            target.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=target.directory
        )
    except OSError:
        return {}
    try:
        return read_attributes(descriptor)
    finally:
        os.close(descriptor)


def read_attributes(descriptor: int) -> dict[str, bytes]:
    """The extended attributes of an open file that a copy may have; none where the file system has none."""
    if sys.platform != "linux":
        return {}
    found: dict[str, bytes] = {}
    try:
        for name in os.listxattr(descriptor):
            if name not in _NEVER_COPIED:
                found[name] = os.getxattr(descriptor, name)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENODATA, errno.EPERM, errno.EACCES):
            raise
    return found


def give_attributes(descriptor: int, attributes: dict[str, bytes]) -> bool:
    """Set extended attributes as far as this file system and user can.

    Returns:
        Whether all of them were set.
    """
    try:
        _set_attributes(descriptor, attributes)
    except OSError:
        return False
    return True


def _set_attributes(descriptor: int, attributes: dict[str, bytes]) -> None:
    if sys.platform != "linux":
        return
    for name, value in attributes.items():
        try:
            os.setxattr(descriptor, name, value)
        except OSError as error:
            # security.* and trusted.* are the system's to give: a label that we may not set is set by its policy.
            if name.startswith(("user.", "system.")) or error.errno not in (errno.EPERM, errno.EACCES, errno.ENOTSUP):
                raise


def _drop_inherited_acl(descriptor: int) -> None:
    """A file born in a directory with a default ACL inherits entries that the old file did not have."""
    if sys.platform != "linux":
        return
    try:
        os.removexattr(descriptor, _ACL)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP, errno.EINVAL):
            raise


def give_usual_rights(directory: int, descriptor: int) -> None:
    """Give a new file of ours, born secret, the rights that every program's new files get in this directory.

    That is its default ACL, or 0666 less the umask where it has none (acl(5), "Object creation and default ACLs").

    Raises:
        OSError: They cannot be set.
    """
    default = _default_acl(directory)
    if default is None:
        os.fchmod(descriptor, 0o666 & ~_umask())
    elif sys.platform == "linux":
        os.setxattr(descriptor, _ACL, _for_new_file(default))


def _default_acl(directory: int) -> bytes | None:
    if sys.platform != "linux":
        return None
    try:
        # An O_PATH descriptor cannot be asked itself (open(2)).
        return os.getxattr(f"/proc/self/fd/{directory}", _DEFAULT_ACL) or None
    except OSError:
        return None


def _for_new_file(default: bytes) -> bytes:
    """Turn a default ACL into that of a file made with mode 0666: nothing may be executed by owner, mask and others.

    The form is a 4-byte version, then (tag, permissions, id) of 2, 2 and 4 bytes, little-endian.
    """
    entries = list(struct.iter_unpack("<HHI", default[4:]))
    tags = {tag for tag, _, _ in entries}
    limited = {_OWNER, _OTHER, _MASK if _MASK in tags else _GROUP}
    packed = [struct.pack("<HHI", tag, rights & 6 if tag in limited else rights, who) for tag, rights, who in entries]
    return default[:4] + b"".join(packed)


@lru_cache(maxsize=1)
def _umask() -> int:
    """Read the umask without changing it for other threads, where the system tells it."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            found = re.search(r"^Umask:\s*([0-7]+)", status.read(), re.MULTILINE)
        if found:
            return int(found[1], 8)
    except OSError:
        pass
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
