"""describe for SQLite, names as people write them, and writes in their transaction."""

import sqlite3
from pathlib import Path

import pytest

from mcp_curated_database.engines.border import ExecuteRequest, ForeignKey, SchemaRequest, TableFacts
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.engines.sqlite import SqliteEngine
from mcp_curated_database.engines.sqlite.definitions import checks, generated
from mcp_curated_shared.errors import ConflictError, CuratedError, InvalidArgumentError, NotAllowedError
from tests.database.sqlite.sample import ask, make, opened


async def table(engine: SqliteEngine, name: str, samples: int = 0) -> TableFacts:
    request = SchemaRequest(NamePattern.parse(name), detail="full", sample_rows=samples)
    (found,) = (await engine.describe(request)).tables
    return found


@pytest.mark.anyio
async def test_tables_views_and_virtual_tables_are_listed_and_shadow_tables_are_not(engine: SqliteEngine):
    facts = await engine.describe(SchemaRequest())
    assert [(one.name, one.kind) for one in facts.tables] == [
        ("Order Items", "table"), ("customers", "table"), ("exact", "table"), ("notes", "virtual table"),
        ("orders", "table"), ("places", "virtual table"), ("settings", "table"), ("spending", "view"),
    ]  # fmt: skip
    assert [(count.name, count.tables, count.views) for count in facts.schemas] == [("main", 7, 1)]


@pytest.mark.anyio
async def test_columns_have_types_nullability_keys_and_how_they_are_generated(engine: SqliteEngine):
    found = await table(engine, "customers")
    assert [(one.name, one.type, one.nullable) for one in found.columns[:2]] == [
        ("id", "INTEGER", True), ("name", "TEXT", False),
    ]  # fmt: skip
    assert found.columns[4].generated == "always as (upper(name)) stored"
    assert found.primary_key == ("id",)
    assert found.uniques == (("email",),)
    assert found.checks == ("length(name) > 0",)


@pytest.mark.anyio
async def test_foreign_keys_are_told_from_both_ends(engine: SqliteEngine):
    orders, customers = await table(engine, "orders"), await table(engine, "customers")
    assert orders.foreign_keys == (ForeignKey(("customer_id",), "main", "customers", ("id",), "on delete cascade"),)
    assert customers.referenced_by == (ForeignKey(("id",), "main", "orders", ("customer_id",), "on delete cascade"),)


@pytest.mark.anyio
async def test_indexes_show_expressions_and_conditions(engine: SqliteEngine):
    found = await table(engine, "orders")
    assert [(one.name, one.definition) for one in found.indexes] == [
        ("orders_big", "(total DESC, abs(total)) WHERE total > 100")
    ]
    assert found.uniques == (("customer_id", "total"),)


@pytest.mark.anyio
async def test_kinds_of_tables_are_told(engine: SqliteEngine):
    assert (await table(engine, "settings")).options == ("WITHOUT ROWID",)
    assert (await table(engine, "exact")).options == ("STRICT",)
    spending = await table(engine, "spending")
    assert spending.definition.startswith("CREATE VIEW spending AS")
    assert spending.options == ("trigger spending_insert",)
    assert [column.name for column in (await table(engine, "notes")).columns] == ["body"]


@pytest.mark.anyio
async def test_row_estimates_come_from_analyze_and_are_unknown_without(shop: Path):
    async with opened(shop) as engine:
        assert (await table(engine, "orders")).rows is None
        with sqlite3.connect(shop) as writer:
            writer.execute("ANALYZE")
        writer.close()
        assert (await table(engine, "orders")).rows == 3


@pytest.mark.anyio
async def test_sample_rows_are_few_and_only_on_request(engine: SqliteEngine):
    assert (await table(engine, "customers")).samples is None
    samples = (await table(engine, "customers", 1)).samples
    assert samples is not None
    assert samples.rows == ((1, "Ann", "ann@example.com", "X'00FF'", "ANN"),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("orders", ["orders"]),
        ("ORDERS", ["orders"]),
        ("order*", ["Order Items", "orders"]),
        ("main.orders", ["orders"]),
        ("main.*", 8),
        ('"Order Items"', ["Order Items"]),
        ('main."Order Items"', ["Order Items"]),
        ("[Order Items]", ["Order Items"]),
        ("Order Items", ["Order Items"]),
        ('"order items"', []),
        ("other.orders", []),
        ("e?act", ["exact"]),
    ],
)
async def test_names_are_understood_as_people_write_them(pattern: str, names: list[str] | int, engine: SqliteEngine):
    found = [one.name for one in (await engine.describe(SchemaRequest(NamePattern.parse(pattern)))).tables]
    assert (len(found) if isinstance(names, int) else found) == names


