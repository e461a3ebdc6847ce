"""The PostgreSQL engine for tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp_curated_database.addresses import read_address
from mcp_curated_database.engines.addresses import PostgresAddress
from mcp_curated_database.engines.border import Budget, ExecuteRequest, ExecuteResult, QueryRequest, QueryResult
from mcp_curated_database.engines.postgres import PostgresEngine
from mcp_curated_shared.errors import CuratedError
from tests.postgres import Database


@asynccontextmanager
async def engine(database: Database, **more: Any) -> AsyncGenerator[PostgresEngine]:
    """An engine for it, closed afterwards."""
    address = read_address(database.dsn)
    assert isinstance(address, PostgresAddress)
    made = PostgresEngine(address, **more)
    try:
        yield made
    finally:
        await made.close()


async def ask(made: PostgresEngine, sql: str, *params: Any, explain: Any = "no", **budget: Any) -> QueryResult:
    """Run a query that must succeed."""
    return await made.query(QueryRequest(sql, params, Budget(**budget), explain))


async def refusal(made: PostgresEngine, sql: str, *params: Any, **budget: Any) -> CuratedError:
    """How a query that must fail is refused."""
    try:
        found = await made.query(QueryRequest(sql, params, Budget(**budget)))
    except CuratedError as error:
        return error
    raise AssertionError(f"{sql!r} ran: {found}")


async def write(made: PostgresEngine, sql: str, *params: Any, commit: bool = True, **more: Any) -> ExecuteResult:
    """Run a statement that writes."""
    return await made.execute(ExecuteRequest(sql, params, commit, **more))
