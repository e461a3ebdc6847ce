"""Live resources in both protocol eras.

2026-07-28: `subscriptions/listen` is one long request whose response is the stream; the watch lives as long as the
request. Up to 2025-11-25: `resources/subscribe` and `resources/unsubscribe`; the watch lives as long as the
connection. The SDK serves the first to anyone for any URI and has no public hook for the second, so both go through
one middleware here, which asks the server's `Watches` first.
"""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Protocol, cast

import anyio
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_curated_shared.errors import CuratedError, TooLargeError
from mcp_curated_shared.transport.failures import protocol_error
from mcp_curated_shared.transport.requests import RequestContext

MOST_URIS: Final = 256
"""The most URIs that one listen request or one legacy connection may watch."""

_SEND_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


class Watches(Protocol):
    """What a server with live resources provides. A failure is a `CuratedError`; it becomes the request's error."""

    async def allow(self, uri: str, context: RequestContext) -> None:
        """Raise unless this caller may read `uri`; asked for every caller and every URI."""
        ...

    async def start(self, uri: str, context: RequestContext) -> None:
        """Begin to watch `uri`: its first watcher has come. Changes go to `notify_resource_updated(uri)`."""
        ...

    async def stop(self, uri: str) -> None:
        """End the watch: the last watcher of `uri` has gone."""
        ...


class _Watched:
    """One URI: how many use it or are about to, and whether its watch runs. The lock keeps stop and start apart."""

    __slots__ = ("lock", "started", "users")

    def __init__(self) -> None:
        self.users = 0
        self.started = False
        self.lock = anyio.Lock()


class Subscriptions:
    """The middleware that serves both kinds of subscription, and the way to notify both.

    Args:
        watches: The server's own part.
        bus: Where events for `subscriptions/listen` are published.
    """

    def __init__(self, watches: Watches, bus: InMemorySubscriptionBus) -> None:
        self._watches = watches
        self._bus = bus
        self._watched: dict[str, _Watched] = {}
        self._legacy: dict[Connection, dict[str, None]] = {}

    async def __call__(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Serve or guard the subscription methods; pass everything else on."""
        match ctx.method:
            case "subscriptions/listen":
                return await self._listen(ctx, call_next)
            case "resources/subscribe" if _is_legacy(ctx):
                return await self._subscribe(ctx)
            case "resources/unsubscribe" if _is_legacy(ctx):
                return await self._unsubscribe(ctx)
            case "initialize":
                return _advertised(await call_next(ctx))
            case _:
                return await call_next(ctx)

    async def notify(self, uri: str) -> None:
        """Tell every watcher of `uri`, in both eras, that it changed."""
        await self._bus.publish(ResourceUpdated(uri=uri))
        for connection, uris in list(self._legacy.items()):
            if uri in uris:
                with anyio.move_on_after(_SEND_SECONDS) as scope:
                    await connection.send_resource_updated(uri)
                if scope.cancelled_caught:
                    _log.warning("a client did not take a change notification within %g s", _SEND_SECONDS)

    async def _listen(self, context: RequestContext, call_next: CallNext) -> HandlerResult:
        async with AsyncExitStack() as held:
            for uri in _listened_uris(context):
                await held.enter_async_context(self._watching(uri, context))
            return await call_next(context)

    async def _subscribe(self, context: RequestContext) -> HandlerResult:
        uri = _uri(context.params)
        connection = connection_of(context)
        uris = self._legacy.get(connection)
        if uris is not None and uri in uris:
            return {}
        if uris is not None and len(uris) >= MOST_URIS:
            raise protocol_error(_too_many(), context.protocol_version)
        await self._acquire(uri, context)
        if uris is None:
            uris = self._legacy.setdefault(connection, {})
            connection.exit_stack.push_async_callback(self._forget, connection)
        if uri in uris:  # the same request came twice at once
            await self._release(uri)
        uris[uri] = None
        return {}

    async def _unsubscribe(self, context: RequestContext) -> HandlerResult:
        uri = _uri(context.params)
        uris = self._legacy.get(connection_of(context), {})
        if uri in uris:
            del uris[uri]
            await self._release(uri)
        return {}

    async def _forget(self, connection: Connection) -> None:
        """A legacy connection has closed."""
        for uri in self._legacy.pop(connection, {}):
            await self._release(uri)

    @asynccontextmanager
    async def _watching(self, uri: str, context: RequestContext) -> AsyncGenerator[None]:
        await self._acquire(uri, context)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._release(uri)

    async def _acquire(self, uri: str, context: RequestContext) -> None:
        try:
            await self._watches.allow(uri, context)
            watched = self._watched.setdefault(uri, _Watched())
            watched.users += 1
            try:
                async with watched.lock:
                    if not watched.started:
                        await self._watches.start(uri, context)
                        watched.started = True
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._release(uri)
                raise
        except CuratedError as error:
            raise protocol_error(error, context.protocol_version, data={"uri": uri}) from None

    async def _release(self, uri: str) -> None:
        watched = self._watched[uri]
        watched.users -= 1
        async with watched.lock:
            if watched.users == 0 and watched.started:
                watched.started = False
                try:
                    await self._watches.stop(uri)
                except CuratedError as error:
                    _log.warning("ending a watch failed: %s", error.kind)
            if watched.users == 0:  # nobody came while it was being stopped
                self._watched.pop(uri, None)


def connection_of(context: RequestContext) -> Connection:
    """The connection of a request: the one thing that lives as long as a legacy client does.

    The SDK documents its `exit_stack` for clean-up by middleware, and gives no public way to it.
    """
    return context.session._connection  # pyright: ignore[reportPrivateUsage]  # the SDK offers no other way


def _is_legacy(context: RequestContext) -> bool:
    """Whether the request came after a handshake; every other one gets the SDK's own refusal."""
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return not modern and context.session.client_params is not None


def _uri(params: Mapping[str, Any] | None) -> str:
    uri = (params or {}).get("uri")
    if not isinstance(uri, str) or not uri:
        raise MCPError(INVALID_PARAMS, "uri is required: a string.")
    return uri


def _listened_uris(context: RequestContext) -> Sequence[str]:
    """The URIs of a listen request, each once; malformed parameters are the SDK's to refuse."""
    notifications = (context.params or {}).get("notifications")
    if not isinstance(notifications, Mapping):
        return ()
    listed = cast("Mapping[str, object]", notifications).get("resourceSubscriptions")
    if not isinstance(listed, list):
        return ()
    uris = [uri for uri in dict.fromkeys(cast("list[object]", listed)) if isinstance(uri, str)]
    if len(uris) > MOST_URIS:
        raise protocol_error(_too_many(), context.protocol_version)
    return uris


def _too_many() -> CuratedError:
    return TooLargeError(f"At most {MOST_URIS} resources can be watched at once.", "Watch a directory instead.")


def _advertised(result: HandlerResult) -> HandlerResult:
    """The handshake's result with `resources.subscribe` set; the SDK sets it only for a handler of its own."""
    if isinstance(result, dict):
        capabilities = cast("dict[str, Any]", result.get("capabilities") or {})
        resources = cast("dict[str, Any]", capabilities.get("resources") or {})
        result["capabilities"] = {**capabilities, "resources": {**resources, "subscribe": True}}
    return result
