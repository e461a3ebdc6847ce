"""Deleting, so that it can be undone: into a folder of ours in the same root, in one rename.

The trash is emptied by the person, not by this server; `doctor` says how much is in it. What was deleted is taken back
with `move_file` from the trash.
"""

import errno
import hashlib
import json
import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass

from mcp_curated_filesystem.writing.changing import foreseen
from mcp_curated_filesystem.writing.departing import refuse_closed_inside, walk
from mcp_curated_filesystem.writing.leftovers import NOTE_SUFFIX, TRASH_NAME, refuse_reserved
from mcp_curated_filesystem.writing.renaming import rename_new
from mcp_curated_shared.errors import ConflictError, CuratedError, NotAllowedError
from mcp_curated_shared.security.confinement import (
    Confinement,
    Location,
    PathNotFoundError,
    Root,
    Target,
    kind_of,
    open_child,
)
from mcp_curated_shared.work import Work

__all__ = ["TRASH_NAME", "Deleted", "DeletionPlan", "TrashState", "delete", "list_trash", "plan_deletion", "render"]

_LONGEST_NAME = 180
_MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """What a deletion would take away; shown to the person who confirms it, and compared when it is done.

    Attributes:
        location: What is deleted.
        kind: "a file", "a directory", "a symbolic link", ...
        files: How many files, itself included.
        directories: How many directories, itself included.
        bytes: How much content.
        identity: Names this exact state; another state is another plan.
    """

    location: Location
    kind: str
    files: int
    directories: int
    bytes: int
    identity: str

    @property
    def trash(self) -> Location:
        """The folder that it will lie in."""
        return Location(self.location.root, TRASH_NAME)

    def describe(self) -> str:
        """One sentence for the question to the person."""
        if self.directories:
            what = f"{self.files:,} files in {self.directories:,} directories, {self.bytes:,} bytes"
        else:
            what = f"{self.bytes:,} bytes"
        return f"{self.location.shown} ({self.kind}, {what})"


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion did.

    Attributes:
        plan: What it was.
        trashed: Where it lies now.
    """

    plan: DeletionPlan
    trashed: Location


@dataclass(frozen=True, slots=True)
class TrashState:
    """The trash of one root.

    Attributes:
        location: The folder.
        entries: How many things were deleted into it.
        bytes: How much content they have.
    """

    location: Location
    entries: int
    bytes: int


def plan_deletion(confinement: Confinement, path: str, *, work: Work, base: str | None = None) -> DeletionPlan:
    """Look at what a deletion would take away; nothing is changed.

    Args:
        confinement: Where it must be.
        path: A file, a directory with everything in it, or a link (the link itself).
        work: Cancels the count.
        base: Absolute directory that a relative path starts from.

    Raises:
        PathNotFoundError: It does not exist.
        NotAllowedError: It is a root, in a `.git`, closed, holds something closed, or lies in the trash.
    """
    with foreseen(path), confinement.open_target(path, base=base, follow=False) as target:
        return _plan(confinement, target, work)


def _plan(confinement: Confinement, target: Target, work: Work) -> DeletionPlan:
    if target.stat is None:
        raise PathNotFoundError(f"{target.location.shown} does not exist.", "List its directory to see what does.")
    if not target.location.relative:
        raise NotAllowedError("An allowed directory itself is never deleted.", "Delete what is in it.")
    refuse_reserved(target.location.relative, target.location.shown)
    state = os.stat(target.name, dir_fd=target.directory, follow_symlinks=False)
    files, directories, size = _weight(state)
    digest = hashlib.blake2b(_facts("", state), digest_size=16)
    if stat.S_ISDIR(state.st_mode):
        refuse_closed_inside(confinement, target, target.location, work)
        for inside in walk(target.directory, target.name, work):
            digest.update(_facts(inside.relative, inside.state))
            more_files, more_directories, more_bytes = _weight(inside.state)
            files, directories, size = files + more_files, directories + more_directories, size + more_bytes
    return DeletionPlan(target.location, kind_of(state.st_mode), files, directories, size, digest.hexdigest())


def _weight(state: os.stat_result) -> tuple[int, int, int]:
    if stat.S_ISDIR(state.st_mode):
        return 0, 1, 0
    return 1, 0, state.st_size if stat.S_ISREG(state.st_mode) else 0


def _facts(relative: str, state: os.stat_result) -> bytes:
    numbers = (state.st_dev, state.st_ino, state.st_mode, state.st_mtime_ns)
    size = 0 if stat.S_ISDIR(state.st_mode) else state.st_size
    return f"{numbers}{size}".encode() + os.fsencode(relative) + b"\0"


def delete(confinement: Confinement, plan: DeletionPlan, *, work: Work) -> Deleted:
    """Do what was planned, if it still is what was planned: move it into the trash of its root.

    Args:
        confinement: The one that the plan was made with, or one that allows as much.
        plan: What was confirmed.
        work: Cancels it before anything is moved.

    Raises:
        ConflictError: It changed since; nothing was deleted.
        CuratedError: (kind "not_allowed") It is on another file system than its root, where it cannot be kept.
    """
    with foreseen(plan.location.path), confinement.open_target(plan.location, follow=False) as target:
        now = _plan(confinement, target, work)
        if now.identity != plan.identity:
            raise ConflictError(
                f"{plan.location.shown} changed since its deletion was planned; nothing was deleted.",
                "Look at it again, then repeat the deletion.",
            )
        with confinement.open_directory(plan.location.root.path) as root:
            trash = _open_trash(root.descriptor)
            try:
                name = _into_trash(target, trash, now)
            finally:
                os.close(trash)
            return Deleted(now, root.location.child(TRASH_NAME).child(name))


def _open_trash(root: int) -> int:
    with suppress(FileExistsError):
        os.mkdir(TRASH_NAME, 0o700, dir_fd=root)
    return open_child(root, TRASH_NAME, kind="directory")


def _into_trash(target: Target, trash: int, plan: DeletionPlan) -> str:
    state = os.stat(target.name, dir_fd=target.directory, follow_symlinks=False)
    if state.st_dev != os.fstat(trash).st_dev:
        raise _other_device(target)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    kept = os.fsdecode(os.fsencode(target.name)[:_LONGEST_NAME])
    for number in range(1, _MOST_TRIES):
        name = f"{stamp}-{number}-{kept}"
        if not _write_note(trash, name + NOTE_SUFFIX, plan):
            continue
        try:
            rename_new((target.directory, target.name), (trash, name))
        except OSError as error:
            os.unlink(name + NOTE_SUFFIX, dir_fd=trash)
            if isinstance(error, FileExistsError):
                continue
            if error.errno in (errno.EXDEV, errno.EBUSY):
                raise _other_device(target) from error
            raise
        return name
    raise ConflictError("The trash has too many entries of this second.", "Try again.")


def _other_device(target: Target) -> CuratedError:
    return CuratedError(
        f"{target.location.shown} is on another file system than its allowed directory; it cannot be kept in the trash"
        " and was not deleted.",
        kind="not_allowed",
    )


def _write_note(trash: int, name: str, plan: DeletionPlan) -> bool:
    """Write beside it where it came from. False if the name is taken."""
    note = {
        "from": plan.location.shown,
        "deleted": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "kind": plan.kind,
        "files": plan.files,
        "directories": plan.directories,
        "bytes": plan.bytes,
    }
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=trash)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(note, file, indent=1)
        file.write("\n")
    return True


def list_trash(confinement: Confinement, *, work: Work) -> list[TrashState]:
    """Weigh the trash of every root that has one; for `doctor`."""
    states: list[TrashState] = []
    for root in confinement.roots:
        state = _state_of(confinement, root, work)
        if state is not None:
            states.append(state)
    return states


def _state_of(confinement: Confinement, root: Root, work: Work) -> TrashState | None:
    try:
        opened = confinement.open_directory(root.path)
    except CuratedError:
        return None
    with opened:
        entries, size, found = 0, 0, False
        for inside in walk(opened.descriptor, TRASH_NAME, work):
            found = True
            if "/" not in inside.relative and not inside.relative.endswith(NOTE_SUFFIX):
                entries += 1
            size += inside.state.st_size if stat.S_ISREG(inside.state.st_mode) else 0
        return TrashState(opened.location.child(TRASH_NAME), entries, size) if found else None


def render(deleted: Deleted) -> str:
    """Tell what was deleted, and how to take it back."""
    return (
        f"Deleted {deleted.plan.describe()}. It lies in {deleted.trashed.shown} and can be taken back from there with"
        " move_file."
    )
