"""Answers that are not what GitHub's description says: a proxy's, a broken server's, a liar's."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import anyio
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api import Connection, GitHubApi
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading import accounts, contents, issues, pulls, searching
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.settings import Secret
from tests.github.double import Double, faults, serve

REPO: Final = RepoName.parse("octo-org/hello")
READS: Final[dict[str, Callable[[GitHubApi], Awaitable[object]]]] = {
    "repos/get-content": lambda api: contents.get_file(api, REPO, "a.md"),
    "repos/get-readme": lambda api: contents.get_readme(api, REPO),
    "issues/get": lambda api: issues.get_issue(api, REPO, 1),
    "issues/list-comments": lambda api: issues.get_issue(api, REPO, 1),
    "pulls/get": lambda api: pulls.get_pull_request(api, REPO, 2, path="a.py"),
    "pulls/list-files": lambda api: pulls.get_pull_request(api, REPO, 2),
    "search/repos": lambda api: searching.search_repositories(api, "hello"),
    "search/code": lambda api: searching.search_code(api, "hello"),
    "search/issues-and-pull-requests": lambda api: searching.search_issues(api, "hello", searching.IssueFilter()),
    "activity/list-repos-starred-by-authenticated-user": searching.list_starred,
    "users/get-authenticated": accounts.whoami,
    "rate-limit/get": accounts.whoami,
}
KEYS: Final = tuple(
    [
        "items",
        "total_count",
        "full_name",
        "title",
        "body",
        "user",
        "login",
        "type",
        "content",
        "encoding",
        "entries",
        "repo",
        "labels",
        "name",
        "path",
        "size",
        "text_matches",
        "fragment",
        "number",
        "head",
        "patch",
        "filename",
        "resources",
        "core",
        "repository_url",
        "repository",
        "incomplete_results",
        "stargazers_count",
        "comments",
        "submodule_git_url",
        "target",
    ]
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 2**70), st.floats(allow_nan=False), st.text(max_size=8),
    st.sampled_from(["file", "dir", "none", "base64", "\ud800", "a/b", "https://x/repos/a/b"]),
)  # fmt: skip
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)),
    max_leaves=12,
)


async def _no_wait(_: float) -> None:
    """A pause of no time."""


@pytest.fixture(scope="module")
def there() -> Iterator[Double]:
    with serve() as running:
        repository = running.github.repository("octo-org/hello").file("README.md", "Hi").file("a.md", "hello")
        repository.issue("hello", comments=["c"])
        repository.pull_request("p")
        yield running


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(document={"type": "file", "encoding": "base64", "content": "!"})
@example(document={"type": "file", "encoding": "none", "content": ""})
@example(document={"items": [{"full_name": "a/b", "stargazers_count": True}]})
@given(document=documents)
@pytest.mark.parametrize("operation", list(READS))
def test_an_answer_of_another_form_is_told_or_read_and_never_a_crash(there: Double, operation: str, document: Any):
    async def run() -> None:
        there.faults.clear()
        there.faults.on(operation, faults.not_json(json.dumps(document).encode(), "application/json"))
        token = Secret(there.github.token("octocat"))
        async with GitHubApi(ApiUrl.parse(there.url), token, connection=Connection(wait=_no_wait)) as api:
            try:
                await READS[operation](api)
            except CuratedError as error:
                assert error.kind in {"bad_response", "invalid_argument", "not_found", "not_found_or_hidden"}

    anyio.run(run)


def test_every_operation_that_is_read_is_here(there: Double):
    from tests.github.double.routes import HANDLERS

    assert set(READS) == set(HANDLERS) - {"repos/get", "issues/create", "issues/create-comment", "issues/list-for-repo"}
    assert there.violations == []
