"""A server process spoken to line by line: what it writes, byte for byte, and how it ends."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from queue import Empty, Queue
from typing import Any, Final

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from mcp_curated_shared.testing.clients import LEGACY, MODERN, Command, Era

_SECONDS: Final = 20.0
_CLIENT: Final = {"name": "wire", "version": "1"}


class ServerProcess:
    """One server process: requests go in, and every line that comes out is kept.

    Attributes:
        lines: The lines of standard output so far, as bytes without their newline.
        error_output: What came on standard error so far.
    """

    def __init__(self, command: Command, era: Era) -> None:
        self._era = era
        self._next_id = 0
        self._replies: dict[int, Any] = {}
        self._arrived: Queue[bytes | None] = Queue()
        self.lines: list[bytes] = []
        self.error_output = b""
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")} | dict(
            command.environment
        )
        self.process = subprocess.Popen(  # noqa: S603  # the test's own command
            list(command.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=command.directory,
        )
        self._readers = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_output(self) -> None:
        for line in _stream(self.process.stdout):
            self._arrived.put(line.rstrip(b"\n"))
        self._arrived.put(None)

    def _read_errors(self) -> None:
        for line in _stream(self.process.stderr):
            self.error_output += line

    def open(self) -> None:
        """Do the handshake, where the era has one."""
        if self._era == LEGACY:
            version = "2025-11-25"
            self.call("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT})
            self.notify("notifications/initialized", {})

    def send(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request without waiting; gives its id."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": self._enveloped(params)}
        self._write(message)
        return self._next_id

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    def _enveloped(self, params: Mapping[str, Any]) -> dict[str, Any]:
        if self._era != MODERN:
            return dict(params)
        envelope = {
            PROTOCOL_VERSION_META_KEY: MODERN,
            CLIENT_INFO_META_KEY: _CLIENT,
            CLIENT_CAPABILITIES_META_KEY: {},
        }
        return {**params, "_meta": {**params.get("_meta", {}), **envelope}}

    def _write(self, message: Mapping[str, Any]) -> None:
        self.write_raw(json.dumps(message).encode() + b"\n")

    def write_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        stdin = _present(self.process.stdin)
        stdin.write(data)
        stdin.flush()

    def reply(self, request_id: int, seconds: float = _SECONDS) -> dict[str, Any]:
        """The reply to a request.

        Raises:
            TimeoutError: It did not come in time.
            EOFError: The server closed its output first.
        """
        deadline = time.monotonic() + seconds
        while request_id not in self._replies:
            self._take(deadline)
        reply: dict[str, Any] = self._replies[request_id]
        return reply

    def replied(self, request_id: int) -> bool:
        """Whether a reply to this request has been read already."""
        return request_id in self._replies

    def _take(self, deadline: float) -> None:
        try:
            line = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            raise TimeoutError(f"no reply in time; standard error: {self.error_output[-2000:]!r}") from None
        if line is None:
            raise EOFError(f"the server ended; standard error: {self.error_output[-2000:]!r}")
        self.lines.append(line)
        message = json.loads(line)
        if isinstance(message, dict) and "id" in message and "method" not in message:
            self._replies[message["id"]] = message

    def call(self, method: str, params: Mapping[str, Any], seconds: float = _SECONDS) -> dict[str, Any]:
        """Send a request and wait for its reply, which holds `result` or `error`."""
        return self.reply(self.send(method, params), seconds)

    def terminate(self) -> float:
        """Send SIGTERM and wait for the end; gives the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(_SECONDS)
        return time.monotonic() - started

    def close(self) -> int:
        """Close standard input, as a host does to end a server, and wait; gives the exit status."""
        _present(self.process.stdin).close()
        try:
            status = self.process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.drain()
        return status

    def drain(self) -> None:
        """Read what is left of both outputs; the process has ended."""
        for reader in self._readers:
            reader.join(_SECONDS)
        while (line := self._arrived.get(timeout=_SECONDS)) is not None:
            self.lines.append(line)
        self._arrived.put(None)

    def release(self) -> None:
        """Make sure that the process is gone and nothing of it stays open."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(_SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                _present(stream).close()
            except BrokenPipeError:
                continue


@contextmanager
def running(command: Command, era: Era) -> Generator[ServerProcess]:
    """A server process that has been opened, and is gone afterwards."""
    server = ServerProcess(command, era)
    try:
        server.open()
        yield server
    finally:
        server.release()


def _present(stream: Any) -> Any:
    assert stream is not None  # noqa: S101  # all three are pipes
    return stream


def _stream(stream: Any) -> Any:
    return iter(_present(stream).readline, b"")
