import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.finding.globs import Excludes, compile_glob, compile_word, is_bare_word, unfold_braces
from mcp_curated_shared.errors import InvalidArgumentError


def component_matches(pattern: str, name: str) -> bool:
    """The slow, obvious reading of `*`, `?` and plain characters within one name."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return component_matches(pattern[1:], name) or (bool(name) and component_matches(pattern, name[1:]))
    return bool(name) and (pattern[0] == "?" or pattern[0] == name[0]) and component_matches(pattern[1:], name[1:])


def path_matches(pattern: list[str], path: list[str]) -> bool:
    """The slow, obvious reading of a path pattern, `**` being any number of components."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(path)
        return path_matches(pattern[1:], path) or (bool(path) and path_matches(pattern, path[1:]))
    return bool(path) and component_matches(pattern[0], path[0]) and path_matches(pattern[1:], path[1:])


COMPONENT_PATTERNS = st.text(alphabet="ab*?", min_size=1, max_size=6).filter(
    lambda text: text.replace("*", "") or text == "*"
)
NAMES = st.text(alphabet="ab", min_size=1, max_size=6)


@given(COMPONENT_PATTERNS, NAMES)
def test_a_name_pattern_agrees_with_the_slow_reading(pattern: str, name: str) -> None:
    assert bool(compile_glob(pattern).matches(name)) == component_matches(pattern, name)


@given(
    st.lists(st.one_of(COMPONENT_PATTERNS, st.just("**")), min_size=2, max_size=5),
    st.lists(NAMES, min_size=1, max_size=5),
)
def test_a_path_pattern_agrees_with_the_slow_reading(pattern: list[str], path: list[str]) -> None:
    glob = compile_glob("/".join(pattern))
    if glob.by_name:
        assert bool(glob.matches(path[-1])) == path_matches(pattern, path)
    else:
        assert bool(glob.matches("/".join(path))) == path_matches(pattern, path)
        assert glob.last is None or glob.last(path[-1]) or not path_matches(pattern, path)


@given(
    st.lists(st.one_of(COMPONENT_PATTERNS, st.just("**")), min_size=2, max_size=4),
    st.lists(NAMES, min_size=1, max_size=5),
)
def test_a_path_pattern_read_anywhere_is_the_same_with_two_stars_before_it(pattern: list[str], path: list[str]) -> None:
    glob = compile_glob("/".join(pattern), anywhere=True)
    subject = path[-1] if glob.by_name else "/".join(path)
    assert bool(glob.matches(subject)) == path_matches(["**", *pattern], path)


@given(st.text(alphabet="abc[]!^-?*\\.", min_size=1, max_size=8), st.text(alphabet="abc[]!^-.", min_size=1, max_size=6))
def test_any_text_is_a_pattern_and_never_a_broken_expression(pattern: str, name: str) -> None:
    if pattern.strip("/"):
        compile_glob(pattern).matches(name)


@given(st.text(alphabet="ab[]!-", min_size=1, max_size=6), st.text(alphabet="ab-!", min_size=1, max_size=3))
def test_sets_agree_with_the_standard_library(pattern: str, name: str) -> None:
    assert bool(compile_glob(pattern, smart_case=False).matches(name)) == fnmatch.fnmatchcase(name, pattern)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "lib/src/a.py", False),
        ("/src/*.py", "src/a.py", True),
        ("./src/*.py", "src/a.py", True),
        ("**", "a/b", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("**/a/**", "x/a/y", True),
        ("src/{one,two/*}.py", "src/two/x.py", True),
        ("{src/*,lib}", "deep/lib", True),
    ],
)
def test_a_pattern_with_a_slash_is_read_from_the_top(pattern: str, path: str, expected: bool) -> None:
    glob = compile_glob(pattern)
    assert not glob.by_name
    assert bool(glob.matches(path)) is expected


def test_an_absolute_pattern_is_read_against_the_whole_path() -> None:
    glob = compile_glob("/home/user/project/**/*.py", base="/home/user/project/src")
    assert glob.matches("a.py")
    assert glob.matches("deep/a.py")
    assert not compile_glob("/home/user/project/*.py", base="/home/user/project/src").matches("a.py")


