"""Calls to the real server over stdio while another process swaps a directory of the path with a link to outside.

`python -m tests.security.race_server [--tries 5000] [--tool NAME ...]` runs every tool in every mode and prints a
table: how often the inside was reached, how often the swap was met and refused, and how often anything of the outside
was seen or touched, which must be never.
"""

import argparse
import contextlib
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_curated_shared.security import landlock
from mcp_curated_shared.testing.clients import LEGACY, Command
from mcp_curated_shared.testing.wire import ServerProcess, running
from tests.security import without_openat2
from tests.security.race_ground import SLOTS, Field, lay_out
from tests.security.race_operations import OPERATIONS, Operation, Watch
from tests.security.race_swapper import swapping

_OURS = ("-m", "mcp_curated_filesystem")


@dataclass(frozen=True)
class Mode:
    """How the server runs.

    Attributes:
        walk: Without openat2, so that every path is walked.
        landlock: With the kernel's second layer.
    """

    walk: bool
    landlock: bool

    def __str__(self) -> str:
        return f"{'walk' if self.walk else 'openat2'}{'+landlock' if self.landlock else ''}"


MODES = (Mode(False, False), Mode(False, True), Mode(True, False), Mode(True, True))


@dataclass
class Outcome:
    """What the tries of one operation came to.

    Attributes:
        mode: How the server ran.
        tries: How many there were.
        worked: Tries that reached the inside.
        met: Tries that met the swap: refused for leading outside, or without what lies in the directory.
        closed: Tries that met the swap while the directory itself was outside (it takes the link's place there), and
            were refused by Landlock.
        other: Refusals for another reason, by their text.
        escaped: Replies that hold something of the outside.
        damage: What was changed outside, came in from there, was lost inside, or was made by a call that was refused.
    """

    mode: Mode
    tries: int = 0
    worked: int = 0
    met: int = 0
    closed: int = 0
    other: Counter[str] = field(default_factory=Counter[str])
    escaped: list[str] = field(default_factory=list[str])
    damage: list[str] = field(default_factory=list[str])

    def refused(self, kind: str, told: str) -> None:
        """Count a refusal by its reason."""
        if kind == "outside_roots":
            self.met += 1
        elif kind == "permission" and self.mode.landlock:
            self.closed += 1
        else:
            self.other[re.sub(r'"/[^"]*"|/\S+', "PATH", told)[:160]] += 1

    def proves(self) -> bool:
        """Whether both states of the swapped directory were met; without that a run says nothing."""
        return self.worked > 0 and self.met + self.closed > 0

    @property
    def escapes(self) -> int:
        """How often the fence did not hold."""
        return len(self.escaped) + len(self.damage)


def available(mode: Mode) -> str:
    """Why a mode cannot be run here; empty when it can."""
    if mode.landlock and landlock.abi() < 2:
        return "this kernel has no Landlock of ABI 2 or more"
    if mode.walk:
        child = os.fork()
        if child == 0:
            os._exit(0 if without_openat2.forbid_openat2() else without_openat2.NO_FILTERS)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            return "this system lets no process set a seccomp filter"
    return ""


