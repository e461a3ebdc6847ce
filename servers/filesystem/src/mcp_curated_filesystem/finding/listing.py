"""Listing one directory."""

import heapq
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Literal

from mcp_curated_filesystem.finding.following import following_call
from mcp_curated_filesystem.finding.globs import Glob, compile_glob, compile_word, is_bare_word
from mcp_curated_filesystem.finding.sieving import counted, is_ours
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_shared.security.confinement import (
    Confinement,
    OpenDirectory,
    escape_name,
    from_os_error,
    quoted,
)
from mcp_curated_shared.security.limits import DEFAULT_BUDGET, cut_rows
from mcp_curated_shared.work import Work

SortBy = Literal["name", "size", "modified"]
Kind = Literal["directory", "file", "link", "fifo", "socket", "device", "unknown"]

DEFAULT_LIMIT = 500
MAXIMUM_LIMIT = 5_000
DEFAULT_SECONDS = 10.0

_BATCH = 1_024
_WORDS: dict[Kind, str] = {
    "fifo": "named pipe (FIFO)",
    "socket": "socket",
    "device": "device",
    "unknown": "unknown kind",
}


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry of a directory.

    Attributes:
        name: In shown form, without a `/`.
        kind: What it is itself; a link was not followed.
        size: Bytes; 0 for what has no content.
        modified: Seconds since the epoch.
        target: Where a link leads in the end, absolute, in shown form, if that is inside; None otherwise.
    """

    name: str
    kind: Kind
    size: int
    modified: float
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in one directory.

    Attributes:
        folder: Absolute, in shown form.
        entries: The first `limit` in the order asked for.
        directories: How many directories there are (that match the pattern).
        others: How many other entries.
        total_size: Bytes in its own files together, None if it was not asked for by size or time and there were too
            many entries to look at each.
        pattern: What was asked for; empty for all.
        sort_by: The order.
        limit: The most that was asked for.
        denied: How many entries the operator closed.
        complete: Whether all of it was read within the time budget.
        notes: What the reader should know.
    """

    folder: str
    entries: tuple[ListedEntry, ...]
    directories: int
    others: int
    total_size: int | None
    pattern: str
    sort_by: SortBy
    limit: int
    denied: int
    complete: bool
    notes: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many entries there are (that match the pattern)."""
        return self.directories + self.others


def list_directory(
    confinement: Confinement,
    path: str,
    *,
    sort_by: SortBy = "name",
    pattern: str | None = None,
    limit: int = DEFAULT_LIMIT,
    base: str | None = None,
    work: Work,
) -> Listing:
    """List a directory: everything in it, ignored or not, but what the operator closed.

    Args:
        confinement: Opens it.
        path: The directory.
        sort_by: By name (directories first), by size (largest first) or by time (newest first).
        pattern: A glob or a word for the names; None for all.
        limit: The most entries to give, 1 to 5,000.
        base: Absolute directory that a relative `path` starts from.
        work: The call.

    Raises:
        CuratedError: It cannot be opened or read, the pattern is malformed, or the caller has gone.
    """
    clock = Clock(work, DEFAULT_SECONDS)
    limit = max(1, min(limit, MAXIMUM_LIMIT))
    glob = _glob(pattern) if pattern else None
    with confinement.open_directory(path, base=base) as opened:
        try:
            names, complete = _names(opened.descriptor, clock)
        except OSError as error:
            raise from_os_error(error, path) from None
        relative = f"{opened.location.relative}/" if opened.location.relative else ""
        left = [name for name in names if not confinement.denied(relative + name, opened.location.root)]
        denied = len(names) - len(left)
        if glob is not None:
            left = [name for name in left if glob.matches(name) and (names[name] or not glob.directories_only)]
        chosen, total_size = _chosen(opened, {name: names[name] for name in left}, sort_by, limit, clock)
        directories = sum(names[name] for name in left)
        return Listing(
            opened.location.shown,
            tuple(_with_target(confinement, opened, name, entry) for name, entry in chosen),
            directories,
            len(left) - directories,
            total_size,
            pattern or "",
            sort_by,
            limit,
            denied,
            complete,
            (opened.location.note,) if opened.location.note else (),
        )


def render(value: Listing) -> str:
    """Write the listing for a reader: time, size, then the name to the line's end; a directory's ends in `/`."""
    counts = [
        counted(value.directories, "directory", "directories"),
        counted(value.others, "other entry", "other entries"),
    ]
    held = " and ".join(count for count in counts if count) or "nothing"
    matching = f" that matches {quoted(value.pattern)}" if value.pattern else ""
    size = f"; {value.total_size:,} bytes in its own files" if value.total_size else ""
    order = {"name": "by name", "size": "largest first", "modified": "newest first"}[value.sort_by]
    if not value.total:
        lines = [f"{value.folder} has nothing in it{matching}."]
    else:
        lines = [f"{value.folder} has {held}{matching}{size}; {order} (time in UTC, bytes, name):"]
    after = [*value.notes]
    if value.denied:
        after.append(f"Closed by the operator: {counted(value.denied, 'entry', 'entries')}.")
    if not value.complete:
        after.append("Partial: the directory is too large to be read in time.")
    room = DEFAULT_BUDGET.characters - sum(len(line) + 1 for line in (*lines, *after))
    rows = [_row(entry) for entry in value.entries]
    if rows:
        lines.append(cut_rows(rows, room, lambda shown: _next(value, shown), total=value.total))
    return "\n".join(lines + after)


def _next(value: Listing, shown: int) -> str:
    """The call for what was not shown: all of it if that fits, else a part by its names."""
    sort_by = None if value.sort_by == "name" else value.sort_by
    pattern = value.pattern or None
    if shown >= len(value.entries) and value.limit < min(value.total, MAXIMUM_LIMIT):
        limit = min(value.total, MAXIMUM_LIMIT)
        return following_call("list_directory", path=value.folder, sortBy=sort_by, pattern=pattern, limit=limit)
    names = [entry.name for entry in value.entries]
    following = names[shown] if shown < len(names) else names[-1]
    beginning = following[: _shared_length(names) + 1]
    if not beginning.replace("_", "").isalnum():
        return "a part of the names at a time, by a pattern"
    narrower = following_call("list_directory", path=value.folder, sortBy=sort_by, pattern=f"{beginning}*")
    return f"a part of the names at a time, such as {narrower}"


def _shared_length(names: list[str]) -> int:
    """How many characters all names begin with."""
    first, last = min(names), max(names)
    return next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))


def _row(entry: ListedEntry) -> str:
    try:
        time = datetime.fromtimestamp(entry.modified, UTC).strftime("%Y-%m-%dT%H:%MZ")
    except (ValueError, OverflowError, OSError):
        time = "?" * 17
    size = f"{entry.size:,}" if entry.kind == "file" else "-"
    name = entry.name
    if entry.kind == "directory":
        name += "/"
    elif entry.kind == "link":
        name += f" -> {entry.target}" if entry.target else " -> (a link that leads nowhere, or outside)"
    elif entry.kind in _WORDS:
        name += f" ({_WORDS[entry.kind]})"
    return f"{time} {size:>13} {name}"


def _glob(pattern: str) -> Glob:
    return compile_word(pattern) if is_bare_word(pattern) and "." not in pattern else compile_glob(pattern)


def _names(descriptor: int, clock: Clock) -> tuple[dict[str, bool], bool]:
    """Read the names, each with whether it is a directory, and whether that is all of them."""
    names: dict[str, bool] = {}
    with os.scandir(descriptor) as listing:
        while batch := list(islice(listing, _BATCH)):
            for entry in batch:
                if not is_ours(entry.name):
                    names[entry.name] = entry.is_dir(follow_symlinks=False)
            clock.work.done = len(names)
            if clock.over():
                return names, False
    return names, True


_Chosen = list[tuple[str, ListedEntry]]


def _chosen(
    opened: OpenDirectory, names: dict[str, bool], sort_by: SortBy, limit: int, clock: Clock
) -> tuple[_Chosen, int | None]:
    """Take the first `limit` in the order asked for; only what is given is looked at if the order is by name."""
    if sort_by == "name":
        ordered = sorted(names, key=lambda name: (not names[name], name.casefold(), name))[:limit]
        entries = _looked_at(opened, ordered, clock)
        whole = len(ordered) == len(names)
        return entries, sum(entry.size for _, entry in entries if entry.kind == "file") if whole else None
    entries = _looked_at(opened, list(names), clock)
    key: Callable[[tuple[str, ListedEntry]], tuple[float, str]] = (
        (lambda pair: (-pair[1].size, pair[0])) if sort_by == "size" else (lambda pair: (-pair[1].modified, pair[0]))
    )
    return heapq.nsmallest(limit, entries, key=key), sum(entry.size for _, entry in entries if entry.kind == "file")


def _looked_at(opened: OpenDirectory, names: list[str], clock: Clock) -> _Chosen:
    found: _Chosen = []
    for number, name in enumerate(names):
        if number % _BATCH == _BATCH - 1 and clock.over():
            break
        try:
            status = os.stat(name, dir_fd=opened.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            continue
        except OSError:
            found.append((name, ListedEntry(escape_name(name), "unknown", 0, 0.0)))
            continue
        kind = _kind(status.st_mode)
        size = status.st_size if kind == "file" else 0
        found.append((name, ListedEntry(escape_name(name), kind, size, status.st_mtime)))
    return found


def _with_target(confinement: Confinement, opened: OpenDirectory, name: str, entry: ListedEntry) -> ListedEntry:
    if entry.kind != "link":
        return entry
    target = confinement.link_target(opened.descriptor, name, opened.location)
    return ListedEntry(entry.name, entry.kind, 0, entry.modified, target)


def _kind(mode: int) -> Kind:
    kinds: tuple[tuple[Callable[[int], bool], Kind], ...] = (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISLNK, "link"),
        (stat.S_ISFIFO, "fifo"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISCHR, "device"),
        (stat.S_ISBLK, "device"),
    )
    for test, kind in kinds:
        if test(mode):
            return kind
    return "unknown"
