"""Which folders hold for a call, when the client has roots of its own.

Folders that the operator named are a ceiling: a client's roots can give relative paths their start (`base`), or limit
the folders further (`narrow`), never widen them. Without any the client's roots are the list.

The client is asked only when the answer needs it. On 2026-07-28 it is asked on each such call, by a question that is
answered on the retry, and nothing is remembered (the specification forbids it). On older connections the answer is
kept for the connection until the client says that its roots changed.
"""

import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_curated_filesystem.server.lanes import lane_among, lane_of
from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.errors import CuratedError, UnavailableError
from mcp_curated_shared.security.confinement import Confinement, Root
from mcp_curated_shared.security.state_folder import closed_patterns
from mcp_curated_shared.transport.requests import RequestContext

ANSWER_SECONDS = 10.0
"""How long an old connection may take to answer `roots/list`."""

REMEMBERED_CONFINEMENTS = 16
"""Sets of client roots whose opened directories are kept."""


@dataclass(frozen=True, slots=True)
class CallRoots:
    """What holds for one call.

    Attributes:
        confinement: Opens every path of the call.
        base: Where relative paths start; None to look in the roots.
    """

    confinement: Confinement
    base: str | None


def is_relative(*paths: str) -> bool:
    """Whether one of the paths leaves open where it starts: no absolute path, no `~`, no `file:` URI."""
    return any(
        path and not (os.path.isabs(path) or path.startswith("~") or path[:5].lower() == "file:") for path in paths
    )


@dataclass(slots=True)
class _Connection:
    """What is remembered of one old connection: its answer, and how often its roots have changed."""

    answer: ListRootsResult | None = None
    changes: int = 0
    asking: anyio.Lock = field(default_factory=anyio.Lock)


