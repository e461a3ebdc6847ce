"""Whatever the arguments are: what is requested is the route of the tool, and nothing else."""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api import Connection, GitHubApi
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading import contents, issues, pulls, searching
from mcp_curated_github.uris import read_uri
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.settings import Secret
from mcp_curated_shared.testing.clients import LEGACY, over_memory
from tests.github.double import Double, serve
from tests.github.serving import build

REPO: Final = r"/repos/[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+"
ROUTES: Final = (
    rf"{REPO}/readme", rf"{REPO}/contents(/[^/]+)*", rf"{REPO}/issues/\d+(/comments)?", rf"{REPO}/pulls/\d+(/files)?",
    r"/search/(repositories|code|issues)", r"/user(/starred)?", r"/rate_limit",
)  # fmt: skip

SEED: Final = (
    "..",
    "../../user/emails",
    "%2e%2e/x",
    "a?b=c",
    "a#b",
    "a/../../b",
    "//evil.test/x",
    "octo-org/hello",
    "a b",
    "\x00",
)
nasty = st.one_of(
    st.sampled_from(SEED), st.text(max_size=20), st.text(alphabet="./%2eF?#&=\\ a:@;octo-rghel\n", max_size=24)
)
maybe = st.one_of(st.none(), nasty)
few = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def there() -> Iterator[Double]:
    with serve() as running:
        running.github.repository("octo-org/hello").file("README.md", "Hi").issue("t")
        running.github.find("octo-org/hello").pull_request("p")  # type: ignore[union-attr]  # the double has it
        yield running


def asked(there: Double, call: Any) -> None:
    """Run a call whatever becomes of it, and look at what was requested."""
    there.journal.clear()

    async def run() -> None:
        token = Secret(there.github.token("octocat"))
        async with GitHubApi(ApiUrl.parse(there.url), token, connection=Connection(wait=_no_wait)) as api:
            try:
                await call(api)
            except CuratedError as error:
                assert error.kind != "error"

    anyio.run(run)
    assert_on_their_routes(there)


async def _no_wait(_: float) -> None:
    """A pause of no time."""


def assert_on_their_routes(there: Double) -> None:
    for one in there.journal:
        target, _, query = one.request.target.partition("?")
        assert any(re.fullmatch(route, target) for route in ROUTES), one.request.target
        assert one.method == "GET" and "#" not in one.request.target and "?" not in query
        assert all(unquote(part) not in {"", ".", ".."} for part in target.split("/")[1:])


@few
@given(repo=nasty, path=nasty, ref=maybe)
def test_a_file_is_asked_for_on_its_route(there: Double, repo: str, path: str, ref: str | None):
    async def call(api: GitHubApi) -> None:
        for name in (repo, "octo-org/hello"):
            try:
                read = RepoName.parse(name)
            except CuratedError:
                continue
            await contents.get_file(api, read, path, ref=ref)

    asked(there, call)


@few
@given(words=nasty, language=maybe, owner=maybe, repo=maybe, label=maybe, path=maybe)
def test_a_search_is_asked_for_on_its_route(there: Double, **given_: str | None):
    words = given_["words"] or ""
    narrowed = searching.IssueFilter(repo=given_["repo"], label=given_["label"], author=given_["owner"])

    async def call(api: GitHubApi) -> None:
        for search in (
            searching.search_repositories(api, words, language=given_["language"], owner=given_["owner"]),
            searching.search_code(api, words, path=given_["path"], repo=given_["repo"]),
            searching.search_issues(api, words, narrowed),
        ):
            try:
                await search
            except CuratedError:
                continue

    asked(there, call)
    for one in there.journal:
        assert set(one.query) <= {"q", "sort", "order", "per_page", "page"}
        assert one.query["per_page"] == "5"


@few
@given(number=st.integers(-5, 2**70), page=st.integers(1, 10_000), path=maybe)
def test_an_issue_and_a_pull_request_are_asked_for_on_their_routes(
    there: Double, number: int, page: int, path: str | None
):
    repo = RepoName.parse("octo-org/hello")

    async def call(api: GitHubApi) -> None:
        for read in (
            issues.get_issue(api, repo, number, page=page),
            pulls.get_pull_request(api, repo, number, path=path, page=page),
        ):
            try:
                await read
            except CuratedError:
                continue

    asked(there, call)


@few
@given(
    uri=st.one_of(
        nasty,
        nasty.map("github://repos/octo-org/hello/contents/{}".format),
        nasty.map("github://repos/{}/readme".format),
    )
)
def test_a_resource_is_asked_for_on_the_route_of_its_template(there: Double, uri: str):
    async def call(api: GitHubApi) -> None:
        name = read_uri(uri)
        if name.repo is not None and name.kind == "readme":
            await contents.get_readme(api, name.repo)
        elif name.repo is not None:
            await contents.get_file(api, name.repo, name.path)

    asked(there, call)


@pytest.mark.anyio
@pytest.mark.parametrize("text", SEED)
async def test_a_nasty_text_as_any_argument_of_any_tool_leads_nowhere_else(there: Double, text: str):
    there.journal.clear()
    async with over_memory(build(there, there.github.token("octocat")), LEGACY) as client:
        for tool in (await client.list_tools()).tools:
            properties: dict[str, Any] = tool.input_schema["properties"]
            right: dict[str, Any] = {"repo": "octo-org/hello", "path": "README.md", "query": "hello", "number": 1}
            needed = {name: right[name] for name in tool.input_schema.get("required", ())}
            for name, schema in properties.items():
                if schema.get("type") == "string" and "enum" not in schema:
                    await client.call_tool(tool.name, needed | {name: text})
    assert_on_their_routes(there)
