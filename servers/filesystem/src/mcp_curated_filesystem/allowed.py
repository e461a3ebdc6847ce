"""The allowed directories as a client sees them."""

from dataclasses import dataclass

from mcp_curated_shared.security.confinement import Confinement, escape_name, problems_of

LOOK_SECONDS = 1.0
"""How long the folders are waited for, all together."""


@dataclass(frozen=True, slots=True)
class AllowedDirectory:
    """One root.

    Attributes:
        path: As it was configured, in shown form.
        label: The name that stands for it: `file://LABEL/` and `LABEL/...`.
        writable: Whether the rules let it be changed.
        available: Whether it is there now.
        problem: Why it is not, for the reader; empty when it is.
    """

    path: str
    label: str
    writable: bool
    available: bool
    problem: str = ""


def allowed_directories(confinement: Confinement) -> tuple[AllowedDirectory, ...]:
    """Tell the roots in the operator's order; each is looked for now, and waited for a moment."""
    problems = problems_of(confinement.roots, LOOK_SECONDS)
    return tuple(
        AllowedDirectory(
            escape_name(root.path), root.label, root.writable and not confinement.read_only, not problem, problem
        )
        for root, problem in zip(confinement.roots, problems, strict=True)
    )


def render(directories: tuple[AllowedDirectory, ...]) -> str:
    """One line a directory."""
    if not directories:
        return "No directory is allowed."
    return "\n".join(
        f"{one.path} (label {one.label}, {'read and write' if one.writable else 'read-only'}{_problem(one)})"
        for one in directories
    )


def _problem(one: AllowedDirectory) -> str:
    if one.available:
        return ""
    why = one.problem.removeprefix(f"The allowed directory {one.label} ").removesuffix(".")
    return ", not available now" + ("" if why.startswith("is not available now") else f": it {why}")
