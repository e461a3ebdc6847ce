"""Room for newcomers over HTTP: request bodies that do not come, and sessions that nobody uses, give up theirs.

A session is ended the way its client would: by a DELETE with its id (specification of 2025-11-25, transports, 5).
"""

import logging
import time
from collections import Counter, OrderedDict

import anyio
from starlette.types import ASGIApp, Message, Scope

_log = logging.getLogger(__name__)

STALL_SECONDS = 10.0
"""A body whose next byte takes longer is given up, with 408."""
BODY_SECONDS = 120.0
"""And one that takes longer in all: 32 MB in that time is a slow line."""
FRESH_SECONDS = 1.0
"""A body that received something this recently is not given up for a newcomer."""
UNUSED_SECONDS = 60.0
"""A session that was used this recently is not ended for a newcomer."""


class Arrivals:
    """The request bodies that are on their way.

    Args:
        most: How many at the same time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._moved: dict[anyio.CancelScope, float] = {}

    def make_room(self) -> bool:
        """Whether one more may come; where too many are on their way the one that stalls longest is given up."""
        if len(self._moved) < self._most:
            return True
        cut, moved = min(self._moved.items(), key=lambda item: item[1])
        if time.monotonic() - moved < FRESH_SECONDS:
            return False
        self.gone(cut)
        cut.cancel()
        return True

    def moved(self, cut: anyio.CancelScope) -> None:
        """Note that a body began, or went on."""
        self._moved[cut] = time.monotonic()

    def gone(self, cut: anyio.CancelScope) -> None:
        """Note that a body is there, or will not come."""
        self._moved.pop(cut, None)

    def cut(self) -> None:
        """Give up all of them: the server stops."""
        for cut in tuple(self._moved):
            cut.cancel()


class Sessions:
    """When each session of an older client was last used; for use on the event loop.

    Args:
        app: The protocol's application, which keeps the sessions.
        most: How many it keeps.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._used: OrderedDict[bytes, float] = OrderedDict()
        self._busy: Counter[bytes] = Counter()

    def began(self, session: bytes) -> None:
        """Note a request in a session."""
        self._busy[session] += 1
        self._touch(session)

    def ended(self, session: bytes, *, closed: bool) -> None:
        """Note that a request in a session is over, and whether the session is as well."""
        self._busy -= Counter({session: 1})
        if closed:
            self._used.pop(session, None)
        else:
            self._touch(session)

    def opened(self, session: bytes) -> None:
        """Note a new session."""
        self._touch(session)

    def _touch(self, session: bytes) -> None:
        self._used[session] = time.monotonic()
        self._used.move_to_end(session)

    async def make_room(self, scope: Scope) -> None:
        """Before a request that may open a session: where all are taken, end the one that was unused longest."""
        if len(self._used) < self._most:
            return
        now = time.monotonic()
        for session, used in list(self._used.items()):
            if now - used < UNUSED_SECONDS:
                return
            if not self._busy[session]:
                self._used.pop(session, None)
                _log.info("Ended a session that was unused for %.0f s, for a new one.", now - used)
                await self._end(scope, session)
                return

    async def _end(self, scope: Scope, session: bytes) -> None:
        kept = [(key, value) for key, value in scope["headers"] if key in (b"host", b"origin")]
        headers = [*kept, (b"mcp-session-id", session), (b"accept", b"application/json, text/event-stream")]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_message: Message) -> None:
            return

        await self._app({**scope, "method": "DELETE", "headers": headers}, receive, send)
