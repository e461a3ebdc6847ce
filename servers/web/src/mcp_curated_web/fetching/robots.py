"""robots.txt by RFC 9309: a file that is absent allows everything, one that cannot be had forbids everything."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

import anyio

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.egress import EgressRefusedError, Target
from mcp_curated_web.fetching.errors import RobotsError

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient

PRODUCT: Final = "mcp-curated-web"
"""The product token that rules are matched with (RFC 9309, 2.2.1)."""

LARGEST: Final = 512 * 1024
"""RFC 9309, 2.5: at least 500 KiB are to be read."""

KEPT_SECONDS: Final = 3600.0
_FAILURE_SECONDS: Final = 60.0
_MOST_ORIGINS: Final = 500
_FLAG: Final = "The operator can switch robots.txt off with --no-robots; a person can ask with the prompt fetch."


class _Rules(Protocol):
    def can_fetch(self, url: str, user_agent: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Kept:
    rules: _Rules | None
    refusal: str
    until: float


class Robots:
    """The rules of each origin, fetched once an hour.

    Args:
        client: Fetches them, under the same policy as pages.
        clock: Seconds that only grow.
    """

    def __init__(self, client: "HttpClient", clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._asking: dict[str, anyio.Lock] = {}

    async def check(self, url: str) -> None:
        """Ask whether a URL may be fetched.

        Raises:
            RobotsError: It may not, or the rules cannot be had.
            EgressRefusedError: The origin is out of reach.
            CuratedError: The URL is none.
        """
        target = Target.parse(url)
        kept = await self._of(str(target.origin), target.host)
        if kept.refusal:
            raise RobotsError(kept.refusal, _FLAG)
        if kept.rules is not None and not kept.rules.can_fetch(target.url, PRODUCT):
            raise RobotsError(f"The robots.txt of {target.origin} does not allow this page to {PRODUCT}.", _FLAG)

    async def _of(self, origin: str, host: str) -> _Kept:
        lock = self._asking.setdefault(origin, anyio.Lock())
        try:
            async with lock:
                kept = self._kept.get(origin)
                if kept is None or kept.until <= self._clock():
                    kept = await self._ask(origin, host)
                    self._kept[origin] = kept
                self._kept.move_to_end(origin)
                while len(self._kept) > _MOST_ORIGINS:
                    self._kept.popitem(last=False)
                return kept
        finally:
            if not lock.statistics().tasks_waiting:
                self._asking.pop(origin, None)

    async def _ask(self, origin: str, host: str) -> _Kept:
        from mcp_curated_shared.transport.http_client import HttpRequest

        request = HttpRequest(f"{origin}/robots.txt", body="partial", body_bytes=LARGEST, seconds=15.0)
        try:
            answer = await self._client.send(request)
        except EgressRefusedError:
            raise
        except CuratedError as error:
            why = f"The robots.txt of {host} could not be read, so the page is not fetched (RFC 9309): {error.text}"
            return _Kept(None, why, self._clock() + _FAILURE_SECONDS)
        if answer.status >= 500 or answer.status == 429:
            why = f"The robots.txt of {host} answers {answer.status}, so the page is not fetched (RFC 9309)."
            return _Kept(None, why, self._clock() + _FAILURE_SECONDS)
        until = self._clock() + KEPT_SECONDS
        if not 200 <= answer.status < 300:
            return _Kept(None, "", until)
        return _Kept(parse(answer.body.decode("utf-8-sig", "replace")), "", until)


def parse(text: str) -> _Rules:
    """The rules of a robots.txt."""
    from protego import Protego

    return cast("_Rules", Protego.parse(text))
