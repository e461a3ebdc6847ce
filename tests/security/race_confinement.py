"""Openings through confinement while another process swaps a directory of the path with a link to outside.

`python -m tests.security.race_confinement [TRIES]` runs every operation with both methods, 5,000 tries each by
default, and prints the figures.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from tests.security.race_swapper import PUBLIC, Ground, lay_out, swapping

Method = Literal["openat2", "walk"]
Operation = Callable[[Confinement, Ground, int], bool]  # whether what was touched lies outside


@dataclass(frozen=True)
class Outcome:
    """What the tries of one operation came to.

    Attributes:
        inside: Tries that worked on the inside, as they should.
        met: Tries that met the swap, and were refused.
        escaped: Tries that touched the outside. Must be 0.
    """

    inside: int
    met: int
    escaped: int


def _content(descriptor: int) -> str:
    return os.read(descriptor, 100).decode()


def read_file(confinement: Confinement, ground: Ground, _: int) -> bool:
    with confinement.open_file(f"{ground.root}/d/sub/file.txt") as file:
        return _content(file.descriptor) != PUBLIC


def read_file_past_parent(confinement: Confinement, ground: Ground, _: int) -> bool:
    """ ".." after a swapped directory: popped from what is held, not asked of the kernel."""
    with confinement.open_file(f"{ground.root}/d/sub/../file.txt") as file:
        return _content(file.descriptor) != PUBLIC


def list_directory(confinement: Confinement, ground: Ground, _: int) -> bool:
    with confinement.open_directory(f"{ground.root}/d") as directory:
        return "outside-only.txt" in os.listdir(directory.descriptor)


def hold_entry(confinement: Confinement, ground: Ground, _: int) -> bool:
    secret = os.stat(ground.outside / "file.txt")
    with confinement.open_entry(f"{ground.root}/d/file.txt") as entry:
        return (entry.stat.st_dev, entry.stat.st_ino) == (secret.st_dev, secret.st_ino)


def create_file(confinement: Confinement, ground: Ground, number: int) -> bool:
    with confinement.open_target(f"{ground.root}/d/new-{number}.txt", exact=True) as target:
        os.close(os.open(target.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=target.directory))
    return False  # the outside is compared at the end


def create_with_parents(confinement: Confinement, ground: Ground, number: int) -> bool:
    asked = f"{ground.root}/d/made-{number % 200}/deep/new-{number}.txt"
    with confinement.open_target(asked, exact=True, parents=True) as target:
        os.close(os.open(target.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=target.directory))
    return False  # the outside is compared at the end


def remove_file(confinement: Confinement, ground: Ground, _: int) -> bool:
    with confinement.open_target(f"{ground.root}/d/file.txt", follow=False) as target:
        os.unlink(target.name, dir_fd=target.directory)
        os.close(os.open(target.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=target.directory))
    return False  # the outside is compared at the end


def read_narrowed(confinement: Confinement, ground: Ground, _: int) -> bool:
    with confinement.narrowed([f"file://{ground.root}/d"]) as narrow, narrow.open_file("sub/file.txt") as file:
        return _content(file.descriptor) != PUBLIC


OPERATIONS: dict[str, Operation] = {
    operation.__name__: operation
    for operation in (
        read_file,
        read_file_past_parent,
        list_directory,
        hold_entry,
        create_file,
        create_with_parents,
        remove_file,
        read_narrowed,
    )
}


def race(top: Path, operation: Operation, method: Method, tries: int) -> Outcome:
    """Try one operation `tries` times against the swapper."""
    ground = lay_out(top)
    before = ground.outside_state
    inside = met = escaped = 0
    with Confinement([RootSpec(str(ground.root))], method=method) as confinement, swapping(ground):
        for number in range(tries):
            try:
                escaped += operation(confinement, ground, number)
                inside += 1
            except CuratedError:
                met += 1
    return Outcome(inside, met, escaped + len(ground.outside_state ^ before))


def main(tries: int) -> None:
    """Race every operation with both methods."""
    for method in ("openat2", "walk"):
        for name, operation in OPERATIONS.items():
            with tempfile.TemporaryDirectory() as top:
                print(f"{method:8} {name:22} {race(Path(top), operation, method, tries)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
