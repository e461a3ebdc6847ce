"""An allowed directory stays where it is: it is never moved, removed, or put in place by moving something else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_curated_filesystem.writing.transferring import copy_file, move_file
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import PathDeniedError, RootSpec
from mcp_curated_shared.work import Work
from tests.shared.confinement.conftest import Place


def spec(path: Path, writable: bool = True) -> RootSpec:
    return RootSpec(str(path), writable)


LAYOUTS = [  # the roots below the outermost, with their rights, and what may never be had for moving
    ([("a", True), ("a/b", False)], ["a", "a/b"]),
    ([("ro", False), ("ro/rw", True)], ["ro", "ro/rw"]),
    ([("x/y/z", False)], ["x", "x/y", "x/y/z"]),
    ([("x/y", True), ("x", True)], ["x", "x/y"]),
]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("layout", "kept"), LAYOUTS)
def test_what_is_or_holds_an_allowed_directory_is_no_target_to_move_or_put(
    place: Place, layout: list[tuple[str, bool]], kept: list[str], missing: bool
) -> None:
    if not missing:
        for path, _ in layout:
            (place.root / path).mkdir(parents=True, exist_ok=True)
    confinement = place.confine(spec(place.root), *(spec(place.root / path, writable) for path, writable in layout))
    for asked in kept:
        for spelling in (asked, f"docs/../{asked}", f"{asked}/."):
            with pytest.raises(CuratedError) as refused:
                confinement.open_target(f"{place.root}/{spelling}", follow=False, exact=True).close()
            if not missing:
                assert refused.value.kind in ("not_allowed", "read_only", "invalid_argument")
        assert (place.root / asked).exists() is not missing


def test_a_writable_root_that_holds_a_read_only_one_is_not_renamed(place: Place) -> None:
    (place.root / "a" / "b").mkdir(parents=True)
    confinement = place.confine(spec(place.root), spec(place.root / "a"), spec(place.root / "a/b", writable=False))
    with pytest.raises(PathDeniedError, match="allowed directory a itself"):
        move_file(confinement, f"{place.root}/a", f"{place.root}/c", work=Work(5))
    assert (place.root / "a" / "b").is_dir()
    assert not (place.root / "c").exists()


def test_a_writable_root_in_a_read_only_one_is_not_moved_out_of_it(place: Place) -> None:
    (place.root / "ro" / "rw").mkdir(parents=True)
    confinement = place.confine(spec(place.root), spec(place.root / "ro", writable=False), spec(place.root / "ro/rw"))
    with pytest.raises(PathDeniedError):
        move_file(confinement, f"{place.root}/ro/rw", f"{place.root}/rwx", work=Work(5))
    assert (place.root / "ro" / "rw").is_dir()


@pytest.mark.parametrize("transfer", [move_file, copy_file])
@pytest.mark.parametrize("destination", ["later", "later/inner"])
def test_nothing_is_put_where_a_missing_allowed_directory_would_be(
    place: Place, transfer: "Callable[..., object]", destination: str
) -> None:
    (place.root / "src" / "inner").mkdir(parents=True)
    (place.root / "src" / "inner" / "planted").write_text("x")
    confinement = place.confine(spec(place.root), spec(place.root / "later" / "inner", writable=False))
    with pytest.raises(CuratedError):
        transfer(confinement, f"{place.root}/src", f"{place.root}/{destination}", work=Work(5))
    assert not (place.root / "later" / "inner").exists()
    assert (place.root / "src" / "inner" / "planted").exists()


def test_the_directory_above_a_missing_allowed_one_can_be_made(place: Place) -> None:
    confinement = place.confine(spec(place.root), spec(place.root / "later" / "inner", writable=False))
    with confinement.open_target(f"{place.root}/later", exact=True) as target:
        os.mkdir(target.name, dir_fd=target.directory)
    assert (place.root / "later").is_dir()


def test_a_link_that_is_the_configured_path_of_a_root_is_not_moved(place: Place) -> None:
    (place.top / "real").mkdir()
    (place.root / "link").symlink_to("../real")
    confinement = place.confine(spec(place.root), spec(place.root / "link", writable=False))
    with pytest.raises(PathDeniedError):
        confinement.open_target(f"{place.root}/docs/../link", follow=False).close()


def test_entries_beside_an_allowed_directory_can_be_moved(place: Place) -> None:
    (place.root / "a" / "b").mkdir(parents=True)
    (place.root / "ab").mkdir()
    confinement = place.confine(spec(place.root), spec(place.root / "a" / "b", writable=False))
    move_file(confinement, f"{place.root}/ab", f"{place.root}/a/moved", work=Work(5))
    assert (place.root / "a" / "moved").is_dir()
