"""What every HTTP request passes before the protocol sees it: Host, Origin, health, limits, and the end.

The SDK checks Host and Origin on its own path too, with the same lists; here they hold for every path, so that a page
in a browser that rebinds its DNS name (CVE-2025-66416 in the SDK's older default) learns nothing at all.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_curated_shared.transport.listening import PATH, Listening, ServingLimits

_log = logging.getLogger(__name__)

DISCARD_SECONDS = 5.0
DISCARD_FACTOR = 4
"""A body that is refused is read past, up to this many limits: closing on a client that still sends resets the
connection, and the answer is lost with it (RFC 9112, 9.6)."""


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
        if self._stopping or full:
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
        reply = _Reply(scope, receive, send, self._limits.body_bytes)
        # Names are the same in any case (RFC 9110, 4.2.3), but not to the SDK.
        headers = [(key, value.lower() if key in (b"host", b"origin") else value) for key, value in scope["headers"]]
        with self._counted(scope) as cut:
            await self._app({**scope, "headers": headers}, reply.receive, reply.send)
        if cut.cancelled_caught:
            await reply.finish()

    @contextmanager
    def _counted(self, scope: Scope) -> Generator[anyio.CancelScope]:
        group = self._streams if scope["method"] == "GET" else self._calls
        with anyio.CancelScope() as cut:
            group.add(cut)
            try:
                yield cut
            finally:
                group.discard(cut)


class _Reply:
    """The two channels of one request, watched so that a refusal or an end in the middle leaves a clean response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        # Such a client sends its body only after our "100 Continue", which the first `receive` sends.
        self._waits = Headers(scope=scope).get("expect", "").lower() == "100-continue"
        self._body_open = True
        self._started = False
        self._finished = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._waits = False
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._body_open = False
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
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
