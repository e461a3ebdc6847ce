"""Calls stay in their budget, end when they should, and survive what happens to connections."""

import asyncio
import logging
import secrets
import socket
import time
import traceback
from collections.abc import AsyncGenerator, Generator

import pytest

from mcp_curated_database.addresses import read_address
from mcp_curated_database.engines.addresses import PostgresAddress
from mcp_curated_database.engines.border import SchemaRequest
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.engines.postgres import PostgresEngine
from mcp_curated_database.results.schemas import blocks_of
from mcp_curated_shared.errors import ConflictError, CuratedError, NotAllowedError, TimedOutError, UnavailableError
from tests.database.postgres.engines import ask, engine, refusal, write
from tests.postgres import Database, new_database

pytestmark = pytest.mark.anyio

BOUND = 20.0
ACTIVE = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND state <> 'idle'"
)


@pytest.fixture(scope="module")
def target() -> Generator[Database]:
    with new_database() as made:
        made.run("CREATE TABLE t (id int PRIMARY KEY, name text)")
        made.run("INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 9) i")
        yield made


@pytest.fixture
async def asked(target: Database) -> AsyncGenerator[PostgresEngine]:
    async with engine(target) as made:
        yield made


async def until(target: Database, active: str) -> None:
    """So many calls of the engine run in the database."""
    deadline = time.monotonic() + BOUND
    while await asyncio.to_thread(target.run, ACTIVE) != active:
        assert time.monotonic() < deadline, f"never as many as {active}"


# Budgets


async def test_rows_are_cut_at_the_budget_and_not_at_exactly_it(asked: PostgresEngine) -> None:
    assert (await ask(asked, "SELECT * FROM t", rows=9)).cut_by is None
    cut = await ask(asked, "SELECT * FROM t ORDER BY id", rows=8)
    assert (len(cut.rows), cut.cut_by) == (8, "rows")


async def test_bytes_are_cut_at_the_budget(asked: PostgresEngine) -> None:
    cut = await ask(asked, "SELECT repeat('x', 1000) FROM generate_series(1, 100)", rows=1000, bytes=10_000)
    assert cut.cut_by == "bytes"
    assert 5 < len(cut.rows) < 10


async def test_a_long_value_is_cut_by_the_server_and_says_how_much_is_missing(asked: PostgresEngine) -> None:
    result = await ask(asked, "SELECT repeat('\u00e9', 5000), 'short', E'a\\u0001' || '7'", cell_characters=100)
    assert result.rows == (("\u00e9" * 100 + "... [4,900 more characters]", "short", "a\x017"),)
    assert result.cut_cells == 1


async def test_a_text_of_few_characters_and_many_bytes_is_whole(asked: PostgresEngine) -> None:
    result = await ask(asked, "SELECT repeat('\U0001f600', 60), E'x\\u00015'", cell_characters=100)
    assert result.rows == (("\U0001f600" * 60, "x\x015"),)
    assert result.cut_cells == 0


async def test_an_endless_result_costs_only_what_is_taken(asked: PostgresEngine) -> None:
    result = await ask(asked, "SELECT i, 'row ' || i FROM generate_series(1, 10000000) AS i", rows=1000, bytes=10**7)
    assert (len(result.rows), result.cut_by) == (1000, "rows")


async def test_a_function_in_the_caller_s_list_runs_once_a_row(database: Database) -> None:
    database.run(
        "CREATE FUNCTION bump() RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN set_config('my.count',"
        " (coalesce(nullif(current_setting('my.count', true), ''), '0')::int + 1)::text, true); END $$"
    )
    async with engine(database, allow_functions=["bump"]) as made:
        assert (await ask(made, "SELECT bump()")).rows == (("1",),)


# Ends


