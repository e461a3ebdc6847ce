"""The declared types of a result that has no rows, so no storage classes to tell.

Python's sqlite3 does not hand on sqlite3_column_decltype(). The schema is made again, empty, in memory; there the
statement becomes a view, and a view's columns have the types of what they come from. Nothing is run.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from mcp_curated_database.engines.sqlite.rules import Rules
from mcp_curated_database.engines.sqlite.tokens import Token, tokens

SCHEMA: Final = (
    "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view') AND sql IS NOT NULL "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid LIMIT 3000"
)

_STEPS: Final = 1_000
_MOST_LOOKS: Final = 5_000


def declared_types(schema: Sequence[str], sql: str) -> tuple[str, ...] | None:
    """The type of each column of a statement, empty for an expression; None where they cannot be told.

    Args:
        schema: The CREATE statements of the database.
        sql: The caller's statement.
    """
    looks = iter(range(_MOST_LOOKS))
    empty = sqlite3.connect(":memory:", isolation_level=None)
    try:
        empty.set_authorizer(Rules(read_only=False).authorize)
        empty.set_progress_handler(lambda: 0 if next(looks, None) is not None else 1, _STEPS)
        for statement in schema:
            _try(empty, statement)
        if not _try(empty, f"CREATE VIEW described_query AS {without_parameters(sql)}"):
            return None
        return tuple(str(row[2] or "") for row in empty.execute("PRAGMA table_xinfo(described_query)"))
    except sqlite3.Error:
        return None
    finally:
        empty.close()


def _try(connection: sqlite3.Connection, sql: str) -> bool:
    """Whether a statement ran. A table may need a module that is not here; then those that need it have no types."""
    try:
        connection.execute(sql).close()
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return False
    return True


def without_parameters(sql: str) -> str:
    """The statement with NULL for every parameter, which a view cannot have."""
    words = list(tokens(sql))
    parts: list[str] = []
    end = 0
    for index, token in enumerate(words):
        if token.kind != "other" or token.text not in "?:@$" or token.position < end:
            continue
        following = words[index + 1] if index + 1 < len(words) else None
        width = _width(token, following)
        if width:
            parts.append(f"{sql[end : token.position]} NULL ")
            end = token.position + width
    return "".join(parts) + sql[end:]


def _width(mark: Token, following: Token | None) -> int:
    """How long a parameter is: `?`, `?7`, `:name`, `@name`, `$name`; 0 for something else."""
    adjacent = following is not None and following.position == mark.position + 1
    if following is not None and adjacent and following.kind == ("number" if mark.text == "?" else "name"):
        return 1 + len(following.text)
    return 1 if mark.text == "?" else 0
