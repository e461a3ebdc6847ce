"""`uvx` launches a server from a folder and from git, wherever it is called, and never an old build."""

import os
from pathlib import Path

import pytest

from scripts import versions
from tests.packaging.support import REPOSITORY, copy_repository, run

pytestmark = pytest.mark.slow

COMMAND = "mcp-curated-filesystem"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copy_repository(tmp_path / "copy")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def test_uvx_launches_the_server_of_a_folder_from_any_other_folder(copy: Path, elsewhere: Path, uv: Path):
    done = run([uv, "tool", "run", "--from", copy / "servers" / "filesystem", COMMAND, "--version"], cwd=elsewhere)
    assert versions.workspace_version(REPOSITORY) in done.stdout


def test_uvx_launches_the_server_from_a_git_repository(copy: Path, elsewhere: Path, uv: Path):
    identity = {
        f"GIT_{who}_{what}": "test@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All"]):
        run(["git", *arguments], cwd=copy, extra=identity | {"GIT_CONFIG_GLOBAL": os.devnull})
    source = f"git+file://{copy}#subdirectory=servers/filesystem"
    done = run([uv, "tool", "run", "--from", source, COMMAND, "--version"], cwd=elsewhere)
    assert versions.workspace_version(REPOSITORY) in done.stdout


@pytest.mark.parametrize("package", ["servers/filesystem/src/mcp_curated_filesystem", "shared/src/mcp_curated_shared"])
def test_uvx_sees_an_edit_at_the_next_launch(package: str, copy: Path, elsewhere: Path, uv: Path):
    launch = [uv, "tool", "run", "--from", copy / "servers" / "filesystem", COMMAND, "--version"]
    run(launch, cwd=elsewhere)
    module = copy / package / "__init__.py"
    module.write_text(module.read_text(encoding="utf-8") + '\nprint("edited just now")\n', encoding="utf-8")
    assert "edited just now" in run(launch, cwd=elsewhere).stdout
