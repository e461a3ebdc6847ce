"""The text that every match of a regular expression holds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.finding.required import required_text


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("needle", "needle"),
        (r"UNIQUE_\w+_TOKEN", "UNIQUE_"),
        (r"^\s*def test_\w+\(", "def test_"),
        (r"foo\.bar\(", "foo.bar("),
        ("colou?r", "colo"),
        ("ab+c", "ab"),
        ("ab*c", "a"),
        ("ab{2,3}cd", "cd"),
        ("ab+?cde", "cde"),
        ("(?P<name>x)yz", "yz"),
        (r"[a\]b]cd[)(]", "cd"),
        ("[]a]bc", "bc"),
        ("[[:alpha:]]bc", "bc"),
        (r"a(b[)]c\)d)ef", "ef"),
        ("(?=abc)de(?!fg)", "de"),
    ],
)
def test_the_longest_run_that_no_match_lacks_is_given(pattern: str, text: str):
    assert required_text(pattern) == text


@pytest.mark.parametrize(
    "pattern",
    [
        "foo|bar",
        "",
        ".*",
        "(foo)",
        "(?x)a b # c",
        "(?i:foo)bar",
        "(?#a (comment)bar",
        r"\x41bc",
        r"\u0041bc",
        r"\101",
        r"\p{Lu}abc",
        r"\N{BULLET}abc",
        r"(a)\g<1>bc",
        r"\L<names>",
        "é",
        "\n",
        "x*",
    ],
)
def test_nothing_is_given_where_nothing_is_known_or_the_pattern_is_not_understood(pattern: str):
    assert required_text(pattern) == ""


def patterns() -> st.SearchStrategy[str]:
    literal = st.sampled_from([*"abc_ -/", r"\.", r"\(", r"\*", r"\d", r"\w", ".", "[ab]", "[^c]", r"[\]x]", "^", "é"])
    quantified = st.builds(
        lambda piece, count: piece + (count if piece != "^" else ""),
        literal,
        st.sampled_from(["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{0,2}", "{1,}"]),
    )
    joined = st.lists(quantified, min_size=1, max_size=6).map("".join)
    groups = st.sampled_from(["({})", "(?:{})", "({})?", "(?:{})*", "(?P<n>{})", "(?={})", "(?<!{})", "{}"])
    grouped = st.builds(
        lambda before, group, inside, after: before + group.replace("{}", inside) + after,
        joined,
        groups,
        joined,
        joined,
    )
    return st.one_of(joined, grouped, st.builds(lambda one, two: f"{one}|{two}", grouped, joined))


@given(pattern=patterns(), data=st.data())
def test_every_match_holds_the_required_text(pattern: str, data: st.DataObject):
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    text = data.draw(st.one_of(st.text("abc_ -/.(*x1é]", max_size=30), st.from_regex(compiled)))
    for found in compiled.finditer(text):
        assert required_text(pattern) in found[0]
