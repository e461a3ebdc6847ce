"""Starting a server the way a host does, and asking it for its tools: plain JSON-RPC over pipes, no `mcp`."""

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

from mcp_curated_shared.errors import CuratedError

SECONDS = 30.0
"""From the start of the process to the last answer; a first start compiles every module."""

PROTOCOL = "2025-11-25"
"""The newest version with a handshake; nearly every client in use still opens with one."""

_STDERR_LINES = 5


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool as it went over the wire.

    Attributes:
        name: What a client calls.
        description: What the model reads.
        read_only: Its `readOnlyHint`; None if it has none.
        size: Bytes of its compact JSON in UTF-8.
    """

    name: str
    description: str
    read_only: bool | None
    size: int


@dataclass(frozen=True, slots=True)
class Probe:
    """What a started server answered.

    Attributes:
        name: `serverInfo.name`.
        version: `serverInfo.version`.
        tools: In the server's order.
        seconds: From the start of the process to the list of tools.
    """

    name: str
    version: str
    tools: tuple[ListedTool, ...]
    seconds: float


class ProbeError(CuratedError):
    """The server did not start, or did not answer as a server."""

    kind = "probe"


def probe(command: Sequence[str], environ: Mapping[str, str], *, seconds: float = SECONDS) -> Probe:
    """Start `command`, shake hands, list the tools, close its input and wait for its end.

    Args:
        command: Program and arguments.
        environ: Its whole environment.
        seconds: Limit for everything.

    Raises:
        ProbeError: It does not start, ends early, answers nonsense or takes too long; with its last log lines.
    """
    started = time.monotonic()
    try:
        # The folder is the top of the filesystem on purpose: it is what hosts on macOS give.
        process = subprocess.Popen(  # noqa: S603 - the command is ourselves
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd=os.path.abspath(os.sep),
        )
    except OSError as error:
        raise ProbeError(f"The server cannot be started: {error.strerror}.", "Reinstall it.") from None
    connection = _Connection(process, started + seconds)
    try:
        found = _converse(connection, started)
    finally:
        status = connection.close()
    if status:
        raise ProbeError(f"The server answered, but ended with exit status {status}.{connection.said()}")
    return found


def _converse(connection: "_Connection", started: float) -> Probe:
    hello = connection.request(
        "initialize",
        {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "mcp-curated-doctor", "version": "1"}},
    )
    connection.notify("notifications/initialized")
    tools: list[ListedTool] = []
    cursor: str | None = None
    while True:
        page = connection.request("tools/list", {"cursor": cursor} if cursor else {})
        tools += [_tool(one) for one in cast("list[dict[str, Any]]", page.get("tools", []))]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    information = cast("dict[str, Any]", hello.get("serverInfo", {}))
    seconds = time.monotonic() - started
    return Probe(str(information.get("name", "")), str(information.get("version", "")), tuple(tools), seconds)


def _tool(tool: dict[str, Any]) -> ListedTool:
    hint = cast("dict[str, Any]", tool.get("annotations") or {}).get("readOnlyHint")
    size = len(json.dumps(tool, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    read_only = hint if isinstance(hint, bool) else None
    return ListedTool(str(tool.get("name", "")), str(tool.get("description", "")), read_only, size)


class _Connection:
    """One process and the line-wise conversation with it. Two threads read, so that no full pipe stops it."""

    def __init__(self, process: "subprocess.Popen[bytes]", deadline: float) -> None:
        self._process = process
        self._deadline = deadline
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._log: list[str] = []
        self._next = 0
        self._readers = [threading.Thread(target=one, daemon=True) for one in (self._read_output, self._read_log)]
        for reader in self._readers:
            reader.start()

    def _read_output(self) -> None:
        for line in cast("IO[bytes]", self._process.stdout):
            self._lines.put(line)
        self._lines.put(None)

    def _read_log(self) -> None:
        for line in cast("IO[bytes]", self._process.stderr):
            self._log = [*self._log, line.decode("utf-8", "replace").rstrip()][-_STDERR_LINES:]

    def request(self, method: str, parameters: dict[str, object]) -> dict[str, Any]:
        self._next += 1
        self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": parameters})
        while True:
            message = self._receive(method)
            if message.get("id") == self._next and "method" not in message:
                break
        if "error" in message:
            problem = cast("dict[str, Any]", message["error"]).get("message", "an error")
            raise ProbeError(f"The server answered {method} with: {problem}.", "Look at its log above.")
        return cast("dict[str, Any]", message.get("result") or {})

    def notify(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: dict[str, object]) -> None:
        pipe = cast("IO[bytes]", self._process.stdin)
        try:
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()
        except OSError:
            raise self._ended(str(message["method"])) from None

    def _receive(self, method: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise ProbeError(f"The server did not answer {method} in time.{self.said()}", "Try it again.") from None
        if line is None:
            raise self._ended(method)
        try:
            message: object = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            shown = line[:80].decode("utf-8", "replace").strip()
            raise ProbeError(f"The server wrote something to stdout that is no message: {shown!r}.", "Report this.")
        return cast("dict[str, Any]", message)

    def _ended(self, method: str) -> ProbeError:
        try:
            status = str(self._process.wait(timeout=5))
        except subprocess.TimeoutExpired:
            status = "none yet"
        self._readers[1].join(timeout=1)
        return ProbeError(f"The server ended before it answered {method} (exit status {status}).{self.said()}")

    def said(self) -> str:
        return " It logged: " + " | ".join(self._log) if self._log else ""

    def close(self) -> int:
        with contextlib.suppress(OSError):
            cast("IO[bytes]", self._process.stdin).close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader, pipe in zip(self._readers, (self._process.stdout, self._process.stderr), strict=True):
            reader.join(timeout=1)
            if not reader.is_alive():
                cast("IO[bytes]", pipe).close()
        return self._process.returncode
