"""One request for a schema, answered with a bounded number of statements however many tables match."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from mcp_curated_database.engines.border import SchemaCount, SchemaFacts, SchemaRequest, TableFacts
from mcp_curated_database.engines.postgres.catalog.details import about, in_full
from mcp_curated_database.engines.postgres.catalog.listing import VIEWS, Listed, close_tables, listing
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection, attempt, rows
from mcp_curated_database.engines.postgres.catalog.samples import Sampling, with_samples
from mcp_curated_database.engines.postgres.catalog.statements import SCHEMA_COMMENTS
from mcp_curated_database.engines.postgres.catalog.user_types import UserTypes
from mcp_curated_database.engines.postgres.driver import asyncpg

_PASSING: Final[tuple[type[Exception], ...]] = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InternalServerError,  # "could not open relation": dropped while it was looked at
)
_TRIES: Final = 2
_LOCKED: Final = (
    "another session has a table locked or drops some, as a migration does: defaults, checks, indexes and views are "
    "told without their expressions"
)


async def describe(
    connection: CatalogConnection,
    request: SchemaRequest,
    *,
    version: str,
    notes: tuple[str, ...] = (),
    admits: Callable[[str], bool] | None = None,
) -> SchemaFacts:
    """What a request asks for, read from pg_catalog.

    The system's schemas are hidden unless the pattern names one; partitions are counted in the table that they belong
    to unless the pattern means them and not that table. Estimates are those of the last ANALYZE or VACUUM. What
    takes locks is done behind savepoints that are rolled back, with time limits of its own.

    Args:
        connection: Inside a READ ONLY transaction.
        request: What is asked for.
        version: Of the database, for people.
        notes: Warnings to hand on.
        admits: Whether a query may run, asked before a table or view is sampled; None to sample no view, and no table
            with row policies: they could call anything.

    Raises:
        asyncpg.PostgresError: What PostgreSQL said, such as that a lock was not to be had.
    """
    sampling = Sampling(request.sample_rows, request.seconds, time.monotonic(), admits)
    pattern = request.pattern
    everything = await listing(connection, pattern)
    matching = everything.matching(pattern)
    chosen = matching[request.offset : request.offset + request.limit]
    overview = request.detail == "overview"
    tables = {one.oid: everything.facts(one, estimated=not overview) for one in chosen}
    close: tuple[str, ...] = ()
    if pattern is not None and not matching:
        close = await close_tables(
            connection, pattern.table.text, None if pattern.schema is None else pattern.schema.text
        )
    comments: dict[str, str] = {}
    if overview and matching:
        comments = {schema: comment for schema, comment in await rows(connection, SCHEMA_COMMENTS)}
    facts = SchemaFacts(
        _counts(matching, comments), tuple(tables.values()), len(matching), close=close, notes=notes, version=version
    )
    if overview or not chosen:
        return facts
    return await _detailed(connection, facts, tables, request, sampling)


async def _detailed(
    connection: CatalogConnection,
    facts: SchemaFacts,
    tables: dict[int, TableFacts],
    request: SchemaRequest,
    sampling: Sampling,
) -> SchemaFacts:
    async def details(bare: str = "") -> tuple[dict[int, TableFacts], UserTypes, dict[int, bool]]:
        known, readable = await about(connection, tables, bare)
        if request.detail == "tables":
            return known, UserTypes(), readable
        return (*await in_full(connection, known, bare), readable)

    found = None
    for _ in range(_TRIES):
        found = found or await attempt(connection, details, _PASSING)
    known, types, readable = found or await details("bare")
    notes = (*facts.notes, *([] if found else [_LOCKED]), *types.notes)
    if sampling.rows and request.detail == "full":
        known = await with_samples(connection, known, readable, sampling)
    return replace(facts, tables=tuple(known.values()), enums=types.enums, notes=notes)


def _counts(matching: list[Listed], comments: dict[str, str]) -> tuple[SchemaCount, ...]:
    counts: dict[str, list[int]] = {}
    for one in matching:
        counts.setdefault(one.schema, [0, 0])[one.kind in VIEWS] += 1
    return tuple(
        SchemaCount(schema, tables, views, comments.get(schema, "")) for schema, (tables, views) in counts.items()
    )
