"""The set of roots and the rules on it: which root a path belongs to, and what may happen there."""

import os
import stat
from collections.abc import Iterator, Sequence

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement.denying import DenyRules
from mcp_curated_shared.security.confinement.descriptors import identity, real_path
from mcp_curated_shared.security.confinement.errors import (
    OutsideRootsError,
    PathDeniedError,
    ReadOnlyError,
)
from mcp_curated_shared.security.confinement.names import is_git_name, quoted, rule_key, unescape_name, unicode_key
from mcp_curated_shared.security.confinement.roots import Root

Spelling = tuple[str, ...]


def components_of(path: str) -> list[str]:
    """The components of a path without empty ones and "."; ".." stays."""
    return [part for part in path.split("/") if part not in ("", ".")]


class Boundary:
    """The roots of one confinement, how they contain each other, and the operator's rules.

    Args:
        roots: In the operator's order, with different real paths.
        deny: The closed patterns.
        read_only: Whether every root is.
    """

    __slots__ = ("_bases", "_git_roots", "_kept", "_nested", "_spellings", "by_length", "deny", "read_only", "roots")

    def __init__(self, roots: Sequence[Root], deny: DenyRules, *, read_only: bool) -> None:
        self.roots = tuple(roots)
        self.deny = deny
        self.read_only = read_only
        self.by_length = sorted(self.roots, key=lambda root: -len(root.prefix))
        spelled = {(tuple(components_of(path)), root) for root in roots for path in (root.path, root.realpath)}
        self._spellings: list[tuple[Spelling, Root]] = sorted(spelled, key=lambda item: -len(item[0]))
        self._nested = {outer: _nested_in(outer, [(root.realpath, root) for root in roots]) for outer in roots}
        places = [(path, root) for root in roots for path in sorted({root.realpath, root.place})]
        self._kept = {outer: _nested_in(outer, places) for outer in roots}
        self._bases = {root: self._bases_of(root) for root in roots}
        self._git_roots = frozenset(root for root in roots if any(map(is_git_name, components_of(root.realpath))))

    @property
    def labels(self) -> list[str]:
        """The labels of the roots, all that a refusal tells of them."""
        return [root.label for root in self.roots]

    def _bases_of(self, root: Root) -> tuple[str, ...]:
        outer = (
            f"{base}/{relative}" if base else relative
            for holder in self.roots
            for relative, inner in self._nested[holder]
            if inner is root
            for base in ("", *holder.inherited)
        )
        return ("", *root.inherited, *outer)

    def bases(self, root: Root) -> tuple[str, ...]:
        """The path of a root relative to itself (""), and to every wider root that it lies in."""
        return self._bases[root]

    # Which root

    def match(self, components: Sequence[str]) -> tuple[Root, list[str]] | None:
        """The root that an absolute path lies in, and the rest of the path below it.

        By the configured and the real spelling first; then by identity, which answers other spellings of the same
        directory: /tmp for /private/tmp, letter case, 8.3 names, a path through a link. This only picks where to
        start: the opening below is confined whatever is picked.

        Args:
            components: Of the absolute path; may hold "..".

        Returns:
            None when it lies in none of the roots.
        """
        found = self._by_spelling(components)
        if found is not None or not self.roots:
            return found
        plain = components_of(os.path.normpath("/" + "/".join(components)))
        return self._by_spelling(plain) or self._by_unicode(plain) or self._by_identity(plain) or self._by_links(plain)

    def _by_spelling(self, components: Sequence[str]) -> tuple[Root, list[str]] | None:
        for spelling, root in self._spellings:
            if tuple(components[: len(spelling)]) == spelling:
                return root, list(components[len(spelling) :])
        return None

    def _by_unicode(self, components: Sequence[str]) -> tuple[Root, list[str]] | None:
        if all(part.isascii() and "\\" not in part for part in components):
            return None
        keys = [unicode_key(unescape_name(part)) for part in components]
        for spelling, root in self._spellings:
            if keys[: len(spelling)] == [unicode_key(part) for part in spelling]:
                return root, list(components[len(spelling) :])
        return None

    def _by_identity(self, components: Sequence[str]) -> tuple[Root, list[str]] | None:
        identities = {pin.identity: root for root in self.roots if (pin := root.held) is not None}
        found = None
        for length in range(len(components) + 1):
            try:
                status = os.stat("/" + "/".join(components[:length]))
            except (OSError, ValueError):
                break
            root = identities.get(identity(status))
            if root is not None:
                found = root, list(components[length:])
        return found

    def _by_links(self, components: Sequence[str]) -> tuple[Root, list[str]] | None:
        if not components:
            return None
        real = real_path("/" + "/".join(components[:-1]))
        return self._by_spelling([*components_of(real), components[-1]]) if real is not None else None

    def settle(self, root: Root, relative: str) -> tuple[Root, str]:
        """The same place as seen from the most specific root that holds it."""
        for inside, inner in self._nested[root]:
            if relative == inside or relative.startswith(f"{inside}/"):
                return inner, relative[len(inside) + 1 :]
            head, rest = _cut(relative, inside.count("/") + 1)
            if rule_key(head) == rule_key(inside) and _same_directory(root, head, inner):
                return inner, rest
        return root, relative

    # What may happen

    def denied(self, root: Root, relative: str) -> bool:
        """Whether the operator closed this true path, as seen from any root that it lies in.

        Args:
            root: A root that holds it; a walk that began in a wider root need not know of the roots inside.
            relative: The path below that root.
        """
        if not self.deny:
            return False
        if any(self.deny.match(_joined(base, relative)) for base in self._bases[root]):
            return True
        nested = self._nested[root]
        return bool(nested) and any(self.deny.match(inner) for inner in _below(nested, relative))

    def check_denied(self, root: Root, relative: str, asked: str) -> None:
        """Refuse a closed true path.

        Raises:
            PathDeniedError: Whether or not it exists.
        """
        if self.deny and self.denied(root, relative):
            raise PathDeniedError(f"{quoted(asked)} is closed by the operator's deny rules.", "Choose another path.")

    def check_writable(self, root: Root, relative: str, asked: str) -> None:
        """Refuse a mutation of this true path (seen from its most specific root).

        Raises:
            ReadOnlyError: The server or the root is read-only.
            PathDeniedError: It is the inside of a `.git`.
        """
        if self.read_only:
            raise ReadOnlyError(f"{quoted(asked)} cannot be changed: this server is read-only.")
        if not root.writable:
            raise ReadOnlyError(
                f"{quoted(asked)} cannot be changed: the allowed directory {root.label} is read-only.",
                "Use a writable one.",
            )
        if root in self._git_roots or any(map(is_git_name, relative.split("/"))):
            raise PathDeniedError(
                f"{quoted(asked)} belongs to the inside of a .git, which is never written.", "Use git itself."
            )

    def check_movable(self, root: Root, relative: str, status: os.stat_result | None, asked: str) -> None:
        """Refuse to move, remove or put something where an allowed directory is, or where one lies or would lie in.

        Its rules belong to its path: moved away they would stay behind, and what is put in its place would come
        under rights of which nobody thought. To move an entry is to change the directory that it is in, so the
        rights of an allowed directory never speak for its own entry.

        Args:
            root: The most specific root.
            relative: The true path below it.
            status: `lstat` of what is there; None when nothing is.
            asked: The caller's text.

        Raises:
            PathDeniedError: It is or holds an allowed directory, by its configured path, its real one or identity.
        """
        if not relative:
            raise PathDeniedError(
                f"{quoted(asked)} is the allowed directory {root.label} itself and stays as it is.",
                "Work on what is inside it.",
            )
        inner = self._held_by(root, relative, status)
        if inner is not None:
            raise PathDeniedError(
                f"{quoted(asked)} is or holds the allowed directory {inner.label} and stays where it is.",
                "Work on what is inside it." if status is not None else "Choose another path.",
            )

    def _held_by(self, root: Root, relative: str, status: os.stat_result | None) -> Root | None:
        key = f"{rule_key(relative)}/"
        for inside, inner in self._kept[root]:
            if f"{rule_key(inside)}/".startswith(key):
                return inner
        if status is None or not stat.S_ISDIR(status.st_mode):
            return None
        own = identity(status)
        pins = ((other, other.held) for other in self.roots)
        return next((other for other, pin in pins if pin and (own == pin.identity or own in pin.above)), None)

    def outside(self, asked: str, *, link: bool = False) -> CuratedError:
        """The refusal of a path that is in no root."""
        return OutsideRootsError(asked, self.labels, link=link)


