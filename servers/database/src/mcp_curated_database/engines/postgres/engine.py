"""PostgreSQL behind the border."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from typing import Final, TypeVar

from mcp_curated_database.engines.addresses import PostgresAddress
from mcp_curated_database.engines.border import (
    Checked,
    ExecuteRequest,
    ExecuteResult,
    QueryRequest,
    QueryResult,
    SchemaFacts,
    SchemaRequest,
)
from mcp_curated_database.engines.errors import close_names
from mcp_curated_database.engines.postgres import catalog, reading, rights, writing
from mcp_curated_database.engines.postgres.connecting import LOST, Connections
from mcp_curated_database.engines.postgres.driver import Connection
from mcp_curated_database.engines.postgres.facts import read_facts
from mcp_curated_database.engines.postgres.failures import SAID, timed_out, told
from mcp_curated_database.engines.postgres.gate import Facts, Statement, admit, split
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError, UnavailableError

T = TypeVar("T")

FACTS_SECONDS: Final = 60.0
"""How long the catalog's word on functions and views is believed."""

OLDEST: Final = 14

_ENDING: Final = "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()"
"""What a transaction does not end: locks of the session, which a function that the operator allows may take."""


class PostgresEngine:
    """One PostgreSQL database.

    Args:
        address: Where it is.
        most_connections: To it, at a time.
        lock_seconds: How long a call waits for a lock.
        allow_functions: What queries may call though it could have side effects.
        least_privilege: Whether a role that reaches further than reading is refused.
    """

    def __init__(
        self,
        address: PostgresAddress,
        *,
        most_connections: int = 10,
        lock_seconds: float = 5.0,
        allow_functions: Iterable[str] = (),
        least_privilege: bool = False,
    ) -> None:
        self._connections = Connections(address, most_connections)
        self._lock_seconds = lock_seconds
        self._allow_functions = tuple(allow_functions)
        self._least_privilege = least_privilege
        self._facts: Facts | None = None
        self._facts_until = 0.0
        self._reach: tuple[str, ...] | None = None

    @property
    def dialect(self) -> str:
        """`PostgreSQL`."""
        return "PostgreSQL"

    async def open(self) -> None:
        """Nothing: a connection is made by the first call."""

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def query(self, request: QueryRequest) -> QueryResult:
        """Run one statement that reads.

        Raises:
            CuratedError: See `Engine`.
        """
        split(request.sql)  # what is no statement needs no database

        async def run(connection: Connection) -> QueryResult:
            statement = admit(request.sql, await self._known(connection))
            if request.explain == "no":
                return await reading.rows(connection, statement, request)
            return await reading.plan(connection, statement, request)

        return await self._read(run, request.sql, request.budget.seconds)

    async def describe(self, request: SchemaRequest) -> SchemaFacts:
        """What the database holds.

        Raises:
            CuratedError: See `Engine`.
        """

        async def look(connection: Connection) -> SchemaFacts:
            notes = await self._look_at_rights(connection)
            version = "PostgreSQL " + ".".join(str(part) for part in connection.get_server_version()[:2])
            admits = _admits(await self._known(connection)) if request.sample_rows else None
            return await catalog.describe(connection, request, version=version, notes=notes, admits=admits)

        return await self._read(look, "", request.seconds)

    async def _read(self, function: Callable[[Connection], Awaitable[T]], sql: str, seconds: float) -> T:
        deadline = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await self._read_once(function, sql, seconds, deadline)
                except LOST:
                    # The pool held what has died meanwhile: nothing was changed, so once more on a new connection.
                    await self._connections.forget()
                    return await self._read_once(function, sql, seconds, deadline)
        except LOST as error:
            raise UnavailableError(
                f"The connection to the database was lost ({type(error).__name__}).", "Try again."
            ) from None
        except TimeoutError:
            raise timed_out(seconds) from None

    async def _read_once(
        self, function: Callable[[Connection], Awaitable[T]], sql: str, seconds: float, deadline: float
    ) -> T:
        async with self._connections.connection() as connection, _transaction(connection):
            try:
                await reading.begin(connection, deadline, self._lock_seconds)
                if self._least_privilege:
                    await self._look_at_rights(connection)
                return await function(connection)
            except LOST:
                raise
            except SAID as error:
                await _roll_back(connection)
                raise await self._told(error, connection, sql, seconds) from None

    async def _told(self, error: Exception, connection: Connection, sql: str, seconds: float) -> CuratedError:
        async def names(kind: str, name: str, schema: str | None) -> Sequence[str]:
            try:
                await reading.begin(connection, time.monotonic() + 2.0, self._lock_seconds)
                if kind == "table":
                    return await catalog.close_tables(connection, name, schema)
                used = {token.text for token in split(sql).tokens if token.kind == "name"}
                return close_names(name, await catalog.column_names(connection, sorted(used)))
            except (SAID, CuratedError, *LOST):
                return ()

        return await told(error, sql, seconds, names)

    async def _known(self, connection: Connection) -> Facts:
        if self._facts is None or time.monotonic() > self._facts_until:
            self._facts = await read_facts(connection, self._allow_functions)
            self._facts_until = time.monotonic() + FACTS_SECONDS
        return self._facts

    async def _look_at_rights(self, connection: Connection) -> tuple[str, ...]:
        if self._reach is None:
            self._reach = await rights.reach(connection)
        if self._reach and self._least_privilege:
            raise NotAllowedError(
                f"The role {self._reach[0]}, and --require-least-privilege is set.", "doctor prints a GRANT script."
            )
        return tuple(f"The role {one}; give this server one that can only read." for one in self._reach)

    async def execute(self, request: ExecuteRequest) -> ExecuteResult:
        """Run one statement that may write, on a connection of its own.

        Raises:
            CuratedError: See `Engine`.
        """
        statement: Statement = split(request.sql)
        writing.refuse_transactions(statement)
        seconds = request.budget.seconds
        deadline = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds + 1.0):
                connection = await self._connections.fresh()
                try:
                    await reading.begin(connection, deadline, self._lock_seconds, read_only=False)
                    return await writing.run(connection, statement, request)
                except LOST:
                    raise
                except SAID as error:
                    await _roll_back(connection)
                    raise await self._told(error, connection, request.sql, seconds) from None
                finally:
                    await _end(connection)
        except LOST as error:
            raise UnavailableError(
                f"The connection to the database was lost ({type(error).__name__}); whether the statement was done is"
                " not known.",
                "Look before you repeat it.",
            ) from None
        except TimeoutError:
            raise timed_out(seconds) from None

    async def check(self) -> tuple[Checked, ...]:
        """Connect and look."""

        async def look(connection: Connection) -> tuple[Checked, ...]:
            version = connection.get_server_version()
            found = [
                Checked("ok", f"PostgreSQL {'.'.join(str(part) for part in version[:2])}, opened for reading only")
            ]
            if version[0] < OLDEST:
                found = [Checked("fail", f"PostgreSQL {version[0]} is older than {OLDEST}.", "Use a newer server.")]
            for one in await rights.reach(connection):
                found.append(Checked("warn", f"The role {one}.", await rights.grant_script(connection)))
            return tuple(found)

        try:
            return await self._read(look, "", 10.0)
        except InvalidArgumentError:
            raise
        except CuratedError as error:
            return (Checked("fail", error.text, error.next_step or "Mend that."),)


def _admits(facts: Facts) -> Callable[[str], bool]:
    """Whether a statement may run, for whoever makes statements of its own."""

    def admits(sql: str) -> bool:
        try:
            admit(sql, facts)
        except CuratedError:
            return False
        return True

    return admits


@contextlib.asynccontextmanager
async def _transaction(connection: Connection) -> AsyncGenerator[None]:
    """Whatever happens inside, nothing of it stays."""
    try:
        yield
    finally:
        await _roll_back(connection)


async def _roll_back(connection: Connection) -> None:
    """End the transaction, also when the call is being cancelled."""
    if connection.is_closed():
        return
    ending = asyncio.ensure_future(connection.execute(_ENDING))
    try:
        await asyncio.wait_for(asyncio.shield(ending), 2.0)
    except asyncio.CancelledError:
        await asyncio.wait([ending], timeout=2.0)
        raise
    except (SAID, OSError, TimeoutError, *LOST):
        connection.terminate()


async def _end(connection: Connection) -> None:
    if not connection.is_closed():
        try:
            await connection.close(timeout=2.0)
        except (SAID, OSError, TimeoutError, *LOST):
            connection.terminate()
