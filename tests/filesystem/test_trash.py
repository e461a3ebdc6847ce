"""Deleting into the trash: planned, confirmed, undone; never outside the rules."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.writing.leftovers import TRASH_NAME, is_ours
from mcp_curated_filesystem.writing.transferring import move_file
from mcp_curated_filesystem.writing.trash import Deleted, delete, list_trash, plan_deletion, render
from mcp_curated_shared.errors import ConflictError, CuratedError, InvalidArgumentError, NotAllowedError
from mcp_curated_shared.security.confinement import (
    Confinement,
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


def _delete(confinement: Confinement, path: Path) -> Deleted:
    return delete(confinement, plan_deletion(confinement, str(path), work=Work()), work=Work())


def test_a_deleted_file_lies_in_the_trash_with_a_note(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f.txt").write_text("precious")
    done = _delete(confinement, tmp_path / "sub" / "f.txt")
    assert not (tmp_path / "sub" / "f.txt").exists()
    assert Path(done.trashed.path).read_text() == "precious"
    note = json.loads(Path(done.trashed.path + ".json").read_text())
    assert note["from"] == str(tmp_path / "sub" / "f.txt")
    assert TRASH_NAME in render(done)
    assert (tmp_path / TRASH_NAME).stat().st_mode & 0o077 == 0


def test_a_plan_tells_what_would_be_deleted_and_deletes_nothing(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "a").write_text("12345")
    (tmp_path / "d" / "e" / "b").write_text("123")
    plan = plan_deletion(confinement, str(tmp_path / "d"), work=Work())
    assert (plan.kind, plan.files, plan.directories, plan.bytes) == ("a directory", 2, 2, 8)
    assert "2 files in 2 directories, 8 bytes" in plan.describe()
    assert (tmp_path / "d" / "e" / "b").exists()


def test_a_deletion_can_be_undone_by_a_move(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("x")
    done = _delete(confinement, tmp_path / "d")
    move_file(confinement, done.trashed.path, str(tmp_path / "d"), work=Work())
    assert (tmp_path / "d" / "a").read_text() == "x"
    assert list((tmp_path / TRASH_NAME).iterdir()) == []


@pytest.mark.parametrize("change", ["content", "new entry", "another file", "gone"])
def test_what_changed_since_the_plan_is_not_deleted(confinement: Confinement, tmp_path: Path, change: str) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("x")
    plan = plan_deletion(confinement, str(tmp_path / "d"), work=Work())
    if change == "content":
        (tmp_path / "d" / "a").write_text("more")
    elif change == "new entry":
        (tmp_path / "d" / "b").write_text("new")
    else:
        (tmp_path / "d").rename(tmp_path / "away")
        if change == "another file":
            (tmp_path / "d").write_text("other")
    with pytest.raises(PathNotFoundError if change == "gone" else ConflictError):
        delete(confinement, plan, work=Work())
    assert not (tmp_path / TRASH_NAME).exists()


def test_a_link_is_deleted_rather_than_its_target(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("t")
    (tmp_path / "link").symlink_to("target")
    _delete(confinement, tmp_path / "link")
    assert (tmp_path / "target").read_text() == "t"
    assert not (tmp_path / "link").is_symlink()


def test_files_of_one_name_do_not_collide_in_the_trash(confinement: Confinement, tmp_path: Path) -> None:
    trashed: set[str] = set()
    for number in range(5):
        (tmp_path / "f").write_text(str(number))
        trashed.add(_delete(confinement, tmp_path / "f").trashed.path)
    assert len(trashed) == 5
    assert {Path(path).read_text() for path in trashed} == {"0", "1", "2", "3", "4"}


def test_a_long_name_that_is_no_text_is_deleted(confinement: Confinement, tmp_path: Path) -> None:
    name = "\u00e9" * 120 + os.fsdecode(b"\xe9")
    try:
        (tmp_path / name).write_text("x")
    except OSError:
        pytest.skip("names must be text here")
    render(_delete(confinement, tmp_path / name)).encode()
    assert not (tmp_path / name).exists()


def test_an_allowed_directory_itself_is_never_deleted(confinement: Confinement, tmp_path: Path) -> None:
    with pytest.raises(CuratedError):
        _delete(confinement, tmp_path)
    assert tmp_path.is_dir()


def test_a_directory_that_holds_an_allowed_one_is_never_deleted(tmp_path: Path) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)
    nested = Confinement([RootSpec(str(tmp_path)), RootSpec(str(tmp_path / "a" / "inner"))])
    with nested, pytest.raises(PathDeniedError):
        _delete(nested, tmp_path / "a")


def test_nothing_is_deleted_from_the_trash(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    done = _delete(confinement, tmp_path / "f")
    for path in (Path(done.trashed.path), tmp_path / TRASH_NAME):
        with pytest.raises(InvalidArgumentError, match="keeps for itself"):
            _delete(confinement, path)
    assert Path(done.trashed.path).read_text() == "x"


def test_the_trash_is_hidden_from_walkers() -> None:
    assert is_ours(TRASH_NAME)


def test_the_inside_of_a_git_directory_is_never_deleted(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref")
    for path in (tmp_path / ".git" / "HEAD", tmp_path / ".git"):
        with pytest.raises(PathDeniedError):
            _delete(confinement, path)


def test_closed_entries_are_not_deleted_alone_or_in_a_directory(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / ".env").write_text("k")
    with Confinement([RootSpec(str(tmp_path))], deny=[".env"]) as confinement:
        with pytest.raises(PathDeniedError):
            _delete(confinement, tmp_path / "d" / ".env")
        with pytest.raises(NotAllowedError, match="deny rules"):
            _delete(confinement, tmp_path / "d")
    assert (tmp_path / "d" / ".env").exists()


def test_nothing_is_deleted_outside_or_from_a_read_only_directory(tmp_path: Path) -> None:
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("x")
    with Confinement([RootSpec(str(tmp_path / "inside"), writable=False)]) as confinement:
        with pytest.raises(ReadOnlyError):
            _delete(confinement, tmp_path / "inside" / "f")
        with pytest.raises(OutsideRootsError):
            _delete(confinement, tmp_path / "outside" / "f")


def test_a_trash_that_is_a_link_to_elsewhere_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "root" / "f").write_text("x")
    (tmp_path / "root" / TRASH_NAME).symlink_to(tmp_path / "outside")
    with Confinement([RootSpec(str(tmp_path / "root"))]) as confinement, pytest.raises(CuratedError):
        _delete(confinement, tmp_path / "root" / "f")
    assert list((tmp_path / "outside").iterdir()) == []
    assert (tmp_path / "root" / "f").exists()


def test_the_trash_is_weighed(confinement: Confinement, tmp_path: Path) -> None:
    assert list_trash(confinement, work=Work()) == []
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("12345")
    (tmp_path / "f").write_text("123")
    _delete(confinement, tmp_path / "d")
    _delete(confinement, tmp_path / "f")
    (state,) = list_trash(confinement, work=Work())
    assert state.entries == 2
    assert state.bytes >= 8
