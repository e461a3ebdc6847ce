"""What a path can be refused for, in words that name the path asked and never what a link points at."""

import errno
import os
import stat
from collections.abc import Sequence

from mcp_curated_shared.errors import (
    CuratedError,
    InvalidArgumentError,
    NotAllowedError,
    NotFoundError,
    UnavailableError,
)
from mcp_curated_shared.security.confinement.names import quoted


class OutsideRootsError(NotAllowedError):
    """The path is not inside an allowed directory; the text is the same whether or not it exists.

    Args:
        asked: The path as the caller wrote it.
        labels: The labels of the allowed directories; their paths are not told.
        link: A symbolic link on the way led there.
    """

    kind = "outside_roots"

    def __init__(self, asked: str, labels: Sequence[str], *, link: bool = False) -> None:
        if not labels:
            super().__init__(
                f"{quoted(asked)} cannot be opened: no directory is open to this server.",
                "Give the server a directory in its settings.",
            )
            return
        how = "leads, through a link, outside" if link else "is outside"
        allowed = ", ".join(labels)
        super().__init__(
            f"{quoted(asked)} {how} the allowed directories ({allowed}).", "Give a path inside one of them."
        )


class PathNotFoundError(NotFoundError):
    """Nothing has that name inside the root."""


class PathDeniedError(NotAllowedError):
    """The operator's `--deny`, the rule about `.git`, or a kernel filesystem stands in the way."""


class ReadOnlyError(NotAllowedError):
    """The server, or this one root, is read-only."""

    kind = "read_only"


class NotAFileError(CuratedError):
    """A regular file was needed and something else is there."""

    kind = "wrong_type"


class NotADirectoryError(CuratedError):
    """A directory was needed and something else is there."""

    kind = "wrong_type"


class RootUnavailableError(UnavailableError):
    """The allowed directory itself is not there now, or is no longer the one that was allowed."""


class InvalidPathError(InvalidArgumentError):
    """No file can have that name."""


class AmbiguousPathError(InvalidArgumentError):
    """A relative path that could belong to several roots."""


class AccessError(CuratedError):
    """The operating system does not let this user do it."""

    kind = "permission"


def kind_of(mode: int) -> str:
    """What a `st_mode` says that the thing is, with its article: "a directory", "a named pipe (FIFO)"."""
    kinds = (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a named pipe (FIFO)"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((text for test, text in kinds if test(mode)), "neither a file nor a directory")


def from_os_error(error: OSError, asked: str) -> CuratedError:
    """The foreseen failure that an `OSError` on this path is; the file name in `error` is never used."""
    number = error.errno or 0
    kind, text, step = _TOLD.get(number, (UnavailableError, "{path} could not be opened: {reason}.", "Try again."))
    reason = os.strerror(number).lower() if number else "unknown error"
    return kind(text.format(path=quoted(asked), reason=reason), step)


_Told = tuple[type[CuratedError], str, str]
_NOT_PERMITTED: _Told = (AccessError, "The system does not permit this on {path}.", "Choose another path.")
_NOT_THERE: _Told = (PathNotFoundError, "{path} does not exist.", "List its directory to see what does.")
_FULL: _Told = (UnavailableError, "There is no space left for {path}.", "Free some and try again.")
_BUSY: _Told = (UnavailableError, "Too many files are open to open {path} now.", "Try again.")
_TOLD: dict[int, _Told] = {
    errno.EACCES: _NOT_PERMITTED,
    errno.EPERM: _NOT_PERMITTED,
    errno.ENOENT: _NOT_THERE,
    errno.ENOTDIR: _NOT_THERE,
    errno.EROFS: (ReadOnlyError, "{path} is on a filesystem that is mounted read-only.", "Choose another path."),
    errno.ENAMETOOLONG: (InvalidPathError, "{path} has a name that is too long for its filesystem.", "Shorten it."),
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EMFILE: _BUSY,
    errno.ENFILE: _BUSY,
    errno.EAGAIN: (UnavailableError, "Another program holds {path} at this moment.", "Try again."),
}
