"""What a running filesystem server holds, and the way a call gets from the event loop to a worker thread and back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mcp.server.mcpserver import Context
from mcp_types import ListRootsResult

from mcp_curated_filesystem.server.roots import CallRoots, RootsOfClients, is_relative
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
        destination: str = "",
        long: bool = False,
    ) -> T:
        """Run one call's work on a worker thread, in the lane of the root that its path names.

        Args:
            context: Of the request; hears of progress when the work is long.
            answer: The client's roots, when it was asked.
            path: The call's path; only chooses the lane.
            function: Does the work with the roots that hold for the call.
            destination: The call's other path, if it has one: its root must answer, on its own account, before the
                work begins.
            long: Whether it walks or searches: such work leaves room for short calls and reports progress.
        """

        def work_on(work: Work) -> T:
            return function(self.client_roots.call(answer, relative=is_relative(path, destination)), work)

        await self._answers(answer, destination, unless=self.lane(answer, path))
        return await self.pool.run(
            work_on,
            seconds=self.settings.limits.call_seconds,
            lane=self.lane(answer, path),
            progress=Progress(context) if long else None,
            long=long,
        )

    def lane(self, answer: ListRootsResult | None, path: str) -> str:
        """The lane that a path's work is charged to, see `lane_of`."""
        return self.client_roots.lane(answer, path)

    async def _answers(self, answer: ListRootsResult | None, path: str, *, unless: str) -> None:
        """Let the folder of a second path hang in its own lane, not in that of the first.

        Raises:
            UnavailableError: It does not answer.
        """
        lane = self.lane(answer, path)
        root = self.client_roots.labelled(lane)
        if root is not None and lane != unless:
            await self.pool.run(lambda _: root.available, seconds=self.settings.limits.call_seconds, lane=lane)


def state_of(context: FilesystemContext) -> Filesystem:
    """The state of the server that answers this request."""
    return context.request_context.lifespan_context
