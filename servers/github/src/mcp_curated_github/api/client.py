"""The one client of GitHub's API: reads that are asked again once, writes that never are.

The token goes to one exact origin and nowhere else: `Credential` attaches it, no redirect leaves that origin, and it is
hidden in whatever comes back.
"""

import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import unquote

import anyio

from mcp_curated_github.addresses import DEFAULT, ApiUrl
from mcp_curated_github.api.fields import Fields, Tally
from mcp_curated_github.api.pages import next_page
from mcp_curated_github.api.reads import Reads
from mcp_curated_github.errors import GitHubError, Refusal, asked_seconds, failure_of, no_token
from mcp_curated_github.names import RepoName
from mcp_curated_github.routes import Route, build_url, repository_by_id
from mcp_curated_shared.errors import CuratedError, NotAllowedError
from mcp_curated_shared.security.allowlist import Allowlist
from mcp_curated_shared.security.egress import EgressPolicy, InvalidUrlError, ProxyRoutes, Target
from mcp_curated_shared.settings import Secret

if TYPE_CHECKING:  # the HTTP library is loaded by the first request: a host starts every server at once
    from mcp_curated_shared.transport.http_client import (
        BodyForm,
        HttpClient,
        HttpLimits,
        HttpOptions,
        HttpRequest,
        HttpResponse,
        ResponseHeaders,
    )

API_VERSION: Final = "2022-11-28"
JSON: Final = "application/vnd.github+json"
RAW: Final = "application/vnd.github.raw+json"
DIFF: Final = "application/vnd.github.diff"
STARRED: Final = "application/vnd.github.star+json"
TEXT_MATCH: Final = "application/vnd.github.text-match+json"

LONGEST_WAIT_SECONDS: Final = 10.0
"""The longest pause that GitHub may ask of a read and that is waited here, once."""

_MOST_REDIRECTS: Final = 3
_JITTER_SECONDS: Final = (0.2, 1.0)
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BY_ID: Final = re.compile(r"/repositories/([0-9]{1,18})(?:/.*)?", re.ASCII)
_BY_NAME: Final = re.compile(r"/repos/([^/]+)/([^/]+)(?:/.*)?", re.ASCII)
_NO_ANSWER: Final = frozenset({"timed_out", "unreachable", "bad_response"})
"""Kinds of errors of the way there and back: what became of the request is not known."""

_chance = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Connection:
    """How the API is reached.

    Attributes:
        user_agent: Says who asks.
        proxies: Through which proxies; none by default.
        ca_file: Further certificate authorities.
        limits: Bounds of time and size of one request; None for those of `usual_limits`.
        wait: Awaited with the seconds of a pause.
        now: The time in seconds since 1970.
    """

    user_agent: str = "mcp-curated-github"
    proxies: ProxyRoutes = field(default_factory=ProxyRoutes)
    ca_file: str | None = None
    limits: "HttpLimits | None" = None
    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    now: Callable[[], float] = time.time


def usual_limits() -> "HttpLimits":
    """Twice these, a pause and a retry stay below the minute after which some hosts give a call up."""
    from mcp_curated_shared.transport.http_client import HttpLimits

    return HttpLimits(total_seconds=20.0, connect_seconds=8.0, read_seconds=10.0, body_bytes=16 * (1 << 20))


