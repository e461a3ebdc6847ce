"""Closed paths at either end of a move, a copy or a deletion, and what is said about what stays behind."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.finding import searching, trees
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_filesystem.writing import departing, leftovers
from mcp_curated_filesystem.writing.locking import try_flock
from mcp_curated_filesystem.writing.transferring import (
    copy_file,
    create_directory,
    move_file,
    render_copy,
    render_move,
)
from mcp_curated_filesystem.writing.trash import plan_deletion
from mcp_curated_filesystem.writing.writer import write_file
from mcp_curated_shared.errors import ConflictError, CuratedError, NotAllowedError
from mcp_curated_shared.security.confinement import Confinement, PathDeniedError, RootSpec
from mcp_curated_shared.work import Work

Change = Callable[[Confinement, str], object]
"""One mutating tool, ending at a path."""

INNER = "vault/keys/inner/deep.txt"
"""Closed by each of `RULES` where it is meant to be, and by none where it comes from."""
RULES = ["vault/keys/inner/deep.txt", "vault/**/deep.txt", "vault/keys/inner", "/vault/*/inner/*"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A directory whose content is open where it is."""
    made = tmp_path / "open"
    (made / "inner").mkdir(parents=True)
    (made / "inner" / "deep.txt").write_text("x")
    (made / "plain.txt").write_text("y")
    (tmp_path / "vault").mkdir()
    return made


@pytest.fixture
def other_device(tmp_path: Path) -> Iterator[Path]:
    """A directory on another file system."""
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other file system here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield Path(name)


def _closed(root: Path, *deny: str) -> Confinement:
    return Confinement([RootSpec(str(root))], deny=deny)


@pytest.mark.parametrize("rule", RULES)
def test_no_copy_of_a_directory_makes_a_closed_path(tmp_path: Path, source: Path, rule: str) -> None:
    with _closed(tmp_path, rule) as confinement:
        text = render_copy(copy_file(confinement, str(source), str(tmp_path / "vault" / "keys"), work=Work()))
    assert "1 entry closed by the operator" in text
    assert not (tmp_path / INNER).exists()
    assert (tmp_path / "vault" / "keys" / "plain.txt").read_text() == "y"


@pytest.mark.parametrize("rule", RULES)
def test_no_move_of_a_directory_makes_a_closed_path(tmp_path: Path, source: Path, rule: str) -> None:
    with _closed(tmp_path, rule) as confinement, pytest.raises(NotAllowedError, match="deny rules"):
        move_file(confinement, str(source), str(tmp_path / "vault" / "keys"), work=Work())
    assert (source / "inner" / "deep.txt").read_text() == "x"
    assert list((tmp_path / "vault").iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda held, path: create_directory(held, path, work=Work()), id="create_directory"),
        pytest.param(lambda held, path: write_file(held, path, "x", work=Work()), id="write_file"),
        pytest.param(lambda held, path: move_file(held, "open", path, work=Work()), id="move_file"),
        pytest.param(lambda held, path: copy_file(held, "open", path, work=Work()), id="copy_file"),
    ],
)
@pytest.mark.parametrize("below", ["", "/more", "/more/still"])
def test_nothing_is_made_on_the_way_to_a_closed_path(tmp_path: Path, source: Path, change: Change, below: str) -> None:
    with _closed(tmp_path, "vault/new/shut") as confinement, pytest.raises(PathDeniedError):
        change(confinement, f"vault/new/shut{below}")
    assert list((tmp_path / "vault").iterdir()) == []
    assert (source / "plain.txt").exists()


def test_a_directory_that_holds_a_closed_entry_is_not_deleted(tmp_path: Path, source: Path) -> None:
    with _closed(tmp_path, "open/inner/deep.txt") as confinement, pytest.raises(NotAllowedError):
        plan_deletion(confinement, str(source), work=Work())


def test_a_rule_of_an_inner_root_holds_for_walks_and_copies_from_a_wider_one(tmp_path: Path) -> None:
    """The path of the entry is "inner/shut/x" for one root and "shut/x" for the other; the rule names the second."""
    inner = tmp_path / "inner"
    (inner / "shut").mkdir(parents=True)
    (inner / "shut" / "x").write_text("secret")
    (tmp_path / "target").mkdir()
    specs = [RootSpec(str(tmp_path)), RootSpec(str(inner))]
    with Confinement(specs, deny=["shut/x"]) as confinement:
        found = searching.search_files(confinement, Scope(str(tmp_path)), "x", work=Work())
        tree = trees.render(trees.directory_tree(confinement, Scope(str(tmp_path)), depth=9, work=Work()))
        copy_file(confinement, str(inner), str(tmp_path / "target" / "c"), work=Work())
    assert found.total == 0
    assert "Closed by the operator: 1 entry." in tree
    assert not (tmp_path / "target" / "c" / "shut" / "x").exists()


# What this server keeps for itself


