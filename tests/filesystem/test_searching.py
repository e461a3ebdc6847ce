import os
import threading
import time
from pathlib import Path

import pytest

from mcp_curated_filesystem.finding.searching import NameSearch, render, search_files
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_shared.errors import CancelledError, CuratedError
from mcp_curated_shared.security.confinement import Confinement
from mcp_curated_shared.work import Work
from tests.filesystem.finding import plant


def search(confinement: Confinement, path: Path, pattern: str, *, limit: int = 200, **scope: object) -> NameSearch:
    where = Scope(str(path), **scope)  # type: ignore[arg-type]  # a test's shorthand
    return search_files(confinement, where, pattern, limit=limit, work=Work())


def paths(result: NameSearch) -> list[str]:
    return sorted(entry.path for entry in result.found)


@pytest.fixture
def project(root: Path) -> Path:
    plant(
        root,
        {
            "README.md": "",
            "docs/readme-first.txt": "",
            "target.txt": "",
            "a/b/target.txt": "",
            "a/b/old-target.txt.bak": "",
            "src/main.py": "",
            "src/deep/util.py": "",
            "lib/src/other.py": "",
            "pk/node_modules/x.py": "",
        },
    )
    return root


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["lib/src/other.py", "src/deep/util.py", "src/main.py"]),
        ("target.txt", ["a/b/target.txt", "target.txt"]),
        ("readme", ["README.md", "docs/readme-first.txt"]),
        ("README", ["README.md"]),
        ("src/**", ["src/deep/", "src/deep/util.py", "src/main.py"]),
        ("src/*.py", ["src/main.py"]),
        ("**/src/*.py", ["lib/src/other.py", "src/main.py"]),
        ("src/", ["lib/src/", "src/"]),
        ("*.{md,txt}", ["README.md", "a/b/target.txt", "docs/readme-first.txt", "target.txt"]),
        ("/src/main.py", ["src/main.py"]),
    ],
)
def test_every_way_of_naming_finds_at_its_depth(
    confinement: Confinement, project: Path, pattern: str, expected: list[str]
) -> None:
    assert paths(search(confinement, project, pattern)) == expected


def test_an_absolute_pattern_finds_below_the_searched_folder(confinement: Confinement, project: Path) -> None:
    assert paths(search(confinement, project, f"{project}/src/*.py")) == ["src/main.py"]
    assert paths(search(confinement, project / "src", f"{project}/**/*.py")) == ["deep/util.py", "main.py"]


def test_a_file_name_that_no_file_has_falls_back_to_names_that_contain_it(
    confinement: Confinement, project: Path
) -> None:
    result = search(confinement, project, "get.txt")
    assert paths(result) == ["a/b/old-target.txt.bak", "a/b/target.txt", "target.txt"]
    assert 'No name is exactly "get.txt"' in render(result)


def test_names_that_contain_an_exact_match_are_told_and_not_shown(confinement: Confinement, project: Path) -> None:
    text = render(search(confinement, project, "target.txt"))
    assert '1 other name contains it: pattern "*target.txt*" gives them too.' in text
    assert "old-target" not in text


def test_a_path_that_is_not_at_the_top_is_found_further_down(confinement: Confinement, project: Path) -> None:
    result = search(confinement, project, "deep/*.py")
    assert paths(result) == ["src/deep/util.py"]
    assert "Nothing at the top" in render(result)


def test_excludes_prune_at_any_depth(confinement: Confinement, project: Path) -> None:
    result = search(confinement, project, "*.py", include_ignored=True, exclude_patterns=("node_modules", "deep"))
    assert paths(result) == ["lib/src/other.py", "src/main.py"]
    assert result.skipped.excluded == 2


def test_the_newest_come_first_and_the_limit_keeps_them(confinement: Confinement, root: Path) -> None:
    for number in range(30):
        plant(root, {f"f{number:02}.txt": ""})
        os.utime(root / f"f{number:02}.txt", (number, number))
    result = search(confinement, root, "*.txt", limit=3)
    assert [entry.path for entry in result.found] == ["f29.txt", "f28.txt", "f27.txt"]
    assert result.total == 30


