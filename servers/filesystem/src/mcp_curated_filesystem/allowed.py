"""The allowed directories as a client sees them."""

from dataclasses import dataclass

from mcp_curated_shared.security.confinement import Confinement, escape_name


@dataclass(frozen=True, slots=True)
class AllowedDirectory:
    """One root.

    Attributes:
        path: As it was configured, in shown form.
        label: The name that stands for it: `file://LABEL/` and `LABEL/...`.
        writable: Whether the rules let it be changed.
        available: Whether it is there now.
    """

    path: str
    label: str
    writable: bool
    available: bool


def allowed_directories(confinement: Confinement) -> tuple[AllowedDirectory, ...]:
    """Tell the roots in the operator's order; each is looked for now."""
    return tuple(
        AllowedDirectory(
            escape_name(root.path), root.label, root.writable and not confinement.read_only, root.available
        )
        for root in confinement.roots
    )


def render(directories: tuple[AllowedDirectory, ...]) -> str:
    """One line a directory."""
    if not directories:
        return "No directory is allowed."
    return "\n".join(
        f"{one.path} (label {one.label}, {'read and write' if one.writable else 'read-only'}"
        f"{'' if one.available else ', not available now'})"
        for one in directories
    )
