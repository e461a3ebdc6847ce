"""The files of an audit log: the one that is written, and the older ones that it was rotated to."""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

LOG_NAME: Final = "audit.jsonl"
KEEP: Final = 10
"""Older files that are kept."""
LIMIT: Final = 10_000_000
"""Bytes of a file."""

_OLDER: Final = re.compile(r"audit-([0-9]{6,})\.jsonl", re.ASCII)


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of a log.

    Attributes:
        path: Where it is.
        number: Of an older file; None for the one that is written.
    """

    path: str
    number: int | None


def older_files(folder: str) -> list[LogFile]:
    """The older files, oldest first."""
    found = [(match, name) for name in os.listdir(folder) if (match := _OLDER.fullmatch(name))]
    return sorted(
        (LogFile(os.path.join(folder, name), int(match[1])) for match, name in found), key=lambda file: file.number or 0
    )


def older_path(folder: str, number: int) -> str:
    """What the file of this number is called once it is full."""
    return os.path.join(folder, f"audit-{number:06d}.jsonl")


def log_path(folder: str) -> str:
    """The file that is written."""
    return os.path.join(folder, LOG_NAME)


if os.name == "nt":
    import msvcrt

    _FAR: Final = 0x7FFF_0000  # Windows locks are mandatory: lock a byte that nobody reads

    @contextmanager
    def locked(descriptor: int) -> Generator[None]:
        """Be the only process at this file."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    @contextmanager
    def locked(descriptor: int) -> Generator[None]:
        """Be the only process at this file."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
