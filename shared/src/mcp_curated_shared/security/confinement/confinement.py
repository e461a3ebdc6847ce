"""The only way to open a file: nothing outside the roots, whoever changes the tree meanwhile."""

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Literal

from mcp_curated_shared.errors import CuratedError, UnavailableError
from mcp_curated_shared.security.confinement import openat2
from mcp_curated_shared.security.confinement.arriving import Arrival, Goal, check_type
from mcp_curated_shared.security.confinement.asking import Ask, ambiguous, ask_at, interpret, path_of_uri
from mcp_curated_shared.security.confinement.boundary import Boundary, components_of
from mcp_curated_shared.security.confinement.denying import DenyRules
from mcp_curated_shared.security.confinement.descriptors import in_kernel_filesystem, link_text
from mcp_curated_shared.security.confinement.errors import PathDeniedError
from mcp_curated_shared.security.confinement.handles import Location, OpenDirectory, OpenEntry, OpenFile, Target
from mcp_curated_shared.security.confinement.names import escape_name, quoted
from mcp_curated_shared.security.confinement.narrowing import narrowed_roots
from mcp_curated_shared.security.confinement.probing import PATIENCE_SECONDS, answered
from mcp_curated_shared.security.confinement.quick import Quick
from mcp_curated_shared.security.confinement.roots import Root, RootSpec, answering, tidy, unique_labels
from mcp_curated_shared.security.confinement.walking import Walk

Method = Literal["auto", "openat2", "walk"]

_FILE = Goal("file")
_DIRECTORY = Goal("directory")
_ENTRIES = {True: Goal("entry"), False: Goal("entry", follow=False)}


