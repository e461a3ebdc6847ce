"""Blocking work on daemon threads: answers, cancellation, lanes that hang, progress."""

import asyncio
import contextvars
import itertools
import threading
import time
from collections.abc import Awaitable, Callable, Generator

import pytest

from mcp_curated_shared.errors import CuratedError, TimedOutError, UnavailableError
from mcp_curated_shared.work import Work, WorkPool

BOUND = 10.0

pytestmark = pytest.mark.anyio


class Gate:
    """A function for the pool that begins, tells so, and ends when it is let go."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.go = threading.Event()
        self.threads: set[threading.Thread] = set()

    def __call__(self, _work: Work) -> str:
        self.threads.add(threading.current_thread())
        self.began.release()
        assert self.go.wait(BOUND * 3)
        return "through"

    async def holds(self, count: int) -> None:
        """Wait until `count` calls have begun."""
        for _ in range(count):
            assert await asyncio.to_thread(self.began.acquire, True, BOUND)


@pytest.fixture
def gate() -> Generator[Gate]:
    one = Gate()
    yield one
    one.go.set()


async def outcome(task: "asyncio.Task[str]") -> str:
    return await asyncio.wait_for(task, BOUND)


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Let the loop and the threads turn until it holds."""
    async with asyncio.timeout(BOUND):
        while not await condition():  # noqa: ASYNC110 - threads end outside the loop: no event tells of it
            await asyncio.sleep(0.002)


async def test_the_value_comes_back() -> None:
    assert await WorkPool().run(lambda _work: 42, seconds=5) == 42


@pytest.mark.parametrize("error", [CuratedError("foreseen"), ValueError("no"), OSError(2, "gone"), KeyError("k")])
async def test_an_exception_comes_back_as_it_was(error: Exception) -> None:
    def fail(_work: Work) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await WorkPool().run(fail, seconds=5)
    assert caught.value is error


@pytest.mark.parametrize("error", [StopIteration(), SystemExit(3), KeyboardInterrupt()])
async def test_an_exception_that_would_end_the_caller_comes_back_as_a_plain_one(error: BaseException) -> None:
    def fail(_work: Work) -> None:
        raise error

    with pytest.raises(RuntimeError, match=type(error).__name__):
        await WorkPool().run(fail, seconds=5)


async def test_the_function_sees_the_callers_context_variables() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")
    assert await WorkPool().run(lambda _work: variable.get(), seconds=5) == "mine"


async def test_the_threads_are_daemons() -> None:
    assert await WorkPool().run(lambda _work: threading.current_thread().daemon, seconds=5)


async def test_an_idle_thread_is_used_again() -> None:
    pool = WorkPool()
    names = {await pool.run(lambda _work: threading.current_thread().name, seconds=5) for _ in range(20)}
    assert len(names) == 1


async def test_a_cancelled_call_returns_at_once_though_its_thread_is_stuck(gate: Gate) -> None:
    pool = WorkPool()
    task = asyncio.create_task(pool.run(gate, seconds=60))
    await gate.holds(1)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 5


async def test_a_cancelled_call_tells_its_work_to_stop() -> None:
    stopped = threading.Event()
    began = threading.Event()

    def loop(work: Work) -> None:
        began.set()
        deadline = time.monotonic() + BOUND
        while not work.cancelled and time.monotonic() < deadline:
            time.sleep(0.001)
        if work.cancelled:
            stopped.set()

    task = asyncio.create_task(WorkPool().run(loop, seconds=60))
    assert await asyncio.to_thread(began.wait, BOUND)
    task.cancel()
    assert await asyncio.to_thread(stopped.wait, BOUND)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_call_that_is_cancelled_while_it_waits_never_starts(gate: Gate) -> None:
    pool = WorkPool(threads=1, lane_threads=1)
    first = asyncio.create_task(pool.run(gate, seconds=60))
    await gate.holds(1)
    ran: list[int] = []
    second = asyncio.create_task(pool.run(lambda _work: ran.append(1), seconds=60))
    await asyncio.sleep(0)
    second.cancel()
    gate.go.set()
    assert await outcome(first) == "through"
    await pool.run(lambda _work: None, seconds=5)
    assert ran == []


