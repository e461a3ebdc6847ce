"""The guarded transport below `httpx.AsyncClient`: whatever goes through it goes where the policy says, or nowhere."""

import ssl
from collections.abc import AsyncIterator

import anyio
import httpcore
import httpx

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.security.egress import (
    EgressPolicy,
    EgressRefusedError,
    InvalidUrlError,
    Proxy,
    ProxyRoutes,
    Resolver,
    Target,
    resolve,
)
from mcp_curated_shared.transport.http_client.backend import GuardedBackend
from mcp_curated_shared.transport.http_client.errors import TransportFailure, translate
from mcp_curated_shared.transport.http_client.limits import HttpLimits

_KEPT_CONNECTIONS = 8
_KEPT_SECONDS = 15.0
_LOCAL_LOOKUP_SECONDS = 1.0


class GuardedTransport(httpx.AsyncBaseTransport):
    """One pool of direct connections and one for each proxy, below one policy.

    It is given to `httpx.AsyncClient` as its only transport, so proxies from the environment are never used. An
    `httpx.AsyncHTTPTransport` takes no network backend; this is one that does.

    Args:
        policy: Decides on every request and on every connection.
        proxies: Which proxy a URL goes through.
        resolver: Looks names up.
        context: For TLS to the target and to a proxy.
        limits: How many connections.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        proxies: ProxyRoutes,
        resolver: Resolver,
        context: ssl.SSLContext,
        limits: HttpLimits,
    ) -> None:
        self._policy = policy
        self._proxies = proxies
        self._resolver = resolver
        self._context = context
        self._limits = limits
        self._direct = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=limits.at_once,
            max_keepalive_connections=_KEPT_CONNECTIONS,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=GuardedBackend(policy, resolver),
        )
        self._through: dict[Proxy, httpcore.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request, after the policy has agreed.

        Raises:
            CuratedError: The policy refuses, or the exchange failed.
        """
        target = checked_target(request.url)
        pool = await self._pool(target)
        try:
            answer = await pool.handle_async_request(_outgoing(request))
        except (*TransportFailure, httpx.TransportError) as error:
            raise translate(error, target.host) from None
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer, target.host),
        )

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in (self._direct, *self._through.values()):
            await pool.aclose()

    async def _pool(self, target: Target) -> httpcore.AsyncConnectionPool:
        proxy = self._proxies.route(target)
        if proxy is None:
            self._policy.check(target)
            return self._direct
        self._policy.check_unresolved(target)
        await self._refuse_locally_private(target)
        if proxy not in self._through:
            self._through[proxy] = self._proxy_pool(proxy)
        return self._through[proxy]

    def _proxy_pool(self, proxy: Proxy) -> httpcore.AsyncConnectionPool:
        password = proxy.password.reveal() if proxy.password else ""
        return httpcore.AsyncHTTPProxy(
            proxy_url=f"{proxy.origin.scheme}://{proxy.origin.host}:{proxy.origin.port}",
            proxy_auth=None if proxy.user is None else (proxy.user, password),
            ssl_context=self._context,
            proxy_ssl_context=self._context if proxy.origin.scheme == "https" else None,
            max_connections=self._limits.at_once,
            max_keepalive_connections=_KEPT_CONNECTIONS,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=GuardedBackend(EgressPolicy.only(proxy.origin), self._resolver),
        )

    async def _refuse_locally_private(self, target: Target) -> None:
        """Refuse a name that this machine's own resolver finds on the local network; one it cannot find may pass."""
        with anyio.move_on_after(_LOCAL_LOOKUP_SECONDS):
            try:
                await resolve(target.host, target.port, self._policy, self._resolver)
            except EgressRefusedError:
                raise
            except UnavailableError:
                return


class _Body(httpx.AsyncByteStream):
    """The body as it is received, with failures translated."""

    def __init__(self, answer: httpcore.Response, host: str) -> None:
        self._answer = answer
        self._host = host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._answer.aiter_stream():
                yield piece
        except (*TransportFailure, httpx.TransportError) as error:
            raise translate(error, self._host) from None

    async def aclose(self) -> None:
        await self._answer.aclose()


def checked_target(url: httpx.URL) -> Target:
    """Our reading of a URL that the library has read, made sure to be the same.

    Raises:
        InvalidUrlError: It is not fetched, or the two readings differ.
    """
    target = Target.parse(str(url))
    host = target.host.strip("[]")
    theirs = (url.scheme, url.raw_host.decode("ascii"), url.port or None)
    usual = {"http": 80, "https": 443}[target.scheme]
    if theirs != (target.scheme, host, None if target.port == usual else target.port):
        raise InvalidUrlError("The URL can be read in two ways.", "Write its host in plain lower-case letters.")
    return target


def _outgoing(request: httpx.Request) -> httpcore.Request:
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        ),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )
