"""Running commands as a newcomer would, and a copy of the working tree to run them in."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# What the test run itself brings along would change what the commands do.
_OURS = ("COV_", "COVERAGE_", "PYTEST_", "VIRTUAL_ENV", "MAKE", "MFLAGS", "UV_RUN", "PYTHONDONTWRITEBYTECODE")


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    extra: Mapping[str, str] | None = None,
    succeeds: bool = True,
    seconds: float = 110,
) -> subprocess.CompletedProcess[str]:
    """Run `command` to its end without a terminal; when it should succeed and does not, fail with what it printed."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited | {"UV_PYTHON_DOWNLOADS": "never"} | dict(extra or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0 or not succeeds, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def copy_repository(target: Path) -> Path:
    """The working tree as it is now: what git tracks and what is new to it, nothing that it ignores.

    Git is asked, since a walk would also meet what other tests make and remove at that moment (coverage data, caches).
    """
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in run(listing, cwd=REPOSITORY).stdout.split("\0"):
        source = REPOSITORY / name
        if name and (source.is_symlink() or source.is_file()):  # a deleted file stays listed until it is committed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name, follow_symlinks=False)
    return target