@pytest.mark.parametrize(
    ("pattern", "names", "others"),
    [
        ("*.{py,md}", ["a.py", "b.md"], ["c.txt"]),
        ("{a,b{c,d}}", ["a", "bc", "bd"], ["b", "d"]),
        ("a{b", ["a{b"], ["ab"]),
        ("{ab}", ["{ab}"], ["ab"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        ("[!a]b", ["bb"], ["ab"]),
        ("[]x]", ["]", "x"], ["a"]),
        (r"a\x0ab", ["a\nb"], ["ax0ab"]),
        (r"caf\xe9", ["caf\udce9"], ["cafe"]),
        (r"x\u202ey", ["x\u202ey"], ["xy"]),
    ],
)
def test_the_language_of_one_name(pattern: str, names: list[str], others: list[str]) -> None:
    matches = compile_glob(pattern).matches
    assert [name for name in (*names, *others) if matches(name)] == names


def test_a_pattern_in_small_letters_matches_either_case() -> None:
    assert compile_glob("read*.md").matches("README.md")
    assert compile_word("readme").matches("README.md")


def test_a_pattern_with_a_capital_letter_matches_that_case_alone() -> None:
    assert not compile_glob("Read*.md").matches("README.md")
    assert not compile_word("Readme").matches("README.md")


def test_unicode_forms_and_kinds_of_space_agree() -> None:
    assert compile_glob("cafe\u0301*").matches("caf\u00e9.txt")
    assert compile_glob("shot 1 pm.png").matches("shot 1\u202fpm.png")
    assert compile_word("caf\u00e9").matches("CAFE\u0301")


def test_a_slash_at_the_end_asks_for_a_directory() -> None:
    glob = compile_glob("build/")
    assert (glob.directories_only, glob.by_name) == (True, True)


@pytest.mark.parametrize("pattern", ["", "/", "./", "{" + ",".join("ab" * 200) + "}", "{a,b}" * 12, "a" * 5_000])
def test_a_pattern_that_says_nothing_or_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArgumentError):
        compile_glob(pattern)


@pytest.mark.parametrize(
    "pattern", ["*a" * 40 + "b", "**/" + "*a*/" * 20 + "b", "?*" * 60 + "b", "a/**/" * 15 + "b", "[a]*" * 40 + "b"]
)
def test_a_hostile_pattern_costs_little(pattern: str) -> None:
    glob = compile_glob(pattern)
    subject = "a" * 250 if glob.by_name else "/".join(["a" * 20] * 60)
    start = time.process_time()
    for _ in range(20):
        assert not glob.matches(subject)
    assert time.process_time() - start < 1.0


def test_braces_unfold_in_the_order_they_are_written() -> None:
    assert unfold_braces("a{b,c}{d,e}") == ["abd", "abe", "acd", "ace"]
    assert unfold_braces(r"\{a,b\}") == [r"\{a,b\}"]
    assert unfold_braces("[{a,b}]") == ["[{a,b}]"]


def test_a_bare_word_has_nothing_special_in_it() -> None:
    assert is_bare_word("readme")
    assert is_bare_word(r"a\x0ab")
    assert not any(is_bare_word(pattern) for pattern in ("*.py", "a/b", "a?", "{a,b}", "[a]", ""))


@pytest.mark.parametrize(
    "pattern", ["node_modules", "node_modules/", "**/node_modules/**", "**/node_modules", "node_*"]
)
def test_an_exclude_leaves_out_a_directory_at_any_depth(pattern: str) -> None:
    excludes = Excludes([pattern])
    assert excludes.kept(["node_modules", "src"], "", "directory") == ["src"]
    assert excludes.kept(["node_modules", "src"], "packages/one/", "directory") == ["src"]


def test_an_exclude_of_directories_leaves_files_alone() -> None:
    assert Excludes(["build/"]).kept(["build"], "", "file") == ["build"]


def test_an_exclude_is_a_whole_name_not_a_part_of_one() -> None:
    assert Excludes(["test"]).kept(["latest", "test"], "", "file") == ["latest"]


def test_an_exclude_with_a_slash_starts_at_the_top() -> None:
    excludes = Excludes(["src/gen"])
    assert excludes.kept(["gen"], "src/", "directory") == []
    assert excludes.kept(["gen"], "lib/src/", "directory") == ["gen"]
