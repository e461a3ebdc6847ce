"""The one client of GitHub's API: reads that are asked again once, writes that never are.

The token goes to one exact origin and nowhere else: `Credential` attaches it, no redirect leaves that origin, and it is
hidden in whatever comes back.
"""

import json
import random
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from mcp_curated_github.addresses import DEFAULT, ApiUrl
from mcp_curated_github.api.answers import Answer, RenamedError, UnansweredError
from mcp_curated_github.api.connection import Connection, hiding, open_client, request
from mcp_curated_github.api.fields import Tally
from mcp_curated_github.api.media import JSON
from mcp_curated_github.api.moves import astray, leads_to, repo_name, repository_at
from mcp_curated_github.api.reads import Reads
from mcp_curated_github.errors import GitHubError, Refusal, asked_seconds, failure_of, no_token
from mcp_curated_github.names import RepoName
from mcp_curated_github.routes import Route, build_url, repository_by_id
from mcp_curated_shared.errors import CuratedError, NotAllowedError
from mcp_curated_shared.security.allowlist import Allowlist
from mcp_curated_shared.security.egress import Target
from mcp_curated_shared.settings import Secret

if TYPE_CHECKING:  # the HTTP library is loaded by the first request: a host starts every server at once
    from mcp_curated_shared.transport.http_client import BodyForm, HttpClient, HttpRequest, HttpResponse

LONGEST_WAIT_SECONDS: Final = 10.0
"""The longest pause that GitHub may ask of a read and that is waited here, once."""

_MOST_REDIRECTS: Final = 3
_JITTER_SECONDS: Final = (0.2, 1.0)
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NO_ANSWER: Final = frozenset({"timed_out", "unreachable", "bad_response"})
"""Kinds of errors of the way there and back: what became of the request is not known."""

_chance = random.SystemRandom()


