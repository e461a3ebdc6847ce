"""A bounded pool of daemon threads for blocking work, fair between lanes.

A lane is whatever can hang as a whole: a root folder, a database file. Each lane gets few threads, so one that hangs
leaves the others theirs; a lane whose threads all hang is refused at once instead of collecting callers that wait.
"""

import asyncio
import contextlib
import contextvars
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.work.lane import Job, Lane
from mcp_curated_shared.work.piece import Work
from mcp_curated_shared.work.threads import WorkerThread

T = TypeVar("T")
ProgressFn = Callable[[float, float | None, str | None], Awaitable[None]]
"""`await progress(done, total, message)`; `done` grows with every call, as the protocol demands."""

_log = logging.getLogger(__name__)

FIRST_PROGRESS_SECONDS = 1.0
NEXT_PROGRESS_SECONDS = 0.5


class WorkPool:
    """Runs blocking functions on daemon threads, for async callers of one event loop.

    Args:
        threads: Threads in all, those that hang not counted: a hung thread is given up and replaced.
        lane_threads: Threads one lane may hold, those that hang counted; so at most `threads` plus `lane_threads`
            for each lane ever exist.
        lane_noun: What a lane is to the reader of an error: "folder", "database".
        grace: Seconds past its budget, or past its cancellation, after which a call that has not returned is
            taken to hang.

    Starting and finishing a call costs about 50 us; nothing blocks the event loop.
    """

    def __init__(
        self, threads: int = 16, lane_threads: int = 4, *, lane_noun: str = "folder", grace: float = 0.5
    ) -> None:
        self._threads = threads
        self._lane_threads = lane_threads
        self._lane_noun = lane_noun
        self._grace = grace
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._queue: deque[Lane] = deque()  # lanes with a waiting job, each once, in turn
        self._idle: list[WorkerThread] = []
        self._jobs: dict[WorkerThread, Job] = {}
        self._busy = 0  # running jobs, without those that hang
        self._born = 0

    async def run(
        self,
        function: Callable[[Work], T],
        *,
        seconds: float,
        lane: str = "",
        progress: ProgressFn | None = None,
        long: bool = False,
    ) -> T:
        """Run `function(work)` on a worker thread and return what it returns.

        Args:
            function: Gets the `Work` of this call; sees the caller's context variables.
            seconds: The budget, waiting for a thread included; `work` knows it.
            lane: What this call may hang on; its name appears in errors.
            progress: Awaited with what `work` holds after 1 s and then at most every 500 ms, when `work.done` grew.
            long: A walk or a search: such calls leave half of the lane's threads to the short ones.

        Raises:
            UnavailableError: The lane hangs, or no thread came free in time, or the function did not return
                within its budget.
            Exception: Whatever the function raised, unchanged.
            asyncio.CancelledError: The caller was cancelled: at once, while `work` asks the function to stop.
        """
        job = self._submit(function, seconds, lane, long)
        try:
            if progress is None:
                return cast("T", await job.future)
            return cast("T", await _watch(job, progress))
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        finally:
            del job  # breaks the cycle future -> exception -> frame -> future

    def close(self) -> None:
        """Cancel everything and let the idle threads end; a hung thread dies with the process."""
        self._closed = True
        for lane in self._lanes.values():
            for job in (*lane.waiting, *lane.running):
                job.work.cancel()
                job.fail(UnavailableError("The server is stopping."))
            lane.waiting.clear()
        self._queue.clear()
        for worker in self._idle:
            worker.dismiss()
        self._idle.clear()

    def _submit(self, function: Callable[[Work], T], seconds: float, lane_name: str, long: bool) -> Job:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._adopt(loop)
        if self._closed:
            raise UnavailableError("The server is stopping.")
        lane = self._lanes.get(lane_name)
        if lane is None:
            lane = self._lanes[lane_name] = Lane(lane_name, self._lane_threads)
        if lane.hangs(long):
            raise self._hangs(lane)
        job = Job(function, Work(seconds), lane, long)
        if self._busy < self._threads and lane.has_room(long):
            self._start(job)
        else:
            lane.waiting.append(job)
            if lane not in self._queue:
                self._queue.append(lane)
        job.timer = self._after(seconds + self._grace, job)
        return job

    def _after(self, seconds: float, job: Job) -> asyncio.TimerHandle:
        # The loop forgets a cancelled timer late, and until then keeps its context. In ours the request hangs, with all
        # its arguments: a hundred writes of 1 MB would hold 100 MB.
        loop = cast("asyncio.AbstractEventLoop", self._loop)
        return loop.call_later(seconds, self._overdue, job, context=contextvars.Context())

    def _adopt(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loop is not None and not self._loop.is_closed():
            raise RuntimeError("A WorkPool belongs to the event loop that first used it.")
        for worker in self._idle:
            worker.dismiss()
        self._reset()
        self._loop = loop

    def _start(self, job: Job) -> None:
        worker = self._idle.pop() if self._idle else self._hire()
        job.started = True
        job.lane.running.add(job)
        self._jobs[worker] = job
        self._busy += 1
        worker.give(job.perform)

    def _hire(self) -> WorkerThread:
        self._born += 1
        return WorkerThread(cast("asyncio.AbstractEventLoop", self._loop), self._freed, self._born)

    def _freed(self, worker: WorkerThread) -> None:
        job = self._jobs.pop(worker)
        job.lane.running.discard(job)
        if job.timer is not None:
            job.timer.cancel()
        if job.stuck:
            _log.info("%s answers again.", self._called(job.lane))
            if self._busy + len(self._idle) >= self._threads:
                worker.dismiss()  # it was replaced meanwhile
            else:
                self._rest(worker)
        else:
            self._busy -= 1
            self._rest(worker)
        job.settle()
        self._start_waiting()

    def _rest(self, worker: WorkerThread) -> None:
        if self._closed:
            worker.dismiss()
        else:
            self._idle.append(worker)

    def _start_waiting(self) -> None:
        for _ in range(len(self._queue)):
            if self._busy >= self._threads:
                return
            lane = self._queue.popleft()
            while self._busy < self._threads and (job := lane.take()) is not None:
                self._start(job)
            if lane.waiting:
                self._queue.append(lane)

    def _abandon(self, job: Job) -> None:
        job.work.cancel()
        job.future.cancel()
        if job.timer is not None:
            job.timer.cancel()
        if not job.started:
            with contextlib.suppress(ValueError):
                job.lane.waiting.remove(job)
        elif job in job.lane.running and not job.stuck and self._loop is not None:
            job.timer = self._after(self._grace, job)

    def _overdue(self, job: Job) -> None:
        if not job.started:
            with contextlib.suppress(ValueError):
                job.lane.waiting.remove(job)
            what = self._called(job.lane)
            job.fail(
                UnavailableError(f"{what} is busy: no turn came within {job.work.seconds:g} s.", "Try again later.")
            )
            return
        job.work.cancel()
        job.stuck = True
        self._busy -= 1
        what = self._called(job.lane)
        _log.warning("%s does not answer: a call is overdue and keeps its thread.", what)
        job.fail(
            UnavailableError(
                f"{what} did not answer within {job.work.seconds:g} s.", "Try again later, or another one."
            )
        )
        for waiting in [one for one in job.lane.waiting if job.lane.hangs(one.long)]:
            job.lane.waiting.remove(waiting)
            waiting.fail(self._hangs(job.lane))
        self._start_waiting()

    def _called(self, lane: Lane) -> str:
        return f"The {self._lane_noun} {lane.name}" if lane.name else "The server"

    def _hangs(self, lane: Lane) -> UnavailableError:
        return UnavailableError(
            f"{self._called(lane)} does not answer.", "Earlier calls still wait for it; try again later."
        )


async def _watch(job: Job, progress: ProgressFn) -> object:
    """Wait for the job and tell its progress meanwhile; a progress callback that fails is not asked again."""
    pause = FIRST_PROGRESS_SECONDS
    told = 0.0
    while not (await asyncio.wait((job.future,), timeout=pause))[0]:
        pause = NEXT_PROGRESS_SECONDS
        work = job.work
        if work.done <= told:
            continue
        told = work.done
        try:
            await progress(told, work.total, work.message or None)
        except Exception as error:
            _log.debug("Progress could not be told: %r", error)
            break
    return await job.future
