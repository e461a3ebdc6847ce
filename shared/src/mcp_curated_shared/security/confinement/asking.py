"""What a caller wrote for a path, as a root and a path below it."""

import os
import re
import urllib.parse
from dataclasses import dataclass

from mcp_curated_shared.security.confinement.boundary import Boundary, components_of
from mcp_curated_shared.security.confinement.errors import AmbiguousPathError, InvalidPathError
from mcp_curated_shared.security.confinement.names import canonical, quoted
from mcp_curated_shared.security.confinement.roots import Root

LONGEST = 32_768  # characters
LONGEST_NAME = 2_600  # 255 characters, each shown as an escape
DEEPEST = 1_024

# What the kernel must not be given as it is: "", ".", ".." as components, an escape, a name that may be a short one.
_AWKWARD = re.compile(r"(?:^|/)\.{0,2}(?:/|$)|\\|~[0-9]")
_FILE_URI = re.compile(r"file:(?://([^/]*))?(/.*|$)", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Ask:
    """Where to start, and what to walk from there. Never changed; not frozen only because that doubles its cost.

    Attributes:
        root: The root that the path was matched to.
        relative: What is below it, as written.
        text: What the caller wrote, for messages.
        literal: `relative` is a true path and not a reader's text.
        plain: `relative` can be given to the kernel as it is.
    """

    root: Root
    relative: str
    text: str
    literal: bool
    plain: bool


def checked(asked: str) -> str:
    """The path in its one `surrogateescape` spelling.

    Raises:
        InvalidPathError: It is empty, too long, or holds what no file name can hold.
    """
    if not asked:
        raise InvalidPathError("The path is empty.", "Name a file or a directory.")
    if len(asked) > LONGEST:
        raise InvalidPathError(f"The path {quoted(asked)} is longer than {LONGEST} characters.", "Shorten it.")
    if len(asked) > DEEPEST:  # anything shorter holds neither
        components = asked.split("/")
        if len(components) > DEEPEST or max(map(len, components)) > LONGEST_NAME:
            raise InvalidPathError(f"{quoted(asked)} has more or longer names than a path can have.", "Shorten it.")
    if "\0" in asked:
        raise InvalidPathError(f"{quoted(asked)} holds a NUL character, which no file name can.", "Leave it out.")
    if asked.isascii():
        return asked
    try:
        os.fsencode(asked)
    except UnicodeEncodeError:
        raise InvalidPathError(
            f"{quoted(asked)} holds half of a surrogate pair, which no file name can.", "Write the character out."
        ) from None
    return canonical(asked)


def ask_at(root: Root, relative: str, text: str) -> Ask:
    """An ask for a reader's path below a root."""
    return Ask(root, relative, text, literal=False, plain=_AWKWARD.search(relative) is None)


def interpret(boundary: Boundary, asked: str, base: str | None) -> Ask | None:
    """The start that a caller's text names.

    Args:
        boundary: The roots.
        asked: Absolute, relative, `~/...` or a `file:` URI.
        base: Absolute directory for relative paths.

    Returns:
        None for a relative path of which only looking can tell the root.

    Raises:
        CuratedError: It is no path, or in no root.
    """
    path = checked(asked)
    if path[:5].lower() == "file:":
        labelled = _by_label_uri(boundary, path, asked)
        if labelled is not None:
            return labelled
        path = checked(path_of_uri(path) or "")
    elif path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)
    if not path.startswith("/"):
        if base is None:
            return _relative(boundary, path, asked)
        path = f"{base}/{path}"
    for root in boundary.by_length:
        if path.startswith(root.prefix):
            return ask_at(root, path[len(root.prefix) :], asked)
    found = boundary.match(components_of(path))
    if found is None:
        raise boundary.outside(asked)
    return ask_at(found[0], "/".join(found[1]), asked)


def _relative(boundary: Boundary, path: str, asked: str) -> Ask | None:
    if not boundary.roots:
        raise boundary.outside(asked)
    if len(boundary.roots) == 1:
        return ask_at(boundary.roots[0], path, asked)
    first, _, rest = path.partition("/")
    for root in boundary.roots:
        if first == root.label:
            return ask_at(root, rest, asked)
    return None


def ambiguous(boundary: Boundary, asked: str, holders: list[Root]) -> AmbiguousPathError:
    """The refusal of a relative path that is in none or several of several roots."""
    labels = [root.label for root in holders or boundary.roots]
    how = "is in more than one of the allowed directories" if holders else "does not say in which allowed directory"
    example = quoted(f"{labels[0]}/{asked.removeprefix('./')}")
    return AmbiguousPathError(f"{quoted(asked)} {how} ({', '.join(labels)}).", f"Write {example}, or an absolute path.")


def path_of_uri(uri: str) -> str | None:
    """The absolute path of a `file:` URI (RFC 8089); None for any other URI, or one of another host."""
    found = _FILE_URI.fullmatch(uri)
    if found is None or (found.group(1) or "").lower() not in ("", "localhost"):
        return None
    return urllib.parse.unquote(found.group(2), errors="surrogateescape") or None


def _by_label_uri(boundary: Boundary, uri: str, asked: str) -> Ask | None:
    """`file://LABEL/path`: a root by its label."""
    found = _FILE_URI.fullmatch(uri)
    if found is None:
        raise InvalidPathError(f"{quoted(asked)} is not a file URI.", "Write file:///, then the path.")
    host = urllib.parse.unquote(found.group(1) or "")
    if host.lower() in ("", "localhost"):
        return None
    relative = checked(urllib.parse.unquote(found.group(2), errors="surrogateescape") or "/")
    for root in boundary.roots:
        if root.label.lower() == host.lower():
            return ask_at(root, relative.lstrip("/"), asked)
    raise boundary.outside(asked)
