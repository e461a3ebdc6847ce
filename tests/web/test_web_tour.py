"""The web server's part of `make try` does what it says."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_tour_refuses_loopback_then_reads_what_was_opened():
    done = subprocess.run(
        [sys.executable, "scripts/try.py", "web"],
        cwd=REPOSITORY,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for step in ("loopback is refused in every spelling", "hidden text is gone, and counted", "robots.txt is kept to"):
        assert f"  ok {step}" in done.stdout
