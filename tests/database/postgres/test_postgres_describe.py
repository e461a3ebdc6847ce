"""What describe_schema tells of PostgreSQL's tables, on a real one."""

import pytest

from mcp_curated_database.engines.border import (
    ColumnFacts,
    EnumFacts,
    ForeignKey,
    IndexFacts,
    SchemaCount,
)
from tests.database.postgres.describing import ask, one
from tests.postgres import Database

pytestmark = pytest.mark.anyio


async def test_an_overview_counts_what_belongs_to_the_user_and_names_it(shop: Database) -> None:
    facts = await ask(shop, detail="overview")
    assert facts.schemas == (
        SchemaCount("Sales Dept", 1, 0),
        SchemaCount("public", 8, 1, "standard public schema"),
        SchemaCount("sales", 2, 1, "What is sold"),
    )
    assert facts.total == len(facts.tables) == 13
    assert [(table.name, table.kind) for table in facts.tables if table.kind != "table"] == [
        ("distant", "foreign table"),
        ("logs", "partitioned table"),
        ("spending", "view"),
        ("totals", "materialized view"),
    ]
    assert not any(table.columns for table in facts.tables)
    assert (facts.version, facts.notes) == ("PostgreSQL", ("a note",))


async def test_columns_come_with_their_real_types_defaults_and_comments(shop: Database) -> None:
    table = await one(shop, "customers")
    assert (table.comment, table.rows, table.kind) == ("Who buys", 50, "table")
    assert table.columns == (
        ColumnFacts("id", "bigint", nullable=False, generated="always as identity"),
        ColumnFacts("address", "email"),
        ColumnFacts("mood", "mood", nullable=False, default="'ok'::mood"),
        ColumnFacts("moods", "mood[]"),
        ColumnFacts("felt", "feeling"),
        ColumnFacts("tags", "text[]", default="'{}'::text[]"),
        ColumnFacts("balance", "numeric(12,2)", default="0.0", comment="In euros"),
        ColumnFacts("shout", "text", generated="always as (upper(address::text)) stored"),
        ColumnFacts("twice", "numeric", generated="always as (balance * 2::numeric) virtual"),
        ColumnFacts("home", "place"),
    )
    assert (await one(shop, "sales.orders")).columns[0].generated == "by default as identity"


async def test_a_table_knows_where_it_points_and_who_points_at_it(shop: Database) -> None:
    orders = await one(shop, "sales.orders")
    actions = "on update cascade on delete set null"
    key = ("customer_id", "id")
    assert orders.primary_key == key
    assert orders.foreign_keys == (ForeignKey(("customer_id",), "public", "customers", ("id",), actions),)
    items = await one(shop, "items")
    actions_of_items = "match full deferrable initially deferred"
    assert items.foreign_keys == (ForeignKey(("customer_id", "order_id"), "sales", "orders", key, actions_of_items),)
    assert orders.referenced_by == (ForeignKey(key, "sales", "items", ("customer_id", "order_id"), actions_of_items),)
    assert (await one(shop, "customers")).referenced_by == (
        ForeignKey(("id",), "public", "logs", ("customer_id",)),
        ForeignKey(("id",), "sales", "orders", ("customer_id",), actions),
    )


async def test_not_null_is_no_check_and_what_is_not_validated_says_so(shop: Database) -> None:
    assert (await one(shop, "customers")).checks == ("balance > '-100'::integer::numeric",)
    assert (await one(shop, "items")).checks == ("length(note) < 9 /* not valid */",)
    assert (await one(shop, "logs")).checks == ()


async def test_indexes_are_those_that_no_key_made_with_expressions_and_conditions(shop: Database) -> None:
    orders = await one(shop, "sales.orders")
    assert orders.uniques == (("total", "state"),)
    assert orders.indexes == (
        IndexFacts("odd ON public.x USING btree", "(id)", unique=True),
        IndexFacts("orders_hash", "USING hash (id)"),
        IndexFacts("orders_lower", "(total DESC, abs(total)) INCLUDE (state) WHERE total > 100::double precision"),
        IndexFacts("orders_valid_excl", "EXCLUDE USING gist (valid WITH &&) WHERE (total > 0::double precision)"),
    )
    assert (await one(shop, "totals")).indexes == (IndexFacts("totals_id", "(id)", unique=True),)


