"""Writing an audit log: one line an event, chained, by several threads and processes at once."""

import os
import threading
import time
from collections.abc import Callable
from typing import Final

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.security.audit.chain import Head, Record, fields_of, read_line, write_line
from mcp_curated_shared.security.audit.files import KEEP, LIMIT, locked, log_path, older_files, older_path
from mcp_curated_shared.security.audit.keys import AuditKey, make_key
from mcp_curated_shared.security.state_folder import StateFolderError, make_state_folder

_TAIL_BYTES: Final = 256 * 1024
_FIRST_BYTES: Final = 4096

BEGIN: Final = "begin"
"""The event that opens every file: its number, and which key it is written with."""


class AuditError(UnavailableError):
    """An event cannot be recorded."""

    kind = "audit"


class AuditLog:
    """The audit log of one state folder; thread-safe, and shared with other processes.

    Nothing is touched before the first event.

    Args:
        folder: The state folder.
        key: The operator's; by default the one that lies in the folder, made if there is none.
        limit: Bytes after which a file is full.
        keep: Full files that are kept.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        folder: str,
        *,
        key: AuditKey | None = None,
        limit: int = LIMIT,
        keep: int = KEEP,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = folder
        self._path = log_path(folder)
        self._key = key
        self._limit = limit
        self._keep = keep
        self._clock = clock
        self._lock = threading.Lock()
        self._descriptor = -1
        self._identity = (-1, -1)
        self._number = 0
        self._written_with = ""
        self._end = -1
        self._head = Head()
        self._second = -1
        self._second_text = ""

    @property
    def key(self) -> AuditKey:
        """The key, made now if there is none.

        Raises:
            AuditError: It can be neither read nor made.
        """
        if self._key is None:
            try:
                self._key = make_key(make_state_folder(self.folder))
            except (OSError, StateFolderError) as error:
                raise self._failed(error) from error
        return self._key

    def append(self, *records: Record, sync: bool = False) -> Head:
        """Write events, in their order.

        Args:
            records: What happened; `seq`, `time` (of writing, unless it is given) and the MACs are added.
            sync: Return only when they are on the disk.

        Returns:
            The head of the chain, the last event's.

        Raises:
            AuditError: They were not written, none of them; or, with `sync`, it is not certain that they last.
        """
        key = self.key
        with self._lock:
            try:
                return self._append(records, key, sync)
            except (OSError, StateFolderError) as error:
                self._close()
                raise self._failed(error) from error

    def _append(self, records: tuple[Record, ...], key: AuditKey, sync: bool) -> Head:
        while True:
            self._open()
            with locked(self._descriptor):
                if self._is_current():
                    self._catch_up()
                    if self._is_fit(key):
                        return self._write(records, key, sync)
                    self._put_away()
            self._close()

    def _is_current(self) -> bool:
        """Whether the path still names the file that is open: another process may have put it away."""
        try:
            state = os.stat(self._path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return (state.st_dev, state.st_ino) == self._identity

    def _is_fit(self, key: AuditKey) -> bool:
        """Whether the open file may take a record: it has room, and was begun with the same key."""
        return self._end == 0 or (self._end < self._limit and self._written_with == key.id)

    def _write(self, records: tuple[Record, ...], key: AuditKey, sync: bool) -> Head:
        lines: list[bytes] = []
        head = self._head
        if self._end == 0:
            records = ({"event": BEGIN, "file": self._number, "key": key.id}, *records)
        for record in records:
            line, head = write_line({"time": self.time(), **record}, head, key)
            lines.append(line)
        data = b"".join(lines)
        self._put(data)
        self._head = head
        self._end += len(data)
        self._written_with = key.id
        if sync:
            os.fsync(self._descriptor)
        return head

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            os.ftruncate(self._descriptor, self._end)  # a full disk: no half line stays
            raise

    # The file

    def _open(self) -> None:
        if self._descriptor >= 0:
            return
        make_state_folder(self.folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, name, 0)
        self._descriptor = os.open(self._path, flags, 0o600)
        state = os.fstat(self._descriptor)
        self._identity = (state.st_dev, state.st_ino)
        self._end = -1
        self._written_with = ""

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def close(self) -> Head:
        """Close the file; the next event opens it again.

        Returns:
            The head of the chain as this process knows it.
        """
        with self._lock:
            self._close()
            return self._head

    def _catch_up(self) -> None:
        """Learn where the chain ends, if that is not where this process left it."""
        size = os.fstat(self._descriptor).st_size
        if size == self._end:
            return
        if size == 0:
            self._number, self._head = self._after_older()
        else:
            first = _line_at(self._descriptor, 0)
            facts = fields_of(first)
            number, written_with = facts.get("file"), facts.get("key")
            self._number = number if isinstance(number, int) else 1
            self._written_with = written_with if isinstance(written_with, str) else ""
            head, whole = last_head(self._descriptor, size)
            self._head = head
            if not whole:  # a crash in the middle of a line; the next one must not become part of it
                os.write(self._descriptor, b"\n")
                size += 1
        self._end = size

    def _after_older(self) -> tuple[int, Head]:
        older = older_files(self.folder)
        if not older:
            return 1, Head()
        newest = older[-1]
        descriptor = os.open(newest.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            head, _ = last_head(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        return (newest.number or 0) + 1, head

    def _put_away(self) -> None:
        """Rename the file that is full, and remove the oldest ones."""
        older = older_files(self.folder)
        # Never over an older one, whatever the file says of itself.
        number = max(self._number, (older[-1].number or 0) + 1 if older else 1)
        os.rename(self._path, older_path(self.folder, number))
        older = older_files(self.folder)
        for file in older[: max(0, len(older) - self._keep)]:
            os.unlink(file.path)

    def time(self) -> str:
        """Now, as a record says it: RFC 3339, UTC, milliseconds."""
        now = self._clock()
        second = int(now)
        if second != self._second:
            self._second = second
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._second_text}.{int((now - second) * 1000):03d}Z"

    def _failed(self, error: Exception) -> AuditError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return AuditError(
            f"The audit log in {self.folder} cannot be written: {reason}.",
            "Whoever runs the server must look at that folder and at the free space of its disk.",
        )


def _line_at(descriptor: int, offset: int) -> bytes:
    return _read_at(descriptor, _FIRST_BYTES, offset).split(b"\n", 1)[0]


def _read_at(descriptor: int, size: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def last_head(descriptor: int, size: int) -> tuple[Head, bool]:
    """The head that the last readable line of a file gives, and whether the file ends with a whole line."""
    start = max(0, size - _TAIL_BYTES)
    lines = _read_at(descriptor, size - start, start).split(b"\n")
    for line in reversed(lines):
        read = read_line(line)
        if read is not None:
            return read.head, lines[-1] == b""
    return Head(), lines[-1] == b""
