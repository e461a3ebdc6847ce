"""A server process under test: lines in, lines out, what it says on standard error, and how it ends."""

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).with_name("fixture_server.py")
BOUND = 20.0


class Served:
    """A fixture server in a process of its own. Every wait is bounded."""

    def __init__(self, *arguments: str, stdin: int = subprocess.PIPE, stdout: int = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), *arguments], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE
        )
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self._errors: list[str] = []
        self._news = threading.Condition()
        self._error_end = False
        self._next = 0
        if stdout == subprocess.PIPE:
            threading.Thread(target=self._read_out, daemon=True).start()
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def _read_out(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self._errors.append(line.decode())
                self._news.notify_all()
        with self._news:
            self._error_end = True
            self._news.notify_all()

    @property
    def log(self) -> str:
        with self._news:
            return "".join(self._errors)

    def told(self, text: str) -> str:
        """Wait until a line of standard error holds `text`; that line."""
        deadline = time.monotonic() + BOUND
        with self._news:
            while True:
                for line in self._errors:
                    if text in line:
                        return line
                left = deadline - time.monotonic()
                assert left > 0 and not self._error_end, f"{text!r} was never told:\n{''.join(self._errors)}"
                self._news.wait(left)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def say(self, message: dict[str, Any]) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(self, method: str, params: dict[str, Any] | None = None) -> int:
        self._next += 1
        self.say({"id": self._next, "method": method, "params": params or {}})
        return self._next

    def call(self, tool: str, **arguments: Any) -> int:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def read(self) -> dict[str, Any]:
        line = self.lines.get(timeout=BOUND)
        assert line is not None, f"standard output ended:\n{self.log}"
        return json.loads(line)

    def result(self, request: int) -> dict[str, Any]:
        message = self.read()
        assert message.get("id") == request, message
        assert "result" in message, message
        return message["result"]

    def open(self) -> "Served":
        """The handshake of 2025-11-25."""
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.result(self.ask("initialize", hello))
        self.say({"method": "notifications/initialized"})
        return self

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self, within: float = BOUND) -> int:
        status = self.process.wait(within)
        self._reader.join(BOUND)
        return status

    @property
    def url(self) -> str:
        return self.told("Listening on ").split("Listening on ")[1].strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(BOUND)
        self._reader.join(BOUND)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


def _starting() -> Generator[Callable[..., Served]]:
    servers: list[Served] = []

    def one(*arguments: str, **streams: int) -> Served:
        servers.append(Served(*arguments, **streams))
        return servers[-1]

    yield one
    for server in servers:
        server.kill()


start = pytest.fixture(_starting, name="start")
"""Start fixture servers; they are gone after the test."""

start_for_module = pytest.fixture(_starting, name="start_for_module", scope="module")
"""Start fixture servers; they are gone after the module's tests."""