async def test_types_of_columns_are_explained_once_labels_in_their_order(shop: Database) -> None:
    facts = await ask(shop, "*")
    assert facts.enums == (
        EnumFacts("public", "mood", ("sad", "ok", "it's fine")),
        EnumFacts("sales", "state", ("new", "packed", "paid")),
    )
    assert facts.notes == (
        "a note",
        "domain email is text not null check (VALUE ~~ '%@%'::text)",
        "domain feeling is mood default 'ok'::mood",
        "composite type place is (street text, state sales.state)",
    )
    assert (await ask(shop, "log_marks")).enums == ()


async def test_views_have_their_text_on_one_line_and_no_estimate(shop: Database) -> None:
    view = await one(shop, "spending")
    assert view.kind == "view"
    assert view.definition == (
        "SELECT c.id, sum(o.total) AS total FROM customers c JOIN sales.orders o ON o.customer_id = c.id GROUP BY c.id;"
    )
    assert view.rows is None
    assert [column.name for column in view.columns] == ["id", "total"]
    assert "security_barrier=true" in view.options
    totals = await one(shop, "totals")
    assert (totals.kind, totals.definition) == ("materialized view", "SELECT id, total FROM spending;")
    assert "not populated" in totals.options


async def test_blanks_in_the_strings_of_a_view_stay(database: Database) -> None:
    database.run("CREATE VIEW v AS SELECT 'two  blanks,\n   it''s'::text AS a, 1 AS \"b  c\"")
    assert (await one(database, "v")).definition == "SELECT 'two  blanks,\n   it''s'::text AS a, 1 AS \"b  c\";"


async def test_options_say_what_makes_a_table_special(shop: Database) -> None:
    assert (await one(shop, "notes")).options == ("row level security", 'trigger "Noisy"')
    assert (await one(shop, "scratch")).options == ("inherits public.notes", "unlogged")
    assert (await one(shop, "distant")).options == ("server afar",)
    facts = await ask(shop, "scratch", "tables")
    assert facts.tables[0].options == ("inherits public.notes", "unlogged")


async def test_a_table_that_was_never_analyzed_has_no_estimate(shop: Database) -> None:
    assert (await one(shop, "sales.orders")).rows is None
    facts = await ask(shop, "sales.*", "tables")
    assert [table.rows for table in facts.tables if table.name == "orders"] == [None]


async def test_a_role_that_may_only_select_is_told_the_same(shop: Database) -> None:
    reader = f"{shop.name}_reader"
    shop.run(f"CREATE ROLE {reader} LOGIN")
    for schema in ("public", "sales", '"Sales Dept"'):
        shop.run(
            f"GRANT USAGE ON SCHEMA {schema} TO {reader}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
        )
    assert await ask(shop.as_user(reader), "*") == await ask(shop, "*")
    assert await ask(shop.as_user(reader), None, "overview") == await ask(shop, None, "overview")


async def test_a_key_that_is_more_than_its_columns_says_so(database: Database) -> None:
    database.run(
        "CREATE TABLE t (a int PRIMARY KEY DEFERRABLE, b int, c int, UNIQUE NULLS NOT DISTINCT (b, c), UNIQUE (c))"
    )
    table = await one(database, "t")
    assert (table.primary_key, table.uniques) == (("a",), (("b", "c"), ("c",)))
    assert table.options == ("primary key (a) deferrable", "unique (b, c) nulls not distinct")


async def test_what_postgresql_18_has_more_is_told(database: Database) -> None:
    database.run(
        """
        CREATE TABLE rooms (room int4range, day daterange, PRIMARY KEY (room, day WITHOUT OVERLAPS));
        CREATE TABLE visits (
            room int4range, day daterange, a int UNIQUE, b int CHECK (b > 0) NOT ENFORCED,
            FOREIGN KEY (room, PERIOD day) REFERENCES rooms (room, PERIOD day), UNIQUE (a, b)
        );
        CREATE TABLE guests (a int, b int, FOREIGN KEY (a, b) REFERENCES visits (a, b) ON DELETE SET NULL (b));
        CREATE TABLE late (a int REFERENCES visits (a) NOT ENFORCED);
        """
    )
    rooms, visits = await one(database, "rooms"), await one(database, "visits")
    assert rooms.options == ("primary key (room, day without overlaps)",)
    key = ("room", "day")
    assert rooms.referenced_by == (ForeignKey(key, "public", "visits", key, "for periods"),)
    assert visits.checks == ("b > 0 /* not enforced */",)
    assert sorted(one.actions for one in visits.referenced_by) == ["not enforced", "on delete set null (b)"]