def test_a_cut_says_how_many_there_are_and_the_next_call(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{number}.txt": "" for number in range(30)})
    text = render(search(confinement, root, "*.txt", limit=3))
    assert text.startswith("30 matches for")
    assert f'[Cut: 3 of 30. The rest: search_files {{"path": "{root}", "pattern": "*.txt", "limit": 30}}]' in text


def test_a_reply_stays_within_its_characters(confinement: Confinement, root: Path) -> None:
    folder = root / "x" / ("n" * 200)
    folder.mkdir(parents=True)
    for number in range(600):
        (folder / f"{number:03}{'m' * 200}").touch()
    text = render(search(confinement, root, "*mmm*", limit=1_000))
    assert len(text) <= 48_000
    assert f'The rest: search_files {{"path": "{root}/x", "pattern": "*mmm*"}}' in text


def test_nothing_found_says_what_was_skipped_and_what_is_near(confinement: Confinement, project: Path) -> None:
    text = render(search(confinement, project, "mian.py"))
    assert text.startswith("Nothing in ")
    assert "Names like it: main.py" in text
    assert "Skipped 1 ignored directory" in text
    assert "includeIgnored=true" in text


def test_names_cannot_forge_a_line_and_can_be_asked_for_as_shown(confinement: Confinement, root: Path) -> None:
    plant(root, {"a\nforged.txt": "", "caf\udce9.txt": "", "x\u202egnp.txt": ""})
    result = search(confinement, root, "*.txt")
    assert paths(result) == [r"a\x0aforged.txt", r"caf\xe9.txt", r"x\u202egnp.txt"]
    render(result).encode()
    for shown in paths(result):
        assert paths(search(confinement, root, shown)) == [shown]
        with confinement.open_file(f"{root}/{shown}"):
            pass


def test_a_link_is_found_by_its_own_name_and_its_target_is_not_looked_at(
    confinement: Confinement, root: Path, tmp_path: Path
) -> None:
    plant(tmp_path, {"outside/big.txt": "x" * 5_000})
    (root / "link.txt").symlink_to(tmp_path / "outside/big.txt")
    (entry,) = search(confinement, root, "*.txt").found
    assert (entry.path, entry.size) == ("link.txt", len(str(tmp_path / "outside/big.txt")))


def test_a_missing_folder_is_an_error(confinement: Confinement, root: Path) -> None:
    with pytest.raises(CuratedError, match="does not exist"):
        search(confinement, root / "nope", "*")


def test_a_budget_that_is_over_gives_what_was_found(confinement: Confinement, root: Path) -> None:
    plant(root, {"a.txt": "", **{f"d{n}/b.txt": "" for n in range(5)}})
    result = search_files(confinement, Scope(str(root)), "*.txt", seconds=0, work=Work())
    assert paths(result) == ["a.txt"]
    assert not result.complete
    assert "Stopped after 0.0 s" in render(result)


def test_a_search_that_is_cancelled_raises(confinement: Confinement, project: Path) -> None:
    work = Work()
    work.cancel()
    with pytest.raises(CancelledError):
        search_files(confinement, Scope(str(project)), "*", work=work)


def test_a_search_in_a_large_directory_is_cancelled_soon(confinement: Confinement, root: Path) -> None:
    for number in range(4_000):
        os.close(os.open(root / f"{number}.txt", os.O_CREAT | os.O_WRONLY))
    work = Work()
    timer = threading.Timer(0.005, work.cancel)
    timer.start()
    asked = time.monotonic() + 0.005
    with pytest.raises(CancelledError):
        while True:
            search_files(confinement, Scope(str(root)), "[ab]*", work=work)
    timer.join()
    assert time.monotonic() - asked < 2  # a hundredth of it on an idle machine
