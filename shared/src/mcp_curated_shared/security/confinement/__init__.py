"""Confinement: files are opened here and nowhere else, and nothing outside the allowed directories ever is."""

from mcp_curated_shared.security.confinement.asking import path_of_uri
from mcp_curated_shared.security.confinement.confinement import Confinement, Method
from mcp_curated_shared.security.confinement.descriptors import in_kernel_filesystem, open_child
from mcp_curated_shared.security.confinement.errors import (
    AccessError,
    AmbiguousPathError,
    InvalidPathError,
    NotADirectoryError,
    NotAFileError,
    OutsideRootsError,
    PathDeniedError,
    PathNotFoundError,
    ReadOnlyError,
    RootUnavailableError,
    from_os_error,
    kind_of,
)
from mcp_curated_shared.security.confinement.handles import Location, OpenDirectory, OpenEntry, OpenFile, Target
from mcp_curated_shared.security.confinement.names import escape_name, is_git_name, quoted, unescape_name
from mcp_curated_shared.security.confinement.roots import Root, RootSpec, answering, problems_of, unique_labels

__all__ = [
    "AccessError",
    "AmbiguousPathError",
    "Confinement",
    "InvalidPathError",
    "Location",
    "Method",
    "NotADirectoryError",
    "NotAFileError",
    "OpenDirectory",
    "OpenEntry",
    "OpenFile",
    "OutsideRootsError",
    "PathDeniedError",
    "PathNotFoundError",
    "ReadOnlyError",
    "Root",
    "RootSpec",
    "RootUnavailableError",
    "Target",
    "answering",
    "escape_name",
    "from_os_error",
    "in_kernel_filesystem",
    "is_git_name",
    "kind_of",
    "open_child",
    "path_of_uri",
    "problems_of",
    "quoted",
    "unescape_name",
    "unique_labels",
]
