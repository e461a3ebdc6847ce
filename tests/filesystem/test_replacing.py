"""Replacing a file in one step: old or new, never a part, nothing of another writer lost, nothing left behind."""

import errno
import multiprocessing
import os
import random
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from mcp_curated_filesystem.editing.editor import Edit, edit_file
from mcp_curated_filesystem.writing import leftovers, renaming, replacing, snapshots
from mcp_curated_filesystem.writing.renaming import ExchangeUnsupportedError, rename_new
from mcp_curated_filesystem.writing.snapshots import Snapshot
from mcp_curated_filesystem.writing.writer import write_file
from mcp_curated_shared.errors import CancelledError, ConflictError, CuratedError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work

KILLS = int(os.environ.get("MCP_CURATED_KILLS", "10"))
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux system calls")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(tmp_path))]) as made:
        yield made


def _edit(confinement: Confinement, file: Path, old: str, new: str) -> tuple[str, ...]:
    return edit_file(confinement, str(file), [Edit(old, new)], work=Work()).notes


def _litter(directory: Path) -> list[str]:
    return [entry.name for entry in directory.iterdir() if leftovers.is_ours(entry.name)]


def _meanwhile(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Do something once, after the file was read and the new content written, just before it takes the file's place."""
    real = renaming.exchange
    left = [action]

    def exchange(first: tuple[int, str], second: tuple[int, str]) -> None:
        if left:
            left.pop()()
        real(first, second)

    monkeypatch.setattr("mcp_curated_filesystem.writing.replacing.exchange", exchange)


# Another program at the same moment


@pytest.mark.parametrize("how", ["in place", "in place, same length and time", "by rename", "removed"])
def test_a_change_between_read_and_rename_is_seen_and_kept(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"key=1\n")
    times = file.stat()

    def change() -> None:
        if how == "removed":
            file.unlink()
        elif how == "by rename":
            (tmp_path / "g").write_bytes(b"theirs\n")
            (tmp_path / "g").rename(file)
        else:
            file.write_bytes(b"theirs\n" if how == "in place" else b"key=7\n")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    _meanwhile(monkeypatch, change)
    with pytest.raises(ConflictError, match="another program"):
        _edit(confinement, file, "key=1", "key=2")
    if how == "removed":
        assert not file.exists()
    else:
        assert file.read_bytes() == (b"key=7\n" if "same length" in how else b"theirs\n")
    assert _litter(tmp_path) == []


def test_the_newest_of_two_foreign_changes_stays(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"key=1\n")
    real, calls = renaming.exchange, [0]

    def exchange(first: tuple[int, str], second: tuple[int, str]) -> None:
        calls[0] += 1
        if calls[0] <= 2:
            (tmp_path / "g").write_bytes(f"theirs {calls[0]}\n".encode())
            (tmp_path / "g").rename(file)
        real(first, second)

    monkeypatch.setattr("mcp_curated_filesystem.writing.replacing.exchange", exchange)
    with pytest.raises(ConflictError):
        _edit(confinement, file, "key=1", "key=2")
    assert file.read_bytes() == b"theirs 2\n"
    assert _litter(tmp_path) == []


def test_without_an_exchange_the_file_is_compared_before_the_rename(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"key=1\n")

    def exchange(first: tuple[int, str], second: tuple[int, str]) -> None:
        raise ExchangeUnsupportedError(errno.EINVAL, "no")

    monkeypatch.setattr("mcp_curated_filesystem.writing.replacing.exchange", exchange)
    _edit(confinement, file, "key=1", "key=2")
    assert file.read_bytes() == b"key=2\n"
    _meanwhile(monkeypatch, lambda: file.write_bytes(b"theirs\n"))
    with pytest.raises(ConflictError):
        _edit(confinement, file, "key=2", "key=3")
    assert file.read_bytes() == b"theirs\n"


def test_a_new_file_never_replaces_one_that_appeared_meanwhile(tmp_path: Path, confinement: Confinement) -> None:
    with confinement.open_target(str(tmp_path / "new")) as target:
        (tmp_path / "new").write_bytes(b"theirs")
        with pytest.raises(ConflictError):
            replacing.create(target, [b"ours"], None, Work())
    assert (tmp_path / "new").read_bytes() == b"theirs"
    assert _litter(tmp_path) == []


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_renames_without_replacing_work_without_the_system_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source = tmp_path / "a"
    source.mkdir() if kind == "directory" else source.write_bytes(b"a")
    (tmp_path / "taken").write_bytes(b"taken")
    monkeypatch.setattr(renaming, "_native", lambda: None)
    directory = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(FileExistsError):
            rename_new((directory, "a"), (directory, "taken"))
        rename_new((directory, "a"), (directory, "b"))
    finally:
        os.close(directory)
    assert (tmp_path / "taken").read_bytes() == b"taken"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["b", "taken"]


# Attributes


def test_the_temporary_file_is_secret_from_its_birth(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"secret")
    file.chmod(0o600)
    modes: list[int] = []
    real = snapshots.write_all

    def write_all(descriptor: int, pieces: list[bytes], work: Work) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        real(descriptor, pieces, work)
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))

    monkeypatch.setattr("mcp_curated_filesystem.writing.unfinished.write_all", write_all)
    _edit(confinement, file, "secret", "hidden")
    write_file(confinement, str(tmp_path / "new"), "x", work=Work())
    assert modes == [0o600] * 4
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_new_file_has_the_mode_that_the_umask_gives(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_file(confinement, str(tmp_path / "new"), "x", work=Work())
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@needs_linux
def test_extended_attributes_are_kept(confinement: Confinement, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a")
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no user attributes")
    _edit(confinement, file, "a", "b")
    assert os.getxattr(file, "user.note") == b"mine"


def _default_acl(directory: Path) -> None:
    """Let user 1234 write what is made in a directory: acl(5) in the form of xattr(7) `system.posix_acl_default`."""
    everyone = 0xFFFFFFFF
    rules = [(0x01, 6, everyone), (0x02, 6, 1234), (0x04, 0, everyone), (0x10, 6, everyone), (0x20, 0, everyone)]
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *rule) for rule in rules)
    try:
        os.setxattr(directory, "system.posix_acl_default", packed)
    except OSError:
        pytest.skip("this file system has no access control lists")