@dataclass(frozen=True, slots=True)
class Answer:
    """A success.

    Attributes:
        status: The status code.
        headers: The headers.
        body: The body as it came.
        cut: Whether there is more of it than was read.
        renamed_to: The name under which the repository was found, where that is not the one that was asked for.
        hide: Replaces this server's own token in what is shown of the body.
    """

    status: int
    headers: "ResponseHeaders"
    body: bytes
    cut: bool = False
    renamed_to: RepoName | None = None
    hide: Callable[[str], str] = str

    @property
    def next_page(self) -> int | None:
        """The number of the next page, where there is one."""
        return next_page(self.headers.get("link"))

    def document(self) -> object:
        """The body as JSON.

        Raises:
            GitHubError: It is none (`bad_response`); the error shows how it begins.
        """
        try:
            value: object = json.loads(self.body)
        except (ValueError, RecursionError):
            beginning = self.hide(self.body[:400].decode("ascii", "replace"))
            shown = re.sub(r"[^\x20-\x7e]+", " ", beginning)[:80].strip()
            raise GitHubError(
                "bad_response",
                f'GitHub\'s answer is not JSON; it begins "{shown}".',
                "Perhaps a proxy or a login page answered; the operator can check GITHUB_API_URL.",
            ) from None
        return value

    def fields(self, tally: Tally) -> Fields:
        """The body as a JSON object."""
        return Fields.of(self.document(), tally)

    def items(self, tally: Tally) -> list[Fields]:
        """The body as a JSON list of objects."""
        return Fields.list_of(self.document(), tally)


class RenamedError(GitHubError):
    """A write was answered with a redirect, which is not followed: the repository has another name now.

    Args:
        asked: The name that was written to.
        repo: The name that it has now; None where that cannot be learnt.
    """

    def __init__(self, asked: RepoName | None, repo: RepoName | None) -> None:
        now = f"is now {repo}" if repo is not None else "has another name now"
        super().__init__(
            "renamed", f"Nothing was written: {asked or 'the repository'} {now}.", "Use the new name, if it is allowed."
        )
        self.repo = repo


