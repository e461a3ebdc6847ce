"""The authorizer's rules: everything is refused that is not known to be harmless.

A strict list of SELECT, READ, FUNCTION and RECURSIVE would break FTS5, rtree, json_each, dbstat and the `pragma_`
functions; what they need besides is allowed by name.
"""

import sqlite3
from dataclasses import dataclass, field
from typing import Final

_READING: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})

_PLAIN_PRAGMAS: Final = frozenset(
    {
        "analysis_limit", "application_id", "auto_vacuum", "automatic_index", "busy_timeout", "cache_size",
        "collation_list", "compile_options", "data_version", "defer_foreign_keys", "encoding", "foreign_keys",
        "freelist_count", "function_list", "journal_mode", "journal_size_limit", "locking_mode", "max_page_count",
        "mmap_size", "module_list", "page_count", "page_size", "pragma_list", "query_only", "recursive_triggers",
        "schema_version", "secure_delete", "synchronous", "table_list", "temp_store", "trusted_schema", "user_version",
        "foreign_key_check", "integrity_check", "quick_check",
    }
)  # fmt: skip
"""They tell a value when they stand alone. `database_list` would tell the file's path."""

_PRAGMAS_OF_SOMETHING: Final = frozenset(
    {
        "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo", "integrity_check",
        "quick_check", "table_info", "table_list", "table_xinfo",
    }
)  # fmt: skip
"""Their argument is what they tell about."""

_REFUSED_FUNCTIONS: Final = frozenset(
    {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "eval", "fsdir", "lsmode", "sqlite_log"}
)
"""load_extension and fts3_tokenizer take code; the others are the shell's, for a build that has them."""

_REFUSED_TABLES: Final = frozenset({"fsdir", "zipfile", "csv", "sqlite_dbpage", "pragma_database_list"})

_WRITES: Final = {
    sqlite3.SQLITE_INSERT: "INSERT",
    sqlite3.SQLITE_UPDATE: "UPDATE",
    sqlite3.SQLITE_DELETE: "DELETE",
    sqlite3.SQLITE_ALTER_TABLE: "ALTER TABLE",
    sqlite3.SQLITE_ANALYZE: "ANALYZE",
    sqlite3.SQLITE_CREATE_INDEX: "CREATE INDEX",
    sqlite3.SQLITE_CREATE_TABLE: "CREATE TABLE",
    sqlite3.SQLITE_CREATE_TRIGGER: "CREATE TRIGGER",
    sqlite3.SQLITE_CREATE_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_CREATE_VTABLE: "CREATE VIRTUAL TABLE",
    sqlite3.SQLITE_DROP_INDEX: "DROP INDEX",
    sqlite3.SQLITE_DROP_TABLE: "DROP TABLE",
    sqlite3.SQLITE_DROP_TRIGGER: "DROP TRIGGER",
    sqlite3.SQLITE_DROP_VIEW: "DROP VIEW",
    sqlite3.SQLITE_DROP_VTABLE: "DROP VIRTUAL TABLE",
    sqlite3.SQLITE_REINDEX: "REINDEX",
}
_OTHERS: Final = {
    sqlite3.SQLITE_ATTACH: "ATTACH (VACUUM uses it too)",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_FUNCTION: "the function",
    sqlite3.SQLITE_READ: "reading",
    sqlite3.SQLITE_TRANSACTION: "BEGIN, COMMIT and ROLLBACK",
    sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "CREATE TEMP INDEX",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "CREATE TEMP TABLE",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "CREATE TEMP TRIGGER",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "CREATE TEMP VIEW",
    sqlite3.SQLITE_DROP_TEMP_INDEX: "DROP TEMP INDEX",
    sqlite3.SQLITE_DROP_TEMP_TABLE: "DROP TEMP TABLE",
    sqlite3.SQLITE_DROP_TEMP_TRIGGER: "DROP TEMP TRIGGER",
    sqlite3.SQLITE_DROP_TEMP_VIEW: "DROP TEMP VIEW",
}


@dataclass(slots=True)
class Rules:
    """What the statements of one connection may do.

    Attributes:
        read_only: Whether nothing may be written.
        refused: The first thing that was refused in this call, for the error; empty for nothing.
        command: The first thing that this call writes, if any: `INSERT`, `CREATE TABLE`.
        own: Whether the statement is this server's own, such as the BEGIN around somebody else's.
    """

    read_only: bool
    refused: str = field(default="", init=False)
    command: str = field(default="", init=False)
    own: bool = field(default=False, init=False)

    def begin(self) -> None:
        """Forget the last call."""
        self.refused = self.command = ""

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """SQLite's authorizer callback: the action's code, its two arguments, the database, the trigger or view."""
        if self.own or self._allows(action, first or "", second or ""):
            return sqlite3.SQLITE_OK
        self.refused = self.refused or _named(action, first, second)
        return sqlite3.SQLITE_DENY

    def _allows(self, action: int, first: str, second: str) -> bool:
        if action in _READING:
            return action != sqlite3.SQLITE_READ or first.lower() not in _REFUSED_TABLES
        if action == sqlite3.SQLITE_FUNCTION:
            return second.lower() not in _REFUSED_FUNCTIONS
        if action == sqlite3.SQLITE_PRAGMA:
            return first.lower() in (_PRAGMAS_OF_SOMETHING if second else _PLAIN_PRAGMAS)
        if self.read_only:
            # Every virtual table declares its columns so when it is connected; a real update still fails.
            return action == sqlite3.SQLITE_UPDATE and first in {"sqlite_master", "sqlite_schema"}
        if action not in _WRITES:
            return False
        if not first.startswith("sqlite_"):
            self.command = self.command or _WRITES[action]
        return True


def _named(action: int, first: str | None, second: str | None) -> str:
    what = _WRITES.get(action) or _OTHERS.get(action) or "this"
    if action in _WRITES and (first or "").startswith("sqlite_"):
        return "changing the schema"
    if action == sqlite3.SQLITE_FUNCTION:
        return f"{what} {second}"
    if action == sqlite3.SQLITE_PRAGMA:
        return f"{what} {first}" + (f" = {second}" if second else "")
    return f"{what} {first}" if action == sqlite3.SQLITE_READ else what
