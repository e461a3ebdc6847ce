import errno
import os
import sys
import threading
import time
from pathlib import Path
from typing import Literal

import pytest

from mcp_curated_filesystem.finding import searching, walking
from mcp_curated_filesystem.finding.sieving import Scope, Sieve
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_filesystem.finding.walking import HELD_AT_MOST, Walk
from mcp_curated_shared.errors import CancelledError
from mcp_curated_shared.security.confinement import Confinement, RootSpec, open_child
from mcp_curated_shared.work import Work
from tests.filesystem.finding import descriptors_now, open_descriptors, plant

STEP = "step" * 4


def walked(confinement: Confinement, path: Path, **scope: object) -> tuple[list[str], Sieve]:
    with confinement.open_directory(str(path)) as opened:
        sieve = Sieve(confinement, opened.location, Scope(str(path), **scope))  # type: ignore[arg-type]  # a test's shorthand
        walk = Walk(opened, sieve, Clock(Work(), 60))
        seen = [
            folder.prefix + name
            for folder in walk.folders_in_turn()
            for name in (*folder.entries.directories, *folder.entries.files, *folder.entries.others)
        ]
    return seen, sieve


def dig(top: Path, depth: int, *, beside: bool = False) -> None:
    """Make a chain of directories, one in the other."""
    held = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(STEP, dir_fd=held)
        if beside:
            os.mkdir("a", dir_fd=held)
        deeper = os.open(STEP, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = deeper
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=held))
    os.close(held)


