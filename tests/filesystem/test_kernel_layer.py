"""The second layer: a process that entered it cannot open by name what lies outside, whatever its own code does."""

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_curated_shared.security import landlock

SCRIPT = """
import sys
from mcp_curated_filesystem.kernel import confine_process
from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.settings import load

outside, *arguments = sys.argv[1:]
confine_process(load(FilesystemSettings, arguments, {}))
try:
    print(open(outside).read())
except OSError as error:
    print(type(error).__name__)
"""

needs_landlock = pytest.mark.skipif(landlock.abi() < 2, reason="this kernel has no Landlock of ABI 2")


def what_a_confined_process_gets(outside: Path, *arguments: object) -> str:
    command = [sys.executable, "-c", SCRIPT, str(outside), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "outside.txt"
    file.write_text("plain to see\n")
    (tmp_path / "root").mkdir()
    return file


@needs_landlock
def test_a_served_process_cannot_open_what_lies_outside(outside: Path, tmp_path: Path) -> None:
    assert (
        what_a_confined_process_gets(outside, tmp_path / "root", "--state-dir", tmp_path / "state") == "PermissionError"
    )


def test_the_layer_is_left_out_when_it_is_switched_off(outside: Path, tmp_path: Path) -> None:
    arguments = (tmp_path / "root", "--no-landlock", "--state-dir", tmp_path / "state")
    assert what_a_confined_process_gets(outside, *arguments) == "plain to see"


def test_the_layer_is_left_out_while_a_root_is_missing(outside: Path, tmp_path: Path) -> None:
    arguments = (tmp_path / "root", tmp_path / "missing", "--state-dir", tmp_path / "state")
    assert what_a_confined_process_gets(outside, *arguments) == "plain to see"


def test_the_layer_is_left_out_without_folders(outside: Path, tmp_path: Path) -> None:
    assert what_a_confined_process_gets(outside, "--state-dir", tmp_path / "state") == "plain to see"
