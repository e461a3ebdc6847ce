"""Replacing a host's file: whole or not at all, with the old one kept beside it."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass

from mcp_curated_shared.errors import ConflictError, SettingsError, UnavailableError

LIMIT = 32 * 1024 * 1024
"""Bytes of a host's file; Claude Code keeps its history beside its servers, so some are large."""

_MARK = b"\xef\xbb\xbf"
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Written:
    """What happened to a host's file.

    Attributes:
        path: The file that was or would have been written, links followed.
        changed: False if it already said what was wanted.
        backup: Where the file as it was lies; None if there was none or nothing changed.
    """

    path: str
    changed: bool
    backup: str | None


def change_file(path: str, change: Callable[[str], str]) -> Written:
    """Read the file, change its text, keep the old one as `.bak`, `.bak.1`..., put the new one in its place.

    A link is followed to the true file; mode, byte order mark and line endings are kept; a missing file is made
    with mode 0600, since entries may hold secrets. If the host writes to it meanwhile, everything is done again.

    Args:
        path: The host's file.
        change: From the old text ("" for a missing file) to the new one; may be called again.

    Raises:
        SettingsError: It is no UTF-8 text, too big, no file; or what `change` raises.
        UnavailableError: It cannot be read or written.
        ConflictError: Somebody else wrote to it at the same time, again and again.
    """
    true = os.path.realpath(path)
    try:
        for _ in range(_TRIES):
            before, status = _read(true)
            mark, body = (_MARK, before[3:]) if before.startswith(_MARK) else (b"", before)
            after = mark + _encode(change(_decode(body, true)), true)
            if status is not None and after == before:
                return Written(true, False, None)
            written = _replace(true, before, status, after)
            if written is not None:
                return written
    except OSError as error:
        raise UnavailableError(f"{true} cannot be written: {error.strerror}.", "Check its rights.") from None
    raise ConflictError(f"{true} is being written by another program.", "Close that program and try again.")


def _read(path: str) -> tuple[bytes, os.stat_result | None]:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return b"", None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"{path} is not a file.", "Name another with --file.")
        data = file.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise SettingsError(f"{path} is larger than {LIMIT} bytes.", "Change it by hand.")
    return data, status


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8 first.") from None


def _encode(text: str, path: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        fix = "Give folders whose names are UTF-8; no host could pass this one on."
        raise SettingsError(f"The entry for {path} holds a name that is not UTF-8.", fix) from None


def _replace(path: str, before: bytes, status: os.stat_result | None, after: bytes) -> Written | None:
    """Put `after` in the place of `before`; None if the file changed since it was read."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    mode = 0o600 if status is None else stat.S_IMODE(status.st_mode)
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{secrets.token_hex(6)}.tmp")
    try:
        _create(temporary, after, mode, status)
        backup = None if status is None else _back_up(path, before, mode)
        if not _unchanged(path, status):
            return None
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    _sync_folder(folder)
    return Written(path, True, backup)


def _create(path: str, data: bytes, mode: int, owner: os.stat_result | None = None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if hasattr(os, "fchmod"):  # not on Windows, where the folder's rights hold
            if owner is not None and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, owner.st_uid, owner.st_gid)
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _back_up(path: str, data: bytes, mode: int) -> str:
    """The file as it was, under the first free name; one that already holds exactly this is taken instead."""
    number = 0
    while True:
        name = f"{path}.bak" if number == 0 else f"{path}.bak.{number}"
        try:
            _create(name, data, mode)
            return name
        except FileExistsError:
            with contextlib.suppress(OSError, SettingsError):
                if not os.path.islink(name) and _read(name)[0] == data:
                    return name
            number += 1


def _unchanged(path: str, before: os.stat_result | None) -> bool:
    try:
        now = os.stat(path)
    except FileNotFoundError:
        return before is None
    if before is None:
        return False
    return (now.st_ino, now.st_size, now.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
