"""Errors: the database's code, the place under a caret, close names, and what to do."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_database.engines.errors import LONGEST_LINE, QueryError, caret, close_names
from mcp_curated_database.engines.sqlite import SqliteEngine
from mcp_curated_database.engines.sqlite.tokens import second_statement, tokens
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError
from tests.database.sqlite.sample import ask, opened


async def failure(engine: SqliteEngine, sql: str, *params: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        await ask(engine, sql, *params)
    return caught.value


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sql", "at"),
    [
        ("SELECT naem FROM customers", "naem"),
        ("SELECT name FROM custmers", "custmers"),
        ("SELECT c.naem FROM customers c", "naem"),
        ("SELECT id FORM customers", "customers"),
        ("SELECT 'FORM', FORM id FORM customers", "FORM customers"),
        ("SELECT nosuch(id) FROM customers", "nosuch"),
        ("SELECT id FROM customers, orders", "id FROM"),
        ("SELECT id FROM customers WHERE 'a", "'a"),
        ("SELECT 1; SELECT 2", "SELECT 2"),
        ("SELECT /* naem */ 'naem', naem FROM customers", "naem FROM"),
    ],
)
async def test_the_caret_stands_under_the_place(sql: str, at: str, engine: SqliteEngine):
    error = await failure(engine, sql)
    assert error.position is not None
    assert sql[error.position :].startswith(at)
    line, mark = error.text.splitlines()[1:3]
    assert line[mark.index("^") :].startswith(at[:5])


@pytest.mark.anyio
async def test_the_line_of_the_caret_is_the_users(engine: SqliteEngine):
    error = await failure(engine, "SELECT id,\n       naem\nFROM customers")
    assert error.text.splitlines()[1] == "line 2:        naem"


@pytest.mark.anyio
async def test_a_statement_that_stops_early_is_pointed_at_its_end(engine: SqliteEngine):
    error = await failure(engine, "SELECT id FROM customers WHERE")
    assert error.position == len("SELECT id FROM customers WHERE")
    assert error.message == "incomplete input"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sql", "close"),
    [
        ("SELECT * FROM custmers", ("customers",)),
        ("SELECT * FROM ORDER_ITEMS", ("Order Items", "orders")),
        ("SELECT naem FROM customers", ("name",)),
        ("SELECT c.emial FROM customers c", ("email",)),
        ("SELECT zzzzzz FROM customers", ()),
    ],
)
async def test_close_names_are_offered_for_an_unknown_one(sql: str, close: tuple[str, ...], engine: SqliteEngine):
    error = await failure(engine, sql)
    assert error.close == close
    assert ("Close names: " in error.text) == bool(close)


@pytest.mark.anyio
async def test_the_code_is_sqlites_own(engine: SqliteEngine):
    assert (await failure(engine, "SELECT nosuch")).code == "SQLITE_ERROR"
    assert (await failure(engine, "SELECT 1; SELECT 2")).code == "SQLITE_MISUSE"


@pytest.mark.anyio
async def test_a_wrong_number_of_values_says_how_to_bind(engine: SqliteEngine):
    error = await failure(engine, "SELECT ?, ?", "one")
    assert "uses 2, and there are 1" in error.message
    assert "one value for each ?" in error.hint


@pytest.mark.anyio
@pytest.mark.parametrize("sql", ["SELECT 'a\0b'", "SELECT '\ud800'"])
async def test_text_that_is_no_statement_is_refused_plainly(sql: str, engine: SqliteEngine):
    with pytest.raises(InvalidArgumentError):
        await ask(engine, sql)


@pytest.mark.anyio
async def test_a_parameter_that_is_no_text_is_refused_plainly(engine: SqliteEngine):
    with pytest.raises(InvalidArgumentError):
        await ask(engine, "SELECT ?", "\ud800")


@pytest.mark.anyio
async def test_an_error_leaves_the_connection_usable_and_in_the_pool(shop: Path):
    async with opened(shop, readers=1) as engine:
        for _ in range(20):
            await failure(engine, "SELECT nosuch")
            assert (await ask(engine, "SELECT 1")).rows == ((1,),)


@pytest.mark.anyio
async def test_a_file_that_is_no_database_says_so(tmp_path: Path):
    path = tmp_path / "plain.db"
    path.write_text("this is a plain text, long enough to be looked at as a header of a database file\n" * 20)
    async with opened(path) as engine:
        with pytest.raises(CuratedError, match="no SQLite database"):
            await ask(engine, "SELECT 1 FROM sqlite_schema")


@given(st.text(max_size=400), st.integers(-5, 500))
def test_a_caret_is_always_below_the_line(sql: str, position: int):
    line, mark = caret(sql, position)
    assert mark.strip() == "^"
    assert len(line) <= LONGEST_LINE + 30
    assert "\n" not in line


@given(st.text(alphabet="abc \"'`[]();-/*\n?1.", max_size=60))
def test_tokens_cover_a_statement_in_order(sql: str):
    positions = [token.position for token in tokens(sql)]
    assert positions == sorted(set(positions))
    second_statement(sql)


def test_close_names_are_the_nearest_first_and_few():
    assert close_names("ordrs", ["orders", "borders", "customers", "ORDER", "odds"])[0] == "orders"
    assert len(close_names("a1", [f"a{n}" for n in range(50)])) == 3
