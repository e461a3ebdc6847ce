"""A PostgreSQL source beside an SQLite one, as a client sees them."""

from pathlib import Path

import pytest
from mcp_types import TextResourceContents

from mcp_curated_shared.testing.clients import WAYS, Era, Person, Way
from tests.database.server.serving import call, refused, rows, serve
from tests.postgres import Database

SALES = """
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id bigint PRIMARY KEY, total numeric(12,2), placed timestamptz DEFAULT now());
COMMENT ON TABLE sales.orders IS 'What was sold';
INSERT INTO sales.orders VALUES (9007199254740993, 12.50, 'infinity'), (2, NULL, '2026-07-28 10:00+00');
"""


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
async def test_both_engines_answer_by_their_sources_names(
    way: Way, era: Era, shop: Path, database: Database, state: str
):
    database.run(SALES)
    async with serve(way, era, [shop, f"crm={database.dsn}", state]) as client:
        assert await call(client, "list_sources") == "shop (SQLite)\ncrm (PostgreSQL)"
        assert (await rows(client, "SELECT count(*) FROM customers", source="shop"))["rows"] == [[2]]
        found = await rows(
            client, "SELECT id, total, placed FROM sales.orders WHERE id > $1 ORDER BY id", source="crm", params=[2]
        )
        assert found["columns"] == ["id", "total", "placed"]
        assert all(found["types"])
        assert found["rows"][0][:2] == ["9007199254740993", "12.50"]
        assert found["rows"][0][2] == "infinity"
        assert "What was sold" in await call(client, "describe_schema", source="crm", pattern="sales.*")
        result = await client.read_resource("db://crm/sales/orders")
        assert isinstance(result.contents[0], TextResourceContents)
        assert "primary key" in result.contents[0].text
        assert "sales" in await call(client, "describe_schema", source="crm")


@pytest.mark.anyio
async def test_an_error_of_postgresql_has_its_code_place_and_close_names(era: Era, database: Database, state: str):
    database.run(SALES)
    async with serve("memory", era, [database.dsn, state]) as client:
        told = await refused(client, "query", sql="SELECT totl FROM sales.orders")
        assert "42703" in told
        assert told.splitlines()[2].index("^") == told.splitlines()[1].index("totl")
        assert "pg_read_file" in await refused(client, "query", sql="SELECT pg_read_file('PG_VERSION')")
        assert await refused(client, "query", sql="DROP TABLE sales.orders")
        assert (await rows(client, "SELECT count(*) FROM sales.orders"))["rows"] == [[2]]


@pytest.mark.anyio
async def test_a_write_to_postgresql_is_tried_asked_about_and_committed(era: Era, database: Database, state: str):
    database.run(SALES)
    person = Person(answers={"confirm": True})
    change = {"sql": "UPDATE sales.orders SET total = $1 WHERE id = 2", "params": ["7.25"]}
    async with serve("memory", era, [database.dsn, state, "--allow-write"], person) as client:
        assert "Dry run, nothing was changed" in await call(client, "execute", **change)
        assert person.asked == []
        assert "Committed in" in await call(client, "execute", **change, dry_run=False)
        assert (await rows(client, "SELECT total FROM sales.orders WHERE id = 2"))["rows"] == [["7.25"]]
    assert "affects 1 row" in person.asked[0]
