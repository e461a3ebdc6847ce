"""Connections to one PostgreSQL database: a pool that is filled when calls need it, and what a failed one tells."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator
from typing import Any, Final

from mcp_curated_database.engines.addresses import PostgresAddress
from mcp_curated_database.engines.postgres.driver import Connection, Pool, asyncpg, connect, make_pool
from mcp_curated_shared.errors import UnavailableError

CONNECT_SECONDS: Final = 10.0
CLOSING_SECONDS: Final = 2.0
APPLICATION: Final = "mcp-curated-database"

LOST: Final[tuple[type[Exception], ...]] = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.InterfaceError,
    ConnectionError,
)
"""What a call meets whose connection is gone."""


class Connections:
    """The pool of one database.

    Args:
        address: Where it is.
        most: Connections at a time.
    """

    def __init__(self, address: PostgresAddress, most: int) -> None:
        self._address = address
        self._most = most
        self._pool: Pool | None = None
        self._closed = False
        self._making = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """One connection for one call.

        Raises:
            UnavailableError: The database cannot be reached, or refuses the role.
        """
        pool = await self._opened()
        try:
            connection = await pool.acquire()
        except Exception as error:
            raise unavailable(error) from None
        try:
            yield connection
        finally:
            await pool.release(connection)

    async def _opened(self) -> Pool:
        if self._closed:
            raise UnavailableError("The server is stopping.")
        async with self._making:
            if self._pool is None:
                try:
                    self._pool = await make_pool(self._most, arguments(self._address))
                except Exception as error:
                    raise unavailable(error) from None
            return self._pool

    async def fresh(self) -> Connection:
        """A connection beside the pool; its user closes it.

        Raises:
            UnavailableError: As `connection`.
        """
        try:
            return await connect(arguments(self._address))
        except Exception as error:
            raise unavailable(error) from None

    async def forget(self) -> None:
        """After a connection was lost: the others are not trusted either."""
        if self._pool is not None:
            await self._pool.expire_connections()

    async def close(self) -> None:
        """Close everything, running calls too."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                async with asyncio.timeout(CLOSING_SECONDS):
                    await pool.close()
            except (TimeoutError, OSError):
                pool.terminate()


_FAILURES: Final[tuple[tuple[tuple[type[Exception], ...], str, str], ...]] = (
    (
        (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError),
        "The database refuses the role or its password.",
        "Whoever runs the server must look.",
    ),
    ((asyncpg.InvalidCatalogNameError,), "The server has no database of that name.", "Whoever runs it must look."),
    ((asyncpg.TooManyConnectionsError,), "The database has no connection free.", "Try again, or lower --pool-size."),
    ((ssl.SSLError,), "The database's certificate is refused.", "Look at sslmode and sslrootcert."),
)
_UNREACHABLE: Final[tuple[type[Exception], ...]] = (
    OSError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    TimeoutError,
    ValueError,
)


def unavailable(error: Exception) -> Exception:
    """What a failed connection is told as: without the address, since errors reach the model."""
    for kinds, text, fix in _FAILURES:
        if isinstance(error, kinds):
            return UnavailableError(text, fix)
    if isinstance(error, _UNREACHABLE):
        name = type(error).__name__
        return UnavailableError(f"The database cannot be reached ({name}).", "Try again when it is back.")
    return error


def arguments(address: PostgresAddress) -> dict[str, Any]:
    """The address as asyncpg takes it; what is not given is libpq's default."""
    options = dict(address.options)
    found: dict[str, Any] = {
        "host": address.host or None,
        "port": address.port,
        "user": address.user or None,
        "password": None if address.password is None else address.password.reveal(),
        "database": address.database or None,
        "passfile": address.passfile or None,
        "timeout": float(options.pop("connect_timeout", 0) or CONNECT_SECONDS),
        "ssl": _tls(address),
    }
    name = options.pop("application_name", APPLICATION)
    # PgBouncer passes this one through, and refuses most others.
    found["server_settings"] = {"application_name": name}
    return {key: value for key, value in found.items() if value is not None}


def _tls(address: PostgresAddress) -> ssl.SSLContext | str | None:
    if address.sslmode is None or not address.sslrootcert or address.sslmode in ("disable", "allow", "prefer"):
        return address.sslmode
    context = ssl.create_default_context(cafile=None if address.sslrootcert == "system" else address.sslrootcert)
    context.check_hostname = address.sslmode == "verify-full"
    return context
