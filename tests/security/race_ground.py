"""Where the server's calls race: one swapped directory for each operation, and what must never be seen or touched.

Every name, content and time stamp of the outside is one that nothing inside has, so that a single byte of it in a
reply is found whatever the tool.
"""

import base64
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.security.race_swapper import PUBLIC, SECRET, Ground

SLOTS = 8
"""Calls under way at a time; each has files of its own, so that calls never conflict with each other."""

OUTSIDE_NAME = "outside-only.txt"
_OUTSIDE_SECONDS = 981_173_106  # 2001-02-03T04:05:06Z
_OUTSIDE_DAY = "2001-02-03"
_OUTSIDE_SIZE = 7_919

State = dict[str, tuple[int, int, int, int]]


def picture(width: int) -> bytes:
    """A small valid PNG of one row."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(width + 1)))
        + chunk(b"IEND", b"")
    )


INSIDE_PICTURE, OUTSIDE_PICTURE = picture(3), picture(5)


@dataclass(frozen=True)
class Field:
    """The ground of one operation.

    Attributes:
        ground: Its swapped directory `root/d`, and the outside.
        before: The outside as it was.
    """

    ground: Ground
    before: State

    @property
    def swapped(self) -> str:
        """The directory that is swapped with a link to outside."""
        return str(self.ground.root / "d")

    @property
    def still(self) -> str:
        """The directory above it, which is not."""
        return str(self.ground.root)

    def leaks(self, reply: str) -> bool:
        """Whether anything of the outside is in a reply: content, a name, a size, a time, or its place."""
        marks = (
            SECRET,
            OUTSIDE_NAME,
            base64.b64encode(OUTSIDE_PICTURE).decode(),
            _OUTSIDE_DAY,
            f"{_OUTSIDE_SIZE}",
            f"{_OUTSIDE_SIZE:,}",
            str(self.ground.outside),
        )
        return any(mark in reply for mark in marks)

    def damage(self) -> list[str]:
        """What is different outside, and what came in from there; call it when the swapping has ended."""
        after = state_of(self.ground.outside)
        changed = [name for name in self.before.keys() | after.keys() if self.before.get(name) != after.get(name)]
        brought = [
            str(path.relative_to(self.ground.root))
            for path in self.ground.root.rglob("*")
            if path.is_file() and not path.is_symlink() and path.read_bytes().find(SECRET.encode()) >= 0
        ]
        return sorted(changed) + sorted(brought)

    def losses(self, settled: Callable[[int], bool]) -> list[str]:
        """What is gone or torn inside; call it when the swapping has ended.

        Args:
            settled: Whether the ball of a slot must be there.
        """
        inside = self.ground.root
        lost = [
            f"torn {path}"
            for path in inside.rglob("*.txt")
            if any(not line.startswith(PUBLIC) for line in path.read_text().splitlines())
        ]
        for slot in range(SLOTS):
            balls = [place for place in (inside, inside / "d") if (place / f"ball-{slot}.txt").exists()]
            if len(balls) != settled(slot) or not (inside / "d" / f"slot-{slot}.txt").exists():
                lost.append(f"slot {slot}: {balls}")
        return lost


def state_of(folder: Path) -> State:
    """Identity, size, and both times of a folder and all below it; a file made and removed again shows too."""
    found = {".": folder.lstat()} | {str(path.relative_to(folder)): path.lstat() for path in folder.rglob("*")}
    return {name: (one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for name, one in found.items()}


def lay_out(top: Path, name: str) -> Field:
    """Make the ground of one operation below `top`; the server's root is `top/root`."""
    ground = Ground(top / "root" / name, top / f"{name}-beyond", top / f"{name}-link")
    for directory, word, image in (
        (ground.root / "d", PUBLIC, INSIDE_PICTURE),
        (ground.outside, SECRET, OUTSIDE_PICTURE),
    ):
        (directory / "sub" / "deeper").mkdir(parents=True)
        for file in ("file.txt", "sub/file.txt", "sub/deeper/file.txt"):
            (directory / file).write_text(f"{word}\n")
        (directory / "picture.png").write_bytes(image)
        for slot in range(SLOTS):
            (directory / f"slot-{slot}.txt").write_text(f"{word}: heads\n")
    for slot in range(SLOTS):
        _make_outside_answer_too(ground, slot)
    (ground.root / "file.txt").write_text(f"{PUBLIC}\n")
    (ground.outside / OUTSIDE_NAME).write_text(f"{SECRET}\n")
    for file in ("file.txt", "sub/file.txt"):
        (ground.outside / file).write_text(f"{SECRET}\n".ljust(_OUTSIDE_SIZE, "."))
    for path in ground.outside.rglob("*"):
        os.utime(path, (_OUTSIDE_SECONDS, _OUTSIDE_SECONDS))
    ground.link.symlink_to(ground.outside)
    return Field(ground, state_of(ground.outside))


def _make_outside_answer_too(ground: Ground, slot: int) -> None:
    """Whatever a call expects of `d` it would find outside as well: a call that got there would succeed."""
    (ground.outside / f"slot-{slot}.txt").write_text(f"{SECRET}: heads or tails\n")
    (ground.root / "d" / f"ball-{slot}.txt").write_text(f"{PUBLIC}\n")
    if slot % 2:
        (ground.outside / f"ball-{slot}.txt").write_text(f"{SECRET}\n")
