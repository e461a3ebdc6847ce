"""Allowlists, with the names of GitHub repositories as their example."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import InvalidArgumentError, NotAllowedError, SettingsError
from mcp_curated_shared.security.allowlist import Allowlist, NameForm

OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}(?<!-))?")
NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}(?<!\.git)")
REPOSITORY = NameForm("repository", "octo-org/hello-world", (OWNER, NAME))
HOST = NameForm("host", "example.org", (re.compile(r"[A-Za-z0-9.-]{1,253}"),))

names = st.from_regex(re.compile(r"[A-Za-z0-9]{1,8}/[A-Za-z0-9_-]{1,8}"), fullmatch=True)


@pytest.mark.parametrize("entries", [[], [""], [" "], [","], [" , \n\t,"]])
def test_an_empty_list_allows_nothing(entries: list[str]) -> None:
    listed = Allowlist.read(entries, REPOSITORY)
    assert not listed
    assert not listed.allows("octo-org/hello")
    with pytest.raises(NotAllowedError, match=r'repository "octo-org/hello" is not on the operator\'s list'):
        listed.check("octo-org/hello")


@pytest.mark.parametrize("name", ["octo-org/hello", "OCTO-ORG/Hello", "a/b", "e/f"])
def test_every_name_on_the_list_is_allowed_however_it_is_cased(name: str) -> None:
    listed = Allowlist.read(["Octo-Org/Hello, a/b\nE/f", "g/h"], REPOSITORY)
    assert listed.check(name) == name.lower()


@pytest.mark.parametrize(
    "name", ["octo-org/hell", "octo-org/hello2", "octo/hello", "xocto-org/hello", "octo-org/hello-", "hello/octo-org"]
)
def test_a_part_or_an_extension_of_a_listed_name_is_not_allowed(name: str) -> None:
    assert not Allowlist.read(["octo-org/hello"], REPOSITORY).allows(name)


@given(listed=st.lists(names, max_size=6), asked=names)
def test_exactly_the_listed_names_are_allowed(listed: list[str], asked: str) -> None:
    wanted = asked.lower() in {one.lower() for one in listed}
    assert Allowlist.read([", ".join(listed)], REPOSITORY).allows(asked) is wanted


def test_a_family_allows_every_name_of_its_owner_and_no_other() -> None:
    listed = Allowlist.read(["Octo/*"], REPOSITORY)
    assert listed.allows("octo/anything.else")
    assert not listed.allows("octo-org/hello")
    assert not listed.allows("oct/o")
    assert listed.entries() == ["octo/*"]


@pytest.mark.parametrize(
    "entry",
    [
        *("*", "*/*", "octo", "octo/", "/hello", "octo/hello/more", "octo/hel*", "*/hello", "octo//hello"),
        *("https://github.com/octo/hello", "octo/..", "octo/.", "../octo", "octo/hello.git", "-octo/hello"),
        *("octo-/hello", "octo/hello?x=1", "octo/hello#1", "octo/%2e%2e", "\u043ecto/hello", "octo/hell\u00f6"),
        *("octo/hello\u200b", "octo\u2044hello", "o" * 40 + "/hello", "octo/" + "h" * 101, "octo/../*", "\uff4fcto/x"),
    ],
)
def test_a_malformed_entry_stops_the_start_and_is_named(entry: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Allowlist.read([f"good/one {entry} good/two"], REPOSITORY)
    assert entry[:20].encode("ascii", "backslashreplace").decode() in refused.value.text
    assert 'Write "octo-org/hello-world" or "octo-org/*".' in refused.value.next_step


@pytest.mark.parametrize("name", ["octo/*", "octo/..", "octo", "octo/hello/../x", " octo/hello", "octo/hello\n", ""])
def test_a_malformed_name_is_refused_rather_than_repaired(name: str) -> None:
    listed = Allowlist.read(["octo/*"], REPOSITORY)
    with pytest.raises(InvalidArgumentError, match="is not the name of a repository"):
        listed.allows(name)


@given(st.text(max_size=30))
def test_no_text_is_allowed_that_is_not_the_ascii_name_on_the_list(text: str) -> None:
    listed = Allowlist.read(["octo/hello"], REPOSITORY)
    try:
        allowed = listed.allows(text)
    except InvalidArgumentError:
        return
    assert allowed is (text.lower() == "octo/hello")
    assert text.isascii()


def test_names_of_one_segment_have_no_families() -> None:
    assert Allowlist.read(["Example.org"], HOST).allows("example.ORG")
    with pytest.raises(SettingsError, match=r"is not the name of a host"):
        Allowlist.read(["example.org/*"], HOST)
