"""The one client: where it goes, where the token goes, what is asked again and what never is."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import respx

from mcp_curated_github import routes
from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api import Connection, GitHubApi, RenamedError, UnansweredError
from mcp_curated_github.api.media import DIFF
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.names import RepoName
from mcp_curated_github.settings import read_repositories
from mcp_curated_shared.errors import CuratedError, NotAllowedError
from mcp_curated_shared.settings import Secret
from mcp_curated_shared.transport.http_client import HttpLimits
from tests.github.double import ChangedFile, Double, Hold, double, faults
from tests.github.double.credentials import token_text
from tests.github.double.faults import Fault

REPO = RepoName.parse("octo-org/hello")


async def no_wait(_: float) -> None:
    """A pause of no time."""


@pytest.fixture
async def there() -> AsyncIterator[Double]:
    async with double() as running:
        running.github.organisation("octo-org", members=["octocat"])
        running.github.repository("octo-org/hello").issue("It breaks")
        yield running


def asking(there: Double, token: str | None = "", **more: Any) -> GitHubApi:
    """A client of the double; by default with a new token of octocat."""
    given = there.github.token("octocat") if token == "" else token
    secret = None if given is None else Secret(given)
    return GitHubApi(ApiUrl.parse(there.url), secret, connection=Connection(wait=no_wait), **more)


@pytest.mark.anyio
async def test_a_request_says_who_asks_and_in_which_version(there: Double):
    async with asking(there) as api:
        await api.get_json(routes.issue(REPO, 1))
    sent = there.journal.last
    assert sent.header("X-GitHub-Api-Version") == "2022-11-28"
    assert sent.header("Accept") == "application/vnd.github+json"
    assert (sent.header("User-Agent") or "").startswith("mcp-curated-github")


@pytest.mark.anyio
async def test_without_a_token_public_data_is_read_and_nothing_is_written(there: Double):
    async with asking(there, None) as api:
        assert (await api.get_json(routes.issue(REPO, 1))).status == 200
        with pytest.raises(GitHubError) as raised:
            await api.send(routes.issues(REPO), {"title": "x"})
    assert raised.value.kind == "no_token"
    assert there.journal.last.header("Authorization") is None
    assert len(there.journal) == 1


@pytest.mark.anyio
async def test_a_renamed_repository_is_read_under_its_new_name(there: Double):
    renamed = there.github.find("octo-org/hello")
    assert renamed is not None
    renamed.rename("octo-org/new")
    async with asking(there) as api:
        answer = await api.get_json(routes.issue(REPO, 1))
    assert str(answer.renamed_to) == "octo-org/new"


@pytest.mark.anyio
async def test_a_name_that_is_not_renamed_says_nothing_of_it(there: Double):
    async with asking(there) as api:
        assert (await api.get_json(routes.issue(REPO, 1))).renamed_to is None


@pytest.mark.anyio
async def test_a_rename_does_not_lead_out_of_what_may_be_read(there: Double):
    renamed = there.github.find("octo-org/hello")
    assert renamed is not None
    renamed.rename("mona/private-matters")
    async with asking(there, readable=read_repositories("octo-org/*")) as api:
        with pytest.raises(NotAllowedError):
            await api.get_json(routes.issue(REPO, 1))
    assert [one.path for one in there.journal][1:] == [f"/repositories/{renamed.id}"]


@pytest.mark.anyio
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_at_most_three_redirects_on_the_same_origin_are_followed(there: Double, status: int):
    onward = faults.redirected(f"{there.url}/repos/octo-org/hello/issues/1", status)
    there.faults.next(onward, onward, onward)
    async with asking(there) as api:
        assert (await api.get_json(routes.issue(REPO, 1))).status == 200
        there.faults.next(onward, onward, onward, onward)
        with pytest.raises(CuratedError) as raised:
            await api.get_json(routes.issue(REPO, 1))
    assert raised.value.kind == "bad_response"
    assert len(there.journal) == 8


@pytest.mark.anyio
@pytest.mark.parametrize(
    "location",
    [
        "https://evil.test/repos/octo-org/hello", "//evil.test/x", "http://127.0.0.1:1/x", "ftp://evil.test",
        "https://api.github.com.evil.test/", "http://user:pw@127.0.0.1/x", "\\\\evil.test", "javascript:alert(1)",
    ],
)  # fmt: skip
async def test_a_redirect_to_another_origin_is_not_followed(there: Double, location: str):
    there.faults.next(faults.redirected(location))
    async with asking(there) as api:
        with pytest.raises(CuratedError) as raised:
            await api.get_json(routes.issue(REPO, 1))
    assert len(there.journal) == 1
    assert "pw" not in str(raised.value)


@pytest.mark.anyio
async def test_a_redirect_out_of_the_api_of_an_enterprise_server_is_not_followed():
    async with double(prefix="/api/v3") as there:
        there.github.repository("octo-org/hello").issue("It breaks")
        there.faults.next(faults.redirected(f"{there.origin}/login"))
        async with asking(there) as api:
            with pytest.raises(CuratedError):
                await api.get_json(routes.issue(REPO, 1))
            assert (await api.get_json(routes.issue(REPO, 1))).status == 200
        assert [one.path for one in there.journal] == ["/api/v3/repos/octo-org/hello/issues/1"] * 2


@pytest.mark.anyio
async def test_the_token_goes_to_the_exact_origin_only(there: Double):
    token = there.github.token("octocat")
    async with double() as elsewhere, asking(there, token) as api:
        there.faults.next(faults.redirected(f"{elsewhere.url}/repos/octo-org/hello/issues/1"))
        with pytest.raises(CuratedError):
            await api.get_json(routes.issue(REPO, 1))
        assert len(elsewhere.journal) == 0
    assert there.journal.last.header("Authorization") == f"Bearer {token}"


@pytest.mark.anyio
async def test_a_host_that_only_ends_alike_is_another():
    token = token_text("classic")
    with respx.mock(assert_all_called=False) as mock:
        evil = mock.route(host="api.github.com.evil.test").respond(200, json={})
        mock.route(host="api.github.com").respond(301, headers={"Location": "https://api.github.com.evil.test/user"})
        async with GitHubApi(token=Secret(token), connection=Connection(wait=no_wait)) as api:
            with pytest.raises(CuratedError):
                await api.get_json(routes.user())
    assert not evil.called


@pytest.mark.anyio
async def test_an_answer_that_repeats_the_token_does_not_bring_it_to_the_reader(there: Double):
    token = there.github.token("octocat")
    there.github.repository("octo-org/echo").issue(f"Title {token}", f"Body {token}")
    async with asking(there, token) as api:
        fields = (await api.get_json(routes.issue(RepoName.parse("octo-org/echo"), 1))).fields(api.tally())
        assert token not in fields.text("title") + fields.text("body")
        assert fields.text("title") == "Title [REDACTED:token]"
        for fault in (
            faults.invalid_fields(message=f"no {token}"),
            faults.not_json(f"<html>{token}".encode()),
            faults.invalid_fields({"resource": "Issue", "field": token, "code": "invalid"}),
        ):
            there.faults.next(fault)
            with pytest.raises(CuratedError) as raised:
                (await api.get_json(routes.issue(REPO, 1))).document()
            assert token not in str(raised.value) and token not in repr(raised.value)


@pytest.mark.anyio
async def test_only_what_may_be_read_is_asked_for(there: Double):
    async with asking(there, readable=read_repositories("octo-org/*")) as api:
        with pytest.raises(NotAllowedError) as raised:
            await api.get_json(routes.readme(RepoName.parse("evil/x")))
        assert "GITHUB_READ_REPOS" in str(raised.value)
        assert len(there.journal) == 0
        await api.get_json(routes.issue(REPO, 1))


@pytest.mark.anyio
async def test_bytes_that_break_off_are_asked_for_again_and_never_taken_for_the_whole(there: Double):
    repository = there.github.find("octo-org/hello")
    assert repository is not None
    number = repository.pull_request("p", files=[ChangedFile("a.py", "@@ -1 +1 @@\n" + "+x\n" * 500)]).number
    route = routes.pull_request(REPO, number)
    async with asking(there) as api:
        whole = (await api.get_raw(route, DIFF, most_bytes=100_000)).body
        there.faults.next(faults.cut_body())
        assert (await api.get_raw(route, DIFF, most_bytes=100_000)).body == whole
        there.faults.next(faults.cut_body(), faults.cut_body())
        with pytest.raises(CuratedError) as raised:
            await api.get_raw(route, DIFF, most_bytes=100_000)
        assert raised.value.kind in {"bad_response", "unreachable"}
        part = await api.get_raw(route, DIFF, most_bytes=300)
    assert part.cut and whole.startswith(part.body) and len(part.body) == 300


# Writes


@pytest.mark.anyio
async def test_a_write_is_one_post_on_a_connection_of_its_own(there: Double):
    async with asking(there) as api:
        await api.get_json(routes.issue(REPO, 1))
        answer = await api.send(routes.issues(REPO), {"title": "Naïve 😀"})
    assert answer.status == 201
    (post,) = there.journal.posts
    assert post.header("Connection") == "close"
    assert post.json == {"title": "Naïve 😀"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "fault",
    [
        faults.closed_after(), faults.closed_before(), faults.closed_after(reset=True), faults.cut_body(),
        faults.server_error(502), faults.server_error(502).after_effect(), faults.unicorn(504),
    ],
    ids=lambda one: one.name,
)  # fmt: skip
async def test_a_write_without_an_answer_is_never_repeated(there: Double, fault: Fault):
    there.faults.on("issues/create", fault)
    async with asking(there) as api:
        with pytest.raises(UnansweredError):
            await api.send(routes.issues(REPO), {"title": "Once"})
    assert len(there.journal.posts) == 1


@pytest.mark.anyio
async def test_a_write_that_takes_too_long_is_never_repeated(there: Double):
    hold = Hold()
    there.faults.on("issues/create", faults.slow_headers(hold))
    limits = HttpLimits(total_seconds=1.0, read_seconds=0.5)
    secret = Secret(there.github.token("octocat"))
    async with GitHubApi(ApiUrl.parse(there.url), secret, connection=Connection(limits=limits)) as api:
        with pytest.raises(UnansweredError):
            await api.send(routes.issues(REPO), {"title": "Once"})
    hold.release()
    assert len(there.journal.posts) == 1


@pytest.mark.anyio
async def test_a_write_is_not_redirected_and_learns_the_new_name(there: Double):
    renamed = there.github.find("octo-org/hello")
    assert renamed is not None
    renamed.rename("octo-org/new")
    async with asking(there) as api:
        with pytest.raises(RenamedError) as raised:
            await api.send(routes.issues(REPO), {"title": "x"})
    assert str(raised.value.repo) == "octo-org/new"
    assert "Nothing was written" in str(raised.value)
    assert len(there.journal.posts) == 1
    assert len(renamed.issues) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("location", ["https://evil.test/repos/a/b/issues", "/repos/a/b/issues", ""])
async def test_a_write_that_is_sent_elsewhere_goes_nowhere(there: Double, location: str):
    there.faults.on("issues/create", faults.redirected(location, 307))
    async with asking(there) as api:
        with pytest.raises(CuratedError):
            await api.send(routes.issues(REPO), {"title": "x"})
    assert len(there.journal.posts) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (faults.bad_token(), "bad_token"),
        (faults.rate_limited(), "rate_limit"),
        (faults.secondary_limit(retry_after=1), "secondary_rate_limit"),
        (faults.missing(), "not_found_or_hidden"),
        (faults.issues_disabled(), "issues_disabled"),
        (faults.invalid_fields(), "validation"),
        (faults.forbidden(), "forbidden"),
    ],
    ids=lambda one: one.name if isinstance(one, Fault) else str(one),
)
async def test_a_refused_write_is_not_tried_again(there: Double, fault: Fault, kind: str):
    there.faults.on("issues/create", fault)
    async with asking(there) as api:
        with pytest.raises(GitHubError) as raised:
            await api.send(routes.issues(REPO), {"title": "x"})
    assert raised.value.kind == kind
    assert len(there.journal.posts) == 1


@pytest.mark.anyio
async def test_a_body_is_sent_as_it_was_shown_even_where_it_looks_like_a_secret(there: Double):
    body = f"password: {token_text('classic')}"
    async with asking(there) as api:
        await api.send(routes.issues(REPO), {"title": "x", "body": body})
    assert json.loads(there.journal.posts[0].body)["body"] == body


# Pages


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('<https://api.github.com/repositories/1000/issues?page=2>; rel="next"', 2),
        ('<https://x/?page=1>; rel="prev", <https://x/?a=1&page=3>; rel="next", <https://x/?page=9>; rel="last"', 3),
        ('<https://evil.test/?page=7>; rel="next"', 7),
        ('<https://x/?page=1>; rel="prev"', None),
        ('<https://x/?page=abc>; rel="next"', None),
        ('<https://x/?page=1&page=2>; rel="next"', None),
        ("", None),
        ('<https://x/>; rel="next"', None),
    ],
)
async def test_only_the_number_of_a_next_page_is_taken(header: str, expected: int | None):
    with respx.mock() as mock:
        mock.get("https://api.github.com/user/starred").mock(
            return_value=httpx.Response(200, json=[], headers={"Link": header} if header else {})
        )
        async with GitHubApi(connection=Connection(wait=no_wait)) as api:
            assert (await api.get_json(routes.starred())).next_page == expected
