"""A directory tree that fits a reader: the shallow part whole, the deep part as counts."""

import os
from collections import deque
from dataclasses import dataclass, field

from mcp_curated_filesystem.finding.following import following_call
from mcp_curated_filesystem.finding.ignoring import Rules
from mcp_curated_filesystem.finding.sieving import Scope, Sieve, Skipped, counted, read_entries
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_shared.security.confinement import (
    Confinement,
    OpenDirectory,
    escape_name,
    from_os_error,
    in_kernel_filesystem,
    open_child,
)
from mcp_curated_shared.security.limits import DEFAULT_BUDGET, cut_rows
from mcp_curated_shared.work import Work

DEFAULT_DEPTH = 3
MAXIMUM_DEPTH = 100
DEFAULT_SECONDS = 10.0

_NOTES = 2_000  # characters that are kept free for what is said before and after the tree
_COUNTS = 34  # about what the counts of a collapsed directory take


@dataclass(frozen=True, slots=True)
class Node:
    """One directory of a tree.

    Attributes:
        name: In shown form; the tree's top has the absolute path.
        directories: How many directories are in it, of those that are looked at; None if it was not read.
        files: How many other entries.
        children: Its directories, if it is expanded.
        leaves: Its other entries, in shown form, if it is expanded.
        expanded: Whether its entries are given, not only counted.
        note: Why it was not read.
    """

    name: str
    directories: int | None
    files: int
    children: "tuple[Node, ...]"
    leaves: tuple[str, ...]
    expanded: bool
    note: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A directory tree within a budget.

    Attributes:
        top: The directory that was asked for.
        scope: What was asked for.
        depth: Levels that were asked for.
        collapsed: How many directories are given by their counts only, though they have entries.
        biggest: The path from the top of the one with the most entries, in shown form; empty if none is collapsed.
        left_out: How many entries of the top itself there was no room for.
        cut: Whether the budget of characters, not the depth, was what collapsed some.
        complete: Whether it was read within the time budget.
        skipped: What was not looked at.
        notes: What the reader should know.
    """

    top: Node
    scope: Scope
    depth: int
    collapsed: int
    biggest: str
    left_out: int
    cut: bool
    complete: bool
    skipped: Skipped
    notes: tuple[str, ...]


def directory_tree(
    confinement: Confinement,
    scope: Scope,
    *,
    depth: int = DEFAULT_DEPTH,
    characters: int = DEFAULT_BUDGET.characters,
    seconds: float = DEFAULT_SECONDS,
    work: Work,
) -> Tree:
    """Read a directory tree, level by level, as far as a reply has room for it.

    Args:
        confinement: Opens the directory.
        scope: The directory, and what in it is left out.
        depth: Levels to expand, 1 to 100.
        characters: Room for the rendered tree, of which one beyond ASCII counts as its bytes.
        seconds: The time budget; when it is over the rest stays collapsed.
        work: The call.

    Raises:
        CuratedError: The directory cannot be opened, a pattern is malformed, or the caller has gone.
    """
    depth = max(1, min(depth, MAXIMUM_DEPTH))
    clock = Clock(work, seconds)
    with confinement.open_directory(scope.path, base=scope.base) as opened:
        sieve = Sieve(confinement, opened.location, scope)
        growth = _Growth(opened, sieve, clock, characters - _NOTES - _width(opened.location.shown))
        try:
            top = growth.grow(depth)
        except OSError as error:
            raise from_os_error(error, scope.path) from None
        collapsed = growth.collapsed()
        biggest = max(collapsed, key=_Branch.weight, default=None)
        return Tree(
            top.node(opened.location.shown),
            scope,
            depth,
            len(collapsed),
            escape_name(biggest.path) if biggest else "",
            growth.left_out,
            growth.cut,
            not clock.over(),
            sieve.tally.total(),
            (opened.location.note,) if opened.location.note else (),
        )


def render(value: Tree) -> str:
    """Write the tree for a reader: two spaces a level, directories with a `/`, collapsed ones with their counts.

    It was grown to fit; only where what is said after it takes more than was kept free for that, the last lines go.
    """
    lines: list[str] = []
    stack: list[tuple[Node | str, int]] = [(value.top, 0)]
    while stack:
        item, level = stack.pop()
        indentation = "  " * level
        if isinstance(item, str):
            lines.append(indentation + item)
            continue
        lines.append(indentation + _line(item))
        stack.extend((leaf, level + 1) for leaf in reversed(item.leaves))
        stack.extend((child, level + 1) for child in reversed(item.children))
    after = _afterwards(value)
    room = DEFAULT_BUDGET.characters - sum(len(line) + 1 for line in after)
    return "\n".join([cut_rows(lines, room, lambda _: "a smaller depth, or a folder further down"), *after])


def _line(node: Node) -> str:
    name = node.name.rstrip("/") + "/"
    if node.note:
        return f"{name} ({node.note})"
    if node.directories is None:
        return f"{name} (not read)"
    if node.expanded:
        return name
    return f"{name} ({_counts(node.directories, node.files) or 'empty'})"


def _counts(directories: int, files: int) -> str:
    counts = (counted(directories, "dir"), counted(files, "file"))
    return ", ".join(count for count in counts if count)


def _afterwards(value: Tree) -> list[str]:
    said = [*value.notes, *value.skipped.sentences()]
    if value.left_out:
        call = following_call("list_directory", path=value.top.name)
        said.append(f"[{counted(value.left_out, 'more entry', 'more entries')} at the top: {call}]")
    if value.collapsed:
        arguments = value.scope.arguments()
        path = f"{value.top.name.rstrip('/')}/{value.biggest}"
        call = following_call("directory_tree", path=path, **arguments)
        why = "there is no room for more" if value.cut else f"depth={value.depth}"
        said.append(
            f"[{counted(value.collapsed, 'directory', 'directories')} shown by counts only ({why}). "
            f"The biggest: {call}]"
        )
    if not value.complete:
        said.append("Partial: the time for reading was over; name a smaller directory.")
    return said


@dataclass(slots=True)
class _Branch:
    """A directory while the tree grows."""

    path: str
    level: int
    rules: Rules
    directories: list[str] | None = None
    files: list[str] = field(default_factory=list[str])
    children: "list[_Branch]" = field(default_factory=list["_Branch"])
    expanded: bool = False
    note: str = ""

    def weight(self) -> int:
        return len(self.directories or ()) + len(self.files)

    def width_of_counts(self) -> int:
        return len(f" ({_counts(len(self.directories or ()), len(self.files)) or self.note or 'not read'})")

    def node(self, name: str) -> Node:
        """Freeze this branch with everything below it."""
        children = tuple(child.node(escape_name(child.path.rpartition("/")[2])) for child in self.children)
        leaves = tuple(escape_name(file) for file in self.files) if self.expanded else ()
        count = None if self.directories is None else len(self.directories)
        return Node(name, count, len(self.files), children, leaves, self.expanded, self.note)


class _Growth:
    """Grows a tree level by level while there is room for what a level adds.

    Each directory that is shown is read once, for its counts; so the reading is bounded by the room as well.
    """

    def __init__(self, opened: OpenDirectory, sieve: Sieve, clock: Clock, room: int) -> None:
        self._opened = opened
        self._sieve = sieve
        self._clock = clock
        self._room = room
        self._branches: list[_Branch] = []
        self.cut = False
        self.left_out = 0

    def grow(self, depth: int) -> _Branch:
        top = _Branch("", 0, self._sieve.rules)
        with _Ladder(self._opened) as ladder:
            self._read(ladder, top, required=True)
            self._branches.append(top)
            queue = deque([top])
            while queue and not self._clock.over():
                branch = queue.popleft()
                if branch.level >= depth or not branch.weight():
                    branch.expanded = branch.directories is not None and not branch.weight() and branch.level == 0
                    continue
                cost = self._cost(branch)
                if cost > self._room:
                    self.cut = True
                    if branch.level:
                        continue
                    self._shorten(branch)
                self._room -= min(cost, self._room) - branch.width_of_counts()
                self._expand(ladder, branch)
                queue.extend(branch.children)
        return top

    def collapsed(self) -> list[_Branch]:
        return [branch for branch in self._branches if not branch.expanded and branch.weight()]

    def _cost(self, branch: _Branch) -> int:
        indentation = 2 * branch.level + 3  # and the line's end
        directories = branch.directories or []
        lines = (len(directories) + len(branch.files)) * indentation
        return _width("".join(directories)) + _width("".join(branch.files)) + lines + len(directories) * (1 + _COUNTS)

    def _shorten(self, top: _Branch) -> None:
        """A top with more entries than there is room for: its first ones, directories before files."""
        room = self._room
        for names, extra in ((top.directories or [], _COUNTS + 4), (top.files, 3)):
            for position, name in enumerate(names):
                room -= _width(name) + extra
                if room < 0:
                    self.left_out += len(names) - position
                    del names[position:]
                    break

    def _expand(self, ladder: "_Ladder", branch: _Branch) -> None:
        branch.expanded = True
        for name in branch.directories or ():
            path = f"{branch.path}/{name}" if branch.path else name
            child = _Branch(path, branch.level + 1, branch.rules)
            if not self._clock.over():
                self._read(ladder, child, required=False)
                self._room += _COUNTS - child.width_of_counts()
            branch.children.append(child)
            self._branches.append(child)

    def _read(self, ladder: "_Ladder", branch: _Branch, *, required: bool) -> None:
        try:
            descriptor = ladder.reach(branch.path)
            entries = read_entries(descriptor, self._clock)
        except OSError as error:
            if required:
                raise
            branch.note = "not readable" if isinstance(error, PermissionError) else "gone or not readable"
            return
        work = self._clock.work
        work.done += len(entries)
        prefix = f"{branch.path}/" if branch.path else ""
        branch.rules = self._sieve.sift(descriptor, prefix, branch.rules, entries)
        branch.directories = sorted(entries.directories, key=_order)
        branch.files = sorted([*entries.files, *entries.others], key=_order)


class _Ladder:
    """Open directories from the top to the last one that was asked for, each opened from the one above it.

    Neighbours in a level share all but their last step, which makes the next one cheap to reach.
    """

    def __init__(self, top: OpenDirectory) -> None:
        self._top = top
        self._device = top.stat.st_dev
        self._names: list[str] = []
        self._steps: list[int] = []

    def __enter__(self) -> "_Ladder":
        return self

    def __exit__(self, *_: object) -> None:
        self._back_to(0)

    def reach(self, path: str) -> int:
        """Give a descriptor of a directory by its path from the top; it stays this ladder's.

        Raises:
            OSError: A directory on the way cannot be opened, is a link now, or is the kernel's.
        """
        names = path.split("/") if path else []
        shared = 0
        while shared < min(len(names), len(self._names)) and names[shared] == self._names[shared]:
            shared += 1
        self._back_to(shared)
        for name in names[shared:]:
            descriptor = open_child(self._steps[-1] if self._steps else self._top.descriptor, name, kind="directory")
            self._steps.append(descriptor)
            self._names.append(name)
            if os.fstat(descriptor).st_dev != self._device and in_kernel_filesystem(descriptor):
                raise PermissionError("the kernel's own files")
        return self._steps[-1] if self._steps else self._top.descriptor

    def _back_to(self, count: int) -> None:
        while len(self._steps) > count:
            os.close(self._steps.pop())
            self._names.pop()


def _width(name: str) -> int:
    """How many bytes a name takes in a reply."""
    if name.isascii() and name.isprintable() and "\\" not in name:
        return len(name)
    return len(escape_name(name).encode())


def _order(name: str) -> tuple[str, str]:
    return name.casefold(), name
