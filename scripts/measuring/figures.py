"""Taking the figures: every server and the floor in turn, so that all of them meet the same load."""

import gc
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from .contestants import BARE, Contestant
from .floors import Floor
from .process import Reply, Server, ServerEndedError
from .scenarios import Call, Scenario

_PATIENCE = 10.0
"""Seconds that one server may take of a scenario; then it is not measured again."""

_SHOWN_OF_AN_ERROR = 60


@dataclass(frozen=True, slots=True)
class Figure:
    """What one server, or the floor, took for one piece of work.

    Attributes:
        best: Seconds of the quickest time.
        middle: Seconds of the middle time.
        growth: Megabytes above what the started server took at the highest; None if nobody tells.
        size: Bytes of the reply; 0 for a floor that is no server.
        cpu: Seconds of CPU, the least of all rounds; None if nobody tells.
        error: Why it is no result; empty if it is one.
    """

    best: float
    middle: float
    growth: float | None = None
    size: int = 0
    cpu: float | None = None
    error: str = ""

    @property
    def spread(self) -> float:
        """How far the middle time is above the best one, as a part of it."""
        return self.middle / self.best - 1 if self.best else 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """One scenario's figures by contestant; None for one that has no tool for it."""

    scenario: Scenario
    floor: Figure | None
    figures: dict[str, Figure | None]


@dataclass(slots=True)
class _Runner:
    """One started server in one scenario."""

    server: Server
    call: Call
    expected: str
    start_kilobytes: int | None = None
    times: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    size: int = 0
    error: str = ""

    def once(self) -> None:
        """Call once, unless it is known already how that ends."""
        if self.error or sum(self.times) > _PATIENCE:
            return
        before = self.server.cpu_seconds()
        try:
            reply = self.server.call(self.call.tool, self.call.arguments)
        except ServerEndedError as error:
            self.error = str(error)
            return
        after = self.server.cpu_seconds()
        self.times.append(reply.seconds)
        if before is not None and after is not None:
            self.cpu.append(after - before)
        self.size = reply.size
        self.error = _fault(reply, self.expected)

    def figure(self) -> Figure:
        if not self.times:
            return Figure(0.0, 0.0, error=self.error)
        peak, start = self.server.peak_kilobytes(), self.start_kilobytes
        growth = None if peak is None or start is None else (peak - start) / 1024
        cpu = min(self.cpu, default=None)
        return Figure(min(self.times), median(self.times), growth, self.size, cpu, self.error)


def _fault(reply: Reply, expected: str) -> str:
    if reply.error:
        return reply.error[:_SHOWN_OF_AN_ERROR]
    return "" if expected in reply.text else f"the reply lacks {expected!r}"


def measure(scenario: Scenario, contestants: Sequence[Contestant], folder: Path, rounds: int | None = None) -> Result:
    """Measure one scenario, a fresh process for each server.

    Args:
        scenario: The work.
        contestants: Who does it.
        folder: What they serve.
        rounds: How often; the scenario's own number for None.
    """
    with ExitStack() as stack:
        runners: dict[str, _Runner] = {}
        for contestant in contestants:
            call = scenario.ours if contestant.ours else scenario.official
            if call is not None:
                expected = scenario.expected if contestant.ours else ""
                runners[contestant.name] = _started(stack, contestant, folder, call, expected)
        bare = _started(stack, BARE, folder, scenario.bare, "") if scenario.bare else None
        times: list[tuple[float, float]] = []
        for _ in range(rounds or scenario.rounds):
            for runner in [*([bare] if bare else []), *runners.values()]:
                _prepare(scenario)
                runner.once()
            if scenario.floor is not None:
                _prepare(scenario)
                times.append(_seconds(scenario.floor))
        floor = bare.figure() if bare else _floor(times) if times else None
        figures = {one.name: runners[one.name].figure() if one.name in runners else None for one in contestants}
        return Result(scenario, floor, figures)


def _started(stack: ExitStack, contestant: Contestant, folder: Path, call: Call, expected: str) -> _Runner:
    server = stack.enter_context(Server(contestant.serving(folder), contestant.era))
    return _Runner(server, call, expected, server.peak_kilobytes())


def _prepare(scenario: Scenario) -> None:
    if scenario.prepare is not None:
        scenario.prepare()


def _seconds(floor: Floor) -> tuple[float, float]:
    """Do the floor's work once: seconds, and seconds of CPU."""
    gc.collect()
    gc.disable()  # what this process holds beside the floor's own work is no part of it
    try:
        started, used = time.perf_counter(), time.thread_time()
        floor()
        return time.perf_counter() - started, time.thread_time() - used
    finally:
        gc.enable()


def _floor(times: Sequence[tuple[float, float]]) -> Figure:
    whole, cpu = [one for one, _ in times], [one for _, one in times]
    return Figure(min(whole), median(whole), cpu=min(cpu))
