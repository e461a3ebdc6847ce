"""URLs: for any argument the path has the segments of its route."""

from collections.abc import Callable
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_github import routes
from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.names import RepoName
from mcp_curated_github.uris import read_uri
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError

API = ApiUrl.parse("https://ghe.example/api/v3")
REPO = RepoName.parse("octo-org/hello")

nasty = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="./%2eF?#&=\\ a:@;\x00\n", max_size=30),
    st.sampled_from(
        ["..", ".", "../../user/emails", "%2e%2e/x", "..%2f", "a/../../b", "x?y=1", "x#y", "//h/x", "\ud800"]
    ),
)


def built(route: routes.Route) -> str:
    return routes.build_url(API, route.segments, route.query)


def assert_keeps(url: str, *segments: str) -> None:
    """The URL is of the API, its path has these segments and no more, and nothing of them reaches query or fragment."""
    parts = urlsplit(url)
    assert f"{parts.scheme}://{parts.netloc}" == "https://ghe.example"
    assert parts.fragment == ""
    raw = parts.path.split("/")[1:]
    assert [unquote(one, errors="strict") for one in raw] == ["api", "v3", *segments]
    assert not {"", ".", ".."} & set(raw)


@given(nasty, st.one_of(st.none(), nasty))
def test_the_path_of_a_file_stays_below_its_repository(path: str, ref: str | None):
    try:
        url = built(routes.contents(REPO, path, ref))
    except InvalidArgumentError:
        return
    inside = path.removeprefix("/").removesuffix("/")
    assert_keeps(url, "repos", "octo-org", "hello", "contents", *(inside.split("/") if inside else []))
    assert (urlsplit(url).query == "") == (ref is None)


@given(nasty)
def test_a_name_that_is_read_stays_two_segments(text: str):
    try:
        repo = RepoName.parse(text)
    except InvalidArgumentError:
        return
    assert_keeps(built(routes.readme(repo)), "repos", repo.owner, repo.name, "readme")


@given(nasty, st.integers())
def test_a_search_and_a_number_stay_in_their_place(words: str, number: int):
    try:
        url = built(routes.search("code", q=words, page=3))
    except InvalidArgumentError:
        assert any(0xD800 <= ord(one) <= 0xDFFF for one in words)
    else:
        assert_keeps(url, "search", "code")
        assert urlsplit(url).query.count("&") == 1
    for route in (routes.issue, routes.pull_request):
        try:
            asked = route(REPO, number)
        except InvalidArgumentError:
            assert not 0 < number < 2**63
            continue
        assert len(asked.segments) == 5
        assert asked.segments[-1] == str(number)


@given(nasty, nasty, nasty)
def test_a_resource_uri_leads_to_the_route_of_its_template_or_nowhere(owner: str, name: str, path: str):
    for uri in (f"github://repos/{owner}/{name}/readme", f"github://repos/{owner}/{name}/contents/{path}"):
        try:
            found = read_uri(uri)
            assert found.kind != "starred" and found.repo is not None
            whole = (routes.readme if found.kind == "readme" else _contents(found.path))(found.repo)
            url = built(whole)
        except CuratedError:
            continue
        end = ["readme"] if found.kind == "readme" else ["contents", *(found.path.split("/") if found.path else [])]
        assert_keeps(url, "repos", found.repo.owner, found.repo.name, *end)


def _contents(path: str) -> Callable[[RepoName], routes.Route]:
    return lambda repo: routes.contents(repo, path)


@pytest.mark.parametrize(
    "uri",
    [
        "github://repos/o/r%3Fx=1/readme", "github://repos/o/r/readme?x=1", "github://repos/o/r/readme#x",
        "github://repos/o/r%2F../readme", "github://repos/o/../readme", "github://repos/o/r/contents/%2e%2e/x",
        "github://repos/o/r/contents/a%2Fb", "github://repos/o/r/contents/%zz", "github://repos/o/r/contents/%ff",
        "github://repos//r/readme", "github://user/emails", "github://user/starred/x", "github://repos/o/r",
        "github://", "http://repos/o/r/readme", "github://repos/o/r/contents//a",
    ],
)  # fmt: skip
def test_a_uri_that_is_none_of_ours_is_refused(uri: str):
    with pytest.raises(CuratedError):
        found = read_uri(uri)
        assert found.repo is not None
        built(routes.contents(found.repo, found.path))


def test_a_segment_that_is_a_dot_is_refused_though_quoting_leaves_it():
    for segment in ("", ".", ".."):
        with pytest.raises(InvalidArgumentError):
            routes.build_url(API, ("repos", segment))
