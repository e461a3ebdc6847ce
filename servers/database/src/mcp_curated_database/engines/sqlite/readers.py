"""Connections that read: a few, made on first need, kept as long as they behave.

A connection belongs to one call at a time. One whose call was cancelled, timed out or hangs is told to stop and
closed behind the scenes; its place is free at once, so the next call does not wait for it.
"""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, cast

import aiosqlite

from mcp_curated_database.engines.addresses import SqliteFile
from mcp_curated_database.engines.border import Budget, QueryResult, Row
from mcp_curated_database.engines.gathering import Gatherer
from mcp_curated_database.engines.sqlite.guarding import Guard, GuardedConnection, decoded
from mcp_curated_database.engines.sqlite.rules import Rules
from mcp_curated_database.engines.sqlite.values import RowReader, SqlValue
from mcp_curated_shared.errors import CuratedError, UnavailableError

MOST_READERS: Final = 4
MOST_LEAVING: Final = 8
"""Connections that were told to stop and have not yet: one opcode of SQLite cannot be interrupted."""

LEAVING_SECONDS: Final = 0.5
"""How long a call waits for one of them, where there are too many."""

GRACE_SECONDS: Final = 0.5
"""After its deadline a call is given up, whether or not SQLite has noticed."""

CLOSING_SECONDS: Final = 1.0


class Connection:
    """One guarded connection and the thread it lives on.

    Args:
        raw: From `open_connection`.
        inner: What it wraps; only its `interrupt`, which any thread may call, is used.
        guard: Its guard.
        identity: Which file it opened, see `identity`.

    Attributes:
        fresh: Whether no call has used it before, so that it knows the schema as it is.
    """

    def __init__(
        self, raw: aiosqlite.Connection, inner: sqlite3.Connection, guard: Guard, identity: tuple[int, int]
    ) -> None:
        self.raw = raw
        self._inner = inner
        self.guard = guard
        self.identity = identity
        self.fresh = True

    async def gather(self, sql: str, params: Sequence[SqlValue], budget: Budget) -> QueryResult:
        """Run one statement and take its rows up to a budget.

        A reader lets Python's module decode text, which is faster; where a text is not UTF-8 it begins again.

        Raises:
            sqlite3.Error: What SQLite said.
        """
        if not self.guard.rules.read_only:
            return await self._gather(sql, params, budget, decoded)
        try:
            return await self._gather(sql, params, budget, str)
        except sqlite3.OperationalError as error:
            if "Could not decode" not in str(error):
                raise
            return await self._gather(sql, params, budget, decoded)

    async def _gather(
        self, sql: str, params: Sequence[SqlValue], budget: Budget, text_factory: Callable[[bytes], str] | type[str]
    ) -> QueryResult:
        reader = RowReader(budget.cell_characters)
        self.raw.row_factory = cast("type", reader)
        self.raw.text_factory = cast("Callable[[bytes], str]", text_factory)
        cursor = await self.raw.execute(sql, params)
        try:
            names = [str(column[0]) for column in cursor.description or ()]
            gatherer = Gatherer(budget)
            while names:
                wanted = gatherer.wanted
                rows = cast("list[Row]", await cursor.fetchmany(wanted))
                if not gatherer.add(rows, shortened=True) or len(rows) < wanted:
                    break
            gatherer.count_cut(reader.cut_cells)
            return gatherer.result(reader.columns(names))
        finally:
            await cursor.close()

    async def rows(self, sql: str, params: Sequence[SqlValue] = ()) -> list[tuple[SqlValue, ...]]:
        """Every row of one of this server's own statements, as SQLite's values."""
        self.raw.row_factory = None
        self.raw.text_factory = decoded
        return [tuple(row) for row in await self.raw.execute_fetchall(sql, params)]

    def interrupt(self) -> None:
        """End what runs, and whatever would run after it; `close` is next."""
        self.guard.stop()
        with suppress(sqlite3.Error):  # closed already
            self._inner.interrupt()

    async def stop(self) -> None:
        """Interrupt what runs and close; returns when it is closed."""
        self.interrupt()
        await self.raw.close()


