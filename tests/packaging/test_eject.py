"""A server that is copied out of the workspace lives without it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from scripts import eject
from tests.packaging.support import REPOSITORY, run

SERVERS = sorted(path.parent.name for path in (REPOSITORY / "servers").glob("*/pyproject.toml"))


@pytest.mark.parametrize("server", SERVERS)
def test_a_copy_holds_every_module_that_its_modules_import(server: str, tmp_path: Path) -> None:
    eject.eject(server, tmp_path, REPOSITORY)
    source = tmp_path / "src"
    roots = {f"mcp_curated_{server}": source, "mcp_curated_shared": source, "tests": tmp_path, "scripts": tmp_path}
    found = eject.Modules(roots)
    for path in [*tmp_path.rglob("*.py")]:
        found.add(path)
    assert not [name for name in found.foreign if name.startswith("mcp_curated")]
    imported = {name for path in found.files for name in eject.imported(path)}
    for name in imported:
        top = name.partition(".")[0]
        if top not in roots or name == top:
            continue
        ours = (REPOSITORY / "shared" / "src", REPOSITORY / "servers" / server / "src", REPOSITORY)
        there = any(_exists(root, name) for root in ours)
        assert not there or _exists(roots[top], name), name


def _exists(root: Path, name: str) -> bool:
    place = root.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


@pytest.mark.parametrize("server", SERVERS)
def test_a_copy_names_what_it_needs_and_not_the_shared_package(server: str, tmp_path: Path) -> None:
    eject.eject(server, tmp_path, REPOSITORY)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {re.split(r"[^a-z0-9-]", one)[0] for one in project["project"]["dependencies"]}
    assert "mcp-curated-shared" not in needed
    assert {"mcp", "platformdirs"} <= needed
    assert "sources" not in project["tool"]["uv"]
    assert "pytest>=9" in project["project"]["optional-dependencies"]["test"]
    assert "](../" not in (tmp_path / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "make eject SERVER="),
        (["no-such", "/nowhere"], "There is no server 'no-such'"),
        (["filesystem", str(REPOSITORY)], "is not an empty folder"),
    ],
)
def test_what_cannot_be_ejected_is_told_and_nothing_is_written(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert eject.main(arguments) == 2
    assert told in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_copy_installs_with_plain_pip_and_passes_its_tests(tmp_path: Path) -> None:
    copy = tmp_path / "own"
    eject.eject("filesystem", copy, REPOSITORY)
    run([sys.executable, "-m", "venv", ".venv"], cwd=copy)
    run([copy / ".venv" / "bin" / "pip", "install", "--quiet", "-e", ".[test]"], cwd=copy, seconds=200)
    run([copy / ".venv" / "bin" / "pip", "check"], cwd=copy)
    run([copy / ".venv" / "bin" / "pytest", "tests/filesystem/server/test_server_contract.py"], cwd=copy, seconds=200)
    done = run([copy / ".venv" / "bin" / "mcp-curated-filesystem", "--version"], cwd=tmp_path)
    assert done.stdout.startswith("mcp-curated-filesystem ")
