"""Statements that try to write, to make files, to read others, or never to end: none has an effect."""

import os
import sqlite3
from pathlib import Path

import pytest

from mcp_curated_database.engines.border import Budget, ExecuteRequest, QueryRequest
from mcp_curated_database.engines.sqlite.guarding import Guard, GuardedConnection
from mcp_curated_database.engines.sqlite.rules import Rules
from mcp_curated_shared.errors import CuratedError
from tests.database.sqlite.sample import ENDLESS, make, new_files, opened, shared_memory_only, state_of

WRITES = [
    "DROP TABLE customers",
    "DELETE FROM customers",
    "INSERT INTO settings VALUES ('a', 'b')",
    "REPLACE INTO settings VALUES ('theme', 'b')",
    "UPDATE customers SET name = 'x'",
    "UPDATE customers SET name = 'x' RETURNING id",
    "WITH x AS (SELECT 1) DELETE FROM customers",
    "WITH x AS (SELECT 1) INSERT INTO settings SELECT 'k', 1",
    "INSERT INTO settings VALUES ('theme', 1) ON CONFLICT DO UPDATE SET value = 2",
    "INSERT INTO spending VALUES ('x', 1)",
    "INSERT INTO notes (notes) VALUES ('optimize')",
    "INSERT INTO notes VALUES ('more')",
    "DELETE FROM places",
    "CREATE TABLE t (x)",
    "CREATE TABLE t AS SELECT 1",
    "CREATE INDEX i ON customers (name)",
    "CREATE VIEW w AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE t USING fts5 (x)",
    "CREATE TEMP TABLE t (x)",
    "CREATE TEMP VIEW w AS SELECT 1",
    "CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE temp.t USING fts5 (x)",
    "ALTER TABLE customers ADD COLUMN y",
    "ALTER TABLE customers RENAME TO clients",
    "DROP INDEX orders_big",
    "DROP VIEW spending",
    "DROP TRIGGER spending_insert",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "BEGIN IMMEDIATE",
    "BEGIN",
    "COMMIT",
    "END TRANSACTION",
    "ROLLBACK",
    "SAVEPOINT s",
    "RELEASE s",
    "DETACH main",
    "SELECT 1; DROP TABLE customers",
    "SELECT 1;;DROP TABLE customers",
    "EXPLAIN DROP TABLE customers",
    "DELETE FROM sqlite_schema",
    "UPDATE sqlite_master SET sql = 'x'",
    "INSERT INTO sqlite_schema VALUES ('table', 't', 't', 0, 'CREATE TABLE t (x)')",
    "DELETE FROM sqlite_sequence",
    "INSERT INTO notes_data VALUES (9, x'00')",
    "SELECT optimize(notes) FROM notes; DELETE FROM notes",
]
FILES = [
    "ATTACH '{folder}/new.db' AS n",
    "ATTACH DATABASE 'file:{folder}/new.db?mode=rwc' AS n",
    "ATTACH 'file:{folder}/new.db?mode=rwc&cache=shared' AS n",
    "ATTACH ':memory:' AS n",
    "ATTACH '' AS n",
    "ATTACH '{folder}/other.db' AS n",
    "VACUUM INTO '{folder}/new.db'",
    "VACUUM main INTO '{folder}/new.db'",
    "VACUUM INTO (SELECT '{folder}/new.db')",
    "SELECT load_extension('{folder}/evil.so')",
    "SELECT load_extension('{folder}/evil.so', 'entry')",
    "SELECT readfile('/etc/hostname')",
    "SELECT writefile('{folder}/new.txt', 'x')",
    "SELECT edit('x', 'touch {folder}/new.txt')",
    "SELECT * FROM fsdir('/')",
    "SELECT * FROM csv('{folder}/other.db')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'0000000000000000')",
    "SELECT * FROM sqlite_dbpage",
    "CREATE VIRTUAL TABLE t USING csv(filename='/etc/passwd')",
]
PRAGMAS = [
    "PRAGMA query_only = 0",
    "PRAGMA query_only(0)",
    "PRAGMA main.query_only = OFF",
    "PRAGMA writable_schema = 1",
    "PRAGMA writable_schema(RESET)",
    "PRAGMA trusted_schema = 1",
    "PRAGMA journal_mode = WAL",
    "PRAGMA journal_mode(DELETE)",
    "PRAGMA main.journal_mode = OFF",
    "PRAGMA user_version = 7",
    "PRAGMA user_version(7)",
    "PRAGMA application_id = 7",
    "PRAGMA schema_version = 7",
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA temp_store_directory = '{folder}'",
    "PRAGMA data_store_directory = '{folder}'",
    "PRAGMA cache_size = 100000000",
    "PRAGMA mmap_size = 100000000000",
    "PRAGMA hard_heap_limit = 0",
    "PRAGMA soft_heap_limit = 1",
    "PRAGMA page_size = 512",
    "PRAGMA auto_vacuum = FULL",
    "PRAGMA incremental_vacuum",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA optimize",
    "PRAGMA case_sensitive_like = 1",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA ignore_check_constraints = 1",
    "PRAGMA max_page_count = 1",
    "PRAGMA busy_timeout = 100000000",
    "PRAGMA synchronous = OFF",
    "PRAGMA encoding = 'UTF-16'",
    "PRAGMA database_list",
    "SELECT * FROM pragma_database_list",
    "PRAGMA threads = 8",
    "PRAGMA shrink_memory",
]
DISGUISES = [
    "/* SELECT */ DELETE FROM customers",
    "-- SELECT 1\nDELETE FROM customers",
    "\ufeffDELETE FROM customers",
    "  \t\n dElEtE FROM customers",
    "EXPLAIN QUERY PLAN DELETE FROM customers",
    "DELETE FROM [customers]",
    "DELETE FROM main.customers",
    "AT/**/TACH 'x' AS y",
    "ATTACH /* */ '{folder}/new.db' /* */ AS n",
    "attach database cast(x'2e2f6e65772e6462' as text) as n",
    "SELECT \"load_extension\"('x')",
    "SELECT [load_extension]('x')",
    "SELECT LOAD_EXTENSION('x')",
    "WITH t(x) AS (SELECT load_extension('x')) SELECT x FROM t",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM customers WHERE load_extension('x'))",
    "VALUES (load_extension('x'))",
    "PRAGMA [query_only] = 0",
    'PRAGMA "user_version" = 7',
    "SELECT * FROM pragma_user_version(7)",
    "SELECT * FROM pragma_journal_mode('wal')",
    "SELECT * FROM pragma_query_only(0)",
    "SELECT * FROM customers; -- \nDROP TABLE customers",
    "SELECT 1 /* ; */ ; DELETE FROM customers",
    "SELECT ';' ; DELETE FROM customers",
]