@needs_linux
def test_a_replacement_grants_nobody_what_the_old_file_did_not(confinement: Confinement, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a")
    file.chmod(0o640)
    _default_acl(tmp_path)
    _edit(confinement, file, "a", "b")
    assert "system.posix_acl_access" not in os.listxattr(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@needs_linux
def test_a_new_file_gets_the_access_list_of_its_directory(confinement: Confinement, tmp_path: Path) -> None:
    _default_acl(tmp_path)
    (tmp_path / "other").touch()
    write_file(confinement, str(tmp_path / "new"), "x", work=Work())
    name = "system.posix_acl_access"
    assert os.getxattr(tmp_path / "new", name) == os.getxattr(tmp_path / "other", name)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@needs_root
def test_the_owner_is_kept(confinement: Confinement, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a")
    os.chown(file, 1234, 2345)
    _edit(confinement, file, "a", "b")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 2345)


def test_a_hard_link_is_broken_and_said_so(confinement: Confinement, tmp_path: Path) -> None:
    file, other = tmp_path / "f", tmp_path / "other"
    file.write_bytes(b"a")
    os.link(file, other)
    notes = _edit(confinement, file, "a", "b")
    assert (file.read_bytes(), other.read_bytes()) == (b"b", b"a")
    assert any("hard links" in note for note in notes)


# In place


def _as_another_user(action: Callable[[], str]) -> str:
    """Run in a child without root's rights; what it returns or raises comes back as text."""

    def run(pipe: "Connection") -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            pipe.send(action())
        except CuratedError as error:
            pipe.send(f"{error.kind}: {error}")
        finally:
            pipe.close()

    mine, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=run, args=(theirs,))
    child.start()
    theirs.close()
    try:
        return mine.recv() if mine.poll(20) else "nothing"
    finally:
        child.join(20)
        mine.close()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that another user can reach; pytest's own ones are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def open_to_all(shared: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(shared))]) as made:
        yield made


def test_a_file_in_an_unwritable_directory_is_written_in_place(shared: Path, open_to_all: Confinement) -> None:
    file = shared / "f"
    file.write_bytes(b"a long old text\n")
    file.chmod(0o666)
    inode = file.stat().st_ino
    shared.chmod(0o555)
    try:
        told = _as_another_user(lambda: " ".join(_edit(open_to_all, file, "long old", "new")))
    finally:
        shared.chmod(0o755)
    assert "in place" in told
    assert "No safety copy could be made" in told
    assert file.read_bytes() == b"a new text\n"
    assert file.stat().st_ino == inode


def test_a_hard_linked_file_is_never_written_in_place(shared: Path, open_to_all: Confinement) -> None:
    file = shared / "f"
    file.write_bytes(b"a")
    file.chmod(0o666)
    os.link(file, shared / "g")
    shared.chmod(0o555)
    try:
        told = _as_another_user(lambda: " ".join(_edit(open_to_all, file, "a", "b")))
    finally:
        shared.chmod(0o755)
    assert told.startswith("permission: ")
    assert file.read_bytes() == b"a"


@needs_root
def test_a_file_whose_owner_cannot_be_kept_is_written_in_place(shared: Path, open_to_all: Confinement) -> None:
    file = shared / "f"
    file.write_bytes(b"a")
    file.chmod(0o666)
    shared.chmod(0o777)
    told = _as_another_user(lambda: " ".join(_edit(open_to_all, file, "a", "b")))
    assert "owner" in told
    assert (file.read_bytes(), file.stat().st_uid) == (b"b", 0)
    assert _litter(shared) == []


_MOUNTED = """
import os, subprocess, sys
from mcp_curated_filesystem.editing.editor import Edit, edit_file
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
root = sys.argv[1]
subprocess.run(["mount", "--bind", root + "/f", root + "/f"], check=True)
with Confinement([RootSpec(root)]) as confinement:
    print(edit_file(confinement, root + "/f", [Edit("old", "new")], work=Work()).notes)
print(open(root + "/f").read(), os.listdir(root))
"""


@needs_linux
@needs_root
def test_a_file_that_is_a_mount_point_is_written_in_place(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    command = ["unshare", "-m", sys.executable, "-c", _MOUNTED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0 and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip("no mounts here")
    assert "in place, since the file is a mount point" in done.stdout, done.stderr
    assert "new ['f']" in done.stdout


def test_a_failed_write_in_place_puts_the_old_content_back(
    tmp_path: Path, confinement: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp_curated_filesystem.writing import overwriting

    file = tmp_path / "f"
    file.write_bytes(b"old content")
    before = Snapshot(file.stat(), b"old content")
    real = os.pwrite
    calls = [0]

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        calls[0] += 1
        if calls[0] == 2:  # the first is the safety copy; this one ends half done
            real(descriptor, data[:5], at)
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, data, at)

    monkeypatch.setattr(os, "pwrite", pwrite)
    with confinement.open_target(str(file)) as target, pytest.raises(OSError, match="full"):
        overwriting.overwrite(target, [b"NEW", b"MORE"], before, None, Work())
    assert file.read_bytes() == b"old content"
    assert _litter(tmp_path) == []


# Litter


def test_litter_of_a_killed_run_is_removed_at_the_next_write(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / leftovers.temporary_name()).write_bytes(b"half")
    tree = tmp_path / leftovers.temporary_name()
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "x").write_bytes(b"half")
    write_file(confinement, str(tmp_path / "f"), "x", work=Work())
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_the_temporary_file_of_a_living_writer_is_never_removed(confinement: Confinement, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    name = leftovers.temporary_name()
    with (tmp_path / name).open("wb") as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        write_file(confinement, str(tmp_path / "f"), "x", work=Work())
        assert (tmp_path / name).exists()
    write_file(confinement, str(tmp_path / "g"), "x", work=Work())
    assert not (tmp_path / name).exists()


def test_names_of_other_programs_are_not_swept(confinement: Confinement, tmp_path: Path) -> None:
    for name in (".mcp-curated-notes.tmp", ".mcp-curated-0123456789abcdef.saved", "x.tmp", "y.partial"):
        (tmp_path / name).write_bytes(b"keep")
    write_file(confinement, str(tmp_path / "f"), "x", work=Work())
    assert len(list(tmp_path.iterdir())) == 5


def test_a_cancelled_write_leaves_the_old_file_and_no_litter(confinement: Confinement, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"old")
    work = Work()
    work.cancel()
    with confinement.open_target(str(file)) as target, pytest.raises(CancelledError):
        replacing.replace(target, [b"new"], Snapshot(file.stat(), b"old"), None, work)
    assert file.read_bytes() == b"old"
    assert _litter(tmp_path) == []


@needs_linux
def test_what_is_being_written_has_no_name_that_a_killed_writer_could_leave(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    real = snapshots.write_all

    def write_all(descriptor: int, pieces: list[bytes], work: Work) -> None:
        real(descriptor, pieces, work)
        seen.append([entry.name for entry in tmp_path.iterdir()])

    monkeypatch.setattr("mcp_curated_filesystem.writing.unfinished.write_all", write_all)
    write_file(confinement, str(tmp_path / "f"), "new", work=Work())
    write_file(confinement, str(tmp_path / "f"), "newer", work=Work())
    assert seen == [[], ["f"]]
    assert (tmp_path / "f").read_bytes() == b"newer"


def test_without_nameless_files_the_content_is_written_under_a_name_of_ours(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_curated_filesystem.writing.unfinished._UNNAMED", 0)
    names: list[str] = []
    real = snapshots.write_all

    def write_all(descriptor: int, pieces: list[bytes], work: Work) -> None:
        real(descriptor, pieces, work)
        names.extend(_litter(tmp_path))

    monkeypatch.setattr("mcp_curated_filesystem.writing.unfinished.write_all", write_all)
    write_file(confinement, str(tmp_path / "f"), "new", work=Work())
    write_file(confinement, str(tmp_path / "f"), "newer", work=Work())
    assert len(names) == 2
    assert all(leftovers.is_temporary(name) for name in names)
    assert _litter(tmp_path) == []
    assert (tmp_path / "f").read_bytes() == b"newer"


def test_a_full_disk_leaves_the_old_file_and_no_litter(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"old")

    def write_all(descriptor: int, pieces: list[bytes], work: Work) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("mcp_curated_filesystem.writing.unfinished.write_all", write_all)
    with pytest.raises(CuratedError, match="no space left"):
        write_file(confinement, str(file), "new", work=Work())
    assert file.read_bytes() == b"old"
    assert _litter(tmp_path) == []


_WRITER = """
import sys
from mcp_curated_filesystem.writing.writer import write_file
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
confinement = Confinement([RootSpec(sys.argv[1])])
while True:
    for letter in "AB":
        write_file(confinement, sys.argv[1] + "/f", letter * 8_000_000, work=Work())
        print(letter, flush=True)
"""


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_content(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"B" * 8_000_000)
    whole = {b"A" * 8_000_000, b"B" * 8_000_000}
    for number in range(KILLS):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"A\n"
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(random.Random(number).uniform(0.0, 0.12))
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.communicate(timeout=20)
        assert file.read_bytes() in whole
    with Confinement([RootSpec(str(tmp_path))]) as confinement:
        write_file(confinement, str(tmp_path / "g"), "x", work=Work())
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["f", "g"]


def test_a_reader_never_sees_a_part_of_a_file(confinement: Confinement, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"A" * 2_000_000)
    done = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not done.is_set():
            data = file.read_bytes()
            seen.add(data[:1] + data[-1:] + str(len(data)).encode())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for letter in "BA" * 8:
            write_file(confinement, str(file), letter * 2_000_000, work=Work())
    finally:
        done.set()
        reader.join(20)
    assert seen <= {b"AA2000000", b"BB2000000"}
    assert seen
