"""Sample rows of PostgreSQL's tables: few, short, and without running what somebody wrote."""

import pytest

from mcp_curated_database.engines.border import (
    ColumnFacts,
    SchemaRequest,
)
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.engines.postgres.catalog import describe
from mcp_curated_database.engines.postgres.driver import connect
from tests.database.postgres.describing import ask, one
from tests.postgres import Database

pytestmark = pytest.mark.anyio


async def test_what_a_role_may_not_read_is_told_and_not_sampled(database: Database) -> None:
    stranger = f"{database.name}_stranger"
    database.run(
        f"CREATE TABLE open (a int); CREATE TABLE shut (a int); CREATE TABLE half (a int, b int);"
        f"INSERT INTO open VALUES (1); INSERT INTO shut VALUES (2); INSERT INTO half VALUES (3, 4);"
        f"CREATE ROLE {stranger} LOGIN; GRANT SELECT ON open TO {stranger}; GRANT SELECT (a) ON half TO {stranger}"
    )
    half, opened, shut = (await ask(database.as_user(stranger), "*", sample_rows=1)).tables
    assert opened.samples is not None
    assert opened.samples.rows == ((1,),)
    assert (half.samples, shut.samples) == (None, None)
    assert (half.options, shut.options) == ((), ("not readable by this role",))
    assert shut.columns == (ColumnFacts("a", "integer"),)


async def test_samples_are_few_rows_with_long_values_cut(database: Database) -> None:
    database.run(
        'CREATE TABLE "T ""1" (id int, big bigint, f float8, ok bool, n numeric, t text, b bytea, j jsonb, a int[]);'
        "INSERT INTO \"T \"\"1\" SELECT i, 9007199254740993, 'NaN', i > 1, 1.10, repeat('é', 5000), '\\x00ff',"
        '\'{"a": 1}\', \'{1,NULL}\' FROM generate_series(1, 5) AS i; INSERT INTO "T ""1" VALUES (NULL);'
    )
    samples = (await one(database, "t*", sample_rows=2)).samples
    assert samples is not None
    assert len(samples.rows) == 2
    text = "é" * 80 + "... [4,920 more characters]"
    assert samples.rows[0] == (
        *(1, "9007199254740993", "NaN", False, "1.10"),
        *(text, "\\x00ff", '{"a": 1}', "{1,NULL}"),
    )
    assert [column.name for column in samples.columns] == ["id", "big", "f", "ok", "n", "t", "b", "j", "a"]
    assert (await one(database, "t*")).samples is None


async def test_a_view_that_fails_costs_only_its_own_sample(database: Database) -> None:
    database.run(
        "CREATE TABLE a (x int); INSERT INTO a VALUES (0); CREATE VIEW b AS SELECT 1 / x AS y FROM a;"
        "CREATE TABLE c (z int); INSERT INTO c VALUES (3)"
    )
    tables = (await ask(database, "*", sample_rows=3, admits=lambda _: True)).tables
    assert [None if table.samples is None else table.samples.rows for table in tables] == [((0,),), None, ((3,),)]


async def test_nothing_that_an_owner_wrote_runs_for_a_sample_unless_it_is_admitted(database: Database) -> None:
    database.run(
        """
        CREATE FUNCTION trap() RETURNS bool LANGUAGE plpgsql
            AS $$ BEGIN PERFORM pg_advisory_lock(7); RETURN true; END $$;
        CREATE VIEW a AS SELECT trap();
        CREATE TABLE b (x int); INSERT INTO b VALUES (1); ALTER TABLE b ENABLE ROW LEVEL SECURITY;
        CREATE POLICY p ON b USING (trap());
        CREATE TYPE pair AS (x int, y int);
        CREATE FUNCTION written(pair) RETURNS text LANGUAGE sql AS $$ SELECT trap()::text $$;
        CREATE CAST (pair AS text) WITH FUNCTION written(pair);
        CREATE TABLE c (p pair, q pair); INSERT INTO c VALUES ((NULL, NULL), NULL);
        """
    )
    asked: list[str] = []

    def admits(sql: str) -> bool:
        asked.append(sql)
        return "public" not in sql

    held = "SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory'"
    connection = await connect({"dsn": database.dsn})
    try:
        await connection.execute("BEGIN READ ONLY")
        request = SchemaRequest(NamePattern.parse("*"), "full", sample_rows=1)
        tables = (await describe(connection, request, version="")).tables
        assert [table.samples and table.samples.rows for table in tables] == [None, None, (("(,)", None),)]
        tables = (await describe(connection, request, version="", admits=admits)).tables
        assert [table.samples for table in tables] == [None, None, None]
        assert asked == [f'SELECT * FROM "public"."{name}"' for name in "abc"]
        assert await connection.fetchval(held) == 0
    finally:
        await connection.close()


async def test_samples_that_take_too_long_are_left_out(database: Database) -> None:
    database.run(
        "CREATE VIEW slow AS SELECT count(*) FROM generate_series(1, 1000000000);"
        "CREATE TABLE quick (a int); INSERT INTO quick VALUES (1)"
    )
    quick, slow = (await ask(database, "*", sample_rows=1, admits=lambda _: True)).tables
    assert quick.samples is not None
    assert slow.samples is None
