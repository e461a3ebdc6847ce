"""The double at work: a server on 127.0.0.1 in a thread of its own."""

import asyncio
import contextlib
import threading
import traceback
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from tests.github.double import faults
from tests.github.double.answers import Answer
from tests.github.double.delivery import Connection
from tests.github.double.engine import Engine, Meaning
from tests.github.double.faults import Fault, Faults
from tests.github.double.journal import Exchange, Journal
from tests.github.double.state import GitHub
from tests.github.double.wire import LARGEST_HEAD, MalformedError, Request, read_request

_START = 10.0  # seconds within which the thread must listen, or have ended


class ContractError(AssertionError):
    """The double, or its client, did what GitHub's description does not allow."""


class Double:
    """A GitHub on a port of 127.0.0.1.

    `github` is its state, `faults` what goes wrong, `journal` what came, `violations` what GitHub's description does
    not allow: answers that the double should not have given, and requests that no client should send.
    """

    def __init__(self, github: GitHub | None = None, *, prefix: str = "") -> None:
        self.github = github or GitHub()
        self.faults = Faults()
        self.journal = Journal()
        self._engine = Engine(self.github, prefix)
        self._listening = threading.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="github-double", daemon=True)

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return self._engine.origin

    @property
    def url(self) -> str:
        """The base URL of the API: what `GITHUB_API_URL` is set to."""
        return self._engine.origin + self._engine.prefix

    @property
    def violations(self) -> list[str]:
        """Whatever GitHub's description does not allow, so far."""
        return self._engine.violations

    def start(self) -> None:
        """Listen on a free port; returns when it does."""
        self._thread.start()
        if not self._listening.wait(_START):
            raise RuntimeError("the double did not start")

    def stop(self) -> None:
        """End every connection and the thread; once is enough, more does nothing."""
        if self._loop is not None and self._stopping is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed already
                self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(_START)

    def verify(self) -> None:
        """Raise ContractError where there were violations."""
        if self.violations:
            raise ContractError("\n".join(["Not as GitHub describes its API:", *self.violations]))

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LARGEST_HEAD)
        self._engine.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._listening.set()
        await self._stopping.wait()
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._converse(Connection(reader, writer))
        except asyncio.CancelledError:
            writer.transport.abort()  # the double ends, whatever is still on its way
        except ConnectionError:
            pass  # the client has gone
        except Exception:
            self.violations.append(f"the double itself failed:\n{traceback.format_exc()}")
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self._connections.discard(task)

    async def _converse(self, connection: Connection) -> None:
        """Answer request after request until one side ends the connection."""
        goes_on = True
        while goes_on:
            try:
                request = await read_request(connection.reader)
            except MalformedError as error:
                self.violations.append(f"not read: {error}")
                return
            if request is None:
                return
            goes_on = await self._exchange(request, connection)

    async def _exchange(self, request: Request, connection: Connection) -> bool:
        meaning = self._engine.meaning(request)
        identity = None if meaning is None else meaning.operation.identity
        exchange = self.journal.add(request, identity)
        self._engine.examine(request, meaning)
        fault = self.faults.take(identity) or faults.none()
        exchange.fault = fault.name
        if fault.before is not None and not await fault.before.passed(connection):
            return False
        answer = self._answer(exchange, meaning, fault)
        if answer is None:
            return await fault.delivery.send(Answer(500), connection)
        answer = self._engine.checked(answer, meaning)
        exchange.status = answer.status
        exchange.sent = await fault.delivery.send(answer, connection)
        return exchange.sent and (request.header("Connection") or "").lower() != "close"

    def _answer(self, exchange: Exchange, meaning: Meaning | None, fault: Fault) -> Answer | None:
        """What is answered; None where there is neither an effect nor an answer."""
        real = self._engine.answer(exchange, meaning) if fault.takes_effect else None
        return real if fault.answer is None else self._engine.dressed(fault.answer(), exchange.request, meaning)


@contextmanager
def serve(github: GitHub | None = None, *, prefix: str = "", verify: bool = True) -> Generator[Double]:
    """A double that listens within the block; at its end ContractError, if anything was not as GitHub describes it.

    Where the block itself fails, that error goes on, with the violations as notes.
    """
    running = Double(github, prefix=prefix)
    running.start()
    try:
        yield running
    except BaseException as error:
        for violation in running.violations:
            error.add_note(f"GitHub's description: {violation}")
        raise
    else:
        if verify:
            running.verify()
    finally:
        running.stop()


@asynccontextmanager
async def double(github: GitHub | None = None, *, prefix: str = "", verify: bool = True) -> AsyncGenerator[Double]:
    """The same for asynchronous tests; the double runs in its own thread, so it answers while the test's loop waits."""
    with serve(github, prefix=prefix, verify=verify) as running:
        yield running
