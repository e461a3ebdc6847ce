"""What is looked at before a directory leaves its place, and how a moved source is removed."""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mcp_curated_filesystem.writing.copying import DEEPEST, Entry
from mcp_curated_shared.errors import NotAllowedError, TooLargeError
from mcp_curated_shared.security.confinement import Confinement, Location, Target, open_child
from mcp_curated_shared.work import Work

_NOT_EMPTY = (errno.ENOTEMPTY, errno.EEXIST)


@dataclass(frozen=True, slots=True)
class Inside:
    """One entry below a directory.

    Attributes:
        relative: Its path below that directory.
        state: `lstat` of it.
    """

    relative: str
    state: os.stat_result


def walk(directory: int, name: str, work: Work) -> Generator[Inside]:
    """Give everything below a directory, never through a link; what may not be read is passed over.

    Raises:
        TooLargeError: Nested too deep.
        CancelledError, TimedOutError: From `work`.
    """
    try:
        descriptor = open_child(directory, name, kind="directory")
    except OSError:
        return
    yield from _walk(descriptor, "", work, 0)


def _walk(descriptor: int, relative: str, work: Work, depth: int) -> Generator[Inside]:
    """Closes `descriptor`."""
    try:
        if depth > DEEPEST:
            raise TooLargeError(f"The directory is nested more than {DEEPEST} deep.")
        with os.scandir(descriptor) as listing:
            names = sorted(entry.name for entry in listing)
        for name in names:
            work.check()
            try:
                state = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            path = f"{relative}{name}"
            yield Inside(path, state)
            if stat.S_ISDIR(state.st_mode):
                with suppress(OSError):
                    yield from _walk(open_child(descriptor, name, kind="directory"), f"{path}/", work, depth + 1)
    finally:
        os.close(descriptor)


def refuse_closed_inside(confinement: Confinement, origin: Target, destination: Location, work: Work) -> None:
    """Refuse to move a directory that holds a closed entry: at another path the rule might not close it.

    Raises:
        NotAllowedError: It does; the entry is not named.
    """
    if not confinement.denies:
        return
    for inside in walk(origin.directory, origin.name, work):
        for end in (origin.location, destination):
            if confinement.denied(f"{end.relative}/{inside.relative}".lstrip("/"), end.root):
                raise NotAllowedError(
                    f"{origin.location.shown} holds what the operator's deny rules close; it stays where it is.",
                    "Move what you need out of it one by one.",
                )


@dataclass(slots=True)
class Remains:
    """What of a moved source is still there, and why.

    Attributes:
        changed: How many entries were not what was copied any more, or are new.
        stuck: How many entries this server could not remove.
        why: The system's reason for the first of those.
    """

    changed: int = 0
    stuck: int = 0
    why: str = ""

    def __bool__(self) -> bool:
        return bool(self.changed or self.stuck)

    def describe(self) -> str:
        """The rest of a sentence that begins with the copy."""
        reasons: list[str] = []
        if self.changed:
            reasons.append(f"{self.changed:,} {_entries(self.changed)} changed or new since")
        if self.stuck:
            reasons.append(f"{self.stuck:,} {_entries(self.stuck)} that could not be removed ({self.why})")
        return f"of the source this was kept: {', '.join(reasons)}"


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"


def remove_moved(origin: Target, entries: Sequence[Entry]) -> Remains:
    """Remove exactly what was copied, children first, if it is still what it was.

    A directory that stays only because something in it stays is not counted.

    Args:
        origin: What was moved.
        entries: What was copied, parents first.
    """
    remains = Remains()
    holds: set[str] = set()  # the directories in which something stays
    for entry in reversed(entries):
        path = f"{origin.name}/{entry.relative}".rstrip("/")
        try:
            if _remove_if_same(origin.directory, path, entry.state):
                continue
            remains.changed += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno not in _NOT_EMPTY:
                remains.stuck += 1
                remains.why = remains.why or os.strerror(error.errno or errno.EIO).lower()
            elif path not in holds:
                remains.changed += 1
        holds.add(os.path.dirname(path))
    return remains


def _remove_if_same(directory: int, path: str, expected: os.stat_result) -> bool:
    """Whether it was what was expected, and so was removed."""
    *parents, name = path.split("/")
    held = os.dup(directory)
    try:
        for parent in parents:
            inner = open_child(held, parent, kind="directory")
            os.close(held)
            held = inner
        now = os.stat(name, dir_fd=held, follow_symlinks=False)
        if (now.st_dev, now.st_ino) != (expected.st_dev, expected.st_ino):
            return False
        if stat.S_ISDIR(now.st_mode):
            os.rmdir(name, dir_fd=held)
            return True
        if (now.st_size, now.st_mtime_ns) != (expected.st_size, expected.st_mtime_ns):
            return False
        os.unlink(name, dir_fd=held)
        return True
    finally:
        os.close(held)
