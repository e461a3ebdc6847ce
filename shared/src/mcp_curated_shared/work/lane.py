"""The calls of one lane of a pool: who runs, who hangs, who waits."""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from typing import Any

from mcp_curated_shared.work.piece import Work


class Job:
    """One call: what to run, the future its caller waits on, and what came out.

    Its fields change on the event loop only, but for `value` and `error`, which the worker thread sets before it
    tells the loop.
    """

    __slots__ = ("context", "error", "function", "future", "lane", "long", "started", "stuck", "timer", "value", "work")

    def __init__(self, function: "Callable[[Work], Any]", work: Work, lane: "Lane", long: bool) -> None:
        self.function = function
        self.work = work
        self.lane = lane
        self.long = long
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.context = contextvars.copy_context()
        self.timer: asyncio.TimerHandle | None = None
        self.started = False
        self.stuck = False
        self.value: Any = None
        self.error: BaseException | None = None

    def perform(self) -> None:
        """Run the function on this thread and keep what comes out; never raises."""
        try:
            self.value = self.context.run(self.function, self.work)
        except Exception as error:
            # A future refuses StopIteration, which would end the generator that awaits it.
            self.error = RuntimeError("StopIteration left a worker") if isinstance(error, StopIteration) else error
        except BaseException as error:  # SystemExit on a worker must not pass for an exit of the server
            self.error = RuntimeError(f"{type(error).__name__} left a worker")

    def settle(self) -> None:
        """Hand the outcome to the caller, if it still waits."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)

    def fail(self, error: Exception) -> None:
        """Answer the caller with `error`, if it still waits."""
        if not self.future.done():
            self.future.set_exception(error)


class Lane:
    """The jobs of one lane.

    Args:
        name: The lane's name as the caller gave it.
        limit: Threads it may hold. Long jobs may hold half of them: the others stay for the short ones, and
            walks in pure Python gain nothing from more threads but slow each other and everybody else.
    """

    __slots__ = ("limit", "name", "running", "waiting")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.running: set[Job] = set()
        self.waiting: deque[Job] = deque()

    def _share(self, long: bool) -> int:
        return max(1, self.limit // 2) if long else self.limit

    def has_room(self, long: bool) -> bool:
        """Whether one more such job may start."""
        if len(self.running) >= self.limit:
            return False
        return not long or sum(job.long for job in self.running) < self._share(long)

    def hangs(self, long: bool) -> bool:
        """Whether every thread that such a job could get is held by a job that does not return."""
        stuck = [job for job in self.running if job.stuck]
        if len(stuck) >= self.limit:
            return True
        return long and sum(job.long for job in stuck) >= self._share(long)

    def take(self) -> Job | None:
        """The first waiting job that may start, taken out; None when there is none."""
        for job in self.waiting:
            if self.has_room(job.long):
                self.waiting.remove(job)
                return job
        return None
