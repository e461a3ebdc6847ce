"""One version for every package of the workspace (lockstep), and the bounds that follow from it.

    versions.py check       do all packages, bounds and the changelog agree?
    versions.py set X.Y.Z   write a new version everywhere

A workspace source hides a wrong bound from uv (`lock`, `sync` and `build` all accept it), so it is checked here.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_SHARED = "mcp-curated-shared"
_EXTRAS = re.compile(r"\[[^\]]*\]")


def projects(repository: Path) -> list[Path]:
    """The pyproject.toml of the root, of the shared package and of every server."""
    servers = sorted((repository / "servers").glob("*/pyproject.toml"))
    return [repository / "pyproject.toml", repository / "shared" / "pyproject.toml", *servers]


def shared_bound(version: str) -> str:
    """What a server of `version` must ask of the shared package: this minor version, from this patch on."""
    major, minor, _ = _parts(version)
    return f"{_SHARED}>={version},<{major}.{minor + 1}"


def workspace_version(repository: Path) -> str:
    """The one version, as the root's pyproject.toml has it."""
    return str(_project(repository / "pyproject.toml")["version"])


def faults(repository: Path) -> Iterator[str]:
    """Every place that disagrees with the root's version, with what it should say."""
    version = workspace_version(repository)
    for path in projects(repository):
        project = _project(path)
        where = path.relative_to(repository)
        if project["version"] != version:
            yield f"{where}: version is {project['version']}, the workspace's is {version}"
        if path.parent.parent.name == "servers":
            yield from (f"{where}: {fault}" for fault in _server_faults(project, version))
    if not _changelog_names(repository, version):
        yield f"CHANGELOG.md: has neither a section [{version}] nor [Unreleased]"


def _server_faults(project: dict[str, Any], version: str) -> Iterator[str]:
    bounds = [_EXTRAS.sub("", item) for item in project["dependencies"] if item.startswith(_SHARED)]
    if bounds != [shared_bound(version)]:
        yield f"depends on {bounds}, should be {shared_bound(version)!r}"
    if list(project.get("scripts", {})) != [project["name"]]:
        yield f"its console script must be called {project['name']}, so that `uvx {project['name']}` works as typed"


def _changelog_names(repository: Path, version: str) -> bool:
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    return any(f"## [{name}]" in changelog for name in (version, "Unreleased"))


def _project(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))["project"]


def _parts(version: str) -> tuple[int, int, int]:
    match = _VERSION.fullmatch(version)
    if match is None:
        raise SystemExit(f"{version!r} is not a version of the form X.Y.Z")
    return int(match[1]), int(match[2]), int(match[3])


def set_version(repository: Path, version: str) -> None:
    """Write `version` into every project and every bound on the shared package."""
    bound = shared_bound(version).removeprefix(_SHARED)
    for path in projects(repository):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r'(?m)^version = "[^"]*"', f'version = "{version}"', text, count=1)
        text = re.sub(rf'"({_SHARED}(?:\[[^\]]*\])?)[>=][^"]*"', rf'"\g<1>{bound}"', text)
        path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run `check` or `set`; 0 for good, 1 for a disagreement, 2 for a call that makes no sense."""
    match arguments:
        case ["check"]:
            found = list(faults(REPOSITORY))
            for fault in found:
                print(fault, file=sys.stderr)
            return int(bool(found))
        case ["set", version]:
            set_version(REPOSITORY, version)
            print("Now: move the changelog's Unreleased section under the version, and `make lock`.")
            return 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
