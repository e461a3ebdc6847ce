"""Whatever ends the server, a file is as it was or as it should become, and nothing is left beside it."""

import os
from pathlib import Path
from typing import Any

import pytest

from mcp_curated_filesystem.writing.leftovers import temporary_name
from mcp_curated_filesystem.writing.writer import write_file
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
from tests.filesystem.server.endurance import MEGABYTE, kill_in_writes, which
from tests.filesystem.server.processes import over_wire, wait_until


@pytest.mark.slow
def test_a_kill_in_the_middle_of_a_write_leaves_the_old_content_or_the_new_and_no_litter(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    killed = 0
    for _ in range(6):  # until enough of them met a write: how long one takes varies on a busy machine
        kills = kill_in_writes(root, 4, 8 * MEGABYTE)
        assert kills.broken == []
        assert kills.old + kills.new == 4
        assert kills.litter == []
        killed += kills.killed
        if killed >= 2:
            break
    assert killed >= 2, "too few kills came before the reply"


def test_a_torn_text_would_be_seen() -> None:
    whole = b"00000003\n" * 10
    assert which(whole, 90) == 3
    assert which(whole[:-1], 90) is None
    assert which(whole[:45] + b"00000004\n" * 5, 90) is None
    assert which(b"", 90) is None


def test_what_an_older_run_left_is_gone_soon_after_the_next_start(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    left = root / "deep" / temporary_name()
    left.write_text("half")
    with over_wire(root):
        wait_until(lambda: not left.exists(), "the litter is gone", 30)


def test_a_write_is_told_as_done_even_if_what_it_replaced_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    real = os.unlink

    def closed(name: Any, *, dir_fd: int) -> None:
        raise PermissionError(13, "as Landlock, for a directory that was just moved out of the root")

    with Confinement([RootSpec(str(tmp_path))]) as confinement:
        monkeypatch.setattr(os, "unlink", closed)
        written = write_file(confinement, "a.txt", "new\n", work=Work(10))
        assert written.notes == ()
        assert (tmp_path / "a.txt").read_text() == "new\n"
        monkeypatch.setattr(os, "unlink", real)
        write_file(confinement, "a.txt", "newer\n", work=Work(10))
    assert os.listdir(tmp_path) == ["a.txt"], "the next write there removes what was left"
