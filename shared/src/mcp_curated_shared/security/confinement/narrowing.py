"""The roots that are left when a client names its own directories: a part of the operator's, never more."""

import os
from collections.abc import Callable, Iterator, Sequence

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement.asking import path_of_uri
from mcp_curated_shared.security.confinement.boundary import Boundary, components_of
from mcp_curated_shared.security.confinement.descriptors import real_path
from mcp_curated_shared.security.confinement.errors import OutsideRootsError, RootUnavailableError
from mcp_curated_shared.security.confinement.handles import Location, OpenDirectory
from mcp_curated_shared.security.confinement.roots import Root, RootSpec, unique_labels


def narrowed_roots(
    boundary: Boundary, uris: Sequence[str], open_directory: Callable[[str], OpenDirectory]
) -> list[Root]:
    """Live roots for the parts of the boundary that lie in the client's directories.

    Args:
        boundary: The ceiling.
        uris: The client's roots; what is no `file:` URI of this machine is passed over.
        open_directory: The ceiling's own way to open, so that a link cannot lead above it.

    Returns:
        One root for each directory, labelled anew, with the ceiling's rights and rules.
    """
    found: dict[str, Root] = {}
    for uri in uris:
        path = path_of_uri(uri)
        if path is None or "\0" in path:
            continue
        for root in _part(boundary, path, open_directory):
            found.setdefault(root.realpath, root)
    roots = list(found.values())
    for root, label in zip(roots, unique_labels([RootSpec(root.path) for root in roots]), strict=True):
        root.label = label
    return roots


def _part(boundary: Boundary, path: str, open_directory: Callable[[str], OpenDirectory]) -> Iterator[Root]:
    try:
        with open_directory(path) as opened:
            top = _below(opened.location, boundary)
            top.hold(opened.descriptor)
    except RootUnavailableError:
        match = boundary.match(components_of(path))
        if match is not None and not match[1]:
            yield _copy(match[0])
        return
    except OutsideRootsError:
        above = real_path(path) or path
        yield from (_copy(root) for root in boundary.roots if _inside(root.realpath, above))
        return
    except CuratedError:
        return
    yield top
    yield from (_copy(root) for root in boundary.roots if _inside(root.realpath, top.realpath))


def _below(location: Location, boundary: Boundary) -> Root:
    outer = location.root
    if not location.relative:
        return _copy(outer)
    inherited = tuple(f"{base}/{location.relative}" if base else location.relative for base in boundary.bases(outer))
    realpath = os.path.join(outer.realpath, location.relative)
    return Root(location.path, outer.label, outer.writable, realpath=realpath, inherited=inherited)


def _copy(root: Root) -> Root:
    copy = Root(root.path, root.label, root.writable, realpath=root.realpath, inherited=root.inherited)
    copy.place = root.place
    return copy


def _inside(path: str, above: str) -> bool:
    return path != above and path.startswith(above if above.endswith("/") else f"{above}/")
