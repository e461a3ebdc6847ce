"""The tools as a client sees them, over every way and in both eras."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_curated_shared.testing.clients import WAYS, Era, Person, Way
from tests.database.server.serving import call, refused, rows, serve, text_of
from tests.database.sqlite.sample import ENDLESS, make


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
async def test_a_query_gives_columns_types_rows_and_counts(way: Way, era: Era, shop: Path, state: str):
    async with serve(way, era, [shop, state]) as client:
        found = await rows(client, "SELECT id, name, photo FROM customers WHERE id = ?", params=[1])
    assert found == {
        "columns": ["id", "name", "photo"],
        "types": ["integer", "text", "blob"],
        "rows": [[1, "Ann", "X'00FF'"]],
        "row_count": 1,
        "truncated": False,
        "next": None,
    }


@pytest.mark.anyio
async def test_a_result_is_sent_once_and_compactly(era: Era, shop: Path, state: str):
    async with serve("memory", era, [shop, state]) as client:
        result = await client.call_tool("query", {"sql": "SELECT 1 AS a"})
    assert result.structured_content is None
    assert text_of(result) == (
        '{"columns":["a"],"types":["integer"],"rows":[[1]],"row_count":1,"truncated":false,"next":null}'
    )


@pytest.mark.anyio
async def test_following_next_gives_every_row_once(era: Era, shop: Path, state: str):
    many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 57) SELECT x FROM c ORDER BY x"
    arguments: dict[str, Any] = {"sql": f"{many} -- all of them", "max_rows": 10}
    seen: list[int] = []
    async with serve("memory", era, [shop, state]) as client:
        while True:
            found = await rows(client, **arguments)
            seen += [row[0] for row in found["rows"]]
            if not found["truncated"]:
                break
            wording = found["next"]
            arguments, _ = json.JSONDecoder().raw_decode(wording[wording.index("query {") + 6 :])
    assert seen == list(range(1, 58))


@pytest.mark.anyio
async def test_invisible_characters_of_the_data_become_visible_and_are_counted(era: Era, shop: Path, state: str):
    hidden = "a\u200b\u202eb\U000e0041"
    async with serve("memory", era, [shop, state]) as client:
        result = text_of(await client.call_tool("query", {"sql": "SELECT ? AS v", "params": [hidden]}))
        plain = await rows(client, "SELECT ? AS v", params=["größe 👨‍👩‍👧"])
    assert "\\u200b\\u202e" in result
    assert not {"\u200b", "\u202e", "\U000e0041"} & set(result)
    found = json.loads(result)
    assert found["rows"] == [[hidden]]
    assert found["invisible_characters"] == 3
    assert "invisible_characters" not in plain
    assert plain["rows"] == [["größe 👨‍👩‍👧"]]


@pytest.mark.anyio
async def test_rows_and_bytes_have_limits_that_the_operator_sets(era: Era, shop: Path, state: str):
    many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 500) SELECT x FROM c"
    async with serve("memory", era, [shop, state, "--rows=7", "--max-rows=9", "--max-reply=2000"]) as client:
        assert (await rows(client, many))["row_count"] == 7
        assert (await rows(client, many, max_rows=1_000))["row_count"] == 9
        wide = await rows(client, f"SELECT x, hex(zeroblob(300)) FROM ({many})")
    assert wide["truncated"]
    assert wide["row_count"] < 7


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
async def test_a_schema_is_told_from_the_overview_down(way: Way, era: Era, shop: Path, state: str):
    async with serve(way, era, [shop, state]) as client:
        overview = await call(client, "describe_schema")
        table = await call(client, "describe_schema", pattern="orders")
        lines = await call(client, "describe_schema", detail="tables")
    assert 'main (7 tables, 1 views): "Order Items", customers, exact, notes (virtual table), orders' in overview
    assert "notes_data" not in overview
    assert "customer_id INTEGER not null -> customers(id) on delete cascade" in table
    assert "unique (customer_id, total)" in table
    assert "index orders_big (total DESC, abs(total)) WHERE total > 100" in table
    assert "settings (WITHOUT ROWID)" in lines


@pytest.mark.anyio
async def test_an_unknown_table_gets_close_names(era: Era, shop: Path, state: str):
    async with serve("memory", era, [shop, state]) as client:
        told = await refused(client, "describe_schema", pattern="custmers")
        assert "Close names: customers" in told
        told = await refused(client, "query", sql="SELECT * FROM custmers")
    assert "Close names: customers" in told
    assert told.splitlines()[2].index("^") == told.splitlines()[1].index("custmers")


@pytest.mark.anyio
async def test_two_thousand_tables_fit_into_one_short_answer_that_leads_on(era: Era, tmp_path: Path, state: str):
    script = "".join(f"CREATE TABLE table_number_{number:04} (id INTEGER, name TEXT);" for number in range(2_000))
    large = make(tmp_path / "large.db", script)
    async with serve("memory", era, [large, state]) as client:
        overview = await call(client, "describe_schema")
        assert len(overview.encode()) <= 25_000
        assert "2000 tables" in overview
        assert " more" in overview
        seen = 0
        answer = await call(client, "describe_schema", pattern="table*")
        while True:
            assert len(answer.encode()) <= 25_000
            seen += answer.count("\ntable_number_")
            if "The rest: describe_schema {" not in answer:
                break
            wording = answer[answer.index("The rest: describe_schema {") + 26 :]
            arguments, _ = json.JSONDecoder().raw_decode(wording.strip())
            answer = await call(client, "describe_schema", **arguments | {"detail": "tables"})
    assert seen == 2_000


@pytest.mark.anyio
async def test_sources_are_listed_only_where_there_are_several(era: Era, sources: Path, shop: Path, state: str):
    async with serve("memory", era, [shop, state]) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["query", "describe_schema"]
    async with serve("memory", era, ["--sources", sources, state]) as client:
        assert await call(client, "list_sources") == "shop (SQLite) -- What was sold\nOrders (SQLite)"
        assert "source is required, one of shop, Orders" in await refused(client, "query", sql="SELECT 1")
        assert "Did you mean shop?" in await refused(client, "query", sql="SELECT 1", source="shp")
        found = await rows(client, "SELECT count(*) FROM only_here", source="orders")
    assert found["rows"] == [[0]]


@pytest.mark.anyio
async def test_a_dead_source_hurts_no_other(era: Era, tmp_path: Path, shop: Path, state: str):
    async with serve("memory", era, [shop, f"gone={tmp_path}/gone.db", state]) as client:
        assert "no file gone.db" in await refused(client, "query", sql="SELECT 1", source="gone")
        assert (await rows(client, "SELECT 1", source="shop"))["rows"] == [[1]]


@pytest.mark.anyio
async def test_without_a_database_every_call_says_how_to_give_one(era: Era, state: str):
    async with serve("memory", era, [state]) as client:
        assert "mcp-curated-database /path/to/file.db" in await refused(client, "query", sql="SELECT 1")


@pytest.mark.anyio
async def test_a_query_that_takes_too_long_says_so(era: Era, shop: Path, state: str):
    async with serve("memory", era, [shop, state, "--query-timeout=200ms"]) as client:
        told = await refused(client, "query", sql=ENDLESS)
    assert "took longer than its 0.2 s" in told


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
async def test_execute_exists_only_where_it_is_allowed_and_is_a_dry_run_by_default(
    way: Way, era: Era, shop: Path, state: str
):
    async with serve(way, era, [shop, state]) as client:
        assert "execute" not in [tool.name for tool in (await client.list_tools()).tools]
    async with serve(way, era, [shop, state, "--allow-write"]) as client:
        told = await call(client, "execute", sql="UPDATE customers SET name = ? WHERE id = 1", params=["Eve"])
        assert told == "Dry run, nothing was changed: UPDATE, 1 row affected."
        assert (await rows(client, "SELECT name FROM customers WHERE id = 1"))["rows"] == [["Ann"]]


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
async def test_a_write_is_committed_once_its_user_agreed(way: Way, era: Era, shop: Path, state: str):
    person = Person(answers={"confirm": True})
    async with serve(way, era, [shop, state, "--allow-write"], person) as client:
        told = await call(
            client, "execute", sql="UPDATE customers SET name = ? RETURNING id", params=["Eve"], dry_run=False
        )
        assert "Committed in shop: UPDATE, 2 rows affected." in told
        assert '"rows":[[1],[2]]' in told
        assert (await rows(client, "SELECT DISTINCT name FROM customers"))["rows"] == [["Eve"]]
    (question,) = person.asked
    assert "affects 2 rows (UPDATE)" in question
    assert "UPDATE customers SET name = ?" in question
    assert '["Eve"]' in question


@pytest.mark.anyio
@pytest.mark.parametrize(
    "person",
    [Person(answers={"confirm": False}), Person(answers={"confirm": True}, action="decline"), None],
    ids=["unticked", "declined", "cannot ask"],
)
async def test_nothing_is_written_without_consent(person: Person | None, era: Era, shop: Path, state: str):
    async with serve("memory", era, [shop, state, "--allow-write"], person) as client:
        told = await call(client, "execute", sql="DELETE FROM customers", dry_run=False)
        assert "NOT executed" in told
        assert (await rows(client, "SELECT count(*) FROM customers"))["rows"] == [[2]]


@pytest.mark.anyio
async def test_a_statement_that_fails_is_never_asked_about(era: Era, shop: Path, state: str):
    person = Person(answers={"confirm": True})
    async with serve("memory", era, [shop, state, "--allow-write"], person) as client:
        told = await refused(client, "execute", sql="INSERT INTO customers (name) VALUES ('')", dry_run=False)
        assert "SQLITE_CONSTRAINT_CHECK" in told
        assert "Refused" in await refused(client, "execute", sql="ATTACH 'x.db' AS x", dry_run=False)
    assert person.asked == []


@pytest.mark.anyio
async def test_query_reads_only_where_writes_are_allowed_too(era: Era, shop: Path, state: str):
    async with serve("memory", era, [shop, state, "--allow-write"]) as client:
        assert "Refused" in await refused(client, "query", sql="DELETE FROM customers")
