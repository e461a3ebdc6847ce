"""What a query gives: values, types, columns, and as many rows as the budget holds."""

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_database.engines.border import Budget, Cell, Column, QueryRequest
from mcp_curated_database.engines.gathering import Gatherer, written_bytes
from mcp_curated_database.engines.sqlite import SqliteEngine
from mcp_curated_shared.errors import InvalidArgumentError
from tests.database.sqlite.sample import ask, make, opened

NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        ("NULL", None, "null"),
        ("1", 1, "integer"),
        ("-9007199254740992", -9007199254740992, "integer"),
        ("9007199254740993", "9007199254740993", "integer"),
        ("4611686018427387904", "4611686018427387904", "integer"),
        ("-9223372036854775807 - 1", "-9223372036854775808", "integer"),
        ("1.5", 1.5, "real"),
        ("0.1 + 0.2", 0.30000000000000004, "real"),
        ("1e999", "Infinity", "real"),
        ("-1e999", "-Infinity", "real"),
        ("1e999 - 1e999", None, "null"),
        ("'text'", "text", "text"),
        ("''", "", "text"),
        ("x'00ff'", "X'00FF'", "blob"),
        ("x''", "X''", "blob"),
        ("CAST(x'ff41' AS TEXT)", "\\xffA", "text"),
        ("'a' || char(0) || 'b'", "a\0b", "text"),
        ("'größe 😀'", "größe 😀", "text"),
        ("date('2026-07-28')", "2026-07-28", "text"),
        ("json('{\"a\": 12345678901234567890.10}')", '{"a":12345678901234567890.10}', "text"),
    ],
)
async def test_every_storage_class_arrives_exactly(expression: str, value: Cell, kind: str, engine: SqliteEngine):
    result = await ask(engine, f"SELECT {expression} AS v")
    assert result.rows == ((value,),)
    assert result.columns == (Column("v", kind),)


@pytest.mark.anyio
async def test_a_column_that_mixes_storage_classes_says_so(engine: SqliteEngine):
    result = await ask(engine, "SELECT 1 AS v UNION ALL SELECT 'a' UNION ALL SELECT NULL UNION ALL SELECT x'00'")
    assert result.columns == (Column("v", "integer|text|blob"),)


@pytest.mark.anyio
async def test_two_columns_of_one_name_and_an_empty_name_are_kept(engine: SqliteEngine):
    result = await ask(engine, 'SELECT 1 AS a, 2 AS a, 3 AS ""')
    assert [column.name for column in result.columns] == ["a", "a", ""]
    assert result.rows == ((1, 2, 3),)


@pytest.mark.anyio
async def test_no_rows_still_give_the_columns_with_their_declared_types(engine: SqliteEngine):
    result = await ask(engine, "SELECT c.id, c.name, o.total AS sum FROM customers c JOIN orders o WHERE 0")
    assert result.columns == (Column("id", "INTEGER"), Column("name", "TEXT"), Column("sum", "REAL"))
    assert result.rows == ()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SELECT 1;",
        "SELECT 1 ; ",
        "-- first\nSELECT 1 -- last",
        "/* first */ SELECT 1 /* last */;",
        "SELECT 1; -- the end",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1)",
        "SELECT 1 UNION SELECT 1",
        "\n\n  SELECT 1\n",
    ],
)
async def test_a_statement_may_look_as_it_likes(sql: str, engine: SqliteEngine):
    assert (await ask(engine, sql)).rows == ((1,),)


@pytest.mark.anyio
async def test_values_are_bound_and_the_text_is_left_alone(engine: SqliteEngine):
    result = await ask(engine, "SELECT ?, ?, ?2, '%s :x $1 ?', 5 % 3", "a'b", 2)
    assert result.rows == (("a'b", 2, 2, "%s :x $1 ?", 2),)


@pytest.mark.anyio
async def test_lists_objects_and_booleans_are_bound_as_sqlite_has_them(engine: SqliteEngine):
    result = await ask(engine, "SELECT ?, ?, ?, ?, json_extract(?, '$.k')", True, None, 1.5, [1, "ü"], {"k": 7})
    assert result.rows == ((1, None, 1.5, '[1,"ü"]', 7),)


@pytest.mark.anyio
async def test_a_number_beyond_64_bits_cannot_be_bound(engine: SqliteEngine):
    with pytest.raises(InvalidArgumentError, match="Parameter 1 is beyond 64 bits"):
        await ask(engine, "SELECT ?", 2**63)


