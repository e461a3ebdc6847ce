"""One query: a READ ONLY transaction, the gate, PostgreSQL's own grammar, a cursor, and always a ROLLBACK."""

import time
from typing import Final

from mcp_curated_database.engines.border import Budget, Column, QueryRequest, QueryResult
from mcp_curated_database.engines.errors import QueryError
from mcp_curated_database.engines.gathering import Gatherer
from mcp_curated_database.engines.postgres.driver import Connection, Prepared, Type, asyncpg
from mcp_curated_database.engines.postgres.failures import SAID, place_in_text
from mcp_curated_database.engines.postgres.gate import Statement
from mcp_curated_database.engines.postgres.wrapping import Cells, Wrapped, bound, row_bytes, wrap

_CURSOR: Final = "mcp_curated"
_FETCH_BYTES: Final = 32_000_000
"""About the most that one fetch may bring; how many rows it asks for follows from the width of a row."""


async def begin(connection: Connection, deadline: float, lock_seconds: float, *, read_only: bool = True) -> None:
    """Open the transaction of one call.

    Settings hold for it alone (`SET LOCAL`): PgBouncer refuses them as startup parameters. A setting that a version
    lacks is left out by asking for it by name.

    Args:
        connection: One that no other call uses.
        deadline: By `time.monotonic`.
        lock_seconds: How long to wait for a lock.
        read_only: Whether PostgreSQL shall refuse to write.
    """
    left = max(1, int((deadline - time.monotonic()) * 1000))
    wanted = [
        "standard_conforming_strings = on",
        f"statement_timeout = {left}",
        f"lock_timeout = {max(1, int(lock_seconds * 1000))}",
        f"idle_in_transaction_session_timeout = {left + 5000}",
        "bytea_output = 'hex'",
        "client_encoding = 'UTF8'",
        "DateStyle = 'ISO'",
        "IntervalStyle = 'postgres'",
        "extra_float_digits = 1",
    ]
    # PostgreSQL 14 brought it: a backend whose client is gone ends within a second.
    if connection.get_server_version()[0] >= 14:
        wanted.append("client_connection_check_interval = 1000")
    mode = "READ ONLY" if read_only else "READ WRITE"
    await connection.execute("; ".join([f"BEGIN {mode}", *(f"SET LOCAL {setting}" for setting in wanted)]))


async def rows(connection: Connection, statement: Statement, request: QueryRequest) -> QueryResult:
    """Run a statement that the gate let through, in the transaction that is open.

    Args:
        connection: With the transaction.
        statement: What to run.
        request: Its parameters and budget.
    """
    prepared = await prepare(connection, statement)
    columns = tuple(Column(one.name, shown_type(one.type)) for one in prepared.get_attributes())
    types = await parameter_types(connection, prepared)
    params = bound(request.params, types)
    wrapped = wrap(statement, columns, types, request.budget.cell_characters)
    try:
        await connection.execute(f"DECLARE {_CURSOR} NO SCROLL CURSOR FOR {wrapped.sql}", *params)
        return await _fetch(connection, wrapped, request.budget)
    except SAID as error:
        place_in_text(error, wrapped.shift + len(f"DECLARE {_CURSOR} NO SCROLL CURSOR FOR "))
        raise


async def prepare(connection: Connection, statement: Statement) -> Prepared:
    """Have a statement parsed.

    Raises:
        QueryError: A column has a type that the driver cannot know, such as `anyarray` in pg_stats.
    """
    try:
        return await connection.prepare(statement.body)
    except asyncpg.InternalClientError:
        raise QueryError(
            "A column has no type of its own (anyarray, say).",
            "0A000",
            hint="Name the columns and cast that one: most_common_vals::text.",
        ) from None


async def _fetch(connection: Connection, wrapped: Wrapped, budget: Budget) -> QueryResult:
    gatherer = Gatherer(budget)
    cells = Cells(wrapped.columns, budget.cell_characters)
    most = max(10, _FETCH_BYTES // max(1, row_bytes(wrapped.columns, budget.cell_characters)))
    wanted = min(gatherer.wanted, most)
    while wanted:
        found = await connection.fetch(f"FETCH {wanted} FROM {_CURSOR}")
        more = gatherer.add([cells.row(row.values()) for row in found])
        wanted = min(gatherer.wanted, most) if more and len(found) == wanted else 0
    gatherer.count_cut(cells.cut)
    return gatherer.result(wrapped.columns)


async def plan(connection: Connection, statement: Statement, request: QueryRequest) -> QueryResult:
    """The plan of a statement, a row a line; with `analyze` it runs too."""
    prepared = await prepare(connection, statement)
    types = await parameter_types(connection, prepared)
    params = bound(request.params, types)
    wrapped = wrap(statement, (), types, request.budget.cell_characters)
    options = "ANALYZE, BUFFERS, TIMING OFF, SUMMARY ON" if request.explain == "analyze" else "COSTS ON"
    sql = f"EXPLAIN ({options}) SELECT * FROM (\n{wrapped.sql}\n) AS q"  # noqa: S608 - the caller's statement is what is to be run
    found = await connection.fetch(sql, *params)
    gatherer = Gatherer(request.budget)
    gatherer.add([(str(next(iter(row.values()))),) for row in found])
    return gatherer.result((Column("QUERY PLAN", "text"),))


def shown_type(one: Type) -> str:
    """The database's own name of a type; of another schema than its own with that."""
    if one.schema in ("pg_catalog", "public", "") or one.schema.startswith("pg_toast"):
        return one.name
    return f"{one.schema}.{one.name}"


async def parameter_types(connection: Connection, prepared: Prepared) -> list[str]:
    """The types that a statement wants, as SQL writes them."""
    oids = [one.oid for one in prepared.get_parameters()]
    if not oids:
        return []
    listed = ", ".join(f"pg_catalog.format_type({int(oid)}, NULL)" for oid in oids)
    (row,) = await connection.fetch(f"SELECT ARRAY[{listed}] AS types")
    return [str(one) for one in row["types"]]