async def test_the_budget_reaches_the_work() -> None:
    def spend(work: Work) -> None:
        deadline = time.monotonic() + BOUND
        while time.monotonic() < deadline:
            work.check()
            time.sleep(0.001)

    with pytest.raises(TimedOutError):
        await WorkPool().run(spend, seconds=0.05)


async def test_a_call_that_outlives_its_budget_is_answered_by_the_pool(gate: Gate) -> None:
    with pytest.raises(UnavailableError, match=r"The folder docs did not answer within 0\.05 s"):
        await WorkPool(grace=0.05).run(gate, seconds=0.05, lane="docs")


async def fill(pool: WorkPool, gate: Gate, lane: str, count: int = 4, long: bool = False) -> None:
    """Let `count` calls of a lane hang beyond their budget."""
    calls = [asyncio.create_task(pool.run(gate, seconds=0.02, lane=lane, long=long)) for _ in range(count)]
    for error in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(error, UnavailableError)


async def test_a_lane_whose_threads_all_hang_is_refused_at_once(gate: Gate) -> None:
    pool = WorkPool(grace=0.02)
    await fill(pool, gate, "docs")
    began = time.monotonic()
    with pytest.raises(UnavailableError, match=r"The folder docs does not answer\."):
        await pool.run(lambda _work: 1, seconds=60, lane="docs")
    assert time.monotonic() - began < 5


async def test_calls_that_wait_for_a_lane_are_refused_when_its_last_thread_hangs(gate: Gate) -> None:
    pool = WorkPool(lane_threads=1, grace=0.02)
    hanging = asyncio.create_task(pool.run(gate, seconds=0.1, lane="docs"))
    await gate.holds(1)
    waiting = asyncio.create_task(pool.run(lambda _work: "never", seconds=60, lane="docs"))
    with pytest.raises(UnavailableError, match="does not answer"):
        await outcome(waiting)
    with pytest.raises(UnavailableError, match="did not answer within"):
        await hanging


async def test_lanes_that_hang_do_not_take_the_others_down(gate: Gate) -> None:
    pool = WorkPool(threads=4, lane_threads=4, grace=0.02)
    for lane in ("a", "b", "c"):
        await fill(pool, gate, lane)
    assert await pool.run(lambda _work: "fine", seconds=5, lane="d") == "fine"


async def test_a_lane_recovers_when_a_thread_returns(gate: Gate) -> None:
    pool = WorkPool(grace=0.02)
    await fill(pool, gate, "docs")
    gate.go.set()

    async def answers() -> bool:
        try:
            return await pool.run(lambda _work: True, seconds=5, lane="docs")
        except UnavailableError:
            return False

    await eventually(answers)


async def test_a_lane_holds_no_more_threads_than_it_may(gate: Gate) -> None:
    pool = WorkPool(threads=16, lane_threads=4)
    calls = [asyncio.create_task(pool.run(gate, seconds=60, lane="docs")) for _ in range(10)]
    await gate.holds(4)
    assert not gate.began.acquire(timeout=0.05)
    gate.go.set()
    await asyncio.gather(*calls)
    assert len(gate.threads) == 4


async def test_the_pool_holds_no_more_threads_than_it_may(gate: Gate) -> None:
    pool = WorkPool(threads=6, lane_threads=4)
    calls = [asyncio.create_task(pool.run(gate, seconds=60, lane=str(number % 5))) for number in range(30)]
    await gate.holds(6)
    assert not gate.began.acquire(timeout=0.05)
    gate.go.set()
    assert set(await asyncio.gather(*calls)) == {"through"}
    assert len(gate.threads) == 6


async def test_threads_that_hang_are_replaced_and_dismissed_when_they_return(gate: Gate) -> None:
    pool = WorkPool(threads=2, lane_threads=2, grace=0.02)
    await fill(pool, gate, "dead", count=2)
    others = Gate()
    calls = [asyncio.create_task(pool.run(others, seconds=60, lane="well")) for _ in range(2)]
    await others.holds(2)
    gate.go.set()
    others.go.set()
    await asyncio.gather(*calls)
    alive = gate.threads | others.threads

    async def dismissed() -> bool:
        return sum(thread.is_alive() for thread in alive) == 2

    assert len(alive) == 4
    await eventually(dismissed)


