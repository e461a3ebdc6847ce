"""The constraints of some tables, and those of others that point at them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from mcp_curated_database.engines.border import ForeignKey, IndexFacts
from mcp_curated_database.engines.postgres.catalog.quoting import written
from mcp_curated_database.engines.postgres.catalog.reading import CatalogConnection, joined, rows
from mcp_curated_database.engines.postgres.catalog.statements import CONSTRAINTS

_ACTIONS: Final = {"r": "restrict", "c": "cascade", "n": "set null", "d": "set default"}


@dataclass(slots=True)
class Held:
    """The constraints of one table, filled while rows come; as in `TableFacts`."""

    primary_key: list[str] = field(default_factory=list[str])
    foreign_keys: list[ForeignKey] = field(default_factory=list[ForeignKey])
    referenced_by: list[ForeignKey] = field(default_factory=list[ForeignKey])
    uniques: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    checks: list[str] = field(default_factory=list[str])
    exclusions: list[IndexFacts] = field(default_factory=list[IndexFacts])
    options: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Constraint:
    """One row of `CONSTRAINTS`: `table` has it, `target` is what a foreign key points at.

    Attributes:
        copied: PostgreSQL made it of another, for a partition of either table.
        copied_here: The other is the same table's: it stands for a partition of the target.
    """

    kind: str
    name: str
    table_oid: int
    target_oid: int
    schema: str
    table: str
    target_schema: str | None
    target: str | None
    columns: Sequence[str] | None
    target_columns: Sequence[str] | None
    set_columns: Sequence[str] | None
    on_update: str
    on_delete: str
    match: str
    deferrable: bool
    deferred: bool
    validated: bool
    enforced: bool | None
    period: bool | None
    nulls_equal: bool | None
    expression: str | None
    copied: bool
    copied_here: bool


async def constraints(connection: CatalogConnection, oids: Iterable[int], bare: str) -> dict[int, Held]:
    """What holds for the columns of each table, and who points at it.

    Args:
        connection: Inside a transaction.
        oids: Of the tables.
        bare: Not empty to do without expressions.
    """
    held: dict[int, Held] = defaultdict(Held)
    wanted = frozenset(oids)
    for row in await rows(connection, CONSTRAINTS, joined(wanted), bare):
        one = _Constraint(*row)
        if one.kind == "f":
            _add_key(held, one, wanted)
        else:
            _add(held[one.table_oid], one)
    return held


def _add_key(held: dict[int, Held], one: _Constraint, wanted: frozenset[int]) -> None:
    here, there = tuple(one.columns or ()), tuple(one.target_columns or ())
    actions = " ".join(_actions(one))
    if one.table_oid in wanted and not one.copied_here:
        key = ForeignKey(here, one.target_schema or "", one.target or "", there, actions)
        held[one.table_oid].foreign_keys.append(key)
    if one.target_oid in wanted and (one.copied_here or not one.copied):
        held[one.target_oid].referenced_by.append(ForeignKey(there, one.schema, one.table, here, actions))


def _actions(one: _Constraint) -> Iterator[str]:
    if one.on_update in _ACTIONS:
        yield f"on update {_ACTIONS[one.on_update]}"
    if one.on_delete in _ACTIONS:
        columns = f" ({', '.join(map(written, one.set_columns))})" if one.set_columns else ""
        yield f"on delete {_ACTIONS[one.on_delete]}{columns}"
    if one.match == "f":
        yield "match full"
    if one.period:
        yield "for periods"
    yield from _reservations(one)


def _reservations(one: _Constraint) -> Iterator[str]:
    if one.deferrable:
        yield "deferrable initially deferred" if one.deferred else "deferrable"
    if one.enforced is False:
        yield "not enforced"
    elif not one.validated:
        yield "not valid"


def _add(held: Held, one: _Constraint) -> None:
    if one.kind in {"p", "u"}:
        columns = tuple(one.columns or ())
        if one.kind == "p":
            held.primary_key[:] = columns
        else:
            held.uniques.append(columns)
        held.options += _peculiarities(one, columns)
    elif one.kind == "x":
        held.exclusions.append(IndexFacts(one.name, one.expression or "..."))
    else:
        reservations = ", ".join(_reservations(one))
        held.checks.append((one.expression or "...") + (f" /* {reservations} */" if reservations else ""))


def _peculiarities(one: _Constraint, columns: Sequence[str]) -> Iterator[str]:
    """A key that is more than its columns, whole."""
    what = "nulls not distinct" if one.nulls_equal else ""
    told = " ".join(part for part in (what, *_reservations(one)) if part)
    if told or one.period:
        period = " without overlaps" if one.period else ""
        kind = "primary key" if one.kind == "p" else "unique"
        yield f"{kind} ({', '.join(map(written, columns))}{period}) {told}".strip()
