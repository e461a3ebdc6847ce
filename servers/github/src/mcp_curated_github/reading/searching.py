"""Searches, and what the account starred: a page of hits in few bytes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mcp_curated_github.api import Answer, Fields, GitHubApi, Tally
from mcp_curated_github.api.media import STARRED, TEXT_MATCH
from mcp_curated_github.models import (
    CodeHit,
    CodeHits,
    IssueHit,
    IssueHits,
    RepositoryHit,
    RepositoryHits,
    Structure,
)
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading import queries
from mcp_curated_github.reading.rendering import repository_line
from mcp_curated_github.reading.sizes import clip, shares, size_of
from mcp_curated_github.routes import SearchKind, search, starred
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError

HITS: Final = 5
STARS: Final = 10
MOST_RESULTS: Final = 1_000
"""GitHub gives the first thousand of a search."""

HIT_BYTES: Final = 300
"""Of one hit of a search; GitHub's own are around 5,000."""

_PAGE_BYTES: Final = 1_560
"""Of five repositories in both forms of a reply, which stays below 2 KB with its frame."""

_STARS_BYTES: Final = 2_000
_LEAST_TITLE: Final = 40
_SHORTEST_TEXT: Final = 12
_LONGEST_NAME: Final = 60
_LONGEST_PATH: Final = 300

RepositoryOrder = Literal["best", "stars", "forks", "updated"]
IssueOrder = Literal["best", "created", "updated", "comments"]
IssueKind = Literal["issue", "pull_request"]
IssueState = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """What narrows a search for issues."""

    kind: IssueKind = "issue"
    repo: str | None = None
    state: IssueState | None = None
    author: str | None = None
    label: str | None = None

    def qualifiers(self) -> tuple[str, ...]:
        """As GitHub's search takes them, without the place."""
        found = ["is:issue" if self.kind == "issue" else "is:pr"]
        if self.state is not None:
            found.append(f"state:{self.state}")
        if self.author is not None:
            found.append(queries.author(self.author))
        if self.label is not None:
            found.append(queries.phrase("label", self.label))
        return tuple(found)


async def search_repositories(
    api: GitHubApi,
    words: str,
    *,
    language: str | None = None,
    owner: str | None = None,
    min_stars: int | None = None,
    order: RepositoryOrder = "best",
    page: int = 1,
) -> RepositoryHits:
    """Find repositories.

    Raises:
        InvalidArgumentError: The search cannot be made of these arguments.
        GitHubError: GitHub refuses it.
    """
    qualifiers = [*queries.places(api.readable, owner=owner)]
    if language is not None:
        qualifiers.append(queries.language(language))
    if min_stars is not None:
        qualifiers.append(f"stars:>={min_stars}")
    found = await _search(api, "repositories", queries.build_query(words, qualifiers, api.readable), order, page)
    hits = [repository_hit(one) for one in found.readable(api, lambda one: one.text("full_name"))]
    _share_descriptions(hits, _PAGE_BYTES)
    return RepositoryHits(
        total=found.total,
        incomplete=found.incomplete,
        next_page=found.next_page,
        invisible_removed=found.removed,
        hits=hits,
    )


async def search_code(
    api: GitHubApi,
    words: str,
    *,
    repo: str | None = None,
    owner: str | None = None,
    language: str | None = None,
    path: str | None = None,
    page: int = 1,
) -> CodeHits:
    """Find files on default branches by what they hold.

    Raises:
        InvalidArgumentError: The search cannot be made of these arguments.
        GitHubError: There is no token, or GitHub refuses it.
    """
    api.needs_token("A search of code")
    qualifiers = [*queries.places(api.readable, repo=repo, owner=owner)]
    if language is not None:
        qualifiers.append(queries.language(language))
    if path is not None:
        qualifiers.append(queries.phrase("path", path))
    query = queries.build_query(words, qualifiers, api.readable)
    found = await _search(api, "code", query, "best", page, TEXT_MATCH)
    items = found.readable(api, lambda one: repo_of(one.inner("repository")))
    hits = [_code_hit(one) for one in items]
    return CodeHits(
        total=found.total,
        incomplete=found.incomplete,
        next_page=found.next_page,
        invisible_removed=found.removed,
        hits=hits,
    )


async def search_issues(
    api: GitHubApi, words: str, narrowed: IssueFilter, *, order: IssueOrder = "best", page: int = 1
) -> IssueHits:
    """Find issues or pull requests.

    Raises:
        InvalidArgumentError: The search cannot be made of these arguments.
        GitHubError: GitHub refuses it.
    """
    places = queries.any_of(queries.places(api.readable, repo=narrowed.repo))
    query = queries.build_query(words, (*places, *narrowed.qualifiers()), api.readable, grouped=True)
    found = await _search(api, "issues", query, order, page)
    items = found.readable(api, lambda one: repo_of_url(one.text("repository_url")))
    hits = [_issue_hit(one) for one in items]
    return IssueHits(
        total=found.total,
        incomplete=found.incomplete,
        next_page=found.next_page,
        invisible_removed=found.removed,
        hits=hits,
    )


