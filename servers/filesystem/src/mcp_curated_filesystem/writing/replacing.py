"""Giving a file new content in one step: a reader sees the old content or the new, a killed writer leaves one of them.

The new content is written to a file in the same, held directory, from its birth readable by nobody else; it gets the
owner, mode and extended attributes of the old file, is synced, and is then swapped with it. What came out is
compared with what was read: if another program changed the file in between, they are swapped back: nothing is lost.
"""

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_curated_filesystem.writing import overwriting
from mcp_curated_filesystem.writing.attributes import OwnerNotKeptError, copy_attributes, give_usual_rights
from mcp_curated_filesystem.writing.renaming import ExchangeUnsupportedError, exchange, rename_new
from mcp_curated_filesystem.writing.snapshots import Piece, Snapshot, changed, is_still, sync_directory
from mcp_curated_filesystem.writing.unfinished import unfinished
from mcp_curated_shared.errors import ConflictError, CuratedError
from mcp_curated_shared.security.confinement import Target
from mcp_curated_shared.work import Work

_CANNOT_REPLACE = {errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES}
_HARD_LINKS = (
    "The file had {count} names (hard links). Only this name has the new content now; the others keep the old file."
)
_NO_SAFETY_COPY = (
    " No safety copy could be made beside it: a kill at that moment would have lost a part of the old content."
)


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a write did.

    Attributes:
        stat: Of the file as it is now.
        notes: What the reader must know: a hard link that was broken, a write in place.
    """

    stat: os.stat_result
    notes: tuple[str, ...] = ()


def create(target: Target, pieces: Sequence[Piece], directory: int | None, work: Work) -> Replaced:
    """Make a new file with its whole content in one step; an entry that appeared meanwhile is never replaced.

    Args:
        target: Where; nothing is there yet.
        pieces: The content.
        directory: A readable descriptor of the parent, to sync it.
        work: Cancels before the file appears.

    Raises:
        ConflictError: Something is there now.
        OSError: It cannot be written.
    """
    with unfinished(target, pieces, work) as file:
        give_usual_rights(target.directory, file.descriptor)
        os.fsync(file.descriptor)
        try:
            rename_new((target.directory, file.name()), (target.directory, target.name))
        except FileExistsError:
            raise ConflictError(
                f"{target.location.shown} was created by another program at the same moment; nothing was written."
            ) from None
        state = os.fstat(file.descriptor)
    sync_directory(directory)
    return Replaced(state)


def replace(target: Target, pieces: Sequence[Piece], before: Snapshot, directory: int | None, work: Work) -> Replaced:
    """Give an existing file new content in one step.

    Args:
        target: The file.
        pieces: The whole new content.
        before: The file as the caller read it; if it is another one by now, nothing is written.
        directory: A readable descriptor of the parent, to sync it.
        work: Cancels before the new content takes the file's place.

    Raises:
        ConflictError: Another program changed, moved or removed it.
        CuratedError: (kind "permission") It is read-only.
        OSError: It cannot be written.
    """
    refuse_read_only(target, before.stat)
    try:
        state = _swap_in(target, pieces, before, work)
    except (OwnerNotKeptError, _CannotReplaceError) as error:
        saved = overwriting.overwrite(target, pieces, before, directory, work)
        note = f"Written in place, since {error}: a reader may have seen a part of it."
        if not saved:
            note += _NO_SAFETY_COPY
        return Replaced(os.stat(target.name, dir_fd=target.directory, follow_symlinks=False), (note,))
    sync_directory(directory)
    links = before.stat.st_nlink
    return Replaced(state, (_HARD_LINKS.format(count=links),) if links > 1 else ())


class _CannotReplaceError(Exception):
    """The entry cannot be replaced by another; its text says why."""


def refuse_read_only(target: Target, state: os.stat_result) -> None:
    """Refuse a file whose mode lets nobody write it, whatever its directory would allow.

    Raises:
        CuratedError: (kind "permission") It names the mode.
    """
    mode = stat.S_IMODE(state.st_mode)
    allowed = os.access(target.name, os.W_OK, dir_fd=target.directory, effective_ids=_EFFECTIVE, follow_symlinks=True)
    if mode & 0o222 and allowed:
        return
    raise CuratedError(
        f"{target.location.shown} is read-only (mode {mode:04o}); nothing was written.",
        "Its owner must make it writable first.",
        kind="permission",
    )


_EFFECTIVE = os.access in os.supports_effective_ids


def _swap_in(target: Target, pieces: Sequence[Piece], before: Snapshot, work: Work) -> os.stat_result:
    try:
        with unfinished(target, pieces, work) as file:
            copy_attributes(target, before.stat, file.descriptor)
            os.fsync(file.descriptor)
            work.check()
            _swap(target, file.name(), before, file.descriptor)
            return os.fstat(file.descriptor)
    except OSError as error:
        if error.errno in _CANNOT_REPLACE and not isinstance(error, FileExistsError):
            raise _CannotReplaceError(_reason(error)) from error
        raise


def _reason(error: OSError) -> str:
    if error.errno in (errno.EBUSY, errno.EXDEV):
        return "the file is a mount point of its own"
    return "its directory does not let this server replace it"


def _swap(target: Target, name: str, before: Snapshot, descriptor: int) -> None:
    """Put the temporary file into the target's place, if the target is still what was read."""
    ours, theirs = (target.directory, name), (target.directory, target.name)
    try:
        exchange(ours, theirs)
    except FileNotFoundError:
        raise changed(target) from None
    except ExchangeUnsupportedError:
        if not is_still(target, target.name, before):
            raise changed(target) from None
        os.rename(name, target.name, src_dir_fd=target.directory, dst_dir_fd=target.directory)
        return
    if is_still(target, name, before):
        return
    _swap_back(target, name, descriptor)
    raise changed(target)


def _swap_back(target: Target, name: str, descriptor: int) -> None:
    """Undo the swap. If meanwhile another program put its file over ours, that one stays: it is the newest."""
    exchange((target.directory, name), (target.directory, target.name))
    out = os.stat(name, dir_fd=target.directory, follow_symlinks=False)
    ours = os.fstat(descriptor)
    if (out.st_dev, out.st_ino) != (ours.st_dev, ours.st_ino):
        exchange((target.directory, name), (target.directory, target.name))