@pytest.mark.anyio
@pytest.mark.parametrize("sql", ["", "  ", ";", "-- nothing", "/* nothing */ ;"])
async def test_no_statement_is_an_error(sql: str, engine: SqliteEngine):
    with pytest.raises(InvalidArgumentError, match="no statement"):
        await ask(engine, sql)


@pytest.mark.anyio
@pytest.mark.parametrize(("there", "cut"), [(9, None), (10, None), (11, "rows"), (5_000, "rows")])
async def test_rows_are_cut_at_the_limit_and_flagged_only_beyond_it(there: int, cut: str | None, engine: SqliteEngine):
    result = await ask(engine, f"{NUMBERS} LIMIT {there}", budget=Budget(rows=10))
    assert result.cut_by == cut
    assert result.rows == tuple((number,) for number in range(1, min(there, 10) + 1))


@pytest.mark.anyio
async def test_rows_are_cut_by_bytes_too(engine: SqliteEngine):
    result = await ask(engine, f"SELECT x, hex(zeroblob(450)) FROM ({NUMBERS}) LIMIT 500", budget=Budget(bytes=10_000))
    assert result.cut_by == "bytes"
    assert 9_000 < written_bytes(result.rows) <= 10_000


@pytest.mark.anyio
async def test_the_first_row_is_given_in_part_when_it_alone_is_too_large(engine: SqliteEngine):
    budget = Budget(bytes=2_000, cell_characters=5_000)
    result = await ask(engine, "SELECT 1, hex(zeroblob(2000)), 'end'", budget=budget)
    assert len(result.rows) == 1
    assert written_bytes(result.rows) < 2_100
    assert "more characters" in str(result.rows[0][1])
    assert result.rows[0][2] == "end"


@pytest.mark.anyio
async def test_long_values_are_cut_with_what_is_missing(engine: SqliteEngine):
    budget = Budget(cell_characters=100)
    result = await ask(engine, "SELECT hex(zeroblob(100)), zeroblob(5000), 'short'", budget=budget)
    text, blob, short = result.rows[0]
    assert text == "0" * 100 + "... [100 more characters]"
    assert blob == "X'" + "00" * 50 + "'... [4,950 more bytes]"
    assert short == "short"
    assert result.cut_cells == 2


@pytest.mark.anyio
async def test_a_value_of_200_megabytes_never_arrives_whole(tmp_path: Path):
    path = make(tmp_path / "large.db", "CREATE TABLE t (id INTEGER, data BLOB)")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO t VALUES (1, zeroblob(200000000))")
    connection.close()
    async with opened(path) as engine:
        with pytest.raises(Exception, match="larger than 16 MiB"):
            await ask(engine, "SELECT * FROM t")
        assert (await ask(engine, "SELECT id FROM t")).rows == ((1,),)


@pytest.mark.anyio
async def test_a_plan_is_given_instead_of_rows(engine: SqliteEngine):
    result = await engine.query(QueryRequest("SELECT * FROM customers WHERE id = ?", (1,), explain="plan"))
    assert "USING INTEGER PRIMARY KEY" in str(result.rows)
    with pytest.raises(InvalidArgumentError, match="no EXPLAIN ANALYZE"):
        await engine.query(QueryRequest("SELECT 1", explain="analyze"))


_CELLS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=30)


@given(st.lists(st.tuples(_CELLS, _CELLS), max_size=40), st.integers(1, 45), st.integers(50, 2_000))
def test_a_gatherer_keeps_a_beginning_within_its_budget_and_says_why_it_ended(
    rows: list[tuple[Cell, Cell]], most: int, size: int
):
    gatherer = Gatherer(Budget(rows=most, bytes=size, cell_characters=1_000))
    left = list(rows)
    while gatherer.wanted and left:
        wanted = gatherer.wanted
        gatherer.add(left[:wanted])
        left = left[wanted:]
    result = gatherer.result([Column("a", ""), Column("b", "")])
    assert len(result.rows) <= most
    whole = json.dumps(result.rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if result.cut_by is None:
        assert list(result.rows) == rows
    elif len(result.rows) > 1 or not result.cut_cells:
        assert list(result.rows) == rows[: len(result.rows)]
        assert len(whole) <= size + 2
    if result.cut_by == "rows":
        assert len(result.rows) == most < len(rows)
