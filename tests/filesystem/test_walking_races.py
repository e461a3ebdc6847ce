"""Another process swaps a directory with a link to outside, as fast as it can, while trees are walked."""

import ctypes
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from mcp_curated_filesystem.finding.completing import complete_path
from mcp_curated_filesystem.finding.contents import ContentQuery, search_content
from mcp_curated_filesystem.finding.listing import list_directory
from mcp_curated_filesystem.finding.listing import render as render_listing
from mcp_curated_filesystem.finding.searching import search_files
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_filesystem.finding.trees import directory_tree
from mcp_curated_filesystem.finding.trees import render as render_tree
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement
from mcp_curated_shared.work import Work
from tests.filesystem.finding import plant

TRIES = int(os.environ.get("RACE_TRIES", "400"))
NEEDED = max(1, TRIES // 100)
"""Tries that must have seen each of the two states: on a busy machine the other process waits its turn."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="renameat2")


def swap_for_ever(root: str, started: Event, stop: Event) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    one, other = f"{root}/d".encode(), f"{root}/link".encode()
    started.set()
    while not stop.is_set():
        for _ in range(100):
            libc.renameat2(-100, one, -100, other, 2)  # AT_FDCWD, RENAME_EXCHANGE


@pytest.fixture
def swapped(root: Path, tmp_path: Path) -> Iterator[Path]:
    plant(root, {"d/inner/inside.txt": "inside", "d/inside.txt": "inside"})
    plant(tmp_path, {"outside/inner/secret.txt": "secret", "outside/secret.txt": "secret"})
    (root / "link").symlink_to(tmp_path / "outside")
    context = multiprocessing.get_context("spawn")
    started, stop = context.Event(), context.Event()
    process = context.Process(target=swap_for_ever, args=(str(root), started, stop), daemon=True)
    process.start()
    assert started.wait(30)
    try:
        yield root
    finally:
        stop.set()
        process.join(10)


def tree(confinement: Confinement, root: Path) -> str:
    return render_tree(directory_tree(confinement, Scope(str(root)), work=Work()))


def names(confinement: Confinement, root: Path) -> str:
    return str(search_files(confinement, Scope(str(root)), "*.txt", work=Work()).found)


def contents(confinement: Confinement, root: Path) -> str:
    query = ContentQuery("inside|secret", regex=True)
    return str(search_content(confinement, Scope(str(root)), query, work=Work()).files)


def listing(confinement: Confinement, root: Path) -> str:
    return render_listing(list_directory(confinement, f"{root}/d/inner", work=Work()))


def completion(confinement: Confinement, root: Path) -> str:
    return str(complete_path(confinement, f"{root}/d/inner/", work=Work()).values)


@pytest.mark.parametrize("look", [tree, names, contents, listing, completion])
def test_no_walk_meets_anything_outside_while_directories_are_swapped(
    confinement: Confinement, swapped: Path, look: Callable[[Confinement, Path], str]
) -> None:
    as_directory = as_link = 0
    latest = time.monotonic() + 60
    while as_directory + as_link < TRIES or min(as_directory, as_link) < NEEDED:
        assert time.monotonic() < latest, "the race was not met: no proof either way"
        try:
            text = look(confinement, swapped)
        except CuratedError:
            text = ""
        assert "secret" not in text
        if "inside.txt" in text and "link/" not in text:
            as_directory += 1
        else:
            as_link += 1
