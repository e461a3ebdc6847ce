"""Moving, copying and making directories: never over anything, never through a link, whole or not at all."""

import errno
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.writing import copying, departing, leftovers, transferring
from mcp_curated_filesystem.writing.transferring import (
    copy_file,
    create_directory,
    move_file,
    render_copy,
    render_directory,
    render_move,
)
from mcp_curated_shared.errors import CancelledError, ConflictError, CuratedError, NotAllowedError
from mcp_curated_shared.security.confinement import (
    Confinement,
    NotADirectoryError,
    NotAFileError,
    OutsideRootsError,
    PathDeniedError,
    PathNotFoundError,
    ReadOnlyError,
    RootSpec,
)
from mcp_curated_shared.work import Work


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(tmp_path))]) as made:
        yield made


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory on another file system."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no other file system here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield Path(name)


@pytest.fixture
def both(tmp_path: Path, elsewhere: Path) -> Iterator[Confinement]:
    if tmp_path.stat().st_dev == elsewhere.stat().st_dev:
        pytest.skip("there is no other file system here")
    with Confinement([RootSpec(str(tmp_path)), RootSpec(str(elsewhere))]) as made:
        yield made


def _move(confinement: Confinement, source: Path, destination: Path) -> str:
    return render_move(move_file(confinement, str(source), str(destination), work=Work()))


def _copy(confinement: Confinement, source: Path, destination: Path) -> str:
    return render_copy(copy_file(confinement, str(source), str(destination), work=Work()))


def _tree(directory: Path) -> dict[str, str]:
    """Everything in a directory: content of files, targets of links."""
    found: dict[str, str] = {}
    for entry in sorted(directory.rglob("*")):
        name = str(entry.relative_to(directory))
        if entry.is_symlink():
            found[name] = "-> " + str(entry.readlink())
        elif entry.is_file():
            found[name] = entry.read_text()
        else:
            found[name] = "(directory)" if entry.is_dir() else "(special)"
    return found


def _project(directory: Path) -> Path:
    project = directory / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("a")
    (project / "run.sh").write_text("#!")
    (project / "run.sh").chmod(0o755)
    (project / "src" / "link.py").symlink_to("../run.sh")
    return project


# Directories


def test_a_directory_is_made_with_its_parents(confinement: Confinement, tmp_path: Path) -> None:
    made = create_directory(confinement, str(tmp_path / "a" / "b" / "c"), work=Work())
    assert made.created
    assert (tmp_path / "a" / "b" / "c").is_dir()
    assert render_directory(made).startswith("Created")


def test_a_directory_that_exists_is_fine(confinement: Confinement, tmp_path: Path) -> None:
    made = create_directory(confinement, str(tmp_path), work=Work())
    assert not made.created


