"""`make try`: the database server's tour does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


def test_the_tour_of_the_database_server_asks_breaks_nothing_and_writes_with_consent():
    done = subprocess.run(
        [sys.executable, "scripts/try.py", "database"],
        cwd=REPOSITORY,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"All \d+ steps did what they say", done.stdout)
    for step in (
        "a cut result says how to go on",
        "the file is the same to the byte, and no other appeared",
        "its user is asked, then it is done",
    ):
        assert f"  ok {step}" in done.stdout
