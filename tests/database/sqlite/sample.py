"""A small shop as an SQLite file: every kind of table, a trigger that writes, names that need quotes."""

import contextlib
import functools
import hashlib
import os
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from mcp_curated_database.engines.addresses import SqliteFile
from mcp_curated_database.engines.border import Budget, Parameter, QueryRequest, QueryResult
from mcp_curated_database.engines.sqlite import SqliteEngine

SHOP = """
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) > 0),
    email TEXT UNIQUE,
    photo BLOB,
    shout TEXT GENERATED ALWAYS AS (upper(name)) STORED
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    total REAL DEFAULT 0.0,
    UNIQUE (customer_id, total)
);
CREATE INDEX orders_big ON orders (total DESC, abs(total)) WHERE total > 100;
CREATE TABLE settings (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE exact (n INTEGER, t TEXT) STRICT;
CREATE TABLE "Order Items" ("item no." INTEGER, "größe" TEXT);
CREATE VIEW spending AS SELECT c.name, sum(o.total) AS total FROM customers c JOIN orders o ON o.customer_id = c.id
    GROUP BY c.id;
CREATE TRIGGER spending_insert INSTEAD OF INSERT ON spending BEGIN INSERT INTO settings VALUES ('t', new.name); END;
CREATE VIRTUAL TABLE notes USING fts5 (body);
CREATE VIRTUAL TABLE places USING rtree (id, x0, x1);
INSERT INTO customers (name, email, photo) VALUES ('Ann', 'ann@example.com', x'00ff'), ('Bob', NULL, NULL);
INSERT INTO orders (customer_id, total) VALUES (1, 10.5), (1, 250.0), (2, 1e999);
INSERT INTO settings VALUES ('theme', 'dark');
INSERT INTO exact VALUES (4611686018427387904, 'two to the 62');
INSERT INTO "Order Items" VALUES (1, 'klein');
INSERT INTO notes VALUES ('hello wide world'), ('goodbye');
INSERT INTO places VALUES (1, 2.0, 3.0);
"""

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


@functools.cache
def _content(script: str, wal: bool) -> bytes:
    """The bytes of a database that a script makes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            if wal:
                connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(script)
        return path.read_bytes()


def make(path: Path, script: str = SHOP, *, wal: bool = False) -> Path:
    """Write a database file."""
    path.write_bytes(_content(script, wal))
    return path


@asynccontextmanager
async def opened(path: Path, *, immutable: bool = False, **options: float) -> AsyncGenerator[SqliteEngine]:
    """An engine on a file, closed in the end."""
    busy, readers = float(options.pop("busy_seconds", 5.0)), int(options.pop("readers", 4))
    engine = SqliteEngine(SqliteFile(str(path), immutable), busy_seconds=busy, readers=readers)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


async def ask(engine: SqliteEngine, sql: str, *params: Parameter, budget: Budget | None = None) -> QueryResult:
    """A query's result."""
    return await engine.query(QueryRequest(sql, params, budget or Budget()))


def state_of(folder: Path) -> dict[str, str]:
    """Every file below a folder with the digest of its bytes. Not while this process has a database open in it."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def new_files(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Names that are new, but for the two files that SQLite itself makes beside a database in WAL mode."""
    return [name for name in after if name not in before and not name.endswith(("-wal", "-shm"))]


def shared_memory_only(name: str) -> bool:
    """Whether a file is one that SQLite rewrites for its readers."""
    return os.path.basename(name).endswith(("-wal", "-shm"))
