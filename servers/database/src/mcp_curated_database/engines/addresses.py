"""Where a database is, as its engine needs to know it. `mcp_curated_database.addresses` reads them from texts."""

import os
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

from mcp_curated_shared.settings import Secret

SslMode = Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
"""As libpq means them (PostgreSQL manual, 34.1.2)."""


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A database file.

    Attributes:
        path: Absolute.
        immutable: Whether the operator promises that nobody writes to it: it is then read without locks and without
            `-wal` and `-shm` files, which a read-only folder cannot hold.
    """

    path: str
    immutable: bool = False

    @property
    def name(self) -> str:
        """What people may see of it."""
        return os.path.basename(self.path)

    @property
    def shown(self) -> str:
        """For the operator."""
        return f"sqlite://{quote(self.path)}" + ("?immutable=1" if self.immutable else "")

    def uri(self, mode: str) -> str:
        """As `sqlite3` opens it; neither `ro` nor `rw` makes a missing file (sqlite.org/uri.html).

        Args:
            mode: `ro` or `rw`.
        """
        immutable = "&immutable=1" if self.immutable else ""
        return f"file:{quote(self.path)}?mode={mode}{immutable}"


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """A PostgreSQL database. What is empty or None is the engine's default, which is libpq's (`PGHOST` and so on).

    Attributes:
        host: A name, an IP address, or the folder of a Unix socket.
        port: None for the default.
        user: The role.
        password: Never shown; None to look in the password file.
        database: Its name.
        sslmode: How far TLS is demanded.
        sslrootcert: Absolute path of the certificates to trust; `system` for the system's.
        passfile: Absolute path of the password file; `PGPASSFILE` otherwise.
        tunnel: `ssh HOST`: reach it through the system's ssh; empty for a direct connection.
        options: Further parameters that the address gives, such as `application_name` and `connect_timeout`.
    """

    host: str = ""
    port: int | None = None
    user: str = ""
    password: Secret | None = None
    database: str = ""
    sslmode: SslMode | None = None
    sslrootcert: str = ""
    passfile: str = ""
    tunnel: str = ""
    options: tuple[tuple[str, str], ...] = field(default=())

    @property
    def shown(self) -> str:
        """For the operator in `doctor` and `config://main`, the password masked; never for a model."""
        user = f"{self.user}{':***' if self.password is not None else ''}@" if self.user else ""
        port = f":{self.port}" if self.port is not None else ""
        return f"postgresql://{user}{self.host}{port}/{self.database}"


Address = SqliteFile | PostgresAddress
