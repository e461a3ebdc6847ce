"""Another process that swaps a directory with a symbolic link to the outside, as fast as it can.

Run as a program: `race_swapper.py PATH OTHER`. It exchanges the two names atomically (renameat2(2) with
RENAME_EXCHANGE) until it is terminated, its standard input closes, or its parent is gone.
"""

import contextlib
import ctypes
import os
import select
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

SECRET = "from outside"
PUBLIC = "from inside"


@dataclass(frozen=True)
class Ground:
    """A root whose directory `d` is swapped, and what lies outside.

    `root/d` and `outside` hold the same names (`file.txt`, `sub/file.txt`) with different contents, so that an
    operation succeeds on either side and what it touched tells where it was.
    """

    root: Path
    outside: Path
    link: Path

    @property
    def outside_state(self) -> set[tuple[str, int, int]]:
        """Name, inode and size of everything below the outside directory, to be compared before and after."""
        found = ((path, path.lstat()) for path in self.outside.rglob("*"))
        return {(str(path.relative_to(self.outside)), status.st_ino, status.st_size) for path, status in found}


def lay_out(top: Path) -> Ground:
    """Make the ground in an empty directory."""
    ground = Ground(top / "root", top / "outside", top / "link")
    for directory, content in ((ground.root / "d", PUBLIC), (ground.outside, SECRET)):
        (directory / "sub").mkdir(parents=True)
        for name in ("file.txt", "sub/file.txt"):
            (directory / name).write_text(content)
    (ground.outside / "outside-only.txt").write_text(SECRET)
    ground.link.symlink_to(ground.outside)
    return ground


@contextlib.contextmanager
def swapping(ground: Ground) -> Generator[None]:
    """Swap `root/d` and the link to the outside for as long as the block runs; afterwards `root/d` is a directory."""
    command = [sys.executable, "-I", __file__, str(ground.root / "d"), str(ground.link)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"swapping\n"
            yield
        finally:
            process.terminate()
    if (ground.root / "d").is_symlink():
        exchange(os.fsencode(ground.root / "d"), os.fsencode(ground.link))


def exchange(one: bytes, other: bytes) -> None:
    """Swap two names atomically."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, one, -100, other, 2) != 0:  # AT_FDCWD, RENAME_EXCHANGE
        raise OSError(ctypes.get_errno(), "renameat2")


def main(one: str, other: str) -> None:
    """Swap until told to stop."""
    first, second = os.fsencode(one), os.fsencode(other)
    exchange(first, second)
    sys.stdout.write("swapping\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:
        for _ in range(500):
            exchange(first, second)
        if select.select([sys.stdin], [], [], 0)[0]:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
