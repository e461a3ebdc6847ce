"""Every setting of the database server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar

from mcp_curated_database.saved_queries import SavedQuery
from mcp_curated_database.source_file import SourceFile, read_source_file
from mcp_curated_database.sources import Source, distinct, read_source, show_source
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.settings import (
    AuditSettings,
    Boolean,
    ConsentSettings,
    Duration,
    Integer,
    LedgerSettings,
    LogSettings,
    Parsed,
    Settings,
    Size,
    StateSettings,
    Text,
    TransportSettings,
    many,
    optional,
    setting,
)


def _path_of(file: SourceFile) -> str:
    return file.path


@dataclass(frozen=True, slots=True)
class DatabaseLimits(Settings):
    """What one call may take."""

    prompted: ClassVar[bool] = False

    rows: int = setting(
        Integer(1, 1_000_000, "rows"),
        default=200,
        help="Rows of a result when the call does not say how many.",
        flag="--rows",
    )
    most_rows: int = setting(
        Integer(1, 1_000_000, "rows"),
        default=10_000,
        help="Rows that a call may ask for.",
        flag="--max-rows",
    )
    reply_bytes: int = setting(
        Size(2_000, 100_000_000),
        default=48_000,
        help="Most bytes of a reply's rows; what is cut says how to go on. Some hosts refuse or hide longer replies.",
        flag="--max-reply",
    )
    cell_characters: int = setting(
        Integer(100, 10_000_000, "characters"),
        default=10_000,
        help="Longest value; a longer one is cut and says how much is missing.",
        flag="--max-cell",
    )
    query_seconds: float = setting(
        Duration(0.1, 3600),
        default=30.0,
        help="How long a call may work; then the database is told to stop.",
        flag="--query-timeout",
    )
    lock_seconds: float = setting(
        Duration(0.1, 600),
        default=5.0,
        help="How long a call waits for a lock that somebody else holds.",
        flag="--lock-timeout",
    )
    connections: int = setting(
        Integer(1, 100, "connections"),
        default=10,
        help="Connections to one PostgreSQL database, or readers of one SQLite file.",
        flag="--pool-size",
    )


@dataclass(frozen=True, slots=True)
class DatabaseSettings(Settings):
    """What the operator of a database server decides."""

    environment_prefix: ClassVar[str] = "MCP_DATABASE_"

    databases: tuple[Source, ...] = many(
        Parsed(
            read_source, "the absolute path of an SQLite file or the address of a database", show_source, "file",
            "DSN_OR_FILE",
        ),
        help="Databases: /path/to/file.db, sqlite:///path, postgresql://user@host/database; NAME=ADDRESS gives one its "
        "name. A password on the command line can be seen by other users: DATABASE_URL or PGPASSFILE hide it.",
        environment=(),
        positional=True,
        example="/home/me/shop.db",
    )  # fmt: skip
    source_file: SourceFile | None = optional(
        Parsed(read_source_file, "the absolute path of a TOML file", _path_of, "file", "FILE"),
        help="TOML file with named sources and saved queries.",
        flag="--sources",
        environment=("MCP_DATABASE_SOURCES",),
        example="/home/me/databases.toml",
    )
    database_url: Source | None = optional(
        Parsed(read_source, "the address of a database", show_source, metavar="ADDRESS", secret=True),
        help="One database, where none is named on the command line.",
        environment=("DATABASE_URL", "DB_CONNECTION"),
    )
    allow_write: bool = setting(
        Boolean(),
        default=False,
        help="Offer execute, which asks first and writes in a transaction. query stays read-only.",
    )
    require_least_privilege: bool = setting(
        Boolean(),
        default=False,
        help="Refuse a PostgreSQL role that is a superuser or may reach files, programs or other sessions.",
    )
    allow_functions: tuple[str, ...] = many(
        Text("the name of a function", metavar="FUNCTION"),
        help="PostgreSQL functions that query may call though they could have side effects.",
        flag="--allow-function",
        example="my_report",
    )
    limits: DatabaseLimits = field(default_factory=DatabaseLimits)
    consent: ConsentSettings = field(default_factory=ConsentSettings)
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every database: those of the command line, then the file's; DATABASE_URL where neither names one."""
        named = (*self.databases, *(self.source_file.sources if self.source_file is not None else ()))
        if not named and self.database_url is not None:
            named = (self.database_url,)
        return distinct(named)

    @property
    def queries(self) -> tuple[SavedQuery, ...]:
        """The saved queries."""
        return self.source_file.queries if self.source_file is not None else ()

    def check(self) -> None:
        """Refuse what cannot work.

        Raises:
            SettingsError: A saved query names no source, or one that there is not.
        """
        names = [source.name for source in self.sources]
        for query in self.queries:
            if query.source and query.source not in names:
                close = nearest(query.source, names)
                hint = f"Did you mean {close}?" if close else f"Known: {', '.join(names)}."
                raise SettingsError(
                    f"queries.{query.name} is for a source {query.source[:60]!r} that is not there.", hint
                )
            if not query.source and len(names) != 1:
                raise SettingsError(f"queries.{query.name} does not say its source.", 'Add source = "NAME".')
        if self.limits.rows > self.limits.most_rows:
            raise SettingsError("--rows is more than --max-rows.", "Raise --max-rows, or lower --rows.")
