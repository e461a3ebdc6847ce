"""What the server goes through: kills in the middle of writes, many edits at once, readers during rewrites, callers
that leave. `python -m tests.filesystem.server.endurance` runs the full counts and prints the figures.
"""

import contextlib
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mcp_curated_shared.testing.clients import ERAS, LEGACY, Era
from mcp_curated_shared.testing.wire import ServerProcess
from tests.filesystem.server.processes import (
    BOUND,
    call,
    over_http,
    over_wire,
    processor_seconds,
    send,
    succeeded,
    text_of,
    wait_for_work,
    wait_until,
    work_until_rest,
)

MEGABYTE = 1 << 20


def body(number: int, size: int) -> str:
    """A text of about `size` bytes in which every line tells which text it is."""
    line = f"{number:08d}\n"
    return line * (size // len(line))


def which(data: bytes, size: int) -> int | None:
    """The number of the text that `data` is, whole; None for anything else."""
    head = data[:8]
    return int(head) if head.isdigit() and data == body(int(head), size).encode() else None


@dataclass
class Kills:
    """What was found after the kills.

    Attributes:
        killed: How many writes were killed while their new content was being written, none of them answered.
        old: Files that were as before.
        new: Files that were as they should become.
        broken: Any other file.
        left: Entries beside the file after the kill.
        litter: Entries beside the file after the next start.
    """

    killed: int = 0
    old: int = 0
    new: int = 0
    broken: list[str] = field(default_factory=list[str])
    left: int = 0
    litter: list[str] = field(default_factory=list[str])


def kill_in_writes(root: Path, count: int, size: int) -> Kills:
    """Kill the server in the middle of `count` writes, every second one of a file that is not there yet."""
    kills, chance = Kills(), random.Random(16)
    standing = root / "standing.txt"
    standing.write_text(body(0, size))
    seconds = _write_seconds(root, size)
    now = 0
    for number in range(1, count + 1):
        target = standing if number % 2 else root / f"fresh-{number}.txt"
        with over_wire(root) as server:
            wait_until(lambda: not _beside(root), "the litter of the last kill is gone")
            request = send(server, "write_file", path=str(target), content=body(number, size))
            wait_until(lambda: _writes(server.process.pid, root), "the write begins")
            threading.Event().wait(chance.uniform(0, 1.1) * seconds)
            server.process.kill()
            server.process.wait()
            server.drain()
            kills.killed += f'"id":{request},'.encode() not in b"".join(server.lines).replace(b": ", b":")
        found = which(target.read_bytes(), size) if target.exists() else now if target == standing else -1
        before = now if target == standing else -1
        kills.old += found == before
        kills.new += found == number
        if found not in (before, number):
            kills.broken.append(f"{target.name} after kill {number}: {found}")
        kills.left += len(_beside(root))
        now = number if found == number and target == standing else now
        if target != standing:
            target.unlink(missing_ok=True)
    with over_wire(root):
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not _beside(root), "the litter is gone", 10)
        kills.litter = _beside(root)
    return kills


def _beside(root: Path) -> list[str]:
    return [name for name in os.listdir(root) if name != "standing.txt" and not name.startswith("fresh-")]


def _write_seconds(root: Path, size: int) -> float:
    """How long a write takes from the birth of its new file to the reply."""
    with over_wire(root) as server:
        request = send(server, "write_file", path=str(root / "fresh-0.txt"), content=body(0, size))
        wait_until(lambda: _writes(server.process.pid, root), "the write begins")
        started = time.monotonic()
        succeeded(server.reply(request, BOUND))
    (root / "fresh-0.txt").unlink()
    return time.monotonic() - started


def _writes(process: int, root: Path) -> bool:
    """Whether a process holds a file of the root that has no name, or one of ours: the new content of a write."""
    for number in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):
            leads = os.readlink(f"/proc/{process}/fd/{number}")
            if leads.startswith(f"{root}/") and (leads.endswith("(deleted)") or "/.mcp-curated-" in leads):
                return True
    return False


def edit_at_once(root: Path, count: int, servers: int) -> tuple[int, int, float]:
    """Send `count` edits of `count` lines of one file at once, spread over so many servers.

    Returns:
        How many were told to have worked, how many are in the file, and the seconds it took.
    """
    file = root / "lines.txt"
    file.write_text("".join(f"line {number:04d} before\r\n" for number in range(count)), newline="")
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(over_wire(root)) for _ in range(servers)]
        begin = time.monotonic()
        asked: list[tuple[ServerProcess, int]] = []
        for number in range(count):
            edit = {"oldText": f"line {number:04d} before", "newText": f"line {number:04d} after"}
            server = started[number % servers]
            asked.append((server, send(server, "edit_file", path=str(file), edits=[edit])))
        replies = [server.reply(request, BOUND) for server, request in asked]
        seconds = time.monotonic() - begin
    told = sum(not reply["result"].get("isError") for reply in replies)
    expected = [f"line {number:04d} after\r\n".encode() for number in range(count)]
    present = sum(line == wanted for line, wanted in zip(file.read_bytes().splitlines(True), expected, strict=True))
    return told, present, seconds