async def test_searches_leave_half_the_threads_of_their_lane_to_short_calls(gate: Gate) -> None:
    pool = WorkPool(lane_threads=4)
    searches = [asyncio.create_task(pool.run(gate, seconds=60, lane="docs", long=True)) for _ in range(8)]
    await gate.holds(2)
    assert not gate.began.acquire(timeout=0.05)
    assert await asyncio.wait_for(pool.run(lambda _work: "quick", seconds=60, lane="docs"), BOUND) == "quick"
    gate.go.set()
    assert set(await asyncio.gather(*searches)) == {"through"}


async def test_a_lane_serves_even_with_one_thread_and_a_search(gate: Gate) -> None:
    pool = WorkPool(threads=1, lane_threads=1)
    gate.go.set()
    assert await pool.run(gate, seconds=5, lane="docs", long=True) == "through"


async def test_a_call_that_gets_no_turn_within_its_budget_is_told_that_it_is_busy(gate: Gate) -> None:
    pool = WorkPool(threads=1, lane_threads=1, grace=0.02)
    holding = asyncio.create_task(pool.run(gate, seconds=60, lane="docs"))
    await gate.holds(1)
    with pytest.raises(UnavailableError, match="The folder docs is busy"):
        await pool.run(lambda _work: 1, seconds=0.02, lane="docs")
    gate.go.set()
    assert await outcome(holding) == "through"


async def test_two_hundred_calls_of_five_lanes_all_come_back() -> None:
    pool = WorkPool(threads=3, lane_threads=2)

    def square(number: int) -> Callable[[Work], int]:
        return lambda _work: number * number

    calls = [pool.run(square(n), seconds=30, lane=str(n % 5), long=n % 3 == 0) for n in range(200)]
    assert await asyncio.gather(*calls) == [n * n for n in range(200)]


async def test_nothing_is_told_of_a_call_that_ends_within_a_second() -> None:
    told: list[float] = []

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        told.append(done)

    def quick(work: Work) -> str:
        work.done = 5
        return "done"

    assert await WorkPool().run(quick, seconds=5, progress=progress) == "done"
    assert told == []


@pytest.mark.slow
async def test_progress_is_told_after_a_second_then_twice_a_second_and_only_when_it_grew(gate: Gate) -> None:
    told: list[tuple[float, float, float | None, str | None]] = []
    began = time.monotonic()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((time.monotonic() - began, done, total, message))
        if len(told) == 3:
            gate.go.set()

    def count(work: Work) -> None:
        work.total, work.message = 10, "files"
        deadline = time.monotonic() + BOUND
        while not gate.go.is_set() and time.monotonic() < deadline:
            work.done = int((time.monotonic() - began) * 1000)
            time.sleep(0.001)

    await WorkPool().run(count, seconds=60, progress=progress)
    moments = [moment for moment, *_ in told]
    amounts = [done for _, done, *_ in told]
    assert len(told) == 3
    assert moments[0] >= 1.0
    assert all(later - earlier >= 0.49 for earlier, later in itertools.pairwise(moments))
    assert amounts == sorted(set(amounts))
    assert told[0][2:] == (10, "files")


@pytest.mark.slow
async def test_a_progress_callback_that_fails_does_not_fail_the_call(gate: Gate) -> None:
    async def progress(_done: float, _total: float | None, _message: str | None) -> None:
        gate.go.set()
        raise ConnectionError("the client is gone")

    def step(work: Work) -> str:
        work.done = 1
        return gate(work)

    assert await WorkPool().run(step, seconds=60, progress=progress) == "through"


async def test_a_closed_pool_cancels_what_runs_and_takes_nothing_new(gate: Gate) -> None:
    pool = WorkPool(threads=1, lane_threads=1)
    works: list[Work] = []

    def hold(work: Work) -> str:
        works.append(work)
        return gate(work)

    calls = [asyncio.create_task(pool.run(hold, seconds=60)) for _ in range(3)]
    await gate.holds(1)
    pool.close()
    for error in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(error, UnavailableError)
    assert works[0].cancelled
    with pytest.raises(UnavailableError, match="stopping"):
        await pool.run(lambda _work: 1, seconds=5)


def test_a_pool_serves_the_next_event_loop_when_the_last_one_is_closed() -> None:
    pool = WorkPool()
    assert asyncio.run(pool.run(lambda _work: 1, seconds=5)) == 1
    assert asyncio.run(pool.run(lambda _work: 2, seconds=5)) == 2
