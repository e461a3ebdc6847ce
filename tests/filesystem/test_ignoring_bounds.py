"""A rule file that is longer than is read of it: what it still hides, and that the reply says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.finding import contents, searching, trees
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work

SAID = "1 ignore file is longer than is read"

TOO_LONG = {
    "lines": "hidden.txt\n" + "".join(f"name{number}\n" for number in range(2_100)),
    "a line": "hidden.txt\n" + "x" * 5_000 + "\n",
    "bytes": "hidden.txt\n" + f"# {'c' * 1_000}\n" * 1_200,
}


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[Confinement]:
    for name in ("hidden.txt", "shown.txt"):
        (tmp_path / name).write_text("word\n")
    with Confinement([RootSpec(str(tmp_path))]) as made:
        yield made


def _replies(confinement: Confinement, root: Path) -> Iterator[str]:
    scope = Scope(str(root))
    yield searching.render(searching.search_files(confinement, scope, "*.txt", work=Work()))
    yield contents.render(
        contents.search_content(confinement, scope, contents.ContentQuery("word", mode="files"), work=Work())
    )
    yield trees.render(trees.directory_tree(confinement, scope, work=Work()))


@pytest.mark.parametrize("kind", TOO_LONG)
@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude"])
def test_a_rule_file_that_is_cut_is_told_by_every_search(
    confinement: Confinement, tmp_path: Path, kind: str, name: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(TOO_LONG[kind])
    for reply in _replies(confinement, tmp_path):
        assert SAID in reply
        assert "shown.txt" in reply and "hidden.txt" not in reply


def test_a_rule_file_above_the_searched_folder_counts_too(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(TOO_LONG["lines"])
    (tmp_path / "inner").mkdir()
    for reply in _replies(confinement, tmp_path / "inner"):
        assert SAID in reply


def test_a_rule_file_within_the_bounds_is_not_told(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("hidden.txt\n" + "same\n" * 3_000 + "x" * 4_000 + "\n")
    for reply in _replies(confinement, tmp_path):
        assert "longer than is read" not in reply
        assert "hidden.txt" not in reply


def test_a_line_that_the_bound_cuts_in_two_is_no_pattern(confinement: Confinement, tmp_path: Path) -> None:
    filler = "# comment\n" * 104_857
    (tmp_path / ".gitignore").write_text(filler + "*" * (1_048_576 - len(filler)) + "never\n")
    for reply in _replies(confinement, tmp_path):
        assert SAID in reply
        assert "shown.txt" in reply
