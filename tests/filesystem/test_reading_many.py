"""Several files in one reply."""

from pathlib import Path

import pytest

from mcp_curated_filesystem.reading import pages
from mcp_curated_filesystem.reading.reading_many import MOST_FILES, read_files, render
from mcp_curated_shared.errors import CancelledError, InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement, OpenFile, RootSpec
from mcp_curated_shared.work import Work


@pytest.fixture
def confinement(tmp_path: Path) -> Confinement:
    return Confinement([RootSpec(str(tmp_path))])


def test_each_file_has_its_own_entry_in_the_order_asked(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("bee\n" * 50)
    (tmp_path / "a").write_text("ay\n")
    entries = read_files(confinement, ["b", "a"], work=Work(20))
    assert [entry.body for entry in entries] == ["bee\n" * 50, "ay\n"]
    assert entries[1].facts.startswith(f"{tmp_path}/a: Line 1 of 1. Version v:")


def test_a_failure_is_that_files_entry_and_the_others_are_read(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ay\n")
    (tmp_path / "bin").write_bytes(b"\0\1\2")
    entries = read_files(confinement, ["gone", "/etc/passwd", "bin", "a"], work=Work(20))
    assert [entry.error.kind if entry.error else "" for entry in entries] == [
        "not_found",
        "outside_roots",
        "binary",
        "",
    ]
    assert all(str(entry.error) == entry.facts for entry in entries[:3])
    assert entries[3].body == "ay\n"


def test_small_files_come_whole_and_big_ones_share_the_rest(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "big1").write_text("word and word\n" * 9_000)
    (tmp_path / "big2").write_text("word and word\n" * 9_000)
    (tmp_path / "small").write_text("s\n" * 1_000)
    entries = read_files(confinement, ["big1", "small", "big2"], work=Work(20))
    assert entries[1].body == "s\n" * 1_000
    assert 15_000 < len(entries[0].body) < 25_000
    assert 15_000 < len(entries[2].body) < 25_000
    assert "Next: read_file" in entries[0].facts
    assert len(render(entries)) <= 48_000


@pytest.mark.parametrize("depth", [0, 10])
@pytest.mark.parametrize("line", ["x", "\u3042 long " * 300, "\x00"])
def test_a_hundred_files_fit_one_reply(confinement: Confinement, tmp_path: Path, depth: int, line: str) -> None:
    folder = tmp_path
    for _ in range(depth):
        folder = folder / ("n" * 200)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [str(folder / f"file{number}") for number in range(MOST_FILES)]
    for path in paths[:90]:
        Path(path).write_text(f"{line}\n" * 200 if line != "\x00" else "a\n" * 9_000)
    entries = read_files(confinement, paths, work=Work(20))
    assert sum(entry.error is None for entry in entries) == 90
    assert all(entry.body for entry in entries if entry.error is None)
    assert sum(len(entry.facts) + len(entry.body) for entry in entries) <= 48_000


def test_the_same_file_twice_is_two_entries(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ay\n")
    assert [entry.body for entry in read_files(confinement, ["a", "a"], work=Work(20))] == ["ay\n", "ay\n"]


def test_the_limit_counts_for_each_file(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    assert read_files(confinement, ["a"], limit=2, work=Work(20))[0].body == "1\n2\n"


def test_none_or_too_many_files_are_an_argument_error(confinement: Confinement) -> None:
    for paths in ([], ["a"] * (MOST_FILES + 1)):
        with pytest.raises(InvalidArgumentError, match="1 to 100 files"):
            read_files(confinement, paths, work=Work(20))


def test_a_cancelled_call_ends_and_is_no_files_failure(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ay\n")
    work = Work(20)
    work.cancel()
    with pytest.raises(CancelledError):
        read_files(confinement, ["a"], work=work)


def test_an_unexpected_failure_is_that_files_entry_too(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"in {name}\n")
    real = pages.page_of

    def page_of(file: OpenFile, *arguments: object, **options: object) -> object:
        if file.location.name == "b":
            raise RuntimeError("private detail")
        return real(file, *arguments, **options)  # pyright: ignore[reportArgumentType] - passed on

    monkeypatch.setattr("mcp_curated_filesystem.reading.reading_many.page_of", page_of)
    entries = read_files(confinement, ["a", "b", "c"], work=Work(20))
    assert [entry.body for entry in entries] == ["in a\n", "", "in c\n"]
    assert "unexpected error" in entries[1].facts
    assert "private detail" not in entries[1].facts
