"""No call to the real server sees or touches the outside while a directory of its path is swapped with a link there."""

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_shared.testing.wire import ServerProcess
from tests.security import naive_server
from tests.security.race_ground import lay_out
from tests.security.race_operations import OPERATIONS
from tests.security.race_server import MODES, Mode, available, race, serving, watched_outside

TRIES = 120


@pytest.fixture(scope="module", params=MODES, ids=str)
def mode(request: pytest.FixtureRequest) -> Mode:
    chosen: Mode = request.param
    if why := functools.cache(available)(chosen):
        pytest.skip(why)
    return chosen


@pytest.fixture(scope="module")
def top(mode: Mode, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp(f"race-{mode}")


@pytest.fixture(scope="module")
def server(mode: Mode, top: Path) -> Iterator[ServerProcess]:
    with serving(top, mode) as started:
        yield started


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_call_reaches_outside_while_a_directory_is_swapped_with_a_link(
    mode: Mode, top: Path, server: ServerProcess, name: str
) -> None:
    outcome = race(server, mode, top, name, TRIES)
    assert outcome.escaped == []
    assert outcome.damage == []
    assert not outcome.other, "refused for something that the swap does not explain"
    assert outcome.proves(), f"this run proves nothing: {outcome}"


NAIVE = Mode(walk=False, landlock=False)


@pytest.mark.parametrize("name", ["read", "list"])
def test_the_race_sees_what_a_server_leaks_that_checks_a_path_and_then_opens_it(tmp_path: Path, name: str) -> None:
    with serving(tmp_path, NAIVE, (naive_server.__file__,)) as server:
        outcome = race(server, NAIVE, tmp_path, name, 800, until=lambda outcome: len(outcome.escaped) > 0)
    assert outcome.escaped


def test_the_race_sees_what_such_a_server_writes_outside(tmp_path: Path) -> None:
    with serving(tmp_path, NAIVE, (naive_server.__file__,)) as server:
        outcome = race(server, NAIVE, tmp_path, "write_new", 1_200)
    assert any("new-" in name for name in outcome.damage)


def test_a_watch_on_the_outside_would_be_seen(tmp_path: Path) -> None:
    field = lay_out(tmp_path, "watch")
    program = (
        "import sys, ctypes; "
        "ctypes.CDLL(None).inotify_add_watch(ctypes.CDLL(None).inotify_init(), sys.argv[1].encode(), 2); "
        "held = open(sys.argv[1] + '/file.txt'); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(field.ground.outside)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = watched_outside(process.pid, field)
        process.communicate()
    assert sorted(one.partition(" ")[0] for one in found) == ["holds", "watches"]
