"""What is no single call's time: starting, answering beside a search, ending a search that nobody waits for."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_curated_shared.testing import Command, Ratios, startup_ratios

from .contestants import BARE, Contestant
from .figures import Figure
from .process import Server
from .scenarios import Call

_WATCHED_SECONDS = 1.0
_BEFORE_CANCEL_SECONDS = 0.1
_BETWEEN_CALLS_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Start:
    """Starts of one server.

    Attributes:
        ready: Until the tools were listed.
        peak: Megabytes then; None if nobody tells.
        list_bytes: Bytes of the list of tools.
        tools: How many are in it.
    """

    ready: Figure
    peak: float | None
    list_bytes: int
    tools: int


def measure_starts(contestants: Sequence[Contestant], folder: Path, rounds: int) -> dict[str, Start]:
    """Start every server several times, in turn, the bare one too."""
    times: dict[str, list[float]] = {}
    last: dict[str, Start] = {}
    for _ in range(rounds):
        for contestant in [BARE, *contestants]:
            with Server(contestant.serving(folder), contestant.era) as server:
                seconds = times.setdefault(contestant.name, [])
                seconds.append(server.ready_seconds)
                peak = server.peak_kilobytes()
                figure = Figure(min(seconds), sorted(seconds)[len(seconds) // 2])
                megabytes = None if peak is None else peak / 1024
                last[contestant.name] = Start(figure, megabytes, server.list_bytes, server.tools)
    return last


def measure_start_costs(contestant: Contestant, folder: Path, rounds: int) -> Ratios:
    """CPU and memory of a start as multiples of the bare server's."""
    return startup_ratios(Command(contestant.serving(folder)), Command(BARE.serving(folder)), rounds)


@dataclass(frozen=True, slots=True)
class Search:
    """A search through everything, for what is not there, and a cheap call beside it."""

    search: Call
    cheap: Call


def slowest_beside(contestant: Contestant, folder: Path, calls: Search, rounds: int) -> Figure:
    """The slowest cheap call during each of several searches: the best and the middle one of these."""
    slowest: list[float] = []
    with Server(contestant.serving(folder), contestant.era) as server:
        server.call(calls.cheap.tool, calls.cheap.arguments)
        for _ in range(rounds):
            request = server.start(calls.search.tool, calls.search.arguments)
            worst = 0.0
            while not server.answered(request):
                worst = max(worst, server.call(calls.cheap.tool, calls.cheap.arguments).seconds)
                time.sleep(_BETWEEN_CALLS_SECONDS)
            server.wait(request)
            slowest.append(worst)
    return Figure(min(slowest), sorted(slowest)[len(slowest) // 2])


def after_cancel(contestant: Contestant, folder: Path, calls: Search, rounds: int) -> Figure | None:
    """CPU seconds that a server uses in the second after a search was cancelled; None if nobody tells."""
    used: list[float] = []
    for _ in range(rounds):
        with Server(contestant.serving(folder), contestant.era) as server:
            request = server.start(calls.search.tool, calls.search.arguments)
            time.sleep(_BEFORE_CANCEL_SECONDS)
            if server.answered(request):
                return None  # the search is over too soon to be cancelled: a small corpus
            server.cancel(request)
            before = server.cpu_seconds()
            time.sleep(_WATCHED_SECONDS)
            after = server.cpu_seconds()
            if before is None or after is None:
                return None
            used.append(after - before)
    return Figure(min(used), sorted(used)[len(used) // 2])
