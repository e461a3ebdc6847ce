"""Every value equals `expr::text`; numbers that JSON can hold are numbers; parameters follow the server's own input."""

import json
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from mcp_curated_database.engines.errors import QueryError
from mcp_curated_database.engines.postgres import PostgresEngine
from mcp_curated_shared.errors import InvalidArgumentError
from tests.database.postgres.engines import ask, engine, refusal
from tests.postgres import Database, new_database

pytestmark = pytest.mark.anyio

SETUP = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE SCHEMA other;
CREATE TYPE other.colour AS ENUM ('red');
"""

EXPRESSIONS = [
    "'infinity'::timestamptz",
    "'-infinity'::timestamp",
    "'infinity'::date",
    "'0044-03-15 BC'::date",
    "'10000-01-01'::date",
    "'24:00'::time",
    "'24:00+02'::timetz",
    "'2024-02-29 12:34:56.789012+02'::timestamptz",
    "'1 mon'::interval",
    "'1 mon 2 days 03:04:05.6'::interval",
    "'-1 year'::interval",
    "'P1Y2M'::interval",
    "0.1::float4",
    "1e30::float4",
    "'NaN'::float4",
    "'-Infinity'::float8",
    "0.1::float8",
    "1e300::float8",
    "12345678901234567890.10::numeric",
    "'NaN'::numeric",
    "'Infinity'::numeric",
    "1.500::numeric(10,3)",
    "1::numeric",
    "9007199254740993::int8",
    "(-9223372036854775808)::int8",
    "32767::int2",
    "true",
    "false",
    "NULL::int",
    "NULL",
    "'a'::\"char\"",
    "'a '::char(3)",
    "'a'::varchar(3)",
    "'a'::name",
    "''::text",
    "E'\\u0001x'::text",
    "'\\xdeadbeef'::bytea",
    '\'{"a": 1, "b":  2}\'::json',
    "'{\"a\": 12345678901234567890.0}'::jsonb",
    "ARRAY[1,2,NULL]",
    "ARRAY[[1,2],[3,4]]",
    "'{}'::int[]",
    "ARRAY['a,b', 'c\"d', NULL]",
    "'[0:1]={1,2}'::int[]",
    "'[1,5)'::int4range",
    "'empty'::int4range",
    "'{[1,3),[5,7)}'::int4multirange",
    "'[2024-01-01,)'::daterange",
    "ROW(1, 'a b', NULL)",
    "ROW(1, 'x')::pair",
    "'glad'::mood",
    "ARRAY['sad'::mood]",
    "3::positive",
    "'red'::other.colour",
    "'192.168.0.1/24'::inet",
    "'10.0.0.0/8'::cidr",
    "'08:00:2b:01:02:03'::macaddr",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
    "B'101'",
    "B'101'::varbit",
    "'(1,2)'::point",
    "'((0,0),(1,1))'::box",
    "'a & b'::tsquery",
    "'fat cats'::tsvector",
    "'$1,000.50'::money",
    "'pg_class'::regclass",
    "'now'::regproc",
    "'16/B374D848'::pg_lsn",
    "'(0,1)'::tid",
    "1::oid",
    "pg_sleep(0)",
    "'$.a'::jsonpath",
    "'1 2 3'::int2vector",
]


@pytest.fixture(scope="module")
def target() -> Generator[Database]:
    with new_database() as made:
        made.run(SETUP)
        yield made


@pytest.fixture
async def asked(target: Database) -> AsyncGenerator[PostgresEngine]:
    async with engine(target) as made:
        yield made


def same(value: Any, text: Any) -> bool:
    """Whether a cell says what PostgreSQL's text says."""
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, int | float):
        return float(text) == value and (isinstance(value, float) or int(text) == value)
    return bool(value == text)


@pytest.mark.parametrize("expression", EXPRESSIONS)
async def test_a_value_equals_its_text(asked: PostgresEngine, expression: str) -> None:
    (row,) = (await ask(asked, f"SELECT {expression} AS v")).rows
    (text,) = (await ask(asked, f"SELECT ({expression})::text AS v")).rows
    assert same(row[0], text[0]), (row, text)
    json.dumps(row, allow_nan=False)


async def test_numbers_that_json_holds_are_numbers(asked: PostgresEngine) -> None:
    result = await ask(asked, "SELECT 1, 1.5::float8, 0.1::float4, 9007199254740992, true, 9007199254740993")
    assert result.rows == ((1, 1.5, 0.1, 9007199254740992, True, "9007199254740993"),)


async def test_columns_keep_their_names_and_types_also_without_rows(asked: PostgresEngine) -> None:
    result = await ask(
        asked, "SELECT 1 AS a, 'x'::text AS a, 'glad'::mood, 'red'::other.colour AS \"\u00e9 b\" WHERE false"
    )
    assert [(one.name, one.type) for one in result.columns] == [
        ("a", "int4"),
        ("a", "text"),
        ("mood", "mood"),
        ("\u00e9 b", "other.colour"),
    ]
    assert result.rows == ()


