"""What an SQLite database holds, from its own PRAGMA functions."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from mcp_curated_database.engines.border import (
    Budget,
    ColumnFacts,
    ForeignKey,
    IndexFacts,
    QueryResult,
    SchemaCount,
    SchemaFacts,
    SchemaRequest,
    TableFacts,
)
from mcp_curated_database.engines.errors import close_names
from mcp_curated_database.engines.sqlite.definitions import after_on, checks, generated
from mcp_curated_database.engines.sqlite.readers import Connection
from mcp_curated_database.engines.sqlite.values import SqlValue

SCHEMA: Final = "main"

_SAMPLE_CHARACTERS: Final = 80

_TABLES: Final = (
    # Shadow tables are what virtual tables keep their data in: theirs, not the user's.
    "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
_COLUMNS: Final = (
    'SELECT t.value, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden '
    "FROM json_each(?1) AS t, pragma_table_xinfo(t.value) AS c ORDER BY t.key, c.cid"
)
_FOREIGN_KEYS: Final = (
    'SELECT t.value, f.id, f."from", f."table", f."to", f.on_update, f.on_delete '
    "FROM json_each(?1) AS t, pragma_foreign_key_list(t.value) AS f ORDER BY t.key, f.id, f.seq"
)
_INDEXES: Final = (
    'SELECT t.value, i.name, i."unique", i.origin, s.sql '
    "FROM json_each(?1) AS t, pragma_index_list(t.value) AS i LEFT JOIN sqlite_schema AS s "
    "ON s.type = 'index' AND s.name = i.name ORDER BY t.key, i.seq DESC"
)
_INDEX_COLUMNS: Final = (
    "SELECT n.value, i.name FROM json_each(?1) AS n, pragma_index_info(n.value) AS i ORDER BY n.key, i.seqno"
)
_SOURCES: Final = "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')"


async def table_names(connection: Connection) -> list[str]:
    """The names of all tables and views that belong to the user."""
    return [str(row[0]) for row in await connection.rows(_TABLES)]


async def column_names(connection: Connection, tables: Sequence[str]) -> list[str]:
    """The names of the columns of some tables."""
    return [str(row[1]) for row in await connection.rows(_COLUMNS, (json.dumps(tables),))]


async def describe(connection: Connection, request: SchemaRequest) -> SchemaFacts:
    """What a request asks for.

    Raises:
        sqlite3.Error: What SQLite said.
    """
    everything = [_listed(row) for row in await connection.rows(_TABLES)]
    pattern = request.pattern
    matching = [table for table in everything if pattern is None or pattern.matches(SCHEMA, table.name)]
    close: tuple[str, ...] = ()
    if pattern is not None and not matching:
        close = close_names(pattern.table.text, [table.name for table in everything])
    chosen = matching[request.offset : request.offset + request.limit]
    if request.detail != "overview":
        chosen = await _with_estimates(connection, chosen)
    if request.detail == "full" and chosen:
        chosen = await _in_full(connection, chosen)
        chosen = [replace(one, samples=await _samples(connection, one, request.sample_rows)) for one in chosen]
    views = sum(table.kind == "view" for table in matching)
    counts = (SchemaCount(SCHEMA, len(matching) - views, views),) if matching or pattern is None else ()
    return SchemaFacts(counts, tuple(chosen), len(matching), close=close, version=f"SQLite {sqlite3.sqlite_version}")


def _listed(row: Sequence[SqlValue]) -> TableFacts:
    name, kind, without_rowid, strict = row
    named = (("WITHOUT ROWID", without_rowid), ("STRICT", strict))
    options = tuple(option for option, given in named if given)
    return TableFacts(SCHEMA, str(name), "virtual table" if kind == "virtual" else str(kind), options=options)


async def _with_estimates(connection: Connection, tables: Sequence[TableFacts]) -> list[TableFacts]:
    """With the rows that the last ANALYZE counted, where there was one."""
    estimates: dict[str, int] = {}
    with suppress(sqlite3.OperationalError):  # no such table: nobody has run ANALYZE
        for name, stat in await connection.rows("SELECT tbl, stat FROM sqlite_stat1"):
            first = str(stat).split(" ", 1)[0]
            if first.isdecimal():
                estimates[str(name)] = int(first)
    return [replace(table, rows=estimates.get(table.name)) for table in tables]


async def _in_full(connection: Connection, tables: Sequence[TableFacts]) -> list[TableFacts]:
    names = (json.dumps([table.name for table in tables]),)
    sources: dict[str, str] = {}
    triggers: dict[str, list[str]] = defaultdict(list)
    for name, kind, of, sql in await connection.rows(_SOURCES):
        if kind == "trigger":
            triggers[str(of)].append(f"trigger {name}")
        else:
            sources[str(name)] = str(sql or "")
    columns: dict[str, list[tuple[ColumnFacts, int]]] = defaultdict(list)
    for table, *rest in await connection.rows(_COLUMNS, names):
        if rest[-1] != 1:  # a hidden column of a virtual table
            columns[str(table)].append(_column(rest, sources.get(str(table), "")))
    pointing = await _foreign_keys(connection, names)
    pointed = await _referenced_by(connection, {table.name for table in tables})
    uniques, indexes = await _indexes(connection, names)
    return [
        replace(
            table,
            columns=tuple(column for column, _ in columns[table.name]),
            primary_key=_primary_key(columns[table.name]),
            foreign_keys=tuple(pointing[table.name]),
            referenced_by=tuple(pointed[table.name]),
            uniques=tuple(uniques[table.name]),
            checks=checks(sources.get(table.name, "")) if table.kind == "table" else (),
            indexes=tuple(indexes[table.name]),
            definition=sources.get(table.name, "") if table.kind != "table" else "",
            options=(*table.options, *triggers[table.name]),
        )
        for table in tables
    ]


def _column(row: Sequence[SqlValue], source: str) -> tuple[ColumnFacts, int]:
    name, declared, not_null, default, key, hidden = row
    made = ""
    if hidden in {2, 3}:
        made = f"always as ({generated(source, str(name))}) {'virtual' if hidden == 2 else 'stored'}"
    facts = ColumnFacts(
        str(name), str(declared or ""), nullable=not not_null, default=str(default or ""), generated=made
    )
    return facts, int(key) if isinstance(key, int) else 0


def _primary_key(columns: Sequence[tuple[ColumnFacts, int]]) -> tuple[str, ...]:
    ordered = sorted((position, column.name) for column, position in columns if position)
    return tuple(name for _, name in ordered)


async def _foreign_keys(connection: Connection, names: Sequence[SqlValue]) -> dict[str, list[ForeignKey]]:
    parts: dict[tuple[str, int], list[Sequence[SqlValue]]] = defaultdict(list)
    for row in await connection.rows(_FOREIGN_KEYS, names):
        parts[str(row[0]), int(row[1] or 0)].append(row)
    found: dict[str, list[ForeignKey]] = defaultdict(list)
    for (table, _), rows in parts.items():
        update, delete = rows[0][5], rows[0][6]
        actions = [f"on {event} {str(action).lower()}" for event, action in (("update", update), ("delete", delete))]
        found[table].append(
            ForeignKey(
                columns=tuple(str(row[2]) for row in rows),
                schema=SCHEMA,
                table=str(rows[0][3]),
                # Without columns a foreign key points at the primary key.
                other_columns=tuple(str(row[4]) for row in rows if row[4] is not None),
                actions=" ".join(action for action in actions if not action.endswith("no action")),
            )
        )
    return found


async def _referenced_by(connection: Connection, targets: set[str]) -> dict[str, list[ForeignKey]]:
    everyone = json.dumps(await table_names(connection))
    by_form = {name.casefold(): name for name in targets}
    found: dict[str, list[ForeignKey]] = defaultdict(list)
    for table, keys in (await _foreign_keys(connection, (everyone,))).items():
        for key in keys:
            target = by_form.get(key.table.casefold())
            if target is not None:
                found[target].append(ForeignKey(key.other_columns, SCHEMA, table, key.columns, key.actions))
    return found


async def _indexes(
    connection: Connection, names: Sequence[SqlValue]
) -> tuple[dict[str, list[tuple[str, ...]]], dict[str, list[IndexFacts]]]:
    uniques: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    indexes: dict[str, list[IndexFacts]] = defaultdict(list)
    rows = await connection.rows(_INDEXES, names)
    constraints = [str(name) for _, name, _, origin, _ in rows if origin == "u"]
    columns: dict[str, list[str]] = defaultdict(list)
    for index, column in await connection.rows(_INDEX_COLUMNS, (json.dumps(constraints),)):
        columns[str(index)].append(str(column))
    for table, name, unique, origin, sql in rows:
        if origin == "u":
            uniques[str(table)].append(tuple(columns[str(name)]))
        elif origin == "c":
            indexes[str(table)].append(IndexFacts(str(name), after_on(str(sql or "")), bool(unique)))
    return uniques, indexes


async def _samples(connection: Connection, table: TableFacts, count: int) -> QueryResult | None:
    """Some rows; None where there should be none, or where a broken view has none."""
    if not count:
        return None
    quoted = table.name.replace('"', '""')
    budget = Budget(rows=count, bytes=4_000, cell_characters=_SAMPLE_CHARACTERS)
    with suppress(sqlite3.OperationalError):
        found = await connection.gather(f'SELECT * FROM "{quoted}" LIMIT {count}', (), budget)  # noqa: S608 - quoted
        return replace(found, cut_by=None)
    return None
