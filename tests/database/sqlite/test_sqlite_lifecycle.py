"""Cancelling, deadlines, locks, files that come and go, and the pool."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_curated_database.engines.border import Budget, ExecuteRequest, QueryRequest
from mcp_curated_shared.errors import CuratedError, TimedOutError, UnavailableError
from tests.database.sqlite.sample import ENDLESS, SHOP, ask, make, opened

BOUND = 20.0
"""Seconds that a test waits at most on a busy machine; what it waits for takes milliseconds."""


async def started(tasks: int, engine: object) -> list["asyncio.Task[object]"]:
    """Endless queries, each surely running."""
    from mcp_curated_database.engines.sqlite import SqliteEngine

    assert isinstance(engine, SqliteEngine)
    running: list[asyncio.Task[object]] = []
    for _ in range(tasks):
        running.append(asyncio.create_task(engine.query(QueryRequest(ENDLESS, budget=Budget(seconds=600)))))
        await asyncio.sleep(0.05)
    return running


@pytest.mark.anyio
async def test_the_next_query_does_not_wait_for_a_cancelled_one(shop: Path):
    async with opened(shop, readers=1) as engine:
        for _ in range(5):
            (endless,) = await started(1, engine)
            endless.cancel()
            begun = time.monotonic()
            assert (await ask(engine, "SELECT 1")).rows == ((1,),)
            assert time.monotonic() - begun < BOUND / 4
            with pytest.raises(asyncio.CancelledError):
                await endless


@pytest.mark.anyio
async def test_a_cancelled_query_stops_working(shop: Path):
    async with opened(shop) as engine:
        (endless,) = await started(1, engine)
        endless.cancel()
        await asyncio.wait([endless])
    # Closing waits for the thread only if it still runs; the thread is gone when its connection is closed.
    deadline = time.monotonic() + BOUND
    import threading

    while any("_connection_worker" in thread.name for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_a_deadline_says_how_long_it_was_and_frees_the_place(shop: Path):
    async with opened(shop, readers=1) as engine:
        with pytest.raises(TimedOutError, match=r"0\.2 s"):
            await ask(engine, ENDLESS, budget=Budget(seconds=0.2))
        assert (await ask(engine, "SELECT 1")).rows == ((1,),)


@pytest.mark.anyio
async def test_a_slow_query_delays_no_other(shop: Path):
    async with opened(shop, readers=3) as engine:
        endless = await started(2, engine)
        begun = time.monotonic()
        for _ in range(20):
            await ask(engine, "SELECT 1")
        assert time.monotonic() - begun < BOUND
        assert not any(task.done() for task in endless)
        for task in endless:
            task.cancel()


@pytest.mark.anyio
async def test_a_call_that_finds_no_free_place_ends_at_its_deadline(shop: Path):
    async with opened(shop, readers=1) as engine:
        (endless,) = await started(1, engine)
        with pytest.raises(TimedOutError):
            await ask(engine, "SELECT 1", budget=Budget(seconds=0.2))
        endless.cancel()


@pytest.mark.anyio
async def test_a_hundred_cancelled_queries_leave_no_connection_behind(shop: Path):
    async with opened(shop, readers=4) as engine:
        for _ in range(25):
            for task in await asyncio.gather(
                *(asyncio.sleep(0, asyncio.create_task(ask(engine, ENDLESS))) for _ in range(4))
            ):
                await asyncio.sleep(0)
                task.cancel()
        deadline = time.monotonic() + BOUND
        while True:
            try:
                assert (await ask(engine, "SELECT 1")).rows == ((1,),)
                break
            except UnavailableError:  # too many are still leaving
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)


@pytest.mark.anyio
async def test_a_missing_file_is_not_made_and_works_once_it_is_there(tmp_path: Path):
    path = tmp_path / "later.db"
    async with opened(path) as engine:
        with pytest.raises(UnavailableError, match=r"no file later\.db"):
            await ask(engine, "SELECT 1")
        with pytest.raises(UnavailableError, match=r"no file later\.db"):
            await engine.execute(ExecuteRequest("CREATE TABLE t (x)", commit=True))
        assert os.listdir(tmp_path) == []
        make(path)
        assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((2,),)


@pytest.mark.anyio
async def test_a_folder_is_no_database(tmp_path: Path):
    async with opened(tmp_path) as engine:
        with pytest.raises(UnavailableError, match="no regular file"):
            await ask(engine, "SELECT 1")


@pytest.mark.anyio
async def test_a_file_that_is_replaced_is_read_anew(shop: Path, tmp_path: Path):
    async with opened(shop) as engine:
        assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((2,),)
        make(tmp_path / "new.db", SHOP + "INSERT INTO customers (name) VALUES ('Eve');")
        os.replace(tmp_path / "new.db", shop)
        assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((3,),)


@pytest.mark.anyio
async def test_a_lock_is_waited_for_and_then_named(shop: Path):
    holder = sqlite3.connect(shop, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    async with opened(shop, busy_seconds=0.3) as engine:
        with pytest.raises(UnavailableError, match=r"holds the lock on shop\.db"):
            await ask(engine, "SELECT * FROM customers")
        holder.execute("COMMIT")
        assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((2,),)
    holder.close()


@pytest.mark.anyio
async def test_a_lock_that_is_released_in_time_is_no_error(shop: Path):
    holder = sqlite3.connect(shop, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    async with opened(shop, busy_seconds=BOUND) as engine:
        waiting = asyncio.create_task(ask(engine, "SELECT count(*) FROM customers"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        holder.execute("COMMIT")
        assert (await waiting).rows == ((2,),)
    holder.close()


@pytest.mark.anyio
async def test_a_virtual_table_that_somebody_else_makes_can_be_read(shop: Path):
    """Connecting an rtree prepares writes, which only a fresh connection lets it."""
    async with opened(shop, readers=1) as engine:
        await ask(engine, "SELECT 1")
        writer = sqlite3.connect(shop)
        writer.execute("CREATE VIRTUAL TABLE areas USING rtree (id, a, b)")
        writer.execute("INSERT INTO areas VALUES (1, 2, 3)")
        writer.commit()
        writer.close()
        assert (await ask(engine, "SELECT id FROM areas WHERE a < 5")).rows == ((1,),)


@pytest.mark.anyio
async def test_what_others_write_is_seen_at_once_in_wal_mode(tmp_path: Path):
    path = make(tmp_path / "wal.db", wal=True)
    writer = sqlite3.connect(path)
    async with opened(path) as engine:
        for number in range(3, 6):
            writer.execute("INSERT INTO customers (name) VALUES ('n')")
            writer.commit()
            assert (await ask(engine, "SELECT count(*) FROM customers")).rows == ((number,),)
    writer.close()


@pytest.mark.anyio
async def test_a_closed_engine_refuses(shop: Path):
    async with opened(shop) as engine:
        await ask(engine, "SELECT 1")
    with pytest.raises(UnavailableError, match="stopping"):
        await ask(engine, "SELECT 1")


@pytest.mark.anyio
async def test_closing_ends_what_runs(shop: Path):
    async with opened(shop) as engine:
        running = await started(2, engine)
        begun = time.monotonic()
        await engine.close()
        for task in running:
            with pytest.raises(UnavailableError):
                await asyncio.wait_for(task, BOUND)
        assert time.monotonic() - begun < BOUND


READ_ONLY_FOLDER = """
import asyncio, os, sys
from mcp_curated_database.engines.addresses import SqliteFile
from mcp_curated_database.engines.border import QueryRequest
from mcp_curated_database.engines.sqlite import SqliteEngine