def fill_in(top: Path) -> None:
    """Remove such a chain: `rmtree` recurses and overflows before 3.13."""
    depth = 0
    held = os.open(top, os.O_RDONLY)
    while STEP in os.listdir(held):
        deeper = os.open(STEP, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held, depth = deeper, depth + 1
    for name in os.listdir(held):
        os.unlink(name, dir_fd=held)
    for _ in range(depth):
        above = os.open("..", os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = above
        for name in {STEP, "a", ".gitignore"}.intersection(os.listdir(held)):
            (os.unlink if name == ".gitignore" else os.rmdir)(name, dir_fd=held)
    os.close(held)


def test_a_tree_deeper_than_any_path_is_walked_to_its_bottom(confinement: Confinement, root: Path) -> None:
    depth = 1_050  # more than the interpreter's own recursion limit
    dig(root, depth, beside=True)
    before = open_descriptors()
    try:
        seen, sieve = walked(confinement, root, include_ignored=True)
    finally:
        fill_in(root)
    assert max(seen, key=len).endswith("/bottom")
    assert max(map(len, seen)) > 4_096
    assert len(seen) == depth * 2 + 1
    assert sieve.tally.unreadable_count == 0
    assert open_descriptors() == before


def test_few_directories_are_held_open_however_deep(confinement: Confinement, root: Path) -> None:
    dig(root, 300)
    before = open_descriptors()
    most = 0
    try:
        with confinement.open_directory(str(root)) as opened:
            walk = Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(Work(), 60))
            for _ in walk.folders_in_turn():
                most = max(most, descriptors_now() - before)
    finally:
        fill_in(root)
    assert 0 < most <= HELD_AT_MOST + 3


def test_links_are_seen_and_never_followed(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/secret.txt": ""})
    plant(root, {"a/b.txt": ""})
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    seen, _ = walked(confinement, root)
    assert sorted(seen) == ["a", "a/b.txt", "loop", "out"]


def test_a_directory_that_becomes_a_link_is_not_entered(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/secret.txt": ""})
    plant(root, {"a/x": "", "b/y": ""})
    seen: list[str] = []
    with confinement.open_directory(str(root)) as opened:
        walk = Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(Work(), 60))
        for folder in walk.folders_in_turn():
            seen += folder.entries.files
            if folder.prefix == "a/":
                (root / "b").rename(root / "was-b")
                (root / "b").symlink_to(tmp_path / "outside")
    assert seen == ["x"]


def test_a_parent_that_was_moved_outside_is_not_walked_on(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    """The `..` of a moved directory is another directory: its identity tells."""
    chain = "/".join(["d"] * (HELD_AT_MOST + 8))
    plant(root, {f"{chain}/bottom": "", "d/z/inside": ""})
    plant(tmp_path, {"outside/z/secret": ""})
    seen: list[str] = []
    with confinement.open_directory(str(root)) as opened:
        sieve = Sieve(confinement, opened.location, Scope(""))
        walk = Walk(opened, sieve, Clock(Work(), 60))
        for folder in walk.folders_in_turn():
            seen += folder.entries.files
            if "bottom" in folder.entries.files:
                (root / "d/d").rename(tmp_path / "outside/d")
    assert seen == ["bottom", "inside"]
    assert sieve.tally.unreadable_count == 0


def test_a_directory_that_cannot_be_found_again_is_a_note(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    chain = "/".join(["d"] * (HELD_AT_MOST + 8))
    plant(root, {f"{chain}/bottom": "", "d/d/z/inside": ""})
    (tmp_path / "outside").mkdir()
    with confinement.open_directory(str(root)) as opened:
        sieve = Sieve(confinement, opened.location, Scope(""))
        for folder in Walk(opened, sieve, Clock(Work(), 60)).folders_in_turn():
            if "bottom" in folder.entries.files:
                (root / "d/d/d").rename(tmp_path / "outside/elsewhere")
                (root / "d/d").rename(tmp_path / "outside/d")
    assert sieve.tally.unreadable == ["d/d (moved while it was searched)"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_directory_without_permission_is_a_note(confinement: Confinement, root: Path) -> None:
    plant(root, {"a/x": "", "locked/y": ""})
    (root / "locked").chmod(0)
    try:
        seen, sieve = walked(confinement, root)
    finally:
        (root / "locked").chmod(0o755)
    assert "a/x" in seen
    assert sieve.tally.unreadable == ["locked (permission denied)"]


def test_a_directory_that_cannot_be_opened_is_a_note(
    confinement: Confinement, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `EACCES` looks like, also where the tests run as root."""
    plant(root, {"a/x": "", "locked/y": ""})

    def refuse(directory: int, name: str, *, kind: Literal["file", "directory"]) -> int:
        if name == "locked":
            raise PermissionError(errno.EACCES, "refused")
        return open_child(directory, name, kind=kind)

    monkeypatch.setattr(walking, "open_child", refuse)
    seen, sieve = walked(confinement, root)
    assert "a/x" in seen
    assert sieve.tally.total().sentences() == ["Could not be read: locked (permission denied)."]


def test_what_the_operator_closed_is_invisible(root: Path) -> None:
    plant(root, {"a/.env": "", "secret/key": "", "b": ""})
    with Confinement([RootSpec(str(root))], deny=[".env", "/secret"]) as confinement:
        seen, sieve = walked(confinement, root)
    assert sorted(seen) == ["a", "b"]
    assert sieve.tally.denied == 2


def test_the_servers_own_files_are_invisible(confinement: Confinement, root: Path) -> None:
    plant(root, {".mcp-curated-trash/x": "", "a/.mcp-curated-12ab.tmp": "", "a/.mcp-curated-notes": ""})
    seen, _ = walked(confinement, root, include_ignored=True)
    assert sorted(seen) == ["a", "a/.mcp-curated-notes"]


@pytest.mark.skipif(sys.platform != "linux", reason="procfs")
def test_the_kernels_own_files_are_not_walked_into_from_elsewhere() -> None:
    with Confinement([RootSpec("/")]) as confinement, confinement.open_directory("/") as opened:
        sieve = Sieve(confinement, opened.location, Scope("/", exclude_patterns=("[!p]*/", "proc/?*/")))
        seen = [folder.prefix for folder in Walk(opened, sieve, Clock(Work(), 20)).folders_in_turn()]
    assert "proc/" not in seen
    assert "proc (the kernel's own files)" in sieve.tally.unreadable


def test_the_walk_stops_when_its_time_is_over(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{n}/x": "" for n in range(20)})
    with confinement.open_directory(str(root)) as opened:
        walk = Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(Work(), 0))
        assert len(list(walk.folders_in_turn())) == 1
        assert not walk.complete


def test_a_walk_that_is_left_early_closes_what_it_held(confinement: Confinement, root: Path) -> None:
    plant(root, {"a/b/c/d/x": ""})
    before = open_descriptors()
    with confinement.open_directory(str(root)) as opened:
        turns = Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(Work(), 60)).folders_in_turn()
        for folder in turns:
            if folder.prefix == "a/b/c/":
                break
        turns.close()
    assert open_descriptors() == before


def test_cancelling_stops_a_walk_soon(confinement: Confinement, root: Path) -> None:
    for folder in range(40):
        (root / f"d{folder:02}").mkdir()
        for inner in range(50):
            (root / f"d{folder:02}/e{inner:02}").mkdir()
    work = Work()
    started, cancelled_at, stopped_at = threading.Event(), 0.0, 0.0

    def walk_for_ever() -> None:
        nonlocal stopped_at
        try:
            while True:
                with confinement.open_directory(str(root)) as opened:
                    walk = Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(work, 60))
                    for _ in walk.folders_in_turn():
                        started.set()
        except CancelledError:
            stopped_at = time.monotonic()

    thread = threading.Thread(target=walk_for_ever, daemon=True)
    thread.start()
    assert started.wait(10)
    cancelled_at = time.monotonic()
    work.cancel()
    thread.join(10)
    assert not thread.is_alive()
    assert stopped_at - cancelled_at < 2  # a hundredth of it on an idle machine


def test_a_walk_tells_its_progress(confinement: Confinement, root: Path) -> None:
    for number in range(300):
        (root / f"d{number}").mkdir()
    work = Work()
    with confinement.open_directory(str(root)) as opened:
        for _ in Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(work, 60)).folders_in_turn():
            pass
    assert work.done == 300
    assert work.message.startswith("300 entries looked at")


def test_what_lies_near_is_walked_before_a_deep_chain(confinement: Confinement, root: Path) -> None:
    """The chain is first by name; the walk is stopped as if the time were over once it waits for its next turn."""
    plant(root, {"z/near.txt": "", "z/inner/nearer.txt": "", "top.txt": ""})
    dig(root, 3 * walking.DEEP)
    try:
        with confinement.open_directory(str(root)) as opened:
            walk = Walk(opened, Sieve(confinement, opened.location, Scope("")), Clock(Work(), 60))
            order = [folder.prefix for folder in walk.folders_in_turn()]
    finally:
        fill_in(root)
    deepest_of_first_turn = STEP + f"/{STEP}" * (walking.DEEP - 2) + "/"
    assert order.index("z/inner/") < order.index(f"{deepest_of_first_turn}{STEP}/")
    assert len(order) == 3 * walking.DEEP + 3
    assert walk.complete


def test_a_deep_chain_does_not_starve_a_search(confinement: Confinement, root: Path) -> None:
    """Thousands of levels with a rule file each cost far more than the time; what lies beside them is found."""
    plant(root, {"z/wanted.txt": "", "z/a/wanted.txt": ""})
    dig(root, 1_200)
    held = os.open(root, os.O_RDONLY)
    for _ in range(1_200):
        deeper = os.open(STEP, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = deeper
        with open(os.open(".gitignore", os.O_CREAT | os.O_WRONLY, dir_fd=held), "w", encoding="utf-8") as file:
            file.write("*.log\n*.tmp\n/build/\n")
    os.close(held)
    try:
        found = searching.search_files(confinement, Scope(str(root)), "wanted.txt", seconds=3, work=Work())
    finally:
        fill_in(root)
    assert found.total == 2


def test_a_deferred_directory_that_has_gone_is_noted(confinement: Confinement, root: Path) -> None:
    plant(root, {"z/near.txt": ""})
    dig(root, walking.DEEP + 2)
    with confinement.open_directory(str(root)) as opened:
        sieve = Sieve(confinement, opened.location, Scope(""))
        walk = Walk(opened, sieve, Clock(Work(), 60))
        for folder in walk.folders_in_turn():
            if folder.prefix == "z/":
                fill_in(root)
    assert walk.complete
    assert any("moved while it was searched" in sentence for sentence in sieve.tally.total().sentences())