MANY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT x FROM c"

ATTACKS = WRITES + FILES + PRAGMAS + DISGUISES


@pytest.mark.anyio
@pytest.mark.parametrize("wal", [False, True], ids=["rollback", "wal"])
@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_statement_of_a_query_has_an_effect(
    attack: str, wal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    shop = make(tmp_path / "shop.db", wal=wal)
    make(tmp_path / "other.db", "CREATE TABLE secrets (x); INSERT INTO secrets VALUES ('not for you');")
    before = state_of(tmp_path)
    sql = attack.format(folder=tmp_path)
    async with opened(shop) as engine:
        given = ""
        try:
            given = repr(await engine.query(QueryRequest(sql, budget=Budget(seconds=10))))
        except CuratedError as error:
            assert "not for you" not in str(error)
        assert "not for you" not in given
        assert str(tmp_path) not in given
        left = await engine.query(QueryRequest("SELECT (SELECT count(*) FROM customers), (SELECT value FROM settings)"))
        assert left.rows == ((2, "dark"),)
    after = state_of(tmp_path)
    assert new_files(list(before), list(after)) == []
    assert {name: digest for name, digest in after.items() if not shared_memory_only(name)} == {
        name: digest for name, digest in before.items() if not shared_memory_only(name)
    }


@pytest.mark.anyio
@pytest.mark.parametrize("attack", [*WRITES[:40], *FILES])
async def test_every_write_and_every_file_is_refused_with_a_reason(attack: str, shop: Path, tmp_path: Path):
    async with opened(shop) as engine:
        with pytest.raises(CuratedError) as caught:
            await engine.query(QueryRequest(attack.format(folder=tmp_path)))
    assert str(caught.value)


def connection_of(path: Path, *, read_only: bool = True) -> GuardedConnection:
    guard = Guard(Rules(read_only=read_only))
    return GuardedConnection(f"file:{path}?mode=ro", guard, 1.0)


def test_switches_of_a_reader_cannot_be_turned(shop: Path):
    connection = connection_of(shop)
    for name in ("query_only", "trusted_schema"):
        before = connection.execute(f"PRAGMA {name}").fetchone()
        for value in ("0", "1"):
            with pytest.raises(sqlite3.DatabaseError):
                connection.execute(f"PRAGMA {name} = {value}")
        assert connection.execute(f"PRAGMA {name}").fetchone() == before
    connection.close()


def test_each_layer_stops_a_write_without_the_others(shop: Path):
    """The authorizer is not the only one: without it the file's own mode and query_only refuse."""
    connection = connection_of(shop)
    connection.set_authorizer(None)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM customers")
    connection.close()
    writable = sqlite3.connect(shop)
    writable.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        writable.execute("DELETE FROM customers")
    writable.close()
    bare = sqlite3.connect(shop)
    bare.set_authorizer(Rules(read_only=True).authorize)
    with pytest.raises(sqlite3.DatabaseError):
        bare.execute("DELETE FROM customers")
    bare.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "hungry",
    [
        "SELECT zeroblob(900000000)",
        "SELECT hex(zeroblob(900000000))",
        "SELECT replace(hex(zeroblob(8000000)), '0', '0123456789')",
        f"SELECT group_concat(hex(zeroblob(1000)), 'x') FROM ({MANY})",
        "SELECT " + ", ".join(["hex(zeroblob(7000000))"] * 300),
        "SELECT randomblob(900000000)",
    ],
)
async def test_what_would_fill_the_memory_is_refused(hungry: str, shop: Path):
    async with opened(shop) as engine:
        with pytest.raises(CuratedError) as caught:
            await engine.query(QueryRequest(hungry))
        assert caught.value.kind == "too_large"
        assert (await engine.query(QueryRequest("SELECT 1"))).rows == ((1,),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "endless",
    [
        ENDLESS,
        "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)",
        f"SELECT sum(a.x * b.x) FROM ({MANY}) a, ({MANY}) b",
    ],
)
async def test_what_never_ends_is_stopped_at_its_deadline(endless: str, shop: Path):
    async with opened(shop) as engine:
        with pytest.raises(CuratedError) as caught:
            await engine.query(QueryRequest(endless, budget=Budget(seconds=0.2)))
        assert caught.value.kind == "timed_out"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT body FROM notes WHERE notes MATCH ?", ("wide",)),
        ("SELECT snippet(notes, 0, '[', ']', '...', 5), bm25(notes) FROM notes WHERE notes MATCH 'hello'", ()),
        ("SELECT highlight(notes, 0, '<', '>') FROM notes WHERE body MATCH 'good*'", ()),
        ("SELECT id FROM places WHERE x0 >= 1 AND x1 <= 4", ()),
        ("SELECT key, value FROM json_each(?)", ([1, 2, 3],)),
        ('SELECT fullkey FROM json_tree(\'{"a": [1, {"b": 2}]}\')', ()),
        ("SELECT name, pgsize FROM dbstat LIMIT 1", ()),
        ("SELECT name FROM pragma_table_info('customers')", ()),
        ("PRAGMA table_xinfo(customers)", ()),
        ("PRAGMA index_list(orders)", ()),
        ("PRAGMA foreign_key_list(orders)", ()),
        ("PRAGMA user_version", ()),
        ("PRAGMA journal_mode", ()),
        ("PRAGMA integrity_check", ()),
        ("PRAGMA quick_check(1)", ()),
        ("EXPLAIN QUERY PLAN SELECT * FROM orders", ()),
        ("EXPLAIN SELECT 1", ()),
        ("SELECT date('2026-01-31', '+1 month'), strftime('%Y', 'now')", ()),
        ("SELECT sqrt(2.0), printf('%05d', 42), format('%s', 'x')", ()),
        ("SELECT name, rank() OVER (ORDER BY name) FROM customers", ()),
        ("SELECT total(total) FILTER (WHERE total < 100) FROM orders", ()),
        ("SELECT sql FROM sqlite_schema WHERE name = 'orders'", ()),
    ],
)
async def test_what_reads_keeps_working(sql: str, params: tuple[str, ...], shop: Path):
    async with opened(shop) as engine:
        assert (await engine.query(QueryRequest(sql, params))).rows


@pytest.mark.anyio
@pytest.mark.parametrize(
    "attack",
    [*FILES, "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "PRAGMA writable_schema = 1", "PRAGMA journal_mode = WAL",
     "VACUUM", "DELETE FROM customers; DROP TABLE orders", "CREATE TEMP TABLE t (x)", "PRAGMA query_only = 0"],
)  # fmt: skip
async def test_execute_reaches_nothing_beyond_its_database_and_transaction(attack: str, shop: Path, tmp_path: Path):
    before = state_of(tmp_path)
    async with opened(shop) as engine:
        with pytest.raises(CuratedError):
            await engine.execute(ExecuteRequest(attack.format(folder=tmp_path), commit=True))
    assert new_files(list(before), os.listdir(tmp_path)) == []
