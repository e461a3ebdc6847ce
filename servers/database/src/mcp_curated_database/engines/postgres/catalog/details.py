"""Everything about some tables: one statement for each kind of fact, not one for each table."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp_curated_database.engines.border import ColumnFacts, IndexFacts, TableFacts
from mcp_curated_database.engines.postgres.catalog.constraints import constraints
from mcp_curated_database.engines.postgres.catalog.quoting import written
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection, joined, rows
from mcp_curated_database.engines.postgres.catalog.statements import ABOUT, COLUMNS, DEFINITIONS, INDEXES, TRIGGERS
from mcp_curated_database.engines.postgres.catalog.user_types import UserTypes, user_types

_NAME: Final = r'(?:"(?:[^"]|"")*"|[^\s".]+)'
_BEFORE_COLUMNS: Final = re.compile(
    rf"CREATE (?:UNIQUE )?INDEX {_NAME} ON (?:ONLY )?{_NAME}(?:\.{_NAME})? (?:USING btree )?"
)
"""What pg_get_indexdef writes before an index's columns; btree is what an index is if nothing else is said."""

_BLANKS: Final = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|\s+""")
"""Those between the tokens of a deparsed view, which has no comments; in group 1 what keeps its own."""

_IDENTITIES: Final = {"a": "always as identity", "d": "by default as identity"}
_STORED: Final = {"s": "stored", "v": "virtual"}


@dataclass(frozen=True, slots=True)
class _About:
    """One row of `ABOUT`."""

    oid: int
    comment: str | None
    persistence: str
    row_security: bool
    forced: bool
    populated: bool
    any_column: bool | None
    readable: bool | None
    partition_key: str | None
    partition: bool
    bound: str | None
    parents: Sequence[tuple[str, str]] | None
    server: str | None
    view_options: Sequence[str] | None


async def about(
    connection: CatalogConnection, tables: dict[int, TableFacts], bare: str
) -> tuple[dict[int, TableFacts], dict[int, bool]]:
    """The tables with their comments and options, and which of them this role may read and PostgreSQL itself holds.

    For each of these also whether reading it runs what its owner wrote: a view's query, or the policies for its rows.

    A table that has been dropped since it was listed is left as it is.

    Args:
        connection: Inside a transaction.
        tables: By their identifiers.
        bare: Not empty to do without expressions.
    """
    found = dict(tables)
    readable: dict[int, bool] = {}
    for row in await rows(connection, ABOUT, joined(tables), bare):
        one = _About(*row)
        if one.readable and one.populated and one.server is None:
            readable[one.oid] = one.row_security or tables[one.oid].kind == "view"
        options = tuple(_options(one))
        found[one.oid] = replace(tables[one.oid], comment=one.comment or "", options=options)
    return found, readable


def _options(one: _About) -> Iterator[str]:
    parents = ", ".join(f"{written(schema)}.{written(name)}" for schema, name in one.parents or ())
    told: tuple[tuple[object, str], ...] = (
        (one.partition_key, f"partitioned by {one.partition_key}"),
        (one.partition, f"partition of {parents} {one.bound or ''}".rstrip()),
        (parents and not one.partition, f"inherits {parents}"),
        (one.persistence == "u", "unlogged"),
        (one.persistence == "t", "temporary"),
        (one.server, f"server {one.server}"),
        (not one.populated, "not populated"),
        (one.row_security, "row level security" + (", forced" if one.forced else "")),
        (one.any_column is False, "not readable by this role"),
    )
    yield from (text for holds, text in told if holds)
    yield from one.view_options or ()


async def in_full(
    connection: CatalogConnection, tables: dict[int, TableFacts], bare: str
) -> tuple[dict[int, TableFacts], UserTypes]:
    """The tables with everything but samples, and the types that somebody made for their columns.

    Args:
        connection: Inside a transaction.
        tables: From `about`.
        bare: Not empty to do without expressions.
    """
    oids = joined(tables)
    columns: dict[int, list[ColumnFacts]] = defaultdict(list)
    types: set[int] = set()
    for table, *row in await rows(connection, COLUMNS, oids, bare):
        columns[table].append(_column(*row))
        types.add(row[2])
    held = await constraints(connection, tables, bare)
    indexes: dict[int, list[IndexFacts]] = defaultdict(list)
    for table, name, definition, unique, valid in await rows(connection, INDEXES, oids, bare):
        indexes[table].append(IndexFacts(name, _after_table(definition) + ("" if valid else " (invalid)"), unique))
    triggers: dict[int, list[str]] = defaultdict(list)
    for table, name in await rows(connection, TRIGGERS, oids):
        triggers[table].append(f"trigger {written(name)}")
    made = await user_types(connection, types)
    # Last, since it locks what the views read: nothing is waited for with those locks.
    definitions: dict[int, str | None] = {oid: text for oid, text in await rows(connection, DEFINITIONS, oids, bare)}
    found = {
        oid: replace(
            table,
            columns=tuple(columns[oid]),
            primary_key=tuple(held[oid].primary_key),
            foreign_keys=tuple(held[oid].foreign_keys),
            referenced_by=tuple(held[oid].referenced_by),
            uniques=tuple(held[oid].uniques),
            checks=tuple(held[oid].checks),
            indexes=(*indexes[oid], *held[oid].exclusions),
            definition=_on_one_line(definitions.get(oid) or ""),
            options=(*table.options, *held[oid].options, *triggers[oid]),
        )
        for oid, table in tables.items()
    }
    return found, made


def _column(*row: Any) -> ColumnFacts:
    name, type_name, _, not_null, default, identity, generated, comment = row
    made = _IDENTITIES.get(identity, "")
    if generated:
        made = f"always as ({default}) {_STORED.get(generated, generated)}"
    return ColumnFacts(
        name,
        type_name,
        nullable=not not_null,
        default="" if generated else default or "",
        generated=made,
        comment=comment or "",
    )


def _after_table(definition: str | None) -> str:
    return _BEFORE_COLUMNS.sub("", definition or "...", count=1)


def _on_one_line(definition: str) -> str:
    """A view's text without the indentation that PostgreSQL gives it: it takes a third of the tokens."""
    return _BLANKS.sub(lambda blank: blank[1] or " ", definition).strip()
