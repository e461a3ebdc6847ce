"""A folder that hangs is the only one that is charged for it, and the others are served meanwhile."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mcp_curated_filesystem import allowed
from mcp_curated_filesystem.reading import reading_many
from mcp_curated_filesystem.server.lanes import ELSEWHERE, lane_of
from mcp_curated_shared.security.confinement import Confinement, Root, RootSpec
from mcp_curated_shared.testing.clients import MODERN
from tests.filesystem.server.serving import call, refused, serve


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("dead", "well"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text(f"in {name}")
    return tmp_path / "dead", tmp_path / "well"


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """From the call on, whoever opens the root named "dead" waits until the test is over."""
    over = threading.Event()
    pin: Callable[[Root], object] = Root.pin

    def waits(root: Root) -> object:
        if root.label == "dead":
            over.wait(20)
        return pin(root)

    yield lambda: monkeypatch.setattr(Root, "pin", waits)
    over.set()


@pytest.mark.parametrize(
    ("asked", "lane"),
    [
        ("{dead}/x", "dead"),
        ("{dead}", "dead"),
        ("{well}/../dead/x", "dead"),
        ("{dead}2/x", ELSEWHERE),
        ("/other/x", ELSEWHERE),
        ("{well}/../x", ELSEWHERE),
        ("file://{dead}/x", "dead"),
        ("file://DEAD/x", "dead"),
        ("file://nobody/x", ELSEWHERE),
        ("file:///other", ELSEWHERE),
        ("dead/x", "dead"),
        ("x", ""),
        ("", ""),
    ],
)
def test_a_path_is_charged_to_the_folder_that_its_text_names(two: tuple[Path, Path], asked: str, lane: str) -> None:
    dead, well = two
    with Confinement([RootSpec(str(dead)), RootSpec(str(well))]) as confinement:
        assert lane_of(confinement, asked.format(dead=dead, well=well)) == lane


def test_a_path_outside_is_not_charged_to_the_only_folder(two: tuple[Path, Path]) -> None:
    _, well = two
    with Confinement([RootSpec(str(well))]) as confinement:
        assert (lane_of(confinement, "/other"), lane_of(confinement, "x")) == (ELSEWHERE, "well")
        assert lane_of(confinement, "x", start="file:///other") == ELSEWHERE


def test_a_folder_that_hangs_is_told_and_asked_by_one_thread_only(
    two: tuple[Path, Path], hanging: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowed, "LOOK_SECONDS", 0.1)
    with Confinement([RootSpec(str(path)) for path in two]) as confinement:
        hanging()
        first = allowed.allowed_directories(confinement)
        probes = threading.active_count()
        told = allowed.render(allowed.allowed_directories(confinement))
        assert threading.active_count() <= probes
    assert [one.available for one in first] == [False, True]
    assert "label dead, read and write, not available now: it does not answer)" in told


@pytest.mark.anyio
async def test_a_folder_that_hangs_fails_its_own_files_only(
    two: tuple[Path, Path], hanging: Callable[[], None]
) -> None:
    dead, well = two
    files = [str(dead / "file.txt"), str(well / "file.txt")]
    async with serve("memory", "2026-07-28", ["--call-timeout", "1", dead, well]) as client:
        hanging()
        told = await call(client, "read_multiple_files", paths=files)
        assert "in well" in told and "in dead" not in told and "dead" in told
        assert "dead" in await refused(client, "read_file", path=files[0])
        assert "in well" in await call(client, "read_file", path=files[1])
        assert "does not answer" in await call(client, "list_allowed_directories")


@pytest.mark.anyio
async def test_a_folder_whose_reading_crashes_fails_its_own_files_only(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, well = two
    real = reading_many.read_files

    def read_files(confinement: Confinement, paths: Sequence[str], **options: object) -> object:
        if str(dead) in paths[0]:
            raise RuntimeError("private detail")
        return real(confinement, paths, **options)  # pyright: ignore[reportArgumentType] - passed on

    monkeypatch.setattr("mcp_curated_filesystem.server.reading_lanes.read_files", read_files)
    async with serve("memory", MODERN, [dead, well]) as client:
        told = await call(client, "read_multiple_files", paths=[f"{dead}/file.txt", f"{well}/file.txt"])
    assert "in well" in told
    assert "unexpected error" in told
    assert "private detail" not in told
