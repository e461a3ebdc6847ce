"""Sending a write: one POST, never a second one; where its answer is lost, what it wrote is looked for."""

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, cast

import anyio

from mcp_curated_github.api import Answer, Fields, GitHubApi, Tally, UnansweredError
from mcp_curated_github.errors import GitHubError, one_line
from mcp_curated_github.reading.sizes import clip
from mcp_curated_github.routes import issue_comments, issues, user
from mcp_curated_github.writing.planning import Write
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError
from mcp_curated_shared.security.confirmation import UnknownOutcomeError

LOOK_AFTER_SECONDS: Final = (0.0, 2.0)
"""When to look for what was written: at once, and once more for a write that was still under way."""

LOST_ANSWER: Final = "GitHub's answer to the write was lost; this was found by its author and text."
LOOK_SECONDS: Final = 15.0
"""How long one look may take: with the POST, two looks stay below the minute after which some hosts give a call up."""

_SLACK_SECONDS: Final = 300.0
"""How far the clocks of this machine and of GitHub may differ."""

_LONGEST_NAMES: Final = 600
_PAGE: Final = 100
_MOST_PAGES: Final = 5

Wait = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        number: Of the issue.
        url: Where a person sees it.
        warnings: What is not as it was asked for.
    """

    number: int
    url: str
    warnings: tuple[str, ...] = ()

    def stored(self) -> str:
        """As the ledger keeps it."""
        return json.dumps({"number": self.number, "url": self.url, "warnings": self.warnings})

    @classmethod
    def read(cls, text: str) -> "Written":
        """What `stored` made."""
        found = cast("Mapping[str, object]", json.loads(text))
        warnings = cast("list[str]", found["warnings"])
        return cls(cast("int", found["number"]), cast("str", found["url"]), tuple(warnings))


async def send(api: GitHubApi, write: Write, *, wait: Wait = anyio.sleep) -> Written:
    """Post it.

    Raises:
        GitHubError: GitHub refuses it; nothing was written.
        UnknownOutcomeError: It was sent, and neither an answer nor a look tells whether it was written.
    """
    begun = time.time()
    try:
        return _written(await api.send(write.route, write.draft.document), write)
    except CuratedError as error:
        if _surely_refused(error):
            raise
        reason = error.text
    for seconds in LOOK_AFTER_SECONDS:
        if seconds:
            await wait(seconds)
        found = await find(api, write, since=begun)
        if found is not None:
            return found
    where = "in the issue" if write.number is not None else "among the repository's issues"
    raise UnknownOutcomeError(
        f"It was sent once, and nobody can say whether it was written: {reason} It was looked for {where} and not"
        " found; it is not sent again.",
        "Look there later. The same text is not sent again within 24 hours.",
    )


def _surely_refused(error: CuratedError) -> bool:
    """Whether nothing was written: it was never sent, or GitHub's answer says no."""
    if isinstance(error, GitHubError):
        return not isinstance(error, UnansweredError | UnreadableError)
    return isinstance(error, InvalidArgumentError | NotAllowedError) or error.kind == "certificate"


class UnreadableError(GitHubError):
    """GitHub said that it was written, and not what."""

    def __init__(self, reason: str) -> None:
        super().__init__("bad_response", reason, "Look before trying again.")


def _written(answer: Answer, write: Write) -> Written:
    try:
        return _told(answer.fields(Tally(answer.hide)), write)
    except GitHubError as error:  # a success is a success, whatever came with it: a repetition would write twice
        raise UnreadableError(error.text) from None


def _told(found: Fields, write: Write) -> Written:
    number = found.number("number") if write.number is None else write.number
    url = one_line(found.text("html_url"), 400)
    if number < 1 or not url:
        raise UnreadableError("GitHub's answer does not tell what was written.")
    return Written(number, url, tuple(_differences(found, write)))


def _differences(found: Fields, write: Write) -> Iterator[str]:
    """What GitHub left out: labels of an author who may not set any (github-mcp-server PR #2413)."""
    asked = write.draft.labels or ()
    have = {label.text("name").lower() for label in found.items("labels")}
    missing = [label for label in asked if label.lower() not in have]
    if missing:
        named = clip(", ".join(missing), _LONGEST_NAMES)[0]
        yield f"These labels were not set, since the token's account may not: {named}."


def earliest(remembered_seconds: float) -> float:
    """When a write that is still remembered can have been sent at the earliest, in seconds since 1970."""
    return time.time() - remembered_seconds


async def find(api: GitHubApi, write: Write, *, since: float) -> Written | None:
    """Look for what a write may have written: by this account, with this very text.

    Args:
        api: Asks GitHub.
        write: What was sent.
        since: When it was sent at the earliest, in seconds since 1970.

    Returns:
        What was found; None where it is not there, or cannot be looked for.
    """
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since - _SLACK_SECONDS))
    found: Written | None = None
    with anyio.move_on_after(LOOK_SECONDS), suppress(CuratedError):
        login = await _own_login(api)
        if write.number is None:
            found = await _find_issue(api, write, moment, login)
        else:
            found = await _find_comment(api, write, write.number, moment, login)
    return None if found is None else replace(found, warnings=(LOST_ANSWER, *found.warnings))


async def _own_login(api: GitHubApi) -> str | None:
    """The token's account; None for an installation, which is none."""
    try:
        return (await api.get_json(user())).fields(Tally()).text("login") or None
    except GitHubError as error:
        if error.kind in {"forbidden", "not_found_or_hidden"}:
            return None
        raise


async def _find_issue(api: GitHubApi, write: Write, moment: str, login: str | None) -> Written | None:
    for page in range(1, _MOST_PAGES + 1):
        route = issues(
            write.target.repo,
            creator=login,
            state="all",
            sort="created",
            direction="desc",
            since=moment,
            per_page=_PAGE,
            page=page,
        )
        answer = await api.get_json(route, scoped=False)
        for found in answer.items(Tally()):
            if found.raw_text("title").strip() == write.draft.title and _is_it(found, write, moment, login):
                return _told(found, write)
        if answer.next_page is None:
            break
    return None


async def _find_comment(api: GitHubApi, write: Write, number: int, moment: str, login: str | None) -> Written | None:
    for page in range(1, _MOST_PAGES + 1):
        route = issue_comments(write.target.repo, number, since=moment, per_page=_PAGE, page=page)
        answer = await api.get_json(route, scoped=False)
        for found in answer.items(Tally()):
            if _is_it(found, write, moment, login):
                return _told(found, write)
        if answer.next_page is None:
            break
    return None


def _is_it(found: Fields, write: Write, moment: str, login: str | None) -> bool:
    author = found.inner("user")
    if author is None or found.text("created_at") < moment:
        return False
    mine = author.text("type") == "Bot" if login is None else author.text("login").lower() == login.lower()
    return mine and _plain(found.raw_text("body")) == _plain(write.draft.body)


def _plain(body: str) -> str:
    """A body as GitHub may give it back: with other line breaks, or without white space at its end."""
    return body.replace("\r\n", "\n").rstrip()
