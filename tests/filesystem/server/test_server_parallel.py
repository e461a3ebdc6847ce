"""Many callers at once: no edit is lost, no reader sees half a file, and a small call does not wait for a big one."""

from pathlib import Path

import pytest

from tests.filesystem.server.endurance import (
    MEGABYTE,
    cheap_calls_during_search,
    edit_at_once,
    lay_out_work,
    read_while_rewritten,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("count", [20, 200])
def test_edits_of_one_file_at_once_are_all_there_in_the_end(root: Path, count: int, servers: int) -> None:
    told, present, _ = edit_at_once(root, count, servers)
    assert (told, present) == (count, count)


def test_a_reader_of_a_file_that_is_rewritten_sees_one_whole_text_or_the_next(root: Path) -> None:
    reads = read_while_rewritten(root, rewrites=15, size=2 * MEGABYTE)
    assert reads.torn == 0
    assert reads.looks > 15
    assert len(reads.texts) > 2, f"too few rewrites were seen: {reads}"


@pytest.mark.slow
def test_small_calls_are_answered_while_a_long_search_runs(tmp_path: Path) -> None:
    lay_out_work(tmp_path, kinds=["search_content"])
    taken, still_running = cheap_calls_during_search(tmp_path, 5)
    assert still_running, f"the search had ended: this proves nothing {taken}"