async def test_rows_without_columns_are_counted(asked: PostgresEngine) -> None:
    result = await ask(asked, "SELECT FROM generate_series(1, 3)")
    assert (result.columns, result.rows) == ((), ((), (), ()))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 2 AS n UNION SELECT 1 ORDER BY 1;",
        "WITH x(n) AS (VALUES (1), (2)) SELECT * FROM x -- a comment",
        "/* c */ VALUES (1), (2) ; ;",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "SELECT * FROM (SELECT 1 UNION ALL SELECT 2) AS q(n)",
        "SELECT n FROM (VALUES (2), (1)) AS p(n) ORDER BY n",
    ],
)
async def test_every_form_of_a_query_keeps_its_rows_in_order(asked: PostgresEngine, sql: str) -> None:
    assert (await ask(asked, sql)).rows == ((1,), (2,))


async def test_signs_that_other_databases_read_as_parameters_are_left_alone(asked: PostgresEngine) -> None:
    sql = "SELECT '%s :x ?' AS a, '{\"k\": 1}'::jsonb ? 'k' AS b, 7 % 4 AS c"
    assert (await ask(asked, sql)).rows == (("%s :x ?", True, 3),)


@pytest.mark.parametrize(
    ("sql", "params", "expected"),
    [
        ("SELECT $1 + 1", [2], 3),
        ("SELECT $1::numeric * 2", ["1.10"], "2.20"),
        ("SELECT $1::int8", ["9007199254740993"], "9007199254740993"),
        ("SELECT $1::timestamptz > '2000-01-01'", ["2024-01-01T00:00:00Z"], True),
        ("SELECT $1::date", ["infinity"], "infinity"),
        ("SELECT $1::int[]", [[1, None, 3]], "{1,NULL,3}"),
        ("SELECT $1::text[]", [["a,b", 'c"d', "e\\f", "NULL", ""]], '{"a,b","c\\"d","e\\\\f","NULL",""}'),
        ("SELECT $1::int[]", [[[1, 2], [3, 4]]], "{{1,2},{3,4}}"),
        ("SELECT $1::jsonb", [{"a": [1, None]}], '{"a": [1, null]}'),
        ("SELECT $1::jsonb", ["text"], '"text"'),
        ("SELECT $1::jsonb", ['{"a": 1}'], '{"a": 1}'),
        ("SELECT $1::mood", ["glad"], "glad"),
        ("SELECT $1::boolean", [True], True),
        ("SELECT $1::float8", [0.1], 0.1),
        ("SELECT $1::bytea", ["\\xff"], "\\xff"),
        ("SELECT $1", ["x"], "x"),
        ("SELECT $1::text", [None], None),
        ("SELECT $2 || $1", ["a", "b"], "ba"),
        ("SELECT '$1' || $1", ["a"], "$1a"),
        ("SELECT 1 WHERE 3 = ANY ($1)", [[3]], 1),
    ],
)
async def test_a_parameter_is_bound_by_the_server_s_type(
    asked: PostgresEngine, sql: str, params: list[Any], expected: Any
) -> None:
    assert (await ask(asked, sql, *params)).rows == ((expected,),)


async def test_a_parameter_cannot_leave_its_place(asked: PostgresEngine) -> None:
    nasty = "'); DROP TABLE x; --"
    assert (await ask(asked, "SELECT $1::text", nasty)).rows == ((nasty,),)


async def test_too_many_or_too_few_parameters_are_told_with_their_types(asked: PostgresEngine) -> None:
    error = await refusal(asked, "SELECT $1::int, $2::text", 1)
    assert isinstance(error, InvalidArgumentError)
    assert "2 parameters ($1 integer, $2 text)" in error.text
    assert "0 parameters" in (await refusal(asked, "SELECT 1", 1)).text


async def test_a_parameter_of_a_wrong_type_is_the_server_s_error(asked: PostgresEngine) -> None:
    error = await refusal(asked, "SELECT $1::int", "x")
    assert isinstance(error, QueryError)
    assert error.code == "22P02"


@pytest.mark.parametrize(
    ("sql", "code", "told"),
    [
        ("SELECT nme FROM pg_class", "42703", "^"),
        ("SELECT *\nFROM pg_clas", "42P01", "line 2: FROM pg_clas\n             ^"),
        ("SELECT 1 +", "42601", "syntax error"),
        ("SELECT 1/0", "22012", "division by zero"),
        ("SELECT 'x'::int", "22P02", "line 1: SELECT 'x'::int\n               ^"),
        ("SELECT 'x' || 1/(SELECT 0)", "22012", "division"),
    ],
)
async def test_an_error_has_its_code_and_a_caret_in_the_caller_s_text(
    asked: PostgresEngine, sql: str, code: str, told: str
) -> None:
    error = await refusal(asked, sql)
    assert isinstance(error, QueryError)
    assert error.code == code
    assert told in error.text
    assert "mcp_curated" not in error.text


async def test_a_plan_is_shown_and_an_analysed_one_runs(asked: PostgresEngine) -> None:
    plan = await ask(asked, "SELECT * FROM pg_class WHERE relname = $1", "x", explain="plan")
    assert any("Scan" in str(row[0]) for row in plan.rows)
    analysed = await ask(asked, "SELECT 1", explain="analyze")
    assert any("actual" in str(row[0]) for row in analysed.rows)
