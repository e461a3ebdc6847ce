"""On a superuser's login a query changes nothing, reads no file, and leaves nothing behind."""

import os
import secrets
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from mcp_curated_database.engines.postgres import PostgresEngine
from mcp_curated_shared.errors import CuratedError
from tests.database.postgres.engines import ask, engine
from tests.postgres import Database, new_database

pytestmark = pytest.mark.anyio

SETUP = """
CREATE TABLE victim (id int PRIMARY KEY, note text);
INSERT INTO victim VALUES (1, 'kept');
CREATE TABLE effects (what text);
CREATE SEQUENCE counter;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TYPE pair AS (a int, b int);
CREATE FUNCTION wr() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO effects VALUES ('wr'); RETURN 1; END $$;
CREATE FUNCTION sneaky() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN PERFORM pg_notify('c', 'x'); PERFORM pg_advisory_lock(77); RETURN 1; END $$;
CREATE FUNCTION of_pair(pair) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock(78); RETURN 1; END $$;
CREATE FUNCTION of_victim(victim) RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(79); RETURN 1; END $$;
CREATE FUNCTION operate(int, int) RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(80); RETURN 1; END $$;
CREATE OPERATOR |*| (LEFTARG = int, RIGHTARG = int, FUNCTION = operate);
CREATE FUNCTION cast_it(pair) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(81); RETURN 'x'; END $$;
CREATE CAST (pair AS text) WITH FUNCTION cast_it(pair);
CREATE TABLE pairs (p pair);
INSERT INTO pairs VALUES ((1, 2));
CREATE FUNCTION checked(int) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(82); RETURN true; END $$;
CREATE DOMAIN guarded AS int CHECK (checked(VALUE));
CREATE VIEW hiding AS SELECT sneaky() AS a;
CREATE VIEW hiding_more AS SELECT a + 1 AS b FROM hiding;
CREATE VIEW hiding_file AS SELECT pg_read_file('postgresql.conf') AS content;
CREATE FUNCTION stepping(int, int) RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(83); RETURN 1; END $$;
CREATE AGGREGATE aggregating(int) (SFUNC = stepping, STYPE = int, INITCOND = '0');
CREATE TABLE policed (id int);
INSERT INTO policed VALUES (1);
CREATE POLICY guard ON policed USING (checked(id));
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
ALTER TABLE policed FORCE ROW LEVEL SECURITY;
CREATE FUNCTION lies() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_advisory_lock(84); RETURN 1; END $$;
CREATE FUNCTION lies_more() RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT lies() $$;
CREATE FUNCTION reads() RETURNS text LANGUAGE sql STABLE RETURN pg_read_file('postgresql.conf');
CREATE FUNCTION runs_text(sql text) RETURNS int LANGUAGE plpgsql STABLE AS
    $$ DECLARE n int; BEGIN EXECUTE sql INTO n; RETURN n; END $$;
CREATE VIEW lying AS SELECT lies() AS a;
CREATE FUNCTION lying_operate(text, int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT lies() $$;
CREATE OPERATOR |~| (LEFTARG = text, RIGHTARG = int, FUNCTION = lying_operate);
CREATE FUNCTION lying_step(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT lies() $$;
CREATE AGGREGATE lying_aggregate(int) (SFUNC = lying_step, STYPE = int, INITCOND = '0');
CREATE FUNCTION of_row(victim) RETURNS int LANGUAGE sql STABLE AS $$ SELECT lies() $$;
CREATE FUNCTION honest(a int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT a + 1 $$;
CREATE FUNCTION by_default(a int DEFAULT sneaky()) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN a; END';
CREATE TYPE sorted AS (a int);
CREATE FUNCTION sorts(sorted, sorted) RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(85); RETURN 0; END $$;
CREATE FUNCTION equals(sorted, sorted) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE OPERATOR = (LEFTARG = sorted, RIGHTARG = sorted, FUNCTION = equals);
CREATE OPERATOR CLASS sorting DEFAULT FOR TYPE sorted USING btree
    AS OPERATOR 3 =, FUNCTION 1 sorts(sorted, sorted);
CREATE TABLE sortable (s sorted);
INSERT INTO sortable VALUES (ROW(1)), (ROW(2));
CREATE FUNCTION alike(mood, int) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_lock(86); RETURN true; END $$;
CREATE OPERATOR ~~ (LEFTARG = mood, RIGHTARG = int, FUNCTION = alike);
CREATE FUNCTION feels() RETURNS mood IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 'sad'; END $$;
CREATE FUNCTION twice(text, text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE OPERATOR |*| (LEFTARG = text, RIGHTARG = text, FUNCTION = twice);
CREATE TYPE holding AS (g guarded);
CREATE DOMAIN over_guarded AS guarded;
CREATE TABLE guards (g guarded);
CREATE FUNCTION makes(int) RETURNS guarded STABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE PROCEDURE proc() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO effects VALUES ('proc'); COMMIT; END $$;
"""

