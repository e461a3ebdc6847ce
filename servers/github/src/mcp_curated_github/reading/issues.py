"""Issues and pull requests as issues: the whole body in parts, then what was said, page by page."""

from dataclasses import dataclass
from typing import Final

from mcp_curated_github.api import Fields, GitHubApi, Tally
from mcp_curated_github.models import Comment, Issue
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading.contents import no_page
from mcp_curated_github.reading.sizes import clip, count_parts, part_of, shares, size_of
from mcp_curated_github.routes import issue, issue_comments
from mcp_curated_shared.errors import InvalidArgumentError

COMMENTS: Final = 10
"""Comments on a page."""

ISSUE_BYTES: Final = 8_000
"""Of a body and comments on one page: title, labels and names beside them may take as much as a quarter."""

_SHARED_BYTES: Final = ISSUE_BYTES // 2
"""A body, or the last part of one, that takes at most so much shares its page with the first comments."""

_LONGEST_TITLE: Final = 1_100
_MOST_NAMES: Final = 12
_NAMES_BYTES: Final = 400
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which page holds what: it follows from the body alone, so that every call finds the same."""

    parts: int
    last_is_short: bool

    @classmethod
    def of(cls, body: str) -> "_Layout":
        parts = count_parts(body, ISSUE_BYTES)
        return cls(parts, size_of(part_of(body, parts, ISSUE_BYTES)[0]) <= _SHARED_BYTES)

    def comment_page(self, page: int) -> int:
        """The page of comments on a page; below 1 for none."""
        return page - self.parts + (1 if self.last_is_short else 0)


async def get_issue(api: GitHubApi, repo: RepoName, number: int, *, page: int = 1, comment: int | None = None) -> Issue:
    """An issue or pull request, with a page of its body and of what was said.

    Args:
        api: Asks GitHub.
        repo: Where it is.
        number: Its number.
        page: Of the body and the comments; of the one comment, if that is asked for.
        comment: Only this comment, from 1, in full.

    Raises:
        InvalidArgumentError: There is no such page or comment.
        GitHubError: It is not there, or may not be read.
    """
    tally = api.tally()
    answer = await api.get_json(issue(repo, number))
    item = answer.fields(tally)
    found = _facts(item, repo)
    if answer.renamed_to is not None:
        found.renamed_to = str(answer.renamed_to)
    where = answer.renamed_to or repo
    if comment is not None:
        await _one_comment(api, where, found, comment, page, tally)
    else:
        await _page(api, where, found, item.text("body"), page, tally)
    found.invisible_removed = tally.removed or None
    return found


def _facts(item: Fields, repo: RepoName) -> Issue:
    labels = _names([one.text("name") for one in item.items("labels")[:_MOST_NAMES]])
    assignees = _names([one.text("login") for one in item.items("assignees")[:_MOST_NAMES]])
    return Issue(
        repo=str(repo),
        number=item.number("number"),
        title=clip(item.text("title"), _LONGEST_TITLE)[0],
        state=item.text("state"),
        author=clip(item.login(), _LONGEST_NAME)[0],
        association=item.text("author_association"),
        created=item.text("created_at"),
        updated=item.text("updated_at"),
        is_pull_request=True if "pull_request" in item else None,
        labels=labels or None,
        assignees=assignees or None,
        comment_count=item.number("comments"),
        comments=[],
    )


def _names(names: list[str]) -> list[str]:
    given = shares([size_of(one) for one in names], _NAMES_BYTES)
    return [clip(one, most)[0] for one, most in zip(names, given, strict=True)]


async def _page(api: GitHubApi, repo: RepoName, found: Issue, body: str, page: int, tally: Tally) -> None:
    layout = _Layout.of(body)
    room = ISSUE_BYTES
    if page <= layout.parts:
        found.body, _ = part_of(body, page, ISSUE_BYTES)
        found.body_part = f"{page} of {layout.parts}" if layout.parts > 1 else None
        room -= size_of(found.body)
    comment_page = layout.comment_page(page)
    more = False
    if comment_page >= 1 and found.comment_count:
        more = await _comments(api, repo, found, comment_page, room, tally)
    if page > layout.parts and not found.comments:
        raise no_page(page)
    more = more or page < layout.parts or (comment_page < 1 and found.comment_count > 0)
    found.next_page = page + 1 if more else None


async def _comments(api: GitHubApi, repo: RepoName, found: Issue, page: int, room: int, tally: Tally) -> bool:
    """Put a page of comments in; whether there are more of them."""
    answer = await api.get_json(issue_comments(repo, found.number, per_page=COMMENTS, page=page))
    items = answer.items(tally)[:COMMENTS]
    bodies = [one.text("body") for one in items]
    given = shares([size_of(body) for body in bodies], room)
    first = (page - 1) * COMMENTS + 1
    found.comments = [_comment(one, first + index, given[index]) for index, one in enumerate(items)]
    if any(one.truncated for one in found.comments):
        found.note = "Comments are cut; comment=n gives one in full."
    return answer.next_page is not None


def _comment(item: Fields, n: int, most: int) -> Comment:
    body, cut = clip(item.text("body"), most)
    return Comment(
        n=n,
        author=clip(item.login(), _LONGEST_NAME)[0],
        association=item.text("author_association"),
        created=item.text("created_at"),
        body=body,
        truncated=cut or None,
    )


async def _one_comment(api: GitHubApi, repo: RepoName, found: Issue, n: int, page: int, tally: Tally) -> None:
    """Put one comment in, in parts if it is long: the only page that has its place for a number."""
    answer = await api.get_json(issue_comments(repo, found.number, per_page=1, page=n))
    items = answer.items(tally)[:1]
    if not items:
        raise InvalidArgumentError(
            f"There is no comment {n}; the last is {found.comment_count}.", "Give comment the n of one that was listed."
        )
    whole = items[0].text("body")
    shown, more = part_of(whole, page, ISSUE_BYTES)
    if not shown and page > 1:
        raise no_page(page)
    made = _comment(items[0], n, ISSUE_BYTES)
    made.body, made.truncated = shown, more or page > 1 or None
    found.comments = [made]
    found.next_page = page + 1 if more else None
