"""What every HTTP request passes before the protocol sees it: Host, Origin, health, limits, and the end.

The SDK checks Host and Origin on its own path too, with the same lists; here they hold for every path, so that a page
in a browser that rebinds its DNS name (CVE-2025-66416 in the SDK's older default) learns nothing at all.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_curated_shared.transport import arrivals
from mcp_curated_shared.transport.arrivals import Arrivals, Sessions
from mcp_curated_shared.transport.listening import PATH, Listening, ServingLimits
from mcp_curated_shared.transport.refusals import explained

_log = logging.getLogger(__name__)

DISCARD_SECONDS = 5.0
DISCARD_FACTOR = 4
"""A body that is refused is read past, up to this many limits: closing on a client that still sends resets the
connection, and the answer is lost with it (RFC 9112, 9.6)."""

_WITHOUT_CASE = (b"host", b"origin", b"content-type", b"accept")


class Door:
    """The outermost ASGI application.

    Args:
        app: The protocol's application.
        listening: The Host and Origin headers to take.
        limits: The concurrency and the body size.
        grace: Seconds that requests get to end once the server stops.
        on_ready: Called once the application's lifespan has begun.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: Listening,
        limits: ServingLimits,
        *,
        grace: float,
        on_ready: Callable[[], None],
    ) -> None:
        self._app = app
        self._listening = listening
        self._limits = limits
        self._grace = grace
        self._on_ready = on_ready
        self._calls: set[anyio.CancelScope] = set()
        self._streams: set[anyio.CancelScope] = set()
        self._arrivals = Arrivals(limits.arriving)
        self._sessions = Sessions(app, limits.sessions)
        self._stopping = False
        self.ready = False
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] == "http":
            answer = self._answer(scope)
            if answer is not None:
                await answer(scope, receive, send)
            else:
                await self._pass(scope, receive, send)

    def stop(self) -> None:
        """Take nothing new, end the open streams, and the calls after their grace. On the event loop."""
        self._stopping = True
        self.ready = False
        for scope in tuple(self._streams):
            scope.cancel()
        asyncio.get_running_loop().call_later(self._grace, self._cut)

    def _cut(self) -> None:
        self._arrivals.cut()
        for scope in tuple(self._calls):
            scope.cancel()

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watch(message: Message) -> None:
            await send(message)
            self.ready = message["type"] == "lifespan.startup.complete"
            if self.ready:
                self._on_ready()

        try:
            await self._app(scope, receive, watch)
        except Exception as error:
            self.failure = error
            raise

    def _answer(self, scope: Scope) -> Response | None:
        """What is answered without the protocol; None lets the request pass."""
        headers = Headers(scope=scope)
        if not self._known_host(headers.get("host", "").lower()):
            _log.warning("Refused a request for the host %r.", headers.get("host"))
            return PlainTextResponse("Invalid Host header", 421)
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._listening.origins:
            _log.warning("Refused a request from the origin %r.", origin)
            return PlainTextResponse("Invalid Origin header", 403)
        if scope["path"] in ("/healthz", "/readyz"):
            return self._health(scope)
        if scope["path"] != PATH:
            return PlainTextResponse(f"Not found. The protocol is spoken at {PATH}.", 404)
        streams = scope["method"] == "GET"
        full = len(self._streams) >= self._limits.sessions if streams else len(self._calls) >= self._limits.concurrency
        if self._stopping or full or not (streams or self._arrivals.make_room()):
            why = "The server is stopping" if self._stopping else "Too many requests at once"
            return PlainTextResponse(why, 503, {"Retry-After": "1"})
        return None

    def _known_host(self, host: str) -> bool:
        if host in self._listening.hosts:
            return True
        name, colon, port = host.rpartition(":")
        return bool(colon) and port.isdecimal() and f"{name}:*" in self._listening.hosts

    def _health(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("Method not allowed", 405, {"Allow": "GET, HEAD"})
        if scope["path"] == "/readyz" and not self.ready:
            return PlainTextResponse("not ready", 503)
        return PlainTextResponse("ok")

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Names are the same in any case (RFC 9110, 4.2.3 and 8.3.1), but not to the SDK.
        headers = [(key, value.lower() if key in _WITHOUT_CASE else value) for key, value in scope["headers"]]
        known = dict(headers)
        session = known.get(b"mcp-session-id")
        if (
            session is None
            and known.get(b"mcp-protocol-version", b"").decode("latin-1") not in MODERN_PROTOCOL_VERSIONS
        ):
            await self._sessions.make_room(scope)
        with self._counted(scope) as cut:
            reply = _Reply(scope, receive, send, self._limits.body_bytes, lambda more: self._went_on(cut, more=more))
            if session is not None:
                self._sessions.began(session)
            try:
                await self._app({**scope, "headers": headers}, reply.receive, explained(reply.send))
            finally:
                if session is not None:
                    self._sessions.ended(session, closed=reply.status == 404 or scope["method"] == "DELETE")
        # The SDK names a session for every request without one, and forgets it when it refuses the request.
        if reply.session is not None and session is None and reply.status < 400:
            self._sessions.opened(reply.session)
        if cut.cancelled_caught:
            await reply.finish()

    def _went_on(self, cut: anyio.CancelScope, *, more: bool) -> None:
        """A part of a request's body came; with the last one the request counts among the calls."""
        if more:
            self._arrivals.moved(cut)
            return
        self._arrivals.gone(cut)
        if cut not in self._calls and len(self._calls) >= self._limits.concurrency:
            cut.cancel()
        self._calls.add(cut)

    @contextmanager
    def _counted(self, scope: Scope) -> Generator[anyio.CancelScope]:
        with anyio.CancelScope() as cut:
            if scope["method"] == "GET":
                self._streams.add(cut)
            else:
                self._arrivals.moved(cut)
            try:
                yield cut
            finally:
                self._streams.discard(cut)
                self._calls.discard(cut)
                self._arrivals.gone(cut)


class _Reply:
    """The two channels of one request, watched so that a refusal or an end in the middle leaves a clean response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int, went_on: Callable[[bool], None]) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        self._went_on = went_on
        self._until = time.monotonic() + arrivals.BODY_SECONDS
        self.session: bytes | None = None
        self.status = 0
        # Such a client sends its body only after our "100 Continue", which the first `receive` sends.
        self._waits = Headers(scope=scope).get("expect", "").lower() == "100-continue"
        self._body_open = scope["method"] != "GET"
        self._started = False
        self._finished = False
        self._late = False

    async def receive(self) -> Message:
        if not self._body_open:
            return await self._receive()
        message: Message = {"type": "http.disconnect"}
        with anyio.move_on_after(min(arrivals.STALL_SECONDS, max(0.0, self._until - time.monotonic()))) as waiting:
            message = await self._receive()
        if waiting.cancelled_caught:
            await self._give_up()
        self._waits = False
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._body_open = False
        self._went_on(self._body_open)
        return message

    async def _give_up(self) -> None:
        """Answer a client whose body does not come; for the protocol it is gone."""
        self._body_open = False
        if not self._started:
            self._late = True
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await self._send({"type": "http.response.start", "status": 408, "headers": headers})
            await self._send({"type": "http.response.body", "body": b"The body did not come.", "more_body": False})
            self._started = self._finished = True

    async def send(self, message: Message) -> None:
        if self._late:  # answered already
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session = dict(message.get("headers", ())).get(b"mcp-session-id")
            if message["status"] == 413:
                await self._discard()
            self._started = True
        else:
            self._finished = not message.get("more_body", False)
        await self._send(message)

    async def _discard(self) -> None:
        """Read past what is left of the body, within bounds."""
        if self._waits:
            return
        left = DISCARD_FACTOR * self._limit
        with anyio.move_on_after(DISCARD_SECONDS):
            while self._body_open and left > 0:
                left -= len((await self.receive()).get("body", b""))

    async def finish(self) -> None:
        """End a response that was cut off."""
        if not self._started:
            headers = [(b"content-type", b"text/plain"), (b"retry-after", b"1")]
            await self._send({"type": "http.response.start", "status": 503, "headers": headers})
        if not self._finished:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
