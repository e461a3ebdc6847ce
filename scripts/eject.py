"""Copy one server with its tests out of the workspace, as a project of its own that needs nothing of it.

    eject.py SERVER DEST    such as: eject.py database ~/my-database-server

DEST holds the server's package, the modules of the shared package that it uses (vendored, under their own names), its
tests with what they import, and a pyproject.toml that plain pip installs:

    cd DEST && python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest

`make eject SERVER=database DEST=...` does that copy. DEST must not exist or be an empty folder.
"""

import ast
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = "mcp_curated_shared"

_NAMED = re.compile(rf"({SHARED}(?:\.\w+)*)(?::\w+)?")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9._-]+")
# Distributions of the tests whose package has another name.
_PACKAGES = {"google-re2": "re2", "markdown-it-py": "markdown_it"}
_OUTWARD = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")  # links to pages that stay behind
_RUNNERS = ("anyio", "hypothesis", "pytest", "pytest-timeout")


@dataclass(slots=True)
class Modules:
    """Modules that are copied, found from a few by what they import.

    Attributes:
        roots: Where a package's modules lie: the folder that holds it.
        files: Every file found.
        foreign: Packages that are imported and lie in none of the roots.
    """

    roots: dict[str, Path]
    files: set[Path] = field(default_factory=set[Path])
    foreign: set[str] = field(default_factory=set[str])

    def add(self, path: Path) -> None:
        """A file, the packages that it lies in, and all that these import."""
        if path in self.files:
            return
        self.files.add(path)
        for name in imported(path):
            self._add_name(name)

    def _add_name(self, name: str) -> None:
        root = self.roots.get(name.partition(".")[0])
        if root is None:
            self.foreign.add(name.partition(".")[0])
            return
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            place = root.joinpath(*parts[:length])
            for candidate in (place / "__init__.py", place.with_suffix(".py")):
                if candidate.is_file():
                    self.add(candidate)


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports or names in a text; of `from a import b` also `a.b`, which may be a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _NAMED.fullmatch(node.value)
            if named is not None:
                yield named[1]


def server_modules(server: str, repository: Path) -> Modules:
    """The server's own modules, and those of the shared package that they and its tests use."""
    own = f"mcp_curated_{server}"
    roots = {own: repository / "servers" / server / "src", SHARED: repository / "shared" / "src"}
    found = Modules(roots | {"tests": repository, "scripts": repository})
    for path in sorted((roots[own] / own).rglob("*.py")):
        found.add(path)
    found.add(repository / "tests" / "conftest.py")
    for path in sorted((repository / "tests" / server).rglob("*.py")):
        found.add(path)
    return found


def project(server: str, repository: Path, foreign: Iterable[str]) -> str:
    """The pyproject.toml of the copy.

    Args:
        server: The server's name.
        repository: The workspace.
        foreign: Packages that the copied tests import.
    """
    text = (repository / "servers" / server / "pyproject.toml").read_text(encoding="utf-8")
    shared = _toml(repository / "shared" / "pyproject.toml")["project"]
    workspace = _toml(repository / "pyproject.toml")
    own = tomllib.loads(text)["project"]
    wanted = _shared_dependencies(own["dependencies"], shared)
    lines = "".join(f'    "{one}",\n' for one in sorted({*_without_shared(own["dependencies"]), *wanted}))
    text = re.sub(r"(?ms)^dependencies = \[.*?\]\n", lambda _: f"dependencies = [\n{lines}]\n", text, count=1)
    tests = "".join(f'    "{one}",\n' for one in _test_dependencies(workspace, set(foreign)))
    extra = f"test = [\n{tests}]\n"
    if "[project.optional-dependencies]\n" in text:
        text = text.replace("[project.optional-dependencies]\n", f"[project.optional-dependencies]\n{extra}", 1)
    else:
        text = text.replace("[project.scripts]", f"[project.optional-dependencies]\n{extra}\n[project.scripts]", 1)
    text = re.sub(r"(?ms)^\[tool\.uv\.sources\]\n.*?(?=^\[|\Z)", "", text)
    modules = f'["mcp_curated_{server}", "{SHARED}"]'
    return f"{text.rstrip()}\n\n[tool.uv.build-backend]\nmodule-name = {modules}\n\n{_pytest_table(repository)}"


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _name(requirement: str) -> str:
    match = _DISTRIBUTION.match(requirement)
    return match[0].lower() if match else requirement


