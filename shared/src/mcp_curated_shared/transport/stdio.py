"""The stdio transport: one JSON-RPC message a line on standard input and output, and nothing else on the latter.

Reading and writing each have a daemon thread with plain descriptors, so neither a client that says nothing nor one
that does not read can hold up the event loop or the end of the process.
"""

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from mcp_curated_shared.transport.framing import (
    EDGE_BYTES,
    LONGEST_LINE,
    Arrived,
    Refused,
    TooLong,
    read_line,
    too_long,
    write_line,
)

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from mcp_curated_shared.transport.ending import Ending

_log = logging.getLogger(__name__)

DRAIN_SECONDS = 0.5
"""After standard input is closed the requests that still run get this long to answer: `printf ... | server` works."""

OPEN_REQUESTS = 1000
UNDELIVERED_LINES = 256
UNWRITTEN_BYTES = 8 * 1024 * 1024
CHUNK = 1024 * 1024

Line = Arrived | Refused


def split_lines(read: Callable[[int], bytes], deliver: Callable[[bytes | TooLong], None]) -> None:
    """Call `deliver` with each line that `read` gives until it gives nothing; with `TooLong` for one that is that.

    The last line needs no line end. A line that is too long is read past; only its edges are kept.
    """
    line = _Line()
    while chunk := read(CHUNK):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line.add(chunk[start:end])
            deliver(line.whole())
            line, start = _Line(), end + 1
        line.add(chunk[start:])
    if line.size:
        deliver(line.whole())


class _Line:
    """A line while it comes, in parts; once it is too long only its edges."""

    __slots__ = ("_head", "_parts", "_tail", "size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._head = self._tail = b""
        self.size = 0

    def add(self, part: bytes) -> None:
        if not part:
            return
        self.size += len(part)
        self._head += part[: EDGE_BYTES - len(self._head)]
        self._tail = (self._tail + part[-EDGE_BYTES:])[-EDGE_BYTES:]
        self._parts.append(part)
        if self.size > LONGEST_LINE:
            self._parts.clear()

    def whole(self) -> bytes | TooLong:
        return b"".join(self._parts) if self.size <= LONGEST_LINE else TooLong(self._head + self._tail)


class Output:
    """Standard output as the SDK's write stream; for use on the event loop.

    Args:
        descriptor: Where to write.
        broken: Called on the event loop when the reader is gone.
        answered: Called with the id of each response that leaves.
    """

    def __init__(self, descriptor: int, broken: Callable[[], None], answered: Callable[[RequestId], None]) -> None:
        self._descriptor = descriptor
        self._broken_hook = broken
        self._answered = answered
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._unwritten = 0
        self._room = asyncio.Event()
        self._room.set()
        self._broken = False
        self._closed = False
        self._flushed = asyncio.Event()
        threading.Thread(target=self._write, name="stdout", daemon=True).start()

    async def send(self, item: SessionMessage) -> None:
        """Queue one message; waits only while more than `UNWRITTEN_BYTES` wait for the reader."""
        if self._closed:
            raise anyio.ClosedResourceError
        self.put(item.message)
        if not self._room.is_set():
            await self._room.wait()

    def put(self, message: JSONRPCMessage) -> None:
        """Queue one message without waiting."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._answered(message.id)
        if self._broken or self._closed:
            return
        line = write_line(message)
        self._unwritten += len(line)
        if self._unwritten > UNWRITTEN_BYTES:
            self._room.clear()
        self._queue.put(line)

    async def aclose(self) -> None:
        """Take no more messages; what is queued is still written."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)

    async def flushed(self) -> None:
        """Wait until everything is written, or cannot be."""
        await self._flushed.wait()

    async def __aenter__(self) -> "Output":
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()

    def _write(self) -> None:
        try:
            while (line := self._queue.get()) is not None:
                view = memoryview(line)
                while view:
                    view = view[os.write(self._descriptor, view) :]
                self._loop.call_soon_threadsafe(self._wrote, len(line))
        except OSError:
            self._tell(self._reader_gone)
        except RuntimeError:  # the event loop is closed: the end was cut short
            return
        self._tell(self._flushed.set)

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:
            return

    def _wrote(self, count: int) -> None:
        self._unwritten -= count
        if self._unwritten <= UNWRITTEN_BYTES:
            self._room.set()

    def _reader_gone(self) -> None:
        self._broken = True
        self._room.set()
        self._broken_hook()


class Conversation:
    """One client over stdio: what arrives, what is still open, and how it ends. Made and used on the event loop."""

    def __init__(self, wire_in: int, wire_out: int, ending: "Ending") -> None:
        self._ending = ending
        self._loop = asyncio.get_running_loop()
        self._open: set[RequestId] = set()
        self._idle = asyncio.Event()
        self._room = threading.Semaphore(UNDELIVERED_LINES)
        self._sending, self._receiving = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        self.output = Output(wire_out, self.stop, self._settled)
        self._draining: asyncio.Task[None] | None = None
        threading.Thread(target=self._read, args=(wire_in,), name="stdin", daemon=True).start()

    @property
    def stream(self) -> MemoryObjectReceiveStream[SessionMessage | Exception]:
        """What the SDK reads."""
        return self._receiving

    def stop(self) -> None:
        """End the conversation now; requests that still run are cancelled."""
        self._ending.begin()
        self._sending.close()

    def _read(self, wire: int) -> None:
        def deliver(line: bytes | TooLong) -> None:
            item = too_long(line) if isinstance(line, TooLong) else read_line(line)
            if item is not None:
                self._room.acquire()
                self._loop.call_soon_threadsafe(self._arrived, item)

        try:
            split_lines(lambda count: os.read(wire, count), deliver)
        except OSError as error:
            _log.debug("Standard input ended: %s", error)
        except RuntimeError:  # the event loop is closed
            return
        try:
            self._loop.call_soon_threadsafe(self._ended)
        except RuntimeError:
            return

    def _arrived(self, item: Line) -> None:
        self._room.release()
        if isinstance(item, Refused):
            self.output.put(item.reply)
            return
        message = item.message
        if isinstance(message, JSONRPCRequest):
            if len(self._open) >= OPEN_REQUESTS:
                self.output.put(_busy(message.id))
                return
            self._open.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = (message.params or {}).get("requestId")
            if isinstance(cancelled, str | int):
                self._settled(cancelled)  # it is never answered
        try:
            self._sending.send_nowait(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    def _settled(self, request_id: RequestId) -> None:
        self._open.discard(request_id)
        if not self._open:
            self._idle.set()

    def _ended(self) -> None:
        self._ending.begin()
        self._draining = self._loop.create_task(self._drain())

    async def _drain(self) -> None:
        if self._open:
            self._idle.clear()
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._idle.wait()
        self._sending.close()


def _busy(request_id: RequestId) -> JSONRPCError:
    text = f"The server is busy: {OPEN_REQUESTS} requests are open. Wait for some of them."
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=INTERNAL_ERROR, message=text))


