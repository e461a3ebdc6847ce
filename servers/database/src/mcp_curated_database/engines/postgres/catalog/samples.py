"""Some rows of tables, each read by itself: a view that fails or takes long costs its own sample only."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Sampling:
    """How samples are taken.

    Attributes:
        rows: Of each table, 1 to 3.
        seconds: Of the whole call.
        began: When it began, by `time.monotonic`.
        admits: Whether a query may run; None to sample only what runs nobody's code, so no view.
    """

    rows: int
    seconds: float
    began: float
    admits: Callable[[str], bool] | None = None


async def with_samples(
    connection: CatalogConnection, tables: dict[int, TableFacts], readable: Mapping[int, bool], sampling: Sampling
) -> dict[int, TableFacts]:
    """The tables with samples, as far as they can be read in a third of the call's time.

    Args:
        connection: Inside a READ ONLY transaction.
        tables: With their columns.
        readable: Which of them may be read, and whether reading one runs what its owner wrote.
        sampling: How they are taken.
    """
    found = dict(tables)
    end = sampling.began + sampling.seconds * _SHARE
    for oid, table in tables.items():
        left = min(_SECONDS_EACH, end - time.monotonic())
        if left <= 0:
            break
        if oid in readable and table.columns and _admitted(table, readable[oid], sampling):
            found[oid] = replace(table, samples=await _sample(connection, table, sampling.rows, left))
    return found


def _admitted(table: TableFacts, runs_code: bool, sampling: Sampling) -> bool:
    if sampling.admits is None:
        return not runs_code
    return sampling.admits(f"SELECT * FROM {quote(table.schema)}.{quote(table.name)}")  # noqa: S608 - quoted


async def _sample(connection: CatalogConnection, table: TableFacts, count: int, seconds: float) -> QueryResult | None:
    numbers = range(len(table.columns))
    texts = ", ".join(f"{_text(column)} AS c{number}" for number, column in enumerate(table.columns))
    source = f"{quote(table.schema)}.{quote(table.name)} AS t LIMIT {int(count)}"
    cells = ", ".join(f"{_cut(f's.c{number}')} AS c{number}" for number in numbers)
    statement = f"SELECT {cells} FROM (SELECT {texts} FROM {source}) AS s"  # noqa: S608 - quoted
    # A view that divides by zero, a lock, a row policy, the time limit.
    fetched = await attempt(connection, lambda: connection.fetch(statement), (asyncpg.PostgresError,), seconds)
    if fetched is None:
        return None
    gatherer = Gatherer(Budget(rows=count, bytes=_BYTES, cell_characters=_CHARACTERS))
    gatherer.add([_values(table.columns, [row[f"c{number}"] for number in numbers]) for row in fetched])
    return replace(gatherer.result([Column(column.name, column.type) for column in table.columns]), cut_by=None)


def _text(column: ColumnFacts) -> str:
    """A value as its type writes it. A cast could be somebody's function, and IS NULL would ask of a row's fields."""
    value = f"t.{quote(column.name)}"
    return f"CASE WHEN {value} IS NOT DISTINCT FROM NULL THEN NULL ELSE pg_catalog.format('%s'::text, {value}) END"


def _cut(text: str) -> str:
    """A text cut in the database: one of 200 MB never leaves it."""
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
    return text == "t" if type_name == "boolean" else text
