"""A folder that hangs is the only one that is charged for it, and the others are served meanwhile."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from mcp_types import ResourceTemplateReference

from mcp_curated_filesystem import allowed, watching
from mcp_curated_filesystem.reading import reading_many
from mcp_curated_filesystem.server.lanes import ELSEWHERE, lane_among, lane_of
from mcp_curated_filesystem.server.resources import BY_LABEL, BY_PATH
from mcp_curated_shared.security.confinement import Confinement, Root, RootSpec
from mcp_curated_shared.testing.clients import MODERN
from mcp_curated_shared.work import WorkPool
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


@pytest.mark.parametrize(
    ("asked", "lane"),
    [
        ("/a/one/x", "one"),
        ("/b/one/x", "one-2"),
        ("file:///b/one/x", "one-2"),
        ("/c/x", ELSEWHERE),
        ("x", "one"),
        ("one-2/x", "one"),
        ("", ""),
    ],
)
def test_a_path_is_charged_to_the_root_of_the_client_that_its_text_names(asked: str, lane: str) -> None:
    assert lane_among(["https://a.test/", "file:///a/one", "file:///b/one/"], asked) == lane


def test_without_roots_of_the_client_nothing_is_charged_to_a_folder() -> None:
    assert lane_among([], "/a/x") == ""


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


@pytest.mark.anyio
async def test_relative_paths_among_several_folders_pass_over_one_that_hangs(
    two: tuple[Path, Path], hanging: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_curated_shared.security.confinement.roots.LOOK_SECONDS", 0.1)
    dead, well = two
    (well / "only.txt").write_text("only here")
    async with serve("memory", MODERN, ["--call-timeout", "5", dead, well]) as client:
        hanging()
        for _ in range(6):  # more than a lane has threads
            assert "only here" in await call(client, "read_file", path="only.txt")


@pytest.mark.anyio
async def test_a_destination_that_hangs_is_not_charged_to_the_folder_of_the_source(
    two: tuple[Path, Path], hanging: Callable[[], None]
) -> None:
    dead, well = two
    async with serve("memory", MODERN, ["--call-timeout", "1", dead, well]) as client:
        hanging()
        told: list[str] = []

        async def transfer(tool: str) -> None:
            told.append(await refused(client, tool, source=f"{well}/file.txt", destination=f"{dead}/new.txt"))

        async with anyio.create_task_group() as tasks:  # more than a lane has threads
            for tool in ("move_file", "copy_file") * 3:
                tasks.start_soon(transfer, tool)
        assert len(told) == 6
        assert all("dead" in one for one in told)
        assert "in well" in await call(client, "read_file", path=f"{well}/file.txt")
        assert "Copied" in await call(client, "copy_file", source=f"{well}/file.txt", destination=f"{well}/b.txt")


@pytest.mark.anyio
async def test_completion_goes_on_beside_a_folder_that_hangs(
    two: tuple[Path, Path], hanging: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_curated_shared.security.confinement.roots.LOOK_SECONDS", 0.1)
    dead, well = two
    reference = ResourceTemplateReference(type="ref/resource", uri=BY_LABEL)
    async with serve("memory", MODERN, ["--call-timeout", "1", dead, well]) as client:
        hanging()

        async def nothing() -> None:
            given = await client.complete(reference, {"name": "path", "value": "f"}, {"root": "dead"})
            assert not given.completion.values

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(nothing)
        for argument, label in ({"name": "path", "value": "f"}, "well"), ({"name": "path", "value": str(well)[1:]}, ""):
            given = {"root": label} if label else None
            template = reference if label else ResourceTemplateReference(type="ref/resource", uri=BY_PATH)
            assert (await client.complete(template, argument, given)).completion.values


@pytest.mark.anyio
async def test_a_watch_goes_on_beside_one_in_a_folder_that_hangs(
    two: tuple[Path, Path], hanging: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.2)
    heard: dict[str, anyio.Event] = {"dead": anyio.Event(), "well": anyio.Event()}

    async def changed(uri: str) -> None:
        heard[uri].set()

    pool = WorkPool()
    with Confinement([RootSpec(str(path)) for path in two]) as confinement, anyio.fail_after(20):
        watcher = watching.Watcher(changed, pool)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watcher.run)
            for path in two:
                await watcher.add(path.name, lambda: confinement, str(path / "file.txt"), lane=path.name)
            hanging()
            (two[1] / "file.txt").write_text("changed")
            await heard["well"].wait()
            heard["well"] = anyio.Event()
            (two[1] / "file.txt").write_text("changed again")
            await heard["well"].wait()
            tasks.cancel_scope.cancel()
    pool.close()


@pytest.mark.anyio
async def test_a_watch_in_a_folder_that_hung_goes_on_when_it_answers(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(watching, "ROUND_MILLISECONDS", 200)
    over, waits = threading.Event(), threading.Event()
    heard = anyio.Event()
    pin: Callable[[Root], object] = Root.pin

    async def changed(_: str) -> None:
        heard.set()

    def hangs(root: Root) -> object:
        waits.set()
        over.wait(20)
        return pin(root)

    pool = WorkPool()
    path = two[0] / "file.txt"
    with Confinement([RootSpec(str(two[0]))]) as confinement, anyio.fail_after(20):
        watcher = watching.Watcher(changed, pool)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watcher.run)
            await watcher.add("dead", lambda: confinement, str(path), lane="dead")
            monkeypatch.setattr(Root, "pin", hangs)
            path.write_text("changed while it hangs")
            await anyio.to_thread.run_sync(waits.wait, 10)
            over.set()
            await heard.wait()
            tasks.cancel_scope.cancel()
    pool.close()