async def list_starred(api: GitHubApi, *, page: int = 1, per_page: int = STARS) -> RepositoryHits:
    """What the token's account starred, the newest star first.

    Raises:
        GitHubError: There is no token, or GitHub refuses it.
    """
    api.needs_token("The list of starred repositories")
    answer = await api.get_json(starred(per_page=per_page, page=page), STARRED)
    tally = api.tally()
    hits: list[RepositoryHit] = []
    for one in answer.items(tally)[:per_page]:
        repository = one.inner("repo") or one
        name = _name(repository.text("full_name"))
        if name is None or not api.may_read(name):
            continue
        hit = repository_hit(repository)
        hit.starred = one.text("starred_at")[:10] or None
        hits.append(hit)
    _share_descriptions(hits, _PAGE_BYTES + _STARS_BYTES)
    return RepositoryHits(next_page=answer.next_page, hits=hits, invisible_removed=tally.removed or None)


@dataclass(frozen=True, slots=True)
class _Found:
    """One page of a search."""

    items: Sequence[Fields]
    total: int | None
    incomplete: bool | None
    next_page: int | None
    tally: Tally

    @property
    def removed(self) -> int | None:
        return self.tally.removed or None

    def readable(self, api: GitHubApi, name_of: Callable[[Fields], str]) -> list[Fields]:
        """The hits in repositories that may be read; one without a name of a repository is none."""
        found: list[Fields] = []
        for one in self.items:
            name = _name(name_of(one))
            if name is not None and api.may_read(name):
                found.append(one)
        return found


async def _search(
    api: GitHubApi, kind: SearchKind, query: str, order: str, page: int, accept: str | None = None
) -> _Found:
    if (page - 1) * HITS >= MOST_RESULTS:
        raise InvalidArgumentError(
            f"GitHub gives the first {MOST_RESULTS:,} results of a search.", "Search for something more exact."
        )
    sort = None if order == "best" else order
    route = search(kind, q=query, sort=sort, order="desc" if sort else None, per_page=HITS, page=page)
    answer = await (api.get_json(route) if accept is None else api.get_json(route, accept))
    return _found(api, answer)


def _found(api: GitHubApi, answer: Answer) -> _Found:
    tally = api.tally()
    document = answer.fields(tally)
    # Where only some repositories may be read, the count could tell of the others.
    total = document.number("total_count") if api.readable is None else None
    items = document.items("items")[:HITS]
    return _Found(items, total, document.flag("incomplete_results") or None, answer.next_page, tally)


def repository_hit(one: Fields) -> RepositoryHit:
    """The few fields of a repository that a reader needs to choose it."""
    return RepositoryHit(
        repo=one.text("full_name"),
        description=one.optional_text("description"),
        stars=one.number("stargazers_count"),
        language=one.optional_text("language"),
        updated=(one.text("pushed_at") or one.text("updated_at"))[:10] or None,
        private=one.flag("private") or None,
        archived=one.flag("archived") or None,
    )


def _share_descriptions(hits: Sequence[RepositoryHit], both_forms: int) -> None:
    """Cut the descriptions so that all hits fit, the short ones last."""
    descriptions = [hit.description or "" for hit in hits]
    for hit in hits:
        hit.description = None
    facts = sum(_size(hit) + size_of(repository_line(hit)) + _KEY_BYTES for hit in hits)
    room = max(0, both_forms - facts) // 2
    given = shares(
        [min(size_of(one), HIT_BYTES - _size(hit) - _KEY_BYTES) for one, hit in zip(descriptions, hits, strict=True)],
        room,
    )
    for hit, description, most in zip(hits, descriptions, given, strict=True):
        hit.description = clip(description, most)[0] or None


_KEY_BYTES: Final = len('"description":"",') + 4


def _size(hit: Structure) -> int:
    return len(hit.model_dump_json(exclude_none=True).encode("utf-8", "surrogatepass"))


def _code_hit(item: Fields) -> CodeHit:
    hit = CodeHit(repo=repo_of(item.inner("repository")), path=clip(item.text("path"), _LONGEST_PATH)[0])
    text = next((text for match in item.items("text_matches") if (text := match.text("fragment"))), "")
    room = HIT_BYTES - _size(hit) - _KEY_BYTES
    hit.text = clip(text, room)[0] if text and room >= _SHORTEST_TEXT else None
    return hit


def _issue_hit(one: Fields) -> IssueHit:
    hit = IssueHit(
        repo=repo_of_url(one.text("repository_url")),
        number=one.number("number"),
        title="",
        state=one.text("state"),
        author=clip(one.login(), _LONGEST_NAME)[0],
        association=one.text("author_association"),
        updated=one.text("updated_at")[:10],
        comments=one.number("comments"),
        is_pull_request=True if "pull_request" in one else None,
        truncated=True,
    )
    room = HIT_BYTES - _size(hit)
    hit.title, title_cut = clip(one.text("title"), max(room, _LEAST_TITLE))
    body = " ".join(one.text("body")[: 4 * HIT_BYTES].split())
    room -= size_of(hit.title) + len('"text":"",')
    hit.text = clip(body, room)[0] if body and room >= _SHORTEST_TEXT else None
    hit.truncated = title_cut or hit.text != (one.text("body") or None) or None
    return hit


def repo_of(repository: Fields | None) -> str:
    """The full name in a repository's object; empty where there is none."""
    return "" if repository is None else repository.text("full_name")


def repo_of_url(url: str) -> str:
    """`owner/name` of `https://api.github.com/repos/owner/name`; empty where it is no such URL."""
    return "/".join(url.rsplit("/", 3)[2:]) if "/repos/" in url else ""


def _name(text: str) -> RepoName | None:
    try:
        return RepoName.parse(text)
    except CuratedError:
        return None
