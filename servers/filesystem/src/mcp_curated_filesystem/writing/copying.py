"""Copying a file's content, and whole directories, over held descriptors; nothing is ever read through a link."""

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field

from mcp_curated_filesystem.text.blocks import read_up_to
from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.attributes import give_attributes, read_attributes
from mcp_curated_filesystem.writing.locking import locked
from mcp_curated_filesystem.writing.snapshots import READ_FLAGS
from mcp_curated_shared.errors import CuratedError, TooLargeError
from mcp_curated_shared.security.confinement import Confinement, Location, is_git_name
from mcp_curated_shared.work import Work

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

DEEPEST = 200
"""Directories nested deeper than this are not copied: each level holds two descriptors."""

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 8 << 20
_STAT_BLOCK = 512  # what st_blocks counts: inode(7)
_FICLONE = 0x40049409  # ioctl_ficlone(2): share the blocks, where the file system can
_TRY_OTHERWISE = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF, errno.ENOTTY}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry that was copied, as its source was then.

    Attributes:
        relative: Its path below the copied directory; "" for that itself, or for a single file.
        state: `lstat` of the source.
    """

    relative: str
    state: os.stat_result


@dataclass(slots=True)
class Copy:
    """A copy in progress, and what it holds.

    Attributes:
        confinement: Tells which entries are closed, where they are or where they would be; they are left out.
        work: Cancels it.
        destination: Where it will be.
        whole: For a move to another device: everything or nothing, links of every kind included.
        files: How many files were copied.
        directories: How many directories.
        bytes: How much content.
        left_out: How many entries were not copied, by what they are.
        entries: Everything that was copied, parents first.
    """

    confinement: Confinement
    work: Work
    destination: Location
    whole: bool = False
    files: int = 0
    directories: int = 0
    bytes: int = 0
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    entries: list[Entry] = field(default_factory=list[Entry])

    def file(self, source: int, target: int, relative: str = "") -> None:
        """Copy one open file into another that is new.

        Raises:
            CuratedError: The source changed while it was being copied.
            OSError: It cannot be read or written.
        """
        before = os.fstat(source)
        copy_content(source, target, self.work)
        self._same_after(source, before, relative)
        if self.whole:
            self._verify(source, target)
        self._finish(source, target, before)
        os.fsync(target)
        self.files += 1
        self.bytes += before.st_size
        self.work.done += 1
        self.entries.append(Entry(relative, before))

    def directory(self, source: int, target: int, location: Location) -> None:
        """Copy everything in one open directory into another that is new.

        Raises:
            CuratedError: Nested too deep; cancelled; (`whole`) something in it cannot be copied.
            OSError: As `file`.
        """
        self._tree(source, target, location, "", 0)

    def _tree(self, source: int, target: int, location: Location, relative: str, depth: int) -> None:
        if depth > DEEPEST:
            raise TooLargeError(f"{location.shown} is nested more than {DEEPEST} directories deep; nothing was copied.")
        names = self._names(source, location)
        before = os.fstat(source)
        self.directories += 1
        self.entries.append(Entry(relative, before))
        for name in names:
            self.work.check()
            self._child(source, target, location.child(name), f"{relative}/{name}".lstrip("/"), depth)
        self._finish(source, target, before)

    def _names(self, source: int, location: Location) -> list[str]:
        """What is in a directory. A move takes it all, so what a killed run left unfinished is removed first."""
        names = _listed(source)
        if not self.whole or not any(map(leftovers.is_temporary, names)):
            return names
        with locked(source, self.work):
            leftovers.sweep(source)
        names = _listed(source)
        if any(map(leftovers.is_temporary, names)):
            raise CuratedError(
                f"Something in {location.shown} is being written at this moment; nothing was moved.",
                "Try again.",
                kind="conflict",
            )
        return names

    def _child(self, source: int, target: int, location: Location, relative: str, depth: int) -> None:
        name = location.name
        if self._closed(location, relative):
            return
        state = os.stat(name, dir_fd=source, follow_symlinks=False)
        if stat.S_ISLNK(state.st_mode):
            self._link(source, target, name, relative, state)
        elif stat.S_ISDIR(state.st_mode):
            self._subdirectory(source, target, location, relative, depth)
        elif stat.S_ISREG(state.st_mode):
            descriptor = os.open(name, READ_FLAGS, dir_fd=source)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise _changing(location)
                copy = new_file(target, name)
                try:
                    self.file(descriptor, copy, relative)
                finally:
                    os.close(copy)
            finally:
                os.close(descriptor)
        else:
            self._leave_out("special file", location)

    def _closed(self, location: Location, relative: str) -> bool:
        """Whether an entry is not copied; it is counted then."""
        if leftovers.is_ours(location.name) and not self.whole:
            self._leave_out("entry that this server keeps for itself", location)
        elif self.confinement.denies and self._denied(location, relative):
            self._leave_out("entry closed by the operator", location)
        elif is_git_name(location.name) and not self.whole:
            self._leave_out(".git", location)
        else:
            return False
        return True

    def _denied(self, location: Location, relative: str) -> bool:
        there = self.destination.descendant(relative)
        return any(self.confinement.denied(end.relative, end.root) for end in (location, there))

    def _subdirectory(self, source: int, target: int, location: Location, relative: str, depth: int) -> None:
        inner = os.open(location.name, _DIRECTORY_FLAGS, dir_fd=source)
        try:
            copy = new_directory(target, location.name)
            try:
                self._tree(inner, copy, location, relative, depth + 1)
            finally:
                os.close(copy)
        finally:
            os.close(inner)

    def _link(self, source: int, target: int, name: str, relative: str, state: os.stat_result) -> None:
        """Keep a link that leads to something in the same copied directory; another would lead somewhere else now."""
        text = os.readlink(name, dir_fd=source)
        if not self.whole and not _stays_within(text, relative):
            self.left_out["link"] = self.left_out.get("link", 0) + 1
            return
        os.symlink(text, name, dir_fd=target)
        self.entries.append(Entry(relative, state))

    def _leave_out(self, what: str, location: Location) -> None:
        if self.whole:
            raise CuratedError(
                f"{location.shown} cannot be moved to another file system ({what}); nothing was moved.",
                kind="not_allowed",
            )
        self.left_out[what] = self.left_out.get(what, 0) + 1

    def _same_after(self, source: int, before: os.stat_result, relative: str) -> None:
        after = os.fstat(source)
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise CuratedError(
                f"{relative or 'The source'} was changed while it was being copied; nothing was copied.",
                "Try again.",
                kind="conflict",
            )

    def _verify(self, source: int, target: int) -> None:
        """The source of a move is removed in the end: compare every byte before."""
        at = 0
        while block := read_up_to(source, 1 << 20, at):
            self.work.check()
            if read_up_to(target, len(block), at) != block:
                raise CuratedError("The copy is not like its source; nothing was moved.", "Try again.", kind="conflict")
            at += len(block)

    def _finish(self, source: int, target: int, before: os.stat_result) -> None:
        """Give a copy the mode, times and extended attributes; of a move also the owner, if that may be given."""
        if self.whole:
            with suppress(PermissionError):
                os.fchown(target, before.st_uid, before.st_gid)
        give_attributes(target, read_attributes(source))
        keep = stat.S_IMODE(before.st_mode)
        same_owner = os.fstat(target).st_uid == before.st_uid
        os.fchmod(target, keep if self.whole and same_owner else keep & ~(stat.S_ISUID | stat.S_ISGID))
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def _listed(directory: int) -> list[str]:
    with os.scandir(directory) as listing:
        return sorted(entry.name for entry in listing)


def new_file(directory: int, name: str) -> int:
    """Make an empty file that only we can read, and open it."""
    return os.open(name, _NEW_FILE_FLAGS, 0o600, dir_fd=directory)


def new_directory(directory: int, name: str) -> int:
    """Make an empty directory that only we can read, and open it."""
    os.mkdir(name, 0o700, dir_fd=directory)
    return os.open(name, _DIRECTORY_FLAGS, dir_fd=directory)


def _changing(location: Location) -> CuratedError:
    return CuratedError(f"{location.shown} was changed while it was being copied.", "Try again.", kind="conflict")


def _stays_within(text: str, relative: str) -> bool:
    """Whether a link at `relative` in a directory leads to something in that directory, wherever it stands.

    Only ".." at the beginning can be judged: after a name, which may be a link, it leads anywhere.
    """
    if text.startswith("/"):
        return False
    parts = [part for part in text.split("/") if part not in ("", ".")]
    climbs = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    return ".." not in parts[climbs:] and climbs <= relative.count("/")


def copy_content(source: int, target: int, work: Work) -> None:
    """Copy all bytes between two open files, in the kernel where it can, looking at `work` every 8 MB.

    The holes of a sparse file stay holes: a terabyte of nothing must not fill the disk.
    """
    if _cloned(source, target):
        return
    status = os.fstat(source)
    if status.st_blocks * _STAT_BLOCK < status.st_size:
        _copy_sparse(source, target, work)
        return
    at = 0
    ranged = hasattr(os, "copy_file_range")
    while True:
        work.check()
        if ranged:
            try:
                count = os.copy_file_range(source, target, _BLOCK, at, at)
            except OSError as error:
                if error.errno not in _TRY_OTHERWISE:
                    raise
                ranged = False
                continue
            if count == 0 and at == 0:  # some kernels copy nothing from /proc-like files
                ranged = False
                continue
        else:
            count = _copied_block(source, target, at)
        if count == 0:
            return
        at += count


def _copied_block(source: int, target: int, at: int) -> int:
    block = read_up_to(source, 1 << 20, at)
    _write_block(target, block, at)
    return len(block)


def _copy_sparse(source: int, target: int, work: Work) -> None:
    """Write only the blocks that hold something, as told by their content: file systems have been wrong about holes."""
    at = 0
    while block := read_up_to(source, 1 << 20, at):
        work.check()
        if block.count(0) < len(block):
            _write_block(target, block, at)
        at += len(block)
    os.ftruncate(target, at)


def _write_block(target: int, block: bytes, at: int) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[os.pwrite(target, rest, at + len(block) - len(rest)) :]


def _cloned(source: int, target: int) -> bool:
    if fcntl is None or not hasattr(os, "copy_file_range"):
        return False
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True