ATTACKS = [
    # Out of the transaction
    "SELECT 1; COMMIT; DROP TABLE victim",
    "SELECT E'\\''; COMMIT; DROP TABLE victim; --'",
    "COMMIT",
    "ROLLBACK; DROP TABLE victim",
    "SELECT 1) AS q; DROP TABLE victim; --",
    "SELECT 1) AS p OFFSET 0) AS q(c1); DROP TABLE victim; --",
    "SELECT 1 -- \n; DROP TABLE victim",
    "SELECT 1 /* ; */ ; DROP TABLE victim /*",
    "BEGIN READ WRITE",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SET statement_timeout = 0",
    "SET ROLE postgres",
    "RESET ALL",
    "DISCARD ALL",
    "PREPARE p AS SELECT 1",
    "DECLARE x CURSOR WITH HOLD FOR SELECT 1",
    "SAVEPOINT s",
    # Writes
    "DROP TABLE victim",
    "UPDATE victim SET note = 'x' RETURNING *",
    "DELETE FROM victim",
    "TRUNCATE victim",
    "INSERT INTO victim VALUES (2, 'x')",
    "MERGE INTO victim USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
    "SELECT * INTO stolen FROM victim",
    "CREATE TEMP TABLE t (a int)",
    "CREATE TABLE t AS SELECT 1",
    "WITH x AS (INSERT INTO victim VALUES (2, 'x') RETURNING 1) SELECT * FROM x",
    "WITH x AS (DELETE FROM victim RETURNING 1) SELECT 1",
    "SELECT * FROM (WITH x AS (DELETE FROM victim RETURNING 1) SELECT 1) AS y",
    "EXPLAIN ANALYZE INSERT INTO victim VALUES (2, 'x')",
    "SELECT * FROM victim FOR UPDATE",
    "SELECT * FROM victim FOR SHARE",
    "LOCK TABLE victim",
    "REFRESH MATERIALIZED VIEW x",
    "ALTER SYSTEM SET work_mem = '1MB'",
    "VACUUM",
    "ANALYZE",
    "CHECKPOINT",
    "CLUSTER",
    "LISTEN c",
    "NOTIFY c",
    "LOAD 'plpgsql'",
    "CALL proc()",
    "DO $$ BEGIN COMMIT; INSERT INTO effects VALUES ('do'); END $$",
    # Files and programs
    "COPY (SELECT 1) TO PROGRAM 'touch {folder}/program'",
    "COPY (SELECT 1) TO '{folder}/copy'",
    "COPY victim FROM PROGRAM 'echo 2'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT * FROM pg_read_file('postgresql.conf')",
    "SELECT pg_read_binary_file('postgresql.conf')",
    "SELECT \"pg_read_file\"('postgresql.conf')",
    "SELECT U&\"\\0070g_read_file\"('postgresql.conf')",
    "SELECT U&\"!0070g_read_file\" UESCAPE '!' ('postgresql.conf')",
    "SELECT pg_read_file /* x */ ('postgresql.conf')",
    "SELECT ('postgresql.conf'::text).pg_read_file",
    "SELECT * FROM LATERAL (SELECT pg_catalog.pg_read_file('postgresql.conf')) AS x",
    "SELECT E'a'\n'\\'', left(pg_read_file($$postgresql.conf$$), 30) -- '",
    "SELECT e'a' -- c\n '\\'', pg_advisory_lock(901) -- '",
    "SELECT E'a'\r'b'\n'\\'', pg_advisory_lock(902) -- '",
    "SELECT U&'a'\n'\\0041', pg_advisory_lock(903)",
    "SELECT pg_ls_dir('.')",
    "SELECT pg_stat_file('postgresql.conf')",
    "SELECT pg_current_logfile()",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_file_settings",
    "SELECT lo_import('/etc/hostname')",
    "SELECT lo_export(1, '{folder}/lo')",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_create(0)",
    # Other sessions and the server
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_switch_wal()",
    "SELECT pg_stat_reset()",
    "SELECT pg_stat_reset_shared('bgwriter')",
    "SELECT pg_import_system_collations('pg_catalog')",
    "SELECT pg_notify('c', 'x')",
    "SELECT pg_logical_emit_message(true, 'a', 'b')",
    "SELECT pg_create_restore_point('x')",
    "SELECT pg_create_physical_replication_slot('x')",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_export_snapshot()",
    "SELECT set_config('transaction_read_only', 'off', false), wr()",
    "SELECT set_config('statement_timeout', '0', false)",
    "SELECT set_config('search_path', 'evil', false)",
    "SELECT rolpassword FROM pg_authid",
    "SELECT passwd FROM pg_shadow",
    # Sequences and SQL in texts
    "SELECT nextval('counter')",
    "SELECT setval('counter', 100)",
    "SELECT ('counter'::regclass).nextval",
    "SELECT query_to_xml('SELECT sneaky()', true, true, '')",
    "SELECT query_to_xml_and_xmlschema('SELECT sneaky()', true, true, '')",
    "SELECT cursor_to_xml('mcp_curated', 1, true, true, '')",
    "SELECT * FROM ts_stat('SELECT to_tsvector(pg_read_file(''postgresql.conf''))')",
    "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')",
    # Functions of users, by every way to call one
    "SELECT wr()",
    "SELECT sneaky()",
    "SELECT * FROM sneaky()",
    'SELECT public."sneaky"()',
    "SELECT (ROW(1, 2)::pair).of_pair",
    "SELECT p.p.of_pair FROM pairs AS p",
    "SELECT victim.of_victim FROM victim",
    "SELECT v.of_victim FROM victim v",
    "SELECT 1 |*| 2",
    "SELECT 1 OPERATOR(public.|*|) 2",
    "SELECT 1|*|-2",
    "SELECT 1 = ANY (ARRAY[1 |*| 2])",
    "SELECT ROW(1, 2)::pair::text",
    "SELECT CAST(p AS text) FROM pairs",
    "SELECT p FROM pairs",
    "SELECT 1::guarded",
    "SELECT CAST('1' AS guarded)",
    "SELECT guarded '1'",
    "SELECT * FROM hiding",
    "SELECT lies()",
    "SELECT lies_more()",
    "SELECT left(reads(), 30)",
    "SELECT runs_text('SELECT pg_advisory_lock(85)')",
    "TABLE lying",
    "SELECT 'a'::text |~| 1",
    "SELECT lying_aggregate(id) FROM victim",
    "SELECT victim.of_row FROM victim",
    "TABLE hiding_more",
    "SELECT * FROM hiding_file",
    "SELECT aggregating(id) FROM victim",
    "SELECT * FROM policed",
    "TABLE policed",
    # By what stands in the catalog: defaults, comparisons, operators that words call, values of types
    "SELECT by_default()",
    "SELECT * FROM sortable ORDER BY s",
    "SELECT DISTINCT s FROM sortable",
    "SELECT greatest(ROW(1)::sorted, ROW(2)::sorted)",
    "SELECT ARRAY[ROW(1)::sorted] < ARRAY[ROW(2)::sorted]",
    "SELECT 'sad'::mood LIKE 1",
    "SELECT feels() LIKE 1",
    "SELECT 1::over_guarded",
    "SELECT '{1}'::_guarded",
    "SELECT '(1)'::holding",
    "SELECT makes(1)",
    "SELECT '(1)'::guards",
    "SELECT CAST('(1)' AS guards)",
    """SELECT jsonb_populate_record(guards, '{"g": 1}') FROM (SELECT 1) AS one LEFT JOIN guards ON true""",
    "SELECT table_to_xml('hiding', true, true, '')",
    "SELECT schema_to_xml('pg_catalog', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT * FROM information_schema.user_mapping_options",
]

