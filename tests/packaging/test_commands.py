"""The Makefile and its scripts behave on a machine that has little."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.packaging.support import REPOSITORY, copy_repository, run


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder for PATH with the usual tools, but neither uv nor any Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "sed", "dirname", "mkdir", "cp", "mv", "rm", "touch", "make", "cat", "env"):
        found = shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)
    return folder


def targets() -> set[str]:
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    return set(phony.split())


def test_make_alone_lists_every_target_with_a_line_of_its_own():
    lines = run(["make", "--no-print-directory"], cwd=REPOSITORY).stdout.splitlines()
    listed = {line.split()[1]: line.split(maxsplit=2)[2] for line in lines if line.startswith("  make ")}
    assert listed.keys() == targets()
    assert all(len(line) <= 120 for line in lines)


def test_a_machine_without_python_is_told_so_plainly(tmp_path: Path, bare: Path):
    copy = copy_repository(tmp_path / "copy")
    done = run(["make", "setup"], cwd=copy, extra={"PATH": str(bare)}, succeeds=False)
    assert done.returncode != 0
    assert "No Python 3.11 or later was found" in done.stderr
    assert "Install one" in done.stderr


def test_a_python_that_is_too_old_is_not_taken(tmp_path: Path, bare: Path):
    old = bare / "python3"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    copy = copy_repository(tmp_path / "copy")
    done = run(["make", "setup"], cwd=copy, extra={"PATH": str(bare)}, succeeds=False)
    assert "No Python 3.11 or later was found" in done.stderr


@pytest.mark.parametrize("version", ["0.13.8", "0.12.30", "0.14.0", "1.0.0"])
def test_an_unsuitable_uv_on_the_path_is_not_used(version: str, tmp_path: Path, bare: Path):
    other = bare / "uv"
    other.write_text(f"#!/bin/sh\necho 'uv {version}'\n", encoding="utf-8")
    other.chmod(0o755)
    copy = copy_repository(tmp_path / "copy")
    done = run(["scripts/uv.sh", "lock"], cwd=copy, extra={"PATH": str(bare)}, succeeds=False)
    assert "No Python 3.11 or later was found" in done.stderr


@pytest.mark.parametrize("version", ["0.13.9", "0.13.9 (x86_64-apple-darwin)", "0.13.10", "0.13.27"])
def test_a_suitable_uv_on_the_path_is_used(version: str, tmp_path: Path, bare: Path):
    other = bare / "uv"
    other.write_text(
        f"#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'uv {version}'; else echo used; fi\n", encoding="utf-8"
    )
    other.chmod(0o755)
    copy = copy_repository(tmp_path / "copy")
    assert run(["scripts/uv.sh", "lock"], cwd=copy, extra={"PATH": str(bare)}).stdout == "used\n"


def test_scripts_that_the_commands_start_can_be_executed():
    scripts = [REPOSITORY / ".ci" / "run", *(REPOSITORY / "scripts").glob("*.sh")]
    assert [path for path in scripts if not os.access(path, os.X_OK)] == []
