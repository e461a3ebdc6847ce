"""Reading rows of the catalog in a way that no setting of the connection changes.

Every statement takes texts and gives one text a row, a JSON array: codecs that the connection has for its queries
change neither, nothing has to be looked up about types, and names of columns come as arrays without a codec.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


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
    forgiven: type[Exception],
    *,
    setting: str,
    seconds: float,
) -> T | None:
    """What some statements give; None if they fail, and the transaction goes on as if they had not been.

    Args:
        connection: Inside a transaction.
        work: Runs the statements.
        forgiven: Errors of the database that are not raised.
        setting: A time limit of PostgreSQL's that holds from here to the transaction's end, or to the failure.
        seconds: Its value.
    """
    await connection.fetch("SAVEPOINT attempt")
    try:
        milliseconds = str(max(1, int(seconds * 1_000)))
        await connection.fetch("SELECT pg_catalog.set_config($1::text, $2::text, true)", setting, milliseconds)
        done = await work()
    except forgiven:
        await connection.fetch("ROLLBACK TO SAVEPOINT attempt")
        return None
    await connection.fetch("RELEASE SAVEPOINT attempt")
    return done


def joined(oids: Iterable[int]) -> str:
    """Object identifiers as the one text that the statements take."""
    return ",".join(map(str, oids))