class Wire:
    """The client's two descriptors, kept for ourselves: 0 reads nothing meanwhile, and 1 goes to standard error.

    So a stray `print`, a library or a child process can neither read from nor write to the protocol. It stays so until
    the process ends, but for `give_back`.
    """

    def __init__(self) -> None:
        self.incoming, self.outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def give_back(self) -> None:
        """Put 0 and 1 where they were, for someone else to serve. Nothing may have been read."""
        os.dup2(self.incoming, 0)
        os.dup2(self.outgoing, 1)
        os.close(self.incoming)
        os.close(self.outgoing)


async def serve_stdio(server: "MCPServer[Any]", ending: "Ending") -> None:
    """Serve one client over this process's standard streams, in the protocol era it opens with.

    Returns when standard input is closed, standard output has no reader any more, or `ending` received a signal;
    the server's lifespan has been left and all output written then. When the lifespan cannot be entered its error is
    raised and nothing has been read: another server may take over.
    """
    # The SDK offers no public way to serve other streams than its own; what is used of this object is public.
    lowlevel = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]  # the SDK offers no other way
    loop = asyncio.get_running_loop()
    wire = Wire()
    async with contextlib.AsyncExitStack() as stack:
        try:
            state = await stack.enter_async_context(lowlevel.lifespan(lowlevel))
        except BaseException:
            wire.give_back()
            raise
        conversation = Conversation(wire.incoming, wire.outgoing, ending)
        ending.on_stop(lambda: loop.call_soon_threadsafe(conversation.stop))
        await serve_dual_era_loop(
            lowlevel,
            conversation.stream,
            conversation.output,
            lifespan_state=state,
            init_options=lowlevel.create_initialization_options(),
        )
    await conversation.output.flushed()
