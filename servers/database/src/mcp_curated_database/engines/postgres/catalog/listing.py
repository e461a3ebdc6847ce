"""Which tables and views there are, which of them a request means, and which names look like an unknown one."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcp_curated_database.engines.border import TableFacts
from mcp_curated_database.engines.errors import close_names
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.engines.postgres.catalog.quoting import written
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection, rows
from mcp_curated_database.engines.postgres.catalog.statements import COLUMN_NAMES, LISTING, NAMES

_KINDS: Final = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}
VIEWS: Final = frozenset({"view", "materialized view"})

_MOST_NAMES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A table or view as the listing has it.

    Attributes:
        oid: Its identifier in pg_class.
        schema: Its schema.
        name: Unquoted.
        kind: As in `TableFacts`.
        rows: The estimate of its own; below 0 for none.
        parent: Of which table it is a partition; None for none.
    """

    oid: int
    schema: str
    name: str
    kind: str
    rows: int
    parent: int | None


class Listing:
    """All tables and views, partitions too."""

    def __init__(self, everything: Sequence[Listed]) -> None:
        self._everything = everything
        self._parents = {one.oid: one.parent for one in everything if one.parent is not None}
        self._children: dict[int, list[Listed]] = defaultdict(list)
        for one in everything:
            if one.parent is not None:
                self._children[one.parent].append(one)

    def matching(self, pattern: NamePattern | None) -> list[Listed]:
        """Those that are meant.

        A partition only where a name means it and no table that it belongs to; all names of a schema (`sales.*`) mean
        partitions only where there is nothing else, since their table may be in another schema.
        """
        meant = [one for one in self._everything if pattern is None or pattern.matches(one.schema, one.name)]
        oids = {one.oid for one in meant}
        outermost = [one for one in meant if not self._inside(one.parent, oids)]
        if pattern is not None and (pattern.table.quoted or pattern.table.text.strip("*")):
            return outermost
        return [one for one in outermost if one.parent is None] or outermost

    def _inside(self, parent: int | None, oids: set[int]) -> bool:
        while parent is not None:
            if parent in oids:
                return True
            parent = self._parents.get(parent)
        return False

    def partitions(self, oid: int) -> list[Listed]:
        """The partitions of a table that hold rows, at whatever depth."""
        found: list[Listed] = []
        waiting = list(self._children.get(oid, ()))
        while waiting:
            one = waiting.pop()
            if one.kind == "partitioned table":
                waiting += self._children.get(one.oid, ())
            else:
                found.append(one)
        return found

    def facts(self, one: Listed, *, estimated: bool) -> TableFacts:
        """What the listing knows of a table.

        Args:
            one: The table.
            estimated: With the estimate of its rows.
        """
        partitions = self.partitions(one.oid) if one.kind == "partitioned table" else []
        estimate = _estimate(one, partitions) if estimated else None
        return TableFacts(one.schema, one.name, one.kind, rows=estimate, partitions=len(partitions))


def _estimate(one: Listed, partitions: Sequence[Listed]) -> int | None:
    if one.kind == "view":
        return None
    if partitions and all(partition.rows >= 0 for partition in partitions):
        return sum(partition.rows for partition in partitions)
    return one.rows if one.rows >= 0 else None


async def listing(connection: CatalogConnection, pattern: NamePattern | None) -> Listing:
    """All tables and views; of the system's schemas only the one that a pattern names."""
    named = "" if pattern is None or pattern.schema is None else pattern.schema.text.casefold()
    return Listing(
        [
            Listed(oid, schema, name, _KINDS[kind], estimate, parent)
            for oid, schema, name, kind, estimate, parent in await rows(connection, LISTING, named)
        ]
    )


async def table_names(connection: CatalogConnection, most: int = _MOST_NAMES) -> list[str]:
    """The tables and views of the user as SQL may call them: with the schema where it is not on the search path.

    Args:
        connection: Inside a transaction.
        most: How many to give.
    """
    return [
        written(name) if visible else f"{written(schema)}.{written(name)}"
        for schema, name, visible in await rows(connection, NAMES, str(most))
    ]


async def close_tables(connection: CatalogConnection, name: str, schema: str | None = None) -> tuple[str, ...]:
    """The tables and views whose names look most like an unknown one, as SQL may call them; three at most.

    Args:
        connection: Inside a transaction.
        name: The unknown name, unquoted.
        schema: The schema that was written before it.
    """
    calls: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    for in_schema, real, visible in await rows(connection, NAMES, str(_MOST_NAMES)):
        elsewhere = schema is not None and in_schema.casefold() != schema.casefold()
        call = written(real) if visible and schema is None else f"{written(in_schema)}.{written(real)}"
        calls[real.casefold()].append((elsewhere, call))
    found = [call for form in close_names(name, calls) for _, call in sorted(calls[form])]
    return tuple(found[:3])


async def column_names(connection: CatalogConnection, tables: Sequence[str]) -> list[str]:
    """The names of the columns of some tables and views.

    Args:
        connection: Inside a transaction.
        tables: Their names, unquoted, with their schema (`sales.orders`) or for any schema without; others are passed
            over.
    """
    return [row[0] for row in await rows(connection, COLUMN_NAMES, json.dumps(list(tables)))]
