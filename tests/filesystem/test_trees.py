import os
import re
from pathlib import Path

import pytest

from mcp_curated_filesystem.finding import trees
from mcp_curated_filesystem.finding.sieving import Entries, Scope, read_entries
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_filesystem.finding.trees import Tree, directory_tree, render
from mcp_curated_shared.errors import CancelledError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
from tests.filesystem.finding import open_descriptors, plant


def tree(confinement: Confinement, path: Path, *, depth: int = 3, **scope: object) -> Tree:
    where = Scope(str(path), **scope)  # type: ignore[arg-type]  # a test's shorthand
    return directory_tree(confinement, where, depth=depth, work=Work())


def test_directories_come_first_and_deep_ones_as_counts(confinement: Confinement, root: Path) -> None:
    plant(root, {"b/c/d/e/f": "", "b/c/d/g": "", "b/x": "", "a.txt": ""})
    (root / "empty").mkdir()
    assert render(tree(confinement, root)).splitlines() == [
        f"{root}/",
        "  b/",
        "    c/",
        "      d/ (1 dir, 1 file)",
        "    x",
        "  empty/ (empty)",
        "  a.txt",
        f'[1 directory shown by counts only (depth=3). The biggest: directory_tree {{"path": "{root}/b/c/d"}}]',
    ]


def test_the_depth_says_how_many_levels(confinement: Confinement, root: Path) -> None:
    plant(root, {"a/b/c/d": ""})
    assert "a/ (1 dir)" in render(tree(confinement, root, depth=1))
    assert render(tree(confinement, root, depth=9)).splitlines()[-1] == "        d"


def test_ten_thousand_files_fit_and_the_shallow_part_is_whole(confinement: Confinement, root: Path) -> None:
    for group in range(100):
        folder = root / "big" / f"group-{group:02}"
        folder.mkdir(parents=True)
        for number in range(100):
            os.close(os.open(folder / f"a-file-with-a-name-{number:02}.txt", os.O_CREAT | os.O_WRONLY))
    plant(root, {"README.md": "", "src/main.py": ""})
    text = render(tree(confinement, root, depth=9))
    assert 30_000 < len(text) <= 48_000
    assert "  README.md" in text
    assert "    main.py" in text
    assert len(re.findall(r"^    group-\d\d/", text, re.M)) == 100
    assert re.search(r"group-99/ \(100 files\)", text)
    call = re.search(r'The biggest: directory_tree \{"path": "(.*?)"\}', text)
    assert call is not None
    assert "100 files" not in render(tree(confinement, Path(call[1])))


def test_more_entries_at_the_top_than_fit_are_told_with_the_next_call(confinement: Confinement, root: Path) -> None:
    for number in range(3_000):
        os.close(os.open(root / f"{number:04}-{'n' * 20}", os.O_CREAT | os.O_WRONLY))
    text = render(tree(confinement, root))
    assert len(text) <= 48_000
    shown = len(re.findall(r"^  \d{4}-", text, re.M))
    assert shown > 1_000
    assert f'[{3_000 - shown:,} more entries at the top: list_directory {{"path": "{root}"}}]' in text


def test_many_directories_with_odd_names_stay_within_the_characters(confinement: Confinement, root: Path) -> None:
    for number in range(900):
        (root / f"{number}\n\u202e\udcff").mkdir()
        (root / f"{number}\n\u202e\udcff" / ("\x01" * 30)).touch()
    text = render(tree(confinement, root))
    assert len(text) <= 48_000
    text.encode()
    assert r"  0\x0a\u202e\xff/" in text


def test_excludes_and_ignored_directories_are_left_out(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "out/\n", "out/a": "", "node_modules/b": "", "x/tmp/c": "", "x/d": ""})
    text = render(tree(confinement, root, exclude_patterns=("tmp",)))
    drawn = [line.strip() for line in text.splitlines()[1:4]]
    assert drawn == ["x/", "d", ".gitignore"]
    assert "Skipped 2 ignored directories" in text
    assert "Left out by excludePatterns: 1." in text
    assert "node_modules/" in render(tree(confinement, root, include_ignored=True))


def test_links_are_leaves(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/secret": ""})
    (root / "link").symlink_to(tmp_path / "outside")
    assert render(tree(confinement, root)).splitlines() == [f"{root}/", "  link"]


def test_what_the_operator_closed_is_not_in_the_tree(root: Path) -> None:
    plant(root, {"a/.env": "", "a/b": ""})
    with Confinement([RootSpec(str(root))], deny=[".env"]) as confinement:
        text = render(tree(confinement, root))
    assert ".env" not in text
    assert "Closed by the operator: 1 entry." in text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_directory_is_noted_in_its_place(confinement: Confinement, root: Path) -> None:
    plant(root, {"a/x": "", "locked/y": ""})
    (root / "locked").chmod(0)
    try:
        text = render(tree(confinement, root))
    finally:
        (root / "locked").chmod(0o755)
    assert "  locked/ (not readable)" in text
    assert "    x" in text


def test_a_directory_that_goes_while_it_is_drawn_is_noted(
    confinement: Confinement, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(root, {"a/x": "", "gone/y": ""})
    first = read_entries

    def read_and_remove(descriptor: int, clock: Clock) -> Entries:
        entries = first(descriptor, clock)
        if "gone" in entries.directories:
            (root / "gone/y").unlink()
            (root / "gone").rmdir()
        return entries

    monkeypatch.setattr(trees, "read_entries", read_and_remove)
    assert "  gone/ (gone or not readable)" in render(tree(confinement, root))


def test_a_very_deep_tree_holds_few_directories(confinement: Confinement, root: Path) -> None:
    plant(root, {"/".join(["d"] * 150) + "/x": ""})
    before = open_descriptors()
    text = render(tree(confinement, root, depth=1_000))
    assert open_descriptors() == before
    assert text.count("d/") >= 100


def test_a_tree_that_is_cancelled_raises(confinement: Confinement, root: Path) -> None:
    plant(root, {"a/b": ""})
    work = Work()
    work.cancel()
    with pytest.raises(CancelledError):
        directory_tree(confinement, Scope(str(root)), work=work)


def test_a_tree_whose_time_is_over_is_marked(confinement: Confinement, root: Path) -> None:
    plant(root, {"a/b/c": ""})
    result = directory_tree(confinement, Scope(str(root)), seconds=0, work=Work())
    assert not result.complete
    assert "Partial" in render(result)
