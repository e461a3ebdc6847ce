"""One server process over stdio, spoken to in raw JSON-RPC by one thread: nothing of a client is in the figures."""

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Era = Literal["2025-11-25", "2026-07-28"]
LEGACY: Era = "2025-11-25"
MODERN: Era = "2026-07-28"
ERAS: tuple[Era, ...] = (LEGACY, MODERN)

_CLIENT = {"name": "bench", "version": "1"}
_READ_BYTES = 1 << 20
_END_SECONDS = 5.0
_KEYS = "io.modelcontextprotocol/"


class ServerEndedError(Exception):
    """The server closed its output, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one call.

    Attributes:
        seconds: From the first byte of the request to the last byte of the reply.
        size: Bytes of the reply's line.
        text: Its text blocks, joined.
        error: What went wrong, in the server's words; empty if nothing did.
    """

    seconds: float
    size: int
    text: str
    error: str


class Server:
    """A started server.

    Args:
        command: The program and its arguments.
        era: The protocol that is spoken with it.
        seconds: How long any one answer may take.

    Attributes:
        ready_seconds: From the start of the process until its tools were listed.
        list_bytes: Bytes of that list.
        tools: How many tools it holds.
    """

    def __init__(self, command: Sequence[str], era: Era = LEGACY, seconds: float = 180.0) -> None:
        self._era = era
        self._limit = seconds
        self._last_id = 0
        self._sent: dict[int, float] = {}
        self._lines: dict[int, tuple[bytes, float]] = {}
        self._buffer = bytearray()
        # With PYTHONDONTWRITEBYTECODE every start of a Python server compiles everything anew.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        started = time.perf_counter()
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the server was not started with pipes")
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        try:
            listed, size = self._open()
        except BaseException:
            self.close()
            raise
        self.ready_seconds = time.perf_counter() - started
        self.list_bytes = size
        self.tools = len(listed)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> tuple[list[Any], int]:
        if self._era == LEGACY:
            hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}
            self._result(self._request("initialize", hello))
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            self._result(self._request("server/discover", {}))
        result, size = self._result(self._request("tools/list", {}))
        return result["tools"], size

    def _result(self, request: int) -> tuple[dict[str, Any], int]:
        line, _ = self._wait(request)
        message = json.loads(line)
        if "result" not in message:
            raise ServerEndedError(f"it refused the opening: {message.get('error')}")
        return message["result"], len(line) + 1

    def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """Call a tool and wait for its reply."""
        return self.wait(self.start(tool, arguments))

    def start(self, tool: str, arguments: Mapping[str, object]) -> int:
        """Call a tool without waiting; gives the request's id."""
        return self._request("tools/call", {"name": tool, "arguments": arguments})

    def wait(self, request: int) -> Reply:
        """Wait for a reply."""
        line, seconds = self._wait(request)
        message = json.loads(line)
        if "error" in message:
            return Reply(seconds, len(line) + 1, "", str(message["error"].get("message")))
        result = message["result"]
        text = "".join(block.get("text", "") for block in result.get("content", ()))
        return Reply(seconds, len(line) + 1, text, (text or "an error") if result.get("isError") else "")

    def answered(self, request: int) -> bool:
        """Whether a reply is there already; does not wait."""
        while request not in self._lines and select.select([self._stdout], [], [], 0)[0]:
            self._receive()
        return request in self._lines

    def cancel(self, request: int) -> None:
        """Withdraw a request."""
        params = {"requestId": request, "reason": "no longer needed"}
        self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def _request(self, method: str, params: Mapping[str, object]) -> int:
        self._last_id += 1
        body = dict(params)
        if self._era == MODERN:
            body["_meta"] = {
                f"{_KEYS}protocolVersion": MODERN,
                f"{_KEYS}clientInfo": _CLIENT,
                f"{_KEYS}clientCapabilities": {},
            }
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": body}
        data = json.dumps(message).encode() + b"\n"
        self._sent[self._last_id] = time.perf_counter()
        self._write(data)
        return self._last_id

    def _send(self, message: Mapping[str, object]) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._stdin.fileno(), rest) :]
        except BrokenPipeError:
            raise ServerEndedError("the server closed its input") from None

    def _wait(self, request: int) -> tuple[bytes, float]:
        deadline = time.perf_counter() + self._limit
        while request not in self._lines:
            left = deadline - time.perf_counter()
            if left <= 0 or not select.select([self._stdout], [], [], left)[0]:
                raise ServerEndedError(f"no reply within {self._limit:g} s")
            self._receive()
        line, arrived = self._lines.pop(request)
        return line, arrived - self._sent.pop(request)

    def _receive(self) -> None:
        data = os.read(self._stdout.fileno(), _READ_BYTES)
        if not data:
            raise ServerEndedError("the server closed its output")
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            arrived = time.perf_counter()
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self._lines[message["id"]] = line, arrived

    def peak_kilobytes(self) -> int | None:
        """Memory of the process and its children at the highest so far; None where the system does not tell."""
        lines = [line for pid in _family(self.process.pid) for line in _status(pid)]
        peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
        return sum(peaks) if peaks else None

    def cpu_seconds(self) -> float | None:
        """CPU that the process and its children have used so far; None where the system does not tell."""
        used = [_scheduled(pid) for pid in _family(self.process.pid)]
        told = [seconds for seconds in used if seconds is not None]
        return sum(told) if told else None

    def close(self) -> None:
        """End the process as a host does, and see that it is gone."""
        self._stdin.close()
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._stdout.close()


def _family(pid: int) -> list[int]:
    family, found = [pid], [pid]
    while found:
        parent = found.pop()
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            more = [int(word) for word in _text(children).split()]
            family += more
            found += more
    return family


def _status(pid: int) -> list[str]:
    return _text(Path(f"/proc/{pid}/status")).splitlines()


def _scheduled(pid: int) -> float | None:
    """Seconds on a CPU, from the scheduler's own count of nanoseconds (proc(5), `schedstat`), all threads."""
    counts = [_text(path).split() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    nanoseconds = [int(words[0]) for words in counts if words]
    return sum(nanoseconds) / 1e9 if nanoseconds else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""  # the process or the thread has just ended
