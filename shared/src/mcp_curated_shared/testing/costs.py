"""What starting a server costs, beside the barest server that the SDK allows. As ratios, for machines differ."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.testing.clients import Command

BARE: Final = Command(
    (
        sys.executable,
        "-c",
        "from mcp.server.mcpserver import MCPServer\nMCPServer('bare').run('stdio')",
    )
)
"""The floor: the SDK and nothing else."""

_MESSAGES: Final[tuple[dict[str, object], ...]] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "costs", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)
_OPENING: Final = b"".join(json.dumps(message).encode() + b"\n" for message in _MESSAGES)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one start took, until the tools were listed and standard input was closed.

    Attributes:
        seconds: Of CPU, user and system.
        kilobytes: Of memory at the highest.
    """

    seconds: float
    kilobytes: int


@dataclass(frozen=True, slots=True)
class Ratios:
    """A server's start beside the bare one's."""

    cpu: float
    memory: float


def startup_cost(command: Command, runs: int = 5) -> Cost:
    """The least CPU and the least memory of several starts: noise only ever adds."""
    costs = [_one_start(command) for _ in range(runs)]
    return Cost(min(cost.seconds for cost in costs), min(cost.kilobytes for cost in costs))


def startup_ratios(command: Command, bare: Command = BARE, runs: int = 5) -> Ratios:
    """A server's start as a multiple of a bare server's, the starts taken in turn so that both meet the same load."""
    pairs = [(_one_start(bare), _one_start(command)) for _ in range(runs)]
    floor = Cost(min(one.seconds for one, _ in pairs), min(one.kilobytes for one, _ in pairs))
    ours = Cost(min(two.seconds for _, two in pairs), min(two.kilobytes for _, two in pairs))
    return Ratios(ours.seconds / floor.seconds, ours.kilobytes / floor.kilobytes)


def _one_start(command: Command) -> Cost:
    # PYTHONDONTWRITEBYTECODE would make every start compile everything anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(  # noqa: S603  # the test's own command
        list(command.argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment | dict(command.environment),
        cwd=command.directory,
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None and stdout is not None  # noqa: S101  # both are pipes
    with stdin, stdout:
        stdin.write(_OPENING)
        stdin.flush()
        listed = False
        while not listed:
            line = stdout.readline()
            if not line:
                break
            listed = json.loads(line).get("id") == 2
        highest = _highest_memory(process.pid)
        stdin.close()
        stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if not listed:
        raise AssertionError(f"{command.argv[0]} ended with status {process.returncode} before it listed its tools")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss if highest is None else highest)


def _highest_memory(pid: int) -> int | None:
    """Kilobytes that the process has had at the highest; None where the system does not say.

    What `wait4` tells would count the memory of the process that started it too, until the program was loaded.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            lines = [line for line in status if line.startswith("VmHWM:")]
    except OSError:
        return None
    return int(lines[0].split()[1]) if lines else None
