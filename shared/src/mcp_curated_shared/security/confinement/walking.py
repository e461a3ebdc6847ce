"""Following a path component by component over held descriptors, links included, without ever leaving the roots.

Every component is opened with `O_NOFOLLOW` below a directory that is already held, so the kernel never follows a
link for us; a link's text is read and walked in turn, ".." goes back to the descriptor that is held for the parent.
So the true path is known at every step, and the rules are decided on it. Another process that swaps components
while this runs can make a step fail or repeat, never lead it outside.
"""

import errno
import os
import re
from typing import NoReturn

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.security.confinement.arriving import Arrival, Goal, check_type
from mcp_curated_shared.security.confinement.boundary import Boundary, components_of
from mcp_curated_shared.security.confinement.descriptors import (
    HOLD_DIRECTORY,
    HOLD_ENTRY,
    READ_DIRECTORY,
    READ_FILE,
    identity,
    is_link,
    link_text,
    names_in,
    open_parent,
    stat_of,
)
from mcp_curated_shared.security.confinement.errors import (
    InvalidPathError,
    NotADirectoryError,
    PathNotFoundError,
    from_os_error,
    kind_of,
)
from mcp_curated_shared.security.confinement.guessing import find_similar, suggestion
from mcp_curated_shared.security.confinement.names import quoted, unescape_name
from mcp_curated_shared.security.confinement.roots import Root

LINKS_AT_MOST = 40  # as the kernel: path_resolution(7)
RETRIES_AT_MOST = 256
DEPTH_AT_MOST = 128  # held descriptors a walk

_SHORT_NAME = re.compile(r"~[0-9]")
_IS_LINK = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
_NOT_OPENABLE = frozenset({errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP})
_NO_BOUNDARY = 1 << 30


