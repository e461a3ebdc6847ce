"""A filesystem server as a process, over stdio or HTTP: what it works, holds open and leaves, seen from outside."""

import contextlib
import http.client
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from mcp_curated_shared.testing.clients import LEGACY, MODERN, Command, Era
from mcp_curated_shared.testing.wire import ServerProcess, running

BOUND = 60.0
"""Seconds after which anything that is waited for is taken never to come."""

_LEGACY_VERSION = "2025-11-25"
_CLIENT = {"name": "processes", "version": "1"}


def command(root: object, *flags: str, prefix: tuple[str, ...] = ()) -> Command:
    """The server for one root, with a home of its own beside it."""
    home = Path(str(root)).parent
    environment = {"HOME": str(home)} | {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return Command([*prefix, sys.executable, "-m", "mcp_curated_filesystem", str(root), *flags], environment)


@contextlib.contextmanager
def over_wire(root: object, era: Era = LEGACY, *flags: str) -> Generator[ServerProcess]:
    """The server over stdio; it has answered once, so that nothing is loaded any more."""
    with running(command(root, *flags), era) as server:
        server.call("tools/call", {"name": "list_allowed_directories", "arguments": {}})
        yield server


def call(server: ServerProcess, tool: str, **arguments: Any) -> str:
    """The text of a call that must succeed."""
    return succeeded(server.call("tools/call", {"name": tool, "arguments": arguments}, BOUND))


def send(server: ServerProcess, tool: str, **arguments: Any) -> int:
    """Send a call without waiting."""
    return server.send("tools/call", {"name": tool, "arguments": arguments})


def succeeded(reply: Mapping[str, Any]) -> str:
    """The text of a reply that must be a success."""
    assert "result" in reply, reply
    text = text_of(reply)
    assert not reply["result"].get("isError"), text
    return text


def text_of(reply: Mapping[str, Any]) -> str:
    """Every text block of a reply, or its error."""
    if "error" in reply:
        return str(reply["error"]["message"])
    return "\n".join(str(block.get("text", "")) for block in reply["result"]["content"])


def wait_until(condition: Callable[[], bool], what: str, seconds: float = BOUND) -> None:
    """Look again and again, a little apart, until it holds; fail with `what` if it does not."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        pause.wait(0.002)


def processor_seconds(process: int) -> float:
    """What all threads of a process have computed so far (proc_pid_schedstat: nanoseconds)."""
    total = 0
    for thread in os.listdir(f"/proc/{process}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += int(Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()[0])
    return total / 1e9


def wait_for_work(process: int, seconds: float = 0.04) -> None:
    """Wait until a process has computed so long, from now on: a call that was just sent is under way."""
    start = processor_seconds(process)
    wait_until(lambda: processor_seconds(process) > start + seconds, "the server works")


def work_until_rest(process: int) -> float:
    """What a process still computes, from now on, until it rests: seconds of processor time, whatever else runs."""
    start = last = processor_seconds(process)
    pause = threading.Event()
    quiet = 0
    deadline = time.monotonic() + BOUND
    while quiet < 12:
        assert time.monotonic() < deadline, "the server never rests"
        pause.wait(0.02)
        now = processor_seconds(process)
        quiet = quiet + 1 if now - last < 0.001 else 0
        last = now
    return last - start


class HttpServer:
    """The server over Streamable HTTP, spoken to in requests of their own connection."""

    def __init__(self, process: ServerProcess, url: str, era: Era) -> None:
        self.pid = process.process.pid
        self._place = urlsplit(url)
        self._era: Era = era
        self._session: str | None = None
        self._next_id = 0
        if era == LEGACY:
            hello = {"protocolVersion": _LEGACY_VERSION, "capabilities": {}, "clientInfo": _CLIENT}
            with contextlib.closing(self.post("initialize", hello)) as connection:
                response = connection.getresponse()
                self._session = response.headers["mcp-session-id"]
                response.read()

    def post(self, method: str, params: Mapping[str, Any]) -> http.client.HTTPConnection:
        """Send a request; closing the connection that this gives is what a client does that has gone."""
        self._next_id += 1
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self._era == MODERN:
            headers |= {"mcp-protocol-version": MODERN, "mcp-method": method}
            headers |= {"mcp-name": params["name"]} if "name" in params else {}
            meta = {
                PROTOCOL_VERSION_META_KEY: MODERN,
                CLIENT_INFO_META_KEY: _CLIENT,
                CLIENT_CAPABILITIES_META_KEY: {},
            }
            params = {**params, "_meta": meta}
        elif self._session is not None:
            headers |= {"mcp-protocol-version": _LEGACY_VERSION, "mcp-session-id": self._session}
        body = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": dict(params)}
        connection = http.client.HTTPConnection(self._place.hostname or "", self._place.port, timeout=BOUND)
        connection.request("POST", self._place.path, json.dumps(body), headers)
        return connection

    def send(self, tool: str, **arguments: Any) -> http.client.HTTPConnection:
        """Send a tool call without waiting for its reply."""
        return self.post("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must succeed."""
        with contextlib.closing(self.send(tool, **arguments)) as connection:
            body = connection.getresponse().read().decode()
        if body.startswith("{"):
            return succeeded(json.loads(body))
        replies = [json.loads(line[5:]) for line in body.splitlines() if line.startswith("data:") and "{" in line]
        return succeeded(next(reply for reply in replies if "id" in reply))


@contextlib.contextmanager
def over_http(root: object, era: Era, *flags: str) -> Generator[HttpServer]:
    """The server over HTTP on a free port."""
    process = ServerProcess(command(root, "--transport", "http", "--port", "0", *flags), era)
    try:
        wait_until(lambda: b"http://" in process.error_output, "the server tells its address")
        found = re.search(rb"http://[^\s\"]+", process.error_output)
        assert found is not None
        server = HttpServer(process, found[0].decode().rstrip(".,"), era)
        server.call("list_allowed_directories")
        yield server
    finally:
        process.release()
