"""The typed errors, rule by rule, against the double's faults."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from mcp_curated_github import routes
from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api import Connection, GitHubApi
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.names import RepoName
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.settings import Secret
from mcp_curated_shared.transport.http_client import HttpLimits
from tests.github.double import Double, Hold, double, faults
from tests.github.double.faults import Fault

REPO = RepoName.parse("octo-org/hello")


async def no_wait(_: float) -> None:
    """A pause of no time."""


@pytest.fixture
async def there() -> AsyncIterator[Double]:
    async with double() as running:
        running.github.repository("octo-org/hello").issue("It breaks")
        yield running


def asking(there: Double, *, token: bool = True, wait: Callable[[float], Awaitable[None]] = no_wait) -> GitHubApi:
    given = Secret(there.github.token("octocat")) if token else None
    return GitHubApi(ApiUrl.parse(there.url), given, connection=Connection(wait=wait))


async def refusal(there: Double, *befalling: Fault, token: bool = True) -> CuratedError:
    there.faults.next(*befalling)
    async with asking(there, token=token) as api:
        with pytest.raises(CuratedError) as raised:
            (await api.get_json(routes.issue(REPO, 1))).fields(api.tally()).text("title")
    return raised.value


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("fault", "kind", "seconds"),
    [
        (faults.bad_token(), "bad_token", None),
        (faults.secondary_limit(retry_after=30), "secondary_rate_limit", 30),
        (faults.secondary_limit(retry_after=30, status=429), "secondary_rate_limit", 30),
        (faults.secondary_limit(retry_after=None), "secondary_rate_limit", 60),
        (faults.secondary_limit(retry_after="soon"), "secondary_rate_limit", 60),
        (faults.secondary_limit(retry_after=86_400), "secondary_rate_limit", 3_600),
        (faults.abuse_detected(), "secondary_rate_limit", 60),
        (faults.rate_limited(seconds=-30), "rate_limit", 1),
        (faults.rate_limited(seconds=90_000, status=429), "rate_limit", 3_600),
        (faults.sso_required(), "sso_required", None),
        (faults.ip_blocked(), "ip_blocked", None),
        (faults.forbidden(), "forbidden", None),
        (faults.forbidden(None), "forbidden", None),
        (faults.missing(), "not_found_or_hidden", None),
        (faults.diff_too_large(), "too_large", None),
        (faults.diff_too_large(422), "too_large", None),
        (faults.empty_repository(), "empty_repository", None),
        (faults.issues_disabled(), "issues_disabled", None),
        (faults.invalid_fields(), "validation", None),
        (faults.not_json(), "bad_response", None),
        (faults.not_json(b"\xff\xfe\x00 <html>"), "bad_response", None),
        (faults.wrong_shape(), "bad_response", None),
        (faults.wrong_shape(["a"]), "bad_response", None),
        (faults.wrong_shape({"title": 7}), "bad_response", None),
    ],
    ids=lambda one: one.name if isinstance(one, Fault) else str(one),
)
async def test_each_refusal_has_its_kind_its_wait_and_one_next_step(
    there: Double, fault: Fault, kind: str, seconds: int | None
):
    error = await refusal(there, fault)
    assert (error.kind, error.retry_after_s) == (kind, seconds)
    assert error.next_step
    assert "\n" not in str(error)
    assert len(str(error)) < 700


@pytest.mark.anyio
async def test_the_wait_of_a_spent_limit_is_the_time_until_it_begins_again(there: Double):
    error = await refusal(there, faults.rate_limited(seconds=120))
    assert error.kind == "rate_limit"
    assert error.retry_after_s is not None and 110 <= error.retry_after_s <= 120


@pytest.mark.anyio
async def test_a_spent_limit_is_never_told_as_a_lack_of_permission(there: Double):
    error = await refusal(there, faults.rate_limited())
    assert "permission" not in str(error) and "forbid" not in str(error)


@pytest.mark.anyio
async def test_an_error_names_the_organisation_but_not_the_one_time_address(there: Double):
    told = str(await refusal(there, faults.sso_required("octo-org")))
    assert "octo-org" in told
    assert "authorization_request" not in told and "http" not in told


@pytest.mark.anyio
async def test_an_error_passes_on_what_is_needed_and_what_github_says(there: Double):
    assert "issues=write" in str(await refusal(there, faults.forbidden("issues=write")))
    assert "IP allow list" in str(await refusal(there, faults.ip_blocked()))
    assert "127.0.0.1" in str(await refusal(there, faults.missing()))
    assert "fine-grained tokens hide" in str(await refusal(there, faults.missing()))
    assert "GITHUB_TOKEN" in str(await refusal(there, faults.bad_token(), token=False))


@pytest.mark.anyio
async def test_at_most_five_fields_are_listed_each_on_one_clean_line(there: Double):
    listed: list[dict[str, object]] = [
        {"resource": "Issue", "field": f"f{n}\u202e\n", "code": "invalid", "message": "m" * 900} for n in range(8)
    ]
    told = str(await refusal(there, faults.invalid_fields(*listed)))
    assert "Issue.f4 invalid" in told and "f5" not in told
    assert "3 more" in told
    assert "\u202e" not in told and "\n" not in told
    assert "Label.name invalid" in str(await refusal(there, faults.invalid_fields()))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "fault",
    [
        faults.server_error(502), faults.server_error(500), faults.unicorn(503), faults.closed_before(),
        faults.closed_before(reset=True), faults.cut_body(),
    ],
    ids=lambda one: one.name,
)  # fmt: skip
async def test_a_read_that_fails_is_asked_once_more(there: Double, fault: Fault):
    there.faults.next(fault)
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    async with asking(there, wait=wait) as api:
        answer = await api.get_json(routes.issue(REPO, 1))
    assert answer.fields(api.tally()).text("title") == "It breaks"
    assert len(there.journal) == 2
    assert len(waited) == 1 and 0 < waited[0] <= 1


@pytest.mark.anyio
async def test_a_read_that_takes_too_long_is_asked_once_more(there: Double):
    hold = Hold()
    there.faults.next(faults.slow_headers(hold))
    secret = Secret(there.github.token("octocat"))
    connection = Connection(wait=no_wait, limits=HttpLimits(read_seconds=2.0))
    async with GitHubApi(ApiUrl.parse(there.url), secret, connection=connection) as api:
        assert (await api.get_json(routes.issue(REPO, 1))).status == 200
    hold.release()
    assert len(there.journal) == 2


@pytest.mark.anyio
async def test_a_read_that_fails_twice_is_given_up(there: Double):
    error = await refusal(there, faults.server_error(502), faults.server_error(503))
    assert error.kind == "server_error"
    assert len(there.journal) == 2


@pytest.mark.anyio
async def test_a_short_wait_that_github_asks_for_is_waited_once(there: Double):
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    there.faults.next(faults.secondary_limit(retry_after=7))
    async with asking(there, wait=wait) as api:
        await api.get_json(routes.issue(REPO, 1))
        assert waited == [7.0]
        there.faults.next(faults.secondary_limit(retry_after=7), faults.secondary_limit(retry_after=7))
        with pytest.raises(GitHubError):
            await api.get_json(routes.issue(REPO, 1))
        assert waited == [7.0, 7.0]
        there.faults.next(faults.secondary_limit(retry_after=11))
        with pytest.raises(GitHubError):
            await api.get_json(routes.issue(REPO, 1))
    assert waited == [7.0, 7.0]
    assert len(there.journal) == 5


@pytest.mark.anyio
async def test_a_header_that_lies_about_the_time_is_kept_within_bounds(there: Double):
    begun = time.monotonic()
    error = await refusal(there, faults.secondary_limit(retry_after="Fri, 31 Dec 9999 23:59:59 GMT"))
    assert error.retry_after_s == 3_600
    assert time.monotonic() - begun < 10