STATE = """
SELECT (SELECT count(*) FROM effects), (SELECT string_agg(id || note, ',') FROM victim),
       (SELECT last_value || is_called::text FROM counter),
       (SELECT count(*) FROM pg_largeobject_metadata),
       (SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
       (SELECT count(*) FROM pg_replication_slots),
       (SELECT stats_reset FROM pg_stat_database WHERE datname = current_database())
"""


@pytest.fixture(scope="module")
def target() -> Generator[Database]:
    with new_database() as made:
        made.run(SETUP)
        yield made


@pytest.fixture
async def asked(target: Database) -> AsyncGenerator[PostgresEngine]:
    async with engine(target) as made:
        yield made


@pytest.mark.parametrize("explain", ["no", "analyze"])
@pytest.mark.parametrize("sql", ATTACKS)
async def test_an_attack_has_no_effect_and_gets_nothing(
    asked: PostgresEngine, target: Database, tmp_path: Path, sql: str, explain: str
) -> None:
    os.chmod(tmp_path, 0o777)
    before = target.run(STATE)
    with pytest.raises(CuratedError) as refused:
        await ask(asked, sql.replace("{folder}", str(tmp_path)), explain=explain, seconds=5)
    assert "listen_addresses" not in str(refused.value)
    assert target.run(STATE) == before
    assert os.listdir(tmp_path) == []
    assert (await ask(asked, "SELECT note FROM victim")).rows == (("kept",),)


