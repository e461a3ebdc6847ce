"""One version for all packages, and the bounds that follow from it."""

import re
from pathlib import Path

import pytest

from scripts import versions
from tests.packaging.support import REPOSITORY


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The files that carry a version, as they are now."""
    for path in [*versions.projects(REPOSITORY), REPOSITORY / "CHANGELOG.md"]:
        target = tmp_path / path.relative_to(REPOSITORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return tmp_path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_all_packages_bounds_and_the_changelog_agree_on_the_version():
    assert list(versions.faults(REPOSITORY)) == []


def test_setting_a_version_changes_every_place_that_carries_one(workspace: Path):
    versions.set_version(workspace, "3.4.5")
    assert list(versions.faults(workspace)) == []
    server = (workspace / "servers" / "filesystem" / "pyproject.toml").read_text(encoding="utf-8")
    assert 'version = "3.4.5"' in server
    assert '"mcp-curated-shared>=3.4.5,<3.5"' in server


def test_a_package_that_was_left_behind_is_named(workspace: Path):
    replace(workspace / "shared" / "pyproject.toml", 'version = "', 'version = "9')
    assert [fault.partition(":")[0] for fault in versions.faults(workspace)] == ["shared/pyproject.toml"]


def test_a_bound_that_uv_would_not_notice_is_named(workspace: Path):
    path = workspace / "servers" / "filesystem" / "pyproject.toml"
    replace(path, '"mcp-curated-shared>=', '"mcp-curated-shared>=9.9.9,>=')
    assert "mcp-curated-shared>=" in " ".join(versions.faults(workspace))


def test_a_console_script_that_uvx_would_not_find_is_named(workspace: Path):
    replace(workspace / "servers" / "filesystem" / "pyproject.toml", "mcp-curated-filesystem = ", "files = ")
    assert "must be called mcp-curated-filesystem" in " ".join(versions.faults(workspace))


def test_the_uv_that_the_script_installs_is_the_one_that_the_project_requires():
    script = (REPOSITORY / "scripts" / "uv.sh").read_text(encoding="utf-8")
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    installed = re.search(r"requirement='uv(.*)'", script)
    required = re.search(r'required-version = "(.*)"', project)
    assert installed and required
    assert installed[1] == required[1]