@dataclass
class Reads:
    """What readers saw while a file was rewritten: how many looks, how many different texts, and what was no text."""

    looks: int = 0
    texts: set[int] = field(default_factory=set[int])
    torn: int = 0


def read_while_rewritten(root: Path, rewrites: int, size: int, readers: int = 2) -> Reads:
    """Poll a file from several threads while the server rewrites it."""
    file, reads, done = root / "rewritten.txt", Reads(), threading.Event()
    file.write_text(body(0, size))

    def look() -> None:
        while not done.is_set():
            number = which(file.read_bytes(), size)
            reads.looks += 1
            reads.torn += number is None
            if number is not None:
                reads.texts.add(number)

    threads = [threading.Thread(target=look) for _ in range(readers)]
    with over_wire(root) as server:
        for thread in threads:
            thread.start()
        try:
            for number in range(1, rewrites + 1):
                call(server, "write_file", path=str(file), content=body(number, size))
        finally:
            done.set()
            for thread in threads:
                thread.join()
    return reads


Kind = Literal["search_content", "search_files", "directory_tree", "copy_file", "slow_pattern"]
KINDS: Sequence[Kind] = ("search_content", "search_files", "directory_tree", "copy_file", "slow_pattern")


def lay_out_work(top: Path, scale: int = 1, kinds: Sequence[Kind] = KINDS) -> None:
    """Make what takes long for these kinds of work.

    `heavy` holds one text of 16 MB under some names and `many` under many; `deep` holds many folders, `flat`
    many entries in few folders.
    """
    heavy, many = top / "heavy" / "texts", top / "many"
    heavy.mkdir(parents=True)
    many.mkdir()
    line = "the quick brown fox jumps over the lazy dog 0123456789\n"
    (heavy / "text-0.txt").write_text(line * (16 * MEGABYTE // len(line)))
    for number in range(1, 20 * scale):
        os.link(heavy / "text-0.txt", heavy / f"text-{number}.txt")
    for number in range(400):
        os.link(heavy / "text-0.txt", many / f"text-{number}.txt")
    if "slow_pattern" in kinds:
        (top / "slow.txt").write_text(f"{'a' * 60}\u00e9\n" * 40_000 * scale, encoding="utf-8")
    for number in range(250 * scale if "search_files" in kinds else 0):
        for inner in range(40):
            os.makedirs(top / "deep" / f"{number:04d}" / f"{inner:02d}")
    for number in range(4 * scale if "directory_tree" in kinds else 0):
        (flat := top / "flat" / str(number)).mkdir(parents=True)
        (flat / "first").touch()
        for inner in range(20_000):
            os.link(flat / "first", flat / f"a-name-that-is-not-short-{inner}")


def root_of(kind: Kind, top: Path) -> Path:
    """The root for a kind of work: what is tidied some seconds after the start must not be mistaken for work."""
    return top / "heavy" if kind == "copy_file" else top


def flags_of(kind: Kind) -> tuple[str, ...]:
    """The flags for a kind of work; nothing is tidied in a server that only reads."""
    return () if kind == "copy_file" else ("--read-only",)


def work_of(kind: Kind, top: Path) -> dict[str, object]:
    """The arguments of a call that takes long."""
    match kind:
        case "search_content":
            return {"path": str(top / "many"), "pattern": r"dog [0-9]+x", "regex": True}
        case "search_files":
            return {"path": str(top / "deep"), "pattern": "**/x?y*z/**/*q"}
        case "directory_tree":
            return {"path": str(top / "flat"), "depth": 20}
        case "copy_file":
            return {"source": str(top / "heavy" / "texts"), "destination": str(top / "heavy" / "copied")}
        case "slow_pattern":
            return {"path": str(top / "slow.txt"), "pattern": r"(a|a|aa)+$", "regex": True}


def tool_of(kind: Kind) -> str:
    """The tool of a kind of work."""
    return "search_content" if kind == "slow_pattern" else kind


@dataclass
class Left:
    """What a server did for a caller that had left.

    Attributes:
        processor: Seconds of processor time after it left.
        answered: Whether the cancelled request was answered all the same.
        found: What is beside the source of a copy in the end.
    """

    processor: float
    answered: bool
    found: list[str]


def cancel_on_wire(top: Path, era: Era, kind: Kind) -> Left:
    """Start work, cancel it by the notification, and watch the server until it rests."""
    with over_wire(root_of(kind, top), era, *flags_of(kind)) as server:
        request = send(server, tool_of(kind), **work_of(kind, top))
        wait_for_work(server.process.pid)
        server.notify("notifications/cancelled", {"requestId": request, "reason": "the test has seen enough"})
        used = work_until_rest(server.process.pid)
        call(server, "list_allowed_directories")
        return Left(used, server.replied(request), _copies(top))


def leave_over_http(top: Path, era: Era, kind: Kind) -> Left:
    """Start work over HTTP, close the connection in its middle, and watch the server until it rests."""
    with over_http(root_of(kind, top), era, *flags_of(kind)) as server:
        connection = server.send(tool_of(kind), **work_of(kind, top))
        wait_for_work(server.pid)
        connection.close()
        used = work_until_rest(server.pid)
        server.call("list_allowed_directories")
        return Left(used, False, _copies(top))


def _copies(top: Path) -> list[str]:
    return [name for name in os.listdir(top / "heavy") if name != "texts"]


def whole_work(top: Path, kind: Kind) -> float:
    """The processor time of the same work when nobody leaves."""
    with over_wire(root_of(kind, top), LEGACY, *flags_of(kind)) as server:
        start = processor_seconds(server.process.pid)
        text_of(server.reply(send(server, tool_of(kind), **work_of(kind, top)), BOUND))
        used = processor_seconds(server.process.pid) - start
    remove_copy(top)
    return used


def remove_copy(top: Path) -> None:
    """Take away what a copy that was not cancelled has made."""
    shutil.rmtree(top / "heavy" / "copied", ignore_errors=True)


def cheap_calls_during_search(top: Path, count: int) -> tuple[list[float], bool]:
    """Seconds of `count` small reads during a long search, and whether the search still ran after the last of them."""
    (top / "small.txt").write_text("small\n")
    with over_wire(top, LEGACY, "--read-only") as server:
        call(server, "read_file", path=str(top / "small.txt"))
        request = send(server, "search_content", **work_of("search_content", top))
        wait_for_work(server.process.pid)
        taken: list[float] = []
        for _ in range(count):
            started = time.monotonic()
            call(server, "read_file", path=str(top / "small.txt"))
            taken.append(time.monotonic() - started)
        return taken, not server.replied(request)


@contextlib.contextmanager
def _ground() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        yield root


def _table(title: str, rows: Callable[[Path], Generator[str]]) -> None:
    print(f"\n{title}", flush=True)
    with _ground() as root:
        for row in rows(root):
            print(f"  {row}", flush=True)


def _kills(root: Path) -> Generator[str]:
    yield str(kill_in_writes(root, 50, 8 * MEGABYTE))


def _edits(root: Path) -> Generator[str]:
    for count in (20, 200):
        for servers in (1, 2):
            told, present, seconds = edit_at_once(root, count, servers)
            yield f"{count} edits, {servers} servers: {told} told, {present} present, {seconds:.2f} s"


def _reads(root: Path) -> Generator[str]:
    reads = read_while_rewritten(root, 100, 2 * MEGABYTE, readers=3)
    yield f"{reads.looks} looks, {len(reads.texts)} of 101 texts seen, {reads.torn} torn"


def _cancellations(root: Path) -> Generator[str]:
    lay_out_work(root, 3)
    for kind in KINDS:
        yield f"{kind:15} whole:          {whole_work(root, kind) * 1e3:8.1f} ms of work"
        for era in ERAS:
            left = cancel_on_wire(root, era, kind)
            yield f"{kind:15} stdio {era:10} {left.processor * 1e3:7.1f} ms after the cancellation {left.found}"
        for era in ERAS:
            left = leave_over_http(root, era, kind)
            yield f"{kind:15} HTTP  {era:10} {left.processor * 1e3:7.1f} ms after the caller left  {left.found}"
            remove_copy(root)


def _cheap(root: Path) -> Generator[str]:
    lay_out_work(root, 3)
    taken, running_on = cheap_calls_during_search(root, 100)
    ordered = sorted(taken)
    yield (
        f"100 small reads: median {statistics.median(taken) * 1e3:.1f} ms, 95th {ordered[94] * 1e3:.1f} ms, "
        f"longest {ordered[-1] * 1e3:.1f} ms; the search {'still ran' if running_on else 'had ended'}"
    )


def main(names: Sequence[str]) -> None:
    """Print the figures."""
    tables = {"kills": _kills, "edits": _edits, "reads": _reads, "cancel": _cancellations, "cheap": _cheap}
    for name in names or tables:
        _table(name, tables[name])


if __name__ == "__main__":
    main(sys.argv[1:])
