"""The servers as processes, for clients that start them or that are given an address."""

import contextlib
import re
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from mcp_curated_shared.testing.clients import LEGACY, Command
from mcp_curated_shared.testing.wire import ServerProcess

Way = Literal["stdio", "http"]
WAYS: Final[tuple[Way, ...]] = ("stdio", "http")

_ADDRESS: Final = re.compile(rb"http://127\.0\.0\.1:\d+/mcp")
_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A client in one of its modes.

    Attributes:
        name: What tests are called by.
        description: The part of a description that chooses it.
        version: The protocol version it should agree on.
    """

    name: str
    description: Mapping[str, str]
    version: str


Pair = tuple[Way, Kind]
KINDS: Final = (
    Kind("sdk-1", {"client": "sdk1"}, "2025-11-25"),
    Kind("client-2", {"client": "client2"}, "2025-11-25"),
    Kind("client-2-auto", {"client": "client2", "mode": "auto"}, "2026-07-28"),
)
EVERY_PAIR: Final[tuple[Pair, ...]] = tuple((way, kind) for way in WAYS for kind in KINDS)
"""Each client over each transport."""
MOST_PAIRS: Final[tuple[Pair, ...]] = tuple(
    (way, kind) for way, kind in EVERY_PAIR if (way, kind.name) != ("stdio", "client-2")
)
"""Without the one that shows least beside the others: a process a session costs most of the time of these tests."""
AGREES: Final = {"action": "accept", "content": {"confirm": True}}
"""A user who agrees to whatever is asked."""


def paired(pairs: Sequence[Pair]) -> pytest.MarkDecorator:
    """Runs every test of a module with these pairs of a transport and a client."""
    names = [f"{way}-{kind.name}" for way, kind in pairs]
    return pytest.mark.parametrize(("way", "kind"), pairs, ids=names, indirect=True, scope="module")


@contextlib.contextmanager
def reachable(way: Way, command: Command) -> Generator[dict[str, Any]]:
    """How a client reaches a server: by starting it, or at the address of one that runs for as long as the block."""
    if way == "stdio":
        program, *arguments = command.argv
        yield {"command": program, "args": arguments, "env": dict(command.environment)}
        return
    argv = [*command.argv, "--transport", "http", "--port", "0"]
    process = ServerProcess(Command(argv, command.environment), LEGACY)
    try:
        yield {"url": _address(process)}
    finally:
        process.release()


def _address(process: ServerProcess) -> str:
    """The address that the server logs once it serves."""
    pause = threading.Event()
    deadline = time.monotonic() + _SECONDS
    while (found := _ADDRESS.search(process.error_output)) is None:
        assert process.process.poll() is None and time.monotonic() < deadline, process.error_output.decode()
        pause.wait(0.01)
    return found[0].decode()


def at_home(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a server whose user has this folder as a home."""
    return {"HOME": str(folder), **more}