def _without_shared(requirements: Iterable[str]) -> list[str]:
    return [one for one in requirements if _name(one) != SHARED.replace("_", "-")]


def _shared_dependencies(requirements: Iterable[str], shared: dict[str, Any]) -> list[str]:
    """What the shared package itself needs, with the extras that the server asks of it."""
    found: list[str] = list(shared["dependencies"])
    for one in requirements:
        extras = re.search(r"\[([^\]]*)\]", one)
        if _name(one) == SHARED.replace("_", "-") and extras is not None:
            for extra in extras[1].split(","):
                found += shared["optional-dependencies"][extra.strip()]
    return found


def _test_dependencies(workspace: dict[str, Any], foreign: set[str]) -> list[str]:
    def is_needed(requirement: str) -> bool:
        name = _name(requirement)
        return name in _RUNNERS or _PACKAGES.get(name, name.replace("-", "_")) in foreign

    return [one for one in workspace["dependency-groups"]["dev"] if is_needed(one)]


def _pytest_table(repository: Path) -> str:
    """The workspace's settings of pytest, as they stand."""
    text = (repository / "pyproject.toml").read_text(encoding="utf-8")
    match = re.search(r"(?ms)^\[tool\.pytest\.ini_options\]\n.*?(?=^\[|\Z)", text)
    return match[0].rstrip() + "\n" if match else ""


def eject(server: str, target: Path, repository: Path) -> None:
    """Make the copy.

    Args:
        server: The server's name.
        target: A folder that is not there yet, or empty.
        repository: The workspace.
    """
    found = server_modules(server, repository)
    bases = {root: Path("src") for root in found.roots.values() if root != repository} | {repository: Path()}
    folder = repository / "servers" / server
    for path in sorted(found.files):
        (base,) = [root for root in found.roots.values() if path.is_relative_to(root) and root != repository] or [
            repository
        ]
        _copy(path, target / bases[base] / path.relative_to(base))
    for path in sorted((repository / "tests" / server).rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            _copy(path, target / path.relative_to(repository))
    for package in (found.roots[f"mcp_curated_{server}"] / f"mcp_curated_{server}", found.roots[SHARED] / SHARED):
        for path in sorted(
            path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
        ):
            _copy(path, target / "src" / path.relative_to(package.parent))
    _copy(folder / "LICENSE", target / "LICENSE")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    (target / "README.md").write_text(_OUTWARD.sub(r"\1", readme), encoding="utf-8")
    foreign = {name for path in found.files if path.is_relative_to(repository / "tests") for name in _packages(path)}
    (target / "pyproject.toml").write_text(project(server, repository, foreign), encoding="utf-8")


def _packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def main(arguments: Sequence[str]) -> int:
    """Eject; 0 for good, 2 for arguments that make no sense."""
    if len(arguments) != 2 or not all(arguments):
        print("Say which and where to: make eject SERVER=database DEST=/path/to/new/folder", file=sys.stderr)
        return 2
    server, target = arguments[0], Path(arguments[1]).expanduser()
    known = sorted(path.parent.name for path in (REPOSITORY / "servers").glob("*/pyproject.toml"))
    if server not in known:
        print(f"There is no server {server!r}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        print(f"{target} exists and is not an empty folder; name another.", file=sys.stderr)
        return 2
    eject(server, target, REPOSITORY)
    print(
        f"{target} holds the server. Try it: cd {target} && python3 -m venv .venv && .venv/bin/pip install -e '.[test]'"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
