"""Names of repositories and the lists of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_github.names import RepoName, is_owner
from mcp_curated_github.settings import read_repositories, read_some_repositories
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, SettingsError

CYRILLIC_O = "\u043e"
BAD = [
    "", "/", "a", "a/", "/b", "a/b/c", "a/..", "../b", "a/.", "./b", "a b/c", "a/b?x=", "a/b#x", "a/b%2e", "a/b.git",
    "a/B.GIT", "-a/b", "a-/b", "a--" + "b" * 40 + "/c", "a/" + "b" * 101, f"{CYRILLIC_O}cto/hello", "a/b\n", " a/b",
    "a/b ", "a\\b/c",
    "a/..%2f..%2fuser", "hello/../../other/private",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_a_bad_name_is_refused_and_never_repaired(text: str):
    with pytest.raises(InvalidArgumentError):
        RepoName.parse(text)


@pytest.mark.parametrize("text", ["octo-org/hello-world", "a/b", "O/.github", "mona_corp/x_y.z-1", "a/...", "1/2"])
def test_a_name_that_github_allows_is_read(text: str):
    assert str(RepoName.parse(text)) == text


def test_letter_case_does_not_make_another_repository():
    assert RepoName.parse("Octo/Hello") == RepoName.parse("octo/hello")
    assert len({RepoName.parse("Octo/Hello"), RepoName.parse("octo/HELLO")}) == 1


@given(st.text(max_size=60))
def test_whatever_is_read_as_a_name_has_two_plain_parts(text: str):
    try:
        name = RepoName.parse(text)
    except CuratedError:
        return
    assert text == f"{name.owner}/{name.name}"
    assert text.isascii() and text.count("/") == 1
    assert not {name.owner, name.name} & {"", ".", ".."}
    assert not set(text) & set("%?#\\ \t\r\n@:")


@given(st.text(max_size=20))
def test_a_login_is_plain(text: str):
    if is_owner(text):
        assert text.isascii() and text.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("text", ["a/b, c/d", "a/b\tc/d\n", ",,a/b,,c/d", "A/B C/D a/b"])
def test_a_list_is_split_at_commas_and_white_space(text: str):
    assert read_repositories(text).entries() == ["a/b", "c/d"]


def test_a_family_holds_every_repository_of_an_owner_and_no_other():
    listed = read_repositories("octo/*")
    assert listed.allows("Octo/anything")
    assert not listed.allows("octo-org/anything")
    assert not listed.allows("octopus/anything")


@pytest.mark.parametrize(
    "text", ["*", "*/*", "a/b/c", "a", "octo/h*", f"{CYRILLIC_O}cto/hello", "https://github.com/a/b", "a/b.git"]
)
def test_a_malformed_item_stops_the_start_and_is_named(text: str):
    with pytest.raises(SettingsError) as refusal:
        read_repositories(f"a/b {text}")
    assert text.encode("ascii", "backslashreplace").decode() in str(refusal.value)


def test_an_empty_list_allows_nothing_to_be_written_and_is_refused_for_reading():
    assert not read_repositories(",")
    with pytest.raises(SettingsError):
        read_some_repositories(" , ")
