"""The tools that read."""

from typing import Annotated, Literal

from mcp_types import CallToolResult
from pydantic import Field

from mcp_curated_github.models import (
    Account,
    CodeHits,
    Content,
    Issue,
    IssueHits,
    PullRequest,
    RepositoryHits,
    Structure,
)
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading import accounts, contents, issues, pulls, rendering, searching
from mcp_curated_github.reading.rendering import Rendered
from mcp_curated_github.server.state import GitHub, GitHubContext, state_of
from mcp_curated_shared.security.untrusted import META_KEY, Provenance, wrap
from mcp_curated_shared.transport.replies import reply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads

Repo = Annotated[str, Field(description="owner/name")]
Page = Annotated[int, Field(ge=1, le=10_000, description="next_page of the last reply")]
Ref = Annotated[str | None, Field(min_length=1, max_length=250, description="Branch, tag or commit")]
Number = Annotated[int, Field(ge=1, description="Its number")]


def framed(rendered: Rendered, structure: Structure, removed: int | None) -> CallToolResult:
    """A result whose texts are by others: framed once, with where it is from for programs."""
    wrapped = wrap(rendered.body, Provenance(rendered.source, rendered.author))
    meta = wrapped.machine_form | {"invisibleCharactersRemoved": removed or 0}
    return reply(f"{wrapped.text}\n{rendered.after}", structure, meta={META_KEY: meta})


async def search_repos(
    query: Annotated[str, Field(description="Words to look for")],
    ctx: GitHubContext,
    language: Annotated[str | None, Field(description="Programming language")] = None,
    owner: Annotated[str | None, Field(description="Only this user's or organisation's")] = None,
    min_stars: Annotated[int | None, Field(ge=0, description="Least stars")] = None,
    sort: Annotated[Literal["best", "stars", "forks", "updated"], Field(description="Order")] = "best",
    page: Page = 1,
) -> Annotated[CallToolResult, RepositoryHits]:
    """Find repositories by words in their name, description or topics; five a page. For text in files use search_code,
    for issues search_issues."""
    found = await searching.search_repositories(
        state_of(ctx).api, query, language=language, owner=owner, min_stars=min_stars, order=sort, page=page
    )
    return framed(rendering.repositories(found, page), found, found.invisible_removed)


async def search_code(
    query: Annotated[str, Field(description="Words to look for in files")],
    ctx: GitHubContext,
    repo: Annotated[str | None, Field(description="Only in owner/name")] = None,
    owner: Annotated[str | None, Field(description="Only this user's or organisation's")] = None,
    language: Annotated[str | None, Field(description="Programming language")] = None,
    path: Annotated[str | None, Field(description="Part of the file's path")] = None,
    page: Page = 1,
) -> Annotated[CallToolResult, CodeHits]:
    """Find files on default branches by what is in them; five a page, each with an excerpt. Needs a token. Read a hit
    with get_file."""
    found = await searching.search_code(
        state_of(ctx).api, query, repo=repo, owner=owner, language=language, path=path, page=page
    )
    return framed(rendering.code(found, page), found, found.invisible_removed)


async def search_issues(
    query: Annotated[str, Field(description="Words to look for")],
    ctx: GitHubContext,
    repo: Annotated[str | None, Field(description="Only in owner/name")] = None,
    kind: Annotated[Literal["issue", "pull_request"], Field(description="Which of the two")] = "issue",
    state: Annotated[Literal["open", "closed"] | None, Field(description="Only these")] = None,
    author: Annotated[str | None, Field(description="Only by this login")] = None,
    label: Annotated[str | None, Field(description="Only with this label")] = None,
    sort: Annotated[Literal["best", "created", "updated", "comments"], Field(description="Order")] = "best",
    page: Page = 1,
) -> Annotated[CallToolResult, IssueHits]:
    """Find issues or pull requests by words; five a page, with the beginning of each text. Read one with get_issue or
    get_pull_request."""
    narrowed = searching.IssueFilter(kind=kind, repo=repo, state=state, author=author, label=label)
    found = await searching.search_issues(state_of(ctx).api, query, narrowed, order=sort, page=page)
    return framed(rendering.issues(found, page), found, found.invisible_removed)


async def get_file(
    repo: Repo,
    ctx: GitHubContext,
    path: Annotated[str, Field(max_length=4_096, description='Such as src/main.py; "" for the top folder')],
    ref: Ref = None,
    page: Page = 1,
) -> Annotated[CallToolResult, Content]:
    """Read a file of a repository, about 10 KB a page, or list a folder. Links and submodules are described, binary
    files only named. For the README get_readme is enough."""
    found = await contents.get_file(state_of(ctx).api, RepoName.parse(repo), path, ref=ref, page=page)
    return framed(rendering.content(found), found, found.invisible_removed)


async def get_readme(
    repo: Repo, ctx: GitHubContext, ref: Ref = None, page: Page = 1
) -> Annotated[CallToolResult, Content]:
    """Read the README of a repository, wherever it lies, about 10 KB a page."""
    found = await contents.get_readme(state_of(ctx).api, RepoName.parse(repo), ref=ref, page=page)
    return framed(rendering.content(found), found, found.invisible_removed)


async def get_issue(
    repo: Repo,
    ctx: GitHubContext,
    number: Number,
    comment: Annotated[int | None, Field(ge=1, description="Only this comment in full: its n")] = None,
    page: Page = 1,
) -> Annotated[CallToolResult, Issue]:
    """Read an issue, or a pull request's conversation: the body, then ten comments a page, long ones cut. For changed
    files use get_pull_request."""
    found = await issues.get_issue(state_of(ctx).api, RepoName.parse(repo), number, page=page, comment=comment)
    return framed(rendering.issue(found, page), found, found.invisible_removed)


async def get_pull_request(
    repo: Repo,
    ctx: GitHubContext,
    number: Number,
    path: Annotated[str | None, Field(max_length=4_096, description="Only the diff of this file")] = None,
    page: Page = 1,
) -> Annotated[CallToolResult, PullRequest]:
    """Read a pull request: its facts and files, then its diff page by page. Where the whole diff is too large, the
    pages list the files: give path for one of them. For the conversation use get_issue."""
    found = await pulls.get_pull_request(state_of(ctx).api, RepoName.parse(repo), number, path=path, page=page)
    return framed(rendering.pull_request(found), found, found.invisible_removed)


async def list_starred(ctx: GitHubContext, page: Page = 1) -> Annotated[CallToolResult, RepositoryHits]:
    """List the repositories that the token's account starred, newest first, ten a page. Needs a token."""
    found = await searching.list_starred(state_of(ctx).api, page=page)
    return framed(rendering.repositories(found, page, "starred repositories"), found, found.invisible_removed)


async def whoami(ctx: GitHubContext) -> Annotated[CallToolResult, Account]:
    """Tell which account this server asks as, with which scopes, and how many requests it has left."""
    found = await accounts.whoami(state_of(ctx).api)
    return reply(rendering.account(found), found)


def add_reading_tools(server: CuratedServer[GitHub]) -> None:
    """Register them."""
    for tool in (
        search_repos,
        search_code,
        search_issues,
        get_file,
        get_readme,
        get_issue,
        get_pull_request,
        list_starred,
        whoami,
    ):
        server.add_tool(tool, annotations=reads(open_world=True))
