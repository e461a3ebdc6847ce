"""asyncpg, as much of it as is used: it declares no types of its own."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

asyncpg: Any = importlib.import_module("asyncpg")


class Type(Protocol):
    """A type of a column or parameter."""

    oid: int
    name: str
    schema: str


class Attribute(Protocol):
    """A column of a statement."""

    name: str
    type: Type


class Prepared(Protocol):
    """A statement that the server has parsed."""

    def get_attributes(self) -> Sequence[Attribute]:
        """Its columns."""
        ...

    def get_parameters(self) -> Sequence[Type]:
        """What it wants."""
        ...


class Connection(Protocol):
    """A connection, pooled or not."""

    async def execute(self, query: str, *args: object) -> str:
        """Run; with arguments one statement, without them any number. Gives the command's tag."""
        ...

    async def fetch(self, query: str, *args: object) -> Sequence[Mapping[str, Any]]:
        """Run one statement and give its rows."""
        ...

    async def fetchval(self, query: str, *args: object) -> Any:
        """The first value of the first row."""
        ...

    async def prepare(self, query: str) -> Prepared:
        """Have one statement parsed."""
        ...

    def is_closed(self) -> bool:
        """Whether it is of no more use."""
        ...

    def get_server_version(self) -> tuple[int, ...]:
        """Such as 18, 4."""
        ...

    async def close(self, *, timeout: float | None = None) -> None:
        """End it."""
        ...

    def terminate(self) -> None:
        """End it at once."""
        ...


class Pool(Protocol):
    """Several connections."""

    async def acquire(self) -> Connection:
        """One of them."""
        ...

    async def release(self, connection: Connection) -> None:
        """Give it back."""
        ...

    async def expire_connections(self) -> None:
        """Replace each when it is given back or used next."""
        ...

    async def close(self) -> None:
        """End all when they are given back."""
        ...

    def terminate(self) -> None:
        """End all at once."""
        ...


class _Plain(asyncpg.Connection):
    """A connection that is given back without a reset: every call ends its transaction and leaves the session alone."""

    def get_reset_query(self) -> str:
        return ""


async def make_pool(most: int, arguments: Mapping[str, Any]) -> Pool:
    """A pool that connects when it is used.

    Args:
        most: Connections at a time.
        arguments: Where to.
    """
    # A prepared statement that outlives its transaction breaks PgBouncer, and mixes up the columns of cursors.
    pool = asyncpg.create_pool(**arguments, min_size=0, max_size=most, statement_cache_size=0, connection_class=_Plain)
    return cast("Pool", await pool)


async def connect(arguments: Mapping[str, Any]) -> Connection:
    """One connection."""
    return cast("Connection", await asyncpg.connect(**arguments, statement_cache_size=0))