class GitHubApi:
    """Asks one GitHub. An async context manager; belongs to the event loop that first used it.

    Args:
        api: Where it is.
        token: Sent to exactly that origin; None to ask without.
        connection: How to get there.
        readable: The only repositories that may be read; None for every one that can be seen.
    """

    def __init__(
        self,
        api: ApiUrl = DEFAULT,
        token: Secret | None = None,
        *,
        connection: Connection | None = None,
        readable: Allowlist | None = None,
    ) -> None:
        self.api = api
        self.readable = readable
        self.reads = Reads()
        self._token = token
        self._connection = connection or Connection()
        self._hide = hiding(token)
        self._kept: HttpClient | None = None
        if self._connection.ca_file is not None:  # a file that cannot be used stops the start
            self._kept = open_client(self.api, self._token, self._connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        if self._kept is not None:
            await self._kept.aclose()

    @property
    def has_token(self) -> bool:
        """Whether it asks as an account."""
        return self._token is not None

    def tally(self) -> Tally:
        """What cleans the texts of one call."""
        return Tally(self._hide)

    def needs_token(self, what: str) -> None:
        """Refuse what only an account can do, before anything is sent.

        Raises:
            GitHubError: There is no token (`no_token`).
        """
        if self._token is None:
            raise no_token(what)

    def may_read(self, repo: RepoName) -> bool:
        """Whether the operator lets this repository be read."""
        return self.readable is None or self.readable.allows(str(repo))

    def check_readable(self, repo: RepoName) -> None:
        """Refuse a repository that the operator does not let be read.

        Raises:
            NotAllowedError: GITHUB_READ_REPOS does not name it.
        """
        if not self.may_read(repo):
            raise NotAllowedError(
                f"{repo} is not among the repositories that may be read here.",
                "Only the operator can add it (GITHUB_READ_REPOS).",
            )

    async def get_json(self, route: Route, accept: str = JSON, *, scoped: bool = True) -> Answer:
        """Read something whose answer is JSON.

        Args:
            route: What.
            accept: The media type that is asked for.
            scoped: Whether GITHUB_READ_REPOS decides; False only for what this server itself must know, such as the
                visibility of a repository that it may write to.

        Raises:
            NotAllowedError: The repository, or the one that it was renamed to, may not be read.
            GitHubError: GitHub refuses; see `errors`.
            CuratedError: The way there or back failed.
        """
        return await self._get(route, accept, None, "whole", scoped)

    async def get_raw(self, route: Route, accept: str, *, most_bytes: int) -> Answer:
        """Read bytes, at most so many; `cut` tells whether there were more.

        Raises:
            CuratedError: As `get_json`.
        """
        return await self._get(route, accept, most_bytes, "partial", True)

    async def send(self, route: Route, document: Mapping[str, object]) -> Answer:
        """Write: one POST on a connection of its own, never repeated and never redirected.

        Raises:
            RenamedError: The repository has another name; nothing was written.
            UnansweredError: It may have been written.
            GitHubError: GitHub refuses; nothing was written.
        """
        self.needs_token("Writing")
        url = build_url(self.api, route.segments, route.query)
        body = json.dumps(dict(document), ensure_ascii=False).encode()
        headers = (("Accept", JSON), ("Content-Type", "application/json"))
        # A connection that waited for its next request may be closed by now; whether a request on it arrived cannot be
        # told. And what was written was looked through by the caller, who showed it to a person as it is.
        async with open_client(self.api, self._token, self._connection, writes=True) as client:
            try:
                answer = await client.send(request(url, "POST", headers=headers, content=body))
            except CuratedError as error:
                if error.kind not in _NO_ANSWER:
                    raise
                raise UnansweredError(error.text) from None
        if answer.status in _REDIRECTS:
            raise RenamedError(route.repo, await self._new_name(answer))
        if answer.status >= 500:
            raise UnansweredError(f"{self.api.host} failed with status {answer.status}.")
        return self._success(answer, None)

    async def _get(self, route: Route, accept: str, most_bytes: int | None, form: "BodyForm", scoped: bool) -> Answer:
        if scoped and route.repo is not None:
            self.check_readable(route.repo)
        url = build_url(self.api, route.segments, route.query)
        renamed: RepoName | None = None
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._ask(request(url, headers=(("Accept", accept),), body=form, body_bytes=most_bytes))
            location = answer.headers.get("location") if answer.status in _REDIRECTS else None
            if location is None:
                found = self._success(answer, renamed)
                if scoped:
                    self.reads.note(route, found.body if form == "whole" else b"")
                return found
            target = leads_to(self.api, url, location)
            renamed = await self._name_at(target) or renamed
            if scoped and self.readable is not None:
                self._check_redirect(renamed)
            url = target.url
        raise astray(f"{self.api.host} redirects more than {_MOST_REDIRECTS} times.")

    async def _ask(self, request: "HttpRequest") -> "HttpResponse":
        """One read, asked again once after a failure, and once after a short wait that GitHub asked for."""
        failed = waited = False
        if self._kept is None:
            self._kept = open_client(self.api, self._token, self._connection)
        while True:
            try:
                answer = await self._kept.send(request)
            except CuratedError as error:
                if failed or error.kind not in _NO_ANSWER:
                    raise
            else:
                pause = None if waited else _asked_pause(answer, self._connection.now())
                if pause is not None:
                    waited = True
                    await self._connection.wait(pause)
                    continue
                if answer.received == "broken":  # a part of a file must not pass for the file
                    if failed:
                        raise _broken(self.api.host)
                elif answer.status < 500 or failed:
                    return answer
            failed = True
            await self._connection.wait(_chance.uniform(*_JITTER_SECONDS))

    def _success(self, answer: "HttpResponse", renamed: RepoName | None) -> Answer:
        if 200 <= answer.status < 300:
            return Answer(answer.status, answer.headers, answer.body, answer.received == "cut", renamed, self._hide)
        refusal = Refusal.of(answer, host=self.api.host, with_token=self.has_token, now=self._connection.now())
        raise self._hidden(failure_of(refusal))

    def _hidden(self, error: GitHubError) -> GitHubError:
        """The error without this server's token, should an answer have repeated it."""
        error.text, error.next_step = self._hide(error.text), self._hide(error.next_step)
        error.args = (error.text, error.next_step)
        return error

    async def _name_at(self, target: Target) -> RepoName | None:
        """The name of the repository that a redirect leads to; None where it leads to none."""
        found = repository_at(self.api, target)
        if not isinstance(found, int):
            return found
        url = build_url(self.api, repository_by_id(found).segments)
        answer = await self._ask(request(url, headers=(("Accept", JSON),)))
        return repo_name(self._success(answer, None).fields(self.tally()).text("full_name"))

    async def _new_name(self, answer: "HttpResponse") -> RepoName | None:
        """The name behind the redirect of a write."""
        location = answer.headers.get("location")
        if location is None:
            return None
        try:
            return await self._name_at(leads_to(self.api, answer.url, location))
        except CuratedError:
            return None

    def _check_redirect(self, renamed: RepoName | None) -> None:
        if renamed is None:
            raise NotAllowedError("It has moved to where nothing may be read.", "Only the operator can change that.")
        self.check_readable(renamed)


def _broken(host: str) -> GitHubError:
    return GitHubError("bad_response", f"The answer of {host} broke off before its end, twice.", "Try again later.")


def _asked_pause(answer: "HttpResponse", now: float) -> float | None:
    """How long a secondary limit asks to wait, where that is short enough to be waited here."""
    if answer.status not in {403, 429} or "retry-after" not in answer.headers:
        return None
    seconds = asked_seconds(answer.headers, now)
    return seconds if seconds is not None and seconds <= LONGEST_WAIT_SECONDS else None
