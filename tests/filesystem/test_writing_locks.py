"""Many writers of one file: every change is there in the end, in one process and in several."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_curated_filesystem.editing.editor import Edit, edit_file
from mcp_curated_filesystem.writing import locking
from mcp_curated_filesystem.writing.locking import locked
from mcp_curated_shared.errors import CancelledError, UnavailableError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work

_EDITOR = """
import sys
from concurrent.futures import ThreadPoolExecutor
from mcp_curated_filesystem.editing.editor import Edit, edit_file
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
root, first = sys.argv[1], int(sys.argv[2])
confinement = Confinement([RootSpec(root)])
def edit(number):
    edit_file(confinement, root + "/f", [Edit(f"<line {number}>", f"<done {number}>")], work=Work())
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(10) as pool:
    list(pool.map(edit, range(first, first + 10)))
"""


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(tmp_path))]) as made:
        yield made


@pytest.fixture
def directory(confinement: Confinement, tmp_path: Path) -> Iterator[int]:
    with confinement.open_directory(str(tmp_path)) as opened:
        yield opened.descriptor


def _lines(count: int) -> str:
    return "".join(f"<line {number}>\n" for number in range(count))


def _done(count: int) -> str:
    return "".join(f"<done {number}>\n" for number in range(count))


@pytest.mark.parametrize("count", [20, 200])
def test_parallel_edits_of_distinct_lines_are_all_present(confinement: Confinement, tmp_path: Path, count: int) -> None:
    (tmp_path / "f").write_text(_lines(count))

    def edit(number: int) -> None:
        edits = [Edit(f"<line {number}>", f"<done {number}>")]
        edit_file(confinement, str(tmp_path / "f"), edits, work=Work())

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(edit, range(count)))
    assert (tmp_path / "f").read_text() == _done(count)


def test_parallel_edits_of_two_processes_are_all_present(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(_lines(20))
    editors = [
        subprocess.Popen(
            [sys.executable, "-c", _EDITOR, str(tmp_path), str(first)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for first in (0, 10)
    ]
    try:
        for editor in editors:
            assert editor.stdout is not None
            assert editor.stdout.readline() == b"ready\n"
        for editor in editors:
            assert editor.stdin is not None
            editor.stdin.write(b"go\n")
            editor.stdin.flush()
        for editor in editors:
            editor.communicate(timeout=60)
    finally:
        for editor in editors:
            editor.kill()
            editor.wait(20)
    assert [editor.returncode for editor in editors] == [0, 0]
    assert (tmp_path / "f").read_text() == _done(20)
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_wait_for_another_writer_ends(directory: int) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(directory, Work()):
            entered.set()
            leave.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert entered.wait(20)
        with pytest.raises(UnavailableError, match="Another writer"), locked(directory, Work(), patience=0.01):
            pass
        cancelled = Work()
        cancelled.cancel()
        with pytest.raises(CancelledError), locked(directory, cancelled):
            pass
    finally:
        leave.set()
        holder.join(20)
    with locked(directory, Work(), patience=1) as descriptor:
        assert descriptor is not None


def test_another_process_is_waited_for(directory: int, tmp_path: Path) -> None:
    script = (
        "import fcntl,os,sys; fd=os.open(sys.argv[1],os.O_RDONLY); fcntl.flock(fd,fcntl.LOCK_EX);"
        "print('held',flush=True); sys.stdin.readline()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UnavailableError), locked(directory, Work(), patience=0.05):
            pass
        other.communicate(b"\n", timeout=20)
    with locked(directory, Work(), patience=5):
        pass


def test_no_lock_is_remembered_after_use(directory: int) -> None:
    with locked(directory, Work()):
        pass
    assert locking._table == {}
