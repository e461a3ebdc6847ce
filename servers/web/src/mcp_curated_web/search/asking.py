"""What every provider's module does alike: ask under its rate, tell errors apart, and read fields without trust."""

import html
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

import anyio

from mcp_curated_shared.security.egress import InvalidUrlError, Target
from mcp_curated_shared.security.untrusted import clean, safe_text
from mcp_curated_web.search.model import (
    SearchBrokenError,
    SearchKeyError,
    SearchLimitError,
    SearchRefusedError,
    SearchResult,
)

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient, HttpRequest, HttpResponse

Members = Mapping[str, object]

_TAG: Final = re.compile(r"<[^<>]{0,500}>")
_LONGEST_SNIPPET: Final = 1_000
_LONGEST_TITLE: Final = 300
_LONGEST_COMPLAINT: Final = 300


class Pace:
    """Lets questions through one after the other, not faster than a provider's rate; the others queue.

    Args:
        seconds: Between the beginnings of two questions; 0 for no limit.
        clock: Seconds that only grow.
        wait: Awaited with seconds.
    """

    def __init__(
        self,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._wait = wait
        self._next = 0.0
        self._lock = anyio.Lock()

    async def turn(self) -> None:
        """Wait for a turn."""
        async with self._lock:
            pause = self._next - self._clock()
            if pause > 0:
                await self._wait(pause)
            self._next = self._clock() + self._seconds


async def ask_json(client: "HttpClient", request: "HttpRequest", provider: str, pace: Pace) -> Members:
    """Ask in turn, and give the answer's members.

    Raises:
        SearchLimitError, SearchKeyError, SearchRefusedError, SearchBrokenError: As the status says.
        CuratedError: It could not be reached.
    """
    await pace.turn()
    answer = await client.send(request)
    _refuse_status(answer, provider)
    try:
        value = answer.json()
    except Exception:
        raise broken(provider, "its answer is not JSON; a block page or a proxy may have answered") from None
    if not isinstance(value, dict):
        raise broken(provider, "its answer has another form than it documents")
    return cast("Members", value)


def broken(provider: str, why: str) -> SearchBrokenError:
    """The error for an answer that is none."""
    return SearchBrokenError(f"{provider} gave no usable answer: {why}.", "Try again later, or another provider.")


def _refuse_status(answer: "HttpResponse", provider: str) -> None:
    status = answer.status
    if 200 <= status < 300 and status != 202:
        return
    said = complaint(answer)
    if status in (429, 432, 433):
        wait = answer.retry_after_seconds
        seconds = None if wait is None else int(wait)
        later = "" if seconds is None else f" Retry after {seconds} s."
        raise SearchLimitError(f"{provider} has no quota left for now ({status}).{later}{said}", retry_after_s=seconds)
    if status in (401, 403):
        raise SearchKeyError(f"{provider} refuses the key or the access ({status}).{said}", "Check its key.")
    if status in (400, 404, 422):
        raise SearchRefusedError(f"{provider} refuses the query ({status}).{said}", "Change or drop a parameter.")
    raise broken(provider, f"it answers {status}")


def complaint(answer: "HttpResponse") -> str:
    """What the provider says is wrong, as its own words; empty when it says nothing."""
    try:
        value: object = json.loads(answer.body[:100_000])
    except (ValueError, RecursionError):
        return ""
    for name in ("detail", "error", "message"):
        value = members(value).get(name, value)
    if not isinstance(value, str):
        return ""
    return f' It says: "{plain(value, _LONGEST_COMPLAINT)}"'.replace("\n", " ")


def members(value: object) -> Members:
    """The members of a JSON object; none when it is no object."""
    return cast("Members", value) if isinstance(value, dict) else {}


def items(value: object, provider: str) -> Sequence[Members]:
    """The objects of a JSON array.

    Raises:
        SearchBrokenError: It is no array: the answer has changed.
    """
    if not isinstance(value, list):
        raise broken(provider, "its answer has no list of results")
    return [members(one) for one in cast("list[object]", value)]


def string(source: Members, *names: str) -> str:
    """The first of these members that is a text or a number, as text."""
    for name in names:
        value = source.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
    return ""


def plain(text: str, longest: int = _LONGEST_SNIPPET) -> str:
    """A provider's text without markup and invisible characters, on one line."""
    words = html.unescape(_TAG.sub("", text))
    line = " ".join(safe_text(clean(words).text).replace("\x00", " ").split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def result(title: str, url: str, snippet: str, published: str = "", source: str = "") -> SearchResult | None:
    """One result; None when its URL is none that can be fetched."""
    try:
        address = Target.parse(url.strip()).url
    except InvalidUrlError:
        return None
    host = urlsplit(address).hostname or ""
    return SearchResult(
        plain(title, _LONGEST_TITLE) or address,
        address,
        plain(snippet),
        plain(published, 40),
        plain(source, 80) or host,
    )


def results(found: Sequence[SearchResult | None], provider: str) -> tuple[SearchResult, ...]:
    """The usable results.

    Raises:
        SearchBrokenError: There were some and none is usable: the answer has changed.
    """
    usable = tuple(one for one in found if one is not None)
    if found and not usable:
        raise broken(provider, "its results have no usable URL")
    return usable


def with_site(query: str, site: str) -> str:
    """The words with the operator that most engines know for one host."""
    return f"{query} site:{site}" if site else query
