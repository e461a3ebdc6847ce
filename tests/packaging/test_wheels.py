"""The built packages install with plain pip, without uv and without the workspace."""

import sys
import zipfile
from pathlib import Path

import pytest

from scripts import versions
from tests.packaging.support import REPOSITORY, copy_repository, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory, uv: Path) -> Path:
    """A folder with the sdist and the wheel of every package, built from the tree as it is now."""
    copy = copy_repository(tmp_path_factory.mktemp("build") / "copy")
    run([uv, "build", "--all-packages", "--out-dir", copy / "dist"], cwd=copy)
    return copy / "dist"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, artifacts: Path) -> Path:
    """A virtual environment into which pip has installed the wheels."""
    folder = tmp_path_factory.mktemp("clean") / "environment"
    run([sys.executable, "-m", "venv", folder], cwd=folder.parent)
    run([folder / "bin" / "pip", "install", "--quiet", *artifacts.glob("*.whl")], cwd=folder.parent)
    return folder


def packages() -> list[str]:
    servers = sorted((REPOSITORY / "servers").glob("*/pyproject.toml"))
    return ["mcp-curated-shared", *(f"mcp-curated-{path.parent.name}" for path in servers)]


def wheel_of(package: str, artifacts: Path) -> zipfile.ZipFile:
    (path,) = artifacts.glob(f"{package.replace('-', '_')}-*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.parametrize("package", packages())
def test_every_package_builds_as_wheel_and_as_source(package: str, artifacts: Path):
    name = package.replace("-", "_")
    assert len(list(artifacts.glob(f"{name}-*.whl"))) == 1
    assert len(list(artifacts.glob(f"{name}-*.tar.gz"))) == 1


@pytest.mark.parametrize("package", packages())
def test_a_wheel_holds_its_types_marker_its_readme_and_its_licence(package: str, artifacts: Path):
    with wheel_of(package, artifacts) as wheel:
        names = wheel.namelist()
        (metadata,) = (wheel.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    assert f"{package.replace('-', '_')}/py.typed" in names
    assert "Description-Content-Type: text/markdown" in metadata
    assert len(metadata.partition("\n\n")[2].strip()) > 0
    assert "License-Expression: MIT" in metadata
    assert [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]


def test_every_package_carries_the_licence_of_the_repository():
    licence = (REPOSITORY / "LICENSE").read_bytes()
    assert all((path.parent / "LICENSE").read_bytes() == licence for path in versions.projects(REPOSITORY))


@pytest.mark.parametrize("package", packages())
def test_a_wheel_holds_nothing_but_its_own_package(package: str, artifacts: Path):
    name = package.replace("-", "_")
    with wheel_of(package, artifacts) as wheel:
        tops = {entry.partition("/")[0] for entry in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {name}


def test_plain_pip_installs_the_wheels_and_finds_nothing_missing(environment: Path):
    assert "No broken requirements" in run([environment / "bin" / "pip", "check"], cwd=environment).stdout


def test_an_installed_server_tells_its_version(environment: Path):
    version = versions.workspace_version(REPOSITORY)
    done = run([environment / "bin" / "mcp-curated-filesystem", "--version"], cwd=environment)
    assert version in done.stdout
