"""A schema as text: a quarter of the tokens of the same facts as JSON."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from mcp_curated_database.engines.border import (
    ColumnFacts,
    ForeignKey,
    IndexFacts,
    QueryResult,
    SchemaCount,
    SchemaFacts,
    TableFacts,
)
from mcp_curated_database.results.rows import visible

_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LONGEST_COMMENT: Final = 200
_LONGEST_DEFINITION: Final = 2_000
_ROOM_FOR_NAMES: Final = 400
"""Bytes of names that an overview shows of each of many schemas at least."""


def one_line(text: str, longest: int = _LONGEST_COMMENT) -> str:
    """A text that somebody else wrote, on one line, its invisible characters escaped, shortened."""
    line = visible(_CONTROL.sub(" ", text))[0].strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"


def quoted(name: str) -> str:
    """A name as SQL takes it: in double quotes where it is not plain."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return '"' + one_line(name, 300).replace('"', '""') + '"'


def full_name(schema: str, name: str) -> str:
    """`schema.name`; without the schema where there is only `main`."""
    return quoted(name) if schema == "main" else f"{quoted(schema)}.{quoted(name)}"


def overview(facts: SchemaFacts, room: int) -> str:
    """The schemas with their counts and as many names as there is room for.

    Args:
        facts: With names of tables.
        room: Bytes.
    """
    share = max(_ROOM_FOR_NAMES, (room - 60 * len(facts.schemas)) // max(1, len(facts.schemas)))
    lines: list[str] = []
    left = room
    for count in facts.schemas:
        names = [table for table in facts.tables if table.schema == count.name]
        line = _schema_line(count, names, min(share, left))
        left -= len(line.encode()) + 1
        if left < 0:
            rest = len(facts.schemas) - len(lines)
            lines.append(f'... and {rest} more schemas; describe_schema with pattern "SCHEMA.*" shows one.')
            break
        lines.append(line)
    return "\n".join(lines)


def _schema_line(count: SchemaCount, tables: Sequence[TableFacts], room: int) -> str:
    views = f", {count.views} views" if count.views else ""
    comment = f" -- {one_line(count.comment)}" if count.comment else ""
    head = f"{quoted(count.name)} ({count.tables} tables{views}){comment}: "
    names: list[str] = []
    size = len(head.encode())
    for table in tables:
        name = quoted(table.name) + ("" if table.kind in {"table", "partitioned table"} else f" ({table.kind})")
        size += len(name.encode()) + 2
        if size > room - 30:
            break
        names.append(name)
    missing = count.tables + count.views - len(names)
    return head + ", ".join(names) + (f" ... and {missing} more" if missing else "")


def lines_of(facts: SchemaFacts) -> list[str]:
    """One line a table: what it is, about how many rows, its comment."""
    return [_table_line(table) for table in facts.tables]


def _table_line(table: TableFacts) -> str:
    parts = [table.kind] if table.kind != "table" else []
    if table.rows is not None:
        parts.append(f"about {table.rows:,} rows")
    if table.partitions:
        parts.append(f"{table.partitions} partitions")
    parts += [one_line(option) for option in table.options]
    facts = f" ({', '.join(parts)})" if parts else ""
    comment = f" -- {one_line(table.comment)}" if table.comment else ""
    return full_name(table.schema, table.name) + facts + comment


def blocks_of(facts: SchemaFacts) -> list[str]:
    """Everything about each table, a block of lines each."""
    return [_block(table) for table in facts.tables]


def _block(table: TableFacts) -> str:
    lines = [_table_line(table)]
    alone = {key.columns[0]: key for key in table.foreign_keys if len(key.columns) == 1}
    lines += _first([_column(column, table, alone) for column in table.columns], 400, "columns")
    if len(table.primary_key) > 1:
        lines.append(f"  primary key ({_names(table.primary_key)})")
    lines += _first([f"unique ({_names(unique)})" for unique in table.uniques if len(unique) > 1], 30, "unique keys")
    keys = [f"foreign key {_key(key)}" for key in table.foreign_keys if len(key.columns) != 1]
    lines += _first(keys, 50, "foreign keys")
    lines += _first([f"check ({one_line(check, _LONGEST_DEFINITION)})" for check in table.checks], 30, "checks")
    lines += _first([_index(index) for index in table.indexes], 50, "indexes")
    lines += _first([f"referenced by {_pointer(key)}" for key in table.referenced_by], 40, "tables that reference it")
    if table.definition:
        lines.append(f"  definition: {one_line(table.definition, _LONGEST_DEFINITION)}")
    if table.samples is not None:
        lines.append(f"  sample rows: {_samples(table.samples)}")
    return "\n".join(lines)


def _first(lines: Sequence[str], most: int, what: str) -> list[str]:
    """Lines of one kind, indented; of very many the first and how many are left: one table must not fill a reply."""
    left = len(lines) - most
    return [f"  {line}" for line in lines[:most]] + ([f"  ... and {left} more {what}"] if left > 0 else [])


def _column(column: ColumnFacts, table: TableFacts, alone: dict[str, ForeignKey]) -> str:
    parts = [quoted(column.name), one_line(column.type), "" if column.nullable else "not null"]
    parts.append("primary key" if table.primary_key == (column.name,) else "")
    parts.append("unique" if (column.name,) in table.uniques else "")
    if column.default:
        parts.append(f"default {one_line(column.default)}")
    if column.generated:
        parts.append(f"generated {one_line(column.generated)}")
    key = alone.get(column.name)
    if key is not None:
        parts.append(f"-> {_target(key)}")
    if column.comment:
        parts.append(f"-- {one_line(column.comment)}")
    return " ".join(part for part in parts if part)


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


def _target(key: ForeignKey) -> str:
    columns = f"({_names(key.other_columns)})" if key.other_columns else ""
    return f"{full_name(key.schema, key.table)}{columns}" + (f" {key.actions}" if key.actions else "")


def _key(key: ForeignKey) -> str:
    return f"({_names(key.columns)}) -> {_target(key)}"


def _pointer(key: ForeignKey) -> str:
    return f"{full_name(key.schema, key.table)}({_names(key.other_columns)})" + (
        f" {key.actions}" if key.actions else ""
    )


def _index(index: IndexFacts) -> str:
    unique = "unique " if index.unique else ""
    return f"{unique}index {quoted(index.name)} {one_line(index.definition, _LONGEST_DEFINITION)}"


def _samples(samples: QueryResult) -> str:
    import json

    text = json.dumps(samples.rows, ensure_ascii=False, separators=(",", ":"))
    return visible(text)[0]


def fitted(parts: Sequence[str], room: int, note: Callable[[int], str], separator: str = "\n") -> str:
    """As many parts as there is room for, and a note for the rest.

    Args:
        parts: Texts; the first is always given.
        room: Bytes.
        note: Says how to go on after this many parts; empty for nothing.
        separator: Between parts.
    """
    shown: list[str] = []
    size = 0
    for part in parts:
        size += len(part.encode("utf-8", "surrogatepass")) + len(separator)
        if shown and size > room:
            break
        shown.append(part)
    ending = note(len(shown))
    return separator.join([*shown, ending] if ending else shown)