async def test_a_plain_role_gets_no_further(target: Database) -> None:
    role = f"reader_{secrets.token_hex(4)}"
    target.run(f"CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    try:
        before = target.run(STATE)
        async with engine(target.as_user(role)) as made:
            for sql in ATTACKS:
                with pytest.raises(CuratedError):
                    await ask(made, sql, seconds=5)
            assert (await ask(made, "SELECT note FROM victim")).rows == (("kept",),)
        assert target.run(STATE) == before
    finally:
        target.run(f"DROP OWNED BY {role}; DROP ROLE {role}")


async def test_what_the_operator_allows_runs_and_still_cannot_write(target: Database) -> None:
    async with engine(target, allow_functions=["public.sneaky", "wr"]) as made:
        assert (await ask(made, "SELECT honest(1)")).rows == ((2,),)
        assert (await ask(made, "SELECT sneaky()")).rows == ((1,),)
        assert (await ask(made, "SELECT * FROM hiding_more")).rows == ((2,),)
        assert target.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0\n"
        with pytest.raises(CuratedError, match="read-only"):
            await ask(made, "SELECT wr()")


async def test_what_only_reads_passes_beside_all_that_is_closed(asked: PostgresEngine) -> None:
    assert (await ask(asked, "SELECT g FROM guards")).rows == ()
    assert (await ask(asked, "SELECT 1 = 1, 'a' LIKE 'a', 2 BETWEEN 1 AND 3")).rows == ((True, True, True),)


async def test_columns_without_a_type_of_their_own_are_told(asked: PostgresEngine) -> None:
    with pytest.raises(CuratedError, match="most_common_vals::text"):
        await ask(asked, "SELECT * FROM pg_stats")
    assert (await ask(asked, "SELECT most_common_vals::text FROM pg_stats WHERE false")).rows == ()


async def test_a_login_that_reaches_too_far_is_refused_where_the_operator_wants_it(target: Database) -> None:
    async with engine(target, least_privilege=True) as made:
        with pytest.raises(CuratedError, match="is a superuser"):
            await ask(made, "SELECT 1")
    async with engine(target) as made:
        warned = [one for one in await made.check() if one.level == "warn"]
        assert "superuser" in warned[0].text
        assert 'GRANT SELECT ON ALL TABLES IN SCHEMA "public"' in warned[0].fix
