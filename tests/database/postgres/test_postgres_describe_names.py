"""Which tables of PostgreSQL a pattern means, and which names are close to it."""

import pytest

from mcp_curated_database.engines.border import (
    ForeignKey,
    SchemaRequest,
)
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.engines.postgres.catalog import close_tables, column_names, describe, table_names
from mcp_curated_database.engines.postgres.driver import connect
from tests.database.postgres.describing import ask, names, one
from tests.postgres import Database

pytestmark = pytest.mark.anyio


async def test_partitions_are_folded_into_their_parent(shop: Database) -> None:
    logs = await one(shop, "logs*")
    assert (logs.kind, logs.partitions, logs.rows) == ("partitioned table", 2, 7)
    assert logs.options == ("partitioned by RANGE (at)",)
    assert logs.primary_key == ("at", "kind")
    assert logs.foreign_keys == (ForeignKey(("customer_id",), "public", "customers", ("id",)),)
    key = ("at", "kind")
    assert logs.referenced_by == (ForeignKey(key, "public", "log_marks", key),)
    assert (await one(shop, "log_marks")).foreign_keys == (ForeignKey(key, "public", "logs", key),)


async def test_partitions_are_shown_where_they_are_named(shop: Database) -> None:
    assert names(await ask(shop, "logs_2024")) == ["public.logs_2024"]
    assert names(await ask(shop, "logs_202*")) == ["public.logs_2024", "public.logs_2025"]
    assert names(await ask(shop, "sales.logs*")) == ["sales.logs_2025_a"]
    leaf = await one(shop, "sales.logs_2025_a")
    assert leaf.options == ("partition of public.logs_2025 FOR VALUES IN ('a')",)
    assert leaf.foreign_keys == (ForeignKey(("customer_id",), "public", "customers", ("id",)),)
    assert leaf.rows == 0


async def test_a_schema_of_nothing_but_partitions_shows_them(database: Database) -> None:
    database.run(
        "CREATE SCHEMA parts; CREATE TABLE t (a int) PARTITION BY LIST (a);"
        "CREATE TABLE parts.p PARTITION OF t FOR VALUES IN (1)"
    )
    assert names(await ask(database, "parts.*", "tables")) == ["parts.p"]
    assert names(await ask(database, detail="overview")) == ["public.t"]


async def test_one_name_in_two_schemas_gives_both(shop: Database) -> None:
    assert names(await ask(shop, "orders")) == ["public.orders", "sales.orders"]
    assert names(await ask(shop, "public.orders")) == ["public.orders"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("CUSTOMERS", ["public.customers"]),
        ('"CUSTOMERS"', []),
        ('"customers"', ["public.customers"]),
        ("Sales.Ord*", ["sales.orders"]),
        ("sales.*", ["sales.items", "sales.orders", "sales.totals"]),
        ('"Sales Dept"."Order Items"', ["Sales Dept.Order Items"]),
        ("sales dept.order items", ["Sales Dept.Order Items"]),
        ("order?items", ["Sales Dept.Order Items"]),
        ("dotted.name", ["public.dotted.name"]),
        ('public."dotted.name"', ["public.dotted.name"]),
        ("[notes]", ["public.notes"]),
        ("n?t*", ["public.notes"]),
    ],
)
async def test_names_are_found_as_people_write_them(shop: Database, pattern: str, found: list[str]) -> None:
    assert names(await ask(shop, pattern, "overview")) == found


async def test_quotes_blanks_and_letters_of_all_kinds_in_names_come_back_as_they_are(shop: Database) -> None:
    table = await one(shop, "Order Items", sample_rows=1)
    assert [column.name for column in table.columns] == ["item no.", "größe", 'a"b']
    assert table.primary_key == ("item no.",)


STRANGE = (
    *("a.b", 'a"b', "a'b", "a\\b", "a%b", "{x}", "$1", " lead", "é", "名前", "🙂", "select", "A", "a", "x" * 63),
    *("tab\there", "1", "-", "[a]", "`a`", "*", "?", ")", " ON x USING btree (", "a\nb", "--", "/*", "$$", ","),
)


async def test_every_name_is_found_exactly_and_its_facts_are_its_own(database: Database) -> None:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    statements = [
        f"CREATE SCHEMA {name}; CREATE TABLE {name}.{name} ({name} int PRIMARY KEY, CHECK ({name} > 0));"
        f"CREATE INDEX {quoted(f'{number}{name}'[:40])} ON {name}.{name} ({name});"
        f"INSERT INTO {name}.{name} VALUES (7);"
        for number, name in enumerate(map(quoted, STRANGE))
    ]
    database.run("\n".join(statements))
    connection = await connect({"dsn": database.dsn})
    try:
        await connection.execute("BEGIN READ ONLY")
        for name in STRANGE:
            request = SchemaRequest(NamePattern.exactly(name, name), "full", sample_rows=1)
            (table,) = (await describe(connection, request, version="")).tables
            assert (table.schema, table.name, table.primary_key) == (name, name, (name,))
            assert table.samples is not None
            assert table.samples.rows == ((7,),)
            assert table.indexes[0].definition in {f"({name})", f"({quoted(name)})"}
    finally:
        await connection.close()


async def test_system_schemas_are_hidden_unless_the_pattern_names_one(shop: Database) -> None:
    assert "pg_class" not in [table.name for table in (await ask(shop, "*", "tables")).tables]
    assert (await ask(shop, "pg_class")).total == 0
    assert (await ask(shop, "*.tables", "overview")).total == 0
    assert (await one(shop, "pg_catalog.pg_class")).kind == "table"
    assert (await one(shop, "information_schema.tables")).kind == "view"


async def test_limit_and_offset_take_a_part_and_count_all(shop: Database) -> None:
    everything = await ask(shop, "*", "tables")
    part = await ask(shop, "*", "tables", limit=3, offset=2)
    assert names(part) == names(everything)[2:5]
    assert part.total == everything.total == 13
    assert part.schemas == everything.schemas
    assert (await ask(shop, "*", offset=99)).tables == ()


async def test_close_names_are_told_as_sql_may_call_them(shop: Database) -> None:
    assert (await ask(shop, "custmers")).close == ("customers",)
    assert (await ask(shop, "itmes")).close == ("sales.items", "notes")
    assert (await ask(shop, "sales.order")).close[:2] == ("sales.orders", "public.orders")
    assert (await ask(shop, "orderitems")).close[0] == '"Sales Dept"."Order Items"'
    assert (await ask(shop, "zzzzzz")).close == ()


async def test_the_names_to_choose_from_are_as_sql_may_call_them(shop: Database) -> None:
    connection = await connect({"dsn": shop.dsn})
    try:
        found = await table_names(connection)
        assert {"customers", "orders", "sales.orders", '"Sales Dept"."Order Items"'} <= set(found)
        assert "logs_2024" not in found
        assert len(await table_names(connection, most=2)) == 2
        assert await close_tables(connection, "custmer") == ("customers",)
        assert await close_tables(connection, "itms", "sales") == ("sales.items",)
        columns = ['a"b', "größe", "item no.", "note", "customer_id", "order_id"]
        assert sorted(await column_names(connection, ["Order Items", "sales.items"])) == sorted(columns)
        assert await column_names(connection, ["nothing", "sal'es"]) == []
    finally:
        await connection.close()
