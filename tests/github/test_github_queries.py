"""Searches: typed, quoted, and bounded before the call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_github.reading import queries
from mcp_curated_github.settings import read_repositories
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError


def test_a_language_of_two_words_stays_one_value():
    assert queries.language("Jupyter Notebook") == 'language:"Jupyter Notebook"'


@pytest.mark.parametrize(
    "text", ["python user:victim is:private", 'python" is:private "', "", "a\nb", "x" * 61, "py\\thon"]
)
def test_a_language_that_holds_a_qualifier_is_refused(text: str):
    with pytest.raises(InvalidArgumentError):
        queries.language(text)


@pytest.mark.parametrize(
    "text", ["C++", "C#", "Objective-C", "Ren'Py", "F*", "HTML+ERB", "Vim Script", "1C Enterprise"]
)
def test_every_sort_of_language_name_is_taken(text: str):
    assert queries.language(text) == f'language:"{text}"'


@given(st.text(max_size=40))
def test_a_quoted_value_never_ends_early(text: str):
    try:
        made = queries.phrase("label", text)
    except InvalidArgumentError:
        return
    assert made.count('"') == 2 and made.endswith('"')
    assert made == f'label:"{text}"'


@pytest.mark.parametrize("text", ["a b", "a:b", "a/b", 'a"b', "", "-a", "app/"])
def test_an_author_that_is_no_login_is_refused(text: str):
    with pytest.raises(InvalidArgumentError):
        queries.author(text)


@pytest.mark.parametrize(
    ("words", "qualifiers"),
    [
        ("x" * 257, ()),
        ("x" * 250, ("is:issue",)),
        ("a OR b OR c OR d OR e OR f OR g", ()),
        ("a AND b NOT c OR d AND e NOT f OR g", ()),
        ('an "odd quote', ()),
        (" ", ()),
    ],
)
def test_what_github_would_refuse_or_misread_is_refused_before_the_call(words: str, qualifiers: tuple[str, ...]):
    with pytest.raises(InvalidArgumentError):
        queries.build_query(words, qualifiers)


def test_words_that_only_look_like_operators_do_not_count():
    assert queries.build_query("and or not ANDROID NOTE ORDER " * 3, ())


READABLE = read_repositories("octo-org/* mona/one mona/two")


def test_a_search_within_what_may_be_read_names_all_of_it():
    assert queries.places(READABLE) == ("user:octo-org", "repo:mona/one", "repo:mona/two")
    assert queries.places(READABLE, owner="Mona") == ("repo:mona/one", "repo:mona/two")
    assert queries.places(READABLE, owner="octo-org") == ("user:octo-org",)
    assert queries.places(READABLE, repo="Octo-Org/x") == ("repo:Octo-Org/x",)
    assert queries.places(None) == ()


def test_a_search_for_issues_in_several_places_is_one_of_alternatives():
    places = queries.any_of(queries.places(READABLE))
    assert queries.build_query("a OR b", places, READABLE, grouped=True) == (
        "(a OR b) (user:octo-org OR repo:mona/one OR repo:mona/two)"
    )
    assert queries.any_of(("repo:a/b",)) == ("repo:a/b",)
    with pytest.raises(InvalidArgumentError):
        queries.build_query("a OR b OR c OR d OR e", places, READABLE, grouped=True)


def test_an_operator_in_quotes_is_a_word():
    assert queries.build_query('"a OR b" ' * 7, ())


@pytest.mark.parametrize(("repo", "owner"), [("evil/x", None), ("mona/three", None), (None, "evil"), (None, "octo")])
def test_a_search_elsewhere_is_refused(repo: str | None, owner: str | None):
    with pytest.raises(NotAllowedError):
        queries.places(READABLE, repo=repo, owner=owner)


@pytest.mark.parametrize("words", ["x repo:evil/x", "USER:evil", '"x" org:evil', "x OR (owner:evil)", "-repo:a/b"])
def test_the_words_may_not_widen_what_may_be_read(words: str):
    with pytest.raises(CuratedError):
        queries.build_query(words, (), READABLE)
    assert queries.build_query(words, (), None) == words
