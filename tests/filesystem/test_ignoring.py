import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.finding.ignoring import RuleFile, Rules, rules_above
from mcp_curated_filesystem.finding.searching import search_files
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
from tests.filesystem.finding import plant


def found(confinement: Confinement, path: Path, *, include_ignored: bool = False) -> set[str]:
    result = search_files(confinement, Scope(str(path), include_ignored=include_ignored), "**", work=Work())
    return {entry.path for entry in result.found}


def kept(text: str, *paths: str) -> list[str]:
    """Which of some paths a `.gitignore` at the top keeps, each judged as itself; a directory ends in `/`."""
    rules = Rules([RuleFile("", text)])
    return [path for path in paths if not rules.ignores(path.rstrip("/"), directory=path.endswith("/"))]


@pytest.mark.parametrize(
    ("text", "paths", "expected"),
    [
        ("*.log", ["a.log", "b/c.log", "a.txt"], ["a.txt"]),
        ("*.log\n!keep.log", ["a.log", "x/keep.log"], ["x/keep.log"]),
        ("!keep.log\n*.log", ["keep.log"], []),
        ("build/", ["build/", "build", "a/build/"], ["build"]),
        ("/build", ["build", "a/build"], ["a/build"]),
        ("docs/*.html", ["docs/a.html", "x/docs/a.html", "docs/b/a.html"], ["x/docs/a.html", "docs/b/a.html"]),
        ("docs/**/*.html", ["docs/a.html", "docs/b/c/a.html", "a.html"], ["a.html"]),
        ("**/gen/*.py", ["gen/a.py", "x/y/gen/a.py", "gen/z/a.py"], ["gen/z/a.py"]),
        ("foo/**", ["foo/", "foo/a", "foo/b/c"], ["foo/"]),
        ("# note\n\n\\#real\ntrail   ", ["# note", "#real", "trail"], ["# note"]),
        ("[ab].c\n[!x]y", ["a.c", "c.c", "xy", "zy"], ["c.c", "xy"]),
        ("a\\ ", ["a ", "a"], ["a"]),
        ("[", ["[", "x"], ["[", "x"]),
        ("/*\n!/src/", ["src/", "lib/", "src/lib/"], ["src/", "src/lib/"]),
        ("*.log\r\n", ["a.log"], []),
        ("a/b/", ["a/b/", "a/b", "x/a/b/"], ["a/b", "x/a/b/"]),
    ],
)
def test_the_language_of_gitignore(text: str, paths: list[str], expected: list[str]) -> None:
    assert kept(text, *paths) == expected


