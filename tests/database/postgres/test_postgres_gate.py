"""What has effects that outlast a query is refused, however it is disguised."""

from dataclasses import replace

import pytest

from mcp_curated_database.engines.errors import QueryError
from mcp_curated_database.engines.postgres.gate import Facts, admit, split, with_closed
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError

FACTS = Facts(
    volatile=frozenset(("wr", "random", "pg_sleep", "own")),
    fields=frozenset(("wr", "own")),
    operators={"|*|": "operate"},
    closed={"hiding": "The view hiding is closed."},
    allowed=frozenset(("own",)),
)

REFUSED = [
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_read_file('/etc/passwd')",
    "SELECT \"pg_read_file\"('/etc/passwd')",
    r"""SELECT U&"\0070g_read_file"('/etc/passwd')""",
    """SELECT U&"pg!005fread_file" UESCAPE '!' ('/etc/passwd')""",
    "SELECT pg_read_file/* */('/etc/passwd')",
    "SELECT pg_catalog . pg_read_file('/etc/passwd')",
    "SELECT ('/etc/passwd'::text).pg_read_file",
    "SELECT PG_READ_FILE('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    "SELECT nextval('s')",
    "SELECT set_config('statement_timeout', '0', false)",
    "SELECT pg_terminate_backend(1)",
    "SELECT pg_advisory_lock(1)",
    "SELECT query_to_xml('SELECT wr()', true, true, '')",
    "SELECT * FROM ts_stat('SELECT wr()')",
    "SELECT dblink_exec('host=x', 'DROP TABLE t')",
    "SELECT rolpassword FROM pg_authid",
    "SELECT passwd FROM pg_shadow",
    "SELECT wr()",
    "SELECT public.wr()",
    "SELECT t.wr FROM t",
    "SELECT 1 |*| 2",
    "SELECT 1 OPERATOR(public.|*|) 2",
    "SELECT * FROM hiding",
    "WITH x AS (SELECT wr()) SELECT 1",
    "SELECT 1 WHERE EXISTS (SELECT wr ())",
]

ADMITTED = [
    "SELECT 1",
    "(SELECT 1) UNION (SELECT 2)",
    "((SELECT 1))",
    "VALUES (1)",
    "TABLE t",
    "/* c */ WITH x AS (SELECT 1) TABLE x;;",
    "SELECT random(), pg_sleep(1), own()",
    "SELECT 'pg_read_file', $$nextval$$, E'wr()'",
    "SELECT wr FROM t",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM t",
    "SELECT lo_orderkey, lo_custkey FROM lineorder",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_could_have_an_effect_is_refused_in_any_spelling(sql: str) -> None:
    with pytest.raises(NotAllowedError):
        admit(sql, FACTS)


@pytest.mark.parametrize("sql", ADMITTED)
def test_what_only_reads_passes(sql: str) -> None:
    assert admit(sql, FACTS).body in sql


def test_a_refusal_names_the_rule_and_the_setting_that_allows_it() -> None:
    with pytest.raises(NotAllowedError, match="wr is a VOLATILE function") as refused:
        admit("SELECT wr()", FACTS)
    assert "--allow-function wr" in refused.value.next_step


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("EXPLAIN SELECT 1", 'explain="plan"'),
        ("SHOW server_version", "current_setting"),
        ("UPDATE t SET a = 1", "execute writes"),
        ("COMMIT", "query only reads"),
        ('"select" 1', "query only reads"),
    ],
)
def test_what_is_no_query_is_refused_with_the_next_step(sql: str, hint: str) -> None:
    with pytest.raises(NotAllowedError) as refused:
        admit(sql, FACTS)
    assert hint in str(refused.value)


@pytest.mark.parametrize("sql", ["", " ; ", "-- x", "/* */;"])
def test_no_statement_is_told(sql: str) -> None:
    with pytest.raises(InvalidArgumentError, match="no statement"):
        split(sql)


def test_several_statements_are_told() -> None:
    with pytest.raises(InvalidArgumentError, match="more than one"):
        split("SELECT 1; DROP TABLE t")
    assert split("SELECT ';'; -- ;").body == "SELECT ';'"


def test_a_statement_that_cannot_be_read_shows_where() -> None:
    with pytest.raises(QueryError) as refused:
        split("SELECT 'a")
    assert refused.value.position == 7


def test_what_hides_a_call_is_closed_also_through_another() -> None:
    closed = with_closed(
        [
            ("view", "outer_view", "SELECT a FROM inner_view"),
            ("view", "inner_view", "SELECT wr() AS a"),
            ("view", "plain", "SELECT 1 AS a"),
            ("table", "guarded", "(wr() = 1)"),
            ("view", "broken", "SELECT 'a"),
        ],
        (),
        replace(FACTS, closed={}),
    ).closed
    assert closed.keys() == {"outer_view", "inner_view", "guarded", "broken"}
    assert "inner_view is closed" in closed["outer_view"]
    with pytest.raises(CuratedError):
        admit("SELECT * FROM outer_view", Facts(closed=closed))
