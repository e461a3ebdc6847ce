"""What a repository holds on one branch: files, links, submodules; directories follow from the paths."""

import hashlib
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class File:
    """A file; `claimed_size` lets one stand for a size that no test wants to hold in memory."""

    data: bytes
    claimed_size: int | None = None

    @property
    def size(self) -> int:
        """Bytes, as GitHub tells them."""
        return len(self.data) if self.claimed_size is None else self.claimed_size


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link with its text."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """Another repository at one commit."""

    git_url: str
    commit: str


Entry: TypeAlias = File | Symlink | Submodule


@dataclass(slots=True)
class Tree:
    """Entries by path."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])

    def children(self, folder: str) -> dict[str, Entry | None]:
        """The names in a folder in GitHub's order, each with its entry; None for a folder."""
        found: dict[str, Entry | None] = {}
        start = f"{folder}/" if folder else ""
        for path in sorted(self.entries):
            if path.startswith(start):
                name, slash, _ = path.removeprefix(start).partition("/")
                found[name] = None if slash else self.entries[path]
        return found

    def through_link(self, path: str) -> str | None:
        """The path of the ordinary file that a link means, where it is one of this tree."""
        entry = self.entries.get(path)
        if not isinstance(entry, Symlink):
            return None
        parts = path.split("/")[:-1]
        for part in entry.target.split("/"):
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        found = "/".join(parts)
        inside = not entry.target.startswith("/") and isinstance(self.entries.get(found), File)
        return found if inside else None


def identity(entry: Entry | None, path: str) -> str:
    """The SHA-1 under which Git keeps an entry; for a folder one of its own."""
    match entry:
        case File(data):
            content = b"blob %d\0" % len(data) + data
        case Symlink(target):
            content = b"blob %d\0" % len(target.encode()) + target.encode()
        case Submodule(_, commit):
            return commit
        case None:
            content = f"tree {path}".encode()
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
