"""The one way a page is fetched: robots, request, redirects, meta refresh, status, size, under one deadline."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from mcp_curated_shared.errors import CuratedError, TimedOutError
from mcp_curated_shared.security.egress import InvalidUrlError, Target
from mcp_curated_shared.security.untrusted import clean, safe_text
from mcp_curated_shared.work import WorkPool
from mcp_curated_web.extraction import extract_page
from mcp_curated_web.fetching.charset import decode
from mcp_curated_web.fetching.contents import Form, document_of, kind_of, media_type_of
from mcp_curated_web.fetching.documents import Document
from mcp_curated_web.fetching.errors import ChallengeError, HttpStatusError
from mcp_curated_web.fetching.robots import Robots
from mcp_curated_web.fetching.snapshots import Snapshot, Snapshots
from mcp_curated_web.fetching.standins import is_challenge

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient, HttpResponse

ACCEPT: Final = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
LONGEST_ERROR: Final = 1_000
"""Characters of an error's body that are told."""

_REFRESH: Final = re.compile(
    rb"<meta[^>]{0,200}?http-equiv\s*=\s*[\"']?refresh[\"']?[^>]{0,500}?>", re.IGNORECASE | re.DOTALL
)
_REFRESH_CONTENT: Final = re.compile(rb"content\s*=\s*(?:\"([^\"]{0,2000})\"|'([^']{0,2000})')", re.IGNORECASE)
_REFRESH_VALUE: Final = re.compile(
    r"\s*([0-9]{1,4})(?:\.[0-9]*)?\s*[;,]\s*url\s*=\s*[\"']?([^\"'>]{1,2000})", re.IGNORECASE
)
_LONGEST_WAIT: Final = 5
_REFRESH_WITHIN: Final = 20_000
_EXTRACTION_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """A snapshot, and whether it was there already."""

    snapshot: Snapshot
    from_cache: bool


