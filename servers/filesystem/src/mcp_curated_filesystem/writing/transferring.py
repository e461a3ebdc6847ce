"""Moving, copying, making directories: never over anything that exists, never through a link."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.changing import foreseen
from mcp_curated_filesystem.writing.copying import Copy, new_directory, new_file
from mcp_curated_filesystem.writing.departing import refuse_closed_inside, remove_moved
from mcp_curated_filesystem.writing.locking import locked, try_flock
from mcp_curated_filesystem.writing.renaming import rename_new
from mcp_curated_filesystem.writing.snapshots import READ_FLAGS, sync_directory
from mcp_curated_shared.errors import ConflictError, NotAllowedError
from mcp_curated_shared.security.confinement import (
    Confinement,
    InvalidPathError,
    Location,
    NotADirectoryError,
    NotAFileError,
    PathNotFoundError,
    Target,
    kind_of,
)
from mcp_curated_shared.work import Work


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did.

    Attributes:
        source: Where the entry was.
        destination: Where it is.
        kind: What it is: "a file", "a directory", "a symbolic link".
        notes: What the reader must know: a copy across devices, a source that could not be removed.
    """

    source: Location
    destination: Location
    kind: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did.

    Attributes:
        source: What was copied.
        destination: The copy.
        files: How many files it has.
        directories: How many directories, itself included.
        bytes: How much content.
        left_out: How many entries were not copied, by what they are.
        notes: What else the reader must know.
    """

    source: Location
    destination: Location
    files: int
    directories: int
    bytes: int
    left_out: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeDirectory:
    """A directory that exists now.

    Attributes:
        location: Where.
        created: Whether it is new.
    """

    location: Location
    created: bool


def create_directory(confinement: Confinement, path: str, *, work: Work, base: str | None = None) -> MadeDirectory:
    """Make a directory, with its parents; one that exists is fine.

    Raises:
        NotADirectoryError: Something else has that name.
        CuratedError: It cannot be made there.
    """
    work.check()
    try:
        opened = confinement.open_target(path, base=base, parents=True, exact=True)
    except InvalidPathError:  # an allowed directory itself
        with confinement.open_directory(path, base=base) as there:
            return MadeDirectory(there.location, created=False)
    with foreseen(path), opened as target:
        if target.stat is None:
            leftovers.refuse_reserved(target.location.relative, target.location.shown)
            try:
                os.mkdir(target.name, 0o777, dir_fd=target.directory)
            except FileExistsError:
                target.stat = os.stat(target.name, dir_fd=target.directory, follow_symlinks=False)
            else:
                return MadeDirectory(target.location, created=True)
        if not stat.S_ISDIR(target.stat.st_mode):
            raise NotADirectoryError(f"{target.location.shown} is {kind_of(target.stat.st_mode)}, not a directory.")
        return MadeDirectory(target.location, created=False)


def move_file(confinement: Confinement, source: str, destination: str, *, work: Work, base: str | None = None) -> Moved:
    """Move or rename a file, a directory or a link (the link itself), never over anything that exists.

    On one device it is one step. Across devices it is copied whole, compared, put in place in one step, and then the
    source is removed; whatever fails before leaves the source as it was.

    Args:
        confinement: Where both must be.
        source: What is moved.
        destination: Its new path, name included; missing parents are made.
        work: Cancels a copy across devices.
        base: Absolute directory that relative paths start from.

    Raises:
        PathNotFoundError: There is no source.
        ConflictError: Something is at the destination.
        NotAllowedError: Into itself; or it holds what the operator closed.
        CuratedError: It cannot be moved.
    """
    with foreseen(source), confinement.open_target(source, base=base, follow=False) as origin:
        if origin.stat is None:
            raise PathNotFoundError(f"{origin.location.shown} does not exist.", "List its directory to see what does.")
        leaving = leftovers.TRASH_NAME in origin.location.relative.split("/")[:-1]
        if not leaving:  # what lies in the trash is taken back by moving it
            leftovers.refuse_reserved(origin.location.relative, origin.location.shown)
        with _destination(confinement, destination, base) as target:
            _refuse_into_itself(origin.location, target.location)
            if stat.S_ISDIR(origin.stat.st_mode):
                refuse_closed_inside(confinement, origin, target.location, work)
            notes = _move(confinement, origin, target, work)
            if leaving:
                _forget_note(origin)
            kind = kind_of(origin.stat.st_mode)
            told = (origin.location.note, *notes)
            return Moved(origin.location, target.location, kind, tuple(note for note in told if note))


@contextmanager
def _destination(confinement: Confinement, asked: str, base: str | None) -> Generator[Target]:
    with foreseen(asked), confinement.open_target(asked, base=base, follow=False, parents=True, exact=True) as target:
        leftovers.refuse_reserved(target.location.relative, target.location.shown)
        yield target


def _refuse_into_itself(source: Location, destination: Location) -> None:
    here, there = _real(source), _real(destination)
    if there == here:
        raise ConflictError(f"{source.shown} is both the source and the destination.")
    if f"{there}/".startswith(f"{here}/"):
        raise NotAllowedError(f"{source.shown} cannot be put into itself.", "Choose another destination.")


def _real(location: Location) -> str:
    """Where it really is, whichever of several nested roots holds it."""
    return os.path.join(location.root.realpath, location.relative).rstrip("/")


def _exists(target: Target) -> ConflictError:
    state = os.stat(target.name, dir_fd=target.directory, follow_symlinks=False)
    inside = " To put it into that directory, give the new path with its name." if stat.S_ISDIR(state.st_mode) else ""
    return ConflictError(
        f"{target.location.shown} exists already ({kind_of(state.st_mode)}); nothing was changed.{inside}",
        "Choose another destination.",
    )


def _move(confinement: Confinement, origin: Target, target: Target, work: Work) -> list[str]:
    try:
        rename_new((origin.directory, origin.name), (target.directory, target.name))
    except FileExistsError:
        if not _other_spelling(origin, target):
            raise _exists(target) from None
        os.rename(origin.name, target.name, src_dir_fd=origin.directory, dst_dir_fd=target.directory)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return _move_across(confinement, origin, target, work)
        if error.errno == errno.EINVAL:
            raise NotAllowedError(f"{origin.location.shown} cannot be put into itself.") from error
        raise
    for directory in (target.directory, origin.directory):
        _sync(directory)
    return []


def _other_spelling(origin: Target, target: Target) -> bool:
    """Whether "the existing entry" is the source itself under a name in other letter case (case-insensitive systems).

    Two hard links of one file are also one inode; then both names are in the directory.
    """
    now = os.stat(target.name, dir_fd=target.directory, follow_symlinks=False)
    state = os.stat(origin.name, dir_fd=origin.directory, follow_symlinks=False)
    one, two = os.fstat(origin.directory), os.fstat(target.directory)
    if (now.st_dev, now.st_ino, one.st_dev, one.st_ino) != (state.st_dev, state.st_ino, two.st_dev, two.st_ino):
        return False
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=target.directory)
    try:
        return target.name not in os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _forget_note(origin: Target) -> None:
    """Remove the note about an entry that was taken back from the trash."""
    if origin.location.relative == f"{leftovers.TRASH_NAME}/{origin.name}":
        with suppress(OSError):
            os.unlink(origin.name + leftovers.NOTE_SUFFIX, dir_fd=origin.directory)


def _sync(directory: int) -> None:
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except PermissionError:
        return
    try:
        sync_directory(descriptor)
    finally:
        os.close(descriptor)


def _move_across(confinement: Confinement, origin: Target, target: Target, work: Work) -> list[str]:
    """Copy everything, put it in place, then remove exactly what was copied, if it is still the same."""
    copy = Copy(confinement, work, target.location, whole=True)
    mode = origin.stat.st_mode if origin.stat is not None else 0
    if stat.S_ISLNK(mode):
        text = os.readlink(origin.name, dir_fd=origin.directory)
        os.symlink(text, target.name, dir_fd=target.directory)
        os.unlink(origin.name, dir_fd=origin.directory)
        return ["Made again on the other file system."]
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAFileError(f"{origin.location.shown} is {kind_of(mode)} and cannot be moved to another file system.")
    source = os.open(origin.name, READ_FLAGS, dir_fd=origin.directory)
    try:
        _put(copy, source, origin.location, target)
    finally:
        os.close(source)
    remains = remove_moved(origin, copy.entries)
    if remains:
        return [f"Copied to the other file system; {remains.describe()}."]
    return ["Copied to the other file system, then removed here."]


def _put(copy: Copy, source: int, location: Location, target: Target) -> None:
    """Build a copy under a name of ours, then give it its name; what fails before leaves nothing."""
    name = leftovers.temporary_name()
    held = -1
    is_directory = stat.S_ISDIR(os.fstat(source).st_mode)
    try:
        with locked(target.directory, copy.work) as directory:  # no sweep between its birth and its own lock
            if directory is not None:
                leftovers.sweep(directory)
            held = (new_directory if is_directory else new_file)(target.directory, name)
            try_flock(held)
        if is_directory:
            copy.directory(source, held, location)
        else:
            copy.file(source, held)
        copy.work.check()
        try:
            rename_new((target.directory, name), (target.directory, target.name))
        except FileExistsError:
            raise _exists(target) from None
    finally:
        leftovers.remove_tree(target.directory, name)
        if held >= 0:
            os.close(held)
    _sync(target.directory)


def copy_file(
    confinement: Confinement, source: str, destination: str, *, work: Work, base: str | None = None
) -> Copied:
    """Copy a file, or a directory with everything in it, never over anything that exists.

    Mode and modification time are kept. In a directory, links that lead to something in it are kept as links; other
    links, pipes, sockets, devices, `.git`, names of ours, and entries that are closed where they are or where they
    would be, are left out and counted. It appears whole or not at all.

    Args:
        confinement: Where both must be.
        source: What is copied; a link that stays inside stands for what it leads to.
        destination: The new path, name included; missing parents are made.
        work: Cancels it; nothing is left then.
        base: Absolute directory that relative paths start from.

    Raises:
        PathNotFoundError: There is no source.
        NotAFileError: The source is a pipe, a socket or a device.
        ConflictError: Something is at the destination, or the source changed meanwhile.
        NotAllowedError: A directory into itself.
        CuratedError: It cannot be copied.
    """
    with foreseen(source), confinement.open_entry(source, base=base) as entry:
        found, mode = entry.location, entry.stat.st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAFileError(f"{found.shown} is {kind_of(mode)} and cannot be copied.")
    opened = confinement.open_directory(found) if stat.S_ISDIR(mode) else confinement.open_file(found)
    with foreseen(source), opened, _destination(confinement, destination, base) as target:
        _refuse_into_itself(opened.location, target.location)
        if target.stat is not None:
            raise _exists(target)
        copy = Copy(confinement, work, target.location)
        _put(copy, opened.descriptor, opened.location, target)
    notes = tuple(note for note in (found.note,) if note)
    left_out = tuple(sorted(copy.left_out.items()))
    return Copied(found, target.location, copy.files, copy.directories, copy.bytes, left_out, notes)


def render_directory(made: MadeDirectory) -> str:
    """Tell about a directory in one line."""
    return f"{'Created' if made.created else 'Already there:'} {made.location.shown}"


def render_move(moved: Moved) -> str:
    """Tell what a move did."""
    return "\n".join([f"Moved {moved.kind}: {moved.source.shown} -> {moved.destination.shown}", *moved.notes])


def render_copy(copied: Copied) -> str:
    """Tell what a copy did."""
    what = f"{copied.bytes:,} bytes"
    if copied.directories:
        what = f"{copied.files:,} files in {copied.directories:,} directories, {what}"
    rows = [f"Copied {copied.source.shown} -> {copied.destination.shown} ({what})"]
    if copied.left_out:
        rows.append(
            "Left out: " + ", ".join(f"{count:,} {_plural(what, count)}" for what, count in copied.left_out) + "."
        )
    return "\n".join([*rows, *copied.notes])


def _plural(what: str, count: int) -> str:
    if count == 1 or what == ".git":
        return what
    return what.replace("entry", "entries") if what.startswith("entry") else what + "s"