async def open_connection(file: SqliteFile, guard: Guard, busy_seconds: float) -> Connection:
    """Open a file, which must be there.

    Raises:
        UnavailableError: It is not there, or is no file.
        sqlite3.Error: SQLite cannot open it.
    """
    found = identity(file.path)
    uri = file.uri("ro" if guard.rules.read_only else "rw")

    made: list[sqlite3.Connection] = []
    failures: list[Exception] = []

    def connect() -> sqlite3.Connection:
        try:
            made.append(GuardedConnection(uri, guard, busy_seconds))
        except Exception as error:  # aiosqlite would leave its thread to itself; it is closed in order below
            failures.append(error)
            made.append(sqlite3.connect(":memory:"))
        return made[0]

    raw = aiosqlite.Connection(connect, iter_chunk_size=64)
    # A statement that SQLite cannot interrupt must not hold the process up when it ends.
    thread: object = getattr(raw, "_thread", raw)
    if isinstance(thread, threading.Thread):
        thread.daemon = True
    await raw
    if failures:
        await raw.close()
        raise failures[0]
    return Connection(raw, made[0], guard, found)


def identity(path: str) -> tuple[int, int]:
    """Which file a path names now, by its device and number. The file is not opened: see below.

    A process that opens and closes a file by itself loses the locks that SQLite holds on it (POSIX fcntl locks).

    Raises:
        UnavailableError: There is no such file, or it is a folder.
    """
    name = os.path.basename(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise UnavailableError(
            f"There is no file {name} any more, or not yet.", "Nothing was made. Ask the operator for its place."
        ) from None
    except OSError as error:
        raise UnavailableError(f"{name} cannot be looked at: {error.strerror}.", "Ask the operator.") from None
    if not os.path.isfile(path):
        raise UnavailableError(f"{name} is no regular file.", "Ask the operator for the right one.")
    return status.st_dev, status.st_ino


class Readers:
    """The pool.

    Args:
        file: The database.
        busy_seconds: How long a reader waits for a lock.
        most: Connections at a time.
    """

    def __init__(self, file: SqliteFile, busy_seconds: float, most: int = MOST_READERS) -> None:
        self._file = file
        self._busy_seconds = busy_seconds
        self._places = asyncio.Semaphore(most)
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._opening: set[asyncio.Task[Connection]] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._closed = False

    @asynccontextmanager
    async def reader(self, deadline: float) -> AsyncGenerator[Connection]:
        """A connection for one call, which has to be done by `deadline` (monotonic clock).

        Raises:
            TimeoutError: The deadline passed and SQLite did not give the call back, or no place came free.
            UnavailableError: The file is missing, or too many calls hang.

        Inside, only a `CuratedError` leaves the connection usable; any other failure closes it, and so does one whose
        call tried what it may not.
        """
        async with asyncio.timeout(max(0.0, deadline + GRACE_SECONDS - time.monotonic())), self._places:
            connection = await self._take()
            connection.guard.begin(deadline)
            self._busy.add(connection)
            healthy = False
            try:
                yield connection
                healthy = True
            except CuratedError:
                healthy = not (connection.guard.expired or connection.guard.rules.refused)
                raise
            finally:
                self._busy.discard(connection)
                if healthy and not self._closed:
                    connection.fresh = False
                    self._idle.append(connection)
                else:
                    self.leave(connection)

    async def _take(self) -> Connection:
        if self._closed:
            raise UnavailableError("The server is stopping.")
        current = identity(self._file.path)
        while self._idle:
            connection = self._idle.pop()
            if connection.identity == current:
                return connection
            self.leave(connection)  # the file was replaced by another
        if len(self._leaving) >= MOST_LEAVING:
            await asyncio.wait(self._leaving, timeout=LEAVING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if len(self._leaving) >= MOST_LEAVING:
            raise UnavailableError("Too many stopped statements have not ended yet.", "Try again in a while.")
        opening = asyncio.get_running_loop().create_task(
            open_connection(self._file, Guard(Rules(read_only=True)), self._busy_seconds)
        )
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._too_late)
            raise

    def _too_late(self, opening: "asyncio.Task[Connection]") -> None:
        """Close a connection that was opened for a caller who has gone."""
        if not opening.cancelled() and opening.exception() is None:
            self.leave(opening.result())

    def leave(self, connection: Connection) -> None:
        """Stop and close a connection behind the scenes."""
        task = asyncio.get_running_loop().create_task(connection.stop())
        self._leaving.add(task)
        task.add_done_callback(self._left)

    def _left(self, task: "asyncio.Task[None]") -> None:
        self._leaving.discard(task)
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Stop and close every connection, and wait a moment for those that run."""
        self._closed = True
        for connection in self._busy:
            connection.interrupt()
        while self._idle:
            self.leave(self._idle.pop())
        deadline = time.monotonic() + CLOSING_SECONDS
        while (self._busy or self._opening or self._leaving) and time.monotonic() < deadline:
            await asyncio.wait((*self._opening, *self._leaving) or [_moment()], timeout=0.05)


def _moment() -> "asyncio.Task[None]":
    return asyncio.get_running_loop().create_task(asyncio.sleep(0.01))
