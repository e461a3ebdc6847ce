"""The ledger in PostgreSQL, for several replicas of a server: the same transactions as in SQLite, one at a time.

`asyncpg` is imported by the first transaction; it comes with the extra `postgres`.
"""

import asyncio
import importlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import count
from typing import Any, Final, Protocol, TypeVar, cast

from mcp_curated_shared.errors import SettingsError, UnavailableError
from mcp_curated_shared.security.confirmation import transactions
from mcp_curated_shared.security.confirmation.ledger import (
    Attempt,
    AttemptState,
    Consent,
    Operation,
    Redeeming,
    Refusal,
)
from mcp_curated_shared.security.confirmation.owners import as_seen_here, this_process
from mcp_curated_shared.security.confirmation.plans import Plan
from mcp_curated_shared.security.confirmation.transactions import SCHEMA, Row, Transaction

T = TypeVar("T")

SCHEMA_NAME: Final = "mcp_curated"
CALL_SECONDS: Final = 10.0
CLOSING_SECONDS: Final = 2.0
CONNECTIONS: Final = 4

_LOCK: Final = 0x6D63_7063_6C65_6467
"""The advisory lock that every transaction holds ("mcpcledg"): they are rare and short, and so cannot interleave."""


class _Connection(Protocol):
    """What is used of an asyncpg connection, which declares no types of its own."""

    def transaction(self) -> AbstractAsyncContextManager[object]: ...
    async def execute(self, query: str, *args: object) -> str: ...
    async def fetch(self, query: str, *args: object) -> list[Any]: ...
    async def fetchval(self, query: str, *args: object) -> Any: ...


class _Pool(Protocol):
    def acquire(self) -> AbstractAsyncContextManager[_Connection]: ...
    async def close(self) -> None: ...
    def terminate(self) -> None: ...


class PostgresLedger:
    """The ledger for a fleet. See `Ledger` for what each method does; the database's clock counts.

    Args:
        dsn: Where it is; never shown. The role must be able to make the schema `mcp_curated`, or have it whole.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._pool: _Pool | None = None
        self._opening = asyncio.Lock()

    async def offer(self, plan: Plan, caller: str, *, declined: bool = False) -> Operation:
        """See `Ledger.offer`."""
        return await self._run(lambda now: transactions.offer(plan, caller, declined=declined, now=now))

    async def look(self, operation_id: str) -> Operation | None:
        """See `Ledger.look`."""
        return await self._run(lambda now: transactions.look(operation_id, now=now))

    async def waiting(self) -> list[Operation]:
        """See `Ledger.waiting`."""
        return await self._run(lambda now: transactions.waiting(now=now))

    async def approve(self, operation_id: str) -> Operation | None:
        """See `Ledger.approve`."""
        return await self._run(lambda now: transactions.approve(operation_id, now=now))

    async def begin(
        self, consent: Consent, *, remembered_seconds: float, redeeming: Redeeming = "approved"
    ) -> Attempt | Refusal:
        """See `Ledger.begin`."""
        begin = partial(
            transactions.begin,
            consent,
            remembered_seconds=remembered_seconds,
            redeeming=redeeming,
            owner=this_process(),
        )
        begun = await self._run(lambda now: begin(now=now))
        return begun if isinstance(begun, str) else as_seen_here(*begun)

    async def earlier(self, consent: Consent, *, remembered_seconds: float) -> Attempt | None:
        """See `Ledger.earlier`."""
        look = partial(transactions.earlier, consent, remembered_seconds=remembered_seconds)
        found = await self._run(lambda now: look(now=now))
        return None if found is None else as_seen_here(*found)

    async def finish(self, key: str, state: AttemptState, result: str) -> None:
        """See `Ledger.finish`."""
        await self._run(lambda _: transactions.finish(key, state, result))

    async def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            try:
                async with asyncio.timeout(CLOSING_SECONDS):
                    await pool.close()
            except (TimeoutError, OSError):
                pool.terminate()

    async def _run(self, make: Callable[[float], Transaction[T]]) -> T:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                pool = await self._open()
                async with pool.acquire() as connection, connection.transaction():
                    return await _drive(connection, make)
        except (TimeoutError, OSError, ValueError) as error:
            # A malformed connection string is a ValueError that quotes a part of it.
            raise _unavailable(error) from None
        except Exception as error:
            # Its errors may hold the connection string; their class says enough.
            if type(error).__module__.partition(".")[0] != "asyncpg":
                raise
            raise _unavailable(error) from None

    async def _open(self) -> _Pool:
        async with self._opening:
            if self._pool is None:
                self._pool = await _connect(self._dsn)
            return self._pool


async def _connect(dsn: str) -> _Pool:
    try:
        asyncpg = importlib.import_module("asyncpg")
    except ModuleNotFoundError:
        raise SettingsError(
            "A ledger in PostgreSQL needs the package asyncpg.", "Install mcp-curated-shared[postgres]."
        ) from None
    made = asyncpg.create_pool(
        dsn, min_size=0, max_size=CONNECTIONS, command_timeout=CALL_SECONDS, statement_cache_size=0
    )
    try:
        pool = cast("_Pool", await made)
        async with pool.acquire() as connection, connection.transaction():
            await _make_tables(connection)
    except BaseException:
        made.terminate()
        raise
    return pool


async def _make_tables(connection: _Connection) -> None:
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    if not await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", f"{SCHEMA_NAME}.attempts"):
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA_NAME}")
        await connection.execute(f"SET LOCAL search_path TO {SCHEMA_NAME}")
        for statement in SCHEMA:
            await connection.execute(statement)


async def _drive(connection: _Connection, make: Callable[[float], Transaction[T]]) -> T:
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    await connection.execute(f"SET LOCAL search_path TO {SCHEMA_NAME}")
    now = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::double precision"))
    transaction = make(now)
    rows: list[Row] | None = None
    while True:
        try:
            statement, parameters = next(transaction) if rows is None else transaction.send(rows)
        except StopIteration as end:
            value: T = end.value
            return value
        rows = [tuple(row) for row in await connection.fetch(numbered(statement), *parameters)]


def numbered(statement: str) -> str:
    """A statement with `$1`, `$2` ... in place of its `?`."""
    first, *rest = statement.split("?")
    numbers = count(1)
    return first + "".join(f"${next(numbers)}{part}" for part in rest)


def _unavailable(error: Exception) -> UnavailableError:
    return UnavailableError(
        f"The ledger of confirmations in PostgreSQL cannot be used ({type(error).__name__}).",
        "Nothing was done. Whoever runs the server must look at that database.",
    )
