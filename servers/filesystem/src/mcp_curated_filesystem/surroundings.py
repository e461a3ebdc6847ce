"""Facts about a folder's surroundings that `doctor` tells: its filesystem, its letter case, its trash."""

import os
import re
import stat
from dataclasses import dataclass
from typing import Literal

from mcp_curated_filesystem.writing.leftovers import TRASH_NAME

TRASH_LIMIT = 100_000
"""Entries of a trash folder that are counted before it is said to hold more."""

_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted filesystem.

    Attributes:
        point: Where it is mounted.
        kind: "ext4", "nfs4", ...
    """

    point: str
    kind: str


@dataclass(frozen=True, slots=True)
class Trash:
    """A trash folder of ours.

    Attributes:
        path: Where it is.
        entries: Files and folders in it, at every depth.
        size: Bytes of its files.
        cut: Whether the count ended early.
    """

    path: str
    entries: int
    size: int
    cut: bool


def kind_of_mode(mode: int) -> Literal["folder", "file", "named pipe", "socket", "device"]:
    """What a file mode says that something is."""
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISFIFO(mode):
        return "named pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def mount_of(path: str, table: str = "/proc/self/mountinfo") -> Mount | None:
    """The filesystem that a path is on; None where the system does not tell (proc_pid_mountinfo(5))."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    real = os.path.realpath(path)
    best: Mount | None = None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
        # Of mounts at one place the last one is on top.
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= len(best.point)):
            best = Mount(point, after.split(" ")[0])
    return best


def case_sensitivity(path: str) -> str:
    """Whether names that differ only in letter case are two, found by looking, without making anything."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for _, entry in zip(range(_LOOKED_AT), entries, strict=False)]
    except OSError:
        return "letter case unknown"
    for name in names:
        other = name.swapcase()
        if other == name or other in names:
            continue
        try:
            same = os.path.samestat(os.lstat(os.path.join(path, name)), os.lstat(os.path.join(path, other)))
        except FileNotFoundError:
            same = False
        except OSError:
            continue
        return "letter case does not count" if same else "letter case counts"
    return "letter case unknown"


def trash_size(root: str) -> Trash | None:
    """The trash folder of a root, measured; None if there is none. Links are not followed."""
    path = os.path.join(root, TRASH_NAME)
    if not os.path.isdir(path) or os.path.islink(path):
        return None
    entries = size = 0
    for folder, folders, files in os.walk(path):
        for name in files:
            try:
                size += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
        entries += len(folders) + len(files)
        if entries > TRASH_LIMIT:
            return Trash(path, entries, size, True)
    return Trash(path, entries, size, False)
