"""The border between this server and a database engine: what goes in, what comes out, and one small protocol.

A further engine (DuckDB, say) is one module that implements `Engine`; `sources` names it by its address and nothing
else changes. An engine knows nothing of MCP, of how results are written, or of the other engines.

Cancellation is the task's own: an engine whose call is cancelled stops the work in the database before it lets the
`asyncio.CancelledError` go on. A deadline is the engine's too, since only it can stop the database.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from mcp_curated_database.engines.names import NamePattern

Cell = str | int | float | bool | None
"""One value as JSON can carry it exactly.

Integers beyond 2**53, numerics, NaN and the infinities are texts, dates and times ISO texts, bytes hexadecimal texts,
JSON documents their own text: most readers of JSON would change them otherwise.
"""

Row = tuple[Cell, ...]

Parameter = Cell | list["Parameter"] | dict[str, "Parameter"]
"""One value that a caller binds, as JSON brought it."""

Explain = Literal["no", "plan", "analyze"]
Detail = Literal["overview", "tables", "full"]

LARGEST_EXACT: Final = 2**53
"""Beyond it a double, and so most readers of JSON, cannot hold every integer (RFC 8259, section 6)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one call may take and give.

    Attributes:
        rows: In the result.
        bytes: Of the result's rows, written as compact JSON in UTF-8.
        cell_characters: Of one value; a longer one is cut and says how much is missing.
        seconds: From the call's beginning to its result.
    """

    rows: int = 200
    bytes: int = 40_000
    cell_characters: int = 10_000
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result.

    Attributes:
        name: As the database gives it; may be empty or occur twice.
        type: The database's own name of its type; empty where there is none (an SQLite expression without rows).
    """

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """One statement that reads.

    Attributes:
        sql: As the caller wrote it, not changed by anyone.
        params: Bound in order to the database's own placeholders: `$1` in PostgreSQL, `?` or `?1` in SQLite.
        budget: What it may take.
        explain: The plan instead of the rows; `analyze` also runs it.
    """

    sql: str
    params: tuple[Parameter, ...] = ()
    budget: Budget = field(default_factory=Budget)
    explain: Explain = "no"


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a statement gave.

    Attributes:
        columns: Also when there are no rows.
        rows: Within the budget.
        cut_by: Which limit ended it while there was more: `rows` or `bytes`; None when this is all.
        cut_cells: Values that were shortened to the budget's `cell_characters`.
        written: The same rows as parts of a compact JSON list, where they were written to be measured.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cut_by: Literal["rows", "bytes"] | None = None
    cut_cells: int = 0
    written: tuple[str, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ExecuteRequest:
    """One statement that may write.

    Attributes:
        sql: As the caller wrote it.
        params: As in `QueryRequest`.
        commit: False runs it in a transaction that is rolled back: what it would do.
        expected: With `commit`: how many rows it may affect. With any other number it is rolled back and fails with
            `ConflictError`, since somebody agreed to this number. None where it cannot be known.
        budget: What it may take, and what it may return (`RETURNING`).
    """

    sql: str
    params: tuple[Parameter, ...] = ()
    commit: bool = False
    expected: int | None = None
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class ExecuteResult:
    """What a writing statement did, or would do.

    Attributes:
        affected: Rows inserted, changed or deleted; None where the database does not say (a CREATE TABLE).
        returned: What `RETURNING` gave; None without it.
        command: The database's own word for what was done (`UPDATE`), empty if unknown.
    """

    affected: int | None
    returned: QueryResult | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """Which part of the schema is asked for.

    Attributes:
        pattern: Which tables and views; None for all that belong to the user.
        detail: `overview`: schemas with their counts, and the names alone; `tables`: also estimates and comments;
            `full`: everything about each.
        limit: The most tables to give.
        offset: How many, in the order by schema and name, to pass over first.
        sample_rows: Rows of each table to add, 0 to 3; with `full` only.
        seconds: From the call's beginning to its result.
    """

    pattern: NamePattern | None = None
    detail: Detail = "overview"
    limit: int = 2_000
    offset: int = 0
    sample_rows: int = 0
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column of a table.

    Attributes:
        name: Unquoted.
        type: As declared (`numeric(12,2)`, `text[]`, `mood`); empty where none is.
        nullable: Whether NULL is allowed.
        default: The expression; empty for none.
        generated: `identity`, `always as (...) stored` and the like; empty for a plain column.
        comment: Empty for none.
    """

    name: str
    type: str
    nullable: bool = True
    default: str = ""
    generated: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key, seen from the table that has it (`columns` point) or from its target (`columns` are pointed at).

    Attributes:
        columns: Of the described table.
        schema: Of the other table.
        table: The other table.
        other_columns: Of the other table, pairwise.
        actions: Such as `on delete cascade`; empty for the default.
    """

    columns: tuple[str, ...]
    schema: str
    table: str
    other_columns: tuple[str, ...]
    actions: str = ""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """An index that no primary key or unique constraint made.

    Attributes:
        name: Unquoted.
        definition: What follows `ON table`, expressions and `WHERE` included: `(lower(name)) WHERE active`.
        unique: Whether it forbids duplicates.
    """

    name: str
    definition: str
    unique: bool = False


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table, view or the like. With less than full detail the parts below `comment` are empty.

    Attributes:
        schema: Its schema; `main` in SQLite.
        name: Unquoted.
        kind: `table`, `view`, `materialized view`, `partitioned table`, `foreign table`, `virtual table`.
        rows: The database's estimate of its rows; None where it has none.
        comment: Empty for none.
        columns: In order.
        primary_key: Names of its columns.
        foreign_keys: Where its columns point.
        referenced_by: Who points at it.
        uniques: Columns of each unique constraint.
        checks: Expressions.
        indexes: The others.
        definition: The text of a view or virtual table.
        options: Such as `WITHOUT ROWID`, `STRICT`, `row level security`.
        partitions: How many partitions are folded into it.
        samples: Some of its rows, if asked for.
    """

    schema: str
    name: str
    kind: str = "table"
    rows: int | None = None
    comment: str = ""
    columns: tuple[ColumnFacts, ...] = ()
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    referenced_by: tuple[ForeignKey, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    checks: tuple[str, ...] = ()
    indexes: tuple[IndexFacts, ...] = ()
    definition: str = ""
    options: tuple[str, ...] = ()
    partitions: int = 0
    samples: QueryResult | None = None


@dataclass(frozen=True, slots=True)
class SchemaCount:
    """How much one schema holds of what was asked for.

    Attributes:
        name: Of the schema.
        tables: Tables of every kind.
        views: Views, materialized ones too.
        comment: Empty for none.
    """

    name: str
    tables: int
    views: int
    comment: str = ""


@dataclass(frozen=True, slots=True)
class EnumFacts:
    """An enumerated type that a described column has."""

    schema: str
    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaFacts:
    """What the database holds of what was asked for.

    Attributes:
        schemas: Every schema with something that matches, whatever `limit` and `offset`.
        tables: At most `limit` of them, from `offset` on.
        total: How many match in all.
        enums: Types of the described columns.
        close: Names that look like the pattern, when nothing matches it.
        notes: Short warnings for the reader, such as that the role is a superuser.
        version: Of the database, for people: `SQLite 3.45.1`.
    """

    schemas: tuple[SchemaCount, ...]
    tables: tuple[TableFacts, ...]
    total: int
    enums: tuple[EnumFacts, ...] = ()
    close: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """One finding of `Engine.check`, for the `doctor` command.

    Attributes:
        level: `ok`, `warn` or `fail`.
        text: What was found, without a secret.
        fix: What to do about it; empty for `ok`.
    """

    level: Literal["ok", "warn", "fail"]
    text: str
    fix: str = ""


class Engine(Protocol):
    """One database. Calls may run at the same time; a slow one delays no other while the pool has room.

    Every failure that a caller can act on is a `CuratedError`: `QueryError` (in `errors`) for what the database
    said, `NotAllowedError` for what the layers refuse, `TimedOutError`, `UnavailableError` when it cannot be reached.
    """

    @property
    def dialect(self) -> str:
        """For people and models: `SQLite`, `PostgreSQL`."""
        ...

    async def open(self) -> None:
        """Prepare without waiting for the database: a dead one must not keep the server from starting."""
        ...

    async def close(self) -> None:
        """Close every connection; calls that still run fail with `UnavailableError`."""
        ...

    async def query(self, request: QueryRequest) -> QueryResult:
        """Run one statement that reads, whatever the operator allows. Nothing in or beside the database changes."""
        ...

    async def describe(self, request: SchemaRequest) -> SchemaFacts:
        """What the database holds."""
        ...

    async def execute(self, request: ExecuteRequest) -> ExecuteResult:
        """Run one statement in a transaction of its own. Called only where the operator allows writes."""
        ...

    async def check(self) -> tuple[Checked, ...]:
        """Connect and look: reachable, version, rights that reach further than reading."""
        ...
