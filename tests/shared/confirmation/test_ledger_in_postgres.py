"""The ledger that several replicas share keeps the promises of the one in a file."""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import secrets
import signal
import socket
import time
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from mcp_curated_shared.errors import SettingsError, UnavailableError
from mcp_curated_shared.security.confirmation import Attempt, Consent, Ledger, Plan
from mcp_curated_shared.security.confirmation.choosing import open_ledger
from mcp_curated_shared.security.confirmation.postgres import PostgresLedger, numbered
from mcp_curated_shared.security.confirmation.sqlite import SqliteLedger
from mcp_curated_shared.security.confirmation.transactions import WAITING_OPERATIONS
from mcp_curated_shared.settings import LedgerSettings, Secret
from tests.postgres import Database

pytestmark = pytest.mark.anyio

DAY = 86_400.0


def plan(body: str = "body") -> Plan:
    return Plan("send", f"Send {body}?", "octo/hello", body.encode("utf-8", "surrogatepass"), not_done="NOT sent")


def consent(key: str, of: Plan | None = None, caller: str = "local") -> Consent:
    return Consent(key, caller, (of or plan()).digest, "elicited")


@asynccontextmanager
async def replica(database: Database) -> AsyncGenerator[PostgresLedger]:
    ledger = PostgresLedger(database.dsn)
    try:
        yield ledger
    finally:
        await ledger.close()


@pytest.fixture
async def ledger(database: Database) -> AsyncGenerator[Ledger]:
    async with replica(database) as made:
        yield made


async def test_a_plan_waits_under_one_operation_that_is_its_caller_s_alone(ledger: Ledger) -> None:
    first = await ledger.offer(plan(), "alice")
    assert (await ledger.offer(plan(), "alice")).id == first.id
    assert (await ledger.offer(plan(), "mallory")).id != first.id
    assert len(await ledger.waiting()) == 2
    await ledger.approve(first.id)
    assert await ledger.begin(consent(f"op:{first.id}", caller="mallory"), remembered_seconds=DAY) == "other_caller"
    begun = await ledger.begin(consent(f"op:{first.id}", caller="alice"), remembered_seconds=DAY)
    assert isinstance(begun, Attempt)
    assert (begun.fresh, begun.assurance) == (True, "approved_out_of_band")


async def test_an_operation_is_of_no_use_before_its_approval_nor_for_other_content(ledger: Ledger) -> None:
    operation = await ledger.offer(plan(), "local")
    given = consent(f"op:{operation.id}")
    assert await ledger.begin(given, remembered_seconds=DAY) == "not_approved"
    other = Consent(given.key, given.caller, plan("other").digest, "elicited")
    assert await ledger.begin(other, remembered_seconds=DAY) == "other_content"
    assert await ledger.begin(consent("op:op_unknown"), remembered_seconds=DAY) == "unknown"
    await ledger.offer(plan(), "local", declined=True)
    assert await ledger.begin(given, remembered_seconds=DAY, redeeming="pending") == "declined"


async def test_the_same_content_is_one_write_while_it_is_remembered(ledger: Ledger) -> None:
    begun = await ledger.begin(consent("state:1"), remembered_seconds=DAY)
    assert isinstance(begun, Attempt) and begun.fresh
    await ledger.finish("state:1", "done", "number 7")
    again = await ledger.begin(consent("state:2"), remembered_seconds=DAY)
    assert again == Attempt("state:1", "done", "number 7", "elicited")
    assert await ledger.earlier(consent("state:3"), remembered_seconds=DAY) == again


async def test_a_flood_of_operations_pushes_the_oldest_of_its_caller_out(ledger: Ledger) -> None:
    kept = await ledger.offer(plan(), "somebody else")
    first = await ledger.offer(plan("first"), "local")
    for number in range(WAITING_OPERATIONS):
        await ledger.offer(plan(str(number)), "local")
    assert await ledger.look(first.id) is None
    assert await ledger.look(kept.id) is not None


async def test_replicas_that_race_use_each_consent_once(database: Database) -> None:
    async def race(key: str) -> bool:
        async with replica(database) as own:
            begun = await own.begin(consent(key), remembered_seconds=0)
        return isinstance(begun, Attempt) and begun.fresh

    keys = [f"state:{number}" for number in range(4)]
    won = await asyncio.gather(*(race(key) for key in keys for _ in range(6)))
    assert sum(won) == len(keys)


async def test_an_approval_at_one_replica_is_redeemed_at_another(database: Database) -> None:
    async with replica(database) as one, replica(database) as other:
        operation = await one.offer(plan(), "local")
        await other.approve(operation.id)
        begun = await one.begin(consent(f"op:{operation.id}"), remembered_seconds=DAY)
        assert isinstance(begun, Attempt) and begun.fresh
        await one.finish(begun.key, "done", "number 7")
        again = await other.begin(consent(f"op:{operation.id}"), remembered_seconds=DAY)
    assert again == Attempt(begun.key, "done", "number 7", "approved_out_of_band")


def _begin_and_die(dsn: str) -> None:
    async def begin() -> None:
        await PostgresLedger(dsn).begin(consent("state:1"), remembered_seconds=DAY)

    asyncio.run(begin())
    os.kill(os.getpid(), signal.SIGKILL)


async def test_a_process_that_was_killed_leaves_its_attempt_unknown(database: Database, ledger: Ledger) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_begin_and_die, args=(database.dsn,))
    process.start()
    await asyncio.to_thread(process.join, 60)
    assert process.exitcode == -signal.SIGKILL
    found = await ledger.begin(consent("state:2"), remembered_seconds=DAY)
    assert isinstance(found, Attempt)
    assert (found.key, found.state, found.fresh) == ("state:1", "unknown", False)