def test_a_file_in_the_place_of_a_directory_is_an_error(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(NotADirectoryError):
        create_directory(confinement, str(tmp_path / "f"), work=Work())


# Moves


def test_a_file_is_moved_into_a_new_directory(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    _move(confinement, tmp_path / "f", tmp_path / "new" / "g")
    assert _tree(tmp_path) == {"new": "(directory)", "new/g": "x"}


@pytest.mark.parametrize("kind", ["file", "directory", "empty directory", "link", "dangling link", "pipe"])
def test_nothing_that_exists_is_ever_moved_over(confinement: Confinement, tmp_path: Path, kind: str) -> None:
    (tmp_path / "f").write_text("mine")
    taken = tmp_path / "taken"
    if kind == "file":
        taken.write_text("theirs")
    elif kind == "pipe":
        os.mkfifo(taken)
    elif "link" in kind:
        taken.symlink_to("f" if kind == "link" else "nowhere")
    else:
        taken.mkdir()
        if kind == "directory":
            (taken / "x").touch()
    before = _tree(tmp_path)
    with pytest.raises(ConflictError, match="exists already"):
        _move(confinement, tmp_path / "f", taken)
    with pytest.raises(ConflictError, match="exists already"):
        _copy(confinement, tmp_path / "f", taken)
    assert _tree(tmp_path) == before


def test_a_directory_at_the_destination_tells_how_to_move_into_it(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    (tmp_path / "d").mkdir()
    with pytest.raises(ConflictError, match="new path with its name"):
        _move(confinement, tmp_path / "f", tmp_path / "d")


def test_a_link_is_moved_rather_than_its_target(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("t")
    (tmp_path / "link").symlink_to("target")
    assert "a symbolic link" in _move(confinement, tmp_path / "link", tmp_path / "moved")
    assert _tree(tmp_path) == {"moved": "-> target", "target": "t"}


def test_a_rename_in_letter_case_only_works(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("x")
    _move(confinement, tmp_path / "readme.md", tmp_path / "README.md")
    assert [entry.name for entry in tmp_path.iterdir()] == ["README.md"]


def test_a_rename_in_letter_case_works_where_case_does_not_count(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a file system finds the source at the destination's name; played by a first answer of that kind."""
    (tmp_path / "a").write_text("x")
    real_stat = os.stat

    def rename_new(source: tuple[int, str], target: tuple[int, str]) -> None:
        raise FileExistsError(errno.EEXIST, "exists")

    def found(name: object, **options: object) -> os.stat_result:
        return real_stat("a" if name == "A" else name, **options)  # pyright: ignore[reportArgumentType, reportCallIssue] - passed on

    monkeypatch.setattr(transferring, "rename_new", rename_new)
    monkeypatch.setattr(os, "stat", found)
    with (
        confinement.open_target(str(tmp_path / "a"), follow=False) as source,
        confinement.open_target(str(tmp_path / "B"), follow=False) as target,
    ):
        target.name = "A"
        transferring._move(confinement, source, target, Work())
    assert [entry.name for entry in tmp_path.iterdir()] == ["A"]


def test_two_hard_links_are_not_taken_for_one_name(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    os.link(tmp_path / "a", tmp_path / "A")
    with pytest.raises(ConflictError):
        _move(confinement, tmp_path / "a", tmp_path / "A")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["A", "a"]


@pytest.mark.parametrize("tool", [_move, _copy])
def test_a_directory_never_goes_into_itself(confinement: Confinement, tmp_path: Path, tool: object) -> None:
    project = _project(tmp_path)
    before = _tree(project)
    with pytest.raises(NotAllowedError, match="into itself"):
        tool(confinement, project, project / "src" / "inner")  # pyright: ignore[reportCallIssue] - one of two functions
    assert _tree(project) == before


@pytest.mark.parametrize("tool", [_move, _copy])
def test_a_missing_source_is_named(confinement: Confinement, tmp_path: Path, tool: object) -> None:
    with pytest.raises(PathNotFoundError, match="nothing-here"):
        tool(confinement, tmp_path / "nothing-here", tmp_path / "g")  # pyright: ignore[reportCallIssue] - one of two functions


def test_both_ends_must_be_inside_and_writable(tmp_path: Path) -> None:
    for name in ("free", "fixed", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    fixed = RootSpec(str(tmp_path / "fixed"), writable=False)
    with Confinement([RootSpec(str(tmp_path / "free")), fixed], deny=["*.env"]) as confinement:
        for source, destination, error in [
            ("free/f", "outside/g", OutsideRootsError),
            ("outside/f", "free/g", OutsideRootsError),
            ("free/f", "fixed/g", ReadOnlyError),
            ("fixed/f", "free/g", ReadOnlyError),
            ("free/f", "free/x.env", PathDeniedError),
            ("free/f", "free/.git/hooks/x", PathDeniedError),
        ]:
            with pytest.raises(error):
                _move(confinement, tmp_path / source, tmp_path / destination)
        _copy(confinement, tmp_path / "fixed" / "f", tmp_path / "free" / "copy")
    assert (tmp_path / "free" / "copy").read_text() == "fixed"
    assert (tmp_path / "outside" / "f").read_text() == "outside"


def test_a_directory_that_holds_a_closed_entry_is_not_moved(tmp_path: Path) -> None:
    project = _project(tmp_path)
    (project / "src" / "key.pem").write_text("k")
    closed = Confinement([RootSpec(str(tmp_path))], deny=["project/src/*.pem"])
    with closed, pytest.raises(NotAllowedError, match="deny rules"):
        _move(closed, project, tmp_path / "open")
    assert (project / "src" / "key.pem").exists()


def test_a_file_moves_across_devices(both: Confinement, tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "f").write_bytes(os.urandom(3_000_000))
    (tmp_path / "f").chmod(0o640)
    os.utime(tmp_path / "f", ns=(1_000_000_000, 2_000_000_000))
    content = (tmp_path / "f").read_bytes()
    assert "other file system" in _move(both, tmp_path / "f", elsewhere / "g")
    state = (elsewhere / "g").stat()
    assert (elsewhere / "g").read_bytes() == content
    assert (stat.S_IMODE(state.st_mode), state.st_mtime_ns) == (0o640, 2_000_000_000)
    assert list(tmp_path.iterdir()) == []
    assert [entry.name for entry in elsewhere.iterdir()] == ["g"]


def test_a_directory_moves_across_devices_with_all_its_links(
    both: Confinement, tmp_path: Path, elsewhere: Path
) -> None:
    project = _project(tmp_path)
    (project / "out").symlink_to("/nowhere")
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref")
    before = _tree(project)
    _move(both, project, elsewhere / "moved")
    assert _tree(elsewhere / "moved") == before
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_a_pipe_is_not_moved_across_devices(
    both: Confinement, tmp_path: Path, elsewhere: Path
) -> None:
    project = _project(tmp_path)
    os.mkfifo(project / "pipe")
    before = _tree(project)
    with pytest.raises(CuratedError, match="special file"):
        _move(both, project, elsewhere / "moved")
    assert _tree(project) == before
    assert list(elsewhere.iterdir()) == []


def test_what_changes_during_a_move_across_devices_is_kept(
    both: Confinement, tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _project(tmp_path)
    real = departing.remove_moved

    def remove_moved(*arguments: object) -> departing.Remains:
        (project / "run.sh").write_text("changed meanwhile")
        (project / "new").write_text("new")
        return real(*arguments)  # pyright: ignore[reportArgumentType] - passed on

    monkeypatch.setattr("mcp_curated_filesystem.writing.transferring.remove_moved", remove_moved)
    assert "changed or new since" in _move(both, project, elsewhere / "moved")
    assert _tree(project) == {"run.sh": "changed meanwhile", "new": "new"}
    assert _tree(elsewhere / "moved")["run.sh"] == "#!"


def test_nothing_is_moved_over_across_devices(both: Confinement, tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "f").write_text("mine")
    (elsewhere / "g").write_text("theirs")
    with pytest.raises(ConflictError):
        _move(both, tmp_path / "f", elsewhere / "g")
    assert (tmp_path / "f").read_text() == "mine"
    assert _tree(elsewhere) == {"g": "theirs"}


# Copies


@pytest.mark.parametrize("size", [0, 1, 5_000_000])
def test_a_file_is_copied_with_mode_and_time(confinement: Confinement, tmp_path: Path, size: int) -> None:
    (tmp_path / "f").write_bytes(os.urandom(size))
    (tmp_path / "f").chmod(0o750)
    os.utime(tmp_path / "f", ns=(1_000_000_000, 2_000_000_000))
    assert f"{size:,} bytes" in _copy(confinement, tmp_path / "f", tmp_path / "g")
    state = (tmp_path / "g").stat()
    assert (tmp_path / "g").read_bytes() == (tmp_path / "f").read_bytes()
    assert (stat.S_IMODE(state.st_mode), state.st_mtime_ns) == (0o750, 2_000_000_000)


def test_a_copy_across_devices_is_whole(both: Confinement, tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "f").write_bytes(os.urandom(9_000_000))
    _copy(both, tmp_path / "f", elsewhere / "g")
    assert (elsewhere / "g").read_bytes() == (tmp_path / "f").read_bytes()


def test_a_directory_never_is_an_allowed_one_copied_into_itself(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    outer = str(inner.parent)
    with Confinement([RootSpec(outer), RootSpec(str(inner))]) as confinement:
        for destination in (f"{outer}/copy", f"{inner}/copy"):
            with pytest.raises(NotAllowedError, match="into itself"):
                copy_file(confinement, outer, destination, work=Work())
    assert list(inner.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="macOS clones")
def test_a_copy_of_a_sparse_file_keeps_its_holes(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_cloned", lambda *_: False)
    source = tmp_path / "sparse"
    with source.open("wb") as file:
        file.seek(5 << 20)
        file.write(b"in the middle")
        file.truncate(64 << 20)
    copy_file(confinement, str(source), str(tmp_path / "copy"), work=Work())
    copied = (tmp_path / "copy").stat()
    assert copied.st_size == 64 << 20
    assert copied.st_blocks * 512 < 8 << 20
    with (tmp_path / "copy").open("rb") as file:
        file.seek(5 << 20)
        assert file.read(15) == b"in the middle\0\0"


def test_content_is_copied_without_the_kernels_help(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(os.urandom(2_500_000))
    monkeypatch.delattr(os, "copy_file_range", raising=False)
    _copy(confinement, tmp_path / "f", tmp_path / "g")
    assert (tmp_path / "g").read_bytes() == (tmp_path / "f").read_bytes()


def test_a_directory_is_copied_whole_and_what_cannot_be_is_counted(confinement: Confinement, tmp_path: Path) -> None:
    project = _project(tmp_path)
    (project / "out").symlink_to("/etc/passwd")
    (project / "src" / "up").symlink_to("../../elsewhere")
    (project / "src" / "roundabout").symlink_to("link.py/../../../x")
    os.mkfifo(project / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        name = f"/proc/self/fd/{os.open(project, os.O_RDONLY)}/s" if sys.platform == "linux" else str(project / "s")
        server.bind(name)
        (project / ".git").mkdir()
        (project / ".git" / "HEAD").write_text("ref")
        text = _copy(confinement, project, tmp_path / "copy")
    assert _tree(tmp_path / "copy") == {
        "run.sh": "#!",
        "src": "(directory)",
        "src/a.py": "a",
        "src/link.py": "-> ../run.sh",
    }
    assert stat.S_IMODE((tmp_path / "copy" / "run.sh").stat().st_mode) == 0o755
    assert "2 files in 2 directories" in text
    assert "1 .git, 3 links, 2 special files" in text


def test_closed_entries_are_left_out_of_a_copy(tmp_path: Path) -> None:
    project = _project(tmp_path)
    (project / "key.pem").write_text("k")
    with Confinement([RootSpec(str(tmp_path))], deny=["*.pem"]) as confinement:
        assert "1 entry closed by the operator" in _copy(confinement, project, tmp_path / "copy")
    assert "key.pem" not in _tree(tmp_path / "copy")


def test_a_copied_link_stands_for_what_it_leads_to(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("content")
    (tmp_path / "link").symlink_to("f")
    _copy(confinement, tmp_path / "link", tmp_path / "g")
    assert not (tmp_path / "g").is_symlink()
    assert (tmp_path / "g").read_text() == "content"


def test_a_pipe_is_not_copied(confinement: Confinement, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAFileError, match="pipe"):
        _copy(confinement, tmp_path / "pipe", tmp_path / "g")


def test_a_cancelled_copy_leaves_nothing(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _project(tmp_path)
    (project / "src").chmod(0o555)
    work = Work()
    real = copying.copy_content

    def copy_content(source: int, target: int, given: Work) -> None:
        real(source, target, given)
        if os.fstat(source).st_size == 1:
            work.cancel()

    (project / "zzz").write_text("never reached")
    monkeypatch.setattr(copying, "copy_content", copy_content)
    with pytest.raises(CancelledError):
        copy_file(confinement, str(project), str(tmp_path / "copy"), work=work)
    (project / "src").chmod(0o755)
    assert [entry.name for entry in tmp_path.iterdir()] == ["project"]


def test_a_source_that_changes_while_it_is_copied_is_refused(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("before")
    real = copying.copy_content

    def copy_content(source: int, target: int, given: Work) -> None:
        real(source, target, given)
        (tmp_path / "f").write_text("changed meanwhile")

    monkeypatch.setattr(copying, "copy_content", copy_content)
    with pytest.raises(CuratedError, match="changed while"):
        _copy(confinement, tmp_path / "f", tmp_path / "g")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_directory_nested_too_deep_is_refused_whole(confinement: Confinement, tmp_path: Path) -> None:
    deep = tmp_path / "deep"
    deep.joinpath(*["d"] * (copying.DEEPEST + 2)).mkdir(parents=True)
    with pytest.raises(CuratedError, match="nested more than"):
        _copy(confinement, deep, tmp_path / "copy")
    assert [entry.name for entry in tmp_path.iterdir()] == ["deep"]


def test_names_that_are_no_text_are_copied(confinement: Confinement, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9\n")
    (tmp_path / "d").mkdir()
    try:
        (tmp_path / "d" / name).write_text("x")
    except OSError:
        pytest.skip("names must be text here")
    text = _copy(confinement, tmp_path / "d", tmp_path / "e")
    assert (tmp_path / "e" / name).read_text() == "x"
    text.encode()


def test_our_own_names_are_not_copied(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / leftovers.temporary_name()).write_text("half")
    _copy(confinement, tmp_path / "d", tmp_path / "e")
    assert list((tmp_path / "e").iterdir()) == []
