"""Writing lines to standard error without ever waiting for whoever should read them.

A host that starts a server and never reads its standard error fills the pipe after 64 KiB; the next write would then
block the server for good. Such lines are dropped and counted instead.
"""

import os
import select

ATOMIC = 4096
"""POSIX: a pipe that polls writable takes PIPE_BUF (here at least 4096) bytes without blocking."""

PATIENCE = 0.05
"""Seconds to wait for a slow reader before the first line is dropped; after that none until it reads again."""


class StandardError:
    """File descriptor 2, line by line, for one caller at a time.

    Args:
        descriptor: Where to write.

    Attributes:
        lost: Lines dropped since the last one that came through.
    """

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        self._torn = False
        self.lost = 0

    def write_line(self, line: str) -> None:
        """Write `line` and a line end, or drop it if nobody reads; never raises for a reader that is gone."""
        data = (line + "\n").encode("utf-8", "backslashreplace")
        try:
            came_through = self._write(b"\n" + data if self._torn else data)
        except OSError:
            came_through = False
        self.lost = 0 if came_through else self.lost + 1

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            if not self._writable(0.0 if self.lost else PATIENCE):
                return False
            view = view[os.write(self._descriptor, view[:ATOMIC]) :]
            self._torn = bool(view)
        return True

    def _writable(self, seconds: float) -> bool:
        if not hasattr(select, "poll"):  # Windows: pipes cannot be polled
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        return bool(poll.poll(seconds * 1000))