class Fetcher:
    """Fetches pages and keeps them for a while.

    Args:
        client: Under the policy for what a model names.
        pool: Makes texts of pages on worker threads.
        seconds: The deadline of one fetch.
        keeps_to_robots: Whether robots.txt is asked.
        told: Called with each step in words, for `doctor`.
    """

    def __init__(
        self,
        client: "HttpClient",
        pool: WorkPool,
        *,
        seconds: float = 25.0,
        keeps_to_robots: bool = True,
        told: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._client = client
        self._pool = pool
        self._seconds = seconds
        self._robots = Robots(client) if keeps_to_robots else None
        self._snapshots = Snapshots()
        self._told = told

    async def fetch(self, url: str, *, asked_by_person: bool = False, fresh: bool = False) -> Fetched:
        """Fetch a page, or take it from the snapshots.

        Args:
            url: An http or https URL; a fragment is ignored.
            asked_by_person: robots.txt is then not consulted.
            fresh: Ask again even if a snapshot is there.

        Raises:
            CuratedError: It is not allowed, not reachable, too slow, or an error.
        """
        key = Target.parse(url).url
        kept = None if fresh else self._snapshots.get(key)
        if kept is not None:
            if not asked_by_person:
                for one in dict.fromkeys((key, kept.final_url)):  # a person may have let it come from elsewhere
                    await self._allowed(one)
            return Fetched(kept, True)
        with anyio.move_on_after(self._seconds):
            snapshot = await self._travel(key, asked_by_person)
            self._snapshots.put(key, snapshot)
            return Fetched(snapshot, False)
        raise TimedOutError(
            f"{Target.parse(url).host} took longer than {self._seconds:g} s and was given up.", "Try again later."
        )

    async def document(self, fetched: Fetched, form: Form) -> Document:
        """The text of what was fetched.

        Raises:
            CuratedError: It has none, or making it took too long.
        """
        known = fetched.snapshot.documents.get(form)
        if known is not None:
            return known
        return await self._pool.run(
            lambda _: document_of(fetched.snapshot, form), seconds=_EXTRACTION_SECONDS, lane="reading of pages"
        )

    async def _allowed(self, url: str) -> None:
        if self._robots is not None:
            await self._robots.check(url)
            self._told(f"robots.txt allows {url}")

    async def _travel(self, url: str, asked_by_person: bool) -> Snapshot:
        answer = await self._ask(url, asked_by_person)
        notices = list(answer.notices)
        following = refresh_target(answer)
        if following is not None:
            self._told(f"the page refers on to {following}")
            notices.append(f"Followed the page's own refresh from {answer.url}.")
            answer = await self._ask(following, asked_by_person)
            notices += answer.notices
        if answer.status >= 400:
            raise await self._failure(answer)
        content_type = answer.headers.get("content-type", "")
        return Snapshot(url, answer.url, answer.status, safe_text(content_type)[:200], answer.body, tuple(notices))

    async def _ask(self, url: str, asked_by_person: bool) -> "HttpResponse":
        from mcp_curated_shared.transport.http_client import HttpRequest

        check = None if asked_by_person else self._allowed
        if check is not None:
            await check(url)
        request = HttpRequest(url, headers=(("Accept", ACCEPT),), body="partial", before_redirect=check)
        answer = await self._client.send(request)
        self._told(f"{answer.url} answers {answer.status}, {len(answer.body):,} bytes")
        return answer

    async def _failure(self, answer: "HttpResponse") -> CuratedError:
        return await self._pool.run(
            lambda _: status_error(answer), seconds=_EXTRACTION_SECONDS, lane="reading of pages"
        )


def status_error(answer: "HttpResponse") -> CuratedError:
    """The error for a status of 400 and above, with what the server said."""
    host = Target.parse(answer.url).host
    wait = answer.retry_after_seconds
    seconds = None if wait is None else int(wait)
    text, challenge = _said(answer)
    if challenge:
        return ChallengeError(
            f"{host} answers {answer.status} with a challenge for browsers in place of the page.",
            "A person can open it in a browser; a search may find the same text elsewhere.",
        )
    later = f" Retry after {seconds} s." if seconds is not None else ""
    said = f' Its page says (not by this server): "{text}"' if text else ""
    return HttpStatusError(f"{host} answers {answer.status}.{later}{said}", retry_after_s=seconds)


def _said(answer: "HttpResponse") -> tuple[str, bool]:
    content_type = answer.headers.get("content-type", "")
    kind = kind_of(content_type, answer.body)
    if kind in ("pdf", "image", "binary") or not answer.body:
        return "", False
    decoded = decode(answer.body[:200_000], content_type)
    if kind != "html":
        return _short(decoded.text), False
    extracted = extract_page(decoded.text, answer.url, marked=False)
    return _short(extracted.text or extracted.title), is_challenge(decoded.text, extracted, answer.status)


def _short(text: str) -> str:
    line = " ".join(safe_text(clean(text).text).replace("\x00", " ").replace('"', "'").split())
    return line if len(line) <= LONGEST_ERROR else line[: LONGEST_ERROR - 1] + "…"


def refresh_target(answer: "HttpResponse") -> str | None:
    """Where a page's meta refresh of at most five seconds leads; None without one."""
    if answer.status >= 400 or media_type_of(answer.headers.get("content-type", "text/html")) not in (
        "text/html",
        "application/xhtml+xml",
    ):
        return None
    tag = _REFRESH.search(answer.body[:_REFRESH_WITHIN])
    content = _REFRESH_CONTENT.search(tag[0]) if tag else None
    raw = (content[1] or content[2] or b"") if content else b""
    value = _REFRESH_VALUE.match(raw.decode("utf-8", "replace").replace("&amp;", "&"))
    if value is None or int(value[1]) > _LONGEST_WAIT:
        return None
    try:
        here = Target.parse(answer.url)
        target = here.join(value[2].strip())
    except InvalidUrlError:
        return None
    return None if target.url == here.url else target.url