class Walk:
    """One walk from a root to what was asked.

    Args:
        boundary: The roots and rules.
        root: Where it starts.
        components: What is below it; may hold "..".
        asked: The caller's text, for messages.
        goal: What is to be opened at the end.
        literal: The components are true names, not a reader's text.
    """

    def __init__(
        self, boundary: Boundary, root: Root, components: list[str], asked: str, goal: Goal, *, literal: bool = False
    ) -> None:
        self.boundary = boundary
        self.asked = asked
        self.goal = goal
        self.literal = literal
        self.root = root
        self.pin = root.pin()
        self.stack: list[tuple[int, str]] = []
        self.pending = components[::-1]
        self.link_floor = _NO_BOUNDARY  # pending entries at this index and above come from a link's text
        self.links = 0
        self.retries = 0
        self.tolerated = False

    def run(self) -> Arrival:
        """Walk to the end.

        Raises:
            CuratedError: Every failure, as its own kind.
        """
        try:
            self.boundary.check_denied(self.root, "", self.asked)
            while True:
                arrival = self._step()
                if arrival is not None:
                    return arrival
        except OSError as error:
            raise from_os_error(error, self.asked) from None
        finally:
            self._drop_stack()

    # One step

    def _step(self) -> Arrival | None:
        if not self.pending:
            return self._stay()
        name = self.pending.pop()
        if name == "..":
            self._up()
            return None
        if "\\" in name or "~" in name:
            name = self._true_spelling(name)
        if self.boundary.deny:
            self.boundary.check_denied(self.root, self._path(name), self.asked)
        if self.pending:
            self._enter(name)
            return None
        return self._finish(name)

    @property
    def _here(self) -> int:
        return self.stack[-1][0] if self.stack else self.pin.descriptor

    def _path(self, *names: str) -> str:
        return "/".join([*(name for _, name in self.stack), *names])

    @property
    def _in_link(self) -> bool:
        return len(self.pending) >= self.link_floor

    def _true_spelling(self, name: str) -> str:
        if "\\" in name and not self.literal and not self._in_link:
            meant = unescape_name(name)
            if meant != name and stat_of(self._here, meant) is not None:
                name = meant
        if _SHORT_NAME.search(name):
            name = self._long_name(name)
        return name

    def _long_name(self, name: str) -> str:
        """The listed name of what a short (8.3) name opens, so that no rule is dodged with `SECRET~1`."""
        status = stat_of(self._here, name)
        if status is None:
            return name
        names = names_in(self._here)
        if name in names:
            return name
        same = (
            other for other in names if (found := stat_of(self._here, other)) and identity(found) == identity(status)
        )
        return next(same, name)

    def _enter(self, name: str) -> None:
        if len(self.stack) >= DEPTH_AT_MOST:
            raise InvalidPathError(f"{quoted(self.asked)} is more than {DEPTH_AT_MOST} directories deep.")
        while True:
            try:
                self.stack.append((os.open(name, HOLD_DIRECTORY, dir_fd=self._here), name))
            except FileNotFoundError:
                name = self._missing_directory(name)
            except OSError as error:
                if error.errno not in _IS_LINK:
                    raise
                if self._follow(name):
                    return
                self._no_directory(name)
            else:
                return

    def _up(self) -> None:
        if self.stack:
            os.close(self.stack.pop()[0])
            return
        above = components_of(os.path.dirname(self.root.realpath)) if self.root.realpath != "/" else []
        self._jump(above)

    def _jump(self, components: list[str]) -> None:
        """Go on from an absolute path: into whichever root holds it."""
        floor = min(self.link_floor, len(self.pending))
        found = self.boundary.match([*components, *reversed(self.pending)])
        if found is None:
            raise self.boundary.outside(self.asked, link=self.links > 0)
        self._drop_stack()
        self.root, rest = found
        self.pin = self.root.pin()
        self.pending = rest[::-1]
        self.link_floor = min(floor, len(self.pending)) if self.links else _NO_BOUNDARY
        self.boundary.check_denied(self.root, "", self.asked)

    def _follow(self, name: str) -> bool:
        """Put a link's text in front of what is left to walk; False when the name is no link (any more)."""
        text = link_text(self._here, name)
        if text is None:
            return False
        self.links += 1
        if self.links > LINKS_AT_MOST:
            raise PathNotFoundError(f"{quoted(self.asked)} goes through more than {LINKS_AT_MOST} links.")
        self.link_floor = min(self.link_floor, len(self.pending))
        if text.startswith("/"):
            self._jump(components_of(text))
        else:
            self.pending += components_of(text)[::-1]
        return True

    def _retry(self) -> None:
        self.retries += 1
        if self.retries > RETRIES_AT_MOST:
            raise UnavailableError(f"{quoted(self.asked)} keeps changing while it is opened.", "Try again.")

    def _no_directory(self, name: str) -> None:
        """The name was no directory and is no link: wrong, or it changed in between and is tried again."""
        status = stat_of(self._here, name)
        if status is not None and not is_link(status) and kind_of(status.st_mode) != "a directory":
            named = self.pending and not self._in_link  # a link's target is not told
            subject = f"{quoted(self.asked)}: {quoted(name)}" if named else quoted(self.asked)
            raise NotADirectoryError(
                f"{subject} is {kind_of(status.st_mode)}, not a directory.",
                "List the directory above it to see what is there.",
            )
        self._retry()

    # What is missing

    def _missing_directory(self, name: str) -> str:
        found = self._similar(name)
        if found is not None:
            return found
        if not self.goal.parents or ".." in self.pending:
            self._not_found(name)
        self._make(name)
        return name

    def _similar(self, name: str) -> str | None:
        self._retry()
        if self._in_link:
            raise PathNotFoundError(
                f"{quoted(self.asked)} goes through a link that leads to nothing.", "Choose another path."
            )
        if self.literal:
            return None
        found = find_similar(self._here, name, exact=self.goal.exact)
        if found is not None:
            self.tolerated = True
            self.boundary.check_denied(self.root, self._path(found), self.asked)
        return found

    def _make(self, name: str) -> None:
        ahead = self._path(name, *reversed(self.pending))
        self.boundary.check_denied(self.root, ahead, self.asked)
        self.boundary.check_writable(*self.boundary.settle(self.root, ahead), self.asked)
        try:
            os.mkdir(name, 0o777, dir_fd=self._here)
        except FileExistsError:
            self._retry()

    def _not_found(self, name: str) -> NoReturn:
        names = [other for other in names_in(self._here) if not self.boundary.denied(self.root, self._path(other))]
        inside = "" if self.links else self._path()  # a link's target is not told
        where = f" in {quoted(inside)}" if inside else ""
        text = f"{quoted(self.asked)} does not exist"
        if self.pending:
            text += f": there is no {quoted(name)}{where}"
        raise PathNotFoundError(f"{text}.", suggestion(name, names, inside))

    # The end

    def _stay(self) -> Arrival:
        """The path ends at a directory that is already held."""
        if self.goal.kind == "target":
            if not self.stack:
                raise InvalidPathError(f"{quoted(self.asked)} is an allowed directory itself.", "Name something in it.")
            descriptor, name = self.stack.pop()
            os.close(descriptor)
            return self._arrive_target(name, stat_of(self._here, name))
        flags = {"directory": READ_DIRECTORY, "entry": HOLD_DIRECTORY, "file": READ_DIRECTORY}[self.goal.kind]
        return self._arrive(os.open(".", flags, dir_fd=self._here), self._path())

    def _finish(self, name: str) -> Arrival | None:
        while True:
            try:
                arrival = self._finish_target(name) if self.goal.kind == "target" else self._finish_open(name)
            except FileNotFoundError:
                found = self._similar(name)
                if found is None:
                    self._not_found(name)
                name = found
            except OSError as error:
                if error.errno in _IS_LINK:
                    if self._follow(name):
                        return None
                    if self.goal.kind == "directory":
                        self._no_directory(name)
                    else:
                        self._retry()
                    continue
                if error.errno in _NOT_OPENABLE and (status := stat_of(self._here, name)) is not None:
                    check_type(self.goal, status, self.asked)
                raise
            else:
                return arrival

    def _finish_open(self, name: str) -> Arrival:
        flags = {"file": READ_FILE, "directory": READ_DIRECTORY, "entry": HOLD_ENTRY}[self.goal.kind]
        descriptor = os.open(name, flags, dir_fd=self._here)
        if self.goal.kind == "entry" and self.goal.follow and is_link(os.fstat(descriptor)):
            os.close(descriptor)
            raise OSError(errno.ELOOP, "a link")
        return self._arrive(descriptor, self._path(name))

    def _finish_target(self, name: str) -> Arrival:
        status = stat_of(self._here, name)
        if status is None:
            found = self._similar(name)
            if found is not None:
                name, status = found, stat_of(self._here, found)
        if status is not None and self.goal.follow and is_link(status):
            raise OSError(errno.ELOOP, "a link")
        return self._arrive_target(name, status)

    def _arrive(self, descriptor: int, relative: str) -> Arrival:
        root, relative = self.boundary.settle(self.root, relative)
        return Arrival(root, relative, descriptor, os.fstat(descriptor), self.tolerated, self.pin.device)

    def _arrive_target(self, name: str, status: os.stat_result | None) -> Arrival:
        root, relative = self.boundary.settle(self.root, self._path(name))
        return Arrival(root, relative, open_parent(self._here), status, self.tolerated, self.pin.device, name)

    def _drop_stack(self) -> None:
        for descriptor, _ in self.stack:
            os.close(descriptor)
        self.stack.clear()
