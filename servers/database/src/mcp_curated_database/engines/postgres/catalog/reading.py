"""Reading rows of the catalog in a way that no setting of the connection changes.

Every statement takes texts and gives one text a row, a JSON array: codecs that the connection has for its queries
change neither, nothing has to be looked up about types, and names of columns come as arrays without a codec.
"""

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")

_LOCK_SECONDS: Final = 0.2
"""Much shorter than PostgreSQL's deadlock_timeout: of two that wait for each other, this one gives up."""


class CatalogRow(Protocol):
    """A row as a driver gives it."""

    def __getitem__(self, name: str, /) -> Any:
        """The value of a column."""
        ...


class CatalogConnection(Protocol):
    """What the catalog needs of a connection inside a READ ONLY transaction; asyncpg's connections have it."""

    async def fetch(self, query: str, /, *args: str) -> Sequence[CatalogRow]:
        """Run one statement and give its rows."""
        ...


async def rows(connection: CatalogConnection, statement: str, *params: str) -> list[list[Any]]:
    """The rows of a statement whose only column, `fact`, is a JSON array as text.

    Args:
        connection: Inside its transaction.
        statement: One of `statements`.
        params: Its texts.
    """
    return [json.loads(row["fact"]) for row in await connection.fetch(statement, *params)]


async def attempt(
    connection: CatalogConnection,
    work: Callable[[], Awaitable[T]],
    forgiven: tuple[type[Exception], ...],
    statement_seconds: float | None = None,
) -> T | None:
    """What some statements give; None if they fail. Either way the transaction goes on as if they had not been.

    So no lock that they took is held longer: a table that was looked at can be altered or dropped at once, and no
    migration meets a deadlock.

    Args:
        connection: Inside a READ ONLY transaction.
        work: Runs the statements.
        forgiven: Errors of the database that are not raised.
        statement_seconds: How long each may take; None as the transaction has it.
    """
    await connection.fetch("SAVEPOINT attempt")
    done = None
    with contextlib.suppress(*forgiven):
        limits = {"lock_timeout": _LOCK_SECONDS}
        if statement_seconds is not None:
            limits["statement_timeout"] = statement_seconds
        for setting, seconds in limits.items():
            milliseconds = str(max(1, int(seconds * 1_000)))
            await connection.fetch("SELECT pg_catalog.set_config($1::text, $2::text, true)", setting, milliseconds)
        done = await work()
    await connection.fetch("ROLLBACK TO SAVEPOINT attempt")
    await connection.fetch("RELEASE SAVEPOINT attempt")
    return done


def joined(oids: Iterable[int]) -> str:
    """Object identifiers as the one text that the statements take."""
    return ",".join(map(str, oids))
