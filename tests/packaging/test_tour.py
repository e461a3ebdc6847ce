"""`make try`: the tours do what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def run_tour(*names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/try.py", *names],
        cwd=REPOSITORY,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@pytest.mark.skipif(os.name != "posix", reason="a person approves in a terminal of POSIX")
def test_the_tour_of_the_github_server_previews_refuses_approves_and_replays_with_one_write():
    done = run_tour("github")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"All \d+ steps did what they say", done.stdout)
    for step in (
        "by default an issue is only previewed",
        "a repository that is not on the list is refused",
        "the user declines",
        "its id alone is no approval",
        "a person types the repository's name in a terminal and approves",
        "a replay gets the same result",
        "GitHub was sent one write in all",
    ):
        assert f"  ok {step}" in done.stdout


def test_a_tour_that_there_is_not_is_named_with_those_that_there_are():
    done = run_tour("nowhere")
    assert done.returncode == 2
    assert "There is no tour 'nowhere'. Tours: filesystem" in done.stderr
