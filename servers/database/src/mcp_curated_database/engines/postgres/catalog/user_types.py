"""The types that somebody made for the columns of tables: enums, domains and composite types."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_curated_database.engines.border import EnumFacts
from mcp_curated_database.engines.postgres.catalog.quoting import written
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection, joined, rows
from mcp_curated_database.engines.postgres.catalog.statements import TYPES

_MOST_NOTES: Final = 30


@dataclass(frozen=True, slots=True)
class UserTypes:
    """What there is to know of them.

    Attributes:
        enums: With their labels in order.
        notes: What each domain and composite type is made of, a line each.
    """

    enums: tuple[EnumFacts, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Type:
    """One row of `TYPES`."""

    kind: str
    schema: str
    name: str
    shown: str
    labels: Sequence[str] | None
    base: str | None
    not_null: bool
    default: str | None
    checks: Sequence[str] | None
    attributes: Sequence[tuple[str, str]] | None


async def user_types(connection: CatalogConnection, types: Iterable[int]) -> UserTypes:
    """The enums, domains and composite types among some types and in what those are made of.

    Args:
        connection: Inside a transaction.
        types: Object identifiers of columns' types.
    """
    enums: list[EnumFacts] = []
    notes: list[str] = []
    for row in await rows(connection, TYPES, joined(types)):
        one = _Type(*row)
        if one.kind == "e":
            enums.append(EnumFacts(one.schema, one.name, tuple(one.labels or ())))
        else:
            notes.append(_domain(one) if one.kind == "d" else _composite(one))
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"and {len(notes) - _MOST_NOTES} more domains and composite types"]
    return UserTypes(tuple(enums), tuple(notes))


def _domain(one: _Type) -> str:
    parts = [f"domain {one.shown} is {one.base}", "not null" if one.not_null else ""]
    parts.append(f"default {one.default}" if one.default else "")
    parts += [f"check ({check})" for check in one.checks or ()]
    return " ".join(part for part in parts if part)


def _composite(one: _Type) -> str:
    attributes = ", ".join(f"{written(name)} {type_name}" for name, type_name in one.attributes or ())
    return f"composite type {one.shown} is ({attributes})"
