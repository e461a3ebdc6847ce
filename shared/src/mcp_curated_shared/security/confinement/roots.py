"""The allowed directories: what the operator wrote, and the directory that it was at the start."""

import contextlib
import os
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement.descriptors import (
    HOLD_DIRECTORY,
    READ_DIRECTORY,
    identity,
    open_without_links,
    real_path,
)
from mcp_curated_shared.security.confinement.errors import RootUnavailableError
from mcp_curated_shared.security.confinement.names import quoted


@dataclass(frozen=True, slots=True)
class RootSpec:
    """One allowed directory as the operator wrote it.

    Attributes:
        path: Absolute, in the configured spelling; what replies show.
        writable: Whether mutations may happen in it.
        label: Short unique name; by default a slug of the last component.
    """

    path: str
    writable: bool = True
    label: str | None = None

    @classmethod
    def parse(cls, text: str) -> "RootSpec":
        """Read `DIR`, `DIR:ro` or `DIR:rw`; `~/` is the home directory, since hosts run no shell.

        Raises:
            SettingsError: It is empty, relative, holds NUL, or an unexpanded `${...}`.
        """
        path, writable = text, True
        if text.endswith((":ro", ":rw")):
            path, writable = text[:-3], text.endswith("w")
        if "${" in path:
            raise SettingsError(
                f"The directory {quoted(text)} holds a variable that was not expanded.", "Write the directory out."
            )
        if "\0" in path:
            raise SettingsError(f"The directory {quoted(text)} holds a NUL character.", "Write the directory again.")
        if path == "~" or path.startswith("~/"):
            path = os.path.expanduser(path)
        if not os.path.isabs(path):
            raise SettingsError(
                f"The directory {quoted(text)} is not an absolute path.", "Write it out from the top of the filesystem."
            )
        return cls(tidy(path), writable)


def tidy(path: str) -> str:
    """An absolute path without doubled or trailing slashes and "."; with ".." the real path, which has none."""
    if os.sep == "/" and ".." in path.split("/"):
        return os.path.realpath(path)
    tidied = os.path.normpath(path)
    return tidied[1:] if tidied.startswith("//") else tidied


def unique_labels(specs: Iterable[RootSpec]) -> list[str]:
    """A label for each root: the given one, or the last component with unusual characters as "-", numbered if taken."""
    labels: list[str] = []
    for spec in specs:
        slug = spec.label or re.sub(r"[^\w.-]+", "-", os.path.basename(spec.path)).strip("-") or "root"
        slug = slug.encode("utf-8", "replace").decode("utf-8")
        label, number = slug, 2
        while label in labels:
            label, number = f"{slug}-{number}", number + 1
        labels.append(label)
    return labels


class Pin:
    """A held directory. Whoever works with it keeps a reference; the descriptor closes with the last one.

    Attributes:
        above: Identities of the directories that it lies in.
    """

    __slots__ = ("above", "descriptor", "device", "identity")

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.above = _identities_above(path)
        status = os.fstat(descriptor)
        self.identity = identity(status)
        self.device = status.st_dev

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self.descriptor)


def _barred(held: int) -> bool:
    """Whether the kernel refuses to open what the permissions allow: Landlock, which knows directories by identity."""
    try:
        os.close(os.open(".", READ_DIRECTORY, dir_fd=held))
    except PermissionError:
        return sys.platform == "linux" and os.access(".", os.R_OK | os.X_OK, dir_fd=held)
    except OSError:
        return False
    return False