async def test_a_statement_that_takes_too_long_is_stopped_in_the_database(
    asked: PostgresEngine, target: Database
) -> None:
    error = await refusal(asked, "SELECT pg_sleep(60)", seconds=0.5)
    assert isinstance(error, TimedOutError)
    assert "0.5 s" in error.text
    await until(target, "0\n")
    assert (await ask(asked, "SELECT 1")).rows == ((1,),)


async def test_the_budget_counts_over_all_fetches(asked: PostgresEngine) -> None:
    error = await refusal(asked, "SELECT pg_sleep(0.05) FROM generate_series(1, 10000)", seconds=1, rows=10_000)
    assert isinstance(error, TimedOutError)


async def test_a_cancelled_call_ends_in_the_database_and_gives_its_connection_back(target: Database) -> None:
    async with engine(target, most_connections=1) as made:
        await ask(made, "SELECT 1")
        calling = asyncio.create_task(ask(made, "SELECT pg_sleep(60)"))
        await until(target, "1\n")
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await until(target, "0\n")
        assert (await asyncio.wait_for(ask(made, "SELECT 2"), BOUND)).rows == ((2,),)


async def test_a_slow_call_delays_no_other_and_many_share_the_pool(asked: PostgresEngine) -> None:
    slow = asyncio.create_task(ask(asked, "SELECT pg_sleep(60)"))
    answered = await asyncio.gather(*(ask(asked, "SELECT $1::int", number) for number in range(40)))
    assert [one.rows[0][0] for one in answered] == list(range(40))
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow


async def test_closing_ends_what_runs(target: Database) -> None:
    async with engine(target) as made:
        calling = asyncio.create_task(ask(made, "SELECT pg_sleep(60)"))
        await until(target, "1\n")
    with pytest.raises(CuratedError):
        await asyncio.wait_for(calling, BOUND)
    await until(target, "0\n")
    assert isinstance(await refusal(made, "SELECT 1"), UnavailableError)


# Connections


async def test_after_all_backends_were_ended_the_next_call_succeeds(asked: PostgresEngine, target: Database) -> None:
    await asyncio.gather(*(ask(asked, "SELECT pg_sleep(0.05)") for _ in range(5)))
    target.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert (await ask(asked, "SELECT 1")).rows == ((1,),)


async def test_a_database_that_is_away_is_told_without_its_address(caplog: pytest.LogCaptureFixture) -> None:
    password = secrets.token_hex(12)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        port = taken.getsockname()[1]
        address = read_address(f"postgresql://someone:{password}@127.0.0.1:{port}/secretname")
        assert isinstance(address, PostgresAddress)
        away = PostgresEngine(address)
        await away.open()
        with caplog.at_level(logging.DEBUG):
            error = await refusal(away, "SELECT 1")
        (found,) = await away.check()
        await away.close()
    assert isinstance(error, UnavailableError)
    assert found.level == "fail"
    told = "".join(traceback.format_exception(error)) + caplog.text + str(found)
    for hidden in (password, str(port), "secretname", "someone"):
        assert hidden not in told


async def test_a_missing_database_or_role_is_told(target: Database) -> None:
    for wrong in (Database("no_such", target.folder, "postgres", 0), target.as_user("no_such_role")):
        async with engine(wrong) as made:
            error = await refusal(made, "SELECT 1")
        assert isinstance(error, UnavailableError)
        assert "no_such" not in str(error)


# Writing


async def test_a_write_is_tried_or_done_and_counted(asked: PostgresEngine) -> None:
    tried = await write(asked, "UPDATE t SET name = 'x' WHERE id < $1", 3, commit=False)
    assert (tried.affected, tried.command) == (2, "UPDATE")
    assert (await ask(asked, "SELECT count(*) FROM t WHERE name = 'x'")).rows == ((0,),)
    done = await write(asked, "UPDATE t SET name = name || '' WHERE id < 3 RETURNING id, name", expected=2)
    assert done.returned is not None
    assert done.returned.rows == ((1, "n1"), (2, "n2"))
    assert (await write(asked, "CREATE TABLE made (a int)")).affected is None
    assert (await write(asked, "DROP TABLE made")).command == "DROP TABLE"


