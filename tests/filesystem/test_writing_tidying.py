"""What is done about the leavings of killed runs after a start."""

from pathlib import Path

from mcp_curated_filesystem.writing import leftovers
from mcp_curated_filesystem.writing.tidying import tidy
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work


def test_litter_anywhere_in_the_roots_is_removed_after_a_start(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / leftovers.temporary_name()).write_bytes(b"half")
    (deep / leftovers.temporary_name() / "x").mkdir(parents=True)
    (deep / "keep").write_bytes(b"k")
    with Confinement([RootSpec(str(tmp_path))]) as confinement:
        assert tidy(confinement, confinement.roots[0], work=Work()).directories == 1
    assert [entry.name for entry in deep.iterdir()] == ["keep"]


def test_safety_copies_are_kept_and_told(tmp_path: Path) -> None:
    name = leftovers.saved_name()
    (tmp_path / name).write_bytes(b"old content")
    with Confinement([RootSpec(str(tmp_path))]) as confinement:
        (saved,) = tidy(confinement, confinement.roots[0], work=Work()).saved
    assert saved.name == name
    assert (tmp_path / name).read_bytes() == b"old content"


def test_nothing_is_removed_from_a_read_only_directory(tmp_path: Path) -> None:
    (tmp_path / leftovers.temporary_name()).write_bytes(b"half")
    with Confinement([RootSpec(str(tmp_path), writable=False)]) as confinement:
        tidy(confinement, confinement.roots[0], work=Work())
    assert len(list(tmp_path.iterdir())) == 1


def test_tidying_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    (tmp_path / leftovers.temporary_name()).write_bytes(b"half")
    work = Work()
    work.cancel()
    with Confinement([RootSpec(str(tmp_path))]) as confinement:
        assert tidy(confinement, confinement.roots[0], work=work).directories == 0
