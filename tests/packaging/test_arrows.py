"""The arrows between the packages: the contracts of pyproject.toml cover every package, and they bite."""

import sys
import tomllib
from pathlib import Path

import pytest

from scripts import versions
from tests.packaging.support import REPOSITORY, copy_repository, run

SHARED = "shared/src/mcp_curated_shared"
FILESYSTEM = "servers/filesystem/src/mcp_curated_filesystem"
# Loaded inside the function that first needs them: a host starts every server at once.
HEAVY = {
    "mcp",
    "mcp_types",
    "charset_normalizer",
    "regex",
    "pathspec",
    "watchfiles",
    "PIL",
    "re2",
    "httpx",
    "starlette",
}

# Imports every module that is named and prints which of the first argument's words are loaded then.
LOADS = """
import importlib, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
print(*(set(sys.argv[1].split()) & set(sys.modules)))
"""


def sources() -> list[Path]:
    return [path.parent / "src" for path in versions.projects(REPOSITORY)[1:]]


def lint(repository: Path) -> str:
    paths = ":".join(str(repository / path.relative_to(REPOSITORY)) for path in sources())
    command = [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache"]
    return run(command, cwd=repository, extra={"PYTHONPATH": paths}, succeeds=False).stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        (
            f"{SHARED}/errors.py",
            "import mcp_curated_filesystem",
            "The shared package imports no server, and no server another",
        ),
        (f"{SHARED}/security/limits.py", "import mcp_types", "know the protocol"),
        (f"{FILESYSTEM}/allowed.py", "import mcp.types", "know the protocol"),
        (f"{FILESYSTEM}/allowed.py", "import mcp_curated_shared.transport.server", "reach transport"),
        (f"{SHARED}/settings/kinds.py", "import mcp_curated_shared.cli", "neither their server nor the command line"),
    ],
)
def test_an_import_against_an_arrow_breaks_its_contract(module: str, line: str, contract: str, tmp_path: Path):
    copy = copy_repository(tmp_path / "copy")
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    broken = [text for text in lint(copy).splitlines() if " BROKEN" in text]
    assert any(contract in text for text in broken), broken


def test_every_package_is_under_the_contracts_and_under_coverage():
    configuration = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    packages = {folder.name for source in sources() for folder in source.iterdir() if (folder / "__init__.py").exists()}
    assert set(configuration["importlinter"]["root_packages"]) == packages
    assert set(configuration["coverage"]["run"]["source_pkgs"]) == packages


def test_domain_and_security_modules_load_neither_the_protocol_nor_a_heavy_library():
    names = [
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        for source in sources()
        for path in sorted(source.rglob("*.py"))
        if not {"transport", "server", "testing", "__main__"} & {*path.parts, path.stem}
    ]
    done = run([sys.executable, "-c", LOADS, " ".join(HEAVY), *names], cwd=REPOSITORY)
    assert done.stdout.split() == []