async def test_a_process_on_another_machine_is_not_judged_by_the_numbers_here(
    database: Database, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(socket, "gethostname", lambda: "another-machine")
        elsewhere.setattr(os, "getpid", lambda: 2**22 + 1)  # beyond every process number of this one
        async with replica(database) as other:
            await other.begin(consent("state:1"), remembered_seconds=DAY)
    found = await ledger.begin(consent("state:2"), remembered_seconds=DAY)
    assert isinstance(found, Attempt)
    assert (found.key, found.state) == ("state:1", "running")


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "\U0001f600'\"\\$1?"])
async def test_any_text_can_be_remembered_in_either_ledger(
    text: str, ledger: Ledger, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = SqliteLedger(str(tmp_path_factory.mktemp("ledger") / "state"))
    for one in (ledger, file):
        operation = await one.offer(Plan("send", text, text, b"x", (text,), not_done="NOT sent"), "local")
        found = await one.look(operation.id)
        assert found is not None
        assert replace(found, seconds_left=0) == replace(operation, seconds_left=0)
        await one.begin(consent("state:1"), remembered_seconds=DAY)
        await one.finish("state:1", "done", text)
        again = await one.begin(consent("state:1"), remembered_seconds=DAY)
        assert isinstance(again, Attempt)
        assert again.state == "done"
    await file.close()


async def test_a_role_without_rights_to_make_the_schema_uses_one_that_is_there(database: Database) -> None:
    async with replica(database) as owner:
        await owner.waiting()
    database.run(
        "DROP ROLE IF EXISTS ledger_user; CREATE ROLE ledger_user LOGIN;"
        "GRANT USAGE ON SCHEMA mcp_curated TO ledger_user;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mcp_curated TO ledger_user"
    )
    async with replica(database.as_user("ledger_user")) as plain:
        begun = await plain.begin(consent("state:1"), remembered_seconds=DAY)
    assert isinstance(begun, Attempt) and begun.fresh
    database.run("DROP OWNED BY ledger_user; DROP ROLE ledger_user")


async def test_after_its_connections_were_cut_the_ledger_goes_on(database: Database, ledger: Ledger) -> None:
    await ledger.offer(plan(), "local")
    database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    try:
        await ledger.waiting()
    except UnavailableError as error:
        assert "Nothing was done" in str(error)
    assert len(await ledger.waiting()) == 1


async def test_a_database_that_is_away_stops_the_write_and_nothing_tells_its_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    password = secrets.token_hex(12)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        port = taken.getsockname()[1]
        away = PostgresLedger(f"postgresql://user:{password}@127.0.0.1:{port}/db")
        with caplog.at_level(logging.DEBUG), pytest.raises(UnavailableError, match="Nothing was done") as refused:
            await away.begin(consent("state:1"), remembered_seconds=DAY)
    told = "".join(traceback.format_exception(refused.value)) + caplog.text
    assert password not in told


@pytest.mark.parametrize("form", ["{}/x@h/d", "{}#x@h/d", "x@h:{}/d", "x@[{}/d", "x@h/d?port={}", "x@h/d?sslmode={}"])
async def test_a_connection_string_that_cannot_be_read_tells_nothing_of_it(form: str) -> None:
    secret = secrets.token_hex(12)
    dsn = "postgresql://user:" + form.format(secret)
    with contextlib.suppress(SettingsError):
        LedgerSettings(Secret(dsn)).check()
    with pytest.raises((UnavailableError, SettingsError)) as refused:
        await PostgresLedger(dsn).waiting()
    assert secret not in "".join(traceback.format_exception(refused.value))


def test_a_connection_string_that_cannot_be_read_stops_the_start() -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        LedgerSettings(Secret("postgresql://user:pass/word@host/db")).check()


async def test_a_role_that_cannot_make_the_schema_leaves_no_connection(database: Database) -> None:
    role = f"plain_{secrets.token_hex(4)}"
    database.run(f"CREATE ROLE {role} LOGIN")
    try:
        async with replica(database.as_user(role)) as plain:
            for _ in range(3):
                with pytest.raises(UnavailableError):
                    await plain.waiting()
            deadline = time.monotonic() + 20
            while database.run(f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{role}'") != "0\n":
                assert time.monotonic() < deadline, "connections are left"
    finally:
        database.run(f"DROP ROLE {role}")


async def test_a_wrong_password_or_name_is_no_crash(database: Database) -> None:
    away = PostgresLedger(database.dsn.replace(database.name, "no_such_database"))
    with pytest.raises(UnavailableError, match="InvalidCatalogName"):
        await away.waiting()


def test_the_settings_choose_the_ledger(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = str(tmp_path_factory.mktemp("state"))
    assert isinstance(open_ledger(LedgerSettings(), folder), SqliteLedger)
    assert isinstance(open_ledger(LedgerSettings(Secret("postgresql://localhost/x")), folder), PostgresLedger)
    with pytest.raises(SettingsError, match="does not begin with postgresql://"):
        LedgerSettings(Secret("mysql://localhost/x")).check()


def test_parameters_are_numbered_in_order() -> None:
    assert numbered("SELECT ? + ? WHERE a = ?") == "SELECT $1 + $2 WHERE a = $3"
    assert numbered("SELECT 1") == "SELECT 1"
