"""One table for a reader, with what it was measured on."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from .corpus import Corpus
from .figures import Figure, Result

_LEGEND = """\
Each cell: the best time, how far the middle one of all rounds is above it (+7%), the memory that the server took above
what it takes when started, the length of the reply. Times run from the first byte of the request to the last byte of
the reply over stdio; every server gets a fresh process for each row, and in every round all servers and the floor take
their turn, so that all meet the same load. The floor is the least that the work can take in Python in this process (a
walk from descriptor to descriptor, one look at each file's bytes), without a protocol; where it says so it is a server
of the bare SDK with unchecked tools. *vs floor* and the factors in brackets compare best times; CPU compares the
least CPU that a round took, which other work on the machine hardly changes, where it does add to times: a target
counts as met if either keeps to it. On a quiet machine the two agree. Files are in the page cache."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table.

    Attributes:
        work: What was done.
        floor: The floor's cell.
        ours: Ours in the older era.
        ratio: Ours as a multiple of the floor.
        target: What is asked, and whether it is met.
        others: The cells of the other columns.
        met: Whether every target is met.
    """

    work: str
    floor: str
    ours: str
    ratio: str
    target: str
    others: tuple[str, ...]
    met: bool


def row_of(result: Result, *, ratios: bool = True) -> Row:
    """Write one scenario's figures.

    Args:
        result: The figures.
        ratios: Whether the ratio to the floor is judged: on a small corpus it is mostly the protocol's own cost.
    """
    names = list(result.figures)
    ours, floor = result.figures[names[0]], result.floor
    if ours is None:
        raise ValueError("a scenario without a figure of ours")
    ratio = ours.best / floor.best if floor and not ours.error else None
    cpu = ours.cpu / floor.cpu if floor and floor.cpu and ours.cpu and not ours.error else None
    least = min((one for one in (ratio, cpu) if one is not None), default=None)
    target, met = _judged(result, ours, least if ratios else None)
    others = tuple(_cell(result.figures[name], ours.best) for name in names[1:])
    floor_text = ("bare SDK: " if result.scenario.bare else "") + _time(floor) if floor else "-"
    return Row(result.scenario.title, floor_text, _cell(ours), _ratio(ratio, cpu), target, others, met)


def _judged(result: Result, ours: Figure, ratio: float | None) -> tuple[str, bool]:
    target = result.scenario.target
    asked = [
        (f"{target.times}x", target.times, ratio),
        (f"{target.milliseconds} ms", target.milliseconds, ours.best * 1e3),
        (f"+{target.growth} MB", target.growth, ours.growth),
        (_bytes(target.reply or 0), target.reply, float(ours.size)),
    ]
    return judge((text, limit, value) for text, limit, value in asked if limit is not None)


def judge(asked: Iterable[tuple[str, float, float | None]]) -> tuple[str, bool]:
    """Write limits with whether each is kept.

    Args:
        asked: For each, the limit as text, as a number, and what was measured (None: nobody tells).

    Returns:
        The cell, and whether all that could be measured are kept.
    """
    words: list[str] = []
    met = True
    for text, limit, value in asked:
        kept = value is None or value <= limit
        met = met and kept
        verdict = "not judged" if value is None else "ok" if kept else "**missed**"
        words.append(f"<= {text} {verdict}")
    return ", ".join(words) or "-", met


def _cell(figure: Figure | None, ours: float | None = None) -> str:
    if figure is None:
        return "no such tool"
    if figure.error:
        return f"fails: {figure.error}"
    factor = f" ({_times(figure.best / ours)})" if ours else ""
    parts = [f"{_time(figure)}{factor}"]
    if figure.growth is not None:
        parts.append(f"+{figure.growth:.0f} MB")
    if figure.size:
        parts.append(_bytes(figure.size))
    return " · ".join(parts)


def _time(figure: Figure) -> str:
    return f"{seconds(figure.best)} +{figure.spread:.0%}"


def _ratio(whole: float | None, cpu: float | None) -> str:
    return _times(whole) + (f", CPU {_times(cpu)}" if cpu is not None else "")


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:,.0f}x"


def seconds(value: float) -> str:
    """Write a time with three digits."""
    if value < 1:
        return f"{value * 1e3:.3g} ms" if value < 0.9995 else "1.00 s"
    return f"{value:.2f} s"


def _bytes(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e3:.3g} kB" if size < 1_000_000 else f"{size / 1e6:.3g} MB"


def table(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Write the rows as Markdown; `names` head the columns of servers, ours in the older era first."""
    heads = ["work", "floor", f"**{names[0]}**", "vs floor", "target", *names[1:]]
    lines = [heads, ["---"] * len(heads)]
    lines += [[row.work, row.floor, row.ours, row.ratio, row.target, *row.others] for row in rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def page(rows: Sequence[Row], names: Sequence[str], facts: Sequence[str]) -> str:
    """Write the whole page."""
    missed = [row.work for row in rows if not row.met]
    verdict = "Every target is met." if not missed else f"Missed: {'; '.join(missed)}."
    listed = "\n".join(f"- {fact}" for fact in facts)
    return (
        "# Benchmarks: filesystem\n\nWritten by `make bench`, which measures everything anew (some minutes; "
        f"`make bench ARGS=--small` for a quick look that writes nothing).\n\n{listed}\n\n{_LEGEND}\n\n"
        f"{table(rows, names)}\n\n{verdict}\n"
    )


def facts(corpus: Corpus, loads: tuple[str, str]) -> list[str]:
    """What was measured on: machine, versions, corpus."""
    cpu = _first_value(Path("/proc/cpuinfo"), "model name") or platform.processor() or platform.machine()
    versions = [f"Python {platform.python_version()}", f"mcp {version('mcp')}"]
    if node := shutil.which("node"):
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        versions.append(f"Node {told.removeprefix('v')}")
    return [
        f"Machine: {cpu}, {os.cpu_count()} cores, {platform.system()} {platform.release()}; load average {loads[0]} at "
        f"the start, {loads[1]} at the end",
        f"Versions: {', '.join(versions)}",
        f"Corpus: a project of {corpus.files:,} files in {corpus.directories:,} directories, {corpus.source_files:,} "
        "files of it not ignored; and single files of the given sizes",
    ]


def _first_value(path: Path, key: str) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")