@pytest.mark.skipif(shutil.which("git") is None, reason="git itself is the judge here")
def test_a_whole_tree_is_ignored_as_git_does(confinement: Confinement, root: Path) -> None:
    files = [
        f"{folder}{name}"
        for folder in ("", "src/", "src/gen/", "docs/", "docs/a/b/", "build/", "x/build/", "keep/")
        for name in ("a.py", "a.log", "keep.log", "b.html", "Foo.txt", "#x", "b c.txt")
    ]
    plant(root, {name: "text" for name in files})
    plant(
        root,
        {
            ".gitignore": "*.log\n!keep.log\n/build/\ndocs/**/*.html\nsrc/gen/*\n!src/gen/a.py\n\\#x\n",
            "x/.gitignore": "!*.log\nbuild/*.py\n/a.py\n",
            "keep/.gitignore": "*\n!.gitignore\n!a.py\n",
        },
    )
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".git/info/exclude").write_text("Foo.txt\nb.html\n")
    listed = subprocess.run(
        ["git", "-C", str(root), "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
    ).stdout
    expected = {name.decode() for name in listed.split(b"\0") if name}
    assert {path for path in found(confinement, root) if not path.endswith("/")} == expected


def test_directories_nobody_means_are_skipped_without_any_rule(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{name}/x.py": "" for name in ("a/.git", "node_modules", "b/.venv", "b/__pycache__", "c")})
    assert "c/x.py" in found(confinement, root)
    assert not any("x.py" in path and "c/" not in path for path in found(confinement, root))


def test_including_the_ignored_shows_everything(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*.log\n", "a.log": "", "node_modules/x.js": "", ".git/HEAD": ""})
    assert found(confinement, root, include_ignored=True) >= {"a.log", "node_modules/x.js", ".git/HEAD"}


def test_rules_of_the_folders_above_count(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*.log\n/a/b/*.tmp\n", "a/.gitignore": "*.bak\n"})
    plant(root, {f"a/b/x.{ending}": "" for ending in ("log", "bak", "tmp", "txt")})
    assert found(confinement, root / "a/b") == {"x.txt"}


def test_rules_above_the_root_are_never_read(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*\n", "root/a.txt": ""})
    with Confinement([RootSpec(str(tmp_path / "root"))]) as confinement:
        assert found(confinement, tmp_path / "root") == {"a.txt"}


def test_an_ignored_folder_that_is_named_is_searched(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "out/\n", "out/deep/a.js": "", "node_modules/p/b.js": ""})
    assert "deep/a.js" in found(confinement, root / "out")
    assert found(confinement, root / "out/deep") == {"a.js"}
    assert found(confinement, root / "node_modules/p") == {"b.js"}


def test_a_nested_repository_begins_with_its_own_rules(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*.txt\n", "inner/.git/HEAD": "", "inner/a.txt": "", "b.txt": ""})
    assert "inner/a.txt" in found(confinement, root)
    assert "b.txt" not in found(confinement, root)
    assert "a.txt" in found(confinement, root / "inner")


def test_a_rule_file_behind_a_link_is_not_read(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside": "*\n"})
    plant(root, {"a.txt": ""})
    (root / ".gitignore").symlink_to(tmp_path / "outside")
    assert "a.txt" in found(confinement, root)


def test_a_rule_file_that_the_operator_closed_is_not_read(root: Path) -> None:
    plant(root, {".gitignore": "*.txt\n", "a.txt": ""})
    with Confinement([RootSpec(str(root))], deny=[".gitignore"]) as confinement:
        assert found(confinement, root) == {"a.txt"}


@pytest.mark.parametrize("line", ["*a" * 40 + "b", "**/" * 30 + "*a*a*a*b", "/" + "*a*/" * 30 + "b"])
def test_a_hostile_rule_costs_little(line: str) -> None:
    rules = Rules([RuleFile("", f"{line}\n")])
    start = time.process_time()
    assert not rules.ignores("/".join(["a" * 200] * 30), directory=False)
    assert time.process_time() - start < 1.0


def test_what_is_skipped_is_counted_without_being_walked(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*.log\nbig/\n", "a.log": "", "b/c.log": "", "node_modules/x/y.js": "", "big/z": ""})
    result = search_files(confinement, Scope(str(root)), "nothing-like-it", work=Work())
    assert (result.skipped.ignored_directories, result.skipped.ignored_files) == (2, 2)
    assert result.looked_at == 6


def test_rules_above_are_empty_at_the_root(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*\n"})
    with confinement.open_directory(str(root)) as opened:
        assert rules_above(confinement, opened.location).files == ()


@pytest.mark.parametrize(
    ("line", "ignored", "shown"),
    [
        ("[[:alpha:]]", "q", "7"),
        ("x[[:digit:]]", "x1", "xy"),
        ("[![:digit:]]x", "ax", "1x"),
        ("[[:foo:]]", "", "f"),
        ("[z-a]", "", "m"),
        ("[!z-a]", "", "m"),
        ("[9-0]", "", "5"),
        ("[~- ]", "", "~"),
        ("a[b-a]c", "", "abc"),
    ],
)
def test_sets_are_read_as_git_reads_them(line: str, ignored: str, shown: str) -> None:
    names = [name for name in (ignored, shown) if name]
    assert kept(line, *names) == [shown]


@given(st.binary(max_size=400))
def test_no_rule_file_whatever_its_bytes_breaks_a_search(content: bytes) -> None:
    kept(content.decode("utf-8", "surrogateescape"), "a", "b/c", "[x]", "0")


@given(st.lists(st.text(alphabet="[]!^-:\\*?/abz09 ", max_size=12), max_size=6))
def test_no_rule_however_twisted_breaks_a_search(lines: list[str]) -> None:
    kept("\n".join(lines), "a", "b/c", "[x]", "0")


def test_endless_rule_files_are_read_to_a_bound() -> None:
    assert kept("x" * 5_000 + "\n" + "a\n" * 300_000, "a", "b") == ["b"]
    many = "\n".join(f"n{number}" for number in range(10_000))
    assert kept(many, "n0", "n1999", "n2000") == ["n2000"]
