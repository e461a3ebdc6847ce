"""The fast way in: one `openat2` for a path that holds no link, and no answer for anything else."""

import os

from mcp_curated_shared.security.confinement.arriving import Arrival, Goal
from mcp_curated_shared.security.confinement.asking import Ask
from mcp_curated_shared.security.confinement.boundary import Boundary
from mcp_curated_shared.security.confinement.descriptors import READ_DIRECTORY, READ_FILE, is_link, open_parent, stat_of
from mcp_curated_shared.security.confinement.guessing import needs_no_guess
from mcp_curated_shared.security.confinement.openat2 import How, open_beneath


class Quick:
    """Opens plain paths with the kernel's own confinement.

    Args:
        boundary: The roots and rules.
    """

    __slots__ = ("_boundary", "_directory", "_entry", "_file", "_link")

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self._file = How(READ_FILE)
        self._directory = How(READ_DIRECTORY)
        self._entry = How(os.O_PATH)
        self._link = How(os.O_PATH | os.O_NOFOLLOW)

    def open(self, ask: Ask, goal: Goal) -> Arrival | None:
        """Open what was asked, if no component is a link and nothing is missing.

        Returns:
            None when the walk must look; its answer, or its error, is the one that counts.

        Raises:
            PathDeniedError: A rule closes the path.
            RootUnavailableError: The root is not there.
        """
        self._boundary.check_denied(ask.root, ask.relative, ask.text)
        pin = ask.root.pin()
        if goal.kind == "target":
            return self._open_target(ask, goal, pin.descriptor, pin.device)
        if goal.kind == "file":
            how = self._file
        elif goal.kind == "directory":
            how = self._directory
        else:
            how = self._entry if goal.follow else self._link
        descriptor = open_beneath(pin.descriptor, os.fsencode(ask.relative), how)
        if descriptor < 0:
            return None
        root, relative = self._boundary.settle(ask.root, ask.relative)
        return Arrival(root, relative, descriptor, os.fstat(descriptor), False, pin.device)

    def _open_target(self, ask: Ask, goal: Goal, pinned: int, device: int) -> Arrival | None:
        parent, _, name = ask.relative.rpartition("/")
        directory = open_beneath(pinned, os.fsencode(parent), self._directory) if parent else open_parent(pinned)
        if directory < 0:
            return None
        try:
            status = stat_of(directory, name)
        except OSError:
            os.close(directory)
            return None
        unclear = is_link(status) and goal.follow if status else not needs_no_guess(name, exact=goal.exact)
        if unclear:
            os.close(directory)
            return None
        root, relative = self._boundary.settle(ask.root, ask.relative)
        return Arrival(root, relative, directory, status, False, device, name)
