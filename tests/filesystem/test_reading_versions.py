"""Version tags."""

import os
import re
from pathlib import Path

from mcp_curated_filesystem.reading.information import get_information
from mcp_curated_filesystem.reading.pages import read_page
from mcp_curated_filesystem.text.versions import SMALL_BYTES, version_tag
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work


def _tags(path: Path) -> set[str]:
    """The tag by every way of computing it."""
    with Confinement([RootSpec(str(path.parent))]) as confinement, confinement.open_file(path.name) as file:
        content = get_information(confinement, path.name).content
        assert content is not None
        return {
            version_tag(file.descriptor, file.stat),
            version_tag(path.read_bytes(), file.stat),
            read_page(confinement, path.name, work=Work(20)).version,
            content.version,
        }


def test_the_tag_is_the_same_wherever_it_is_computed(tmp_path: Path) -> None:
    for size in (0, 5, SMALL_BYTES - 1, SMALL_BYTES, SMALL_BYTES + 1, 3 * SMALL_BYTES):
        path = tmp_path / f"f{size}"
        path.write_bytes(b"x" * size)
        tags = _tags(path)
        assert len(tags) == 1
        assert re.fullmatch("v:[0-9a-f]{12}", tags.pop())


def test_an_equal_small_file_keeps_its_tag_and_another_has_another(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("same")
    second.write_text("same")
    assert _tags(first) == _tags(second)
    second.write_text("other")
    assert _tags(first) != _tags(second)


def test_a_change_of_a_big_file_that_hides_its_time_changes_the_tag(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * (SMALL_BYTES + 1))
    before, times = _tags(path), path.stat()
    with path.open("r+b") as file:
        file.write(b"y")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_mtime_ns == times.st_mtime_ns
    assert _tags(path) != before


def test_the_tag_reads_by_position_and_leaves_the_descriptor_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("some text")
    with path.open("rb", buffering=0) as file:
        file.seek(5)
        version_tag(file.fileno(), os.fstat(file.fileno()))
        assert file.tell() == 5