class Confinement:
    """Opens paths inside a fixed set of directories, from any thread.

    Paths may be absolute, relative, `~/...`, `file:` URIs, or in the shown form of a reply; see `interpret`. A
    `Location` from an earlier opening may be given instead of text. Links that stay inside some root are followed.
    On a miss, names are matched without regard to Unicode form and letter case to the one true entry.

    Args:
        roots: What the operator allowed; a missing directory does not stop the others. One that does not answer
            within 2 s is taken for what its path and the real path of its parent say, and used once it answers.
        deny: Patterns that no path may match, see `DenyRules`.
        read_only: Refuse every mutation.
        method: How paths are resolved: "openat2" (Linux), "walk" (any POSIX system), or the better one there is.

    Raises:
        UnavailableError: This system, or the forced method, is not supported.
        SettingsError: A deny pattern is malformed.
    """

    def __init__(
        self, roots: Sequence[RootSpec], *, deny: Sequence[str] = (), read_only: bool = False, method: Method = "auto"
    ) -> None:
        _check_system()
        self._set_up(_live_roots(roots), DenyRules(deny), read_only, method)

    def _set_up(self, roots: Sequence[Root], deny: DenyRules, read_only: bool, method: Method) -> None:
        self._boundary = Boundary(roots, deny, read_only=read_only)
        supported = method != "walk" and openat2.supported()
        if method == "openat2" and not supported:
            raise UnavailableError("openat2 is not available here.", "Use the method auto or walk.")
        self.method: Literal["openat2", "walk"] = "openat2" if supported else "walk"
        self._quick = Quick(self._boundary) if supported else None

    @classmethod
    def from_client_roots(
        cls, uris: Sequence[str], *, deny: Sequence[str] = (), read_only: bool = False
    ) -> "Confinement":
        """A confinement to the directories that a client named, when the operator named none.

        Args:
            uris: `file:` URIs; anything else is passed over.
            deny: As for the class.
            read_only: As for the class.
        """
        paths = [path for uri in uris if (path := path_of_uri(uri)) is not None and "\0" not in path]
        return cls([RootSpec(tidy(path)) for path in paths], deny=deny, read_only=read_only)

    def narrowed(self, uris: Sequence[str]) -> "Confinement":
        """The part of this confinement that also lies in the directories that a client named; never more.

        Rights and rules stay as they are here. A client's directory that holds a root leaves that root whole.

        Args:
            uris: `file:` URIs; one that is not inside is passed over.
        """
        inner = object.__new__(Confinement)
        roots = narrowed_roots(self._boundary, uris, self.open_directory)
        inner._set_up(roots, self._boundary.deny, self._boundary.read_only, self.method)
        return inner

    @property
    def roots(self) -> tuple[Root, ...]:
        """The roots, in the operator's order."""
        return self._boundary.roots

    @property
    def read_only(self) -> bool:
        """Whether every mutation is refused."""
        return self._boundary.read_only

    def close(self) -> None:
        """Give up the held directories; openings in progress end in peace."""
        for root in self.roots:
            root.close()

    def __enter__(self) -> "Confinement":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Opening

    def open_file(self, asked: str | Location, *, base: str | None = None) -> OpenFile:
        """Open an existing regular file for reading.

        Args:
            asked: The path.
            base: Absolute directory that a relative path starts from.

        Raises:
            CuratedError: `OutsideRootsError`, `PathNotFoundError`, `PathDeniedError`, `NotAFileError`,
                `RootUnavailableError`, `InvalidPathError`, `AccessError`; never an `OSError`.
        """
        arrival = self._open(asked, base, _FILE)
        return OpenFile(arrival.descriptor, _location(arrival), _status(arrival))

    def open_directory(self, asked: str | Location, *, base: str | None = None) -> OpenDirectory:
        """Open an existing directory for listing. Errors as `open_file`, `NotADirectoryError` for the type."""
        arrival = self._open(asked, base, _DIRECTORY)
        return OpenDirectory(arrival.descriptor, _location(arrival), _status(arrival))

    def open_entry(self, asked: str | Location, *, base: str | None = None, follow: bool = True) -> OpenEntry:
        """Hold anything that exists without reading it. Errors as `open_file`.

        Args:
            asked: The path.
            base: Absolute directory that a relative path starts from.
            follow: Whether a link as the last component is followed, or held itself.
        """
        arrival = self._open(asked, base, _ENTRIES[follow])
        return OpenEntry(arrival.descriptor, _location(arrival), _status(arrival))

    def open_target(
        self,
        asked: str | Location,
        *,
        base: str | None = None,
        follow: bool = True,
        parents: bool = False,
        exact: bool = False,
    ) -> Target:
        """Open the place of a mutation: the parent directory, and the name to act on.

        Args:
            asked: The path; the last component need not exist.
            base: Absolute directory that a relative path starts from.
            follow: Whether a link as the last component stands for what it points at (write), or for itself
                (move, copy, delete); what is or holds a root, or would, cannot be had for that.
            parents: Make missing directories on the way.
            exact: Do not take a name that differs in letter case for the asked one (creating).

        Raises:
            CuratedError: As `open_file`; also `ReadOnlyError`, and `PathDeniedError` inside `.git`.
        """
        goal = Goal("target", follow, parents, exact)
        arrival = self._open(asked, base, goal)
        return Target(arrival.descriptor, arrival.name, _location(arrival), arrival.stat)

    def _open(self, asked: str | Location, base: str | None, goal: Goal) -> Arrival:
        ask = self._ask(asked, base)
        arrival = None
        if self._quick is not None and ask.plain:
            arrival = self._quick.open(ask, goal)
        if arrival is None:
            arrival = self._walk(ask, goal)
        try:
            self._accept(arrival, goal, ask.text)
        except BaseException:
            os.close(arrival.descriptor)
            raise
        return arrival

    def _walk(self, ask: Ask, goal: Goal) -> Arrival:
        components = components_of(ask.relative)
        return Walk(self._boundary, ask.root, components, ask.text, goal, literal=ask.literal).run()

    def _accept(self, arrival: Arrival, goal: Goal, asked: str) -> None:
        status = arrival.stat
        if goal.kind == "target":
            self._boundary.check_writable(arrival.root, arrival.relative, asked)
            self._check_kernel(os.fstat(arrival.descriptor), arrival, asked)
            if not goal.follow:
                self._boundary.check_movable(arrival.root, arrival.relative, status, asked)
            return
        if status is None or goal.kind == "entry":
            return
        check_type(goal, status, asked)
        self._check_kernel(status, arrival, asked)

    def _check_kernel(self, status: os.stat_result, arrival: Arrival, asked: str) -> None:
        if status.st_dev != arrival.device and in_kernel_filesystem(arrival.descriptor):
            raise PathDeniedError(f"{quoted(asked)} is in a filesystem of the kernel.", "Choose another path.")

    def _ask(self, asked: str | Location, base: str | None) -> Ask:
        if isinstance(asked, Location):
            if asked.root in self.roots:
                return Ask(asked.root, asked.relative, asked.path, literal=True, plain=asked.relative != "")
            asked = asked.path
        ask = interpret(self._boundary, asked, base)
        return ask if ask is not None else self._look_for(asked)

    def _look_for(self, asked: str) -> Ask:
        """A relative path without a label, among several roots: the one in which it exists, of those that answer."""
        found: list[Ask] = []
        for root in answering(self.roots):
            ask = ask_at(root, asked, asked)
            with contextlib.suppress(CuratedError):
                os.close(self._walk(ask, _ENTRIES[False]).descriptor)
                found.append(ask)
        if len(found) == 1:
            return found[0]
        raise ambiguous(self._boundary, asked, [ask.root for ask in found])

    # For walkers

    @property
    def denies(self) -> bool:
        """Whether the operator closed any path at all; if not, a walker need not ask `denied` for each entry."""
        return bool(self._boundary.deny)

    def denied(self, relative: str, root: Root | None = None) -> bool:
        """Whether the operator closed a path; a walker asks it for every entry that it would show.

        Args:
            relative: True path relative to the root.
            root: The root; without it the path is taken as relative to a root that lies in no other.
        """
        if root is None:
            return self._boundary.deny.match(relative)
        return self._boundary.denied(root, relative)

    def link_target(self, directory: int, name: str, location: Location) -> str | None:
        """Where a link leads in the end, in shown form, if that is inside and open to readers.

        Args:
            directory: Descriptor of the directory that holds the link.
            name: The link's name.
            location: Of that directory.

        Returns:
            None for a link that leads outside, to nothing, or to a closed path; and for what is no link.
        """
        try:
            text = link_text(directory, name)
        except OSError:
            return None
        if text is None:
            return None
        root, components = location.root, [*components_of(location.relative), *components_of(text)]
        if text.startswith("/"):
            found = self._boundary.match(components_of(text))
            if found is None:
                return None
            root, components = found
        try:
            arrival = Walk(self._boundary, root, components, text, _ENTRIES[True], literal=True).run()
        except CuratedError:
            return None
        os.close(arrival.descriptor)
        return _location(arrival).shown


def _check_system() -> None:
    if sys.platform == "win32":
        raise UnavailableError(
            "Windows is not supported yet: opening files safely there needs other system calls.",
            "Run the server in WSL or a container.",
            kind="unsupported",
        )


def _live_roots(specs: Iterable[RootSpec]) -> list[Root]:
    """One root for each real directory; named twice, the stricter rights count and the first spelling is shown.

    Each is looked at on a thread of its own, so that a mount that never answers delays the start but does not stop it.
    """
    listed = list(specs)
    named = [Root(spec.path, label, spec.writable) for spec, label in zip(listed, unique_labels(listed), strict=True)]
    answered([root.look for root in named], PATIENCE_SECONDS)
    roots: dict[str, Root] = {}
    for root in named:
        root.settle()
        first = roots.setdefault(root.realpath, root)
        first.writable = first.writable and root.writable
    return list(roots.values())


def _location(arrival: Arrival) -> Location:
    note = f'Found as "{escape_name(arrival.relative)}".' if arrival.tolerated else ""
    return Location(arrival.root, arrival.relative, note)


def _status(arrival: Arrival) -> os.stat_result:
    assert arrival.stat is not None  # noqa: S101 - only a target may be missing
    return arrival.stat
