"""What an opening is for, and what it arrived at."""

import os
import stat
from dataclasses import dataclass
from typing import Literal

from mcp_curated_shared.security.confinement.errors import NotADirectoryError, NotAFileError, kind_of
from mcp_curated_shared.security.confinement.names import quoted
from mcp_curated_shared.security.confinement.roots import Root


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be opened.

    Attributes:
        kind: A regular file, a directory, anything at all, or the place of a mutation.
        follow: Whether a link as the last component is followed.
        parents: Whether missing directories on the way to a target are made.
        exact: Whether only the Unicode form of a name is tolerated, not its letter case.
    """

    kind: Literal["file", "directory", "entry", "target"]
    follow: bool = True
    parents: bool = False
    exact: bool = False


@dataclass(slots=True)
class Arrival:
    """The end of an opening; the descriptor belongs to whoever receives this.

    Attributes:
        root: The most specific root that holds it.
        relative: True path below that root.
        descriptor: Of the thing, or of a target's parent directory.
        stat: Of the thing; None for a target that does not exist.
        tolerated: The true name differs from the asked one in case or Unicode form.
        device: The device of the root where the opening started.
        name: A target's last component.
    """

    root: Root
    relative: str
    descriptor: int
    stat: os.stat_result | None
    tolerated: bool
    device: int
    name: str = ""


def check_type(goal: Goal, status: os.stat_result, asked: str) -> None:
    """Refuse what is not of the wanted type: a FIFO, a socket or a device is never read.

    Raises:
        NotAFileError: A file was wanted.
        NotADirectoryError: A directory was wanted.
    """
    mode = status.st_mode
    if goal.kind == "file" and not stat.S_ISREG(mode):
        step = "List it instead." if stat.S_ISDIR(mode) else "Only regular files can be read."
        raise NotAFileError(f"{quoted(asked)} is {kind_of(mode)}, not a file.", step)
    if goal.kind == "directory" and not stat.S_ISDIR(mode):
        raise NotADirectoryError(
            f"{quoted(asked)} is {kind_of(mode)}, not a directory.", "Give the directory it is in."
        )
