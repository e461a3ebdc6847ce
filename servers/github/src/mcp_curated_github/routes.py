"""Every URL that is requested, built in one function from segments that cannot leave their place.

A path that is pasted together lets an argument choose another one: `../../user/emails` as a file, `hello?x=` as a
repository (reproduced on the archived official server, modelcontextprotocol/servers#4492). Here each argument is one
segment, or for a file's path one segment for each of its parts, quoted whole; `.` and `..`, which quoting leaves as
they are, are refused. So for any argument the path has the segments of its route.
"""

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, urlencode

from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.names import RepoName
from mcp_curated_shared.errors import InvalidArgumentError

Query = tuple[tuple[str, str], ...]

SearchKind = Literal["repositories", "code", "issues"]

_LARGEST_NUMBER: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Route:
    """One thing to ask for.

    Attributes:
        template: The operation's path in GitHub's description; holds no argument, so that it may be recorded.
        segments: The path below the API's base, each one unquoted.
        query: Parameters, unquoted.
        repo: The repository that is asked about, where the path names one.
    """

    template: str
    segments: tuple[str, ...]
    query: Query = ()
    repo: RepoName | None = None


def build_url(api: ApiUrl, segments: tuple[str, ...], query: Query = ()) -> str:
    """The URL of these segments: the only function that makes one.

    Raises:
        InvalidArgumentError: A segment is empty, `.` or `..`, or a text that no URL can carry.
    """
    for segment in segments:
        if segment in {"", ".", ".."}:
            raise InvalidArgumentError(
                'A path has a part that is empty, "." or "..".', 'Write it from the top, like "docs/index.md".'
            )
    try:
        path = "".join(f"/{quote(segment, safe='')}" for segment in segments)
        tail = f"?{urlencode(query, quote_via=quote, safe='')}" if query else ""
    except UnicodeEncodeError:  # half a character (a lone surrogate)
        raise InvalidArgumentError("An argument holds half a character.", "Write it again.") from None
    return f"{api}{path}{tail}"


def repository(repo: RepoName) -> Route:
    """The repository itself."""
    return _in(repo, "")


def repository_by_id(number: int) -> Route:
    """The repository that has this id, whatever it is called now."""
    return Route("/repositories/{id}", ("repositories", _number(number)))


def readme(repo: RepoName, ref: str | None = None) -> Route:
    """The README that GitHub would show."""
    return _in(repo, "/readme", ("readme",), _given(ref=ref))


def contents(repo: RepoName, path: str, ref: str | None = None) -> Route:
    """What lies at a path; the top of the repository for an empty one."""
    trimmed = path.removeprefix("/").removesuffix("/")
    parts = tuple(trimmed.split("/")) if trimmed else ()
    return _in(repo, "/contents/{path}", ("contents", *parts), _given(ref=ref))


def issue(repo: RepoName, number: int) -> Route:
    """An issue, or a pull request as an issue."""
    return _in(repo, "/issues/{issue_number}", ("issues", _number(number)))


def issues(repo: RepoName, **query: str | int | None) -> Route:
    """The issues of a repository; a POST there opens one."""
    return _in(repo, "/issues", ("issues",), _given(**query))


def issue_comments(repo: RepoName, number: int, **query: str | int | None) -> Route:
    """What is said in an issue; a POST there says something."""
    segments = ("issues", _number(number), "comments")
    return _in(repo, "/issues/{issue_number}/comments", segments, _given(**query))


def pull_request(repo: RepoName, number: int) -> Route:
    """A pull request."""
    return _in(repo, "/pulls/{pull_number}", ("pulls", _number(number)))


def pull_request_files(repo: RepoName, number: int, **query: str | int | None) -> Route:
    """The changed files of a pull request."""
    return _in(repo, "/pulls/{pull_number}/files", ("pulls", _number(number), "files"), _given(**query))


def search(kind: SearchKind, **query: str | int | None) -> Route:
    """A search."""
    return Route(f"/search/{kind}", ("search", kind), _given(**query))


def starred(**query: str | int | None) -> Route:
    """What the token's account starred."""
    return Route("/user/starred", ("user", "starred"), _given(**query))


def user() -> Route:
    """The token's account."""
    return Route("/user", ("user",))


def rate_limit() -> Route:
    """What is left of the limits; asking costs nothing."""
    return Route("/rate_limit", ("rate_limit",))


def _in(repo: RepoName, template: str, segments: tuple[str, ...] = (), query: Query = ()) -> Route:
    return Route(f"/repos/{{owner}}/{{repo}}{template}", ("repos", repo.owner, repo.name, *segments), query, repo)


def _number(number: int) -> str:
    if not 0 < number <= _LARGEST_NUMBER:
        raise InvalidArgumentError(f"{number} is the number of nothing.", "Give one from 1.")
    return str(number)


def _given(**query: str | int | None) -> Query:
    return tuple((name, str(value)) for name, value in query.items() if value is not None)