def _joined(base: str, relative: str) -> str:
    return f"{base}/{relative}" if base and relative else base or relative


def _below(nested: Sequence[tuple[str, Root]], relative: str) -> Iterator[str]:
    """A path as seen from each of the nested roots that it lies in."""
    key = rule_key(relative)
    for inside, _ in nested:
        start = f"{rule_key(inside)}/"
        if key.startswith(start):
            yield key[len(start) :]


def _cut(relative: str, count: int) -> tuple[str, str]:
    parts = relative.split("/")
    return "/".join(parts[:count]), "/".join(parts[count:])


def _nested_in(outer: Root, places: Sequence[tuple[str, Root]]) -> tuple[tuple[str, Root], ...]:
    top = outer.realpath if outer.realpath.endswith("/") else f"{outer.realpath}/"
    inside = [(path[len(top) :], root) for path, root in places if root is not outer and path.startswith(top)]
    return tuple(sorted(inside, key=lambda item: -len(item[0])))


def _same_directory(root: Root, relative: str, inner: Root) -> bool:
    outer, pin = root.held, inner.held
    if outer is None or pin is None:
        return True  # the narrower reading while it cannot be compared
    try:
        return identity(os.stat(relative, dir_fd=outer.descriptor, follow_symlinks=False)) == pin.identity
    except OSError:
        return False
