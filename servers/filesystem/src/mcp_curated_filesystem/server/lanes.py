"""Which lane of the pool a path's work runs in: what hangs must be charged to the folder that hangs.

What no text can tell is charged to the lane "": a relative path among several folders that no client start and no label
places. Looking for it passes over the folders that do not answer, so only one that begins to hang at that very moment
holds a thread of that lane. A link in one folder that leads into a hanging one is charged to the folder of the link.
"""

import os
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from mcp_curated_shared.security.confinement import Confinement, RootSpec, path_of_uri, unique_labels

ELSEWHERE = "outside the allowed ones"
"""The lane of absolute paths that begin with no root; named in errors after "The folder"."""

_Places = Sequence[tuple[str, tuple[str, ...]]]  # the label of each folder, and the spellings of its path


def lane_of(confinement: Confinement | None, path: str, *, start: str | None = None) -> str:
    """The label of the root that a path names by its text alone; no file is touched.

    Args:
        confinement: The operator's folders.
        path: As the caller wrote it.
        start: Where relative paths start, a path or URI, when the client gave one.

    Returns:
        `ELSEWHERE` for an absolute path in no root; "" when only looking could tell, and for no path.
    """
    if confinement is None:
        return ""
    return _lane([(root.label, (root.path, root.realpath)) for root in confinement.roots], path, start)


def lane_among(uris: Sequence[str], path: str) -> str:
    """The same among the client's own roots, where the operator named none.

    Args:
        uris: The client's roots, in its order; relative paths start in the first one that is there.
        path: As the caller wrote it.
    """
    named = [named for uri in uris if (named := path_of_uri(uri)) is not None]
    folders = ["/" + os.path.normpath(one).lstrip("/") for one in named]
    labels = unique_labels([RootSpec(folder) for folder in folders])
    places = [(label, (folder,)) for label, folder in zip(labels, folders, strict=True)]
    return _lane(places, path, folders[0] if folders else None)


def _lane(places: _Places, path: str, start: str | None) -> str:
    if not places or not path:
        return ""
    if path[:5].lower() == "file:":
        return _of_uri(places, path)
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)
    if os.path.isabs(path):
        return _of_absolute(places, path)
    if start is not None:
        return _lane(places, start, None) if start[:1] == "/" or start[:5].lower() == "file:" else ""
    if len(places) == 1:
        return places[0][0]
    first = path.partition("/")[0]
    return first if any(label == first for label, _ in places) else ""


def _of_uri(places: _Places, uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ELSEWHERE
    host = unquote(parts.netloc).lower()
    if host in ("", "localhost"):
        return _of_absolute(places, unquote(parts.path, errors="surrogateescape") or "/")
    return next((label for label, _ in places if label.lower() == host), ELSEWHERE)


def _of_absolute(places: _Places, path: str) -> str:
    plain = "/" + os.path.normpath(path).lstrip("/")
    fitting = [(len(spelling), label) for label, spelling in _spelled(places) if _lies_in(plain, spelling)]
    return max(fitting)[1] if fitting else ELSEWHERE


def _spelled(places: _Places) -> Iterator[tuple[str, str]]:
    for label, spellings in places:
        for spelling in spellings:
            yield label, spelling


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith("/") else f"{folder}/")