async def test_another_number_of_rows_than_was_agreed_to_is_rolled_back(asked: PostgresEngine) -> None:
    with pytest.raises(ConflictError, match="It would affect 9 rows now, not the 2"):
        await write(asked, "DELETE FROM t", expected=2)
    assert (await ask(asked, "SELECT count(*) FROM t")).rows == ((9,),)


@pytest.mark.parametrize(
    "sql",
    [
        "COMMIT",
        "ROLLBACK",
        "SET ROLE postgres",
        "COPY t TO PROGRAM 'x'",
        "DO $$ BEGIN END $$",
        "VACUUM",
        "ALTER SYSTEM SET work_mem = '1MB'",
    ],
)
async def test_what_would_leave_the_transaction_or_the_database_is_refused(asked: PostgresEngine, sql: str) -> None:
    with pytest.raises(NotAllowedError):
        await write(asked, sql)


async def test_a_write_that_fails_changes_nothing_and_shows_where(asked: PostgresEngine) -> None:
    with pytest.raises(CuratedError, match="23505"):
        await write(asked, "INSERT INTO t SELECT i, 'z' FROM generate_series(9, 11) i")
    with pytest.raises(CuratedError, match=r"(?s)42703.*Close names: name"):
        await write(asked, "UPDATE t SET nme = 'x'")
    assert (await ask(asked, "SELECT count(*) FROM t")).rows == ((9,),)


# Close names and samples


async def test_an_unknown_name_is_answered_with_those_that_look_like_it(database: Database) -> None:
    database.run(
        'CREATE SCHEMA sales; CREATE TABLE sales.items (price int); CREATE TABLE "Order Items" ("Unit Price" int)'
    )
    async with engine(database) as made:
        assert "Close names: sales.items" in str(await refusal(made, "SELECT * FROM sales.itmes"))
        assert 'Close names: "Order Items"' in str(await refusal(made, 'SELECT * FROM "OrderItems"'))
        assert "Close names: Unit Price" in str(await refusal(made, 'SELECT "UnitPrice" FROM "Order Items"'))


async def test_an_error_that_only_the_sent_statement_has_points_into_the_caller_s(asked: PostgresEngine) -> None:
    error = await refusal(asked, "WITH gone AS (DELETE FROM t RETURNING 1) SELECT * FROM gone")
    assert "line 1: WITH gone AS (DELETE FROM t RETURNING 1) SELECT * FROM gone\n             ^" in str(error)


async def test_a_view_that_calls_what_a_query_may_not_is_not_sampled(database: Database) -> None:
    database.run("CREATE SEQUENCE s; CREATE VIEW hiding AS SELECT nextval('s'); CREATE VIEW plain AS SELECT 1 AS one")
    async with engine(database) as made:
        facts = await made.describe(SchemaRequest(detail="full", sample_rows=2))
    samples = {table.name: table.samples for table in facts.tables}
    assert samples["plain"] is not None
    assert samples["plain"].rows == ((1,),)
    assert samples["hiding"] is None
    assert database.run("SELECT is_called FROM s") == "f\n"


async def test_a_table_that_very_many_point_at_does_not_fill_a_reply(database: Database) -> None:
    database.run(
        "CREATE TABLE hub (id int PRIMARY KEY); DO $$ BEGIN FOR i IN 1..60 LOOP EXECUTE"
        " format('CREATE TABLE spoke_%s (hub int REFERENCES hub)', i); END LOOP; END $$"
    )
    async with engine(database) as made:
        facts = await made.describe(SchemaRequest(pattern=NamePattern.parse("hub"), detail="full"))
    (block,) = blocks_of(facts)
    assert block.count("referenced by") == 40
    assert "... and 20 more tables that reference it" in block
