"""Which lane of the pool a path's work runs in: what hangs must be charged to the folder that hangs."""

import os
from urllib.parse import unquote, urlsplit

from mcp_curated_shared.security.confinement import Confinement, Root

ELSEWHERE = "outside the allowed ones"
"""The lane of absolute paths that begin with no root; named in errors after "The folder"."""


def lane_of(confinement: Confinement | None, path: str, *, start: str | None = None) -> str:
    """The label of the root that a path names by its text alone; no file is touched.

    Args:
        confinement: The operator's folders.
        path: As the caller wrote it.
        start: Where relative paths start, a path or URI, when the client gave one.

    Returns:
        `ELSEWHERE` for an absolute path in no root; "" when only looking could tell, and for no path.
    """
    if confinement is None or not confinement.roots or not path:
        return ""
    if path[:5].lower() == "file:":
        return _of_uri(confinement, path)
    path = os.path.expanduser(path) if path.startswith("~") else path
    if os.path.isabs(path):
        return _of_absolute(confinement, path)
    if start is not None:
        return lane_of(confinement, start) if start[:1] == "/" or start[:5].lower() == "file:" else ""
    if len(confinement.roots) == 1:
        return confinement.roots[0].label
    first = path.partition("/")[0]
    return first if any(root.label == first for root in confinement.roots) else ""


def _of_uri(confinement: Confinement, uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ELSEWHERE
    host = unquote(parts.netloc).lower()
    if host in ("", "localhost"):
        return _of_absolute(confinement, unquote(parts.path, errors="surrogateescape") or "/")
    return next((root.label for root in confinement.roots if root.label.lower() == host), ELSEWHERE)


def _of_absolute(confinement: Confinement, path: str) -> str:
    plain = "/" + os.path.normpath(path).lstrip("/")
    fitting = [
        (len(spelling), root.label)
        for root in confinement.roots
        for spelling in _spellings(root)
        if plain == spelling or plain.startswith(spelling if spelling.endswith("/") else f"{spelling}/")
    ]
    return max(fitting)[1] if fitting else ELSEWHERE


def _spellings(root: Root) -> tuple[str, str]:
    return root.path, root.realpath
