"""Measure the filesystem server: against its floors, the bare SDK, and the official server where npm is installed.

    bench.py                    everything, some minutes; writes docs/benchmarks.md
    bench.py --small            a small tree and fewer rounds, a minute or two; writes nothing
    bench.py --only NAME ...    some rows (a name is wrong: all names are told); writes nothing
    bench.py --alone            without the official server; writes nothing

The table goes to standard output, what is going on to standard error. Exit status 1 if a target is missed in a whole
run; a small or partial one only shows.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measuring import contestants, corpus, report
from measuring.contestants import Contestant
from measuring.corpus import Corpus
from measuring.figures import Figure, measure
from measuring.life import Search, after_cancel, measure_start_costs, measure_starts, slowest_beside
from measuring.report import Row
from measuring.scenarios import Call, all_scenarios

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "benchmarks.md"

_LIFE = ("start", "beside", "cancel")
_START_ROUNDS = 7
_CPU_TIMES, _MEMORY_TIMES = 1.25, 1.2
_LIST_BYTES = 9_216
_BESIDE_SECONDS, _CANCEL_SECONDS = 0.030, 0.100


def say(text: str) -> None:
    """Tell what is going on."""
    print(text, file=sys.stderr, flush=True)


class Bench:
    """One run of the benchmark.

    Args:
        made: The corpus.
        running: Who is measured, ours in the older era first.
        small: Whether rounds are few.
    """

    def __init__(self, made: Corpus, running: Sequence[Contestant], *, small: bool) -> None:
        self._corpus = made
        self._running = running
        self._small = small

    def rows(self, only: Sequence[str]) -> list[Row]:
        """Measure what is named, everything without a name."""
        rows: list[Row] = []
        for name, take in (("start", self._start), ("beside", self._beside), ("cancel", self._cancel)):
            if not only or name in only:
                say(name)
                rows += take()
        for scenario in all_scenarios(self._corpus):
            if not only or scenario.name in only:
                say(scenario.name)
                rounds = max(3, scenario.rounds // 10) if self._small else None
                result = measure(scenario, self._running, self._corpus.folder, rounds)
                rows.append(report.row_of(result, ratios=scenario.bare is not None or not self._small))
        return rows

    def _start(self) -> list[Row]:
        rounds = 2 if self._small else _START_ROUNDS
        folder = self._corpus.folder
        starts = measure_starts(self._running, folder, rounds)
        costs = measure_start_costs(self._running[0], folder, rounds)
        bare, ours, *others = [starts[name] for name in ("bare SDK", *(one.name for one in self._running))]
        cpu, cpu_met = report.judge([(f"{_CPU_TIMES}x", _CPU_TIMES, costs.cpu)])
        memory, memory_met = report.judge([(f"{_MEMORY_TIMES}x", _MEMORY_TIMES, costs.memory)])
        size, _ = report.judge([("9 kB where clarity allows", _LIST_BYTES, None)])
        return [
            Row(
                "start until the tools are listed",
                f"bare SDK: {_start_cell(bare.ready, bare.peak)}",
                _start_cell(ours.ready, ours.peak),
                f"{ours.ready.best / bare.ready.best:.2f}x",
                "-",
                tuple(_start_cell(other.ready, other.peak) for other in others),
                True,
            ),
            _ratio_row("CPU of a start", costs.cpu, cpu, cpu_met, len(others)),
            _ratio_row("memory after a start", costs.memory, memory, memory_met, len(others)),
            Row(
                "the list of tools",
                "-",
                f"{ours.list_bytes:,} B for {ours.tools} tools",
                "-",
                size.removesuffix(" not judged"),
                tuple(f"{other.list_bytes:,} B for {other.tools} tools" for other in others),
                True,
            ),
        ]

    def _beside(self) -> list[Row]:
        rounds = 3 if self._small else 7
        figures = [
            slowest_beside(one, self._corpus.folder, self._search(one), rounds if one.ours else 2)
            for one in self._running
        ]
        return [_life_row("slowest read of 1 KB during a search through everything", figures, _BESIDE_SECONDS)]

    def _cancel(self) -> list[Row]:
        rounds = 2 if self._small else 3
        figures = [after_cancel(one, self._corpus.folder, self._search(one), rounds) for one in self._running]
        return [_life_row("CPU used in the second after a search was cancelled", figures, _CANCEL_SECONDS)]

    def _search(self, one: Contestant) -> Search:
        """A search for what is not there, and a cheap call."""
        wanted: dict[str, object] = {"path": str(self._corpus.tree), "pattern": "**/*.nomatch"}
        read = Call("read_file" if one.ours else "read_text_file", {"path": self._corpus.file("f1k.txt")})
        if one.ours:
            wanted["includeIgnored"] = True
        return Search(Call("search_files", wanted), read)


def _start_cell(ready: Figure, peak: float | None) -> str:
    memory = "" if peak is None else f" · {peak:.0f} MB"
    return f"{report.seconds(ready.best)} +{ready.spread:.0%}{memory}"


def _ratio_row(work: str, ratio: float, target: str, met: bool, others: int) -> Row:
    return Row(work, "bare SDK", "-", f"{ratio:.2f}x", target, ("-",) * others, met)


def _life_row(work: str, figures: Sequence[Figure | None], limit: float) -> Row:
    ours = figures[0]
    target, met = report.judge([(report.seconds(limit), limit, ours.best if ours else None)])
    cells = ["-" if one is None else f"{report.seconds(one.best)} to {report.seconds(one.middle)}" for one in figures]
    return Row(work, "-", cells[0], "-", target, tuple(cells[1:]), met)


def load() -> str:
    """The load average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def run(options: argparse.Namespace) -> int:
    """Build the corpus, measure, report."""
    before = load()
    with tempfile.TemporaryDirectory(prefix="mcp-curated-bench-") as name:
        folder = Path(name).resolve()
        say("making the corpus")
        (folder / "data").mkdir()
        made = corpus.build(folder / "data", corpus.SMALL if options.small else corpus.FULL)
        running = contestants.ours()
        missing = ["The official server was left out."] if options.alone else []
        if not options.alone:
            installed, missing = contestants.official(folder / "official")
            running += installed
        for line in missing:
            say(line)
        known = [*_LIFE, *(scenario.name for scenario in all_scenarios(made))]
        if unknown := [one for one in options.only if one not in known]:
            say(f"There is no row {unknown[0]!r}. Rows: {', '.join(known)}.")
            return 2
        rows = Bench(made, running, small=options.small).rows(options.only)
        facts = [*report.facts(made, (before, load())), *missing]
    names = [one.name for one in running]
    print(report.table(rows, names))
    if options.small or options.only or options.alone:
        return 0
    PAGE.write_text(report.page(rows, names, facts), encoding="utf-8")
    say(f"Written to {PAGE.relative_to(REPOSITORY)}.")
    return 0 if all(row.met for row in rows) else 1


def main(arguments: Sequence[str]) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a small tree and fewer rounds")
    parser.add_argument("--alone", action="store_true", help="without the official server")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these rows")
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