def _identities_above(path: str) -> frozenset[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    while path != (path := os.path.dirname(path)):
        with contextlib.suppress(OSError):
            found.add(identity(os.lstat(path)))
    return frozenset(found)


class Root:
    """A live allowed directory, identified by (device, inode).

    Making one touches no file; `look` does. Its real path is recorded once. It is always opened along that path
    without following a link, so that a link put in its place later leads nowhere; a directory that is missing or was
    replaced is opened again on use.

    Attributes:
        path: The configured spelling.
        label: The short unique name.
        writable: Whether mutations are allowed here.
        realpath: The path without links, as recorded at the start.
        place: Where its last component is, which may be a link: its name below the real path of its parent.
        prefix: `path` with one slash at its end.
        found_problem: What `problem` was when the last thread of `asking` ended.
        inherited: Paths of this root relative to the wider roots that it was narrowed from.
    """

    __slots__ = (
        "_asking",
        "_closed",
        "_lock",
        "_pin",
        "_recorded",
        "_recording",
        "found_problem",
        "inherited",
        "label",
        "path",
        "place",
        "prefix",
        "realpath",
        "writable",
    )

    def __init__(
        self, path: str, label: str, writable: bool, *, realpath: str | None = None, inherited: tuple[str, ...] = ()
    ) -> None:
        self.path = path
        self.label = label
        self.writable = writable
        self.realpath = realpath or path
        self.place = self.realpath
        self.prefix = path if path.endswith("/") else f"{path}/"
        self.inherited = inherited
        self._pin: Pin | None = None
        self._closed = False
        self._asking: threading.Thread | None = None
        self.found_problem = ""
        self._recorded = False
        self._recording = threading.Lock()
        self._lock = threading.Lock()

    def look(self) -> None:
        """Find out where it really is, and hold it if it is there; blocks for as long as its mount does."""
        parent, name = os.path.split(self.path)
        place = os.path.join(real_path(parent) or parent, name)
        self._record(place, place)
        self._record(real_path(self.path) or self.path, place)
        with contextlib.suppress(RootUnavailableError):
            self.pin()

    def _record(self, realpath: str, place: str) -> None:
        with self._recording:
            if not self._recorded:
                self.realpath, self.place = realpath, place

    def settle(self) -> None:
        """What is known now of its real path holds for good; found to be elsewhere later, it is not used."""
        with self._recording:
            self._recorded = True

    def __repr__(self) -> str:
        return f"Root({self.path!r}, label={self.label!r}, writable={self.writable})"

    @property
    def available(self) -> bool:
        """Whether it can be used now; a missing directory is looked for again."""
        return not self.problem

    @property
    def problem(self) -> str:
        """One line on why it cannot be used now; empty when it can."""
        try:
            self.pin()
        except RootUnavailableError as error:
            return error.text
        return ""

    @property
    def held(self) -> Pin | None:
        """What `pin` last held, without looking whether it is still there; None when it never was."""
        return self._pin

    def pin(self) -> Pin:
        """The held directory; opened (again) if need be.

        Raises:
            RootUnavailableError: It is missing, no directory, not permitted, or its path now leads elsewhere.
        """
        try:
            status = os.stat(self.path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a possible path"
            raise self._unavailable(f"is not available now ({reason.lower()})") from None
        pin = self._pin
        if pin is not None and pin.identity == (status.st_dev, status.st_ino):
            return pin
        return self._pin_again(status)

    def _pin_again(self, status: os.stat_result) -> Pin:
        if not stat.S_ISDIR(status.st_mode):
            raise self._unavailable("is not a directory")
        with self._lock:
            if self._closed:
                raise self._unavailable("is closed")
            if real_path(self.path) != self.realpath:
                raise self._unavailable("now leads to another place than at the start")
            try:
                self._pin = Pin(open_without_links(self.realpath), self.realpath)
            except OSError as error:
                reason = (error.strerror or "error").lower()
                raise self._unavailable(f"cannot be opened ({reason})") from None
            pin = self._pin
            if _barred(pin.descriptor):
                self._pin = None
                raise self._unavailable(
                    "was replaced since the server started; restart the server to use it again (the kernel's "
                    "confinement holds the old folder)"
                )
            if self._closed:
                self._pin = None
            return pin

    def _unavailable(self, why: str) -> RootUnavailableError:
        return RootUnavailableError(
            f"The allowed directory {self.label} {why}.", "Make it available and try again, or use another one."
        )

    def asking(self) -> threading.Thread:
        """The thread that looks whether it is there: one at a time, however often it is asked for."""
        with self._recording:
            if self._asking is None or not self._asking.is_alive():
                self._asking = threading.Thread(target=self._find_problem, name="probe", daemon=True)
                self._asking.start()
            return self._asking

    def _find_problem(self) -> None:
        self.found_problem = self.problem

    def hold(self, descriptor: int) -> None:
        """Start from a directory that is already open; a copy of the descriptor is kept."""
        self._pin = Pin(os.open(".", HOLD_DIRECTORY, dir_fd=descriptor), self.realpath)

    def close(self) -> None:
        """Give the directory up; work in progress keeps its own hold until it ends."""
        self._closed = True
        if self._lock.acquire(timeout=0.1):  # who hangs with it gives the directory up when it comes back
            self._pin = None
            self._lock.release()


def problems_of(roots: Sequence[Root], seconds: float) -> list[str]:
    """Why each cannot be used now, empty when it can; none waits for another.

    Args:
        roots: Looked for at the same time, on threads of their own.
        seconds: To wait for all of them together; one that has not answered then is told to be so.
    """
    threads = [root.asking() for root in roots]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [
        f"The allowed directory {root.label} does not answer." if thread.is_alive() else root.found_problem
        for root, thread in zip(roots, threads, strict=True)
    ]


LOOK_SECONDS = 1.0
"""How long a choice among several directories waits for those that may hang, all together."""


def answering(roots: Sequence[Root]) -> list[Root]:
    """Those that can be used now: who chooses among several must not hang with one of them."""
    problems = problems_of(roots, LOOK_SECONDS)
    return [root for root, problem in zip(roots, problems, strict=True) if not problem]
