"""describe_schema on PostgreSQL beside locks and traps, and on many tables."""

import time

import pytest

from mcp_curated_database.engines.border import (
    ColumnFacts,
    ForeignKey,
    IndexFacts,
    SchemaRequest,
)
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.engines.postgres.catalog import describe
from mcp_curated_database.engines.postgres.driver import connect
from mcp_curated_database.results.schemas import overview
from tests.database.postgres.describing import Counting, ask, one
from tests.postgres import Database

pytestmark = pytest.mark.anyio


ROOM = 23_500
"""Bytes that describe_schema gives an overview."""


async def test_a_table_that_a_migration_has_locked_is_described_without_its_expressions(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY DEFAULT 7, a text CHECK (a <> 'x')); CREATE INDEX i ON t (lower(a))"
    )
    migration = await connect({"dsn": database.dsn})
    try:
        await migration.execute("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        facts = await ask(database, "t", sample_rows=1)
        assert "locked" in facts.notes[1]
        (table,) = facts.tables
        assert table.columns == (ColumnFacts("id", "integer", nullable=False, default="..."), ColumnFacts("a", "text"))
        assert (table.primary_key, table.checks, table.indexes) == (("id",), ("...",), (IndexFacts("i", "..."),))
        assert table.samples is None
    finally:
        await migration.close()


async def test_no_lock_and_no_setting_outlives_its_statement(database: Database) -> None:
    database.run(
        "CREATE TABLE t (a int CHECK (a > 0)); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT abs(a) FROM t"
    )
    looking, migration = await connect({"dsn": database.dsn}), await connect({"dsn": database.dsn})
    try:
        await looking.execute("BEGIN READ ONLY; SET LOCAL lock_timeout = '7s'; SET LOCAL statement_timeout = '9s'")
        request = SchemaRequest(NamePattern.parse("*"), "full", sample_rows=1)
        facts = await describe(looking, request, version="", admits=lambda _: True)
        assert all(table.samples is not None for table in facts.tables)
        await migration.execute("BEGIN; LOCK TABLE t, v IN ACCESS EXCLUSIVE MODE NOWAIT")
        limits = "SELECT current_setting('lock_timeout') || current_setting('statement_timeout')"
        assert await looking.fetchval(limits) == "7s9s"
    finally:
        await looking.close()
        await migration.close()


async def test_other_functions_of_the_same_name_are_never_called(database: Database) -> None:
    database.run(
        "CREATE FUNCTION trap() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;"
        "CREATE FUNCTION trap(name, name) RETURNS bool LANGUAGE sql AS 'SELECT trap()';"
        "CREATE FUNCTION trap(jsonb, jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT to_jsonb(trap())';"
        "CREATE OPERATOR !~ (LEFTARG = name, RIGHTARG = name, FUNCTION = trap);"
        "CREATE OPERATOR -> (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = trap);"
        "CREATE FUNCTION lower(name) RETURNS text LANGUAGE sql AS 'SELECT trap()::text';"
        "CREATE FUNCTION format_type(oid, bigint) RETURNS text LANGUAGE sql AS 'SELECT trap()::text';"
        "CREATE TABLE t (a int PRIMARY KEY REFERENCES t); INSERT INTO t VALUES (1)"
    )
    table = await one(database, "t", sample_rows=1)
    assert table.samples is not None
    assert table.foreign_keys == (ForeignKey(("a",), "public", "t", ("a",)),)


WIDE = """
DO $$ DECLARE s int; t int; BEGIN
    FOR s IN 1..20 LOOP
        EXECUTE format('CREATE SCHEMA schema_%s', s);
        FOR t IN 1..100 LOOP
            EXECUTE format('CREATE TABLE schema_%s.some_table_%s (id bigint PRIMARY KEY, other bigint%s, %s)', s, t,
                CASE WHEN t > 1 THEN format(' REFERENCES schema_%s.some_table_%s', s, t - 1) ELSE '' END,
                (SELECT string_agg(format('column_%s numeric(12,2) NOT NULL', i), ', ') FROM generate_series(1, 13) i));
        END LOOP;
    END LOOP;
END $$;
ANALYZE pg_class; ANALYZE pg_attribute; ANALYZE pg_constraint; ANALYZE pg_description;
"""


async def test_two_thousand_tables_take_few_statements_and_25_kilobytes(database: Database) -> None:
    database.run(WIDE)
    counting = Counting(await connect({"dsn": database.dsn}))
    try:
        await counting.connection.execute("BEGIN READ ONLY")
        began = time.monotonic()
        facts = await describe(counting, SchemaRequest(), version="PostgreSQL")
        spent = time.monotonic() - began
        assert (facts.total, len(facts.tables), len(facts.schemas)) == (2_000, 2_000, 20)
        assert len(overview(facts, ROOM).encode()) <= ROOM
        assert counting.statements == 2
        assert spent < 5.0  # a fortieth of it on a quiet machine
        full = await describe(counting, SchemaRequest(detail="full", limit=2_000), version="PostgreSQL")
        assert sum(len(table.columns) for table in full.tables) == 30_000
        assert sum(len(table.foreign_keys) for table in full.tables) == 1_980
        assert counting.statements <= 14
    finally:
        await counting.connection.close()