def test_a_copy_counts_the_names_of_ours_that_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "d" / leftovers.TRASH_NAME).mkdir(parents=True)
    (tmp_path / "d" / leftovers.temporary_name()).write_text("half")
    (tmp_path / "d" / leftovers.saved_name()).write_text("old")
    with _closed(tmp_path) as confinement:
        text = render_copy(copy_file(confinement, str(tmp_path / "d"), str(tmp_path / "e"), work=Work()))
    assert "Left out: 3 entries that this server keeps for itself." in text
    assert list((tmp_path / "e").iterdir()) == []


def test_a_move_across_devices_takes_safety_copies_and_trash_along(tmp_path: Path, other_device: Path) -> None:
    moved = tmp_path / "d"
    (moved / leftovers.TRASH_NAME).mkdir(parents=True)
    (moved / leftovers.TRASH_NAME / "f").write_text("deleted")
    saved = leftovers.saved_name()
    (moved / saved).write_text("old")
    (moved / leftovers.temporary_name()).write_text("half, of a killed run")
    with Confinement([RootSpec(str(tmp_path)), RootSpec(str(other_device))]) as confinement:
        text = render_move(move_file(confinement, str(moved), str(other_device / "e"), work=Work()))
    assert "then removed here" in text
    assert not moved.exists()
    assert (other_device / "e" / saved).read_text() == "old"
    assert (other_device / "e" / leftovers.TRASH_NAME / "f").read_text() == "deleted"
    assert len(list((other_device / "e").iterdir())) == 2


def test_what_another_writer_has_not_finished_stops_a_move_across_devices(tmp_path: Path, other_device: Path) -> None:
    moved = tmp_path / "d"
    moved.mkdir()
    (moved / leftovers.temporary_name()).write_text("half, of a living writer")
    before = os.listdir(moved)
    with (
        (moved / before[0]).open() as held,
        Confinement([RootSpec(str(tmp_path)), RootSpec(str(other_device))]) as confinement,
    ):
        assert try_flock(held.fileno())
        with pytest.raises(CuratedError, match="being written"):
            move_file(confinement, str(moved), str(other_device / "e"), work=Work())
    assert os.listdir(moved) == before
    assert list(other_device.iterdir()) == []


# What stays of a moved source, and why


def _move_while(
    confinement: Confinement, source: Path, target: Path, between: Callable[[], object], patch: pytest.MonkeyPatch
) -> str:
    real = departing.remove_moved

    def remove_moved(*arguments: object) -> departing.Remains:
        between()
        return real(*arguments)  # pyright: ignore[reportArgumentType] - passed on

    patch.setattr("mcp_curated_filesystem.writing.transferring.remove_moved", remove_moved)
    return render_move(move_file(confinement, str(source), str(target), work=Work()))


def test_a_source_that_cannot_be_removed_is_told_with_the_reason(
    tmp_path: Path, source: Path, other_device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.unlink

    def unlink(path: str, *, dir_fd: int | None = None) -> None:
        if path == "deep.txt":
            raise PermissionError(errno.EACCES, "no", path)
        real(path, dir_fd=dir_fd)

    with Confinement([RootSpec(str(tmp_path)), RootSpec(str(other_device))]) as confinement:
        text = _move_while(
            confinement, source, other_device / "e", lambda: monkeypatch.setattr(os, "unlink", unlink), monkeypatch
        )
    assert "of the source this was kept: 1 entry that could not be removed (permission denied)" in text
    assert "changed" not in text
    assert (source / "inner" / "deep.txt").read_text() == "x"
    assert not (source / "plain.txt").exists()


def test_what_came_into_a_source_meanwhile_is_told_as_that(
    tmp_path: Path, source: Path, other_device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Confinement([RootSpec(str(tmp_path)), RootSpec(str(other_device))]) as confinement:
        text = _move_while(
            confinement, source, other_device / "e", lambda: (source / "inner" / "new").write_text("n"), monkeypatch
        )
    assert "of the source this was kept: 1 entry changed or new since" in text
    assert (source / "inner" / "new").read_text() == "n"


def test_what_another_program_removed_meanwhile_is_not_told_as_kept(
    tmp_path: Path, source: Path, other_device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Confinement([RootSpec(str(tmp_path)), RootSpec(str(other_device))]) as confinement:
        text = _move_while(confinement, source, other_device / "e", (source / "plain.txt").unlink, monkeypatch)
    assert "then removed here" in text
    assert not source.exists()


def test_a_closed_destination_inside_stops_a_move_across_devices(
    tmp_path: Path, source: Path, other_device: Path
) -> None:
    specs = [RootSpec(str(tmp_path)), RootSpec(str(other_device))]
    with Confinement(specs, deny=["e/inner"]) as confinement, pytest.raises(NotAllowedError):
        move_file(confinement, str(source), str(other_device / "e"), work=Work())
    assert (source / "inner" / "deep.txt").exists()
    assert list(other_device.iterdir()) == []


def test_nothing_that_exists_is_copied_over_whatever_the_rules(tmp_path: Path, source: Path) -> None:
    (tmp_path / "vault" / "keys").mkdir()
    with _closed(tmp_path, RULES[0]) as confinement, pytest.raises(ConflictError):
        copy_file(confinement, str(source), str(tmp_path / "vault" / "keys"), work=Work())
