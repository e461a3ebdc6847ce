"""The client: one way out for every request of every server, under one policy and within bounds."""

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Final, Self

import anyio
import httpx

from mcp_curated_shared.errors import CuratedError, TimedOutError
from mcp_curated_shared.security.egress import (
    PROXY_NOTICE,
    EgressPolicy,
    InvalidUrlError,
    ProxyRoutes,
    Resolver,
    Target,
    UnknownHostError,
    system_resolver,
    unused_proxies,
)
from mcp_curated_shared.transport.http_client.decoding import ACCEPT_ENCODING, BodyDecoder, LimitReachedError
from mcp_curated_shared.transport.http_client.errors import BadResponseError, ResponseTooLargeError, UnreachableError
from mcp_curated_shared.transport.http_client.limits import Gate, HttpLimits
from mcp_curated_shared.transport.http_client.requests import HttpRequest, Journey
from mcp_curated_shared.transport.http_client.responses import HttpResponse, Received, ResponseHead, ResponseHeaders
from mcp_curated_shared.transport.http_client.retrying import IDEMPOTENT, Retries
from mcp_curated_shared.transport.http_client.screening import (
    Credential,
    Headers,
    Scan,
    check_headers,
    find_secrets,
    refuse_secrets,
)
from mcp_curated_shared.transport.http_client.transport import GuardedTransport
from mcp_curated_shared.transport.http_client.trust import trust