@contextlib.contextmanager
def serving(top: Path, mode: Mode, program: Sequence[str] = _OURS) -> Generator[ServerProcess]:
    """The server for `top/root` in this mode."""
    (top / "root").mkdir(exist_ok=True)
    argv = [sys.executable, *program, str(top / "root")]
    if program is _OURS:
        argv += ["--log-level", "debug", "--landlock" if mode.landlock else "--no-landlock"]
        argv += ["--allow-delete", "--confirm", "host"]  # this client cannot be asked
    if mode.walk:
        argv = [sys.executable, without_openat2.__file__, *argv]
    environment = {"HOME": str(top)} | {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    with running(Command(argv, environment), LEGACY) as server:
        server.call("tools/list", {})
        assert (b"confines this process" in server.error_output) == mode.landlock, server.error_output
        yield server


def race(
    server: ServerProcess,
    mode: Mode,
    top: Path,
    name: str,
    tries: int,
    until: Callable[[Outcome], bool] = Outcome.proves,
) -> Outcome:
    """Try one operation against the swapper, several calls at a time.

    Args:
        server: Serves `top/root`.
        mode: How it runs.
        top: Where the ground is made.
        name: Of the operation.
        tries: How many at least.
        until: What must have happened before it ends; given up after 40 times as many tries.
    """
    ground, operation = lay_out(top, name), OPERATIONS[name]()
    outcome, not_made = Outcome(mode), list[str]()
    with swapping(ground.ground):
        while outcome.tries < tries or (not until(outcome) and outcome.tries < 40 * tries):
            first = outcome.tries
            asked = [server.send(*operation.request(ground, slot, first + slot)) for slot in range(SLOTS)]
            for slot, request in enumerate(asked):
                done = _judge(server.reply(request), ground, operation, slot, outcome)
                if not done and (made := operation.makes(ground, first + slot)) is not None:
                    not_made.append(made)
            if isinstance(operation, Watch):
                outcome.escaped += watched_outside(server.process.pid, ground)
    untrue = [f"refused, but made: {path}" for path in not_made if os.path.lexists(path)]
    outcome.damage = [*ground.damage(), *ground.losses(operation.settled), *untrue]
    return outcome


def _judge(reply: dict[str, Any], ground: Field, operation: Operation, slot: int, outcome: Outcome) -> bool:
    """Count a reply; gives whether it says that the call worked."""
    text = json.dumps(reply, ensure_ascii=False)
    outcome.tries += 1
    if ground.leaks(text):
        outcome.escaped.append(text[:500])
        return True
    if "error" in reply or reply["result"].get("isError"):
        outcome.refused(*_refusal(reply))
        return False
    if operation.worked(slot, text):
        outcome.worked += 1
        operation.did(slot, text)
    else:
        outcome.met += 1
    return True


def _refusal(reply: dict[str, Any]) -> tuple[str, str]:
    if "error" in reply:
        return str((reply["error"].get("data") or {}).get("kind")), str(reply["error"]["message"])
    result = reply["result"]
    kind = result.get("_meta", {}).get("mcp-curated/error", {}).get("kind")
    return str(kind), " ".join(block.get("text", "") for block in result["content"])


def watched_outside(process: int, ground: Field) -> list[str]:
    """What a process holds open, or watches with inotify (proc_pid_fdinfo(5)), that lies outside."""
    inodes = {one[0] for one in ground.before.values()}
    found: list[str] = []
    for number in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            leads = os.readlink(f"/proc/{process}/fd/{number}")
            if leads.startswith(str(ground.ground.outside)):
                found.append(f"holds {leads}")
            elif "inotify" in leads:
                info = Path(f"/proc/{process}/fdinfo/{number}").read_text()
                found += [f"watches {ino}" for ino in re.findall(r"ino:([0-9a-f]+)", info) if int(ino, 16) in inodes]
    return found


def main(tries: int, names: Sequence[str], modes: Sequence[Mode]) -> int:
    """Race in these modes, print the table; gives the number of escapes."""
    escapes = 0
    print(f"{'mode':17} {'tool':16} {'tries':>6} {'worked':>7} {'met':>6} {'closed':>6} {'other':>6} {'escapes':>8}")
    for mode in modes:
        if why := available(mode):
            print(f"{mode!s:17} left out: {why}", flush=True)
            continue
        for name in names:
            # A server for each, so that one that broke is seen where it broke.
            with tempfile.TemporaryDirectory() as folder, serving(Path(folder), mode) as server:
                outcome = race(server, mode, Path(folder), name, tries)
            counts = (outcome.met, outcome.closed, outcome.other.total())
            figures = " ".join(f"{count:6}" for count in counts)
            row = f"{mode!s:17} {name:16} {outcome.tries:6} {outcome.worked:7} {figures} {outcome.escapes:8}"
            print(row, flush=True)
            for text, count in outcome.other.most_common(3):
                print(f"{'':17} {count:6} x {text}", flush=True)
            for text in (*outcome.escaped[:3], *outcome.damage[:3]):
                print(f"{'':17} ESCAPE {text}", flush=True)
            escapes += outcome.escapes
    return escapes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=5_000)
    parser.add_argument("--tool", nargs="*", choices=[*OPERATIONS], default=[*OPERATIONS], metavar="NAME")
    parser.add_argument("--mode", nargs="*", choices=[*map(str, MODES)], default=[*map(str, MODES)], metavar="MODE")
    given = parser.parse_args()
    sys.exit(1 if main(given.tries, given.tool, [mode for mode in MODES if str(mode) in given.mode]) else 0)
