"""Some rows of tables, each read by itself: a view that fails or takes long costs its own sample only."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mcp_curated_database.engines.border import Budget, Cell, Column, ColumnFacts, QueryResult, TableFacts
from mcp_curated_database.engines.gathering import Gatherer, plain
from mcp_curated_database.engines.postgres.catalog.quoting import quote
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection, attempt
from mcp_curated_database.engines.postgres.driver import asyncpg

_CHARACTERS: Final = 80
_NOTE: Final = 40
"""A value is cut where that saves more than the note takes which says so."""

_BYTES: Final = 4_000
_SECONDS_EACH: Final = 2.0
_SHARE: Final = 1 / 3
"""Of the call's time, for all samples."""

_INTEGERS: Final = frozenset({"smallint", "integer", "bigint"})
_FLOATS: Final = frozenset({"real", "double precision"})


async def with_samples(
    connection: CatalogConnection,
    tables: dict[int, TableFacts],
    readable: frozenset[int],
    *,
    rows: int,
    seconds: float,
    began: float,
) -> dict[int, TableFacts]:
    """The tables with samples, as far as they can be read in a third of the call's time.

    Args:
        connection: Inside a READ ONLY transaction.
        tables: With their columns.
        readable: Which of them may be read.
        rows: How many of each, 1 to 3.
        seconds: Of the whole call.
        began: When it began, by `time.monotonic`.
    """
    found = dict(tables)
    end = began + seconds * _SHARE
    for oid, table in tables.items():
        left = min(_SECONDS_EACH, end - time.monotonic())
        if left <= 0:
            break
        if oid in readable and table.columns:
            found[oid] = replace(table, samples=await _sample(connection, table, rows, left))
    return found


async def _sample(connection: CatalogConnection, table: TableFacts, count: int, seconds: float) -> QueryResult | None:
    cells = ", ".join(f"{_cell(column)} AS c{number}" for number, column in enumerate(table.columns))
    statement = f"SELECT {cells} FROM {quote(table.schema)}.{quote(table.name)} AS t LIMIT {int(count)}"  # noqa: S608 - quoted
    # A view that divides by zero, a lock, a row policy, the time limit.
    fetched = await attempt(
        connection,
        lambda: connection.fetch(statement),
        asyncpg.PostgresError,
        setting="statement_timeout",
        seconds=seconds,
    )
    if fetched is None:
        return None
    gatherer = Gatherer(Budget(rows=count, bytes=_BYTES, cell_characters=_CHARACTERS))
    gatherer.add(
        [_values(table.columns, [row[f"c{number}"] for number in range(len(table.columns))]) for row in fetched]
    )
    return replace(gatherer.result([Column(column.name, column.type) for column in table.columns]), cut_by=None)


def _cell(column: ColumnFacts) -> str:
    """A value as text, cut in the database: a value of 200 MB never leaves it."""
    text = f"t.{quote(column.name)}::text"
    missing = f"pg_catalog.to_char(pg_catalog.length({text}) - {_CHARACTERS}, 'FM9,999,999,999'::text)"
    return (
        f"CASE WHEN pg_catalog.length({text}) <= {_CHARACTERS + _NOTE} THEN {text} "
        f"ELSE pg_catalog.left({text}, {_CHARACTERS}) || '... ['::text || {missing} || ' more characters]'::text END"
    )


def _values(columns: Sequence[ColumnFacts], texts: Sequence[str | None]) -> list[Cell]:
    return [_value(column.type, text) for column, text in zip(columns, texts, strict=True)]


def _value(type_name: str, text: str | None) -> Cell:
    if text is None:
        return None
    if type_name in _INTEGERS:
        return plain(int(text))
    if type_name in _FLOATS:
        return plain(float(text))
    return text == "true" if type_name == "boolean" else text
