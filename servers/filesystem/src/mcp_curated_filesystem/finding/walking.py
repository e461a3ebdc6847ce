"""Walking a tree through descriptors: no name is resolved twice, no link is followed, no depth is too deep.

Each directory is opened from its parent's descriptor by one name, without following a link (open(2), `O_NOFOLLOW`), so
that a tree that is changed meanwhile leads nowhere else. A bounded number of directories is held open: one that was
closed for that is opened again as the `..` of its child, and used only if it is the same directory (device and inode)
that was walked before.
"""

import os
from collections import deque
from collections.abc import Generator
from typing import NamedTuple

from mcp_curated_filesystem.finding.ignoring import Rules
from mcp_curated_filesystem.finding.sieving import Entries, Sieve, read_entries
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_shared.security.confinement import OpenDirectory, in_kernel_filesystem, open_child

HELD_AT_MOST = 32
"""Directories that one walk holds open at a time."""

DEEP = 128
"""Levels of one turn: what lies deeper waits until everything nearer was walked, so that no chain starves the rest."""

_SHOWN_OF_A_PATH = 200


_NO_ENTRIES = Entries([], [], [])


class Folder:
    """One directory of a walk: valid until the next one is asked for.

    Attributes:
        descriptor: Open on it.
        prefix: Its path from the searched folder, with a `/` at its end; empty for the searched folder.
        entries: What the sieve left of it. The walk goes into `entries.directories`.
        identity: Its device and inode.
        pending: Its directories that are still to be walked, the next one last.
        rules: The ignore rules that hold below it.
    """

    __slots__ = ("descriptor", "entries", "identity", "pending", "prefix", "rules")

    def __init__(self, descriptor: int, prefix: str, identity: tuple[int, int], rules: Rules) -> None:
        self.descriptor = descriptor
        self.prefix = prefix
        self.identity = identity
        self.rules = rules
        self.entries = _NO_ENTRIES
        self.pending: list[str] = []


class _Deferred(NamedTuple):
    """A directory whose turn comes later: its path from the searched folder, its parent's device and rules."""

    path: str
    device: int
    rules: Rules


class Walk:
    """One walk, depth first, directories in the order of their names; `DEEP` levels of it at a time.

    Args:
        start: The searched folder; stays open and is the caller's.
        sieve: Says what is looked at.
        clock: When it is over the walk ends early.

    Attributes:
        entries: How many entries were looked at.
        complete: Whether everything was walked.
    """

    __slots__ = ("_clock", "_deferred", "_sieve", "_stack", "_start", "complete", "entries", "folders")

    def __init__(self, start: OpenDirectory, sieve: Sieve, clock: Clock) -> None:
        self._start = start
        self._sieve = sieve
        self._clock = clock
        self._stack: list[Folder] = []
        self._deferred: deque[_Deferred] = deque()
        self.entries = 0
        self.folders = 0
        self.complete = False

    def folders_in_turn(self) -> Generator[Folder]:
        """Give the searched folder, then each folder below it; close the generator to stop early.

        Raises:
            CancelledError: The caller has gone.
        """
        identity = (self._start.stat.st_dev, self._start.stat.st_ino)
        try:
            yield self._list(Folder(os.dup(self._start.descriptor), "", identity, self._sieve.rules))
            while (self._stack or self._deferred) and not self._clock.over():
                if (child := self._next()) is not None:
                    yield child
            self.complete = not self._stack and not self._deferred
        finally:
            for folder in self._stack:
                _close(folder)

    def _next(self) -> Folder | None:
        if not self._stack:
            return self._resume(self._deferred.popleft())
        above = self._stack[-1]
        if not above.pending:
            self._leave()
            return None
        return self._enter(above, above.pending.pop())

    def _enter(self, above: Folder, name: str) -> Folder | None:
        path = above.prefix + name
        if len(self._stack) >= DEEP:
            self._deferred.append(_Deferred(path, above.identity[0], above.rules))
            return None
        try:
            descriptor = open_child(above.descriptor, name, kind="directory")
        except OSError as error:
            self._sieve.tally.fault(path, error)
            return None
        return self._admit(descriptor, path, above.identity[0], above.rules)

    def _resume(self, deferred: _Deferred) -> Folder | None:
        try:
            descriptor = self._down(deferred.path.split("/"))
        except OSError:
            self._sieve.tally.note(deferred.path, "moved while it was searched")
            return None
        return self._admit(descriptor, *deferred)

    def _admit(self, descriptor: int, path: str, device: int, rules: Rules) -> Folder | None:
        status = os.fstat(descriptor)
        if status.st_dev != device and in_kernel_filesystem(descriptor):
            os.close(descriptor)
            self._sieve.tally.note(path, "the kernel's own files")
            return None
        return self._list(Folder(descriptor, f"{path}/", (status.st_dev, status.st_ino), rules))

    def _list(self, folder: Folder) -> Folder:
        self._stack.append(folder)
        if len(self._stack) > HELD_AT_MOST:
            _close(self._stack[-HELD_AT_MOST - 1])
        try:
            entries = read_entries(folder.descriptor, self._clock)
        except OSError as error:
            self._sieve.tally.fault(folder.prefix.rstrip("/"), error)
            return folder
        work = self._clock.work
        self.folders += 1
        self.entries += len(entries)
        work.done = self.entries
        if not self.folders & 0xFF:
            work.message = f"{self.entries:,} entries looked at, now in {folder.prefix[:_SHOWN_OF_A_PATH]!a}"
        folder.rules = self._sieve.sift(folder.descriptor, folder.prefix, folder.rules, entries)
        folder.entries = entries
        if entries.directories:
            folder.pending = sorted(entries.directories, reverse=True)
        return folder

    def _leave(self) -> None:
        folder = self._stack.pop()
        above = self._stack[-1] if self._stack else None
        if above is not None and above.descriptor < 0:
            above.descriptor = self._again(folder, above)
            if above.descriptor < 0 and above.pending:
                self._sieve.tally.note(above.prefix.rstrip("/"), "moved while it was searched")
                above.pending = []
        _close(folder)

    def _again(self, child: Folder, above: Folder) -> int:
        """Open a folder again that was closed to save descriptors; -1 if it is not where it was."""
        if child.descriptor >= 0:
            descriptor = self._same(child.descriptor, "..", above)
            if descriptor >= 0:
                return descriptor
        return self._from_start(above)

    def _from_start(self, folder: Folder) -> int:
        try:
            held = self._down(folder.prefix.split("/")[:-1])
        except OSError:
            return -1
        return held if _is(held, folder) else -1

    def _down(self, names: list[str]) -> int:
        held = os.dup(self._start.descriptor)
        for name in names:
            try:
                deeper = open_child(held, name, kind="directory")
            finally:
                os.close(held)
            held = deeper
        return held

    def _same(self, directory: int, name: str, folder: Folder) -> int:
        try:
            descriptor = open_child(directory, name, kind="directory")
        except OSError:
            return -1
        return descriptor if _is(descriptor, folder) else -1


def _is(descriptor: int, folder: Folder) -> bool:
    """Whether a descriptor is that folder; it is closed if not."""
    status = os.fstat(descriptor)
    if (status.st_dev, status.st_ino) == folder.identity:
        return True
    os.close(descriptor)
    return False


def _close(folder: Folder) -> None:
    if folder.descriptor >= 0:
        os.close(folder.descriptor)
        folder.descriptor = -1
