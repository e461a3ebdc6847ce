"""What a running filesystem server holds, and the way a call gets from the event loop to a worker thread and back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mcp.server.mcpserver import Context
from mcp_types import ListRootsResult

from mcp_curated_filesystem.server.lanes import lane_of
from mcp_curated_filesystem.server.roots import CallRoots, RootsOfClients
from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_filesystem.watching import Watcher
from mcp_curated_shared.security.confirmation import Confirmation
from mcp_curated_shared.security.limits import Budget
from mcp_curated_shared.transport.replies import Progress
from mcp_curated_shared.work import Work, WorkPool

T = TypeVar("T")
FilesystemContext = Context["Filesystem"]


@dataclass(frozen=True, slots=True)
class Filesystem:
    """The lifespan state of the server.

    Attributes:
        settings: The operator's.
        pool: Runs everything that may block, a lane for each root.
        client_roots: Which roots hold for a call.
        watcher: Serves live resources.
        confirmation: Asks before something is deleted.
    """

    settings: FilesystemSettings
    pool: WorkPool
    client_roots: RootsOfClients
    watcher: Watcher
    confirmation: Confirmation

    @property
    def budget(self) -> Budget:
        """What one reply may hold."""
        limits = self.settings.limits
        return Budget(characters=limits.reply_characters, base64_bytes=limits.media_bytes)

    async def run(
        self,
        context: FilesystemContext,
        answer: ListRootsResult | None,
        path: str,
        function: Callable[[CallRoots, Work], T],
        *,
        long: bool = False,
    ) -> T:
        """Run one call's work on a worker thread, in the lane of the root that its path names.

        Args:
            context: Of the request; hears of progress when the work is long.
            answer: The client's roots, when it was asked.
            path: The call's path; only chooses the lane.
            function: Does the work with the roots that hold for the call.
            long: Whether it walks or searches: such work leaves room for short calls and reports progress.
        """

        def work_on(work: Work) -> T:
            return function(self.client_roots.call(answer), work)

        return await self.pool.run(
            work_on,
            seconds=self.settings.limits.call_seconds,
            lane=self.lane(answer, path),
            progress=Progress(context) if long else None,
            long=long,
        )

    def lane(self, answer: ListRootsResult | None, path: str) -> str:
        """The lane that a path's work is charged to, see `lane_of`."""
        start = str(answer.roots[0].uri) if answer is not None and answer.roots else None
        return lane_of(self.client_roots.confinement, path, start=start)


def state_of(context: FilesystemContext) -> Filesystem:
    """The state of the server that answers this request."""
    return context.request_context.lifespan_context
