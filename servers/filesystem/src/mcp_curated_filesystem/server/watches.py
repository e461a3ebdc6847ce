"""Live resources: which URIs may be watched, and handing their changes to the clients."""

from dataclasses import dataclass

from mcp.server.mcpserver.resolve import ListRoots

from mcp_curated_filesystem.server.roots import RootsOfClients
from mcp_curated_filesystem.watching import Watcher
from mcp_curated_shared.errors import NotAllowedError, NotFoundError
from mcp_curated_shared.security.confinement import Confinement
from mcp_curated_shared.transport.requests import RequestContext
from mcp_curated_shared.transport.resources import scheme_of
from mcp_curated_shared.work import WorkPool


@dataclass(slots=True)
class FileWatches:
    """The part of subscriptions that only this server knows: `file:` URIs inside the roots.

    Args:
        client_roots: Which roots hold for a caller.
        watcher: Does the watching.
        pool: Runs what may block.
        seconds: How long opening may take.
    """

    client_roots: RootsOfClients
    watcher: Watcher
    pool: WorkPool
    seconds: float

    async def allow(self, uri: str, context: RequestContext) -> None:
        """Raise unless this caller can read `uri` now."""
        confinement, lane = await self._confinement(uri, context)
        await self.pool.run(lambda _: confinement.open_entry(uri).close(), seconds=self.seconds, lane=lane)

    async def start(self, uri: str, context: RequestContext) -> None:
        """Begin to watch `uri` for its first watcher."""
        confinement, lane = await self._confinement(uri, context)
        fixed = self.client_roots.needed([]) is False
        roots = (lambda: confinement) if fixed else self.client_roots.confinement_of(context)
        await self.watcher.add(uri, roots, uri, lane=lane)

    async def stop(self, uri: str) -> None:
        """The last watcher of `uri` has gone."""
        self.watcher.remove(uri)

    async def _confinement(self, uri: str, context: RequestContext) -> tuple[Confinement, str]:
        if scheme_of(uri) != "file":
            raise NotFoundError("Only file: resources can be watched.", "Give a file:/// URI in an allowed folder.")
        answer = await self.client_roots.ask([], context)
        if isinstance(answer, ListRoots):
            # `subscriptions/listen` has no way to ask the client anything (2026-07-28).
            raise NotAllowedError(
                "A subscription cannot ask for the client's roots, and the folders of this server depend on them.",
                "Start the server with folders, and without --roots narrow.",
            )
        lane = self.client_roots.lane(answer, uri)
        call = await self.pool.run(
            lambda _: self.client_roots.call(answer, relative=False), seconds=self.seconds, lane=lane
        )
        return call.confinement, lane
