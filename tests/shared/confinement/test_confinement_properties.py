"""Whatever tree and whatever text: what opens lies inside, and both ways to resolve agree."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, OpenEntry, RootSpec, Target

NAMES = st.sampled_from(["a", "b", "B", "c.txt", "\u00e9", "e\u0301", "x y", "~1", ".git", "\udce9", "n\n"])
PIECES = NAMES | st.sampled_from(["..", "..", ".", "", "root", "other", "outside", "\\x0a", "\\xe9"])
PATHS = st.lists(PIECES, min_size=1, max_size=6).map("/".join)
KINDS = st.sampled_from(["directory", "directory", "file", "link", "link"])
ENTRIES = st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=4), KINDS, PATHS, st.booleans()), max_size=14)


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as top:
        yield Path(os.path.realpath(top))


def _grow(top: Path, entries: list[tuple[list[str], str, str, bool]]) -> None:
    """Two roots and an outside, with directories, files and links of every kind, also dangling, looping, leaving."""
    for name in ("root", "other", "outside"):
        shutil.rmtree(top / name, ignore_errors=True)
        (top / name / "a").mkdir(parents=True)
        (top / name / "a" / "c.txt").write_text(name)
    for names, kind, target, absolute in entries:
        path = top.joinpath("root", *names)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "directory":
                path.mkdir()
            elif kind == "file":
                path.touch()
            else:
                path.symlink_to(f"{top}/{target}" if absolute else target)
        except OSError:
            continue


def _inside(top: Path) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for root in ("root", "other"):
        for directory, _, files in os.walk(top / root):
            for path in (directory, *(os.path.join(directory, name) for name in files)):
                status = os.lstat(path)
                found.add((status.st_dev, status.st_ino))
            for name in os.listdir(directory):
                status = os.lstat(os.path.join(directory, name))
                found.add((status.st_dev, status.st_ino))
    return found


def _entry(confinement: Confinement, asked: str, follow: bool) -> str:
    """What holding a path comes to, as one comparable text."""
    try:
        with confinement.open_entry(asked, follow=follow) as entry:
            return _told(entry)
    except CuratedError as error:
        return f"{type(error).__name__}: {error}"


def _told(handle: OpenEntry) -> str:
    return f"{handle.stat.st_dev}:{handle.stat.st_ino} {handle.location.path!a} {handle.location.note!a}"


def _target(confinement: Confinement, asked: str, follow: bool, exact: bool) -> str:
    try:
        with confinement.open_target(asked, follow=follow, exact=exact) as target:
            return _placed(target)
    except CuratedError as error:
        return f"{type(error).__name__}: {error}"


def _placed(target: Target) -> str:
    parent = os.fstat(target.directory)
    return f"{parent.st_dev}:{parent.st_ino} {target.name!a} {target.location.path!a} {target.stat is None}"


@given(entries=ENTRIES, asks=st.lists(PATHS, min_size=1, max_size=8), absolute=st.booleans())
def test_whatever_is_opened_lies_inside_and_both_methods_agree(
    ground: Path, entries: list[tuple[list[str], str, str, bool]], asks: list[str], absolute: bool
) -> None:
    _grow(ground, entries)
    inside = _inside(ground)
    roots = [RootSpec(str(ground / "root")), RootSpec(str(ground / "other"), writable=False)]
    with Confinement(roots, method="openat2") as fast, Confinement(roots, method="walk") as walk:
        for ask in asks:
            asked = f"{ground}/root/{ask}" if absolute else f"root/{ask}"
            for follow in (True, False):
                told = _entry(fast, asked, follow)
                assert told == _entry(walk, asked, follow)
                assert f"{ground}/outside" not in told.replace(asked, "")
                _check_entry(fast, asked, follow, inside)
                for exact in (True, False):
                    assert _target(fast, asked, follow, exact) == _target(walk, asked, follow, exact)


def _check_entry(confinement: Confinement, asked: str, follow: bool, inside: set[tuple[int, int]]) -> None:
    try:
        with confinement.open_entry(asked, follow=follow) as entry:
            assert (entry.stat.st_dev, entry.stat.st_ino) in inside
            if follow:
                assert os.path.realpath(entry.location.path) == entry.location.path
            assert os.lstat(entry.location.path).st_ino == entry.stat.st_ino
    except CuratedError:
        pass


@given(entries=ENTRIES, ask=PATHS, follow=st.booleans())
def test_making_parents_and_a_file_changes_nothing_outside(
    ground: Path, entries: list[tuple[list[str], str, str, bool]], ask: str, follow: bool
) -> None:
    _grow(ground, entries)
    before = _outside(ground)
    with Confinement([RootSpec(str(ground / "root"))]) as confinement:
        try:
            with confinement.open_target(ask, parents=True, follow=follow) as target:
                if target.stat is None:
                    os.mkdir(target.name, dir_fd=target.directory)
                    assert os.path.isdir(target.location.path)
                assert ".git" not in target.location.relative.split("/")
        except CuratedError:
            pass
    assert _outside(ground) == before


def _outside(ground: Path) -> list[str]:
    return sorted(str(path) for name in ("other", "outside") for path in (ground / name).rglob("*"))


@given(asked=st.text(max_size=60) | st.binary(max_size=40).map(os.fsdecode))
def test_no_text_at_all_ends_in_anything_but_a_handle_or_a_foreseen_error(ground: Path, asked: str) -> None:
    (ground / "root" / "a").mkdir(parents=True, exist_ok=True)
    for method in ("openat2", "walk"):
        with Confinement([RootSpec(str(ground / "root"))], method=method) as confinement:
            for operation in (confinement.open_entry, confinement.open_target):
                try:
                    operation(asked).close()
                except CuratedError as error:
                    str(error).encode()
                    assert "\n" not in str(error)
