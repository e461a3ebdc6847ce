"""SQLite behind the border."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from mcp_curated_database.engines.addresses import SqliteFile
from mcp_curated_database.engines.border import (
    Checked,
    Column,
    ExecuteRequest,
    ExecuteResult,
    QueryRequest,
    QueryResult,
    SchemaFacts,
    SchemaRequest,
)
from mcp_curated_database.engines.sqlite import schema, writing
from mcp_curated_database.engines.sqlite.declared import SCHEMA, declared_types
from mcp_curated_database.engines.sqlite.failures import FAILURES, Told, timed_out, told
from mcp_curated_database.engines.sqlite.guarding import Guard
from mcp_curated_database.engines.sqlite.readers import (
    GRACE_SECONDS,
    MOST_READERS,
    Connection,
    Readers,
    open_connection,
)
from mcp_curated_database.engines.sqlite.rules import Rules
from mcp_curated_database.engines.sqlite.tokens import tokens
from mcp_curated_database.engines.sqlite.values import bound
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError

T = TypeVar("T")

BUSY_SECONDS: Final = 5.0

OLDEST: Final = (3, 37)
"""The first with `pragma_table_list` and STRICT tables."""


class SqliteEngine:
    """One database file.

    Args:
        file: Where it lies.
        busy_seconds: How long to wait for somebody else's lock.
        readers: Connections that read at a time, each with a thread.
    """

    def __init__(self, file: SqliteFile, *, busy_seconds: float = BUSY_SECONDS, readers: int = MOST_READERS) -> None:
        self._file = file
        self._busy_seconds = busy_seconds
        self._readers = Readers(file, busy_seconds, readers)

    @property
    def dialect(self) -> str:
        """`SQLite`."""
        return "SQLite"

    async def open(self) -> None:
        """Nothing: a connection is made by the first call."""

    async def close(self) -> None:
        """Close every connection."""
        await self._readers.close()

    async def query(self, request: QueryRequest) -> QueryResult:
        """Run one statement that reads.

        Raises:
            CuratedError: See `Engine`.
        """
        if request.explain == "analyze":
            raise InvalidArgumentError('SQLite has no EXPLAIN ANALYZE; use explain="plan", or run the query.')
        params = bound(request.params)
        sql = _checked(request.sql)
        run = f"EXPLAIN QUERY PLAN {sql}" if request.explain == "plan" else sql

        async def gather(reader: Connection) -> QueryResult:
            result = await reader.gather(run, params, request.budget)
            return result if result.rows or not result.columns else await _with_declared_types(reader, sql, result)

        return await self._read(gather, sql, request.budget.seconds)

    async def describe(self, request: SchemaRequest) -> SchemaFacts:
        """What the database holds.

        Raises:
            CuratedError: See `Engine`.
        """
        return await self._read(lambda reader: schema.describe(reader, request), "", request.seconds)

    async def _read(self, function: Callable[[Connection], Awaitable[T]], sql: str, seconds: float) -> T:
        deadline = time.monotonic() + seconds
        try:
            return await self._read_once(function, sql, seconds, deadline, again=True)
        except _StaleError:
            return await self._read_once(function, sql, seconds, deadline, again=False)

    async def _read_once(
        self, function: Callable[[Connection], Awaitable[T]], sql: str, seconds: float, deadline: float, *, again: bool
    ) -> T:
        try:
            async with self._readers.reader(deadline) as connection:
                try:
                    return await function(connection)
                except FAILURES as error:
                    fresh = connection.fresh
                    failure = await self._told(error, connection, sql, seconds)
                    if again and not fresh and isinstance(failure, NotAllowedError):
                        # A schema that changed since may have made a virtual table prepare again what only a fresh
                        # connection lets it.
                        raise _StaleError(failure.text) from None
                    raise failure from None
        except FAILURES as error:  # from opening
            raise await self._not_opened(error, seconds) from None
        except TimeoutError:
            raise timed_out(seconds) from None

    async def _told(self, error: BaseException, connection: Connection, sql: str, seconds: float) -> CuratedError:
        about = Told(self._file, connection.guard, sql, seconds, self._busy_seconds)

        async def names(kind: str) -> Sequence[str]:
            try:
                tables = await schema.table_names(connection)
                if kind == "table":
                    return tables
                used = {token.text.casefold() for token in tokens(sql) if token.kind == "name"}
                used_tables = [name for name in tables if name.casefold() in used]
                return await schema.column_names(connection, used_tables)
            except FAILURES:
                return ()

        return await told(error, about, names)

    async def _not_opened(self, error: BaseException, seconds: float, *, writing: bool = False) -> CuratedError:
        guard = Guard(Rules(read_only=not writing))
        return await told(error, Told(self._file, guard, "", seconds, self._busy_seconds), _no_names)

    async def execute(self, request: ExecuteRequest) -> ExecuteResult:
        """Run one statement that may write.

        Raises:
            CuratedError: See `Engine`.
        """
        _checked(request.sql)
        if self._file.immutable:
            raise NotAllowedError(f"{self._file.name} is opened as immutable: nobody writes to it.")
        params = bound(request.params)
        seconds = request.budget.seconds
        guard = Guard(Rules(read_only=False))
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                connection = await open_connection(self._file, guard, self._busy_seconds)
                guard.begin(time.monotonic() + seconds)
                try:
                    return await writing.run(connection, request, params)
                except FAILURES as error:
                    raise await self._told(error, connection, request.sql, seconds) from None
                finally:
                    self._readers.leave(connection)  # what is not committed is rolled back by closing
        except FAILURES as error:
            raise await self._not_opened(error, seconds, writing=True) from None
        except TimeoutError:
            raise timed_out(seconds) from None

    async def check(self) -> tuple[Checked, ...]:
        """Open the file and look."""
        if sqlite3.sqlite_version_info < OLDEST:
            wanted = ".".join(map(str, OLDEST))
            return (Checked("fail", f"SQLite {sqlite3.sqlite_version} is older than {wanted}.", "Use a newer Python."),)
        try:
            facts = await self.describe(SchemaRequest(seconds=5.0))
        except CuratedError as error:
            return (Checked("fail", error.text, error.next_step or "Mend that."),)
        tables, views = (sum(part) for part in zip(*((one.tables, one.views) for one in facts.schemas), strict=True))
        return (Checked("ok", f"{facts.version}, {tables} tables, {views} views, opened for reading only"),)


class _StaleError(CuratedError):
    """The connection may know an older schema; try once more on a fresh one."""


async def _with_declared_types(reader: Connection, sql: str, result: QueryResult) -> QueryResult:
    schema = [str(row[0]) for row in await reader.rows(SCHEMA)]
    types = await asyncio.to_thread(declared_types, schema, sql)
    if types is None or len(types) != len(result.columns):
        return result
    columns = [Column(column.name, declared) for column, declared in zip(result.columns, types, strict=True)]
    return replace(result, columns=tuple(columns))


async def _no_names(_: str) -> Sequence[str]:
    return ()


def _checked(sql: str) -> str:
    if next((token for token in tokens(sql) if token.text != ";"), None) is None:
        raise InvalidArgumentError("sql holds no statement.")
    return sql
