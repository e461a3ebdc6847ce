"""The second layer: what the kernel itself closes, and when it is left out. Each in a process of its own."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mcp_curated_shared.security import landlock

_START = """
import os, sys
from mcp_curated_shared.security import landlock
top = sys.argv[1]
def tried(operation):
    try:
        operation()
        return "done"
    except OSError as error:
        return type(error).__name__
def write(path):
    with open(path, "w") as file:
        file.write("x")
def read(path):
    with open(path) as file:
        file.read()
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("root/a", "root/b", "closed", "state", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (tmp_path / "closed" / "file.txt").write_text("x")
    return tmp_path


def run(code: str, top: Path) -> list[str]:
    """The lines that a process prints which runs `code` after `_START`."""
    command = [sys.executable, "-c", _START + code, str(top)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


needs_landlock = pytest.mark.skipif(landlock.abi() < 2, reason="this kernel has no Landlock of ABI 2 or more")
_ENTER = 'status = landlock.restrict([(f"{top}/root", True), (f"{top}/closed", False)], writable=[f"{top}/state"])\n'


@needs_landlock
def test_outside_is_closed_to_every_open_and_the_roots_keep_their_rights(top: Path) -> None:
    code = """
assert status.active and status.reason == "", status
print(tried(lambda: read(f"{top}/outside/secret.txt")))
print(tried(lambda: write(f"{top}/outside/new.txt")))
print(tried(lambda: os.listdir(f"{top}/outside")))
print(tried(lambda: os.rename(f"{top}/outside/secret.txt", f"{top}/root/stolen")))
print(tried(lambda: read("/etc/passwd")))
print(tried(lambda: write(f"{top}/root/a/new.txt")))
print(tried(lambda: os.rename(f"{top}/root/a/new.txt", f"{top}/root/b/new.txt")))
print(tried(lambda: read(f"{top}/closed/file.txt")))
print(tried(lambda: write(f"{top}/closed/file.txt")))
print(tried(lambda: write(f"{top}/state/log")))
print(tried(lambda: os.stat(f"{top}/outside/secret.txt")))
"""
    refused, done = "PermissionError", "done"
    assert run(_ENTER + code, top) == [*[refused] * 5, done, done, done, refused, done, done]


@needs_landlock
def test_threads_started_later_are_closed_in_as_well(top: Path) -> None:
    code = """
import threading
found = []
thread = threading.Thread(target=lambda: found.append(tried(lambda: read(f"{top}/outside/secret.txt"))))
thread.start()
thread.join(10)
print(found[0])
"""
    assert run(_ENTER + code, top) == ["PermissionError"]


@needs_landlock
def test_python_goes_on_importing_resolving_and_reading_time_zones(top: Path) -> None:
    code = """
import asyncio, decimal, email, json, sqlite3, ssl, zoneinfo, hypothesis
zoneinfo.ZoneInfo("UTC")
ssl.create_default_context()
os.urandom(4)
open(os.devnull, "w").close()
os.listdir("/proc/self/fd")
print(status.active)
"""
    assert run(_ENTER + code, top) == ["True"]


@needs_landlock
def test_a_process_started_in_a_wide_directory_does_not_open_it(top: Path) -> None:
    code = """
os.chdir(top)
sys.path.insert(0, top)
sys.path.insert(0, "/")
status = landlock.restrict([(f"{top}/root", True)])
print(status.active, tried(lambda: read(f"{top}/outside/secret.txt")))
"""
    assert run(code, top) == ["True PermissionError"]


@needs_landlock
def test_confinement_works_below_it(top: Path) -> None:
    code = """
from mcp_curated_shared.security.confinement import Confinement, RootSpec
confinement = Confinement([RootSpec(f"{top}/root")])
with confinement.open_target("deep/er/new.txt", parents=True) as target:
    os.close(os.open(target.name, os.O_CREAT | os.O_WRONLY, dir_fd=target.directory))
walked = Confinement([RootSpec(f"{top}/root")], method="walk")
with confinement.open_file("deep/er/new.txt"), walked.open_file("deep/er/new.txt"):
    print("done")
"""
    assert run(_ENTER + code, top) == ["done"]


@needs_landlock
def test_it_is_left_out_when_a_root_is_missing_or_a_thread_runs_and_says_why(top: Path) -> None:
    code = """
import threading
missing = landlock.restrict([(f"{top}/root", True), (f"{top}/absent", True)])
print(missing.active, missing.reason)
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
running = landlock.restrict([(f"{top}/root", True)])
print(running.active, running.reason)
stop.set()
thread.join(10)
print(tried(lambda: read(f"{top}/outside/secret.txt")))
"""
    assert run(code, top) == [
        "False 1 of the allowed directories is missing and could not be opened later",
        "False another thread is already running",
        "done",
    ]


@pytest.mark.parametrize(("version", "reason"), [(0, "no Landlock"), (1, "too old")])
def test_a_kernel_without_it_or_with_an_old_one_is_left_alone(
    version: int, reason: str, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: version)
    status = landlock.restrict([(str(top / "root"), True)])
    assert (status.active, status.abi) == (False, version)
    assert reason in status.reason


def test_it_is_never_entered_from_another_thread(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 7)
    found: list[landlock.LandlockStatus] = []
    thread = threading.Thread(target=lambda: found.append(landlock.restrict([(str(top / "root"), True)])))
    thread.start()
    thread.join(10)
    assert (found[0].active, found[0].reason) == (False, "another thread is already running")


@needs_landlock
def test_a_root_that_was_replaced_is_told_as_needing_a_restart(top: Path) -> None:
    code = """
from mcp_curated_shared.security.confinement import Confinement, RootSpec, RootUnavailableError
confinement = Confinement([RootSpec(f"{top}/root"), RootSpec(f"{top}/closed", writable=False)])
before = os.stat(f"{top}/root").st_ino
print(confinement.roots[0].available)
sys.stdin.readline()
"""
    after = """
assert os.stat(f"{top}/root").st_ino != before
print(confinement.roots[0].available, confinement.roots[1].available)
try:
    confinement.open_directory(f"{top}/root").close()
except RootUnavailableError as error:
    print(error.text)
"""
    command = [sys.executable, "-u", "-c", _START + _ENTER + code + after, str(top)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        (top / "root").rename(top / "old")
        (top / "root").mkdir()
        told, _ = process.communicate("\n", timeout=60)
    assert told.splitlines()[0] == "False True"
    assert "restart the server" in told
