"""What a call costs beside the barest server that the SDK allows, in one run, as a ratio of processor time."""

import sys
from pathlib import Path

import pytest

from scripts.measuring.contestants import BARE, ours
from scripts.measuring.process import ERAS, LEGACY, Era, Server

TIMES = 1.3
CALLS = 150
ROUNDS = 8

pytestmark = pytest.mark.slow


def cpu_of(server: Server, tool: str, arguments: dict[str, object]) -> float:
    """Seconds of processor time that a number of calls take."""
    before = server.cpu_seconds()
    for _ in range(CALLS):
        reply = server.call(tool, arguments)
        assert not reply.error
        assert "lazy dog" in reply.text
    after = server.cpu_seconds()
    assert before is not None and after is not None
    return after - before


@pytest.mark.skipif(sys.platform != "linux", reason="the processor time of another process is read from /proc")
@pytest.mark.parametrize("era", ERAS)
def test_reading_a_small_file_takes_little_more_than_the_bare_sdk(era: Era, tmp_path: Path) -> None:
    file = tmp_path / "small.txt"
    file.write_text("The quick brown fox jumps over the lazy dog.\n" * 23, encoding="ascii")
    command = next(one for one in ours() if one.era == era).serving(tmp_path)
    with Server(command, era) as server, Server(BARE.serving(tmp_path), LEGACY) as bare:
        least_ours, least_bare = float("inf"), float("inf")
        for _ in range(ROUNDS):  # in turn, so that both meet the same load; noise only ever adds
            least_bare = min(least_bare, cpu_of(bare, "read", {"path": str(file), "length": 1024}))
            least_ours = min(least_ours, cpu_of(server, "read_file", {"path": str(file)}))
            if least_ours <= TIMES * least_bare:
                break
    assert least_ours <= TIMES * least_bare, f"{least_ours / least_bare:.2f} times the bare SDK"
