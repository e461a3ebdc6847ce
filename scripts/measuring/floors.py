"""The least that each piece of work can take in Python: what must be done, with nothing around it.

A walk goes from descriptor to descriptor, as a server that cannot be led outside must do it; `os.scandir` by path is
measured beside it once, to show that this costs nothing.
"""

import os
import re
from collections.abc import Callable

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SMALL = 1 << 16  # what is read of a file; a larger buffer costs more than the reading

Floor = Callable[[], object]
Entry = tuple[str, bool]
"""A name, and whether it is a directory's."""


def walk_by_path(top: str) -> int:
    """Count what is below a folder, directories opened by their paths."""
    count, folders = 0, [top]
    while folders:
        with os.scandir(folders.pop()) as listing:
            for entry in listing:
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return count


def walk(top: str, look: Callable[[int, str, list[Entry]], object], pruned: frozenset[str] = frozenset()) -> None:
    """Walk from descriptor to descriptor.

    Args:
        top: Where to start.
        look: Gets each directory's descriptor, its path from the top with a `/` at its end, and what is in it but for
            directories that are pruned.
        pruned: Names of directories that are left out.
    """

    def enter(descriptor: int, prefix: str) -> None:
        with os.scandir(descriptor) as listing:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
        if pruned:
            entries = [entry for entry in entries if entry[0] not in pruned]
        look(descriptor, prefix, entries)
        for name, is_directory in entries:
            if is_directory:
                child = os.open(name, _DIRECTORY, dir_fd=descriptor)
                try:
                    enter(child, f"{prefix}{name}/")
                finally:
                    os.close(child)

    start = os.open(top, _DIRECTORY)
    try:
        enter(start, "")
    finally:
        os.close(start)


def count(top: str, pruned: frozenset[str] = frozenset()) -> int:
    """Count what is below a folder."""
    total = 0

    def look(_: int, __: str, entries: list[Entry]) -> None:
        nonlocal total
        total += len(entries)

    walk(top, look, pruned)
    return total


def find(top: str, expression: str, pruned: frozenset[str] = frozenset()) -> list[str]:
    """Match the path of everything below a folder; unsorted, nothing asked about the matches."""
    match = re.compile(expression).match
    found: list[str] = []

    def look(_: int, prefix: str, entries: list[Entry]) -> None:
        found.extend(path for name, _ in entries if match(path := prefix + name))

    walk(top, look, pruned)
    return found


def find_with_times(top: str, expression: str, pruned: frozenset[str] = frozenset()) -> list[tuple[int, str]]:
    """As `find`, newest first: each match is asked for its time."""
    match = re.compile(expression).match
    found: list[tuple[int, str]] = []

    def look(descriptor: int, prefix: str, entries: list[Entry]) -> None:
        for name, _ in entries:
            if match(path := prefix + name):
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                found.append((status.st_mtime_ns, path))

    walk(top, look, pruned)
    found.sort(reverse=True)
    return found


def grep(top: str, holds: Callable[[bytes], object], pruned: frozenset[str] = frozenset()) -> list[str]:
    """Read every file below a folder and look once at its bytes; no line numbers, no encodings."""
    found: list[str] = []

    def look(descriptor: int, prefix: str, entries: list[Entry]) -> None:
        for name, is_directory in entries:
            if is_directory:
                continue
            file = os.open(name, _FILE, dir_fd=descriptor)
            try:
                if holds(os.read(file, _SMALL)):
                    found.append(prefix + name)
            finally:
                os.close(file)

    walk(top, look, pruned)
    return found


def edit(path: str, old: bytes, new: bytes) -> None:
    """Replace one text: read, prove that it is there once, write beside, flush to the disk, take the file's place."""
    with open(path, "rb") as file:
        data = file.read()
    at = data.find(old)
    if at < 0 or data.find(old, at + 1) >= 0:
        raise ValueError("the old text is not there once")
    beside = f"{path}.new"
    with open(beside, "wb") as file:
        file.writelines((memoryview(data)[:at], new, memoryview(data)[at + len(old) :]))
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read_all(paths: list[str]) -> int:
    """Read and decode files."""
    characters = 0
    for path in paths:
        with open(path, "rb") as file:
            characters += len(file.read().decode())
    return characters