async def main():
    if os.geteuid() == 0:
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
    for immutable in (False, True):
        engine = SqliteEngine(SqliteFile(sys.argv[1], immutable))
        try:
            print((await engine.query(QueryRequest("SELECT count(*) FROM customers"))).rows)
        except Exception as error:
            print(error)
        await engine.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights on Windows")
def test_a_wal_file_in_a_folder_that_cannot_be_written_names_the_immutable_option(tmp_path: Path):
    folder = tmp_path / "fixed"
    folder.mkdir()
    path = make(folder / "wal.db", wal=True)
    for above in (folder, *folder.parents):
        if above.stat().st_uid == os.geteuid() and above != Path(above.anchor):
            above.chmod(above.stat().st_mode | 0o055)
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY_FOLDER, str(path)], capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    told, read = done.stdout.splitlines()
    assert "immutable=1" in told
    assert read == "((2,),)"


@pytest.mark.anyio
async def test_errors_never_show_where_the_file_lies(tmp_path: Path):
    for name in ("missing.db", "plain.db"):
        path = tmp_path / name
        if name == "plain.db":
            path.write_text("no database " * 100)
        async with opened(path) as engine:
            with pytest.raises(CuratedError) as caught:
                await ask(engine, "SELECT * FROM t")
            assert str(tmp_path) not in str(caught.value)