@dataclass(slots=True)
class RootsOfClients:
    """The client roots of a process: who must be asked, and what old connections answered.

    Args:
        settings: The operator's folders and policy.
        confinement: To those folders; None when there are none.
    """

    settings: FilesystemSettings
    confinement: Confinement | None
    _connections: dict[int, _Connection] = field(default_factory=dict[int, _Connection])
    _made: "OrderedDict[tuple[str, ...], Confinement]" = field(
        default_factory=OrderedDict[tuple[str, ...], Confinement]
    )

    def needed(self, paths: Sequence[str]) -> bool:
        """Whether a call with these paths depends on the client's roots."""
        if self.confinement is None or self.settings.roots == "narrow":
            return True
        return self.settings.roots == "base" and is_relative(*paths)

    async def ask(self, paths: Sequence[str], context: RequestContext) -> ListRoots | ListRootsResult | None:
        """What a resolver returns for a call: the question, an old connection's answer, or None without a need.

        Raises:
            UnavailableError: The call depends on the client's roots and the client gives none.
        """
        if not self.needed(paths):
            return None
        if not can_list_roots(context):
            return self._without_roots("this client offers no roots")
        if not is_legacy(context):
            return ListRoots()
        return await self._ask_connection(context)

    async def _ask_connection(self, context: RequestContext) -> ListRootsResult | None:
        """An old connection's roots, asked for once and again after every change."""
        connection = self._connection(context)
        async with connection.asking:
            while connection.answer is None:
                changes = connection.changes
                try:
                    answer = await context.session.send_request(
                        ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=ANSWER_SECONDS
                    )
                except (MCPError, ValidationError):
                    return self._without_roots("this client did not answer when it was asked for its roots")
                if changes == connection.changes:
                    connection.answer = answer
            return connection.answer

    def _without_roots(self, why: str) -> None:
        """Go on without the client's roots where the operator's folders suffice.

        Raises:
            UnavailableError: They are what the call depends on.
        """
        if self.confinement is None:
            raise UnavailableError(
                f"No folder is allowed: the server was started without one, and {why}.",
                "Start it with a folder: mcp-curated-filesystem /absolute/path.",
            )

    def confinement_of(self, context: RequestContext) -> Callable[[], Confinement]:
        """What an old connection may reach, asked again whenever it is used: its roots can be revoked.

        Returns:
            A function that raises `UnavailableError` while the connection's roots are not known, or after it ended.
        """
        key = id(context.session.client_params)

        def current() -> Confinement:
            connection = self._connections.get(key)
            if connection is None or connection.answer is None:
                raise UnavailableError("The client's roots changed and were not told yet.", "Call any tool.")
            return self.call(connection.answer).confinement

        return current

    def _connection(self, context: RequestContext) -> _Connection:
        params = context.session.client_params
        key = id(params)
        if key not in self._connections:
            self._connections[key] = _Connection()
            weakref.finalize(params, self._connections.pop, key, None)
        return self._connections[key]

    async def forget_on_change(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Middleware: `notifications/roots/list_changed` ends what an old connection's answer is good for."""
        if ctx.method == "notifications/roots/list_changed" and is_legacy(ctx):
            connection = self._connection(ctx)
            connection.answer = None
            connection.changes += 1
        return await call_next(ctx)

    def lane(self, answer: ListRootsResult | None, path: str) -> str:
        """The lane that a path's work is charged to: the folder that its text names, see `lane_of`."""
        uris = [] if answer is None else [str(root.uri) for root in answer.roots]
        if self.confinement is None:
            return lane_among(uris, path)
        return lane_of(self.confinement, path, start=uris[0] if uris else None)

    def labelled(self, label: str) -> Root | None:
        """The operator's folder with this label."""
        roots = () if self.confinement is None else self.confinement.roots
        return next((root for root in roots if root.label == label), None)

    def call(self, answer: ListRootsResult | None, *, relative: bool = True) -> CallRoots:
        """What holds for a call with the client's answer. Opens directories: run it on a worker thread.

        Args:
            answer: The client's roots, when it was asked.
            relative: Whether a path of the call is; else nobody asks where such paths start.

        Raises:
            UnavailableError: The client's roots leave nothing to work in.
        """
        if answer is None:
            if self.confinement is None:
                self._without_roots("this client offers no roots")
            return CallRoots(cast("Confinement", self.confinement), None)
        uris = tuple(str(root.uri) for root in answer.roots)
        base = self.confinement is not None and self.settings.roots == "base"
        confinement = cast("Confinement", self.confinement) if base else self._confinement(uris)
        return CallRoots(confinement, _start(confinement, uris) if relative else None)

    def _confinement(self, uris: tuple[str, ...]) -> Confinement:
        made = self._made.get(uris)
        if made is None:
            made = self._make(uris)
            self._made[uris] = made
            while len(self._made) > REMEMBERED_CONFINEMENTS:
                self._made.popitem(last=False)
        if not made.roots:
            raise UnavailableError(
                "The client's roots hold no folder that this server may use.",
                "Open a folder in the client"
                + ("." if self.confinement is None else " that lies in the allowed ones."),
            )
        return made

    def _make(self, uris: tuple[str, ...]) -> Confinement:
        if self.confinement is not None:
            return self.confinement.narrowed(uris)
        deny, read_only = self.settings.deny, self.settings.read_only
        made = Confinement.from_client_roots(uris, deny=deny, read_only=read_only)
        closed = closed_patterns(self.settings.state.path("filesystem"), [root.path for root in made.roots])
        if not closed:
            return made
        made.close()
        return Confinement.from_client_roots(uris, deny=(*deny, *closed), read_only=read_only)


def _start(confinement: Confinement, uris: Sequence[str]) -> str | None:
    """Where relative paths start: the first of the client's roots that can be opened, so that lies inside."""
    for uri in uris:
        with suppress(CuratedError), confinement.open_directory(uri) as folder:
            return folder.location.path
    return None


def is_legacy(context: RequestContext) -> bool:
    """Whether the request came over a connection that began with the handshake."""
    return context.protocol_version not in MODERN_PROTOCOL_VERSIONS and context.session.client_params is not None


def can_list_roots(context: RequestContext) -> bool:
    """Whether the client has roots and there is a way to ask for them."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return False
    return not is_legacy(context) or context.session.can_send_request


def _of(context: Context[Any, Any]) -> RootsOfClients:
    return context.request_context.lifespan_context.client_roots


async def for_path(path: str, ctx: Context[Any, Any]) -> ListRoots | ListRootsResult | None:
    """Resolver of the tools with one `path`."""
    return await _of(ctx).ask([path], ctx.request_context)


async def for_paths(paths: list[str], ctx: Context[Any, Any]) -> ListRoots | ListRootsResult | None:
    """Resolver of the tools with many `paths`."""
    return await _of(ctx).ask(paths, ctx.request_context)


async def for_transfer(source: str, destination: str, ctx: Context[Any, Any]) -> ListRoots | ListRootsResult | None:
    """Resolver of the tools with a `source` and a `destination`."""
    return await _of(ctx).ask([source, destination], ctx.request_context)


async def for_none(ctx: Context[Any, Any]) -> ListRoots | ListRootsResult | None:
    """Resolver of the tools without a path."""
    return await _of(ctx).ask([], ctx.request_context)


PathRoots = Annotated[ListRootsResult | None, Resolve(for_path)]
PathsRoots = Annotated[ListRootsResult | None, Resolve(for_paths)]
TransferRoots = Annotated[ListRootsResult | None, Resolve(for_transfer)]
AnyRoots = Annotated[ListRootsResult | None, Resolve(for_none)]