@pytest.mark.parametrize("text", ["", ".", "a.", '"a', "a..b", '""'])
def test_what_is_no_name_is_refused(text: str):
    with pytest.raises(InvalidArgumentError):
        NamePattern.parse(text)


@pytest.mark.anyio
async def test_odd_names_are_described_too(tmp_path: Path):
    odd = ("a.b", 'quo"te', "näme 😀", "percent%", "semi;colon", "t); DROP TABLE u; --", "[x]", "star*")
    made = "".join('CREATE TABLE "{}" (id INTEGER PRIMARY KEY);'.format(name.replace('"', '""')) for name in odd)
    async with opened(make(tmp_path / "odd.db", made)) as engine:
        for name in odd:
            exact = SchemaRequest(NamePattern.exactly("main", name), detail="full", sample_rows=1)
            (found,) = (await engine.describe(exact)).tables
            assert found.name == name
            assert found.primary_key == ("id",)
        (found,) = (await engine.describe(SchemaRequest(NamePattern.parse("a.b")))).tables
        assert found.name == "a.b"


def test_the_text_of_a_table_is_read_past_strings_and_comments():
    sql = "CREATE TABLE t (a INT, -- CHECK (no)\n b TEXT DEFAULT 'CHECK (no)' CHECK (b <> ')'), c AS (a + (1)) STORED)"
    assert checks(sql) == ("b <> ')'",)
    assert generated(sql, "c") == "a + (1)"
    assert generated(sql, "a") == ""


@pytest.mark.anyio
async def test_a_write_is_tried_and_rolled_back_unless_it_shall_be_committed(shop: Path):
    async with opened(shop) as engine:
        tried = await engine.execute(ExecuteRequest("DELETE FROM customers"))
        assert (tried.affected, tried.command) == (2, "DELETE")
        assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((2,),)
        done = await engine.execute(ExecuteRequest("DELETE FROM customers WHERE id = ?", (2,), True, 1))
        assert done.affected == 1
        assert (await ask(engine, "SELECT count(*) FROM orders")).rows == ((2,),)  # foreign keys are enforced


@pytest.mark.anyio
async def test_a_write_that_affects_other_rows_than_agreed_is_rolled_back(shop: Path):
    async with opened(shop) as engine:
        with pytest.raises(ConflictError, match="not the 1 that were agreed to"):
            await engine.execute(ExecuteRequest("UPDATE customers SET name = 'x'", (), True, 1))
        assert (await ask(engine, "SELECT count(*) FROM customers WHERE name = 'x'")).rows == ((0,),)


@pytest.mark.anyio
async def test_a_write_may_return_rows_begin_with_with_and_make_tables(shop: Path):
    async with opened(shop) as engine:
        done = await engine.execute(
            ExecuteRequest(
                "WITH n AS (VALUES ('Eve'), ('Dan')) INSERT INTO customers (name) SELECT * FROM n RETURNING id, name",
                commit=True,
            )
        )
        assert done.affected == 2
        assert done.returned is not None
        assert done.returned.rows == ((3, "Eve"), (4, "Dan"))
        made = await engine.execute(ExecuteRequest("CREATE TABLE made (x)", commit=True))
        assert (made.affected, made.command) == (None, "CREATE TABLE")
        assert (await ask(engine, "SELECT count(*) FROM made")).rows == ((0,),)


@pytest.mark.anyio
async def test_a_write_that_fails_leaves_nothing(shop: Path):
    async with opened(shop) as engine:
        with pytest.raises(CuratedError, match="SQLITE_CONSTRAINT"):
            await engine.execute(ExecuteRequest("UPDATE customers SET name = ''", commit=True))
        assert (await ask(engine, "SELECT count(*) FROM customers WHERE name = ''")).rows == ((0,),)


@pytest.mark.anyio
async def test_an_immutable_file_is_not_written(shop: Path):
    async with opened(shop, immutable=True) as engine:
        with pytest.raises(NotAllowedError, match="immutable"):
            await engine.execute(ExecuteRequest("DELETE FROM customers", commit=True))
        assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((2,),)
