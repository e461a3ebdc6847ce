"""What opening gives: where the thing really is, and a descriptor to work with."""

import os
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from mcp_curated_shared.security.confinement.names import escape_name
from mcp_curated_shared.security.confinement.roots import Root


@dataclass(frozen=True, slots=True)
class Location:
    """Where something really is, after every link was followed.

    Attributes:
        root: The most specific root that holds it; its rights count.
        relative: True path relative to the root, "/"-joined, `surrogateescape` form; "" for the root itself.
        note: For the reader, when the asked spelling was not the true one: `Found as "README.md".`
    """

    root: Root
    relative: str
    note: str = field(default="", compare=False)

    @property
    def path(self) -> str:
        """Absolute, in the root's configured spelling, `surrogateescape` form; not fit for a reply."""
        return self.root.prefix + self.relative if self.relative else self.root.path

    @property
    def shown(self) -> str:
        """`path` for a reader; reading it back leads here."""
        return escape_name(self.path)

    @property
    def name(self) -> str:
        """The last component of `path`."""
        return os.path.basename(self.path)

    def child(self, name: str) -> "Location":
        """The place of one entry of this directory (which must not be a link)."""
        return Location(self.root, f"{self.relative}/{name}" if self.relative else name)

    def descendant(self, relative: str) -> "Location":
        """The place of what lies at a "/"-joined path below this directory (no component of which is a link)."""
        return self.child(relative) if relative else self


@dataclass(slots=True)
class _Handle:
    descriptor: int
    location: Location
    stat: os.stat_result

    def detach(self) -> int:
        """Hand the descriptor over: the caller closes it."""
        descriptor, self.descriptor = self.descriptor, -1
        return descriptor

    def close(self) -> None:
        """Close the descriptor, unless it was handed over or closed already."""
        if self.descriptor >= 0:
            os.close(self.detach())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class OpenFile(_Handle):
    """A regular file, open for reading at its beginning. `stat` is its `fstat`."""

    __slots__ = ()


class OpenDirectory(_Handle):
    """A directory, open for `os.scandir(descriptor)` and as `dir_fd`."""

    __slots__ = ()


class OpenEntry(_Handle):
    """Anything that exists, held but not read (`O_PATH`): for its `stat`, for its identity."""

    __slots__ = ()


@dataclass(slots=True)
class Target:
    """Where a mutation acts: one name in a directory that is held open.

    Attributes:
        directory: Descriptor of the parent, usable as `dir_fd`; also for listing and `fsync` when the directory
            may be read, else held with `O_PATH`.
        name: The one component to act on.
        location: Of the target itself.
        stat: `lstat` of the name at the time of opening; None when there is nothing yet.
    """

    directory: int
    name: str
    location: Location
    stat: os.stat_result | None

    def close(self) -> None:
        """Close the parent directory."""
        if self.directory >= 0:
            directory, self.directory = self.directory, -1
            os.close(directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