_SHORT_BODY: Final = 4_096
_SHORT_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How a client asks; the policy says what it may ask.

    Attributes:
        user_agent: Says honestly who asks.
        headers: Sent with every request, to every origin: nothing secret.
        credentials: Secret headers, each for one exact origin.
        limits: Bounds of time and size.
        retries: When to ask again.
        proxies: Through which proxies; none by default, whatever the environment says.
        ca_file: Further certificate authorities, a PEM file.
        scan: Finds secrets in what is to be sent, so that it is refused; None where the caller has looked already.
        resolver: Looks names up.
        wait: Awaited with the seconds of a pause between two tries.
    """

    user_agent: str = "mcp-curated"
    headers: Headers = ()
    credentials: tuple[Credential, ...] = ()
    limits: HttpLimits = field(default_factory=HttpLimits)
    retries: Retries = field(default_factory=Retries)
    proxies: ProxyRoutes = field(default_factory=ProxyRoutes)
    ca_file: str | None = None
    scan: Scan | None = find_secrets
    resolver: Resolver = system_resolver
    wait: Callable[[float], Awaitable[None]] = anyio.sleep


def guarded_client(policy: EgressPolicy, options: HttpOptions | None = None) -> httpx.AsyncClient:
    """An `httpx.AsyncClient` that cannot leave the policy: every request, redirect and connection is decided below it.

    `HttpClient` is what servers use: it adds the deadline over everything, the bounded body, credentials, retries and
    turns. This is for code that needs httpx itself, such as a library that takes a client. What its policy refuses and
    what fails below it is a `CuratedError`. It keeps no cookies, reads nothing from the environment, and logs no URL.

    Raises:
        SettingsError: The file with certificate authorities cannot be used.
    """
    options = options or HttpOptions()
    return _client_over(_transport(policy, options), options)


def _transport(policy: EgressPolicy, options: HttpOptions) -> GuardedTransport:
    return GuardedTransport(policy, options.proxies, options.resolver, trust(options.ca_file), options.limits)


def _client_over(transport: GuardedTransport, options: HttpOptions) -> httpx.AsyncClient:
    for name in ("httpx", "httpcore"):  # INFO lines hold whole URLs, DEBUG lines headers with tokens
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    limits = options.limits
    return httpx.AsyncClient(
        transport=transport,
        headers={"User-Agent": options.user_agent, "Accept-Encoding": ACCEPT_ENCODING} | dict(options.headers),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx.Timeout(
            connect=limits.connect_seconds,
            read=limits.read_seconds,
            write=limits.write_seconds,
            pool=limits.total_seconds,
        ),
        follow_redirects=False,
        trust_env=False,
    )


class HttpClient:
    """Asks other hosts, under one policy. Make one for each purpose and keep it: connections are used again.

    An async context manager, or `aclose()` it. Belongs to the event loop that first used it.

    Args:
        policy: What may be reached.
        options: How it asks.

    Raises:
        SettingsError: The file with certificate authorities cannot be used.
    """

    def __init__(self, policy: EgressPolicy, options: HttpOptions | None = None) -> None:
        self._options = options or HttpOptions()
        self._transport = _transport(policy, self._options)
        self._client = _client_over(self._transport, self._options)
        self._gate = Gate(self._options.limits.at_once, self._options.limits.at_once_per_host)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def get(self, url: str, headers: Headers = ()) -> HttpResponse:
        """`send` a GET."""
        return await self.send(HttpRequest(url, headers=headers))

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Ask, follow redirects, and return the answer whatever its status is.

        Raises:
            InvalidUrlError: The URL is none that is fetched.
            EgressRefusedError: The policy refuses it, or a redirect of it.
            SecretInRequestError: A secret would have left with it.
            UnknownHostError, UnreachableError, CertificateError: No connection came about, also after retries.
            BadResponseError, RedirectError: The answer is no good.
            ResponseTooLargeError: A whole body was wanted and it is longer than the limit.
            TimedOutError: A phase, or all of it, took too long.
        """
        target = Target.parse(request.url)
        check_headers(request.headers)
        if self._options.scan is not None:
            refuse_secrets(self._options.scan, target.url, request.headers, request.content)
        seconds = self._options.limits.total_seconds if request.seconds is None else request.seconds
        with anyio.move_on_after(seconds):
            try:
                return await self._travel(Journey(request, target, request.headers))
            except (UnreachableError, UnknownHostError) as error:
                raise self._with_hint(error) from None
        raise TimedOutError(f"{target.host} took longer than {seconds:g} s and was given up.", "Try again later.")

    async def _travel(self, journey: Journey) -> HttpResponse:
        while True:
            answer = await self._ask(journey)
            location = journey.location(answer)
            if location is None:
                notices = (*journey.notices, *answer.notices)
                return replace(answer, redirects=tuple(journey.passed), notices=notices)
            journey.follow(location, self._options.limits.redirects)
            if journey.request.before_redirect is not None:
                await journey.request.before_redirect(journey.target.url)

    async def _ask(self, journey: Journey) -> HttpResponse:
        """One hop, asked again as often as the retries allow."""
        retries = self._options.retries
        tried = 0
        while True:
            tried += 1
            last = journey.request.method not in IDEMPOTENT or tried > retries.most
            try:
                answer = await self._exchange(journey)
            except UnreachableError:
                pause = None if last else retries.pause(tried)
                if pause is None or not _in_time(pause):
                    raise
            else:
                again = answer.status in retries.statuses and not last
                pause = retries.pause(tried, answer.retry_after_seconds) if again else None
                if pause is None or not _in_time(pause):
                    return answer
            await self._options.wait(pause)

    async def _exchange(self, journey: Journey) -> HttpResponse:
        """One request and its answer, in its turn."""
        target = journey.target
        if self._options.proxies.route(target) is not None:
            journey.notices[PROXY_NOTICE] = None
        outgoing = self._outgoing(journey)
        async with self._gate.turn(target.host):
            # Not through `AsyncClient.send`: it reads a Location that it will not follow, and fails over a bad one.
            response = await self._transport.handle_async_request(outgoing)
            response.request = outgoing
            try:
                journey.cookies.extract_cookies(response)
                head = ResponseHead(target.url, response.status_code, ResponseHeaders(response.headers))
                if journey.location(head) is not None:
                    await _drain(response, head)
                    return _answer(head, b"", "unwanted")
                if journey.request.wanted is not None and not journey.request.wanted(head):
                    return _answer(head, b"", "unwanted")
                return await self._receive(response, head, journey.request)
            finally:
                await response.aclose()

    def _outgoing(self, journey: Journey) -> httpx.Request:
        request = journey.request
        try:
            outgoing = self._client.build_request(
                request.method,
                journey.target.url,
                headers=list(journey.outgoing_headers(self._options.credentials)),
                content=request.content or None,
            )
        except httpx.InvalidURL:
            raise InvalidUrlError("The URL cannot be requested.", "Check its spelling.") from None
        journey.cookies.set_cookie_header(outgoing)
        return outgoing

    async def _receive(self, response: httpx.Response, head: ResponseHead, request: HttpRequest) -> HttpResponse:
        limit = self._options.limits.body_bytes if request.body_bytes is None else request.body_bytes
        decoder = BodyDecoder(head.headers.get("content-encoding", ""), limit)
        partial = request.body == "partial"
        try:
            async for piece in response.aiter_raw():
                decoder.feed(piece)
        except LimitReachedError:
            if not partial:
                raise ResponseTooLargeError(f"The answer is longer than {limit:,} bytes.", "Ask for less.") from None
            notice = f"Only the first {limit:,} bytes were read; there is more."
            return _answer(head, decoder.body, "cut", notice)
        except (UnreachableError, BadResponseError):
            if not (partial and decoder.body):
                raise
        else:
            if decoder.is_whole():
                return _answer(head, decoder.body, "whole")
            if not partial:
                raise BadResponseError("The answer broke off before its end.", "Try again later.")
        return _answer(head, decoder.body, "broken", "The answer broke off before its end.")

    def _with_hint(self, error: UnreachableError | UnknownHostError) -> CuratedError:
        """The error, naming proxy variables that are set and were not asked for."""
        unused = unused_proxies(os.environ) if self._options.proxies == ProxyRoutes() else ()
        if not unused:
            return error
        hint = f"{unused[0]} is set but not used; the operator can ask for it with --proxy environment."
        return type(error)(error.text, f"{error.next_step} {hint}".strip())


def _answer(head: ResponseHead, body: bytes, received: Received, *notices: str) -> HttpResponse:
    return HttpResponse(head.url, head.status, head.headers, body, received, notices=notices)


def _in_time(pause: float) -> bool:
    """Whether the deadline leaves time for a pause."""
    return anyio.current_time() + pause < anyio.current_effective_deadline()


async def _drain(response: httpx.Response, head: ResponseHead) -> None:
    """Read the short body of a redirect, so that its connection can be used for the next hop."""
    length = head.headers.get("content-length", "")
    if not length.isdigit() or int(length[:9]) > _SHORT_BODY:
        return
    with anyio.move_on_after(_SHORT_SECONDS):
        async for _ in response.aiter_raw():
            pass