class UnansweredError(GitHubError):
    """A write was sent and no answer that tells its outcome came back: it may have been done.

    Args:
        reason: What came instead.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("unanswered", f"Whether it was written is not known: {reason}", "Look before trying again.")


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
        self._hide = _hiding(token)
        self._policy = EgressPolicy.only(api.origin)
        self._kept: HttpClient | None = None
        if self._connection.ca_file is not None:  # a file that cannot be used stops the start
            self._kept = self._open()

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
        async with self._open(writes=True) as client:
            try:
                answer = await client.send(_request(url, "POST", headers=headers, content=body))
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
            answer = await self._ask(_request(url, headers=(("Accept", accept),), body=form, body_bytes=most_bytes))
            location = answer.headers.get("location") if answer.status in _REDIRECTS else None
            if location is None:
                found = self._success(answer, renamed)
                if scoped:
                    self.reads.note(route, found.body if form == "whole" else b"")
                return found
            target = self._inside(url, location)
            renamed = await self._name_at(target) or renamed
            if scoped and self.readable is not None:
                self._check_redirect(renamed)
            url = target.url
        raise _astray(f"{self.api.host} redirects more than {_MOST_REDIRECTS} times.")

    async def _ask(self, request: "HttpRequest") -> "HttpResponse":
        """One read, asked again once after a failure, and once after a short wait that GitHub asked for."""
        failed = waited = False
        if self._kept is None:
            self._kept = self._open()
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

    def _inside(self, url: str, location: str) -> Target:
        """Where a redirect leads, if that is below the same API.

        Raises:
            GitHubError: It is not (`bad_response`).
        """
        try:
            target = Target.parse(url).join(location)
        except InvalidUrlError:
            raise _astray(f"{self.api.host} redirects to where nothing is asked.") from None
        if target.origin != self.api.origin:
            raise _astray(f"{self.api.host} redirects to {target.origin}, which is not asked.")
        path = self._below(target)
        if path is None or any(part in {".", ".."} for part in unquote(path).split("/")):
            raise _astray(f"{self.api.host} redirects to where its API is not.")
        return target

    def _below(self, target: Target) -> str | None:
        path = target.path.partition("?")[0]
        return path.removeprefix(self.api.prefix) if path.startswith(self.api.prefix + "/") else None

    async def _name_at(self, target: Target) -> RepoName | None:
        """The name of the repository that a redirect leads to; None where it leads to none."""
        path = self._below(target) or ""
        named = _BY_NAME.fullmatch(path)
        if named is not None:
            return _repo_name(f"{unquote(named[1])}/{unquote(named[2])}")
        by_id = _BY_ID.fullmatch(path)
        if by_id is None:
            return None
        url = build_url(self.api, repository_by_id(int(by_id[1])).segments)
        answer = await self._ask(_request(url, headers=(("Accept", JSON),)))
        return _repo_name(self._success(answer, None).fields(self.tally()).text("full_name"))

    async def _new_name(self, answer: "HttpResponse") -> RepoName | None:
        """The name behind the redirect of a write."""
        location = answer.headers.get("location")
        if location is None:
            return None
        try:
            return await self._name_at(self._inside(answer.url, location))
        except CuratedError:
            return None

    def _check_redirect(self, renamed: RepoName | None) -> None:
        if renamed is None:
            raise NotAllowedError("It has moved to where nothing may be read.", "Only the operator can change that.")
        self.check_readable(renamed)

    def _open(self, *, writes: bool = False) -> "HttpClient":
        from mcp_curated_shared.transport.http_client import HttpClient

        return HttpClient(self._policy, self._options(writes))

    def _options(self, writes: bool) -> "HttpOptions":
        from mcp_curated_shared.transport.http_client import Credential, HttpOptions, Retries

        connection = self._connection
        token = self._token
        credentials = () if token is None else (Credential(self.api.origin, Secret(f"Bearer {token.reveal()}")),)
        headers = (("X-GitHub-Api-Version", API_VERSION),)
        options = HttpOptions(
            user_agent=connection.user_agent,
            headers=(*headers, ("Connection", "close")) if writes else headers,
            credentials=credentials,
            limits=connection.limits or usual_limits(),
            retries=Retries(most=0),  # what is asked again is decided here, by GitHub's own rules
            proxies=connection.proxies,
            ca_file=connection.ca_file,
        )
        return replace(options, scan=None) if writes else options


def _request(
    url: str,
    method: str = "GET",
    *,
    headers: tuple[tuple[str, str], ...],
    content: bytes = b"",
    body: "BodyForm" = "whole",
    body_bytes: int | None = None,
) -> "HttpRequest":
    """A request whose redirects come back as they are: where they lead is decided here."""
    from mcp_curated_shared.transport.http_client import HttpRequest

    return HttpRequest(url, method, headers, content, "none", body, body_bytes)


def _broken(host: str) -> GitHubError:
    return GitHubError("bad_response", f"The answer of {host} broke off before its end, twice.", "Try again later.")


def _astray(text: str) -> GitHubError:
    return GitHubError("bad_response", text, "The operator can check GITHUB_API_URL.")


def _hiding(token: Secret | None) -> Callable[[str], str]:
    """Replaces the token, in every spelling in which one leaves, by a mark."""
    if token is None:
        return str
    from mcp_curated_shared.security.redaction.known import KnownSecrets

    known = KnownSecrets((token.reveal(),))

    def hide(text: str) -> str:
        spans = sorted(known.find(text), key=lambda one: (one.start, -one.end))
        if not spans:
            return text
        parts: list[str] = []
        end = 0
        for span in spans:
            if span.start >= end:
                parts += [text[end : span.start], "[REDACTED:token]"]
            end = max(end, span.end)
        return "".join((*parts, text[end:]))

    return hide


def _asked_pause(answer: "HttpResponse", now: float) -> float | None:
    """How long a secondary limit asks to wait, where that is short enough to be waited here."""
    if answer.status not in {403, 429} or "retry-after" not in answer.headers:
        return None
    seconds = asked_seconds(answer.headers, now)
    return seconds if seconds is not None and seconds <= LONGEST_WAIT_SECONDS else None


def _repo_name(text: str) -> RepoName | None:
    try:
        return RepoName.parse(text)
    except CuratedError:
        return None
